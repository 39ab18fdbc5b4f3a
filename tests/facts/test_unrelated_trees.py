"""What is found in a tree does not depend on trees beside it that have nothing to do with it."""

from __future__ import annotations

import msgspec

from xlalint.findings.model import Diagnostic
from xlalint.testing import findings_in

LAYERS = """
import torch
import torch_xla


def score(x, weight):
    return x.masked_fill(weight > 0, 0.0).sum().item()


def summed(x):
    if isinstance(x, torch.Tensor):
        return x.sum().item()


class Net(torch.nn.Module):
    def own(self, hidden):
        return hidden.softmax(-1).max().item()
"""
BESIDE = """
import torch
from other import score, summed


class Own:
    def own(self, hidden):
        return hidden


def run(loader):
    for row in loader:
        score(row.name, 3)
        summed("text")
        Own().own(4)
"""
SCRIPT = """
from pkg.layers import score


def run(rows):
    return [score(row.text, row.weight) for row in rows]
"""


HERE = {"here/pkg/__init__.py": "", "here/pkg/layers.py": LAYERS}


def told(files: dict[str, str]) -> list[Diagnostic]:
    """Without their causes, which are known by the folder that a test's files lie in."""
    found = [one for one in findings_in(files) if one.path.endswith("layers.py")]
    return [msgspec.structs.replace(one, root=None) for one in found]


def test_an_unrelated_tree_changes_no_finding() -> None:
    alone = told(HERE)
    assert len(alone) == 3
    assert told({**HERE, "beside/run.py": BESIDE}) == alone


def test_a_tree_that_calls_it_may() -> None:
    """Else the test above would say nothing."""
    assert told({**HERE, "here/run.py": SCRIPT}) != told(HERE)
