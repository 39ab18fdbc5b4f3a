"""Anchors: each span of the fast reading is confirmed at its own place, and nothing else is."""

from __future__ import annotations

import ast
import sys
import sysconfig
from pathlib import Path

import pytest
from editing import find, logical_line, piece_of, span_of, statements
from hypothesis import given, settings
from hypothesis import strategies as st

from xlalint.edits.anchor import Anchors
from xlalint.facts.events import Span
from xlalint.findings.model import Position
from xlalint.sources.source import Source

UNAMBIGUOUS = (ast.Call, ast.Subscript, ast.Attribute, ast.Compare, ast.BinOp, ast.BoolOp, ast.IfExp, ast.Name)


def anchored(text: str, span: Span, statement: Span) -> Position | None:
    return Anchors(Source("train.py", text, "utf-8")).anchor(span, statement)


def shown(text: str, at: Position) -> str:
    """The text at a position, cut from the lines as an editor numbers them."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[at.line - 1 : at.end_line]
    lines[-1] = lines[-1][: at.end_column - 1]
    lines[0] = lines[0][at.column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("é = {'ß': loss.item(), '日': 1}\n", "loss.item()"),
        ("if a:\n\tx = (loss\n\t\t.item())\n", "loss\n\t\t.item()"),
        ("a(); total += loss.item(); b()\n", "loss.item()"),
        ("x = a + \\\n    loss.item()\n", "loss.item()"),
        ("x = 1\n\x0c\ny = loss.item()\n", "loss.item()"),
        ("x = 1\n\x0cy = loss.item()\n", "loss.item()"),
        ("if a:\n    pass\nelif loss.item() > 0:\n    pass\n", "loss.item()"),
        ("if (  # a: b\n    loss.item()\n):\n    pass\n", "loss.item()"),
        ("if x[lambda: 1]: y = {1: 2}\n", "x[lambda: 1]"),
        ("while (n := loss.item()) > 0: pass\n", "n := loss.item()"),
        ("async def f():\n    async for x in g(y): pass\n", "g(y)"),
        ("async def f():\n    async with a(b) as c, d: await e(c)\n", "a(b)"),
        ("async def f():\n    return [await g(x) async for x in y if h(x)]\n", "await g(x)"),
        ("with (\n    a(b) as c,\n    d(e),\n): pass\n", "d(e)"),
        ("match f(x):\n    case 1: pass\n", "f(x)"),
        ("match = f(x)\nmatch[0] = g(y)\n", "g(y)"),
        ("case(f(x))\n", "f(x)"),
        ("x = sum(f(a) for a in b)\n", "(f(a) for a in b)"),
        ("x = sum ((f(a) for a in b), c)\n", "(f(a) for a in b)"),
        ("x = (a, b)\ny = x[a, :b]\n", "(a, b)"),
        ("x = y[a, :b]\n", "a, :b"),
        ("x = y[(a, b)]\n", "(a, b)"),
        ("x = ( ( a + b ) ) * c\n", "a + b"),
        ("assert a.all(), f(b)\n", "assert a.all(), f(b)"),
        ("for x in loader: step(x)\n", "for x in loader"),
        ("f(*a, **b(c))\n", "b(c)"),
        ("print(f'{loss.item():.3f} {x!r}')\n", "loss.item()"),
        ("print(f'{ a }{ a }')\n", "f'{ a }{ a }'"),
        ("print('a' f'{a}' 'b')\n", "'a' f'{a}' 'b'"),
        ("del x[a], y.b\n", "y.b"),
        ("raise E(a) from b(c)\n", "b(c)"),
        ("x: T[a] = b\n", "T[a]"),
        ("global a\n", "global a"),
        ("if a: b(c)\nelif d: e(f)\nelse: g(h)\n", "e(f)"),
        ("if a: b(c)\nelif d: e(f)\nelse: g(h)\n", "g(h)"),
        ("try: f(a)\nexcept E: g(b)\nfinally: h(c)\n", "f(a)"),
        ("try: f(a)\nexcept E: g(b)\nfinally: h(c)\n", "g(b)"),
        ("try: f(a)\nexcept E: g(b)\nfinally: h(c)\n", "h(c)"),
        ("match a:\n  case 1: f(b)\n", "f(b)"),
        ("for x in (\n  loader  # all: of it\n):  # go\n  step(x)\n", "for x in (\n  loader"),
        ("for x in loader: step(x); log(x)\n", "for x in loader"),
        ("async def f():\n  async for x in g(y): h(x)\n", "async for x in g(y)"),
        ("while f(x): g(x); h(x)\n", "h(x)"),
        ("if x: y = lambda: z(1)\n", "z(1)"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_span_is_anchored_at_its_own_text(text: str, piece: str, newline: str) -> None:
    span, statement = find(text, piece)
    for around in (statement, logical_line(text, span.line)):
        at = anchored(text.replace("\n", newline), span, around)
        assert at is not None
        assert shown(text, at) == piece


@pytest.mark.parametrize(
    ("header", "piece"),
    [
        ("except E(a) as e:", "E(a)"),
        ("case A() if f(x):", "f(x)"),
        ("case {'a': [1, *_]} if f(x):", "f(x)"),
        ("@deco(a)\ndef f(): pass", "deco(a)"),
        ("def f(a=g(x), *, b: int = 1) -> h(y):", "g(x)"),
        ("class A(B(c), metaclass=M):", "B(c)"),
    ],
)
def test_headers_that_need_another_statement_around_them(header: str, piece: str) -> None:
    text = f"    {header}\n        pass\n"
    first = header.partition("\n")[0]
    end = 4 + len(first.rstrip(":"))
    start = 4 + first.index(piece)
    at = anchored(text, Span(1, start, 1, start + len(piece)), Span(1, 4, 1, end))
    assert at == Position(1, start + 1, 1, start + len(piece) + 1)


@pytest.mark.parametrize(
    ("span", "statement"),
    [
        (Span(1, 4, 1, 7), Span(1, 0, 1, 13)),  # half of a name
        (Span(1, 8, 1, 13), Span(1, 0, 1, 13)),  # `item()` is no expression there
        (Span(1, 4, 1, 8), Span(1, 0, 1, 6)),  # outside its statement
        (Span(9, 0, 9, 1), Span(1, 0, 1, 13)),  # no such line
        (Span(1, 4, 1, 99), Span(1, 0, 1, 99)),  # no such column
        (Span(2, 5, 2, 6), Span(2, 0, 2, 8)),  # inside a character
        (Span(3, 0, 3, 1), Span(3, 0, 3, 5)),  # no statement
    ],
)
def test_what_libcst_does_not_see_is_not_anchored(span: Span, statement: Span) -> None:
    assert anchored("x = loss.item()\ny = 'é'\nx = = y\n", span, statement) is None


def test_a_guessed_place_in_a_formatted_string_gives_the_string() -> None:
    # Python 3.10 counts some of these from the wrong line.
    text = "log(f'''\n {a} and\n {loss.item()}''', b)\n"
    at = anchored(text, Span(2, 1, 2, 12), Span(1, 0, 3, 21))
    assert at is None  # beyond the end of its line
    at = anchored(text, Span(2, 2, 2, 6), Span(1, 0, 3, 21))
    assert at is not None
    assert shown(text, at) == "f'''\n {a} and\n {loss.item()}'''"


@pytest.mark.parametrize(
    "deep",
    [" and ".join(["a"] * 30_000), " or ".join(["a"] * 9_000), "a" + ".b()" * 400, " + ".join(["a"] * 2_000)],
)
def test_a_statement_too_deep_for_libcst_is_left_alone(deep: str) -> None:
    text = f"x = {deep}\n"
    assert anchored(text, Span(1, 4, 1, 5), Span(1, 0, 1, len(text) - 1)) is None


def _library() -> list[Path]:
    folder = Path(sysconfig.get_paths()["stdlib"])
    return sorted(path for path in folder.glob("*.py") if 1_000 < path.stat().st_size < 60_000)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_every_expression_of_the_standard_library_is_anchored_at_its_own_text(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(_library()))
    text = path.read_text("utf-8")
    chosen = data.draw(st.sampled_from(list(statements(ast.parse(text)))))
    anchors = Anchors(Source(path.name, text, "utf-8"))
    statement, nodes = chosen
    for node in nodes:
        if isinstance(node, UNAMBIGUOUS):
            at = anchors.anchor(span_of(node), statement)
            assert at is not None, ast.dump(node)
            # Before 3.12 the places inside f-strings are guesses.
            if sys.version_info >= (3, 12) or not any(isinstance(other, ast.JoinedStr) for other in nodes):
                assert shown(text, at) == piece_of(text, span_of(node))
