"""Commands that click reads from the command line: values for what they require. Imports click, where it is there."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from xlalint.device.borders.clock import Clock

_BY_TYPE = {"integer": "2", "float": "0.1", "boolean": "true"}


def stand_in_for_click(clock: Clock, text: Callable[[str], str]) -> None:
    """``text`` gives the value of an argument of that name."""
    try:
        core: Any = import_module("click.core")
    except ImportError:
        return
    # Was there until click 8.1.
    vars(import_module("click")).setdefault("get_terminal_size", shutil.get_terminal_size)
    kind: Any = next(each for each in core.Command.__mro__ if "main" in vars(each))
    main = kind.main

    def run(self: Any, args: Any = None, *rest: Any, **kwargs: Any) -> Any:
        if args is None and len(sys.argv) == 1:
            args = _words(self, text)
            if args:
                clock.assume(f"the command line is `{' '.join(args)}`")
        return main(self, args, *rest, **kwargs)

    kind.main = run


def _words(command: Any, text: Callable[[str], str]) -> list[str]:
    """What a command, or the first of a group, would complain of."""
    words: list[str] = []
    for parameter in command.params:
        if parameter.required:
            option = [] if parameter.param_type_name == "argument" else [parameter.opts[0]]
            words += [*option, *[_word_of(parameter, text)] * max(parameter.nargs, 1)]
    inner = getattr(command, "commands", None)
    if inner:
        name = next(iter(inner))
        words += [name, *_words(inner[name], text)]
    return words


def _word_of(parameter: Any, text: Callable[[str], str]) -> str:
    choices = getattr(parameter.type, "choices", None)
    return str(choices[0]) if choices else _BY_TYPE.get(parameter.type.name) or text(parameter.name.lower())
