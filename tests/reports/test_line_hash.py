"""GitHub's line fingerprint; the expected values are those of github/codeql-action's own code for the same text."""

from __future__ import annotations

import pytest

from xlalint.reports.line_hash import line_hashes
from xlalint.sources.source import Source


def hashes(text: str) -> list[str]:
    return line_hashes(Source("a.py", text, "utf-8").lines())


def test_an_empty_file() -> None:
    assert hashes("") == ["c129715d7a2bc9a3:1"]


def test_characters_outside_the_basic_plane_count_twice() -> None:
    text = "for batch in loader:\r\n\tloss = model(batch)  # 🐍 café\r\n\ttotal += loss.item()\r\n\r\n"
    assert hashes(text + "\ttotal += loss.item()\r\nprint(total)") == [
        "985509ebb660492c:1",
        "43475d82b5b91395:1",
        "293ce3f2003270b1:1",
        "a47c29c883eb01e0:1",
        "cdd1e3f511d6b2f6:1",
        "b74747dd931db631:1",
    ]


def test_repeated_lines_are_numbered() -> None:
    assert hashes("        total += loss.item()\n" * 9) == [
        "b0d556618c373c9:1",
        "b0d556618c373c9:2",
        "b0d556618c373c9:3",
        "b0d556618c373c9:4",
        "b0d5582a44a480c:1",
        "3309387497a604af:1",
        "629568e2e1ff24a6:1",
        "19fdef52226a6f21:1",
        "77c029b0d59d0c90:1",
        "c129715d7a2bc9a3:1",
    ]


@pytest.mark.parametrize("newline", ["\r", "\r\n"])
def test_line_ends_and_blanks_do_not_matter(newline: str) -> None:
    text = "if x:\n\n    y = 1\n\nz\n"
    other = text.replace("    ", "\t").replace("\n", f" {newline}")
    assert hashes(text) == hashes(other)
