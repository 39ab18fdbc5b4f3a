"""What librosa took by place before 0.10, and takes by name today."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from xlalint.device.borders.clock import Clock

_CORE = "core"
_MODULES = (_CORE, "filters", "feature", "util", "effects")


def answer_as_librosa_did(clock: Clock) -> None:
    """Where it is installed, and the program imports it."""
    try:
        library = import_module("librosa")
    except ImportError:
        return
    for part in _MODULES:
        module = import_module(f"librosa.{part}")
        for name in dir(module):
            function = getattr(module, name)
            if not name.startswith("_") and inspect.isfunction(function):
                former = _by_place(function, clock)
                setattr(module, name, former)
                if part == _CORE:
                    setattr(library, name, former)


def _by_place(function: Callable[..., Any], clock: Clock) -> Callable[..., Any]:
    parameters = inspect.signature(function).parameters.values()
    taken = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    by_name = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    varies = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    if not by_name or varies:
        return function

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        beyond = args[len(taken) :]
        if beyond:
            clock.assume(f"`librosa`'s `{function.__name__}` takes arguments by place, as before librosa 0.10")
        named = dict(zip(by_name, beyond, strict=False))
        return function(*args[: len(taken)], **named, **kwargs)

    return called
