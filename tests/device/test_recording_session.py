"""The recorder: what each line cost, with totals that are the runtime's own."""

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.recording.counts import LineCounts
from xlalint.device.worker.experiment import Worker
from xlalint.device.worker.protocol import Outcome, Request
from xlalint.findings.model import Mode

PROGRAM = """\
import torch
import torch_xla

def helper(x):
    return x.sum().item()  # read

def step(x):
    return (x * 0.9).tanh() + x

def run(steps):
    x = torch.ones(4).to(torch_xla.device())  # upload
    for number in range(steps):
        x = step(x)
        helper(x * 2)
        if x.sum() > 0:  # read
            x = x * 0.5
        torch_xla.sync()  # boundary
        print(x)  # read
        float(x[0])  # read
        x.cpu()  # read
        torch.histc(x, bins=4)  # fallback
    return x
"""
COUNTED = ("compiles", "executions", "reads", "uploads", "fallbacks")


def lines_with(word: str) -> set[int]:
    return {number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith(f"# {word}")}


def by_line(outcome: Outcome) -> dict[int, LineCounts]:
    return {line.line: line for line in outcome.lines}


@pytest.mark.parametrize("mode", list(Mode))
def test_lines_and_what_no_line_explains_add_up_to_the_runtimes_own_metrics(worker: Worker, mode: Mode) -> None:
    outcome = worker.run(Request(text=PROGRAM, steps=4, mode=mode, record=True))
    assert outcome.failure is None
    for name in COUNTED:
        explained = sum(getattr(line, name) for line in outcome.lines)
        assert explained + getattr(outcome.unattributed, name) == outcome.totals[name], name
        assert getattr(outcome.unattributed, name) == 0, name


@pytest.mark.parametrize("mode", list(Mode))
def test_to_record_changes_no_count(worker: Worker, mode: Mode) -> None:
    plain, recorded = (worker.run(Request(text=PROGRAM, steps=3, mode=mode, record=record)) for record in (False, True))
    assert {name: plain.totals[name] for name in COUNTED} == {name: recorded.totals[name] for name in COUNTED}


def test_each_read_is_charged_to_its_line(worker: Worker) -> None:
    found = by_line(worker.run(Request(text=PROGRAM, steps=5, mode=Mode.LAZY, record=True)))
    reads = {number: line.reads for number, line in found.items() if line.reads and not line.fallbacks}
    assert reads == dict.fromkeys(lines_with("read"), 5)
    assert {number: line.fallbacks for number, line in found.items() if line.fallbacks} == dict.fromkeys(
        lines_with("fallback"), 5
    )
    assert found[min(lines_with("upload"))].uploads == 1
    assert found[min(lines_with("boundary"))].executions == 5
    assert found[5].function == "helper"


def test_a_line_is_charged_although_the_program_fails_later(worker: Worker) -> None:
    failing = PROGRAM.replace("    return x\n", "    raise KeyError('late')\n")
    outcome = worker.run(Request(text=failing, steps=2, mode=Mode.LAZY, record=True))
    assert outcome.failure is not None
    assert by_line(outcome)[5].reads == 2
