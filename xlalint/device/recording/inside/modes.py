"""The same program in another mode."""

from __future__ import annotations

import threading
import weakref
from importlib import import_module
from typing import Any


def switch_to(mode: str) -> None:
    """Lazy is what a program is by itself."""
    if mode == "eager":
        vars(import_module("torch_xla"))["_XLAC"]._set_use_eager_mode(True)
    elif mode == "dynamo":
        _compile_outermost_modules()


def _compile_outermost_modules() -> None:
    """Each module that the program itself calls, and that has parameters on the device, is compiled as a whole."""
    module_class: Any = import_module("torch.nn").Module
    original = module_class.__call__
    active = threading.local()
    compiled: Any = weakref.WeakKeyDictionary()

    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if getattr(active, "inside", False):
            return original(self, *arguments, **named)
        active.inside = True
        try:
            if self not in compiled and _on_the_device(self):
                compiled[self] = vars(import_module("torch"))["compile"](self, backend="openxla")
            return original(compiled.get(self, self), *arguments, **named)
        finally:
            active.inside = False

    module_class.__call__ = call


def _on_the_device(module: Any) -> bool:
    first = next(module.parameters(), None)
    return first is not None and first.device.type == "xla"
