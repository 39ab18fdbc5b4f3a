"""What is found does not depend on how a program is laid out, what its variables are called or where its code stands.

The programs are those of the rules' own pages, bad and good.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rewriting import MAIN, NotHere, between, extracted, moved_apart, renamed, spread_out, with_comments, written_anew

from xlalint.findings.model import Diagnostic
from xlalint.findings.pages import parse_page
from xlalint.testing import findings_in

RULES = Path(__file__).resolve().parents[2] / "rules"
BLOCKS = {
    f"{path.stem}-{block.kind}-{block.label or block.line}": block
    for path in sorted(RULES.glob("xla[0-9]*.md"))
    for page in [parse_page(path.read_text(encoding="utf-8"))]
    for block in page.blocks
    if block.kind != "fixed" and not page.installed
}
NAMES = sorted(BLOCKS)
each_block = pytest.mark.parametrize("name", NAMES)


@functools.cache
def found_in(name: str) -> tuple[Diagnostic, ...]:
    return tuple(findings_in({MAIN: BLOCKS[name].text}))


def text_of(name: str) -> str:
    return BLOCKS[name].text


def codes(found: Iterable[Diagnostic]) -> Counter[str]:
    return Counter(one.code for one in found)


def places(found: Iterable[Diagnostic]) -> Counter[tuple[int, str, str]]:
    return Counter((one.at.line, one.code, one.certainty.name) for one in found)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.data())
def test_comments_move_findings_and_change_none(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    above = data.draw(st.sets(st.sampled_from(between(text_of(name)))))
    text, lines = with_comments(text_of(name), sorted(above))
    moved = Counter((lines[one.at.line], one.code, one.fingerprint) for one in found_in(name))
    assert Counter((one.at.line, one.code, one.fingerprint) for one in findings_in({MAIN: text})) == moved


@each_block
def test_line_breaks_change_no_finding_and_no_fingerprint(name: str) -> None:
    again = findings_in({MAIN: spread_out(text_of(name))})
    assert Counter((one.code, one.fingerprint) for one in again) == Counter(
        (one.code, one.fingerprint) for one in found_in(name)
    )


@each_block
def test_another_formatter_changes_no_finding(name: str) -> None:
    assert codes(findings_in({MAIN: written_anew(text_of(name))})) == codes(found_in(name))


@each_block
def test_other_names_of_locals_change_no_finding(name: str) -> None:
    text = renamed(text_of(name), lambda old: f"renamed_{old[::-1]}")
    assert places(findings_in({MAIN: text})) == places(found_in(name))


@each_block
@pytest.mark.parametrize("which", ["run", "the rest"])
def test_what_stands_in_another_file_is_found_there(name: str, which: str) -> None:
    def wanted(node: ast.stmt) -> bool:
        return (getattr(node, "name", "") == "run") == (which == "run")

    try:
        files = moved_apart(text_of(name), (lambda _: True) if which == "run" else wanted)
    except NotHere:
        return
    assert codes(findings_in(files)) == codes(found_in(name))


EXTRACTED_OTHERWISE = {
    "xla121_model_round_trip-bad-12": "a model's way to the host and back is looked for in one function",
    "xla310_baked_number-bad-spellings": "XLA601 besides: the backward of an op whose operand is a parameter",
    "xla403_boundary_inside_step-bad-12": "a boundary between backward and step is looked for in one function",
    "xla408_collective_under_rank_test-bad-12": "what a function does that is called under a test of the rank",
    "xla408_collective_under_rank_test-bad-once": "the same",
    "xla409_graph_by_rank-bad-boundary": "the same",
    "xla409_graph_by_rank-bad-read": "the same",
    "xla503_profiler_server_dropped-bad-local": "right: the server is given back, and so is kept",
    "xla504_trace_misuse-bad-raises": "what raises in a function that is called is not seen",
}
"""Programs in which an extracted expression is judged otherwise, and why: all but one are known mistakes."""


@each_block
def test_what_is_extracted_is_found_where_it_went(name: str) -> None:
    differing = []
    for line in {one.at.line for one in found_in(name)}:
        try:
            text = extracted(text_of(name), line)
        except NotHere:
            continue
        if codes(findings_in({MAIN: text})) != codes(found_in(name)):
            differing.append(text)
    if name in EXTRACTED_OTHERWISE:
        assert differing, "no longer so: take the program from the list"
    else:
        assert not differing, differing[0]


def test_the_rewrites_rewrite() -> None:
    """Most programs are changed by each of them: else the tests above would say nothing."""
    texts = [text_of(name) for name in NAMES]
    changes = (spread_out, written_anew, lambda text: renamed(text, lambda old: f"renamed_{old}"))
    assert all(sum(change(text) != text for text in texts) > 0.8 * len(texts) for change in changes)
    assert sum(can(moved_apart, text, lambda _: True) for text in texts) > 0.5 * len(texts)
    lines = {name: found_in(name)[0].at.line for name in NAMES if found_in(name)}
    assert sum(can(extracted, text_of(name), line) for name, line in lines.items()) > 0.3 * len(lines)


def can(rewrite: Callable[..., object], *arguments: object) -> bool:
    try:
        rewrite(*arguments)
    except NotHere:
        return False
    return True
