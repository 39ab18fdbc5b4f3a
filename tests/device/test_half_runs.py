"""One run of 2N steps gives the figures that two runs give, of N and of 2N."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

import msgspec

from xlalint.device.borders.plan import Log, LoopPlace, Plan
from xlalint.device.worker.experiment import Figures, Worker, measure
from xlalint.findings.model import Mode

HEAD = """\
import torch
import torch_xla

device = torch_xla.device()
model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
rows = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randint(0, 2, (64,)))
loader = torch.utils.data.DataLoader(rows, 4)


def step(x, y):
    loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


"""
EPOCHS = """\
for epoch in range(3):
    total = 0
    for x, y in loader:
        total += step(x, y).item()
    for x, y in loader:
        with torch.no_grad():
            total += model(x.to(device)).sum().item()
    print(total)
"""
ENDED = """\
seen = []
for number, (x, y) in enumerate(loader):
    loss = step(x, y)
    torch_xla.sync()
    if number % 2:
        seen.append(loss.item())
print(torch.tensor(seen, device=device).sum())
"""
BROKEN = """\
number = 0
while True:
    x, y = rows[:4]
    loss = step(x, y)
    torch_xla.sync()
    number += 1
    if number > 4:
        break
for x, y in loader:
    print(model(x.to(device)).mean().item())
"""
GROWING = """\
x = torch.randn(1, 4)
for number in range(100):
    loss = step(x, torch.zeros(len(x), dtype=torch.long))
    torch_xla.sync()
    x = torch.cat([x, x[:1]])
"""


def measured(worker: Worker, folder: Path, text: str, halved: bool, loop: int | None) -> Figures:
    script = folder / "train.py"
    script.write_text(HEAD + text, encoding="utf-8")
    plan = Plan(
        script=str(script),
        folders=(str(folder),),
        places=(),
        placed=False,
        loop=LoopPlace(str(script), loop) if loop else None,
    )
    program = (
        "from xlalint.device.borders.script import run_script\n"
        f"def run(steps, surplus=None):\n    return run_script({msgspec.to_builtins(plan)!r}, steps, surplus)\n"
    )
    return measure(worker, program, Mode.LAZY, 3, 60, record=True, owned=(str(folder),), halved=halved)


@pytest.mark.parametrize("text", [EPOCHS, ENDED, BROKEN, GROWING])
@pytest.mark.parametrize("counted", [False, True])
def test_one_run_tells_of_its_half_what_a_shorter_run_does(
    worker: Worker, tmp_path: Path, text: str, counted: bool
) -> None:
    loop = (HEAD + text).splitlines().index(next(one for one in text.splitlines() if "loader" in one or "for " in one))
    two = measured(worker, tmp_path, text, halved=False, loop=loop + 1 if counted else None)
    one = measured(worker, tmp_path, text, halved=True, loop=loop + 1 if counted else None)
    assert (two.failure, one.failure) == (None, None), (two.output, one.output)
    for name in ("compiles", "executions", "reads", "uploads"):
        assert one.per_step[name] == two.per_step[name], name
        assert one.once[name] == two.once[name], name
    assert set(one.lines) == set(two.lines)
    assert set(one.short_lines) == set(two.short_lines)
    short, half = msgspec.json.decode(two.left[0], type=Log), msgspec.json.decode(one.left[1], type=Log).half
    assert half is not None
    assert (half.reached, half.turns, half.steps) == (short.reached, short.turns, short.steps)
