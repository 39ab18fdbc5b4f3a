"""One statement, read exactly by libcst.

libcst needs about a second for a megabyte, so only the statement in question is parsed: a simple statement as it
stands, the header of a compound one with a ``pass`` for a body. A logical line needs no dedenting: what follows
its first token on later lines is inside brackets, a string or behind a backslash.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from xlalint.edits.coordinates import Lines, Point, Range
from xlalint.slicing.syntax_tree import plain_tree

LONGEST = 60_000
"""Characters. libcst's parser dies of deep nesting (measured: 10,000 ``and`` end the process)."""

UNCHECKED = 1_000
"""Characters up to which no nesting can hurt."""

DEEPEST = 200
"""Levels of the tree; the position provider recurses some four Python frames a level."""


class _Surroundings(NamedTuple):
    """What makes a module of the code of a compound statement: of a header (with a body) or of one on one line."""

    before: str = ""
    body: str = ": pass"
    after: str = ""


_HEADERS: Mapping[str, _Surroundings] = {
    **dict.fromkeys(("if", "while", "for", "with", "async", "def", "class"), _Surroundings()),
    **dict.fromkeys(("elif", "else"), _Surroundings(before="if _: pass\n")),
    **dict.fromkeys(("except", "finally"), _Surroundings(before="try: pass\n")),
    "try": _Surroundings(after="\nfinally: pass"),
    "match": _Surroundings(body=":\n case _: pass"),
    "case": _Surroundings(before="match _:\n "),
    "@": _Surroundings(body="\ndef _(): pass"),
}
_CLOSING = re.compile(r"((?:[\s)\]},\\]|#[^\n]*\n)*):")
_WORD = re.compile(r"@|\w+")


class Frame(NamedTuple):
    """A statement's text and what stands around it so that it parses alone."""

    before: str
    text: str
    after: str

    def module(self) -> str:
        return f"{self.before}{self.text}{self.after}\n"


@dataclass(frozen=True)
class Parsed:
    """The nodes of a statement, with their ranges in the file. Parentheses around a node are not part of its range."""

    frame: Frame
    where: Range
    module: cst.Module
    ranges: Mapping[cst.CSTNode, Range]

    @cached_property
    def by_range(self) -> Mapping[Range, Sequence[cst.CSTNode]]:
        found: dict[Range, list[cst.CSTNode]] = {}
        for node, where in self.ranges.items():
            found.setdefault(where, []).append(node)
        return found

    @property
    def is_compound(self) -> bool:
        return bool(self.frame.before or self.frame.after) or not isinstance(
            self.module.body[0], cst.SimpleStatementLine
        )

    @cached_property
    def parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        parents: dict[cst.CSTNode, cst.CSTNode] = {}
        waiting: list[cst.CSTNode] = [self.module]
        while waiting:
            node = waiting.pop()
            for child in node.children:
                parents[child] = node
                waiting.append(child)
        return parents

    def expression(self, where: Range) -> cst.BaseExpression | None:
        """The expression with exactly this range."""
        return next((node for node in self.by_range.get(where, ()) if isinstance(node, cst.BaseExpression)), None)

    def outer(self, node: cst.CSTNode) -> Range:
        """The range of a node with the parentheses around it."""
        left: Sequence[cst.CSTNode] = getattr(node, "lpar", ())
        right: Sequence[cst.CSTNode] = getattr(node, "rpar", ())
        if not left:
            return self.ranges[node]
        return Range(self.ranges[left[0]].start, self.ranges[right[-1]].end)

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around a node, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent


def parse_statement(lines: Lines, where: Range) -> Parsed | None:
    """The statement at a range, or None where libcst can't read it or it is too deep.

    A compound statement is given by its header, from its keyword to the end of its last expression or to its colon,
    or whole if it stands on one line. Several simple statements on one line may be given together.
    """
    for frame in _frames(lines, where):
        if _too_deep(frame):
            return None
        parsed = _parse(frame, where)
        if parsed is not None:
            return parsed
    return None


def parse_block(lines: Lines, where: Range) -> Parsed | None:
    """A whole compound statement with its bodies."""
    frame = _block_frame(lines, where)
    return None if frame is None or _too_deep(frame) else _parse(frame, where)


def _frames(lines: Lines, where: Range) -> Iterator[Frame]:
    text = lines.text(where)
    match = _WORD.match(text)
    word = match[0] if match else ""
    around = _HEADERS.get(word)
    # `match` and `case` are names too, and mostly so.
    if around is None or word in ("match", "case"):
        yield Frame("", text, "")
    if around is None:
        return
    if word == "@":
        yield Frame("", text, around.body)
        return
    for gap in _gaps_before_colon(lines, where.end):
        yield Frame(around.before, text + gap, around.body + around.after)
    yield Frame(around.before, text, around.after)
    block = _block_frame(lines, where)
    if block is not None:
        yield block


def _gaps_before_colon(lines: Lines, end: Point) -> Iterator[str]:
    """What may stand between the end of a header's code and its colon: parentheses, comments, a name."""
    after = lines.after(end)
    for colon in list(re.finditer(":", after))[:4]:
        yield after[: colon.start()]
    last = min(end.line + 20, len(lines))
    closing = _CLOSING.match(lines.text(Range(end, lines.line_end(last))))
    if closing is not None and "\n" in closing[1]:
        yield closing[1]


def _block_frame(lines: Lines, where: Range) -> Frame | None:
    indent = lines.before(where.start)
    if indent.strip(" \t\f"):
        return None
    text = lines.text(where)
    before = "if _: pass\n" if text.startswith("elif") and not indent else "if _:\n" if indent else ""
    if text.startswith("elif") and indent:
        before = f"if _:\n{indent}if _: pass\n"
    return Frame(before + indent, text, "")


def _too_deep(frame: Frame) -> bool:
    if len(frame.text) <= UNCHECKED:
        return False
    return len(frame.text) > LONGEST or _depth(frame.module()) > DEEPEST


def _depth(module: str) -> int:
    tree = plain_tree(module)
    if tree is None:
        # What the fast reader refuses is no statement; libcst may say so itself.
        return 0
    depth = 0
    level: list[ast.AST] = [tree]
    while level and depth <= DEEPEST:
        # `a and b and c` is one node here, and for libcst one in the other.
        depth += max(len(node.values) if isinstance(node, ast.BoolOp) else 1 for node in level)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


class _Positions(PositionProvider):
    """The positions alone: ``MetadataWrapper`` would walk the tree a second time, for providers that aren't there."""

    def of(self, module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
        self._gen_impl(module)
        return cast("Mapping[cst.CSTNode, CodeRange]", self._computed)


def _parse(frame: Frame, where: Range) -> Parsed | None:
    try:
        module = cst.parse_module(frame.module())
        provided = _Positions().of(module)
    except (cst.ParserSyntaxError, RecursionError, ValueError):
        return None
    first = frame.before.count("\n") + 1
    down = where.start.line - first
    right = where.start.column - (len(frame.before) - frame.before.rfind("\n") - 1)

    def placed(line: int, column: int) -> Point:
        return Point(line + down, column + right if line == first else column)

    ranges = {
        node: Range(placed(code.start.line, code.start.column), placed(code.end.line, code.end.column))
        for node, code in provided.items()
    }
    return Parsed(frame, where, module, ranges)
