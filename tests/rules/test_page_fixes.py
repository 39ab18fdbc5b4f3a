"""The fix of a page's bad block gives the page's fixed block, to the letter."""

from pathlib import Path

import pytest

from xlalint.edits.merge import merge
from xlalint.findings.pages import Block, Page, fixed_text, parse_page, without_marks
from xlalint.testing import findings_of

RULES = Path(__file__).resolve().parents[2] / "rules"
PAGES = [parse_page(path.read_text(encoding="utf-8")) for path in sorted(RULES.glob("xla[0-9]*.md"))]
FIXED = [pytest.param(page, block, id=page.code) for page in PAGES for block in page.of_kind("fixed")]


@pytest.mark.parametrize(("page", "block"), FIXED)
def test_the_fix_is_what_the_page_promises(page: Page, block: Block) -> None:
    bad = page.bad_of(block)
    text = without_marks(bad.text)
    fixes = [found.fix for found in findings_of(text, select=[page.code]) if found.code == page.code]
    assert None not in fixes
    assert merge(text, [fix for fix in fixes if fix]).text.strip() == without_marks(fixed_text(bad, block)).strip()
