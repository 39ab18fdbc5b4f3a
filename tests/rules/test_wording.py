"""Findings are worded in the terms of the field."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from xlalint.findings.model import Diagnostic
from xlalint.findings.pages import Page, parse_page
from xlalint.testing import findings_of

PAGES = sorted((Path(__file__).resolve().parents[2] / "rules").glob("xla[0-9]*.md"))
INSTEAD = {
    r"\bturns?\b": "iteration, or trip count for their number",
    r"\b(?:go|goes|going) round\b|\btime around\b": "iterate; values repeat",
    r"\b(?:tells?|told)\b": "report, or measure, or pass",
    r"\b(?:asks?|asked|asking)\b": "read, or test: the host does not ask the device",
    r"\blooks? (?:at|for|whether)\b": "check, or read",
    r"\banew\b": "recompile, or compile a new graph",
    r"\bseldom\b": "every few steps: say how often",
    r"\bhand(?:s|ed)? (?:\w+ ){0,2}(?:over|out|on)\b": "pass, return or yield",
    r"\bcoins?\b": "random number",
    r"\bkin\b": "name the others",
    r"\bof (?:its|their|your) own\b.*\bof (?:its|their|your) own\b": "separate",
    r"\bwhat\b[^.,;:]* is what\b": "a noun for each",
    r"\bas is assumed\b|\bis in sight\b": "(assumed: …), no caller in the linted files",
}
"""Words that a reader would have to translate back, and what stands in their place."""


@cache
def findings(path: Path) -> list[Diagnostic]:
    """What is found in the programs of a page."""
    page: Page = parse_page(path.read_text(encoding="utf-8"))
    programs = [block.text for block in page.blocks if block.kind == "bad"]
    return [
        one
        for text in programs
        for one in findings_of(text, select=[page.code], installed=page.installed)
        if one.code == page.code
    ]


def texts(one: Diagnostic) -> Iterator[str]:
    """The linter's own words: what is quoted belongs to the program."""
    titles = [one.fix.title] if one.fix else []
    for text in (one.message, one.help, *titles, *(reason.text for reason in one.why)):
        yield re.sub(r"`[^`]*`", "`…`", text)


def translations(text: str) -> list[str]:
    return [instead for word, instead in INSTEAD.items() if re.search(word, text)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_findings_are_worded_in_the_terms_of_the_field(path: Path) -> None:
    assert findings(path)
    wrong = {text: instead for one in findings(path) for text in texts(one) for instead in translations(text)}
    assert wrong == {}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_help_is_one_line_without_a_full_stop(path: Path) -> None:
    for one in findings(path):
        assert "\n" not in one.help
        assert not one.help.endswith(".")
        assert len(one.help) <= 150


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a loop that ends on `…` reads `…` in each turn", 1),
        ("go round as often in each step, and mask what is too much", 1),
        ("it is another in each step, the same ones each time around", 1),
        ("it tells how long the host took to hand the step over", 2),
        ("asks the host whether the norm is finite", 1),
        ("looks for nan on the host", 1),
        ("each new length is a new graph, compiled anew", 1),
        ("in each step, as is assumed of a public function", 1),
        ("makes graphs of their own of the forward pass, beside one of its own", 1),
        ("use a fixed trip count and mask surplus iterations with `…`", 0),
    ],
)
def test_private_words_are_seen(text: str, words: int) -> None:
    assert len(translations(text)) == words
