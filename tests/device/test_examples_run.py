"""The examples on the device: a mended program compiles less than its costly twin, or reads less, and never more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
# The Lightning module needs a package that the tests don't install.
NAMES = ("plain_loop", "decode_loop", "evaluation_loop", "padding_pipeline")

COUNTING = """
import runpy, sys
runpy.run_path(sys.argv[1], run_name="__main__")
import torch_xla.debug.metrics as metrics
for name in ("CompileTime", "TransferFromDeviceTime"):
    data = metrics.metric_data(name)
    print(data[0] if data else 0)
"""


def compiles_and_reads(program: str) -> tuple[int, int]:
    command = [sys.executable, "-c", COUNTING, str(EXAMPLES / program)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    compiles, reads = run.stdout.split()[-2:]
    return int(compiles), int(reads)


@pytest.mark.parametrize("name", NAMES)
def test_the_mended_program_costs_less(name: str) -> None:
    costly_compiles, costly_reads = compiles_and_reads(f"{name}_costly.py")
    compiles, reads = compiles_and_reads(f"{name}_mended.py")
    assert compiles <= costly_compiles
    assert reads <= costly_reads
    assert (compiles, reads) != (costly_compiles, costly_reads)
