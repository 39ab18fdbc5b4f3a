"""Paths as programs read them: relative to the working directory, with ``/``."""

from __future__ import annotations

from pathlib import PurePath

from xlalint.reports.context import ReportContext


def relative_path(path: str, context: ReportContext) -> str:
    """A file outside of the working directory that is named in full stays so."""
    pure = PurePath(path)
    folder = context.working_directory
    if pure.is_absolute() and folder and pure.is_relative_to(folder):
        pure = pure.relative_to(folder)
    return pure.as_posix()
