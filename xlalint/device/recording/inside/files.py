"""Whose a file is: the user's, a library's that is worth showing, or neither."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

Owned = Callable[[str], bool]

_OUR_OWN = os.path.join(os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3)), "")
"""The linter's package: what of it runs beside the user's program, as what stands around a script, is nobody's."""
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
_OF_PYTHON = re.compile(r"[/\\]lib[/\\]python3[.\d]*[/\\](?!(?:site|dist)-packages[/\\])")
# The runtime itself, what carries calls through, and what works on graphs or numbers and never holds a tensor.
_PASSED_OVER = re.compile(
    r"[/\\](?:torch_xla|torch[/\\]_\w+|torch[/\\](?:fx|export|jit)|functorch|sympy|mpmath|networkx|numpy|tqdm|rich)[/\\]"
    r"|[/\\]torch[/\\]_\w+\.py$|[/\\](?:typing_extensions|decorator|six)\.py$"
)


def owner(roots: Sequence[str], included: Sequence[str] = ()) -> Owned:
    """Whether a file is the user's: in one of ``roots``, and neither installed nor of Python itself, nor our own.

    The packages and modules of ``included`` (``transformers``, ``torch.optim``) are taken for the user's, too.
    """
    inside = tuple(os.path.join(os.path.realpath(root), "") for root in roots)
    python = os.path.join(os.path.dirname(os.path.realpath(os.__file__)), "")
    named = included_in(included)

    def owned(path: str) -> bool:
        # `<string>`, `<frozen …>` and the like are no files.
        if path.startswith("<"):
            return False
        if named(path):
            return True
        real = os.path.realpath(path)
        return real.startswith(inside) and not real.startswith((python, _OUR_OWN)) and not _INSTALLED.search(real)

    return owned


def included_in(names: Sequence[str]) -> Owned:
    """Whether a file belongs to one of the packages or modules of these names, wherever they are installed."""
    parts = ["[/\\\\]".join(map(re.escape, name.split("."))) for name in names if name]
    if not parts:
        return lambda path: False
    return re.compile(rf"[/\\](?:{'|'.join(parts)})(?:[/\\]|\.py$)").search  # type: ignore[return-value]


def is_library(path: str) -> bool:
    """Of a file that is not the user's: whether its lines say more of a cost than the line of the user's that calls."""
    return not (path.startswith("<") or _OF_PYTHON.search(path) or _PASSED_OVER.search(path))
