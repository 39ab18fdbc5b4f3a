"""Values that numpy and pickle would read from files that are not there: of a form that the program takes.

Imports torch.
"""

from __future__ import annotations

import builtins
import functools
import io
import os
import pickle
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from xlalint.device.borders.item_forms import form_of_name
from xlalint.device.borders.missing_files import MissingFiles
from xlalint.device.borders.tried_forms import TriedForms

torch: Any = import_module("torch")
_builtins: Any = import_module("builtins")
_pickle: Any = pickle

_ARCHIVE = ".npz"
_PICKLES = frozenset({".pkl", ".pickle", ".p", ".pk", ".dat"})


class _AbsentFile(io.BytesIO):
    """Opened by the program, to be unpickled."""

    def __init__(self, name: str, place: str) -> None:
        super().__init__()
        self.absent, self.place = name, place


def stand_in_for_values(forms: TriedForms, missing: MissingFiles) -> None:
    """From here on in this process. ``missing`` tells who asks for them."""
    _arrays(forms, missing)
    _unpickled(forms, missing)


def _arrays(forms: TriedForms, missing: MissingFiles) -> None:
    try:
        numpy: Any = import_module("numpy")
    except ImportError:
        return
    load = numpy.load

    @functools.wraps(load)
    def loaded(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, _AbsentFile):
            return _made_up(forms, file.place, f"what `{file.absent}` holds", Path(file.absent).stem)
        try:
            return load(file, *args, **kwargs)
        except FileNotFoundError:
            place = missing.asker()
            if not isinstance(file, (str, os.PathLike)) or place is None:
                raise
            path = Path(file)
        if path.suffix == _ARCHIVE:
            return _Archive(path.name, place, forms)
        return _made_up(forms, place, f"what `{path.name}` holds", path.stem)

    numpy.load = loaded


def _unpickled(forms: TriedForms, missing: MissingFiles) -> None:
    open_, load = builtins.open, pickle.load

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        try:
            return open_(file, mode, *args, **kwargs)
        except FileNotFoundError:
            place = missing.asker()
            if not isinstance(file, (str, os.PathLike)) or place is None or mode != "rb":
                raise
            if Path(file).suffix not in _PICKLES:
                raise
            return _AbsentFile(os.path.basename(file), place)

    def loaded(file: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, _AbsentFile):
            return _made_up(forms, file.place, f"what `{file.absent}` holds", Path(file.absent).stem)
        return load(file, *args, **kwargs)

    _builtins.open = opened
    _pickle.load = loaded


class _Archive(Mapping[str, Any]):
    """Of arrays with any names."""

    def __init__(self, name: str, place: str, forms: TriedForms) -> None:
        self._name, self._place, self._forms = name, place, forms
        self.files: list[str] = []

    def __getitem__(self, name: str) -> Any:
        return _made_up(self._forms, f"{self._place}[{name}]", f"`{name}` of `{self._name}`", name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __enter__(self) -> _Archive:
        return self

    def __exit__(self, *error: object) -> None:
        return None


def _made_up(forms: TriedForms, key: str, what: str, name: str) -> Any:
    form = forms.of(key, what, lambda: form_of_name(name))
    return _as_arrays(eval(form.text, {"torch": torch, "index": 0}))


def _as_arrays(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_as_arrays(each) for each in value)
    return value.numpy() if isinstance(value, torch.Tensor) else value
