"""Data sets of the program's own that can't be read: items of the form that the program asks for. Imports torch."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import os
import textwrap
from collections.abc import Callable
from importlib import import_module
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.item_forms import told_form
from xlalint.device.borders.tried_forms import TriedForms
from xlalint.device.stubs.objects import Absent

torch: Any = import_module("torch")
_data: Any = import_module("torch.utils.data")
_builtins: Any = builtins

_ROWS = 64
_COUNTS = ("num", "count", "size", "len", "dim", "n_")
_LABELS = ("y", "labels", "targets", "ys")
_KINDS = 10
_NO_DATA = (torch.nn.Module, _data.Sampler, _data.DataLoader, _data.IterableDataset, dict, list, tuple, str)
_MADE, _TOLD = "_xlalint_made", "_xlalint_told"


class OwnData:
    """The classes of data sets that the program's files define."""

    def __init__(self, clock: Clock, owned: Callable[[str], bool], forms: TriedForms) -> None:
        """``forms`` are those of items, by the name of the class."""
        self._clock, self._owned, self._forms = clock, owned, forms

    def watch(self) -> None:
        """From here on in this process."""
        build = builtins.__build_class__

        def built(function: Any, name: str, *bases: Any, **kwargs: Any) -> Any:
            kind = build(function, name, *bases, **kwargs)
            if self._owned(function.__code__.co_filename) and _is_data_set(kind):
                self._wrap(kind)
            return kind

        _builtins.__build_class__ = built

    def _wrap(self, kind: type) -> None:
        own = vars(kind)
        for name, wrapped in (("__init__", self._made), ("__len__", self._counted), ("__getitem__", self._item)):
            if name in own:
                setattr(kind, name, wrapped(kind, own[name]))
        if "__getattr__" not in own:
            kind.__getattr__ = _attribute  # type: ignore[attr-defined]

    def _made(self, kind: type, make: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(make)
        def made(data: Any, *args: Any, **kwargs: Any) -> None:
            try:
                make(data, *args, **kwargs)
            except Exception as error:  # what is not there is missed in many ways
                self._make_up(data, f"could not be read ({_line(error)})")

        return made

    def _counted(self, kind: type, count: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(count)
        def counted(data: Any) -> int:
            if not _is_made_up(data):
                try:
                    found = count(data)
                except Exception as error:
                    self._make_up(data, f"has no length ({_line(error)})")
                else:
                    if found > 0:
                        # Whoever asked may draw from as many, though none of them can be read.
                        object.__setattr__(data, _TOLD, found)
                        return found
                    self._make_up(data, "is empty")
            return int(vars(data).get(_TOLD, _ROWS))

        return counted

    def _item(self, kind: type, get: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(get)
        def item(data: Any, index: Any) -> Any:
            if not _is_made_up(data):
                try:
                    return get(data, index)
                except IndexError:
                    if isinstance(index, int) and index >= len(data):
                        raise
                    self._make_up(data, "gives no item (IndexError)")
                except Exception as error:
                    self._make_up(data, f"gives no item ({_line(error)})")
            if isinstance(index, int) and not -_ROWS <= index < max(_ROWS, len(data)):
                raise IndexError(index)
            return self._item_of(data, get, int(index) if not isinstance(index, slice) else 0)

        return item

    def _make_up(self, data: Any, why: str) -> None:
        object.__setattr__(data, _MADE, why)
        self._clock.assume(f"`{type(data).__name__}` gives {_ROWS} made-up items, as it {why}")

    def _item_of(self, data: Any, get: Callable[..., Any], index: int) -> Any:
        name = type(data).__name__
        sizes = {f"self.{of}": value for of, value in vars(data).items() if type(value) is int}
        form = self._forms.of(name, f"an item of `{name}`", lambda: told_form(_tree(get), sizes))
        return eval(form.text, {"torch": torch, "index": index})


def _is_data_set(kind: Any) -> bool:
    if not isinstance(kind, type) or issubclass(kind, _NO_DATA):
        return False
    return issubclass(kind, _data.Dataset) or ("__getitem__" in vars(kind) and "__len__" in vars(kind))


def _is_made_up(data: Any) -> bool:
    return _MADE in vars(data)


def _attribute(data: Any, name: str) -> Any:
    """What the part of a constructor that did not run would have set: counts and names of classes."""
    if name.startswith("_") or _MADE not in vars(data):
        raise AttributeError(f"{type(data).__name__!r} object has no attribute {name!r}")
    if "classes" in name and not name.startswith(_COUNTS):
        return [str(number) for number in range(_KINDS)]
    if name.lower() in _LABELS:
        return [number % _KINDS for number in range(_ROWS)]
    if any(word in name.lower() for word in _COUNTS):
        return _KINDS
    if any(name in _set_by(each) for each in type(data).__mro__):
        return Absent(f"{type(data).__name__}.{name}", why=f"`{type(data).__name__}` {vars(data)[_MADE]}")
    raise AttributeError(f"{type(data).__name__!r} object has no attribute {name!r}")


@functools.cache
def _set_by(kind: type) -> frozenset[str]:
    """The attributes that the text of a constructor sets."""
    tree = _tree(vars(kind).get("__init__", object))
    targets = (node for node in ast.walk(tree or ast.Module([], [])) if isinstance(node, ast.Attribute))
    return frozenset(node.attr for node in targets if isinstance(node.ctx, ast.Store))


def _tree(get: Callable[..., Any]) -> ast.FunctionDef | None:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(get)))
    except (OSError, SyntaxError, TypeError):
        return None
    return tree.body[0] if tree.body and isinstance(tree.body[0], ast.FunctionDef) else None


def _line(error: Exception) -> str:
    message = str(error).strip().partition("\n")[0]
    name = os.path.basename(str(error.filename)) if isinstance(error, OSError) and error.filename else ""
    return f"`{name}` is not there" if name else f"{type(error).__name__}: {message}"[:120]
