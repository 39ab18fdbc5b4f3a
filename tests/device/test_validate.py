"""Findings on the device: what costs is confirmed, what is free is refuted, what had to be assumed is neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

import jsonschema
import msgspec

from xlalint.cli import main
from xlalint.device.validation.case import Settings
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Basis, Diagnostic, Evidence, Mode, Position, Report, Verdict
from xlalint.linting import Options, lint
from xlalint.validating import Underway, validate

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "findings.schema.json").read_text(encoding="utf-8"))

LOOP = """\
import torch
import torch_xla

from elsewhere import report


def train(model, loader, optimizer, criterion):
    device, total = torch_xla.device(), 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        total += loss.item()
        total += loss.detach().dim()
        for _ in range(loss.dim()):
            total += loss.item()
        report(total)
        torch_xla.sync()
    return total
"""
OWN_LOADER = """\
import gc

import torch
import torch_xla


def main():
    device = torch_xla.device()
    model = torch.nn.Linear(8, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = torch.utils.data.TensorDataset(torch.randn(512, 8), torch.randn(512, 1))
    loader = torch.utils.data.DataLoader(rows, batch_size=8, drop_last=True)

    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch_xla.sync()
        gc.collect()


main()
"""
GIVEN = """\
import torch


class Meter(torch.nn.Module):
    def forward(self, loss: torch.Tensor) -> float:
        return loss.item()
"""
SEVERAL = """\
import torch, torch_xla


class Model(torch.nn.Module):
    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden, mask = hidden.to(torch_xla.device()), mask.to(torch_xla.device())
        batch, length, width = hidden.shape
        kept = mask.bool()
        if torch.isnan(hidden).any():
            raise ValueError("not a number")
        return hidden[kept]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PJRT_DEVICE", "CPU")
    return tmp_path


def linted(folder: Path, text: str) -> Report:
    (folder / "program.py").write_text(text, encoding="utf-8")
    return lint([Path("program.py")], Configurations(), Options(jobs=1))


def proved(report: Report, modes: tuple[Mode, ...] = (Mode.LAZY,), jobs: int = 1) -> dict[tuple[int, str], Evidence]:
    found = validate(report, Configurations(), Settings(steps=4, modes=modes), jobs=jobs).diagnostics
    return {(one.at.line, one.code): one.evidence for one in found if one.evidence is not None}


def moved(report: Report, code: str, line: int, columns: tuple[int, int]) -> Report:
    """The finding of ``code``, at another place: a claim that the linter would not make."""
    one = next(each for each in report.diagnostics if each.code == code)
    there: Diagnostic = msgspec.structs.replace(one, at=Position(line, columns[0], line, columns[1]))
    return msgspec.structs.replace(report, diagnostics=(there,))


def test_a_read_in_a_loop_is_confirmed_with_its_cost_and_its_line(folder: Path) -> None:
    evidence = proved(linted(folder, LOOP))[14, "XLA101"]
    one = evidence.modes[Mode.LAZY]
    assert (evidence.verdict, evidence.basis, one.growth) == (Verdict.CONFIRMED, Basis.SLICE, "per-step")
    assert one.per_step["reads"] == 1
    assert [each.line for each in one.lines if each.reads] == [14]


def test_who_waits_is_told_which_finding_is_run(folder: Path) -> None:
    told: list[Underway] = []
    report = linted(folder, LOOP)
    validate(report, Configurations(), Settings(steps=4), told=told.append)
    begun = [one.running[0].at.line for one in told if one.running]
    assert begun == [one.at.line for one in report.diagnostics]
    assert (told[-1].done, told[-1].running) == (told[-1].total, ())
    assert sum(told[-1].verdicts.values()) == len(report.diagnostics)


def test_only_what_the_value_needs_is_run(folder: Path) -> None:
    program = proved(linted(folder, LOOP))[14, "XLA101"].program
    assert "report(" not in program
    assert "criterion(model(" in program


def test_a_claim_about_what_is_free_is_refuted(folder: Path) -> None:
    report = moved(linted(folder, LOOP), "XLA101", 15, (18, 31))
    (evidence,) = proved(report).values()
    assert evidence.verdict is Verdict.REFUTED
    assert evidence.modes[Mode.LAZY].growth == "none"


def test_what_only_a_page_s_own_test_raises_is_not_refuted(folder: Path) -> None:
    """XLA509 is shown by a program that raises where a mantissa is lost; others lose it in silence."""
    text = 'import os\n\nimport torch\n\nos.environ["XLA_USE_BF16"] = "1"\nprint(torch.ones(2))\n'
    evidence = proved(linted(folder, text))[5, "XLA509"]
    assert (evidence.verdict, evidence.reason) == (Verdict.NOT_RUN, "its cost does not show in the steps")


def test_a_loader_that_loads_ahead_and_a_collector_left_out_are_compared(folder: Path) -> None:
    (folder / "xlalint.toml").write_text('select = ["XLA406", "XLA508"]\n', encoding="utf-8")
    found = proved(linted(folder, OWN_LOADER))
    loaded, collected = found[14, "XLA406"], found[20, "XLA508"]
    assert (loaded.verdict, collected.verdict) == (Verdict.CONFIRMED, Verdict.CONFIRMED)
    one = loaded.modes[Mode.LAZY]
    assert one.before["executions"] == one.after["executions"]
    # A row and a target in each step, against both of eight steps at once. A thread uploads those, and may have done so
    # before the steps that are counted.
    assert 1 < one.per_step["uploads"] <= 2
    assert "host seconds in each step" in collected.reason


def test_what_is_compiled_apart_is_compared_in_the_loop_that_uses_it(folder: Path) -> None:
    (folder / "xlalint.toml").write_text('select = ["XLA603"]\n', encoding="utf-8")
    text = OWN_LOADER.replace(
        "    optimizer = ", '    model = torch.compile(model, backend="openxla")\n    optimizer = '
    )
    evidence = proved(linted(folder, text))[10, "XLA603"]
    assert evidence.verdict is Verdict.CONFIRMED
    assert evidence.modes[Mode.LAZY].per_step["executions"] == 3


def test_a_line_that_does_not_run_is_never_confirmed(folder: Path) -> None:
    report = moved(linted(folder, LOOP), "XLA101", 17, (22, 33))
    (evidence,) = proved(report).values()
    assert evidence.verdict is Verdict.NOT_RUN
    assert "did not run" in evidence.reason


def test_a_value_that_nothing_computes_is_never_confirmed(folder: Path) -> None:
    evidence = proved(linted(folder, GIVEN))[6, "XLA101"]
    assert (evidence.verdict, evidence.basis) == (Verdict.NOT_RUN, Basis.ASSUMED)
    assert evidence.reason.startswith("assumed: nothing in sight computes")
    assert evidence.modes[Mode.LAZY].per_step["reads"] == 1


def test_shapes_follow_from_what_is_done_with_them(folder: Path) -> None:
    found = proved(linted(folder, SEVERAL))
    assert {key: one.verdict for key, one in found.items()} == {
        (9, "XLA201"): Verdict.CONFIRMED,
        (11, "XLA302"): Verdict.CONFIRMED,
    }


def test_each_mode_has_a_verdict_of_its_own(folder: Path) -> None:
    evidence = proved(linted(folder, SEVERAL), tuple(Mode))[9, "XLA201"]
    assert set(evidence.modes) == set(Mode)
    assert evidence.modes[Mode.EAGER].verdict is Verdict.CONFIRMED


def test_the_programs_can_be_run_by_hand(folder: Path) -> None:
    linted(folder, LOOP)
    assert main(["validate", "program.py", "--steps", "2", "--keep", "kept", "--quiet"]) == 1
    kept = sorted(path.name for path in (folder / "kept").iterdir())
    assert kept == [f"program_14_xla101_{side}.py" for side in ("after", "before")]
    text = (folder / "kept" / kept[1]).read_text(encoding="utf-8")
    compile(text, kept[1], "exec")
    assert text.startswith("# Cut out of program.py, for line 14")


def test_json_has_the_evidence_and_fits_the_schema(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    linted(folder, LOOP)
    capfd.readouterr()
    assert main(["validate", "program.py", "--output-format", "json"]) == 1
    document = json.loads(capfd.readouterr().out)
    jsonschema.validate(document, SCHEMA)
    assert document["findings"][0]["evidence"]["verdict"] == "confirmed"


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_finding_of_the_examples_is_confirmed(monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PJRT_DEVICE", "CPU")
    found = proved(lint([Path("examples")], Configurations(), Options(jobs=1)), jobs=jobs)
    assert found
    assert {key: one.reason for key, one in found.items() if one.verdict is not Verdict.CONFIRMED} == {}


def test_a_rule_is_run_by_its_own_experiment(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--rules", "XLA306"]) == 0
    assert "XLA306 one-hot-inferred: holds" in capfd.readouterr().out
