"""Runs one-line probes on the device, all in one new interpreter, and says how each ended."""

import json
import os
import subprocess
import sys

import msgspec

_PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
import torch, torch_xla
import torch_xla.core.xla_model as xm
from torch import nn
device = torch_xla.device()
for probe in json.load(sys.stdin):
    names = {"torch": torch, "torch_xla": torch_xla, "xm": xm, "nn": nn, "device": device}
    names |= {"x": torch.ones(4, 8, device=device), "model": nn.Linear(8, 4).to(device)}
    try:
        exec(probe, names)
        torch_xla.sync()
        raised, message = [], ""
    except BaseException as error:
        raised, message = [kind.__name__ for kind in type(error).__mro__], str(error)
    print("\\0" + json.dumps({"gpu": torch.cuda.is_available(), "raised": raised, "message": message}), flush=True)
"""


class Ending(msgspec.Struct, frozen=True):
    """``raised``: the names of the exception's type and of its bases, or nothing where none was raised."""

    gpu: bool
    raised: list[str]
    message: str


def run_probes(probes: list[str]) -> dict[str, Ending]:
    """Runs ``probes`` one after the other and returns how each ended; fails if the interpreter dies."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        input=json.dumps(probes),
        capture_output=True,
        text=True,
        env={**os.environ, "PJRT_DEVICE": "CPU"},
    )
    lines = [line[1:] for line in done.stdout.splitlines() if line.startswith("\0")]
    assert len(lines) == len(probes), done.stderr[-2000:]
    return {probe: msgspec.json.decode(line, type=Ending) for probe, line in zip(probes, lines, strict=True)}
