"""Which rules are on: the more specific selector wins, the command line beats the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from making import configuration, rule

from xlalint.findings.errors import ConfigurationError
from xlalint.findings.model import Mode
from xlalint.findings.selection import FileIgnores, counts_in, covers, is_selected, refuse_unknown_in, severity_of
from xlalint.findings.settings import CommandLine

READ = rule()
COPY = rule("XLA103", "copy-to-host")
BRANCH = rule("XLA201", "branch-on-tensor", "control-flow")
UPLOAD = rule("XLA130", "upload-in-step", default=False)
ALL = (READ, COPY, BRANCH, UPLOAD)


def on(line: CommandLine | None = None, **table: object) -> list[str]:
    chosen = configuration(line=line, **table)
    return [one.code for one in ALL if is_selected(one, chosen)]


def test_all_but_those_off_by_default_are_on() -> None:
    assert on() == ["XLA101", "XLA103", "XLA201"]


@pytest.mark.parametrize(
    ("selector", "codes"),
    [
        ("XLA101", ["XLA101"]),
        ("xla101", ["XLA101"]),
        ("scalar-read-in-step", ["XLA101"]),
        ("XLA1", ["XLA101", "XLA103"]),
        ("XLA10", ["XLA101", "XLA103"]),
        ("XLA", ["XLA101", "XLA103", "XLA201"]),
        ("control-flow", ["XLA201"]),
        ("ALL", ["XLA101", "XLA103", "XLA201"]),
        ("XLA130", ["XLA130"]),
        ("upload-in-step", ["XLA130"]),
        ("XLA13", []),
    ],
)
def test_select_by_code_prefix_name_family_or_all(selector: str, codes: list[str]) -> None:
    assert on(select=[selector]) == codes


def test_the_more_specific_wins() -> None:
    assert on(select=["ALL"], ignore=["XLA1"]) == ["XLA201"]
    assert on(select=["ALL", "XLA101"], ignore=["XLA1"]) == ["XLA101", "XLA201"]
    assert on(select=["XLA1"], ignore=["XLA103"]) == ["XLA101"]
    assert on(select=["host-transfer"], ignore=["XLA10"]) == []
    assert on(select=["XLA101"], ignore=["XLA101"]) == []


def test_extend_select_adds() -> None:
    assert on(extend_select=["XLA130"]) == [one.code for one in ALL]
    assert on(select=["XLA2"], extend_select=["XLA101"]) == ["XLA101", "XLA201"]


def test_the_command_line_beats_the_file() -> None:
    assert on(CommandLine(select=("XLA2",)), select=["XLA101"], extend_select=["XLA103"]) == ["XLA201"]
    assert on(CommandLine(select=("XLA101",)), ignore=["XLA101"]) == ["XLA101"]
    assert on(CommandLine(select=("ALL",)), ignore=["XLA101"]) == ["XLA103", "XLA201"]
    assert on(CommandLine(ignore=("XLA101",)), select=["XLA101", "XLA201"]) == ["XLA201"]
    assert on(CommandLine(extend_select=("XLA101",)), select=["XLA2"]) == ["XLA101", "XLA201"]


def test_an_unknown_selector_is_an_error_that_names_the_nearest() -> None:
    for table in ({"select": ["XLA110"]}, {"ignore": ["scalar-reed-in-step"]}, {"severity": {"XLA9": "note"}}):
        with pytest.raises(ConfigurationError, match="no rule"):
            refuse_unknown_in(configuration(**table), ALL)
    with pytest.raises(
        ConfigurationError, match="the command line: no rule `branch-on-tenser`; did you mean `branch-on-tensor`"
    ):
        refuse_unknown_in(configuration(line=CommandLine(select=("branch-on-tenser",))), ALL)
    refuse_unknown_in(configuration(select=["XLA1", "control-flow", "ALL"]), ALL)


def test_a_rule_counts_in_the_modes_of_its_cost() -> None:
    dynamo_only = rule(modes=frozenset({Mode.DYNAMO}))
    assert [
        mode for mode in ("lazy", "dynamo", "eager", "all") if counts_in(dynamo_only, configuration(mode=mode))
    ] == ["dynamo", "all"]


def test_the_narrowest_severity_override_counts() -> None:
    overrides = {"ALL": "note", "XLA1": "error", "XLA101": "warning"}
    assert [severity_of(one, overrides) for one in (READ, COPY, BRANCH)] == ["warning", "error", "note"]
    assert severity_of(READ, {}) is None


def test_per_file_ignores_are_globs_from_the_folder_of_the_configuration(tmp_path: Path) -> None:
    chosen = configuration(
        root=str(tmp_path), per_file_ignores={"tests": ["XLA1"], "*_eval.py": ["control-flow"], "/top.py": ["ALL"]}
    )
    ignores = FileIgnores(chosen)
    assert ignores.of(str(tmp_path / "tests" / "deep" / "x.py")) == ("XLA1",)
    assert ignores.of(str(tmp_path / "src" / "run_eval.py")) == ("control-flow",)
    assert ignores.of(str(tmp_path / "top.py")) == ("ALL",)
    assert ignores.of(str(tmp_path / "src" / "top.py")) == ()
    assert covers(("XLA1",), READ)
    assert not covers(("XLA1",), BRANCH)
