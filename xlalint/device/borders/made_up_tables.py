"""Tables that pandas would read from files that are not there: with the columns that the program names.

Imports pandas, where it is there.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.missing_files import MissingFiles

_READERS = ("read_csv", "read_table", "read_excel", "read_parquet", "read_json", "read_feather")
_ROWS, _ROWS_OVER_TIME = 512, 80_000
_COLUMNS = 8
"""The fewest: what no program names is numbers."""
_WORDS = ("the", "model", "reads", "a", "line", "of", "words", "that", "nobody", "wrote")
_TIME = re.compile(r"date|time|timestamp|^ds$")
_TEXT = re.compile(r"text|comment|review|sentence|title|tweet|question|answer|content|caption|body|message|summary")
_NAME = re.compile(r"path|name|file|image|img|url|^id$|_id$|^key$")
_KIND = re.compile(r"label|target|class|categor|sentiment|^y$|gender|sex|fold")


class NamedColumns:
    """What the files that were read take out of tables by a text."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def read(self, tree: ast.Module) -> None:
        """`table["date"]`, `table[["date", "price"]]`; not what is looked up in a display or an environment."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                parts = node.slice.elts if isinstance(node.slice, ast.List) else [node.slice]
                texts = (each.value for each in parts if isinstance(each, ast.Constant))
                self.names.update((text, None) for text in texts if isinstance(text, str) and text.isidentifier())


def stand_in_for_tables(clock: Clock, columns: NamedColumns, missing: MissingFiles) -> None:
    """From here on in this process. ``missing`` tells who asks for them."""
    try:
        pandas: Any = import_module("pandas")
        numpy: Any = import_module("numpy")
    except ImportError:
        return
    table = _kind_of_table(pandas, numpy)

    def reading(read: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(read)
        def found(file: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return read(file, *args, **kwargs)
            except FileNotFoundError:
                if not isinstance(file, (str, os.PathLike)) or missing.asker() is None:
                    raise
            named = kwargs.get("names") or kwargs.get("usecols") or list(columns.names)
            names = [name for name in named if isinstance(name, str)]
            clock.assume(f"`{Path(file).name}` has made-up rows, as it is not there")
            names = sorted(names, key=lambda name: not _TIME.search(name.lower()))
            names += [f"column_{number}" for number in range(_COLUMNS - len(names))]
            rows = _ROWS_OVER_TIME if any(_TIME.search(name.lower()) for name in names) else _ROWS
            made = table(index=range(rows))
            for name in names:
                made[name] = _column(pandas, numpy, name, rows)
            return made

        return found

    for name in _READERS:
        setattr(pandas, name, reading(getattr(pandas, name)))


def _kind_of_table(pandas: Any, numpy: Any) -> Any:
    class Table(pandas.DataFrame):  # type: ignore[misc]
        """Has each column that it is asked for."""

        @property
        def _constructor(self) -> Any:
            return Table

        def __getitem__(self, key: Any) -> Any:
            asked = key if isinstance(key, list) else [key]
            for name in asked:
                if isinstance(name, str) and name not in self.columns:
                    self[name] = _column(pandas, numpy, name, len(self))
            return super().__getitem__(key)

    return Table


def _column(pandas: Any, numpy: Any, name: str, rows: int) -> Any:
    """Of rows, by the name of the column."""
    numbers, low = numpy.arange(rows), name.lower()
    if _TIME.search(low):
        return pandas.date_range("2016-07-01", periods=rows, freq="h").astype(str)
    if _TEXT.search(low):
        return [" ".join(_WORDS[number % 7 :]) for number in range(rows)]
    if _NAME.search(low):
        return [f"{number}.jpg" for number in range(rows)]
    return numbers % 2 if _KIND.search(low) else numpy.sin(numbers / 24) + numbers % 7 / 7
