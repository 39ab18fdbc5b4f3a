"""What the text of a project gives to classes that it only calls, and which attributes it sets on other objects."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from itertools import zip_longest

import msgspec

from xlalint.program.handed_arguments import (
    COMPUTED,
    Argument,
    argument,
    arguments_from,
    constructors_in,
    parameters_at,
)
from xlalint.program.main_blocks import before_main_block, tries_out
from xlalint.sources.dependents import File, code_of
from xlalint.sources.patterns import lazy_pattern

_IMPORTS = lazy_pattern(
    rb"^[ \t]*(?:from[ \t]+[.\w]+[ \t]+)?import[ \t]*(?:\((?:[^()#]|#[^\n]*\n)*\)|(?:[^\n\\;]|\\\r?\n)*)", re.MULTILINE
)
_EXPORTED = lazy_pattern(rb"^__all__[^\n]*?[\[(][^\])]*[\])]", re.MULTILINE)
_WORD = lazy_pattern(rb"\b[^\W\d]\w*")
_HEADER = lazy_pattern(rb"\bclass[ \t]+$")
_BASES = lazy_pattern(rb"\bclass[ \t]+\w+[ \t]*\([^()\n]*$")
_OWN = lazy_pattern(rb"\bsuper\([ \t]*$")
_CALL = lazy_pattern(rb"[ \t]*\(")
_KEYWORD = lazy_pattern(rb"(\w+)[ \t]*=(?!=)")
_LINE = 200
"""Bytes before a word that may tell what it is."""
_STORED = lazy_pattern(rb"(?<![\w.\])])((?:\w+(?:\[[^\]\n]*\])?\.)+)(\w+)[ \t]*(?:[-+*/|&^%@]|//|\*\*)?=(?!=)")
_SET_BY_NAME = lazy_pattern(rb"\bsetattr\([ \t]*(?!self\b)[^,()]+,[ \t]*(?:[rb]?[\"'](\w+)[\"']|)")
_SET_AT_ONCE = lazy_pattern(rb"(?:\.__dict__|\bvars\([^()]*\))[ \t]*(?:\.update\b|\[[^\]\n]*\][ \t]*=(?!=)|=(?!=))")


class Given(msgspec.Struct, frozen=True):
    """What the calls of a class give: for each position and for each name all arguments."""

    positional: tuple[frozenset[Argument], ...]
    keywords: dict[str, frozenset[Argument]]
    is_open: bool = False
    """Whether anything may be given."""

    def arguments(self, position: int, name: str) -> frozenset[Argument]:
        """All that calls give for one parameter; nothing where all leave it out."""
        if self.is_open:
            return frozenset({COMPUTED})
        named = self.keywords.get(name, frozenset())
        return named | self.positional[position] if position < len(self.positional) else named

    def beside(self, other: Given) -> Given:
        nothing = frozenset[Argument]()
        return Given(
            tuple(one | two for one, two in zip_longest(self.positional, other.positional, fillvalue=nothing)),
            {
                name: self.keywords.get(name, nothing) | other.keywords.get(name, nothing)
                for name in self.keywords.keys() | other.keywords.keys()
            },
            self.is_open or other.is_open,
        )


def calls_of_classes(files: Iterable[File], names: Collection[bytes]) -> dict[str, Given]:
    """What is given to those of the classes that are called and mentioned in no other way, nor derived from. A trial
    of what a file defines does not count."""
    found: dict[bytes, Given] = {}
    others: set[bytes] = set()
    for file in files:
        text = code_of(before_main_block(file)) if tries_out(file) else file.code
        code = _EXPORTED.sub(b"", _IMPORTS.sub(b"", text))
        constructors = list(constructors_in(code))
        for match in _WORD.finditer(code):
            name = match[0]
            if name not in names or name in others:
                continue
            before = code[max(0, match.start() - _LINE) : match.start()]
            if _HEADER.search(before) or _OWN.search(before):
                continue
            call = _CALL.match(code, match.end())
            if call is None or _BASES.search(before):
                others.add(name)
                continue
            given = given_by(code, call.end(), parameters_at(constructors, call.end()))
            found[name] = given.beside(found[name]) if name in found else given
    return {os.fsdecode(name): given for name, given in found.items() if name not in others}


def given_by(code: bytes, begin: int, handed_on: Mapping[bytes, Argument]) -> Given:
    """The arguments of a call, from behind its parenthesis."""
    positional: list[frozenset[Argument]] = []
    keywords: dict[str, frozenset[Argument]] = {}
    for part in arguments_from(code, begin):
        keyword = _KEYWORD.match(part)
        if part.startswith(b"*"):
            return ANYTHING
        told = frozenset({argument(part[keyword.end() :] if keyword is not None else part, handed_on)})
        if keyword is not None:
            keywords[os.fsdecode(keyword[1])] = told
        else:
            positional.append(told)
    return Given(tuple(positional), keywords)


ANYTHING = Given((), {}, is_open=True)


def set_elsewhere(files: Iterable[File]) -> frozenset[str] | None:
    """The attributes that are set on something else than ``self``; None where any may be."""
    found: set[bytes] = set()
    for file in files:
        if _SET_AT_ONCE.search(file.code):
            return None
        found.update(name for holder, name in _STORED.findall(file.code) if holder != b"self.")
        for name in _SET_BY_NAME.findall(file.code):
            if not name:
                return None
            found.add(name)
    return frozenset(name.decode(errors="surrogateescape") for name in found)
