"""The analyser finds on every page exactly what the page marks, and nothing in what is free."""

from pathlib import Path

import pytest

from xlalint.findings.pages import Block, Page, fixed_text, parse_blocks, parse_page
from xlalint.testing import findings_of

RULES = Path(__file__).resolve().parents[2] / "rules"
PAGES = {path.stem: parse_page(path.read_text(encoding="utf-8")) for path in sorted(RULES.glob("xla[0-9]*.md"))}
FREE = parse_blocks(Path(__file__).with_name("free.md").read_text(encoding="utf-8"))

BLOCKS = [
    pytest.param(page, block, id=f"{stem}-{block.kind}-{block.label or block.line}")
    for stem, page in PAGES.items()
    for block in page.blocks
]


def found_in(text: str, page: Page | None = None) -> list[tuple[int, int, str]]:
    """A page's own rule is on, even where it is off by default."""
    select, installed = ([page.code], page.installed) if page is not None else ([], None)
    found = (one for one in findings_of(text, select=select, installed=installed) if one.suppressed is None)
    return sorted((one.at.line, one.at.column, one.name) for one in found)


@pytest.mark.parametrize(("page", "block"), BLOCKS)
def test_a_page_s_findings_are_those_it_marks(page: Page, block: Block) -> None:
    if block.kind == "fixed":
        assert found_in(fixed_text(page.bad_of(block), block), page) == []
        return
    found = found_in(block.text, page)
    for mark in block.marks:
        here = [finding for finding in found if (finding[0], finding[2]) == (mark.line, mark.name)]
        if mark.kind == "missed":
            assert not here, f"{mark.name} is no longer missed: mark it as found"
        if mark.kind == "false-alarm":
            assert here, f"{mark.name} is no longer a false alarm: take the mark away"
            found.remove(here[0])
    assert found == sorted((mark.line, mark.column or 0, mark.name) for mark in block.marks if mark.kind == "error")


@pytest.mark.parametrize("block", [pytest.param(block, id=f"{block.label}-{block.line}") for block in FREE])
def test_what_is_free_is_not_flagged(block: Block) -> None:
    assert found_in(block.text) == []


def test_a_mark_that_is_wrong_would_be_seen() -> None:
    """The comparison itself can fail: a bad block without its marks does not agree with what is found."""
    page = next(page for page in PAGES.values() if page.code == "XLA101")
    assert found_in(page.of_kind("bad")[0].text) != []
