"""``train_step.py MODEL [whole-step] [adam]``: a few training steps of a model with random weights on small inputs.

It runs as it is; `benchmarks/modes.py` runs it under the recorder in each mode. With ``whole-step`` the step itself is
compiled by dynamo. At its end it prints how many breaks dynamo saw.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
import torch_xla
from torch import nn

BATCH, SIZE, LENGTH, CLASSES, STEPS = 2, 64, 16, 10, 4
# These pool to a fixed size. Where that does not divide what they are given, the op falls back to the host.
SIZES = {"alexnet": 224, "vgg16": 224}


class Tokens(nn.Module):
    """A BERT of the usual depth, narrow."""

    def __init__(self) -> None:
        super().__init__()
        transformers = import_module("transformers")
        config = transformers.BertConfig(
            hidden_size=96, intermediate_size=192, vocab_size=100, num_labels=CLASSES, attn_implementation="eager"
        )
        self.bert = transformers.BertForSequenceClassification(config)

    def forward(self, ids: torch.Tensor) -> Any:
        # Without a mask transformers looks for padding in the ids, which is a read in each step.
        return self.bert(ids, attention_mask=torch.ones_like(ids)).logits


def model_of(name: str) -> nn.Module:
    if name == "bert":
        return Tokens()
    model: nn.Module
    if name.startswith("vit_"):
        model = import_module("timm").create_model(name, img_size=SIZE, num_classes=CLASSES)
    else:
        model = import_module("torchvision.models").get_model(name, weights=None, num_classes=CLASSES)
    return model


def inputs_of(name: str) -> torch.Tensor:
    size = SIZES.get(name, SIZE)
    return torch.randint(100, (BATCH, LENGTH)) if name == "bert" else torch.randn(BATCH, 3, size, size)


def main(name: str, whole_step: bool, adam: bool) -> None:
    torch.manual_seed(0)
    device = torch_xla.device()
    model = model_of(name).to(device).train()
    optimizer: torch.optim.Optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if adam:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001)

    def step(inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return loss

    run: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = step
    if whole_step:
        run = torch.compile(step, backend="openxla")
    labels = torch.randint(CLASSES, (BATCH,)).to(device)
    for _ in range(STEPS):
        run(inputs_of(name).to(device), labels)
        torch_xla.sync()
    dynamo = sys.modules.get("torch._dynamo.utils")
    print("GRAPH_BREAKS", sum(dynamo.counters["graph_break"].values()) if dynamo else 0)


if __name__ == "__main__":
    main(sys.argv[1], "whole-step" in sys.argv, "adam" in sys.argv)
