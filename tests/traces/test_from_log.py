"""Logs that were made elsewhere, read without torch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from xlalint.device.recording.debug_log import Graph, events

LOG = Path(__file__).parent / "elsewhere.log"
REPORT = """\
Metric: CompileTime
  TotalSamples: 3
  Accumulator: 311ms933.238us
Metric: ExecuteTime
  TotalSamples: 40
Metric: TransferFromDeviceTime
  TotalSamples: 12
Counter: CachedCompile
  Value: 37
Counter: aten::_local_scalar_dense
  Value: 10
Counter: aten::nonzero
  Value: 4
"""


def told(path: Path, *options: str) -> str:
    """What the command says, in a process that then must not hold torch."""
    code = f"""
import sys
from xlalint.cli import main
assert main({["trace", "--from-log", str(path), *options]!r}) == 0
assert not {{"torch", "torch_xla", "numpy"}} & set(sys.modules)
"""
    run = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def report(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(told(path, "--output-format", "json"))
    return document


def test_a_debug_log_gives_compiles_and_executions_by_line_and_step() -> None:
    found = report(LOG)
    assert found["mode"] is None
    assert (found["totals"]["compiles"], found["totals"]["executions"], found["steps"]) == (5, 6, 3)
    lines = {line["line"]: (line["compiles"], line["executions"]) for line in found["lines"]}
    assert lines == {10: (2, 3), 12: (3, 3)}
    assert {line["path"] for line in found["lines"]} == {"/home/user/train.py"}
    assert set(found["unattributed"].values()) == {0}


def test_a_log_in_text_says_what_it_can_not_tell() -> None:
    text = told(LOG)
    assert "not of reads, uploads and fallbacks" in text
    assert "without line 10 it would run 1." in text
    assert "no rule found" not in text


def test_a_launcher_may_put_something_before_each_line(tmp_path: Path) -> None:
    prefixed = tmp_path / "pod.log"
    lines = LOG.read_text(encoding="utf-8").splitlines()
    prefixed.write_text("".join(f"2026-01-02T03:04:05 [worker 3] {line}\n" for line in lines), encoding="utf-8")
    assert report(prefixed)["lines"] == report(LOG)["lines"]


def test_a_log_that_is_cut_short_gives_what_it_holds_whole() -> None:
    lines = LOG.read_text(encoding="utf-8").splitlines()
    found = [one for one in events(lines[: len(lines) // 2 + 3]) if isinstance(one, Graph)]
    assert found
    assert all(one.frames for one in found)


TRAIN = """\
import torch_xla

def step(model, loader, device):
    total = 0.0
    for batch in loader:
        loss = model(batch.to(device)).sum()
        loss.backward()


        total += loss.item()

        torch_xla.sync()
    return total
"""


def test_what_lies_elsewhere_is_found_here_and_a_graph_that_a_read_ran_confirms_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    mapped = told(LOG, "--map", f"/home/user={tmp_path}", "--isolated", "--output-format", "json")
    found = json.loads(mapped)
    assert {Path(line["path"]).name for line in found["lines"]} == {"train.py"}
    assert [(one["line"], one["verdict"]) for one in found["findings"] if one["code"].startswith("XLA10")] == [
        (10, "confirmed")
    ]
    shown = {line["line"] for line in found["lines"]}
    assert all(one["verdict"] != "not seen" for one in found["findings"] if one["line"] in shown)


def test_of_several_hosts_the_one_that_differs_is_named(tmp_path: Path) -> None:
    text = LOG.read_text(encoding="utf-8")
    hashes = re.findall(r"Execution Analysis:   Graph Hash: (\w+)", text)
    for number in range(4):
        own = text.replace(hashes[1], "0" * 32) if number == 2 else text
        (tmp_path / f"host{number}.log").write_text(own, encoding="utf-8")
    others = [str(tmp_path / f"host{number}.log") for number in range(1, 4)]
    said = told(tmp_path / "host0.log", *others)
    assert "host2.log: from its graph 2 on, at /home/user/train.py:12, it runs others than the others" in said
    assert said.count("it runs others than") == 1
    assert said.startswith("From 4 logs")


def test_a_step_may_be_named_in_a_log() -> None:
    found = json.loads(told(LOG, "--step-at", "/home/user/train.py:10", "--output-format", "json"))
    assert found["steps"] == 3


def test_a_metrics_report_gives_totals(tmp_path: Path) -> None:
    path = tmp_path / "metrics.txt"
    path.write_text(REPORT, encoding="utf-8")
    totals = {"compiles": 3, "executions": 40, "reads": 12, "uploads": 0, "fallbacks": 4}
    assert report(path)["totals"] == totals
    assert report(path)["unattributed"] == totals
    amounts = report(path)["amounts"]
    assert (amounts["compile_seconds"], amounts["fallback_ops"]) == (0.312, {"aten::nonzero": 4})


def test_a_file_that_is_neither_is_refused_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no log\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "xlalint", "trace", "--from-log", str(LOG), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert len(run.stderr.splitlines()) == 1
    assert "notes.txt: no debug log" in run.stderr
