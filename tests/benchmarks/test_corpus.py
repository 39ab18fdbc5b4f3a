"""The list of findings in the corpus: what is written is read again, and a difference tells code and place."""

from __future__ import annotations

from listing import TRACKED, Entry, differences, pinned, read, written

OLD = Entry("timm/a.py", 3, "XLA101", "certain", "0" * 16)
SAME = Entry("timm/a.py", 9, "XLA201", "likely", "1" * 16)
NEW = Entry("timm/b.py", 1, "XLA601", "likely", "0" * 16, "falls back")


def test_a_new_and_a_gone_finding_are_told_with_code_and_place() -> None:
    surer = Entry(SAME.path, SAME.line, SAME.code, "certain", SAME.fingerprint)
    assert list(differences([OLD, SAME], [surer, NEW])) == [
        "gone  XLA101 timm/a.py:3 (certain)",
        "other XLA201 timm/a.py:9 (certain), was likely",
        "new   XLA601 timm/b.py:1 (likely): falls back",
    ]
    assert list(differences([OLD, SAME], [SAME, OLD])) == []


def test_what_is_written_is_read_again() -> None:
    entries = {"timm": [OLD, SAME, NEW], "trl": []}
    assert read(written(entries, {"timm": "1.0", "trl": "2"})) == entries


def test_the_tracked_list_is_of_the_pinned_versions() -> None:
    text = TRACKED.read_text(encoding="utf-8")
    heads = {line.split()[1]: line.split()[2].rstrip(",") for line in text.splitlines() if line.startswith("== ")}
    assert heads == pinned()
    assert written(read(text), pinned()) == text
