"""What timm did before 1.0 with models that a program registers: it knew none of today's arguments, and left out those
that only its own models took.

Imports timm, where it is there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from importlib import import_module
from types import MappingProxyType
from typing import Any

from xlalint.device.borders.clock import Clock

_OWN = "timm."
_LEFT_OUT = frozenset(
    {
        "pretrained_cfg",
        "pretrained_cfg_overlay",
        "cache_dir",
        "bn_tf",
        "bn_momentum",
        "bn_eps",
        "drop_connect_rate",
        "drop_block_rate",
        "drop_path_rate",
    }
)
_RENAMED = MappingProxyType({"Dataset": "ImageDataset", "DatasetTar": "ImageDataset"})
"""In ``timm.data``."""
_MOVED = "timm.layers"
"""Here lies today what ``timm.models`` had of layers."""
_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


def answer_as_timm_did(clock: Clock) -> None:
    """Where it is installed, and the program imports it."""
    try:
        factory: Any = import_module("timm.models._factory")
    except ImportError:
        return
    data, layers, models = (import_module(name) for name in ("timm.data", _MOVED, "timm.models"))
    for former, present in _RENAMED.items():
        if not hasattr(data, former):
            setattr(data, former, getattr(data, present))
    for name in vars(layers).keys() - vars(models).keys():
        setattr(models, name, getattr(layers, name))
    is_model, entrypoint = factory.is_model, factory.model_entrypoint

    def known(name: str) -> bool:
        return bool(is_model(name) or is_model(name.lower()))

    def found(name: str) -> Callable[..., Any]:
        if not is_model(name):
            clock.assume(f"`{name.lower()}` is made, as timm knows no `{name}`")
            name = name.lower()
        make = entrypoint(name)
        return make if make.__module__.startswith(_OWN) else _without_unknown(make)

    factory.is_model, factory.model_entrypoint = known, found


def _without_unknown(make: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        while True:
            try:
                return make(*args, **kwargs)
            except TypeError as error:
                asked = _UNEXPECTED.search(str(error))
                if asked is None or asked[1] not in _LEFT_OUT or asked[1] not in kwargs:
                    raise
                del kwargs[asked[1]]

    return made
