"""One call on the device, with the counters read around it. Only for a process that may touch the device."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch.utils._pytree import tree_leaves

from xlalint.device.calibration.op_probes.subjects import Case

SCALAR = "_local_scalar_dense"
metrics: Any = importlib.import_module("torch_xla.debug.metrics")


@dataclass(frozen=True)
class Costs:
    """What happened between two looks at the counters."""

    reads: int
    fallback: tuple[str, ...]

    @property
    def any(self) -> bool:
        return bool(self.reads or self.fallback)


def settle() -> None:
    """Nothing pending, all counters zero."""
    torch_xla.sync()
    xm.wait_device_ops()
    metrics.clear_all()


def costs() -> Costs:
    """The scalar read shows up among the CPU fallbacks but is none: it only moves a number."""
    names = {name[len("aten::") :] for name in metrics.counter_names() if name.startswith("aten::")}
    read = metrics.metric_data("TransferFromDeviceTime")
    return Costs(0 if read is None else int(read[0]), tuple(sorted(names - {SCALAR})))


def tensors(value: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def forward(case: Case, grad: bool) -> dict[str, Any]:
    """``{"reads", "fallback"}`` of the call, with ``grad`` also ``backward`` (the same for the backward of the sum
    of its differentiable results); or ``{"error", "during"}``."""
    device = str(torch_xla.device())
    try:
        call, _placed = case.place(device, grad)
    except Exception as error:
        return {"error": type(error).__name__, "text": _line(error), "during": "set-up"}
    settle()
    try:
        result = call()
    except Exception as error:
        return {"error": type(error).__name__, "text": _line(error), "during": "call"}
    cost = costs()
    record: dict[str, Any] = {"reads": cost.reads, "fallback": list(cost.fallback)}
    if grad:
        record["backward"] = _backward(result)
    return record


def _backward(result: object) -> dict[str, Any] | None:
    roots = [leaf for leaf in tensors(result) if leaf.requires_grad]
    if not roots:
        return None
    seeds = [torch.ones_like(root) for root in roots]
    metrics.clear_all()
    try:
        torch.autograd.backward(roots, seeds)
    except Exception as error:
        return {"error": type(error).__name__, "text": _line(error)}
    cost = costs()
    return {"reads": cost.reads, "fallback": list(cost.fallback)}


def compiled(case: Case, target: Callable[..., object] | None = None) -> dict[str, Any]:
    """The same call, or that of ``target`` with its arguments, under openxla.

    Counted is the second call: the first one pays for finding out.
    """
    torch._dynamo.reset()
    device = str(torch_xla.device())
    try:
        call, _placed = case.place(device, False)
    except Exception as error:
        return {"error": type(error).__name__, "text": _line(error), "during": "set-up"}
    function: Any = target or getattr(call, "func", call)
    args, kwargs = getattr(call, "args", ()), getattr(call, "keywords", {})
    torch._dynamo.utils.counters.clear()
    fast = torch.compile(lambda *a, **k: function(*a, **k), backend="openxla")
    try:
        fast(*args, **kwargs)
        breaks = sum(torch._dynamo.utils.counters["graph_break"].values())
        settle()
        fast(*args, **kwargs)
    except Exception as error:
        return {"error": type(error).__name__, "text": _line(error), "during": "call"}
    cost = costs()
    return {"reads": cost.reads, "fallback": list(cost.fallback), "breaks": breaks}


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [""])[0][:160]
