"""``xlalint trace`` on real programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch_xla")

BERT = Path(__file__).parent / "programs" / "bert.py"
STEPS = """\
import os, signal, sys
import torch
import torch_xla

def main(steps=5):
    model = torch.nn.Linear(4, 2).to(torch_xla.device())
    for number in range(steps):
        loss = model(torch.ones(3, 4).to(torch_xla.device())).sum()
        torch_xla.sync()
        loss.item()  # read
        print("step", number, flush=True)
        end_of_step(number)

def end_of_step(number):
    pass

if __name__ == "__main__":
    main()
"""
READ = 10


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "xlalint", "trace", *arguments]


def trace(folder: Path, *program: str, options: tuple[str, ...] = ()) -> tuple[int, dict[str, Any], str]:
    """The exit code, the report, and what the program wrote."""
    run = subprocess.run(
        command("--output-format", "json", *options, "--", sys.executable, *program),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout, run.stderr
    return run.returncode, json.loads(run.stdout), run.stderr


def program(folder: Path, end_of_step: str = "    pass") -> Path:
    path = folder / "train.py"
    path.write_text(STEPS.replace("    pass", end_of_step), encoding="utf-8")
    return path


def reads(report: dict[str, Any]) -> dict[int, int]:
    return {line["line"]: line["reads"] for line in report["lines"] if line["reads"]}


def test_the_counts_of_a_bert_are_the_runtimes_own_and_each_read_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "bert.py").write_text(BERT.read_text(encoding="utf-8"), encoding="utf-8")
    code, report, output = trace(tmp_path, "bert.py")
    assert code == 0
    own = json.loads(output.partition("METRICS")[2].splitlines()[0])
    assert report["totals"] == own
    assert set(report["unattributed"].values()) == {0}
    text = BERT.read_text(encoding="utf-8").splitlines()
    planted = {number for number, line in enumerate(text, 1) if line.endswith("# read")}
    assert set(reads(report)) == planted
    assert all(count % report["steps"] == 0 for count in reads(report).values())
    confirmed = {finding["line"] for finding in report["findings"] if finding["verdict"] == "confirmed"}
    assert confirmed == planted
    assert report["steps"] == 6
    boundary = next(number for number, line in enumerate(text, 1) if "torch_xla.sync()" in line)
    assert [line["per_step"]["executions"] for line in report["lines"] if line["line"] == boundary] == [1]


def test_a_module_is_traced_and_its_output_kept_apart(tmp_path: Path) -> None:
    program(tmp_path)
    code, report, errors = trace(tmp_path, "-m", "train", options=("--program-output", "out.txt"))
    assert (code, report["steps"], reads(report)) == (0, 5, {READ: 5})
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").count("step") == 5
    assert "step" not in errors


def test_a_program_that_fails_half_way_leaves_its_record_and_its_exit_code(tmp_path: Path) -> None:
    program(tmp_path, "    if number == 2: sys.exit(7)")
    code, report, _ = trace(tmp_path, "train.py")
    assert (code, report["exit_code"], report["complete"]) == (7, 7, True)
    assert reads(report) == {READ: 3}


def test_a_program_that_is_killed_leaves_what_it_had_done(tmp_path: Path) -> None:
    program(tmp_path, "    if number == 2: os.kill(os.getpid(), signal.SIGKILL)")
    code, report, _ = trace(tmp_path, "train.py")
    assert (code, report["complete"]) == (137, False)
    assert reads(report) == {READ: 3}
    assert report["totals"]["reads"] == 3


def test_ctrl_c_ends_the_program_and_keeps_the_record(tmp_path: Path) -> None:
    program(tmp_path, "    import time; time.sleep(60 * (number == 2))")
    run = subprocess.Popen(
        command("--output-format", "json", "--program-output", "out", "--", sys.executable, "train.py"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    output = tmp_path / "out"
    while not output.exists() or "step 2" not in output.read_text(encoding="utf-8"):
        assert run.poll() is None
        time.sleep(0.1)
    os.killpg(run.pid, signal.SIGINT)
    told, _ = run.communicate(timeout=30)
    report = json.loads(told)
    assert run.returncode == 130
    assert (report["complete"], reads(report)) == (True, {READ: 3})


def test_each_rank_of_a_launch_stands_apart(tmp_path: Path) -> None:
    program(tmp_path)
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", "2")
    code, report, errors = trace(tmp_path, *launcher, "train.py")
    assert code == 0, errors
    assert [process["rank"] for process in report["processes"]] == [0, 1]
    for process in report["processes"]:
        assert (process["steps"], process["totals"]["reads"]) == (5, 5)
        assert {line["line"]: line["executions"] for line in process["lines"] if line["executions"]} == {9: 5}
    assert report["totals"]["reads"] == 10


def test_the_modes_are_runs_of_their_own(tmp_path: Path) -> None:
    program(tmp_path)
    _, report, _ = trace(tmp_path, "train.py", options=("--mode", "lazy,dynamo,eager"))
    lazy, dynamo, eager = report["modes"]
    assert [one["mode"] for one in report["modes"]] == ["lazy", "dynamo", "eager"]
    assert lazy["totals"]["executions"] < dynamo["totals"]["executions"] < eager["totals"]["executions"]
    for one in report["modes"]:
        assert reads(one) == {READ: 5}
        assert set(one["unattributed"].values()) == {0}, one["mode"]


def test_what_recompiles_is_told_with_what_differs(tmp_path: Path) -> None:
    path = program(tmp_path)
    path.write_text(STEPS.replace("torch.ones(3, 4)", "torch.ones(3 + number // 3, 4)"), encoding="utf-8")
    _, report, _ = trace(tmp_path, "train.py")
    told = [(one["step"], one["line"], one["differs"]) for one in report["recompiles"]]
    assert told == [(4, 9, "shape: an input was f32[3,4] and is f32[4,4]")]


def test_what_can_not_be_run_is_told_in_a_line(tmp_path: Path) -> None:
    for arguments, word in ((["--", "no-such-program"], "no-such-program"), ([], "after `--`")):
        run = subprocess.run(command(*arguments), cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 2
        assert word in run.stderr
        assert run.stdout == ""
