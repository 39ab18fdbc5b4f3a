"""The facts and findings of each spec block are exactly those that its marks say."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import pytest
from blocks import Mark, Spec, SpecError, specs_in

from xlalint.api import Effect, Event
from xlalint.findings.model import Diagnostic
from xlalint.findings.roots import cause_of
from xlalint.testing import all_events, facts_in, findings_in, revealed

FOLDER = Path(__file__).parent
SPECS = {path.stem: specs_in(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.md"))}
CASES = [
    pytest.param(spec, id=f"{stem}-{spec.title.replace(' ', '-')}-{spec.line}")
    for stem, specs in SPECS.items()
    for spec in specs
]


Found: TypeAlias = dict[tuple[str, int], list[Diagnostic]]


@pytest.mark.parametrize("spec", CASES)
def test_what_is_known_and_flagged_is_what_the_marks_say(spec: Spec) -> None:
    told = complaints(spec)
    assert not told, "\n".join(told)


def complaints(spec: Spec) -> list[str]:
    """All that differs from the marks, one line each."""
    found: list[str] = [*differing_values(spec), *differing_events(spec)]
    by_line: Found = {}
    for one in findings_in(spec.files, assume_xla=True, select=spec.select):
        by_line.setdefault((one.path, one.at.line), []).append(one)
    marks: dict[tuple[str, int], list[Mark]] = {}
    for mark in spec.marks:
        if mark.codes:
            marks.setdefault((mark.path, mark.line), []).append(mark)
    for path, line in sorted({*by_line, *marks}):
        here, wanted = by_line.get((path, line), []), marks.get((path, line), [])
        found.extend(f"{path}:{line}: {text}" for text in differing_findings(here, wanted))
    return [*found, *differing_roots(by_line, marks)]


def differing_roots(found: Found, marks: dict[tuple[str, int], list[Mark]]) -> list[str]:
    """The roots that are not one where the marks say so, or not apart."""
    roots: dict[str, set[str]] = {}
    for place, here in marks.items():
        for mark in here:
            name = dict(mark.details).get("root")
            if name is not None:
                ids = {cause_of(one).id for one in found.get(place, ()) if one.code in mark.codes}
                roots.setdefault(name, set()).update(ids)
    told = [f"root {name} is {len(ids)} roots" for name, ids in roots.items() if len(ids) > 1]
    pairs = combinations(sorted(roots), 2)
    return [*told, *(f"roots {one} and {other} are one" for one, other in pairs if roots[one] & roots[other])]


def differing_values(spec: Spec) -> list[str]:
    wanted = {(mark.path, mark.line): mark.text for mark in spec.marks if mark.kind == "revealed"}
    asks = any("reveal(" in text for text in spec.files.values())
    found = revealed(spec.files) if asks else {}
    return [
        f"{path}:{line}: is {found.get((path, line), 'never reached')}, not {wanted.get((path, line), 'marked')}"
        for path, line in sorted({*wanted, *found})
        if wanted.get((path, line)) != found.get((path, line))
    ]


def differing_events(spec: Spec) -> list[str]:
    """The marks of events that don't hold. Only what is marked is asked for: a line may do more."""
    marks = [mark for mark in spec.marks if mark.effects]
    facts = facts_in(spec.files, assume_xla=True) if marks else {}
    told: list[str] = []
    for mark in marks:
        for effect in mark.effects:
            here = [one for one in all_events(facts[mark.path]) if one.span.line == mark.line]
            wrong = differing_event(effect, here, mark)
            told += [f"{mark.path}:{mark.line}: {wrong}"] if wrong else []
    return told


def differing_event(effect: Effect, here: list[Event], mark: Mark) -> str:
    of_it = [one for one in here if one.effect is effect]
    if mark.kind == "no-event":
        return f"there is an event {effect.value}" if of_it else ""
    if not of_it:
        others = sorted({one.effect.value for one in here})
        return f"there is no event {effect.value}, but {others}" if others else f"there is no event {effect.value}"
    known = [{"heat": one.heat.name.lower(), "certainty": one.certainty.name.lower()} for one in of_it]
    agree = any(all(words[key] == word for key, word in mark.details) for words in known)
    return "" if agree else f"{effect.value} is {known}, not {dict(mark.details)}"


def differing_findings(found: list[Diagnostic], marks: list[Mark]) -> list[str]:
    told: list[str] = []
    codes = [one.code for one in found]
    for mark in marks:
        for code in mark.codes:
            if mark.kind == "missed":
                if code in codes:
                    told.append(f"{code} is no longer missed: mark it as flagged")
                    codes.remove(code)
            elif code not in codes:
                told.append(f"{code} is not found" if mark.kind == "flagged" else f"{code} is a false alarm no longer")
            else:
                codes.remove(code)
                chosen = [one for one in found if one.code == code]
                if not any(agrees(one, mark) for one in chosen):
                    told.append(f"{code} is {[describe(one) for one in chosen]}, not {mark.details}")
    return [*told, *(f"{code} is not marked" for code in codes)]


