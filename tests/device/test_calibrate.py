"""Calibration on the device of the tests: it finds nothing where nothing differs, and what differs where it does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("expecttest", reason="torch's own op database can't be imported without expecttest")

from xlalint.device.calibration import op_profile
from xlalint.device.calibration.op_measurement import OpProbes
from xlalint.device.calibration.op_profile import OpsMeasured, differences, measure_ops
from xlalint.device.calibration.rule_profile import measure_rule
from xlalint.device.worker.client import Worker
from xlalint.findings.model import Mode
from xlalint.findings.pages import Page, parse_page
from xlalint.knowledge.ops import HandCondition, OpRow, load_ops

ROOT = Path(__file__).resolve().parents[2]
MARK = "XLA_TEST_MARK"
COSTLY = """\
import torch
import torch_xla


def train(model, loader, optimizer):
    device = torch_xla.device()
    for batch, _ in loader:
        optimizer.zero_grad()
        loss = model(batch.to(device)).median()
        loss.backward()
        optimizer.step()
        print(loss.item())
        torch_xla.sync()
"""


@pytest.fixture(scope="module")
def probes() -> Iterator[OpProbes]:
    with Worker({"PJRT_DEVICE": "CPU"}) as worker:
        yield OpProbes(worker)


def xlalint(*arguments: str, where: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "xlalint", *arguments], cwd=where, capture_output=True, text=True)


def row(name: str) -> OpRow:
    found = load_ops().function(name)
    assert found is not None
    return found


def page(code: str) -> Page:
    (path,) = (ROOT / "rules").glob(f"{code.lower()}_*.md")
    return parse_page(path.read_text(encoding="utf-8"))


def measured(probes: OpProbes, *names: str) -> OpsMeasured:
    return measure_ops(probes, names, lambda done, total, remark: None)


def test_on_the_device_of_the_table_nothing_differs_and_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(COSTLY)
    run = xlalint("calibrate", "--ops", "torch.median,torch.sin,torch.cdist", "--rules", "XLA101", where=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "measured 3 ops and 1 rule in " in run.stdout
    assert "nothing differs" in run.stdout
    profile = json.loads((tmp_path / "xlalint-profile.json").read_text())
    assert profile["measured"] == {"ops": 3, "rules": 1}
    assert [profile[key] for key in ("ops", "new_ops", "rules")] == [[], [], []]
    plain, by_profile = (
        json.loads(xlalint("check", "--output-format", "json", *more, ".", where=tmp_path).stdout)
        for more in ((), ("--profile", "xlalint-profile.json"))
    )
    assert plain["findings"] == by_profile["findings"] != []
    assert by_profile["profiles"][0]["device"] == profile["device"]


def test_a_device_that_differs_from_the_table_is_found_out(probes: OpProbes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device is what it is, so here it is the table that says otherwise."""
    table = load_ops().with_rows(
        [
            msgspec.structs.replace(row("torch.median"), reads="never", fallback=()),
            msgspec.structs.replace(row("torch.sin"), reads="always", fallback=("sin",)),
        ]
    )
    monkeypatch.setattr(op_profile, "load_ops", lambda: table)
    found = measured(probes, "torch.median", "torch.sin", "torch.cos")
    assert (found.measured, found.new, found.failed) == (3, (), ())
    assert {one.name: one for one in found.differing} == {name: row(name) for name in ("torch.median", "torch.sin")}
    told = {one.name: "; ".join(differences(one)) for one in found.differing}
    assert told["torch.median"].startswith("forward: falls back (median median.dim_values), was: free")
    assert told["torch.sin"].startswith("forward: free, was: falls back (sin)")


def test_an_op_that_the_table_lacks_is_new_if_it_costs(probes: OpProbes, monkeypatch: pytest.MonkeyPatch) -> None:
    table = load_ops()
    without = tuple(one for one in table.rows if one.name not in ("torch.median", "torch.sin"))
    monkeypatch.setattr(op_profile, "load_ops", lambda: type(table)(table.header, without))
    found = measured(probes, "torch.median", "torch.sin", "torch.not_in_this_torch")
    assert found.new == (row("torch.median"),)
    assert found.differing == ()
    assert found.failed == ("torch.not_in_this_torch",)


def test_a_condition_by_hand_holds_only_where_both_its_probes_say_so(
    probes: OpProbes, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "torch.cdist"
    wrong = HandCondition(name, "forward", "always", ("made_up",), "torch.cdist(x, x * 2)", "", "")
    known = row(name)
    condition, left_open = known.backward_condition, known.backward_open
    right = HandCondition(name, "backward", condition, (), "torch.cdist(x, x * 2, p=1)", "", left_open)
    monkeypatch.setattr(op_profile, "read_conditions", lambda path: (wrong, right))
    assert measured(probes, name).differing == ()


def test_a_rule_whose_bad_programs_cost_nothing_is_free_in_that_mode(worker: Worker) -> None:
    whole = page("XLA101")
    (good,) = whole.of_kind("good")
    cured = tuple(msgspec.structs.replace(one, text=good.text) if one.kind == "bad" else one for one in whole.blocks)
    found = measure_rule(msgspec.structs.replace(whole, blocks=cured), worker, 60)
    assert found.code == "XLA101"
    assert found.free_in == tuple(Mode)
    assert any("reads 0 a step, claimed 1" in claim for one in found.differs for claim in one.claims)


def test_a_rule_of_which_one_experiment_still_costs_stays(worker: Worker) -> None:
    whole = page("XLA601")
    good = next(one for one in whole.of_kind("good") if not one.label)
    cured = tuple(
        msgspec.structs.replace(one, text=good.text) if one.kind == "bad" and not one.label else one
        for one in whole.blocks
    )
    found = measure_rule(msgspec.structs.replace(whole, blocks=cured), worker, 60)
    # The backward still falls back in lazy mode, and is claimed in no other.
    assert found.free_in == (Mode.DYNAMO, Mode.EAGER)


@pytest.mark.parametrize("code", ["XLA503", "XLA314"])
def test_what_the_bad_lack_or_cost_once_is_no_sign_of_being_free(worker: Worker, code: str) -> None:
    found = measure_rule(page(code), worker, 60)
    assert (found.free_in, found.differs) == ((), ())


def test_ctrl_c_ends_all_of_it_and_writes_nothing(tmp_path: Path) -> None:
    mark = uuid.uuid4().hex
    command = [sys.executable, "-m", "xlalint", "calibrate", "--ops", "ALL"]
    run = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, MARK: mark}, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(_marked(mark)) < 3 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(_marked(mark)) >= 3, "the command, its worker and the worker's child"
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=20) == 130
    assert list(tmp_path.iterdir()) == []
    # Who was killed may be there for a moment, on a machine with other work.
    deadline = time.monotonic() + 10
    while _marked(mark) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert _marked(mark) == []


def _marked(mark: str) -> list[int]:
    """The processes that have the mark in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--ops", "torch.medain"), "no op `torch.medain`; did you mean `torch.median`?"),
        (("--rules", "XLA999"), "no rule `XLA999`; did you mean"),
        (("--output", "gone/profile.json"), "gone/profile.json: can't be written"),
        (("--timeout", "0"), "Invalid value for '--timeout'"),
    ],
)
def test_what_can_not_be_done_is_said_before_anything_is_measured(
    tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    run = xlalint("calibrate", *arguments, where=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert told in run.stderr
    assert len(run.stderr.splitlines()) == 1
