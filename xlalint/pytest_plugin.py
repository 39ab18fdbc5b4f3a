"""A plugin of pytest: the fixture ``xla_budget``. Neither torch nor the rest of xlalint is imported before its use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xlalint.device.recording.block import LineOfBlock

_SHOWN = 5


class XlaBudget:
    """``with xla_budget(compiles=0, reads=1): …`` fails the test where the block costs more on the device.

    What is not named may cost what it likes, but nothing may be compiled unless it is allowed.
    """

    def __init__(self, roots: list[str]) -> None:
        self._roots = roots

    @contextmanager
    def __call__(
        self,
        *,
        compiles: int | None = 0,
        executions: int | None = None,
        reads: int | None = None,
        uploads: int | None = None,
        fallbacks: int | None = None,
    ) -> Iterator[None]:
        __tracebackhide__ = True
        pytest.importorskip("torch_xla")
        from xlalint.device.recording.block import MeasuredBlock

        with MeasuredBlock(self._roots) as block:
            yield
        allowed = {
            "compiles": compiles,
            "executions": executions,
            "reads": reads,
            "uploads": uploads,
            "fallbacks": fallbacks,
        }
        over = [
            f"{count} {metric}, and the budget is {most}{_at(metric, block.lines)}"
            for metric, most in allowed.items()
            if most is not None and (count := getattr(block.counts, metric)) > most
        ]
        if over:
            pytest.fail("\n".join(["the block costs too much on the device", *over]), pytrace=False)


@pytest.fixture
def xla_budget(request: pytest.FixtureRequest) -> XlaBudget:
    """Holds a block to what it may cost on the XLA device: see docs/trace.md."""
    return XlaBudget([str(request.config.rootpath), str(request.path.parent), os.getcwd()])


def _at(metric: str, lines: list[LineOfBlock]) -> str:
    """The lines that did it, those that did most first."""
    counts: dict[str, int] = {}
    for line in lines:
        if count := getattr(line.counts, metric):
            counts[_shown(line)] = counts.get(_shown(line), 0) + count
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return "".join(f"\n  {count} at {name}" for name, count in ordered[:_SHOWN])


def _shown(line: LineOfBlock) -> str:
    if line.at is None:
        return "no line of yours"
    path, number, function = line.at
    inner = f", in {os.path.basename(line.below[0])}:{line.below[1]} {line.below[2]}" if line.below else ""
    return f"{os.path.relpath(path)}:{number} in {function}{inner}"
