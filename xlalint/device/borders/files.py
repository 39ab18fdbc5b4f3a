"""Files at a script's border: what it saves is thrown away, what it downloads or restores is taken for restored.

Imports torch.
"""

from __future__ import annotations

import builtins
import errno
import glob
import io
import os
import string
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.image_sizes import ImageSizes
from xlalint.device.borders.scratch_copy import own_copy

torch: Any = import_module("torch")
_builtins: Any = import_module("builtins")
_glob: Any = import_module("glob")
_io: Any = import_module("io")
_os: Any = import_module("os")

_TEXTS = frozenset({".txt", ".tokens", ".raw"})
_IMAGES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff"})
_OF_NUMBERS = frozenset({".npy", ".npz", ".bin"})
_COUNT = 64
"""Of made-up images that a folder holds."""
_MACHINERY = frozenset({"importlib", "importlib_metadata", "pathlib", "pkg_resources"})
_MADE_UP = f"holds {_COUNT} made-up images, as it is not there"
_TOLD = 3
"""Folders that are named."""
_WORDS = ("the", "model", "reads", "a", "line", "of", "words", "that", "nobody", "wrote", ".")
_LINES = 400
_NUMBERS, _KINDS = 1 << 16, 61
"""How many numbers a file holds, and how many different ones."""
_KEPT = 64 << 20
"""Bytes of a checkpoint that is kept for who restores it."""
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EEXIST})


class Restored(dict[str, Any]):
    """What a file would hold: any entry, which all that restores itself takes as its own."""

    def __missing__(self, key: str) -> Restored:
        return self

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key, default)


def stand_in_for_files(clock: Clock, owned: Callable[[str], bool], sizes: ImageSizes) -> None:
    """From here on in this process. ``owned`` tells the program's own files, which ask for data."""
    _texts(clock)
    _mapped_arrays(clock)
    _folders()
    saved: dict[str, bytes] = {}
    _saved(saved)
    _restored(clock, saved)
    _terminal()
    _images(clock, owned, sizes)


def _terminal() -> None:
    """Scripts ask for its width when they are imported."""
    original = os.popen

    def opened(command: str, *args: Any, **kwargs: Any) -> Any:
        return io.StringIO("24 80\n") if command.startswith("stty ") else original(command, *args, **kwargs)

    _os.popen = opened


def _texts(clock: Clock) -> None:
    """A text that is not there has words in it; what can't be written is written to the scratch folder."""
    original = builtins.open

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if any(letter in mode for letter in "wax+"):
            own_copy(file)
        try:
            return original(file, mode, *args, **kwargs)
        except OSError as error:
            if not isinstance(file, (str, os.PathLike)) or error.errno not in _REFUSED:
                raise
            path = Path(file)
            if any(letter in mode for letter in "wax+"):
                return original(path.name or "written", mode.replace("x", "w"), *args, **kwargs)
            if path.suffix not in _TEXTS or _is_asked_by_python():
                raise
            clock.assume(f"`{path.name}` holds made-up words, as it is not there")
            lines = [" ".join(_WORDS[number % 7 :]) for number in range(_LINES)]
            text = "\n".join([string.printable[:94], *lines, ""])
            return io.BytesIO(text.encode()) if "b" in mode else io.StringIO(text)

    _builtins.open = _io.open = opened


def _is_asked_by_python() -> bool:
    """Whether the machinery of imports and packages looks for a file, which may do without."""
    return str(sys._getframe(2).f_globals.get("__name__", "")).partition(".")[0] in _MACHINERY


def _mapped_arrays(clock: Clock) -> None:
    """A file of numbers that is not there holds some."""
    try:
        numpy: Any = import_module("numpy")
    except ImportError:
        return
    original = numpy.memmap

    def mapped(file: Any, dtype: Any = "uint8", mode: str = "r+", *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, (str, os.PathLike)) and "w" not in mode and not os.path.exists(file):
            clock.assume(f"`{Path(file).name}` holds made-up numbers, as it is not there")
            return (numpy.arange(_NUMBERS) % _KINDS).astype(dtype)
        return original(file, dtype, mode, *args, **kwargs)

    numpy.memmap = mapped


def _folders() -> None:
    original = os.mkdir
    refused: set[str] = set()

    def made(path: Any, *args: Any, **kwargs: Any) -> None:
        whole = os.path.abspath(path)
        try:
            original(path, *args, **kwargs)
        except FileNotFoundError:
            # Whoever makes what is above asks again.
            if os.path.dirname(whole) not in refused:
                raise
            refused.add(whole)
        except OSError as error:
            # A link of the checkout may lead nowhere.
            if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM) and not os.path.islink(path):
                raise
            refused.add(whole)

    change = os.chmod

    def changed(path: Any, *args: Any, **kwargs: Any) -> None:
        if not isinstance(path, (str, os.PathLike)) or os.path.abspath(path) not in refused:
            change(path, *args, **kwargs)

    _os.mkdir, _os.chmod = made, changed


