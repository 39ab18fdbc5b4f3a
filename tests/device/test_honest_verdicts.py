"""Programs with findings that are false, or true, by construction: no false one is confirmed, no true one refuted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.validation.case import Settings
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Evidence, Verdict
from xlalint.linting import Options, lint
from xlalint.validating import validate

PROGRAMS = Path(__file__).parent / "programs" / "verdicts"
MAY_NOT_BE = {
    "false": (Verdict.CONFIRMED,),
    "true": (Verdict.REFUTED,),
    "confirmed": (Verdict.REFUTED, Verdict.NOT_RUN),
}
SAID = re.compile(r"# (false|true|confirmed)\b")


def places() -> Iterator[tuple[str, int, str]]:
    """Which line says what of the findings on it."""
    for path in sorted(PROGRAMS.glob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if (said := SAID.search(line)) is not None:
                yield path.name, number, said[1]


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, int], list[Evidence]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PJRT_DEVICE", "CPU")
        report = lint([PROGRAMS], Configurations(), Options(jobs=1))
        proved = validate(report, Configurations(), Settings(steps=3), jobs=2).diagnostics
    by_line: dict[tuple[str, int], list[Evidence]] = {}
    for one in proved:
        assert one.evidence is not None
        by_line.setdefault((Path(one.path).name, one.at.line), []).append(one.evidence)
    return by_line


@pytest.mark.parametrize(("name", "line", "said"), [pytest.param(*one, id=f"{one[0]}:{one[1]}") for one in places()])
def test_a_verdict_is_what_the_program_says(
    name: str, line: int, said: str, found: dict[tuple[str, int], list[Evidence]]
) -> None:
    evidence = found.get((name, line), [])
    assert [one.reason for one in evidence if one.verdict in MAY_NOT_BE[said]] == []
    assert evidence or said != "confirmed"


def test_as_many_are_found_as_it_takes(found: dict[tuple[str, int], list[Evidence]]) -> None:
    """A line without a finding says nothing."""
    said = [word for name, line, word in places() if (name, line) in found]
    assert said.count("false") >= 11
    assert len(said) - said.count("false") >= 13
