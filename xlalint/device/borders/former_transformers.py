"""What transformers took in former years: decorators that write documentation had other arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

_MODULES = ("transformers.utils.doc", "transformers.utils", "transformers.file_utils")
_DECORATORS = ("add_code_sample_docstrings", "add_end_docstrings", "add_start_docstrings", "replace_return_docstrings")


def answer_as_transformers_did() -> None:
    """Where it is installed, and the program imports it."""
    for module in _MODULES:
        try:
            found = import_module(module)
        except ImportError:
            return
        for name in _DECORATORS:
            if hasattr(found, name):
                setattr(found, name, _of_any_arguments(getattr(found, name)))


def _of_any_arguments(decorator: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(decorator)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        try:
            return decorator(*args, **kwargs)
        except TypeError:
            return _as_it_is

    return decorated


def _as_it_is(function: Any) -> Any:
    return function
