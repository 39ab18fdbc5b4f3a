"""Findings in scripts that run whole: confirmed by the script's own statements, from its command line on."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

import msgspec
from proved_scripts import proved_files

from xlalint.device.validation.trials import Settings
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Basis, Evidence, Position, Verdict
from xlalint.linting import Options, lint
from xlalint.validating import validate

LIBRARY = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = torch.nn.Linear(width, width)
        self.head = torch.nn.Linear(width, 2)

    def forward(self, x):
        for layer in (self.inner, self.head):
            x = layer(x)
        return x


def train(model, loader, optimizer, device, log):
    total = 0.0
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()  # each step
    log.add_scalar("loss", total)
"""
ON_A_GPU = """\
import argparse
import shutil

import torch
from nowhere.at_all import Writer
from library import *

parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--batch-size", type=int, default=256)
parser.add_argument("--width", type=int, required=True)
parser.add_argument("--epochs", type=int, default=100)


def main():
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = torch.nn.DataParallel(Net(args.width)).cuda()
    rows = torch.utils.data.TensorDataset(torch.randn(4000, args.width), torch.randint(0, 2, (4000,)))
    loader = torch.utils.data.DataLoader(rows, args.batch_size, num_workers=8, pin_memory=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(args.epochs):
        train(model, loader, optimizer, device, Writer())
        torch.save(model.state_dict(), "model.pt")
        shutil.copyfile("model.pt", "best.pt")


if __name__ == "__main__":
    main()
"""
ON_THE_HOST = """\
import torch
import torch_xla


def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()  # on the host
        torch_xla.sync()
    return total


net = torch.nn.Linear(8, 1)
batches = [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(40)]
train(net, batches, torch.optim.SGD(net.parameters(), 0.1))
"""
ONCE = """\
import torch
import torch_xla


def first_loss(model, loader, device):
    for x in loader:
        loss = model(x.to(device)).sum()
        print(loss.item())  # once
        torch_xla.sync()
        if loader:
            break


device = torch_xla.device()
first_loss(torch.nn.Linear(8, 1).to(device), [torch.randn(4, 8) for _ in range(40)], device)
"""
WITHOUT_BOUNDARY = """\
import torch
import torch_xla

device = torch_xla.device()
net = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for number in range(1000):  # no boundary
    optimizer.zero_grad()
    net(torch.randn(4, 8).to(device)).sum().backward()
    optimizer.step()
"""
OF_CUDA = """\
import torch
import torch_xla

device = torch_xla.device()
net = torch.nn.Linear(8, 1).to(device)
for number in range(1000):
    net(torch.randn(4, 8).to(device)).sum()
    torch.cuda.synchronize()  # raises
    torch_xla.sync()
"""
NO_GPU = """\
import torch
import torch_xla


def train(model, loader, device):
    for x in loader:
        loss = model(x.to(device)).sum()
        print(loss.item())  # where there is no GPU
        torch_xla.sync()


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
train(torch.nn.Linear(8, 1).to(device), [torch.randn(4, 8) for _ in range(40)], device)
"""
SIDE_BY_SIDE = """\
import torch
import torch_xla

device = torch_xla.device()
net = torch.nn.Linear(8, 1).to(device)
with open("notes.txt", "w") as notes:
    notes.write("overwritten")
for number in range(1000):
    rows = torch.randn(4, 8)
    loss = net(rows.to(device)).sum()
    print(loss.item(), rows.sum().item())  # two reads, one of them on the host
    torch_xla.sync()
"""
FAILING = """\
import torch
import torch_xla

rows = open("rows.csv").readlines()
device = torch_xla.device()
net = torch.nn.Linear(8, 1).to(device)
for row in rows:
    loss = net(torch.randn(4, 8).to(device)).sum()
    print(loss.item())  # never reached
    torch_xla.sync()
"""
COMPILED = """\
import torch
import torch_xla

device = torch_xla.device()
net = torch.nn.Linear(8, 1).to(device)
net = torch.compile(net)  # raises when it is called
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for number in range(1000):
    loss = net(torch.randn(4, 8).to(device)).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()
"""
CASTS_NOTHING = """\
import torch
import torch_xla

device = torch_xla.device()
net = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for number in range(1000):
    with torch.cuda.amp.autocast():  # casts nothing
        loss = net(torch.randn(4, 8).to(device)).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()
"""
PROGRAMS = {
    "compiled.py": COMPILED,
    "casts_nothing.py": CASTS_NOTHING,
    "library.py": LIBRARY,
    "on_a_gpu.py": ON_A_GPU,
    "on_the_host.py": ON_THE_HOST,
    "once.py": ONCE,
    "without_boundary.py": WITHOUT_BOUNDARY,
    "of_cuda.py": OF_CUDA,
    "no_gpu.py": NO_GPU,
    "side_by_side.py": SIDE_BY_SIDE,
    "failing.py": FAILING,
}


