"""The command line of a script: its own defaults, few rows, and values for what it requires."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from xlalint.device.borders.alternatives import Alternatives
from xlalint.device.borders.clock import Clock
from xlalint.device.borders.compared_values import ComparedValues
from xlalint.device.borders.placement import Placement

_ROWS = re.compile(r"(^|_)(batch|bs)(_?size)?$|batch_size")
_WORKERS = re.compile(r"(^|_)(num_?)?(workers|processes|threads)(_|$)|^(n|num)_?(workers|cpu)")
_GPU = re.compile(r"^(use_?|enable_?|with_?)?(gpu|cuda)s?$")
"""Switches that are off unless somebody asks for a GPU: on, where what is put on one lies on the XLA device."""
_DEVICE = re.compile(r"(^|_)device$")
_GPU_NUMBER = re.compile(r"^(gpu|cuda|device)s?(_?(id|no|num|number|idx|index))?$")
_GPU_COUNT = re.compile(r"^(n|num|number_of)_?gpus?$|^gpu_?(count|num)$")
_RANK = re.compile(r"^(local|node|global)?_?rank$")
_CONFIGURATION = re.compile(r"config|cfg|ya?ml|json|hparams|params")
_OF_FILES = frozenset({"", "path", "file", "name"})
_CONFIGURATIONS = (".yaml", ".yml", ".json", ".toml", ".cfg")
_OPTIONAL = re.compile(r"resume|checkpoint|ckpt|pretrain|weight|load|restore|seed|device|rank|gpu|init")
"""Options that most programs do without."""
_NONE = re.compile(
    r"None(Type)?\b|directory: ''|invalid literal for int|could not convert string|"
    r"No active exception to reraise|cannot access local|must be (?:specified|given|set|provided)|is required|"
    r"[Pp]lease (?:specify|provide|set)"
)
"""How a program fails that does without a value, or with one of the wrong kind."""
_WEIGHTS = (".pt", ".pth", ".ckpt", ".tar", ".bin", ".safetensors")
_OF_WEIGHTS = re.compile(r"'Restored' object")
_OF_TEXT = (None, str, Path)
"""Types of options that take any word."""
_NUMBER = "2"
_MOST_FILES = 5000
_NAMED = (
    (("dir", "root", "folder"), "."),
    (("image", "img", "picture"), "made-up.png"),
    (("weight", "checkpoint", "ckpt", "resume", "pretrained", "model_path", "model_file"), "made-up.pth"),
    (("file",), "made-up.txt"),
    (("path", "data", "out", "save", "log"), "."),
)
"""By words of an argument's name."""


class Expressions(NamedTuple):
    """By the name of an argument."""

    given: Mapping[str, str]
    """As the user says."""
    chosen: Mapping[str, str]
    """With which a rehearsal came further."""
    found: dict[str, str]
    """Those that this rehearsal finds to be needed."""


def stand_in_for_arguments(
    expressions: Expressions,
    batch: int,
    clock: Clock,
    placement: Placement,
    compared: ComparedValues,
    alternatives: Alternatives,
) -> None:
    """Parsers that read the process's own command line, or what another one has left of it, get values for what they
    require. ``batch`` is the most rows of a batch, 0 for no bound; ``compared`` is what the program compares arguments
    with; ``alternatives`` are told what was parsed."""
    parse = argparse.ArgumentParser.parse_known_args
    left: list[list[str]] = []

    def parse_known_args(self: Any, args: Any = None, namespace: Any = None) -> Any:
        words = sys.argv[1:] if args is None else list(args)
        if words not in (sys.argv[1:], *left):
            return parse(self, args, namespace)
        found, rest = parse(self, [*words, *_required(self, words, clock, compared)], namespace)
        _fill(self, found, expressions, clock, compared)
        _begin_anew(self, found, expressions, clock)
        for action in self._actions:
            _settle(found, action.dest, expressions, batch, clock)
            _nearest_configuration(found, action.dest, clock)
            if placement.of_program:
                _ask_for_gpu(found, action.dest, clock)
        alternatives.parsed(self, found)
        left.append(rest)
        return found, rest

    argparse.ArgumentParser.parse_known_args = parse_known_args  # type: ignore[method-assign]


def _fill(parser: Any, found: Any, expressions: Expressions, clock: Clock, compared: ComparedValues) -> None:
    """Options that have no default, and that the program can't do without: a rehearsal tells."""
    given = {**expressions.given, **expressions.chosen}
    empty = [each for each in parser._actions if each.dest not in given and _is_empty(each, found)]
    if not empty or clock.rehearsal is None:
        return
    needed = [each for each in empty if not _OPTIONAL.search(each.dest.lower())]
    ways: list[tuple[list[Any], str]] = [([], ""), (needed, ""), (needed, _NUMBER), (empty, "")]
    actions, text = ways[clock.rehearsal.wanted(len(ways), _NONE) or 0]
    for action in actions:
        value = text if text and action.type in _OF_TEXT else _value(action, compared)
        made = action.type(value) if action.type is not None else value
        setattr(found, action.dest, made)
        expressions.found[action.dest] = f"Path({value!r})" if action.type is Path else repr(made)
        clock.assume(f"`{action.dest}` is {value}, as the program does not do without")


def _begin_anew(parser: Any, found: Any, expressions: Expressions, clock: Clock) -> None:
    """Without the weights of a former run, which are not there, where the program takes its model from their file."""
    decided = expressions.given.keys() | expressions.chosen.keys()
    absent = [
        each for each in parser._actions if each.dest not in decided and _names_weights(getattr(found, each.dest, 0))
    ]
    if not absent or clock.rehearsal is None or not clock.rehearsal.wanted(2, _OF_WEIGHTS):
        return
    for action in absent:
        setattr(found, action.dest, "")
        expressions.found[action.dest] = "''"
        clock.assume(f"`{action.dest}` is empty, as the program takes its model from that file")


