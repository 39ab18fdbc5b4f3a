"""How often a place runs in a step, where the program tells the bounds of the loops around it."""

from __future__ import annotations

import pytest

from xlalint.testing import findings_of

PROGRAM = """\
import torch_xla

LAYERS = 5
NAMES = ["a", "b", "c"]


def part(x, most=6):
    for _ in {bound}:
        print(x.sum().item())


def train(model, loader, optimizer, count):
    for x in loader:
        out = model(x.to("xla"))
        part(out)
        out.sum().backward()
        optimizer.step()
        torch_xla.sync()
"""


@pytest.mark.parametrize(
    ("bound", "turns"),
    [
        ("range(7)", 7),
        ("range(1, 10, 2)", 5),
        ("range(LAYERS)", 5),
        ("range(LAYERS - 1)", 4),
        ("range(most)", 6),
        ("range(len(NAMES))", 3),
        ("enumerate(range(LAYERS))", 5),
        ("NAMES", 3),
        ("range(count)", 2),
    ],
)
def test_a_bound_that_the_program_tells_counts(bound: str, turns: int) -> None:
    (one,) = [one for one in findings_of(PROGRAM.format(bound=bound)) if one.code == "XLA101"]
    assert one.repeats == turns
