"""What docs/several-devices.md says of SPMD, measured again on four virtual devices of the CPU."""

from collections.abc import Iterator

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.worker.experiment import Worker, measure

SETTING = """
import io
import numpy as np
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr

xr.use_spmd()
devices = xr.global_runtime_device_count()
mesh = xs.Mesh(np.arange(devices), (devices,), ("fsdp",))
assert devices == 4

def run(steps):
    device = torch_xla.device()
    weight = torch.full((16, 4), 0.25, device=device)
    xs.mark_sharding(weight, mesh, ("fsdp", None))
    x = torch.full((8, 16), 0.5, device=device)
    for _ in range(steps):
        x = (x @ weight).sum() * 0.001 + x * 0.9
        torch_xla.sync()
        {each}
    return x, weight
"""

EACH_STEP = {
    "pass": (0, 0),
    # The result is whole on each device, and has nothing to gather.
    "x.sum().item()": (0, 1),
    # A sharded tensor is gathered by a program of its own, which is compiled anew each time.
    "weight.cpu()": (1, 1),
    "str(weight)": (1, 1),
    "torch.save({'weight': weight}, io.BytesIO())": (1, 1),
    "xm.save({'weight': weight}, io.BytesIO())": (1, 1),
    # What this process holds is only transferred.
    "xm.wait_device_ops(); xs.wrap_if_sharded(weight).local_shards": (0, 1),
    # That it is sharded so already costs nothing; on a batch it is a part of the upload.
    "xs.mark_sharding(weight, mesh, ('fsdp', None))": (0, 0),
}


@pytest.fixture(scope="module")
def four_devices() -> Iterator[Worker]:
    with Worker({"CPU_NUM_DEVICES": "4"}) as worker:
        yield worker


@pytest.mark.parametrize("each", EACH_STEP)
def test_a_sharded_tensor_is_compiled_for_each_read_of_the_whole(each: str, four_devices: Worker) -> None:
    figures = measure(four_devices, SETTING.replace("{each}", each), steps=4)
    assert figures.failure is None, figures.failure
    assert (figures.per_step["compiles"], figures.per_step["reads"]) == EACH_STEP[each]


def test_a_read_in_the_body_of_a_scan_raises(four_devices: Worker) -> None:
    text = SETTING.replace("{each}", "scan(body, x.sum(), torch.full((5,), 0.25, device=device))")
    text += """
from torch_xla.experimental.scan import scan

def body(carried, each):
    carried.item()
    return carried * 0.9 + each, carried
"""
    figures = measure(four_devices, text, steps=2)
    assert figures.failure is not None
    assert figures.failure.type == "DataDependentOutputException"
