"""What programs of former years ask of Python and its packages, as these answered then. Imports torch.

Today the program raises there, so what was answered otherwise is an assumption of the run; a name that is only gone, or
is another one today, is given back without a word.
"""

from __future__ import annotations

import builtins
import collections
import functools
import inspect
import itertools
import pickle
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any

from xlalint.device.borders.clock import Clock

torch: Any = import_module("torch")

Told = Callable[[str], None]

_OF_NUMPY = MappingProxyType(
    {
        **{name: getattr(builtins, name) for name in ("int", "float", "bool", "object", "str", "complex")},
        "unicode": str,
        "long": int,
        "Inf": float("inf"),
        "Infinity": float("inf"),
        "infty": float("inf"),
        "NaN": float("nan"),
    }
)
"""By the name that numpy had: what it was."""
_OF_PYTHON_2 = MappingProxyType(
    {
        "long": int,
        "unicode": str,
        "xrange": range,
        "basestring": str,
        "raw_input": input,
        "unichr": chr,
        "reduce": functools.reduce,
    }
)
_RENAMED_IN_NUMPY = MappingProxyType(
    {
        "float_": "float64",
        "complex_": "complex128",
        "bool8": "bool_",
        "string_": "bytes_",
        "unicode_": "str_",
        "product": "prod",
        "cumproduct": "cumprod",
        "alltrue": "all",
        "sometrue": "any",
        "round_": "round",
        "in1d": "isin",
        "row_stack": "vstack",
        "trapz": "trapezoid",
    }
)
_RENAMED_IN_TRANSFORMS = MappingProxyType({"Scale": "Resize", "RandomSizedCrop": "RandomResizedCrop"})
_OF_IMAGES = MappingProxyType({"ANTIALIAS": "LANCZOS", "LINEAR": "BILINEAR", "CUBIC": "BICUBIC"})
_OF_IMAGES_IN_BATCHES = 4
_GET = torch.Tensor.__getitem__
_MINUS = frozenset({torch.Tensor.__sub__, torch.Tensor.__rsub__})
_SCALED = frozenset(getattr(torch.Tensor, name) for name in ("add", "add_", "sub", "sub_"))
_MULTIPLIED = frozenset(getattr(torch.Tensor, name) for name in ("addcmul", "addcmul_", "addcdiv", "addcdiv_"))
_OF_SCHEDULERS = "verbose"
"""An argument of all of them that is gone."""


def answer_as_then(clock: Clock) -> None:
    """From here on in this process."""
    told = clock.assume
    _of_python()
    _of_numpy(told)
    _of_images()
    _of_yaml(told)
    _of_torch(told)


def answer_as_torchvision_did(clock: Clock) -> None:
    """Where the program imports it."""
    told = clock.assume
    _rename(import_module("torchvision.transforms"), _RENAMED_IN_TRANSFORMS)
    functional: Any = import_module("torchvision.transforms.functional")
    functional.normalize = _of_fewer_channels(functional.normalize, told)
    utils: Any = import_module("torchvision.utils")
    for name in ("make_grid", "save_image"):
        setattr(utils, name, _with_range(getattr(utils, name), told))
    models: Any = import_module("torchvision.models")
    weights: Any = ModuleType("torchvision.models.utils")
    weights.load_state_dict_from_url = torch.hub.load_state_dict_from_url
    sys.modules[weights.__name__] = models.utils = weights
    for module in [each for each in vars(models).values() if isinstance(each, ModuleType)]:
        for name, value in (
            ("model_zoo", torch.utils.model_zoo),
            ("model_urls", _Urls()),
            ("load_state_dict_from_url", torch.hub.load_state_dict_from_url),
        ):
            if not hasattr(module, name):
                setattr(module, name, value)