def _saved(saved: dict[str, bytes]) -> None:
    """A checkpoint is read from the device, and goes no further than this process."""
    original = torch.save

    def save(value: Any, file: Any, *args: Any, **kwargs: Any) -> None:
        file = _path_of(file)
        if not isinstance(file, (str, os.PathLike)):
            original(value, file, *args, **kwargs)
            return
        written = io.BytesIO()
        original(value, written, *args, **kwargs)
        if written.tell() <= _KEPT:
            saved[os.path.realpath(file)] = written.getvalue()
        # Scripts copy the best of their files.
        with suppress(OSError):
            Path(file).touch()

    torch.save = save


def _path_of(file: Any) -> Any:
    """Of a file that the program has opened itself, too."""
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and os.path.exists(name) else file


def _restored(clock: Clock, saved: dict[str, bytes]) -> None:
    load = torch.load
    absent: list[str] = []
    """Files that were to be restored."""

    def loaded(file: Any, *args: Any, **kwargs: Any) -> Any:
        path = _path_of(file)
        if isinstance(path, (str, os.PathLike)) and os.path.realpath(path) in saved:
            return load(io.BytesIO(saved[os.path.realpath(path)]), *args, **kwargs)
        if file is None or (isinstance(file, (str, os.PathLike)) and not _has_content(file)):
            name = "a file that is not named" if file is None else f"`{Path(file).name}`"
            clock.assume(f"{name} restores nothing, as it is not there")
            absent.append(str(file))
            return Restored()
        return load(file, *args, **kwargs)

    def downloaded(url: str, *_: Any, **__: Any) -> None:
        clock.assume(f"`{url.rpartition('/')[2]}` is not downloaded: weights are as they were made")

    torch.load = loaded
    # Others hold the functions that call it by their own names; the file that is not there is then restored.
    vars(torch.hub).update(download_url_to_file=downloaded)

    def retrieved(url: str, filename: Any = None, *_: Any, **__: Any) -> tuple[str, None]:
        clock.assume(f"`{url.rpartition('/')[2]}` is not downloaded")
        return str(filename or "downloaded"), None

    vars(import_module("urllib.request")).update(urlretrieve=retrieved)
    for kind in (torch.nn.Module, torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler):
        kind.load_state_dict = _taking(kind.load_state_dict, absent)


def _has_content(file: str | os.PathLike[str]) -> bool:
    return os.path.exists(file) and os.path.getsize(file) > 0


_NOTHING_LACKS = torch.nn.modules.module._IncompatibleKeys([], [])


def _taking(original: Any, absent: list[str]) -> Any:
    def load_state_dict(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        # What is copied out of a file that is not there holds nothing either.
        if isinstance(state, Restored) or (absent and not state):
            return _NOTHING_LACKS if isinstance(self, torch.nn.Module) else None
        return original(self, state, *args, **kwargs)

    return load_state_dict


def _images(clock: Clock, asks: Callable[[str], bool], sizes: ImageSizes) -> None:
    """Folders that are not there hold made-up images."""
    _names(clock, asks)
    _opened_images(clock, sizes)


def _names(clock: Clock, asks: Callable[[str], bool]) -> None:
    find, names = glob.glob, os.listdir

    def globbed(pattern: Any, *args: Any, **kwargs: Any) -> list[Any]:
        found = find(pattern, *args, **kwargs)
        folder, form = os.path.split(os.fspath(pattern))
        if found or not isinstance(pattern, (str, os.PathLike)) or _has_images(folder, form):
            return found
        suffix = os.path.splitext(form)[1].lower()
        suffix = suffix if suffix in _IMAGES or suffix in _OF_NUMBERS else ".jpg"
        what = "files" if suffix in _OF_NUMBERS else "images"
        clock.assume(f"`{pattern}` names {_COUNT} made-up {what}, as nothing is there")
        return [os.path.join(folder.replace("*", "0"), f"{number}{suffix}") for number in range(_COUNT)]

    def listed(folder: Any = ".") -> list[Any]:
        try:
            return names(folder)
        except FileNotFoundError:
            if not asks(_asker().f_code.co_filename):
                raise
            known = sum(_MADE_UP in each for each in clock.assumptions)
            clock.assume(f"`{folder}` {_MADE_UP}" if known < _TOLD else f"another folder {_MADE_UP}")
            return [f"{number}.jpg" for number in range(_COUNT)]

    _glob.glob, _os.listdir = globbed, listed


def _asker() -> Any:
    """Who asked for a folder's names, also through `pathlib`."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "pathlib":
        frame = frame.f_back
    return frame


def _has_images(folder: str, form: str) -> bool:
    """Whether an empty answer is the program's own business: the folder is there, or something else is asked for."""
    suffix = os.path.splitext(form)[1].lower()
    return (bool(folder) and os.path.isdir(folder)) or not (
        suffix in _IMAGES or suffix in _OF_NUMBERS or suffix in (".*", "")
    )


def _opened_images(clock: Clock, sizes: ImageSizes) -> None:
    try:
        images: Any = import_module("PIL.Image")
    except ImportError:
        return
    original = images.open

    def opened(file: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(file, *args, **kwargs)
        except FileNotFoundError:
            clock.assume("images that are not there are made up")
            number = zlib.crc32(str(file).encode())
            made = images.effect_noise(sizes.made_up(), 32 + number % 64)
            return made.convert("RGB")

    images.open = opened
