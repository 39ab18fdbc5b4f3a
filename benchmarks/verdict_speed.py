"""Seconds of processor time that a verdict takes, and verdicts a minute. By hand: it needs torch_xla.

    python benchmarks/verdict_speed.py [PATH…] [-- OPTION…]

Each PATH is validated by itself; without any, two small trainings (two and six flagged places) and this repository's
examples are. *Cold* is all that the command takes, divided by the verdicts (confirmed or refuted); *warm* is the same
without the start of one worker, which is measured first and costs the same for one finding as for a hundred. Further
workers that the command starts by itself count. Verdicts a minute are those of two cores that do nothing else.
``verdict_speed.md`` keeps what came of it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from running import Run, run

ROOT = Path(__file__).resolve().parent.parent
START = "from xlalint.device.worker.guard import Guard\nGuard().worker().close()"

TRAINING = """\
import torch
import torch_xla
from torch import nn


def main():
    device = torch_xla.device()
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    total = correct = 0
    for step in range(100):
        inputs, labels = torch.randn(8, 16).to(device), torch.randint(0, 4, (8,)).to(device)
        optimizer.zero_grad()
        logits = model(inputs)
        loss = criterion(logits, labels)
        loss.backward()
{before}        optimizer.step()
        torch_xla.sync()
        total += loss.item()
        if torch.isnan(loss):
            break
{after}    print(total, correct)


if __name__ == "__main__":
    main()
"""
NORM = "        norm = float(nn.utils.clip_grad_norm_(model.parameters(), 1.0))\n"
REST = """\
        correct += (logits.argmax(1) == labels).sum().item()
        kept = logits[labels > 1]
        print(step, norm, kept.mean().cpu())
"""


def main(arguments: Sequence[str]) -> None:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    paths, options = [Path(each) for each in arguments[:at]], list(arguments[at + 1 :])
    start = run([sys.executable, "-c", START])
    print(f"start of a worker: {start.cpu:.1f} s of processor time\n")
    print("| validated | findings | verdicts | CPU s, all | CPU s a verdict, cold | warm | verdicts a minute, warm |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for path in paths or [*_trainings(Path(folder)), ROOT / "examples"]:
            print(_row(path, options, start), flush=True)


def _trainings(folder: Path) -> list[Path]:
    found = []
    for number, before, after in ((2, "", ""), (6, NORM, REST)):
        path = folder / f"with_{number}_places"
        path.mkdir()
        (path / "train.py").write_text(TRAINING.format(before=before, after=after), encoding="utf-8")
        found.append(path)
    return found


def _row(path: Path, options: Sequence[str], start: Run) -> str:
    command = [sys.executable, "-m", "xlalint", "validate", ".", "--output-format", "json", "--exit-zero", *options]
    ended = run(command, cwd=path)
    verdicts = [one["evidence"]["verdict"] for one in json.loads(ended.output)["findings"] if one.get("evidence")]
    proved = max(1, sum(verdict in ("confirmed", "refuted") for verdict in verdicts))
    warm = max(ended.cpu - start.cpu, 0.01) / proved
    shown = " | ".join(f"{each:.1f}" if each >= 10 else f"{each:.2f}" for each in (ended.cpu, ended.cpu / proved, warm))
    return f"| {path.name} | {len(verdicts)} | {proved} | {shown} | {2 * 60 / warm:.0f} |"


if __name__ == "__main__":
    main(sys.argv[1:])