class FormerTensors:
    """What torch answered, and raises today."""

    def __init__(self, told: Told) -> None:
        self._told = told

    def answer(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Of a call of today, with a tensor first; ``NotImplemented`` where it is the same."""
        if function is _GET and type(args[1]) is int and args[1] == 0 and not args[0].dim():
            self._told("`x[0]` of a tensor without dimensions is its number, as in torch 0.3")
            return args[0].item()
        if function in _MINUS and any(isinstance(each, torch.Tensor) and each.dtype is torch.bool for each in args):
            self._told("`1 - mask` of truth values counts, as in torch 1.1")
            return function(*(each.byte() if isinstance(each, torch.Tensor) else each for each in args))
        if function is torch.Tensor.view:
            return self._viewed(args)
        if function in _SCALED and len(args) == 3 and not isinstance(args[1], torch.Tensor):
            self._told("`x.add_(number, other)` scales the other, as before torch 1.5")
            return function(args[0], args[2], alpha=args[1])
        if function in _MULTIPLIED and len(args) == 4 and not isinstance(args[1], torch.Tensor):
            self._told("`x.addcmul_(number, one, other)` scales the product, as before torch 1.5")
            return function(args[0], *args[2:], value=args[1])
        return NotImplemented

    def _viewed(self, args: tuple[Any, ...]) -> Any:
        try:
            return torch.Tensor.view(*args)
        except RuntimeError as error:
            if "Use .reshape(" not in str(error):
                raise
        self._told("`view` of what does not lie in one piece copies it: before torch 1.7 comparisons gave one piece")
        return torch.Tensor.reshape(*args)


class _Urls(dict[str, str]):
    """Of weights, by the name of a model."""

    def __missing__(self, name: str) -> str:
        return f"{name}.pth"


def _of_python() -> None:
    for name, value in _OF_PYTHON_2.items():
        if not hasattr(builtins, name):
            setattr(builtins, name, value)
    for name in collections.abc.__all__:
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    old: Any = inspect
    if not hasattr(inspect, "getargspec"):
        old.getargspec = inspect.getfullargspec
    clocks: Any = time
    if not hasattr(time, "clock"):
        clocks.clock = time.perf_counter


def _of_numpy(told: Told) -> None:
    try:
        numpy: Any = import_module("numpy")
    except ImportError:
        return
    for name, value in _OF_NUMPY.items():
        if name not in vars(numpy):
            setattr(numpy, name, value)
    for name, present in _RENAMED_IN_NUMPY.items():
        if name not in vars(numpy) and hasattr(numpy, present):
            setattr(numpy, name, getattr(numpy, present))
    load = numpy.load

    @functools.wraps(load)
    def loaded(file: Any, mmap_mode: Any = None, allow_pickle: bool | None = None, **kwargs: Any) -> Any:
        if allow_pickle is None:
            told("`numpy.load` reads pickled objects, as before numpy 1.16.3")
            allow_pickle = True
        return load(file, mmap_mode, allow_pickle, **kwargs)

    numpy.load = loaded


def _of_images() -> None:
    try:
        images = import_module("PIL.Image")
    except ImportError:
        return
    _rename(images, _OF_IMAGES)


def _of_yaml(told: Told) -> None:
    try:
        yaml: Any = import_module("yaml")
    except ImportError:
        return
    load = yaml.load

    def loaded(stream: Any, Loader: Any = None) -> Any:  # noqa: N803 - the name of yaml's own
        if Loader is None:
            told("`yaml.load` without a loader reads plain values, as before PyYAML 6")
        return load(stream, Loader or yaml.FullLoader)

    yaml.load = loaded


def _of_torch(told: Told) -> None:
    six: Any = ModuleType("torch._six")
    vars(six).update(
        inf=float("inf"),
        nan=float("nan"),
        PY3=True,
        string_classes=(str, bytes),
        int_classes=int,
        container_abcs=collections.abc,
    )
    sys.modules.setdefault("torch._six", six)
    torch._utils._accumulate = itertools.accumulate
    schedulers = torch.optim.lr_scheduler
    base = schedulers.LRScheduler
    for kind in {each for each in vars(schedulers).values() if isinstance(each, type) and issubclass(each, base)}:
        if "__init__" in vars(kind) and _OF_SCHEDULERS not in inspect.signature(kind).parameters:
            kind.__init__ = _without_argument(kind.__init__, _OF_SCHEDULERS, told)  # type: ignore[misc]

    _of_autograd()
    _of_losses(told)
    _of_convolutions(told)
    _of_files(told)
    _of_spectra(told)


def _of_autograd() -> None:
    backward = torch.Tensor.backward

    @functools.wraps(backward)
    def passed(self: Any, *args: Any, retain_variables: bool | None = None, **kwargs: Any) -> Any:
        if retain_variables is not None:
            kwargs.setdefault("retain_graph", retain_variables)
        return backward(self, *args, **kwargs)

    torch.Tensor.backward = passed


def _of_losses(told: Told) -> None:
    """Targets of another form, with as many elements, were taken."""
    functional = torch.nn.functional
    entropy = functional.binary_cross_entropy

    @functools.wraps(entropy)
    def taken(input: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        if target.shape != input.shape and target.numel() == input.numel():
            told("a target of a binary cross entropy has as many elements as the input, as was enough before torch 1.5")
            target = target.view_as(input)
        return entropy(input, target, *args, **kwargs)

    functional.binary_cross_entropy = taken


def _of_convolutions(told: Told) -> None:
    """Kernels of two dimensions were taken on images."""
    functional = torch.nn.functional
    convolve = functional.conv1d

    @functools.wraps(convolve)
    def convolved(input: Any, weight: Any, *args: Any, **kwargs: Any) -> Any:
        if input.dim() == weight.dim() == _OF_IMAGES_IN_BATCHES:
            told("`Conv1d` takes images where its kernel has two dimensions, as former versions of torch did")
            return functional.conv2d(input, weight, *args, **kwargs)
        return convolve(input, weight, *args, **kwargs)

    functional.conv1d = convolved


def _of_files(told: Told) -> None:
    load = torch.load

    @functools.wraps(load)
    def loaded(*args: Any, **kwargs: Any) -> Any:
        try:
            return load(*args, **kwargs)
        except pickle.UnpicklingError:
            if kwargs.get("weights_only"):
                raise
        told("`torch.load` reads all kinds of objects, as before torch 2.6")
        return load(*args, **{**kwargs, "weights_only": False})

    torch.load = loaded


def _of_spectra(told: Told) -> None:
    transform = torch.stft

    @functools.wraps(transform)
    def transformed(*args: Any, return_complex: bool | None = None, **kwargs: Any) -> Any:
        if return_complex is not None or args[0].is_complex():
            return transform(*args, return_complex=return_complex, **kwargs)
        told("`stft` gives pairs of real numbers, as before torch 2.0")
        return torch.view_as_real(transform(*args, return_complex=True, **kwargs))

    torch.stft = transformed


def _without_argument(function: Any, name: str, told: Told) -> Any:
    """The last one by place."""
    taken = len(inspect.signature(function).parameters)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if kwargs.pop(name, None) is not None or len(args) == taken + 1:
            told(f"`{name}` of a scheduler says nothing, as it is gone")
        return function(*args[:taken], **kwargs)

    return called


def _with_range(function: Any, told: Told) -> Any:
    @functools.wraps(function)
    def called(*args: Any, range: Any = None, **kwargs: Any) -> Any:
        if range is not None:
            told("`range` of an image grid is `value_range`, as it is called today")
            kwargs["value_range"] = range
        return function(*args, **kwargs)

    return called


def _of_fewer_channels(normalize: Any, told: Told) -> Any:
    """Channels were paired with means up to the shorter of them."""

    def normalized(tensor: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
        count = tensor.shape[-3] if isinstance(tensor, torch.Tensor) and tensor.dim() > 2 else 0
        if count and isinstance(mean, (list, tuple)) and len(mean) > count:
            told(f"of {len(mean)} means those of the image's {count} are taken, as torchvision 0.2 did")
            mean, std = mean[:count], std[:count]
        return normalize(tensor, mean, std, inplace)

    return normalized


def _rename(module: Any, names: Mapping[str, str]) -> None:
    """By the former name, the present one."""
    for former, present in names.items():
        if not hasattr(module, former):
            setattr(module, former, getattr(module, present))
