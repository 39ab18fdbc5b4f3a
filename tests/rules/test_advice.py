"""Advice can be pasted where it stands, and a message names the operand that is read and the cause."""

from __future__ import annotations

import pytest

from xlalint.findings.model import Diagnostic
from xlalint.testing import findings_of

STEP = """\
import torch
import torch_xla
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.utils.weight_norm(nn.Linear(8, 8))

    def forward(self, ids: torch.Tensor, embeds: torch.Tensor, repeats: torch.LongTensor):
        total, bound = embeds.sum(), 3
        {line}
            pass
        return self.last(embeds)


def train(loader, optimizer):
    net = Net().to(torch_xla.device())
    for ids, embeds, repeats in loader:
        net(ids, embeds, repeats).sum().backward()
        optimizer.step()
        torch_xla.sync()
"""


def found(line: str, code: str) -> Diagnostic:
    (one,) = [one for one in findings_of(STEP.format(line=line)) if one.code == code]
    return one


@pytest.mark.parametrize(
    ("line", "code", "operand"),
    [
        ("if 0 < total:", "XLA201", "total"),
        ("if bound < embeds.max():", "XLA201", "embeds.max()"),
        ("if 0 < total < 9:", "XLA203", "total"),
        ("if bound and 0 < total:", "XLA201", "total"),
        ("if 0 < total and bound:", "XLA203", "total"),
        ("while bound > total:", "XLA202", "total"),
        ("if embeds.repeat_interleave(repeats, dim=0) is None:", "XLA307", "repeats"),
        ("if torch.repeat_interleave(embeds, repeats) is None:", "XLA307", "repeats"),
        ("if torch.repeat_interleave(embeds, repeats=repeats) is None:", "XLA307", "repeats"),
    ],
)
def test_the_operand_that_is_read_is_named(line: str, code: str, operand: str) -> None:
    assert f" `{operand}` " in found(line, code).message


@pytest.mark.parametrize(
    ("line", "code", "advice"),
    [
        ("with ids.cuda():", "XLA506", "write `ids.to(device)`, with `device = torch_xla.device()`"),
        ("with self.cuda():", "XLA506", "write `self.to(device)`, with `device = torch_xla.device()`"),
        ("with torch.cuda.amp.autocast():", "XLA405", 'write `torch.autocast("xla", dtype=torch.bfloat16)`'),
        ("with torch.autocast('cuda'):", "XLA405", 'write `torch.autocast("xla", dtype=torch.bfloat16)`'),
        (
            "with torch.amp.autocast('cuda', dtype=torch.bfloat16):",
            "XLA405",
            'write `torch.autocast("xla", dtype=torch.bfloat16)`',
        ),
        ("for _ in (ids or embeds,):", "XLA203", "ask whether it is given: `ids is not None`"),
        ("for _ in (ids.int() or embeds,):", "XLA203", "ask whether it is given: `ids.int() is not None`"),
        ("for _ in ((ids > 0) or embeds,):", "XLA203", "use `torch.logical_or`, or `|` where both are bool"),
    ],
)
def test_the_advice_fits_the_place(line: str, code: str, advice: str) -> None:
    assert found(line, code).help == advice


def test_a_parametrisation_is_named_with_its_place() -> None:
    one = found("if bound:", "XLA601")
    assert "because of `weight_norm` at page.py:9:" in one.message
    assert "`g * v / v.norm()`" in one.help
    assert one.root is not None
    assert (one.root.path, one.root.line, one.root.column) == ("page.py", 9, 21)


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        ("with torch.cuda.amp.autocast():", "`torch.cuda.amp.autocast` casts nothing: the model stays in float32"),
        ("with torch.autocast('cuda', dtype=torch.float16):", "`torch.autocast` casts nothing: the model stays in"),
        ("with torch.autocast('cuda', dtype=torch.bfloat16):", "`torch.autocast` raises RuntimeError: it queries CUDA"),
        ("with torch.cuda.amp.autocast(True, torch.bfloat16):", "`torch.cuda.amp.autocast` raises RuntimeError"),
        ("low = torch.bfloat16\n        with torch.autocast('cuda', low):", "`torch.autocast` raises RuntimeError"),
    ],
)
def test_what_autocast_for_cuda_does_depends_on_the_type(line: str, claim: str) -> None:
    assert f"on XLA {claim}" in found(line, "XLA405").message


def test_what_mixes_images_is_told_as_that() -> None:
    (one,) = findings_of(
        """\
import torch_xla
from timm.data import Mixup


def train(model, loader, optimizer):
    mix = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=10)
    for images, labels in loader:
        images, labels = mix(images.to("xla"), labels.to("xla"))
        model(images).sum().backward()
        optimizer.step()
        torch_xla.sync()
"""
    )
    assert one.code == "XLA310"
    assert one.message.startswith('`mix(images.to("xla"), labels.to("xla"))` cuts another box in every step')
    assert one.help == "mix on the host, before the batch is moved to the device, or turn CutMix off"
