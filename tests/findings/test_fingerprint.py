"""A finding keeps its name through edits that do not touch it."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xlalint.findings.fingerprint import fingerprint, fingerprints


def name(statement: str) -> str:
    return fingerprint("XLA101", "train", statement, 0)


def test_the_name_is_the_same_in_every_run() -> None:
    assert fingerprint("XLA101", "Trainer.step", "total += loss.item()", 0) == "1f85c17ee6fffd3a"


@pytest.mark.parametrize(
    "other",
    [
        "x = f(a['k'],b)",
        "x = f(\n    a['k'],  # the key\n    b,\n)",
        "x = \\\n  f( a[ 'k' ], b )  # why",
        'x = f(a["k"], b)',
        "x = (\n    f(a['k'], b)\n)",
        "x = f((a['k']), (b),)",
    ],
)
def test_layout_does_not_matter(other: str) -> None:
    assert name(other) == name("x = f(a['k'], b)")


@pytest.mark.parametrize(
    "other",
    [
        "x = f(a['l'], b)",
        "x = f(a['k '], b)",
        "x = f(a[r'k'], b)",
        "x = f(a['k'], bc)",
        "x = f(a['#k'], b)",
        "xf(a['k'], b)",
        "x = f(a['k'])",
    ],
)
def test_content_does(other: str) -> None:
    assert name(other) != name("x = f(a['k'], b)")


def test_a_keyword_before_a_string_is_not_its_prefix() -> None:
    assert name("x = a or'b'") == name("x = a or 'b'")


def test_rule_scope_and_number_tell_findings_apart() -> None:
    names = {
        fingerprint("XLA101", "train", "x.item()", 0),
        fingerprint("XLA102", "train", "x.item()", 0),
        fingerprint("XLA101", "test", "x.item()", 0),
        fingerprint("XLA101", "train", "x.item()", 1),
    }
    assert len(names) == 4


def test_findings_of_a_file_are_numbered_by_kind() -> None:
    found = [("XLA101", "f", "a.item()"), ("XLA101", "f", "b.item()"), ("XLA101", "f", "a.item( )")]
    names = fingerprints(found)
    assert names == [
        fingerprint("XLA101", "f", "a.item()", 0),
        fingerprint("XLA101", "f", "b.item()", 0),
        fingerprint("XLA101", "f", "a.item()", 1),
    ]


WORDS = ["x", "loss", "item", "if", "12", "0x1f"]
STRINGS = ["'a b'", '"#"', "f'{x}'", "'''t\n#t'''"]
TOKENS = [*WORDS, *STRINGS, "+", "->", "(", ")", ",", "."]


@st.composite
def twice_laid_out(draw: st.DrawFn) -> tuple[str, str]:
    blanks = st.sampled_from([" ", "\t", "\n", "\r\n", "  ", " # note\n", "\\\n", "\x0c"])
    tokens = draw(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=12))
    gaps = draw(st.lists(blanks, min_size=len(tokens), max_size=len(tokens)))
    return " ".join(tokens), "".join(token + gap for token, gap in zip(tokens, gaps, strict=True))


@given(twice_laid_out())
def test_blanks_and_comments_never_matter(texts: tuple[str, str]) -> None:
    plain, other = texts
    assert name(plain) == name(other)


@given(st.text(alphabet=st.characters(), max_size=80))
@example("'''")
@example('f"{x[')
@example("'a\\")
@example("\udce9 = (")
def test_any_text_has_a_name(text: str) -> None:
    assert re.fullmatch("[0-9a-f]{16}", name(text))
