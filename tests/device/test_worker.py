"""The device worker: what a program does, or how it fails, comes back as data and harms nothing else."""

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.calibration.page_figures import disagreements, measure_page
from xlalint.device.worker.experiment import Worker, measure
from xlalint.findings.model import Mode
from xlalint.findings.pages import parse_page

READS_EACH_STEP = """
import torch
import torch_xla

def step(x):
    return (x * 0.9).tanh() + x

def run(steps):
    x = torch.ones(4, device=torch_xla.device())
    for _ in range(steps):
        x = step(x)
        x.sum().item()
        torch_xla.sync()
    print("done", steps)
    return x
"""


def test_figures_tell_growth_from_what_comes_once(worker: Worker) -> None:
    figures = measure(worker, READS_EACH_STEP, steps=4)
    assert (figures.per_step["reads"], figures.per_step["compiles"]) == (1, 0)
    assert figures.per_step["executions"] == 2
    assert figures.once["compiles"] > 0
    assert figures.output.strip() == "done 8"


def test_the_same_program_gives_the_same_counts(worker: Worker) -> None:
    first, second = (measure(worker, READS_EACH_STEP, steps=3) for _ in range(2))
    assert {**first.per_step, "host_seconds": 0} == {**second.per_step, "host_seconds": 0}


def test_modes_differ(worker: Worker) -> None:
    eager = measure(worker, READS_EACH_STEP, Mode.EAGER, steps=2)
    lazy = measure(worker, READS_EACH_STEP, Mode.LAZY, steps=2)
    assert eager.per_step["executions"] > lazy.per_step["executions"]


def test_dynamo_compiles_the_function_named_step(worker: Worker) -> None:
    broken = READS_EACH_STEP.replace("return (x", "print('a break')\n    return (x")
    assert measure(worker, broken, Mode.DYNAMO, steps=2).once["graph_breaks"] == 1
    assert measure(worker, READS_EACH_STEP, Mode.DYNAMO, steps=2).once["graph_breaks"] == 0
    assert "print" in " ".join(measure(worker, broken, Mode.DYNAMO, steps=2).graph_breaks)


def test_dynamo_compiles_the_modules_of_a_program_without_a_step(worker: Worker) -> None:
    text = """\
import torch, torch_xla

def run(steps):
    model = torch.nn.Linear(2, 2).to("xla")
    x = torch.ones(2, 2, device="xla")
    for _ in range(steps):
        loss = model(x).sum()
        loss.backward()
        torch_xla.sync()
"""
    lazy, dynamo = (measure(worker, text, mode, steps=2) for mode in (Mode.LAZY, Mode.DYNAMO))
    assert dynamo.failure is None
    assert dynamo.per_step["executions"] > lazy.per_step["executions"] == 1


@pytest.mark.parametrize(
    ("body", "kind", "line"),
    [
        ("    raise KeyError('k')", "KeyError", 2),
        ("    while True: pass", "TimedOut", 0),
        ("    import os; os.abort()", "Died", 0),
        ("    import sys; sys.exit(3)", "SystemExit", 2),
        ("    breakpoint()\n    return 1", "BdbQuit", 3),
        ("    input()", "EOFError", 2),
    ],
)
def test_a_program_that_fails_says_how(worker: Worker, body: str, kind: str, line: int) -> None:
    figures = measure(worker, f"def run(steps):\n{body}\n", seconds=2 if kind == "TimedOut" else 30)
    assert figures.failure is not None
    assert (figures.failure.type, figures.failure.line) == (kind, line)
    assert measure(worker, "def run(steps):\n    return steps\n").failure is None


def test_a_program_that_wants_too_much_memory_is_stopped(worker: Worker) -> None:
    hog = "import torch\ndef run(steps):\n    return [torch.ones(1 << 28) for _ in range(100)]\n"
    figures = measure(worker, hog)
    assert figures.failure is not None
    assert figures.failure.type in ("RuntimeError", "MemoryError")


def test_operations_that_wait_for_a_boundary_are_counted(worker: Worker) -> None:
    grows = READS_EACH_STEP.replace("        x.sum().item()\n        torch_xla.sync()\n", "")
    assert measure(worker, grows, steps=4).per_step["pending_ops"] >= 1
    assert measure(worker, READS_EACH_STEP, steps=4).per_step["pending_ops"] == 0


def test_an_open_port_is_counted(worker: Worker) -> None:
    listens = "import socket\ndef run(steps):\n    return socket.create_server(('127.0.0.1', 0))\n"
    assert measure(worker, listens).once["port_open"] == 1
    assert measure(worker, listens.replace("return ", "")).once["port_open"] == 0


PAGE = """# `thing` (XLA199)

What.

## Bad

```py bad
%s```

## Experiment

```toml experiment
modes = ["lazy"]
metric = "reads"
bad = { per_step = %d }
```
"""


def test_a_claim_that_the_device_does_not_confirm_is_named(worker: Worker) -> None:
    right = measure_page(parse_page(PAGE % (READS_EACH_STEP, 1)), worker)
    assert list(disagreements(right)) == []
    (line,) = disagreements(measure_page(parse_page(PAGE % (READS_EACH_STEP, 2)), worker))
    assert "reads 1 a step, claimed 2" in line


def test_a_fresh_process_is_an_interpreter_of_its_own(worker: Worker) -> None:
    """What a forked process raises for being one is nobody's cost."""
    text = "import sys\n\ndef run(steps):\n    raise RuntimeError(sys.orig_argv[-2])\n"
    fresh, forked = (measure(worker, text, steps=1, fresh=each).failure for each in (True, False))
    assert fresh is not None
    assert forked is not None
    assert (fresh.message, forked.message == "--once") == ("--once", False)
