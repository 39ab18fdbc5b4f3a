"""A report of realistic findings, made by hand."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from diagnosed import diagnostic

from xlalint.facts.events import Certainty, Heat
from xlalint.findings.fingerprint import fingerprint
from xlalint.findings.model import (
    Fix,
    Mode,
    Position,
    Reason,
    Report,
    Safety,
    Severity,
    Skipped,
    TextEdit,
)
from xlalint.reports import ReportContext, RuleCard

TRAIN = """\
import torch
import torch_xla


def train(model, loader, optimizer, criterion):
    total = 0.0
    for batch, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(batch), target)
        loss.backward()
        optimizer.step()
        total += loss.item()
        print(loss)  # xlalint: ignore[XLA106] looked at by hand
        torch_xla.sync()
    return total
"""

MASK = """\
def forward(self, x, mask):
\tkept = torch.cat(
\t\t[x[mask], self.名前],
\t)
\treturn kept
"""

FILES = {"src/train.py": TRAIN, "src/modèle 1.py": MASK}

PAGE = """\
# `scalar-read-in-step` (XLA101)

A device scalar is read on the host in every step.

## Bad

```py bad
total += loss.item()
```
"""

FIX = Fix(
    title="add up on the device",
    safety=Safety.UNSAFE,
    edits=(TextEdit(at=Position(12, 23, 12, 27), content="detach"),),
)

SCALAR_READ = diagnostic(
    path="src/train.py",
    at=Position(12, 18, 12, 29),
    modes=(Mode.LAZY, Mode.DYNAMO),
    message="`loss.item()` makes the host wait for the device in every step of the loop over `loader`",
    help="keep it on the device, and read it every few steps after the boundary",
    why=(
        Reason("src/train.py", 9, 16, "`loss` is what `criterion(...)` returns: a device tensor"),
        Reason("src/train.py", 7, 5, "the loop over `loader` is a step loop"),
    ),
    fix=FIX,
    fingerprint=fingerprint("XLA101", "train", "total += loss.item()", 0),
)

PRINTED = msgspec.structs.replace(
    SCALAR_READ,
    at=Position(13, 9, 13, 20),
    code="XLA106",
    name="printed-tensor",
    message="`print(loss)` reads the whole of `loss` in every step",
    help="print its shape, or print after the loop",
    why=(),
    fix=None,
    fingerprint=fingerprint("XLA106", "train", "print(loss)", 0),
    suppressed="# xlalint: ignore[XLA106] looked at by hand",
)

BOOLEAN_INDEX = diagnostic(
    path="src/modèle 1.py",
    at=Position(3, 4, 3, 11),
    code="XLA302",
    name="boolean-index",
    family="dynamic-shape",
    severity=Severity.ERROR,
    certainty=Certainty.POSSIBLE,
    heat=Heat.INNER,
    message="`x[mask]` has as many rows as `mask` has true values: 100% of the steps compile anew",
    help="keep the shape: `torch.where(mask, x, 0)`",
    why=(Reason("src/modèle 1.py", 1, 22, "`mask` is compared: [a bool tensor]"),),
    fingerprint=fingerprint("XLA302", "Model.forward", "kept = torch.cat([x[mask], self.名前])", 0),
)

GROWING = msgspec.structs.replace(
    BOOLEAN_INDEX,
    at=Position(2, 9, 4, 3),
    code="XLA309",
    name="growing-tensor",
    severity=Severity.NOTE,
    certainty=Certainty.CERTAIN,
    message="`kept` grows",
    help="",
    why=(),
    fingerprint=fingerprint("XLA309", "Model.forward", "kept = torch.cat([x[mask], self.名前])", 0),
)

CARD = RuleCard(
    code="XLA101",
    name="scalar-read-in-step",
    family="host-transfer",
    severity=Severity.WARNING,
    description="A device scalar is read on the host in every step.",
    page=PAGE,
)


def lines_of(path: str) -> list[str] | None:
    text = FILES.get(path)
    return None if text is None else text.split("\n")


@pytest.fixture
def context() -> ReportContext:
    return ReportContext(version="0.1.0", sources=lines_of, rules={"XLA101": CARD})


@pytest.fixture
def report() -> Report:
    return Report(
        diagnostics=(GROWING, BOOLEAN_INDEX, SCALAR_READ, PRINTED),
        skipped=(
            Skipped("src/deep.py", "nested too deeply", 7, "Net.forward", True),
            Skipped("src/old.py", "syntax error on line 3: invalid syntax"),
        ),
        files=12,
        seconds=0.25,
    )


@pytest.fixture
def clean() -> Report:
    return Report(diagnostics=(), skipped=(), files=12, seconds=0.1)


@pytest.fixture
def one_finding() -> Callable[..., tuple[Report, ReportContext]]:
    """A report of one finding in one file whose text the test gives."""

    def make(text: str, at: Position, **changes: object) -> tuple[Report, ReportContext]:
        plain: dict[str, object] = {"path": "a.py", "why": (), "fix": None, "message": "read", "help": ""}
        found = msgspec.structs.replace(SCALAR_READ, at=at, **{**plain, **changes})
        report = Report(diagnostics=(found,), skipped=(), files=1, seconds=0.0)
        return report, ReportContext(version="0.1.0", sources=lambda path: text.split("\n"))

    return make