def _names_weights(value: object) -> bool:
    return isinstance(value, str) and value.endswith(_WEIGHTS) and not os.path.exists(value)


def _is_empty(action: Any, found: Any) -> bool:
    takes_one = action.nargs is None and bool(action.option_strings) and not action.required
    value = getattr(found, action.dest, 0)
    is_none = value is None or (value == "" and bool(_CONFIGURATION.search(action.dest.lower())))
    return takes_one and action.type in (*_OF_TEXT, int, float) and is_none


def _required(parser: Any, words: list[str], clock: Clock, compared: ComparedValues) -> list[str]:
    """The words that the parser would complain of."""
    made: list[str] = []
    positional = [each for each in words if not each.startswith("-")]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            if not positional:
                made.append(next(iter(action.choices)))
                clock.assume(f"the command is `{made[-1]}`")
            break
        missing = not any(word.partition("=")[0] in action.option_strings for word in words)
        if action.option_strings and action.required and missing:
            values = _values(action, compared)
            made += [action.option_strings[-1], *values]
            clock.assume(f"`{action.option_strings[-1]}` is {' '.join(values)}")
        elif not action.option_strings and action.nargs not in ("?", "*", "...") and action.default is None:
            if positional:
                positional.pop(0)
                continue
            values = _values(action, compared)
            made += values
            clock.assume(f"`{action.dest}` is {' '.join(values)}")
    return made


def _values(action: Any, compared: ComparedValues) -> list[str]:
    count = action.nargs if isinstance(action.nargs, int) else 0 if action.nargs == 0 else 1
    return [_value(action, compared)] * count


def _value(action: Any, compared: ComparedValues) -> str:
    if action.default and type(action.default) in (str, int, float) and action.default != argparse.SUPPRESS:
        # A parser asks for it all the same.
        return str(action.default)
    if action.choices:
        return str(next(iter(action.choices)))
    if action.type is int:
        return "2"
    if action.type is float:
        return "0.1"
    known = compared.of(action.dest, action.help)
    if known is not None:
        return known
    if _CONFIGURATION.search(action.dest.lower()):
        found = _configuration(action.dest.lower())
        if found is not None:
            return found
    return text_of(action.dest.lower())


def text_of(name: str) -> str:
    """A folder is the working one, a file is one that is not there."""
    for words, text in _NAMED:
        if any(word in name for word in words):
            return text
    return "text"


def configurations() -> list[str]:
    """The paths of the program's files of settings, below the working folder."""
    names = (os.path.join(above, each) for above, _, files in os.walk(".", followlinks=False) for each in files)
    return [path for path in islice(names, _MOST_FILES) if path.endswith(_CONFIGURATIONS)]


def _nearest_configuration(found: Any, name: str, clock: Clock) -> None:
    """A default may name a file that is called otherwise by now."""
    value = getattr(found, name, None)
    if not isinstance(value, str) or not value.endswith(_CONFIGURATIONS) or os.path.exists(value):
        return
    near = get_close_matches(value, configurations(), 1)
    if near:
        setattr(found, name, near[0])
        clock.assume(f"`{name}` is {near[0]}, as {value} is not there")


def _configuration(name: str) -> str | None:
    """The program's own file that is named most like an argument."""
    parts = re.split(r"[^a-z]+", name)
    words = [each for each in parts if each not in _OF_FILES and not _CONFIGURATION.search(each)]
    found = configurations()
    named = [path for path in found if all(word in path.lower() for word in words)]
    called = ("config", *(each for each in parts if each not in _OF_FILES))
    unlike = {path: not any(word in path.lower() for word in called) for path in named}
    return min(named, key=lambda path: (unlike[path], path.count(os.sep), path), default=None)


def _settle(found: Any, name: str, expressions: Expressions, batch: int, clock: Clock) -> None:
    value = getattr(found, name, None)
    given, chosen, _ = expressions
    if name in given:
        setattr(found, name, eval(given[name], {"Path": Path}))
        clock.assume(f"`{name}` is {given[name]}, as the user says")
    elif name in chosen:
        setattr(found, name, eval(chosen[name], {"Path": Path}))
        clock.assume(f"`{name}` is {chosen[name]}, where the program's default is {value!r}")
    elif batch and isinstance(value, int) and not isinstance(value, bool) and value > batch and _ROWS.search(name):
        setattr(found, name, batch)
        clock.assume(f"`{name}` is {batch}, where the program asks for {value}")
    elif value == -1 and _RANK.search(name):
        setattr(found, name, 0)
        clock.assume(f"`{name}` is 0, as whoever launches it says")
    elif isinstance(value, int) and not isinstance(value, bool) and value > 0 and _WORKERS.search(name):
        setattr(found, name, 0)


def _ask_for_gpu(found: Any, name: str, clock: Clock) -> None:
    value = getattr(found, name, None)
    if value is False and _GPU.search(name):
        setattr(found, name, True)
        clock.assume(f"`{name}` is asked for")
        return
    asked: str | int | None = None
    if value == "cpu" and _DEVICE.search(name):
        asked = "cuda"
    elif type(value) is int and value == -1 and _GPU_NUMBER.search(name):
        asked = 0
    elif type(value) is int and value == 0 and _GPU_COUNT.search(name):
        asked = 1
    if asked is not None:
        setattr(found, name, asked)
        clock.assume(f"`{name}` is {asked}, where the program's default is {value}")
