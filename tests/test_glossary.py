"""The glossary defines the terms of a report, once, and the pages that use its main terms link to it."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from xlalint.cli.entry import COMMANDS, xlalint

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "glossary.md"
PAPERS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RULE_PAGES = sorted((ROOT / "docs" / "rules").glob("*.md"))
DECISIONS = ROOT / "docs" / "decisions"
MAIN = {"step-boundary": r"step(?:'s)? boundar(?:y|ies)", "heat": r"\bheat\b", "certainty": r"\bcertainty\b"}
"""The terms that every finding needs, by their anchor."""

each_paper = pytest.mark.parametrize("path", [*PAPERS, *RULE_PAGES], ids=lambda path: path.stem)


def prose(path: Path) -> str:
    """The text of a page without programs and code."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors() -> list[str]:
    headings = re.findall(r"^#+ (.+)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_terms_are_defined_once_and_in_order() -> None:
    terms = anchors()[1:]
    assert terms[:3] == list(MAIN)
    assert terms[3:] == sorted(set(terms[3:]))


@each_paper
def test_links_into_the_glossary_lead_to_a_term(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    linked = re.findall(r"glossary\.md#([\w-]+)", text)
    if path == GLOSSARY:
        linked += re.findall(r"\]\(#([\w-]+)\)", text)
    assert set(linked) <= set(anchors())


WITHOUT_TERMS = (None, "calibrate", "clean", "completion", "help", "init", "new-rule")
"""Commands whose help uses no term of the glossary."""


@pytest.mark.parametrize("command", [None, *COMMANDS])
def test_the_help_of_a_command_refers_to_terms_that_exist(command: str | None) -> None:
    shown = CliRunner().invoke(xlalint, [*([command] if command else []), "--help"]).output
    assert set(re.findall(r"glossary\.md#([\w-]+)", shown)) <= set(anchors())
    assert ("docs/glossary.md" in shown) == (command not in WITHOUT_TERMS)


@each_paper
@pytest.mark.parametrize("term", MAIN)
def test_a_page_that_uses_a_main_term_links_to_its_definition(path: Path, term: str) -> None:
    if path != GLOSSARY and re.search(MAIN[term], prose(path), re.IGNORECASE):
        assert f"glossary.md#{term})" in path.read_text(encoding="utf-8")


@each_paper
def test_no_other_page_defines_a_main_term(path: Path) -> None:
    if path != GLOSSARY:
        defining = rf"(?:{'|'.join(MAIN.values())})\W{{0,4}} (?:is|are|means) (?:the|how|what|where)\b"
        assert re.findall(defining, prose(path), re.IGNORECASE) == []
        assert not re.search(rf"^#+ (?:{'|'.join(MAIN.values())})$", prose(path), re.IGNORECASE | re.MULTILINE)


def test_the_index_of_decisions_has_each_of_them() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d{4}) \| \[(.+)\]\((.+)\) \| (.+\.) \|$", index, re.MULTILINE)
    records = sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")
    titles = [path.read_text(encoding="utf-8").partition("\n")[0] for path in records]
    assert [name for _, _, name, _ in rows] == [path.name for path in records]
    assert [f"# {int(number)}. {title}" for number, title, _, _ in rows] == titles
