"""The way of one line through the modules is the one that docs/architecture.md tells."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = """\
import torch
import torch_xla.core.xla_model as xm
from torch import nn


def main(loader):
    device = xm.xla_device()
    model = nn.Linear(8, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        xm.mark_step()
        total = loss.item()
    return total
"""
TRACER = """\
import json, os, sys
import xlalint.rules
from xlalint.cli import run

ROOTS = {os.path.dirname(xlalint.__file__): "xlalint", os.path.abspath(list(xlalint.rules.__path__)[0]): "rules"}
stack, afterwards = [], []


def module_of(frame):
    path = os.path.abspath(frame.f_code.co_filename)
    found = [(root, name) for root, name in ROOTS.items() if path.startswith(root + os.sep)]
    root, name = max(found, default=("", ""))
    return name + path[len(root):].replace(os.sep, "/") if root else None


def note(frame, event, argument):
    module = module_of(frame) if event == "call" else None
    if module is None:
        return
    if stack:
        if module not in afterwards:
            afterwards.append(module)
        return
    effect = frame.f_locals.get("effect") if frame.f_code.co_name == "emit" else None
    if effect is not None and effect.value == "scalar-read":
        while frame is not None:
            stack.append(module_of(frame))
            frame = frame.f_back


def report(code):
    sys.setprofile(None)
    way = list(dict.fromkeys(module for module in reversed(stack) if module is not None))
    with open("way.json", "w") as file:
        json.dump([way, afterwards], file)
    end(code)


end, os._exit = os._exit, report
sys.argv = ["xlalint", "--isolated", "--no-project", "--jobs", "1", "train.py"]
sys.setprofile(note)
try:
    run()
finally:
    report(0)
"""


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """The modules that call each other down to the event, and those that are entered afterwards, in order."""
    folder = tmp_path_factory.mktemp("way")
    (folder / "train.py").write_text(SCRIPT)
    (folder / "tracer.py").write_text(TRACER)
    done = subprocess.run(
        [sys.executable, "tracer.py"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert "XLA102" in done.stdout, done.stderr
    down, afterwards = json.loads((folder / "way.json").read_text())
    return down, afterwards


def told() -> tuple[list[str], list[str]]:
    """The two lists of the document."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.split("## The way of one line", 1)[1].split("\n## ", 1)[0]
    first, second = section.split("When all files are evaluated", 1)
    return tuple(re.findall(r"^\d+\. `([^`]+)`", part, re.MULTILINE) for part in (first, second))  # type: ignore[return-value]


def test_the_way_down_to_the_event_is_as_told(way: tuple[list[str], list[str]]) -> None:
    assert way[0] == told()[0]


def test_the_way_up_to_the_report_is_as_told(way: tuple[list[str], list[str]]) -> None:
    wanted = told()[1]
    assert [module for module in way[1] if module in wanted] == wanted
