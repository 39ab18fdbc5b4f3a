"""The host in place of the XLA device, for a rehearsal of a program that asks torch_xla for one: no runtime is begun,
so the process can be copied. Imports torch_xla.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
_HOST = torch.device("cpu")


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _the_host(*_: Any, **__: Any) -> Any:
    return _HOST


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _first(given: Any, *_: Any, **__: Any) -> Any:
    return given


def _second(_: Any, given: Any, *__: Any, **___: Any) -> Any:
    return given


def _update(optimizer: Any, *_: Any, **__: Any) -> Any:
    return optimizer.step()


def _closure(function: Callable[..., Any], args: Iterable[Any] = (), **_: Any) -> None:
    function(*args)


def _mesh_reduce(_: str, data: Any, reduce: Callable[[list[Any]], Any]) -> Any:
    return reduce([data])


def _step(*_: Any, **__: Any) -> Any:
    return nullcontext()


def _compile(function: Any = None, **_: Any) -> Any:
    return function if function is not None else _first


class _Loader:
    """Of the host, and without threads; libraries make classes of their own of it."""

    def __init__(self, loader: Any, *_: Any, **__: Any) -> None:
        self._loader = loader

    def per_device_loader(self, _: Any) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._loader)

    def __len__(self) -> int:
        return len(self._loader)


_ANSWERS: dict[str, dict[str, Any]] = {
    "torch_xla": {
        "device": _the_host,
        "devices": _always([_HOST]),
        "real_devices": _always(["CPU:0"]),
        "device_count": _always(1),
        "sync": _nothing,
        "step": _step,
        "compile": _compile,
        "manual_seed": _nothing,
    },
    "torch_xla.core.xla_model": {
        "xla_device": _the_host,
        "get_xla_supported_devices": _always(["cpu"]),
        "xla_device_hw": _always("CPU"),
        "mark_step": _nothing,
        "wait_device_ops": _nothing,
        "optimizer_step": _update,
        "reduce_gradients": _nothing,
        "all_reduce": _second,
        "all_gather": _first,
        "mesh_reduce": _mesh_reduce,
        "rendezvous": _nothing,
        "set_replication": _nothing,
        "add_step_closure": _closure,
        "save": _nothing,
        "set_rng_state": _nothing,
        "get_rng_state": _always(0),
        "get_memory_info": _always({"bytes_used": 0, "bytes_limit": 1}),
    },
    "torch_xla.runtime": {
        **dict.fromkeys(("world_size", "global_device_count", "local_device_count"), _always(1)),
        **dict.fromkeys(("addressable_device_count", "global_runtime_device_count", "process_count"), _always(1)),
        **dict.fromkeys(("global_ordinal", "local_ordinal", "process_index"), _always(0)),
        "device_type": _always("CPU"),
        "use_spmd": _nothing,
    },
    "torch_xla.distributed.parallel_loader": {"MpDeviceLoader": _Loader, "ParallelLoader": _Loader},
}
"""By module: what each name answers."""


def stand_in_for_the_device() -> None:
    """From here on in this process."""
    for module, answers in _ANSWERS.items():
        for name, answer in answers.items():
            setattr(import_module(module), name, answer)
    # What torch_xla puts in their place takes tensors of its device only.
    for owner, name in ((torch.nn, "GRU"), (torch.nn.utils, "clip_grad_norm_")):
        setattr(owner, name, getattr(getattr(owner, name), "_orig", getattr(owner, name)))
