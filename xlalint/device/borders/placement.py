"""Places what a script puts on a GPU on the XLA device. Imports torch_xla.

`cuda` stays the name of a device until a tensor is made or moved; what is made there lies on the XLA device.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.former_versions import FormerTensors
from xlalint.device.stubs.objects import Absent

torch: Any = import_module("torch")
torch_xla: Any = import_module("torch_xla")
_overrides: Any = import_module("torch.overrides")

_ANSWERS: dict[str, Any] = {
    "is_current_stream_capturing": False,
    "current_device": 0,
    "get_device_name": "an XLA device",
    "get_device_capability": (8, 0),
    "is_bf16_supported": True,
    "memory_allocated": 0,
    "max_memory_allocated": 0,
    "memory_reserved": 0,
    "max_memory_reserved": 0,
    "mem_get_info": (1 << 34, 1 << 34),
    "get_device_properties": SimpleNamespace(
        name="an XLA device", total_memory=1 << 34, multi_processor_count=64, major=8, minor=0
    ),
    "memory_summary": "",
    "memory_stats": Counter[str](),
}
_FOR_THEIR_EFFECT = (
    *("synchronize", "empty_cache", "set_device", "manual_seed", "manual_seed_all", "init", "ipc_collect"),
    *("reset_peak_memory_stats", "reset_max_memory_allocated", "set_per_process_memory_fraction", "seed", "seed_all"),
)
_NOT_THERE = ("Event", "Stream", "stream", "current_stream", "default_stream", "CUDAGraph")
_LEGACY = ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")


class Placement:
    """What is replaced in torch, from ``begin`` on; it can be lifted for a call.

    A program that imports torch_xla itself says what lies there: for it torch stays as it is, on a machine without a
    GPU, but for what has just raised because of that.
    """

    def __init__(self, clock: Clock, of_program: bool, rehearsed: bool = False) -> None:
        """Where it is ``rehearsed``, the host stands in for the XLA device."""
        self._clock, self.of_program = clock, of_program
        place = _host if rehearsed else torch_xla.device
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        """(of what, name, what torch has, what stands in for it)"""
        self._place: Callable[[], Any] = place
        self._mode = _Placing(clock, place)

    def begin(self) -> None:
        """From here on in this process."""
        cuda = torch.cuda
        for name, there in (("is_available", True), ("is_initialized", True), ("device_count", 1)):
            self._replace(cuda, name, _unless_torch_asks(getattr(cuda, name), there))
        self._replace(torch.accelerator, "is_available", _unless_torch_asks(torch.accelerator.is_available, True))
        self._replace(torch.accelerator, "current_accelerator", _constant(torch.device("cuda")))
        for name, answer in _ANSWERS.items():
            self._replace(cuda, name, _constant(answer))
        for name in _FOR_THEIR_EFFECT:
            self._replace(cuda, name, _constant(None))
        for name in _NOT_THERE:
            self._replace(cuda, name, Absent(f"torch.cuda.{name}"))
        self._replace(cuda, "device", _Nowhere)
        for name in _LEGACY:
            self._replace(cuda, f"{name}Tensor", _legacy(name, self._place))
        self._replace(torch, "compile", _uncompiled(self._clock))
        self._replace(torch, "set_default_device", _without(torch.set_default_device, self._place))
        self._replace(torch, "set_default_tensor_type", _without(torch.set_default_tensor_type, self._place))
        self._mode.__enter__()
        self._restore()

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Torch as it is, on a machine without a GPU."""
        self._lift()
        try:
            yield
        finally:
            self._restore()

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Torch as if there were a GPU, also for a program that has an XLA device of its own."""
        self._put()
        try:
            yield
        finally:
            self._restore()

    def _restore(self) -> None:
        if self.of_program:
            self._put()
        else:
            self._lift()

    def _lift(self) -> None:
        for of, name, original, _ in self._replaced:
            setattr(of, name, original)
        self._mode.lifted = True

    def _put(self) -> None:
        for of, name, _, stand_in in self._replaced:
            setattr(of, name, stand_in)
        self._mode.lifted = False

    def _replace(self, of: Any, name: str, stand_in: Any) -> None:
        self._replaced.append((of, name, getattr(of, name, None), stand_in))
        setattr(of, name, stand_in)


class _Placing(_overrides.TorchFunctionMode):  # type: ignore[misc]
    """Puts the XLA device where a call names a GPU."""

    def __init__(self, clock: Clock, place: Callable[[], Any]) -> None:
        super().__init__()
        self._clock, self._place = clock, place
        self._former = FormerTensors(clock.assume)
        self.lifted = False

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.lifted:
            return function(*args, **kwargs)
        name = getattr(function, "__name__", "")
        if name == "cuda":
            return self._moved(args[0])
        if function is torch.Tensor.is_cuda.__get__:
            return args[0].device.type == self._place().type
        if name == "type" and len(args) == 2 and isinstance(args[1], type) and issubclass(args[1], _Legacy):
            return self._moved(args[0]).to(args[1].dtype)
        if name in ("pin_memory", "record_stream"):
            return args[0]
        former = self._former.answer(function, args)
        if former is not NotImplemented:
            return former
        if function is torch.device:
            return function(*args, **kwargs)
        if any(_is_gpu(each) for each in args[1:]) or _is_gpu(kwargs.get("device")) or (args and _is_gpu(args[0])):
            self._told()
            device = self._place()
            args = tuple(device if _is_gpu(each) else each for each in args)
            if _is_gpu(kwargs.get("device")):
                kwargs = {**kwargs, "device": device}
        return function(*args, **kwargs)

    def _moved(self, tensor: Any) -> Any:
        self._told()
        return tensor.to(self._place())

    def _told(self) -> None:
        self._clock.assume("what the program puts on a GPU lies on the XLA device")


def _is_gpu(value: object) -> bool:
    if isinstance(value, str):
        return value == "cuda" or value.startswith("cuda:")
    return isinstance(value, torch.device) and value.type == "cuda"


class _LegacyMeta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = getattr(torch, cls.__name__)(*args, **kwargs)
        return made.to(cls.place())  # type: ignore[attr-defined]

    def __instancecheck__(cls, value: object) -> bool:
        if not isinstance(value, torch.Tensor) or value.dtype != cls.dtype:  # type: ignore[attr-defined]
            return False
        return bool(value.device.type == cls.place().type)  # type: ignore[attr-defined]


class _Legacy(metaclass=_LegacyMeta):
    dtype: Any = None
    place: Any = None


def _legacy(name: str, place: Callable[[], Any]) -> type:
    dtype = getattr(torch, f"{name}Tensor").dtype
    return type(f"{name}Tensor", (_Legacy,), {"dtype": dtype, "place": staticmethod(place)})


def _host() -> Any:
    return torch.device("cpu")


class _Nowhere:
    """`with torch.cuda.device(0):`"""

    def __init__(self, *_: Any) -> None:
        return None

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


def _unless_torch_asks(original: Callable[[], Any], there: Any) -> Callable[[], Any]:
    """Torch itself goes on without a GPU."""

    def asked() -> Any:
        name = str(sys._getframe(1).f_globals.get("__name__", ""))
        return original() if name == "torch" or name.startswith("torch.") else there

    return asked


def _uncompiled(clock: Clock) -> Callable[..., Any]:
    """The graphs that are counted are those that torch_xla records by itself."""

    def compile_(model: Any = None, **_: Any) -> Any:
        clock.assume("`torch.compile` is left out: graphs are recorded as the program goes")
        return model if model is not None else lambda function: function

    return compile_


def _constant(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer


def _without(function: Callable[..., Any], place: Callable[[], Any]) -> Callable[..., Any]:
    """The same, but for GPUs: factories that name no device give tensors of the XLA device then."""

    def called(given: Any = None, *args: Any, **kwargs: Any) -> Any:
        if _is_gpu(given):
            return function(place())
        if isinstance(given, type) and issubclass(given, _Legacy):
            return torch.set_default_device(place())
        if isinstance(given, str) and given.startswith("torch.cuda."):
            return torch.set_default_device(place())
        return function(given, *args, **kwargs)

    return called
