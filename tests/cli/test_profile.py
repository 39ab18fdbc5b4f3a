"""``--profile``: what a device does otherwise changes what is found, and a bad profile is one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import Xlalint

from xlalint.knowledge.ops import OpRow, load_ops

PROGRAM = """\
import torch
import torch.nn as nn
import torch_xla


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.gate = nn.Sigmoid()

    def forward(self, x):
        return self.gate(self.body(x))


def train(model: Net, loader, optimizer):
    device = torch_xla.device()
    for batch, target in loader:
        optimizer.zero_grad()
        out = model(batch.to(device))
        middle = out.median()
        wave = torch.sin(out)
        twice = torch.cat([out, out])
        kept = out[out > 0]
        loss = torch.nn.functional.mse_loss(out, target.to(device)) + middle + wave.sum() + twice.sum()
        loss.backward()
        optimizer.step()
        seen = loss.item()
        torch_xla.sync()
"""
MEDIAN, SINE, JOINED, MASKED, READ = (
    PROGRAM[: PROGRAM.index(text)].count("\n") + 1 for text in (".median", ".sin(", ".cat(", "out[out", ".item()")
)
GATE = PROGRAM[: PROGRAM.index("return self.gate")].count("\n") + 1


@pytest.fixture(autouse=True)
def _program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)


def op(name: str, **cells: object) -> dict[str, Any]:
    row = load_ops().function(name)
    assert row is not None
    found: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(row, **cells))
    return found


def free(name: str) -> dict[str, Any]:
    never: dict[str, Any] = {"reads": "never", "condition": "", "fallback": ()}
    return op(name, **never, **{f"backward_{cell}": value for cell, value in never.items()})


def costly(name: str) -> dict[str, Any]:
    return op(name, reads="always", condition="", fallback=("made_up",))


def profile(**parts: object) -> dict[str, Any]:
    device = {"kind": "NEURON", "torch": "2.8.0", "torch_xla": "2.8.1"}
    whole: dict[str, Any] = {"schema_version": 1, "xlalint": "0.1.0", "device": device}
    return {**whole, "measured": {"ops": 1, "rules": 1}, **parts}


def written(path: str = "profile.json", **parts: object) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(profile(**parts)))
    return path


def rule(code: str, *modes: str) -> dict[str, Any]:
    return {"code": code, "name": "any", "free_in": list(modes)}


def found(xlalint: Xlalint, *arguments: str) -> set[tuple[str, int]]:
    report = json.loads(xlalint("--output-format", "json", *arguments, ".").out)
    return {(one["code"], one["line"]) for one in report["findings"]}


def test_without_a_profile_the_table_decides(xlalint: Xlalint) -> None:
    everything = found(xlalint)
    assert {("XLA601", MEDIAN), ("XLA302", MASKED), ("XLA101", READ)} <= everything
    assert not [line for _, line in everything if line in (SINE, JOINED, GATE)]
    assert found(xlalint, "--profile", written()) == everything


@pytest.mark.parametrize(
    ("name", "line"),
    [("torch.median", MEDIAN), ("torch.Tensor.__getitem__", MASKED), ("torch.Tensor.item", READ)],
)
def test_an_op_that_is_free_there_is_no_longer_flagged(xlalint: Xlalint, name: str, line: int) -> None:
    everything = found(xlalint)
    assert found(xlalint, "--profile", written(ops=[free(name)])) == {one for one in everything if one[1] != line}


@pytest.mark.parametrize(("name", "line"), [("torch.sin", SINE), ("torch.cat", JOINED), ("torch.nn.Sigmoid", GATE)])
def test_an_op_that_costs_there_is_flagged(xlalint: Xlalint, name: str, line: int) -> None:
    everything = found(xlalint)
    assert found(xlalint, "--profile", written(ops=[costly(name)])) == everything | {("XLA601", line)}
    assert "aten::made_up" in xlalint("--profile", "profile.json", "--select", "XLA601", ".").out


def test_an_op_that_the_table_lacks_is_flagged_if_it_costs(xlalint: Xlalint) -> None:
    row = {**costly("torch.sin"), "name": "torch.brand_new", "aliases": []}
    Path("train.py").write_text(PROGRAM.replace("torch.sin(out)", "torch.brand_new(out)"))
    assert ("XLA601", SINE) not in found(xlalint)
    assert ("XLA601", SINE) in found(xlalint, "--profile", written(new_ops=[row]))


def test_a_rule_that_claims_what_is_free_there_is_silent_in_that_mode(xlalint: Xlalint) -> None:
    everything = found(xlalint)
    name = written(rules=[rule("XLA101", "lazy")])
    assert found(xlalint, "--profile", name) == {one for one in everything if one[0] != "XLA101"}
    assert ("XLA101", READ) in found(xlalint, "--profile", name, "--mode", "eager")
    report = json.loads(xlalint("--profile", name, "--mode", "all", "--output-format", "json", ".").out)
    assert [one["modes"] for one in report["findings"] if one["code"] == "XLA101"] == [["dynamo", "eager"]]


def test_reports_name_the_profile(xlalint: Xlalint) -> None:
    name = written()
    device = {"kind": "NEURON", "torch": "2.8.0", "torch_xla": "2.8.1"}
    assert "Costs as in the profile profile.json: NEURON device, torch 2.8.0" in xlalint("--profile", name, ".").out
    report = json.loads(xlalint("--profile", name, "--output-format", "json", ".").out)
    assert report["profiles"] == [{"path": "profile.json", "device": device}]
    schema = Path(__file__).parents[2] / "docs" / "findings.schema.json"
    pytest.importorskip("jsonschema").validate(report, json.loads(schema.read_text(encoding="utf-8")))
    assert "profiles" not in json.loads(xlalint("--output-format", "json", ".").out)
    sarif = json.loads(xlalint("--profile", name, "--output-format", "sarif", ".").out)
    assert sarif["runs"][0]["properties"] == {"profiles": [{"path": "profile.json", "device": device}]}
    shown = xlalint("--profile", name, "--show-settings", ".").out
    assert f'profile = "{Path(name).absolute()}"' in shown
    assert "# profile: NEURON device, torch 2.8.0, torch_xla 2.8.1" in shown


def test_a_configuration_names_it_from_its_own_folder(xlalint: Xlalint) -> None:
    Path("pkg").mkdir()
    Path("train.py").rename("pkg/train.py")
    Path("pkg/xlalint.toml").write_text('profile = "device/mine.json"\n')
    written("pkg/device/mine.json", ops=[free("torch.median")])
    assert ("XLA601", MEDIAN) not in found(xlalint)
    assert ("XLA601", MEDIAN) in found(xlalint, "--profile", written())
    assert ("XLA601", MEDIAN) in found(xlalint, "--isolated")


def test_each_folder_has_the_profile_of_its_configuration(xlalint: Xlalint) -> None:
    for folder in ("one", "two"):
        Path(folder).mkdir()
        Path(folder, "train.py").write_text(PROGRAM)
    Path("one/xlalint.toml").write_text('profile = "mine.json"\n')
    written("one/mine.json", ops=[free("torch.median"), costly("torch.sin")])
    report = json.loads(xlalint("--output-format", "json", ".").out)
    lines = {(one["path"], one["line"]) for one in report["findings"]}
    assert {("one/train.py", SINE), ("two/train.py", MEDIAN), ("train.py", MEDIAN)} <= lines
    assert not {("one/train.py", MEDIAN), ("two/train.py", SINE), ("train.py", SINE)} & lines


def test_the_result_does_not_depend_on_the_number_of_processes(xlalint: Xlalint) -> None:
    for number in range(4):
        Path(f"train_{number}.py").write_text(PROGRAM)
    name = written(ops=[free("torch.median"), costly("torch.cat")], rules=[rule("XLA302", "lazy")])
    alone, together = (
        json.loads(xlalint("--profile", name, "--jobs", jobs, "--output-format", "json", ".").out)
        for jobs in ("1", "2")
    )
    assert alone["findings"] == together["findings"]
    assert {one["line"] for one in alone["findings"]} >= {JOINED, READ}
    assert not {one["line"] for one in alone["findings"]} & {MEDIAN, MASKED}


def test_explain_says_what_the_profile_leaves_out(xlalint: Xlalint) -> None:
    assert "XLA601 unlowered-op, warning" in xlalint("explain", f"train.py:{MEDIAN}").out
    name = written(ops=[free("torch.median"), costly("torch.sin")])
    assert "XLA601 unlowered-op: free on the device" in xlalint("explain", "--profile", name, f"train.py:{MEDIAN}").out
    assert "XLA601 unlowered-op, warning" in xlalint("explain", "--profile", name, f"train.py:{SINE}").out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is no JSON"),
        ("{", "is no JSON"),
        ("[1]", "was not written by `xlalint calibrate`"),
        ('{"schema_version": 7}', "its schema version is 7, and this xlalint reads 1"),
        ('{"schema_version": 1}', "object missing required field"),
        (json.dumps(profile(ops=3)), "key `ops`: expected an array, got an integer"),
        (json.dumps(profile(ops=[{**free("torch.median"), "reads": 1}])), "key `ops[0].reads`: expected a string"),
        (json.dumps(profile(ops=[{"name": "torch.median"}])), "key `ops[0]`: object missing required field"),
        (json.dumps(profile(ops=[{**free("torch.median"), "reads": "seldom"}])), "op `torch.median`: `reads`: exp"),
        (json.dumps(profile(ops=[{**costly("torch.median"), "condition": "odd"}])), "not a condition: 'odd'"),
        (json.dumps(profile(ops=[{**free("torch.median"), "name": "torch.medain"}])), "did you mean `torch.median`?"),
        (json.dumps(profile(rules=[rule("XLA999", "lazy")])), "no rule `XLA999`"),
        (json.dumps(profile(rules=[rule("XLA101", "lasy")])), "key `rules[0].free_in[0]`"),
        (
            json.dumps({**profile(rules=[rule("XLA999", "lazy")]), "xlalint": "9.0"}),
            "no rule `XLA999` (written by xlalint 9.0, this is",
        ),
        (json.dumps(profile(opps=[])), "unknown field `opps`"),
    ],
)
def test_a_bad_profile_is_one_line_with_file_and_cause(xlalint: Xlalint, text: str, told: str) -> None:
    Path("bad.json").write_text(text)
    outcome = xlalint("--profile", "bad.json", ".")
    assert (outcome.code, outcome.out) == (2, "")
    (line,) = outcome.errors
    assert line.startswith("xlalint: error: profile bad.json: ")
    assert told in line


def test_a_profile_that_is_not_there_is_named(xlalint: Xlalint) -> None:
    outcome = xlalint("--profile", "gone.json", ".")
    assert (outcome.code, outcome.errors) == (2, ["xlalint: error: profile gone.json: no such file or directory"])
    Path("xlalint.toml").write_text("profile = 3\n")
    assert "key `profile`: expected a string, got an integer" in xlalint(".").err


def test_linting_with_a_profile_imports_no_torch(tmp_path: Path, xlalint: Xlalint) -> None:
    name = written(ops=[costly("torch.sin")], rules=[rule("XLA101", "lazy")])
    code = f"from xlalint.cli import main; import sys; main(['--profile', {name!r}, '--jobs', '1', '.'])"
    told = f"{code}\nprint({{'torch', 'torch_xla', 'numpy'}} & {{*sys.modules}})"
    run = subprocess.run([sys.executable, "-c", told], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.endswith("set()\n")


def test_rows_of_the_table_are_whole_in_a_profile() -> None:
    assert set(op("torch.sin")) == set(OpRow.__struct_fields__)
