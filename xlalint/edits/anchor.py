"""Exact anchors: a span of the fast reading, confirmed by the libcst node that has the same range."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from xlalint.edits.coordinates import Lines, Point, Range, position
from xlalint.edits.statement import Parsed, parse_statement
from xlalint.facts.events import Span
from xlalint.findings.model import Position
from xlalint.sources.source import Source

_ANCHORS = (
    cst.BaseExpression,
    cst.BaseSmallStatement,
    cst.BaseSlice,
    cst.BaseElement,
    cst.BaseDictElement,
    cst.Arg,
    cst.Param,
    cst.ImportAlias,
    cst.MatchPattern,
    cst.FormattedStringExpression,
)


class _Places(NamedTuple):
    """What is kept of a parsed statement: nodes are heavy, and the collector would walk them again and again."""

    statement: Range
    exact: frozenset[Range]
    strings: tuple[Range, ...]
    """The outermost f-strings."""


class Anchors:
    """The anchors of one file. Spans of one statement share one parse."""

    def __init__(self, source: Source) -> None:
        self._lines = Lines(source.lines())
        self._places: dict[Span, _Places | None] = {}

    def anchor(self, span: Span, statement: Span) -> Position | None:
        """Where ``span`` stands, or None where libcst does not see an expression there.

        ``statement`` is the simple statement around it, or the header of the compound one; it may as well be the
        code of a whole logical line. A span inside an f-string that has no exact place (Python before 3.12 guesses)
        gives the whole f-string.
        """
        target = self._lines.range(span)
        if target is None:
            return None
        if statement not in self._places:
            self._places[statement] = self._read(statement)
        places = self._places[statement]
        if places is None:
            return None
        if target in places.exact:
            return position(target)
        string = _string_around(places, target)
        return None if string is None else position(string)

    def _read(self, statement: Span) -> _Places | None:
        where = self._lines.range(statement)
        parsed = None if where is None else parse_statement(self._lines, where)
        if parsed is None:
            return None
        strings = [parsed.ranges[node] for node in parsed.ranges if _is_formatted(node)]
        outermost = (where for where in strings if not any(o != where and o.contains(where) for o in strings))
        return _Places(parsed.where, frozenset(_exact(parsed)), tuple(sorted(outermost)))


def _exact(parsed: Parsed) -> Iterator[Range]:
    """The ranges that ``ast`` may give to the nodes of a statement."""
    yield parsed.where
    if parsed.is_compound:
        # A finding on a loop stands on its header, up to the end of what it iterates.
        for node in parsed.ranges:
            if isinstance(node, cst.BaseExpression | cst.WithItem):
                yield Range(parsed.where.start, parsed.ranges[node].end)
                yield Range(parsed.where.start, parsed.outer(node).end)
    for node, where in parsed.ranges.items():
        if isinstance(node, _ANCHORS):
            yield where
        # The parentheses of tuples, generators and patterns are part of them for `ast`, and not for libcst.
        if isinstance(node, cst.Tuple | cst.GeneratorExp | cst.MatchPattern):
            yield parsed.outer(node)
        if isinstance(node, cst.Call):
            yield from _lent_parentheses(parsed, node)
        if isinstance(node, cst.Subscript):
            yield from _bare_tuple(parsed, node)


def _lent_parentheses(parsed: Parsed, call: cst.Call) -> Iterator[Range]:
    """``f(x for x in y)`` lends the call's parentheses to the generator."""
    if len(call.args) == 1 and isinstance(call.args[0].value, cst.GeneratorExp):
        after = call.whitespace_after_func
        if isinstance(after, cst.SimpleWhitespace) and "\n" not in after.value:
            line, column = parsed.outer(call.func).end
            yield Range(Point(line, column + len(after.value)), parsed.ranges[call].end)


def _bare_tuple(parsed: Parsed, node: cst.Subscript) -> Iterator[Range]:
    """``a, b`` of ``x[a, b]`` is a tuple for ``ast`` and has no node of its own in libcst."""
    last = node.slice[-1]
    start = parsed.ranges[node.slice[0]].start
    yield Range(start, parsed.ranges[last].end)
    if isinstance(last.comma, cst.Comma):
        yield Range(start, parsed.ranges[last.comma].end)


def _string_around(places: _Places, target: Range) -> Range | None:
    """The f-string that a span with a guessed place belongs to."""
    around = [where for where in places.strings if where.contains(Range(target.start, target.start))]
    if around:
        return around[0]
    return places.strings[0] if len(places.strings) == 1 and places.statement.contains(target) else None


def _is_formatted(string: cst.CSTNode) -> bool:
    if isinstance(string, cst.ConcatenatedString):
        return _is_formatted(string.left) or _is_formatted(string.right)
    return isinstance(string, cst.FormattedString) and any(
        isinstance(part, cst.FormattedStringExpression) for part in string.parts
    )
