"""Data sets of torchtext that are not there: sentences of made-up words, read by the program's own fields.

Imports torchtext, as it was up to version 0.11.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from xlalint.device.borders.clock import Clock

torch: Any = import_module("torch")

_ROWS = 64
_WORDS = ("the", "model", "reads", "a", "line", "of", "words", "that", "nobody", "wrote", ".")
_LENGTHS = (9, 5, 11, 7)
"""Sentences differ in length, as those of any text do."""
_KINDS = ("pos", "neg")
_LANGUAGE_MODEL = "LanguageModelingDataset"
_TOKENS = 4000
"""Of the one text that a language model learns from."""
_DIMENSIONS = 300
"""Of word vectors whose name tells none."""
_HOLDERS = ("torchtext", "torchtext.legacy")


def stand_in_for_torchtext(clock: Clock) -> None:
    """Where it is installed, and the program imports it."""
    for holder in _HOLDERS:
        try:
            data, sets = import_module(f"{holder}.data"), import_module(f"{holder}.datasets")
        except ImportError:
            continue
        if not hasattr(data, "Example"):
            continue
        vars(data)["Dataset"].download = classmethod(_not_downloaded)
        kinds = (each for each in (*vars(sets).values(), vars(data)["TabularDataset"]) if isinstance(each, type))
        for kind in dict.fromkeys(base for each in kinds for base in each.__mro__):
            if issubclass(kind, data.Dataset) and kind is not data.Dataset and "__init__" in vars(kind):
                kind.__init__ = _reading_sentences(data, kind, clock)  # type: ignore[misc]
        vectors = vars(import_module("torchtext.vocab"))["Vectors"]
        vectors.cache = _no_vectors(vectors.cache, clock)


def _not_downloaded(kind: Any, root: str, check: object = None) -> str:
    return os.path.join(root, str(getattr(kind, "name", "")))


def _reading_sentences(data: ModuleType, kind: type, clock: Clock) -> Callable[..., None]:
    make: Any = vars(kind)["__init__"]
    signature = inspect.signature(make)

    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            make(self, *args, **kwargs)
        except OSError:
            fields = list(_fields(signature.bind(self, *args, **kwargs).arguments))
            whole = any(each.__name__ == _LANGUAGE_MODEL for each in kind.__mro__)
            rows = [_row(fields, number, whole) for number in range(1 if whole else _ROWS)]
            examples = [vars(data)["Example"].fromlist(row, fields) for row in rows]
            vars(data)["Dataset"].__init__(self, examples, fields)
            clock.assume(f"`{type(self).__name__}` gives {_ROWS} made-up sentences, as its files are not there")

    return made


def _fields(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(name of an attribute, field)"""
    fields = given.get("fields")
    if isinstance(fields, Mapping):
        pairs = [pair for each in fields.values() for pair in (each if isinstance(each, list) else [each])]
        yield from dict(pairs).items()
    elif isinstance(fields, Sequence) and fields and isinstance(fields[0], (tuple, list)):
        yield from ((str(name), field) for name, field in fields if field is not None)
    elif isinstance(fields, Sequence):
        yield from zip(("src", "trg"), fields, strict=False)
    else:
        named = ((name.removesuffix("_field"), field) for name, field in given.items() if name.endswith("_field"))
        yield from ((name, field) for name, field in named if field is not None)


def _row(fields: Sequence[tuple[str, Any]], number: int, whole: bool) -> list[Any]:
    return [_sentence(field, number, whole) for _, field in fields]


def _sentence(field: Any, number: int, whole: bool) -> Any:
    if not getattr(field, "sequential", True):
        return _KINDS[number % len(_KINDS)] if getattr(field, "use_vocab", True) else number % len(_KINDS)
    count = _TOKENS if whole else _LENGTHS[number % len(_LENGTHS)]
    words = [_WORDS[(number + each) % len(_WORDS)] for each in range(count)]
    return words if whole else " ".join(words)


def _no_vectors(cache: Any, clock: Clock) -> Any:
    @functools.wraps(cache)
    def cached(self: Any, name: str, *args: Any, **kwargs: Any) -> None:
        try:
            cache(self, name, *args, **kwargs)
        except (OSError, RuntimeError):
            told = [part.removesuffix("d") for part in name.removesuffix(".txt").split(".")]
            self.dim = next((int(part) for part in reversed(told) if part.isdigit()), _DIMENSIONS)
            self.itos, self.stoi, self.vectors = [], {}, torch.zeros(0, self.dim)
            clock.assume(f"the vectors `{name}` are of no word, as their file is not there")

    return cached