Found = dict[tuple[str, str], Evidence]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("scripts")
    (made / "notes.txt").write_text("kept", encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def found(folder: Path) -> Found:
    """All findings, by file and comment of their line."""
    return proved_files(folder, PROGRAMS)


def test_a_read_in_a_file_that_a_script_imports_is_confirmed_by_the_script(found: Found) -> None:
    told = found["library.py", "each step"]
    assert (told.verdict, told.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)
    assert told.reason == "1 read in each step"


def test_what_a_script_does_not_have_is_stood_in_for_and_told(found: Found) -> None:
    told = found["library.py", "each step"].assumptions
    assert "what the program puts on a GPU lies on the XLA device" in told
    assert "`nowhere` is not installed, and is called for its effect only" in told
    assert "`--width` is 2" in told
    assert "`batch_size` is 4, where the program asks for 256" in told


def test_what_raises_without_a_gpu_is_tried_where_it_stands(found: Found) -> None:
    told = found["of_cuda.py", "raises"]
    assert (told.verdict, told.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)
    assert told.reason.startswith("raises ")
    assert "forked" not in told.reason


def test_what_raises_only_where_it_is_called_is_not_refuted_where_it_is_made(found: Found) -> None:
    told = found["compiled.py", "raises when it is called"]
    assert told.verdict is not Verdict.REFUTED


def test_what_is_said_to_do_nothing_is_not_refuted_as_it_raises_nothing(found: Found) -> None:
    told = found["casts_nothing.py", "casts nothing"]
    assert told.verdict is not Verdict.REFUTED


def test_a_script_that_places_nothing_confirms_nothing(found: Found) -> None:
    told = found["on_the_host.py", "on the host"]
    assert told.verdict is not Verdict.CONFIRMED


def test_a_program_with_an_xla_device_of_its_own_is_run_without_a_gpu(found: Found) -> None:
    told = found.get(("no_gpu.py", "where there is no GPU"))
    assert told is None or told.verdict is not Verdict.CONFIRMED


def test_a_read_is_not_confirmed_by_another_one_on_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("side_by_side.py").write_text(SIDE_BY_SIDE, encoding="utf-8")
    report = lint([Path("side_by_side.py")], Configurations(), Options(jobs=1))
    (one,) = (each for each in report.diagnostics if each.code == "XLA101")
    false = msgspec.structs.replace(one, at=Position(one.at.line, 24, one.at.line, 41))
    report = msgspec.structs.replace(report, diagnostics=(one, false))
    proved = validate(report, Configurations(), Settings(steps=4), folders=[str(tmp_path)]).diagnostics
    verdicts = [each.evidence.verdict for each in proved if each.evidence is not None]
    assert verdicts == [Verdict.CONFIRMED, Verdict.REFUTED]


@pytest.mark.usefixtures("found")
def test_a_file_that_a_script_overwrites_stays_as_it_was(folder: Path) -> None:
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "kept"


def test_a_loop_that_the_script_leaves_in_its_first_turn_is_no_cost_in_each_step(found: Found) -> None:
    told = found["once.py", "once"]
    assert (told.verdict, told.basis) == (Verdict.REFUTED, Basis.SCRIPT)


def test_a_missing_boundary_is_confirmed_by_what_waits_for_it(found: Found) -> None:
    told = found["without_boundary.py", "no boundary"]
    assert (told.verdict, told.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)
    assert "pending ops in each step" in told.reason


def test_a_script_that_fails_before_the_place_says_why(found: Found) -> None:
    told = found["failing.py", "never reached"]
    assert told.verdict is not Verdict.REFUTED
    if told.verdict is Verdict.NOT_RUN:
        assert "rows.csv" in told.reason


COUNTED = """\
import torch
import torch_xla


def train(model, x, steps):
    for _ in range(steps):
        loss = model(x).mean()
        loss.backward()
        print(loss.item())
        torch_xla.sync()
"""


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counted.py").write_text(COUNTED, encoding="utf-8")


def proved(**settings: dict[str, str]) -> Evidence | None:
    report = lint([Path()], Configurations(), Options(jobs=1))
    return validate(report, Configurations(), Settings(steps=2, **settings)).diagnostics[0].evidence


@pytest.mark.usefixtures("counted")
def test_what_nobody_knows_of_a_name_the_user_may_say() -> None:
    told = proved()
    assert told is not None
    assert told.verdict is Verdict.NOT_RUN
    told = proved(given={"x": "torch.randn(8, 8).to('xla')"})
    assert told is not None
    assert told.verdict is Verdict.CONFIRMED
    assert "`x` is `torch.randn(8, 8).to('xla')`" in told.assumptions


@pytest.mark.usefixtures("counted")
def test_after_the_budget_no_finding_is_begun() -> None:
    report = lint([Path()], Configurations(), Options(jobs=1))
    told = validate(report, Configurations(), Settings(steps=2), budget=0.0).diagnostics[0].evidence
    assert told is not None
    assert told.reason == "the budget of 0 s was spent"
