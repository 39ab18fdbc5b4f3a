"""Data sets that are not there: of torchvision, with items of the same form. Imports torch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.image_sizes import ImageSizes

torch: Any = import_module("torch")

_ROWS = 64


class _Form(NamedTuple):
    """Of one item: the image's mode, height and width, and the number of classes."""

    mode: str
    height: int
    width: int
    classes: int


_FORMS = MappingProxyType(
    {
        "MNIST": _Form("L", 28, 28, 10),
        "EMNIST": _Form("L", 28, 28, 47),
        "USPS": _Form("L", 16, 16, 10),
        "CIFAR10": _Form("RGB", 32, 32, 10),
        "CIFAR100": _Form("RGB", 32, 32, 100),
        "SVHN": _Form("RGB", 32, 32, 10),
        "STL10": _Form("RGB", 96, 96, 10),
        "FashionMNIST": _Form("L", 28, 28, 10),
        "CelebA": _Form("RGB", 218, 178, 40),
    }
)
"""As their authors say; subclasses are found by their bases."""
_ANY = _Form("RGB", 0, 0, 10)
"""Of files, whose images may have any size."""
_UNREADABLE = (OSError, RuntimeError, ValueError, ImportError, IndexError)


def stand_in_for_torchvision(clock: Clock, sizes: ImageSizes) -> None:
    """Those of its data sets that can't be read give made-up items."""
    sets = import_module("torchvision.datasets")
    for name in sets.__all__:
        kind = getattr(sets, name)
        if isinstance(kind, type) and issubclass(kind, sets.VisionDataset) and "__init__" in vars(kind):
            kind.__init__ = _reading(kind, kind.__init__, clock, sizes)  # type: ignore[misc]


def _reading(kind: type, make: Callable[..., None], clock: Clock, sizes: ImageSizes) -> Callable[..., None]:
    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        if "download" in kwargs:
            kwargs["download"] = False
        try:
            make(self, *args, **kwargs)
        except _UNREADABLE:
            _make_up(self, args, kwargs, sizes)
            clock.assume(f"`{kind.__name__}` gives {_ROWS} made-up items, as its files are not there")

    return made


def _make_up(data: Any, args: tuple[Any, ...], kwargs: dict[str, Any], sizes: ImageSizes) -> None:
    """What the class reads an item from, for classes that hold arrays, and for those that name files."""
    names = [each.__name__ for each in type(data).__mro__]
    form = next((_FORMS[name] for name in names if name in _FORMS), _ANY)
    labels = [number % form.classes for number in range(_ROWS)]
    transform = kwargs.get("transform") or next((each for each in args if callable(each)), None)
    classes = [str(number) for number in range(form.classes)]
    of_target = kwargs.get("target_transform")
    for name, value in {
        "root": kwargs.get("root", args[0] if args else ""),
        "train": kwargs.get("train", True),
        "split": kwargs.get("split", "train"),
        "transform": transform,
        "target_transform": of_target,
        "transforms": import_module("torchvision.datasets.vision").StandardTransform(transform, of_target),
        "classes": classes,
        "class_to_idx": {name: number for number, name in enumerate(classes)},
    }.items():
        # Some are properties, which answer by themselves.
        with suppress(AttributeError):
            setattr(data, name, value)
    if all(name not in _FORMS for name in names):
        _items_of_files(data, labels, sizes)
        return
    pixels = _pixels(form)
    if "MNIST" in names or "USPS" in names:
        numbers = torch.tensor(labels)
        data.data, data.targets = (pixels[..., 0], numbers) if "MNIST" in names else (pixels[..., 0].numpy(), labels)
    elif "CIFAR10" in names:
        data.data, data.targets = pixels.numpy(), labels
    elif "SVHN" in names or "STL10" in names:
        data.data, data.labels = pixels.permute(0, 3, 1, 2).numpy(), import_module("numpy").array(labels)
    else:
        _items_of_pixels(data, labels, lambda: pixels)


def _items_of_files(data: Any, labels: list[int], sizes: ImageSizes) -> None:
    """Their size is asked for when the first item is."""

    def made() -> Any:
        width, height = sizes.made_up()
        return _pixels(_Form("RGB", height, width, 1))

    _items_of_pixels(data, labels, functools.cache(made))


def _items_of_pixels(data: Any, labels: list[int], pixels: Callable[[], Any]) -> None:
    image = import_module("PIL.Image")
    data.samples = data.imgs = [(str(number), label) for number, label in enumerate(labels)]
    data.targets = labels
    data.loader = lambda path: image.fromarray(pixels()[int(path)].numpy())
    if not hasattr(data, "find_classes"):

        def item(self: Any, index: int) -> Any:
            return self.transforms(self.loader(str(index)), labels[index])

        kind = type(data)
        object.__setattr__(data, "__class__", type(kind.__name__, (kind,), {"__getitem__": item, "__len__": _count}))


def _count(_: Any) -> int:
    return _ROWS


def _pixels(form: _Form) -> Any:
    """(rows, height, width, channels), bytes that differ from item to item."""
    channels = 1 if form.mode == "L" else 3
    made = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (_ROWS, form.height, form.width, channels), generator=made, dtype=torch.uint8)
