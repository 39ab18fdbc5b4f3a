"""The arguments of calls by their text, as far as it tells their values: literals, and what a constructor hands on of
its own parameters."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from xlalint.sources.patterns import lazy_pattern

_PARTS = lazy_pattern(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[()\[\]{},]")
_CLASS = lazy_pattern(rb"^([ \t]*)class[ \t]+(\w+)", re.MULTILINE)
_CONSTRUCTOR = lazy_pattern(rb"^([ \t]+)def[ \t]+__init__[ \t]*\(", re.MULTILINE)
_PARAMETER = lazy_pattern(rb"(\w+)[ \t]*(?::[^=]*)?(?:=(.*))?$", re.DOTALL)
_LITERAL = lazy_pattern(rb"-?[\d.][\w.]*|None|True|False|\"[^\"\\\n]*\"|'[^'\\\n]*'")
_HEADER_END = lazy_pattern(rb"\)[^()\n]*:[ \t]*\r?\n")
_GROUP = lazy_pattern(rb"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")


class Argument(msgspec.Struct, frozen=True):
    """What a call gives for a parameter."""

    literal: str = ""
    """Its value, or the default of the parameter that is handed on; empty for anything else."""
    cls: str = ""
    """The class whose constructor hands on a parameter of its own, with the position and name of that."""
    position: int = 0
    name: str = ""

    def is_value(self, other: str) -> bool:
        """Whether the literal has the value that another one has."""
        if not self.literal:
            return False
        mine, wanted = ast.literal_eval(self.literal), ast.literal_eval(other)
        return type(mine) is type(wanted) and bool(mine == wanted)


COMPUTED = Argument()


class Constructor(msgspec.Struct, frozen=True):
    """Where a constructor begins and ends, and those of its parameters that have a literal default and are never bound
    anew."""

    begin: int
    end: int
    parameters: dict[bytes, Argument]


def argument(text: bytes, handed_on: Mapping[bytes, Argument]) -> Argument:
    text = text.strip()
    if _LITERAL.fullmatch(text) and is_literal(text):
        return Argument(os.fsdecode(text))
    return handed_on.get(text, COMPUTED)


def is_literal(text: bytes) -> bool:
    try:
        ast.literal_eval(os.fsdecode(text))
    except (ValueError, SyntaxError):
        return False
    return True


def arguments_from(code: bytes, begin: int) -> Iterator[bytes]:
    """The texts of what stands between parentheses, from behind the first. Where they do not end, anything may be
    meant."""
    depth, start = 0, begin
    for match in _PARTS.finditer(code, begin):
        mark = match[0]
        if mark in b"([{":
            depth += 1
        elif mark in b")]}" and depth:
            depth -= 1
        elif mark in b",)" and not depth:
            part = code[start : match.start()].strip()
            if part:
                yield part
            if mark == b")":
                return
            start = match.end()
    yield b"**"


def constructors_in(code: bytes) -> Iterator[Constructor]:
    """The constructors of the classes at the top of a file."""
    headers = list(_CLASS.finditer(code))
    for match in _CONSTRUCTOR.finditer(code):
        above = [header for header in headers if header.start() < match.start()]
        deeper = re.compile(rb"^(?!" + match[1] + rb"[ \t])[ \t]*[@\w]", re.MULTILINE).search(code, match.end())
        if above and not above[-1][1]:
            end = deeper.start() if deeper else len(code)
            body = code[match.end() : end]
            yield Constructor(match.end(), end, parameters_of(os.fsdecode(above[-1][2]), body))


def parameters_of(cls: str, text: bytes) -> dict[bytes, Argument]:
    """By the text of a constructor, from behind the parenthesis of its header."""
    found: dict[bytes, Argument] = {}
    # The first one is the object itself.
    for position, part in enumerate(arguments_from(text, 0), -1):
        match = _PARAMETER.match(part)
        default = match[2].strip() if match is not None and match[2] is not None else b""
        if match is None or not _LITERAL.fullmatch(default) or not is_literal(default):
            continue
        if not is_bound_anew(match[1], text):
            found[match[1]] = Argument(os.fsdecode(default), cls, position, os.fsdecode(match[1]))
    return found


def is_bound_anew(name: bytes, text: bytes) -> bool:
    """Whether a text gives a name another value, or uses it for something of its own."""
    if re.search(rb"\b(?:for|lambda|as|nonlocal|global)\b[^\n:]*\b" + name + rb"\b", text):
        return True
    header = _HEADER_END.search(text)
    if header is None:
        return True
    flat, groups = text[header.end() :], -1
    if re.search(rb"\b" + name + rb"[ \t]*:=", flat):
        return True
    while groups:
        flat, groups = _GROUP.subn(b"", flat)
    bound = rb"(?:^|[:;])[ \t]*(?:[^=\n]*,[ \t]*)?" + name + rb"\b[^=\n.]*=(?!=)"
    return re.search(bound, flat, re.MULTILINE) is not None


def parameters_at(constructors: Sequence[Constructor], at: int) -> Mapping[bytes, Argument]:
    """What the constructor around a place may hand on."""
    return next((one.parameters for one in constructors if one.begin <= at < one.end), {})
