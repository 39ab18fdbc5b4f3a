"""From facts and rules to diagnostics: what is kept, where it stands, how it is told."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from making import configuration, event, facts, loaded, rule, with_check

from xlalint.facts.events import Certainty, Effect, Facts, Heat, Span, Step
from xlalint.facts.failures import Analysed
from xlalint.findings.check import Judge, Tools, check_file
from xlalint.findings.model import Diagnostic, Edit, Finding, Fix, Position, Safety, Severity, TextEdit
from xlalint.findings.places import Lines, position_of
from xlalint.findings.registry import Loaded
from xlalint.findings.settings import Configuration
from xlalint.findings.wording import how_often
from xlalint.sources.source import Source

TEXT = """\
for batch in loader:
    loss = model(batch)
    total += loss.item()
    größe = "é"; print(loss.item())
"""
READ = loaded(rule())
THIRD = event(3, 13)


def source(text: str = TEXT, path: str = "x.py") -> Source:
    return Source(path=path, text=text, encoding="utf-8")


def check(
    made: Facts, *rules: Loaded, settings: Configuration | None = None, text: str = TEXT, tools: Tools | None = None
) -> list[Diagnostic]:
    return [*check_file(source(text), made, settings or configuration(), rules or (READ,), tools).diagnostics]


def test_a_finding_is_placed_in_one_based_code_points() -> None:
    # In UTF-8 the name takes two bytes more than it has letters, and the string one more.
    column = len('    größe = "é"; print('.encode())
    (found,) = check(facts(event(4, column)))
    assert found.at == Position(4, 24, 4, 35)
    assert TEXT.split("\n")[3][23:34] == "loss.item()"
    assert (found.code, found.name, found.family) == ("XLA101", "scalar-read-in-step", "host-transfer")
    assert (found.heat, found.certainty, found.severity) == (Heat.STEP, Certainty.LIKELY, Severity.WARNING)


def test_findings_come_in_the_order_of_the_text() -> None:
    made = facts(event(4, 25), THIRD, event(2, 4))
    assert [found.at.line for found in check(made)] == [2, 3, 4]


def test_evaluation_is_one_level_lower_and_never_below_a_note() -> None:
    made = facts(event(3, 13, evaluation=True))
    assert check(made)[0].severity is Severity.NOTE
    assert check(made, loaded(rule(severity=Severity.ERROR)))[0].severity is Severity.WARNING
    assert check(made, loaded(rule(severity=Severity.NOTE)))[0].severity is Severity.NOTE


def test_the_users_severity_takes_the_place_of_the_rules() -> None:
    assert check(facts(THIRD), settings=configuration(severity={"XLA1": "error"}))[0].severity is Severity.ERROR
    lower = facts(event(3, 13, evaluation=True))
    assert check(lower, settings=configuration(severity={"XLA101": "error"}))[0].severity is Severity.WARNING


@pytest.mark.parametrize(("least", "lines"), [("possible", [2, 3, 4]), ("likely", [3, 4]), ("certain", [4])])
def test_the_less_certain_is_kept_back(least: str, lines: list[int]) -> None:
    made = facts(*(event(line, 4, certainty=Certainty(line - 2)) for line in (2, 3, 4)))
    assert [found.at.line for found in check(made, settings=configuration(min_certainty=least))] == lines


def test_a_habit_right_elsewhere_needs_xla() -> None:
    habit = loaded(rule("XLA402", "no-step-boundary", "step", needs_xla=True))
    assert check(facts(event(3, 13, uses_xla=True)), habit)
    assert not check(facts(event(3, 13, uses_xla=False)), habit)


def test_one_event_is_one_finding_that_names_the_other_rules() -> None:
    graver = loaded(rule("XLA105", "numpy-of-device-tensor", severity=Severity.ERROR))
    (found,) = check(facts(THIRD), READ, graver)
    assert found.code == "XLA105"
    assert [reason.text for reason in found.why] == ["this is XLA101 scalar-read-in-step too"]
    both = facts(THIRD, event(3, 13, effect=Effect.PRINTED))
    assert len(check(both, READ, loaded(rule("XLA106", "printed-tensor"), Effect.PRINTED))) == 2


def test_rules_that_are_off_or_of_another_mode_say_nothing() -> None:
    assert not check(facts(THIRD), settings=configuration(ignore=["XLA101"]))
    assert not check(facts(THIRD), loaded(rule(default=False)))
    assert check(facts(THIRD), loaded(rule(default=False)), settings=configuration(extend_select=["XLA101"]))
    assert not check(facts(THIRD), loaded(rule(modes=frozenset())))


def test_per_file_ignores_leave_other_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    judge = Judge(configuration(root=str(tmp_path), per_file_ignores={"tests/": ["XLA101"]}), (READ,))
    assert not judge.check(source(path="tests/x.py"), Analysed(facts(THIRD))).diagnostics
    assert judge.check(source(path="src/x.py"), Analysed(facts(THIRD))).diagnostics


def test_why_holds_the_chain_the_guards_and_the_assumption() -> None:
    chain = (Step("x.py", Span(2, 4, 2, 8), "`loss` is what `model` returns"), Step("y.py", Span(1, 3, 1, 4), "é"))
    made = facts(event(3, 13, why=chain, guards=("x is not None",), assumed_hot=True))
    (found,) = check(made, tools=Tools(lines_of=lambda path: ["éx"] if path == "y.py" else None))
    assert [(one.path, one.line, one.column) for one in found.why] == [
        ("x.py", 2, 5),
        ("y.py", 1, 3),
        ("x.py", 3, 14),
        ("x.py", 3, 14),
    ]
    assert "only where `x is not None`" in found.why[2].text
    assert "assumed to run in every step" in found.why[3].text


def test_an_assumption_of_a_caller_names_the_caller() -> None:
    chain = (Step("x.py", Span(2, 4, 2, 8), "Net.fit calls train"),)
    (found,) = check(facts(event(3, 13, why=chain, assumed_hot=True, assumed_of="Net.fit")))
    assert found.why[1].text == "assumed to run in every step: Net.fit has no caller in the linted files"


def test_how_often_says_of_whom_it_is_assumed() -> None:
    own = how_often(event(1, 1, loop="", assumed_hot=True))
    above = how_often(event(1, 1, loop="", assumed_hot=True, assumed_of="Net.fit"))
    assert own == "in every step (assumed: this public function has no caller in the linted files)"
    assert above.endswith("(assumed: it is reached from `Net.fit`, which has no caller in the linted files)")


class ThirdLineOnly:
    """Anchors that confirm what stands in line 3, and show the statement that they are given."""

    def __init__(self, source: Source, lines: Lines) -> None:
        pass

    def anchor(self, span: Span, statement: Span) -> Position | None:
        return Position(3, statement.column, 3, statement.end_column) if span.line == 3 else None


def test_a_place_that_is_not_confirmed_is_told_as_the_fast_reading_has_it() -> None:
    found = check(facts(THIRD, event(4, 25)), tools=Tools(anchors=ThirdLineOnly))
    assert [one.at for one in found] == [Position(3, 4, 3, 24), position_of(source().lines(), event(4, 25).span)]


def test_a_fix_is_made_by_who_can_make_it() -> None:
    edit = Edit("replace-call", Span(3, 13, 3, 24), "keep it", Safety.UNSAFE, ("detach",))
    fix = Fix("keep it", Safety.UNSAFE, (TextEdit(Position(3, 19, 3, 23), "detach"),))

    def mended(facts: Facts) -> Iterator[Finding]:
        for read in facts.events(Effect.SCALAR_READ):
            yield Finding(rule=READ.rule, at=read, message="m", help="h", fix=edit)

    fixable = with_check(READ.rule, mended)
    assert check(facts(THIRD), fixable)[0].fix is None
    tools = Tools(text_edits=lambda given, source, statement: fix if given is edit and source.path == "x.py" else None)
    assert check(facts(THIRD), fixable, tools=tools)[0].fix is fix


def test_fingerprints_tell_twins_apart_and_survive_lines_above() -> None:
    text = "def train():\n    f(loss.item(), loss.item())\n"
    made = facts(event(2, 6), event(2, 19))
    first, second = check(made, text=text)
    assert first.fingerprint != second.fingerprint
    moved = check(facts(event(4, 6), event(4, 19)), text="import os\n\n" + text)
    assert [one.fingerprint for one in moved] == [first.fingerprint, second.fingerprint]


def test_a_rule_that_raises_is_told_in_one_line_and_the_others_go_on() -> None:
    def broken(facts: Facts) -> Iterator[Finding]:
        raise KeyError("two\nlines")
        yield

    rules = (with_check(msgspec.structs.replace(READ.rule, code="XLA100"), broken), READ)
    judged = check_file(source(), facts(THIRD), configuration(), rules)
    assert [one.code for one in judged.diagnostics] == ["XLA101"]
    (skipped,) = judged.skipped
    assert skipped.reason.startswith("rule XLA100 failed: KeyError: ")
    assert "\n" not in skipped.reason
    assert skipped.internal


def test_a_judge_can_be_sent_to_another_process() -> None:
    from xlalint.findings.registry import load_rules

    rules = load_rules()
    judge = Judge(configuration(per_file_ignores={"a": ["ALL"]}), rules)
    judge.check(source(), Analysed(facts(THIRD)))
    again = pickle.loads(pickle.dumps(judge))
    assert again.check(source(), Analysed(facts(THIRD))) == judge.check(source(), Analysed(facts(THIRD)))