def agrees(one: Diagnostic, mark: Mark) -> bool:
    known = {"heat": one.heat.name, "certainty": one.certainty.name, "level": one.severity.name}
    return all(
        any(text in reason.text for reason in one.why) if key == "why" else known[key] == text.upper()
        for key, text in mark.details
        if key != "root"
    )


def describe(one: Diagnostic) -> str:
    why = "; ".join(f"{reason.path}:{reason.line} {reason.text}" for reason in one.why)
    return f"heat {one.heat.name}, certainty {one.certainty.name}, level {one.severity.name}, why {why}".lower()


READ = "import torch\nx = torch.ones(9, device='xla')\nx.sum().item()"
PAIR = "import torch\nfor i in loader:\n    x, y = torch.ones(2, device='xla')\n"
LOOP = f"{PAIR}    a += x.item()  # flagged: XLA101 [root a]\n"
TWO, SAME = LOOP + "    b += y.item()", LOOP + "    b += x.item()"
WRONG = {
    "an event that is not there": "x = 1  # event: scalar-read\n",
    "an event that is another": f"{READ}  # event: copy-to-host\n",
    "an event beside one that is there": f"{READ}  # event: scalar-read, copy-to-host\n",
    "an event of another heat": f"{READ}  # event: scalar-read [heat step]\n",
    "an event of another certainty": f"{READ}  # event: scalar-read [heat once] [certainty possible]\n",
    "an event that there ought not to be": f"{READ}  # no-event: scalar-read\n",
    "a finding that is not there": "x = 1  # flagged: XLA101\n",
    "a finding without a mark": "import torch\nfor i in loader:\n    torch.ones(9, device='xla').item()\n",
    "two roots that are said to be one": f"{TWO}  # flagged: XLA101 [root a]\n".replace(
        "#1", "# flagged: XLA101 [root a]"
    ),
    "one root that is said to be two": f"{SAME}  # flagged: XLA101 [root b]\n".replace(
        "#1", "# flagged: XLA101 [root a]"
    ),
    "a value that is another": "reveal(1)  # revealed: int 2\n",
    "a value without a mark": "reveal(1)\n",
    "a reveal that is never reached": "def f():\n    return 1\n    reveal(1)  # revealed: int 1\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_differs_from_the_marks_is_told(text: str) -> None:
    (spec,) = specs_in(f"```py\n{text}```\n")
    assert complaints(spec)


@pytest.mark.parametrize("mark", ["# flagged: nothing", "# missed: XLA101", "# false-alarm: XLA101"])
def test_a_mark_names_a_rule_and_a_mistake_says_why(mark: str) -> None:
    with pytest.raises(SpecError):
        specs_in(f"```py\nx = 1  {mark}\n```\n")


@pytest.mark.parametrize("mark", ["event: scalar-read [heat once] [certainty certain]", "no-event: copy-to-host"])
def test_a_mark_of_an_event_needs_no_rule(mark: str) -> None:
    (spec,) = specs_in(f"```py\n{READ}  # {mark}\n```\n")
    assert complaints(spec) == []


@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("event: scalar-reed", "no effect is called 'scalar-reed'"),
        ("event: scalar-read, ", "no effect is called ''"),
        ("event: scalar-read [heat hot]", "no heat is called 'hot'"),
        ("event: scalar-read [heat STEP]", "no heat is called 'STEP'"),
        ("event: scalar-read [certainty sure]", "no certainty is called 'sure'"),
        ("event: scalar-read [level note]", "and no 'level'"),
        ("event: scalar-read [step]", "what holds of it in brackets"),
        ("no-event: scalar-read [heat step]", "what holds of it in brackets"),
    ],
)
def test_a_mark_of_an_event_is_checked_word_by_word(mark: str, told: str) -> None:
    with pytest.raises(SpecError, match=re.escape(told)):
        specs_in(f"```py\nx = 1  # {mark}\n```\n")


EVENTS_COVERED = 10


def test_the_spec_of_events_covers_effects_of_many_kinds() -> None:
    marks = [mark for spec in SPECS["events"] for mark in spec.marks if mark.kind == "event"]
    assert len({effect for mark in marks for effect in mark.effects}) >= EVENTS_COVERED


def test_a_mistake_that_is_mended_is_told() -> None:
    (spec,) = specs_in("```py\nx = 1  # false-alarm: XLA101 because of a reason\n```\n")
    assert complaints(spec) == ["main.py:1: XLA101 is a false alarm no longer"]
