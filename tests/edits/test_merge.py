"""Merging: the order does not matter, and nothing is applied twice or by halves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlalint.edits.merge import apply_edits, merge, preview
from xlalint.findings.model import Fix, Position, Safety, TextEdit


def fix(*edits: tuple[int, int, int, int, str], title: str = "a fix") -> Fix:
    return Fix(title, Safety.UNSAFE, tuple(TextEdit(Position(*at), content) for *at, content in edits))


TEXT = "a = f(x)\nb = g(y)\n"


def test_edits_of_several_fixes_are_merged() -> None:
    one = fix((1, 5, 1, 6, "torch.f"), (1, 9, 1, 9, ".detach()"))
    two = fix((2, 1, 3, 1, ""))
    assert apply_edits(TEXT, [two, one]) == "a = torch.f(x).detach()\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newlines_stay_as_they_are(newline: str) -> None:
    text = TEXT.replace("\n", newline)
    assert apply_edits(text, [fix((2, 1, 2, 2, "ü"))]) == text.replace("b", "ü")
    assert apply_edits(text, [fix((1, 1, 2, 1, ""))]) == f"b = g(y){newline}"


def test_a_form_feed_ends_no_line() -> None:
    assert apply_edits("a\x0cb\nc\n", [fix((2, 1, 2, 2, "d"))]) == "a\x0cb\nd\n"


def test_of_two_that_overlap_the_first_in_the_text_stays() -> None:
    outer, inner = fix((1, 5, 1, 9, "h()")), fix((1, 7, 1, 8, "z"), (2, 1, 2, 2, "c"))
    for order in ([outer, inner], [inner, outer]):
        merged = merge(TEXT, order)
        assert merged.text == "a = h()\nb = g(y)\n"
        assert merged.applied == (outer,)
        assert merged.refused == (inner,)


def test_two_insertions_at_one_place_do_not_go_together() -> None:
    one, two = fix((1, 9, 1, 9, ".a"), title="one"), fix((1, 9, 1, 9, ".b"), title="two")
    assert merge(TEXT, [one, two]).text == merge(TEXT, [two, one]).text == "a = f(x).a\nb = g(y)\n"


def test_a_line_that_two_fixes_add_is_added_once() -> None:
    one = fix((1, 9, 1, 9, "\nimport c"), (1, 1, 1, 2, "c"), title="one")
    two = fix((1, 9, 1, 9, "\nimport c"), (2, 1, 2, 2, "d"), title="two")
    assert apply_edits(TEXT, [two, one]) == "c = f(x)\nimport c\nd = g(y)\n"


def test_the_same_fix_twice_counts_once() -> None:
    one = fix((1, 9, 1, 9, ".a"))
    assert merge(TEXT, [one, one]).applied == (one,)


@pytest.mark.parametrize(
    "edit",
    [(1, 5, 1, 99, ""), (7, 1, 7, 2, ""), (1, 6, 1, 5, ""), (0, 1, 1, 1, ""), (1, 0, 1, 1, ""), (2, 1, 1, 1, "")],
)
def test_a_fix_that_the_text_has_no_place_for_is_refused(edit: tuple[int, int, int, int, str]) -> None:
    merged = merge(TEXT, [fix((1, 1, 1, 2, "c"), edit)])
    assert merged.text == TEXT
    assert len(merged.refused) == 1


def test_a_fix_that_overlaps_itself_is_refused() -> None:
    assert apply_edits(TEXT, [fix((1, 1, 1, 4, "c"), (1, 2, 1, 3, ""))]) == TEXT


def test_the_preview_is_a_unified_diff() -> None:
    after = apply_edits(TEXT, [fix((2, 5, 2, 6, "h"))])
    assert preview("src/train.py", TEXT, after) == (
        "--- a/src/train.py\n+++ b/src/train.py\n@@ -1,2 +1,2 @@\n a = f(x)\n-b = g(y)\n+b = h(y)\n"
    )
    assert preview("src/train.py", TEXT, TEXT) == ""
    assert preview("t.py", "a", "b").endswith("-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n")


@st.composite
def separate_fixes(draw: st.DrawFn) -> tuple[str, list[Fix], str]:
    """A text in pieces, fixes that each replace some of them, and what must come out."""
    word = st.text(alphabet="ab(é\n\x0c", min_size=1, max_size=5)
    pieces = draw(st.lists(word, min_size=1, max_size=12))
    changes = draw(st.lists(st.one_of(st.none(), word), min_size=len(pieces), max_size=len(pieces)))
    groups = draw(st.lists(st.integers(0, 3), min_size=len(pieces), max_size=len(pieces)))
    edits: dict[int, list[TextEdit]] = {}
    at = 0
    text = "".join(pieces)
    for piece, change, group in zip(pieces, changes, groups, strict=True):
        if change is not None:
            ends = [(text.count("\n", 0, n) + 1, n - text.rfind("\n", 0, n)) for n in (at, at + len(piece))]
            edits.setdefault(group, []).append(TextEdit(Position(*ends[0], *ends[1]), change))
        at += len(piece)
    fixes = [Fix(f"fix {group}", Safety.SAFE, tuple(found)) for group, found in edits.items()]
    wanted = "".join(p if c is None else c for p, c in zip(pieces, changes, strict=True))
    return text, fixes, wanted


@given(separate_fixes(), st.randoms())
def test_separate_edits_give_the_same_text_in_any_order(case: tuple[str, list[Fix], str], random: object) -> None:
    text, fixes, wanted = case
    random.shuffle(fixes)
    assert apply_edits(text, fixes) == wanted


@given(separate_fixes())
def test_with_other_newlines_the_same_places_change(case: tuple[str, list[Fix], str]) -> None:
    text, fixes, _ = case
    marked = [Fix(f.title, f.safety, tuple(TextEdit(e.at, "X") for e in f.edits)) for f in fixes]
    windows = apply_edits(text.replace("\n", "\r\n"), marked)
    assert windows.replace("\r\n", "\n") == apply_edits(text, marked)
