"""Regular expressions that are compiled when they are first used: a run needs few of them, and to compile one takes
longer than to import a module."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As ``re.compile``, later."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))


class _Pattern:
    """Takes each method from the compiled pattern when it is first asked for."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        # ``re`` keeps what it has compiled.
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found
