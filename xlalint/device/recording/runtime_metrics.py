"""Totals of the runtime's own metrics. Imports torch_xla: for the worker's children only."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from xlalint.device.recording.graph_breaks import GraphBreaks
from xlalint.device.recording.inside.meter import COMPILES, EXECUTIONS, READ_OF_A_SCALAR, READS, UPLOADS


def totals(kept: object, breaks: GraphBreaks) -> tuple[dict[str, float], tuple[str, ...]]:
    """All metrics at the end of a run, and the ops that fell back to the CPU.

    ``kept`` is what the run returned: operations that still wait for a boundary are counted through it.
    """
    metrics = import_module("torch_xla.debug.metrics")
    pending = _pending_operations(kept)
    import_module("torch_xla.core.xla_model").wait_device_ops()

    def samples(*names: str) -> float:
        data = (metrics.metric_data(name) for name in names)
        return float(sum(found[0] for found in data if found))

    def counter(name: str) -> float:
        return float(metrics.counter_value(name) or 0)

    fallbacks = [name for name in metrics.counter_names() if name.startswith("aten::") and name != READ_OF_A_SCALAR]
    return {
        "compiles": samples(*COMPILES),
        "executions": samples(*EXECUTIONS),
        "reads": samples(*READS),
        "uploads": samples(*UPLOADS),
        "fallbacks": sum(counter(name) for name in fallbacks),
        "graph_breaks": float(sum(breaks.reasons().values())),
        "pending_ops": pending,
        "live_tensors": counter("CreateXlaTensor") - counter("DestroyXlaTensor"),
        "port_open": _listening_sockets(),
    }, tuple(sorted(fallbacks))


def _pending_operations(kept: object) -> float:
    """Nodes of the graph that ``kept`` waits for."""
    torch, torch_xla = import_module("torch"), import_module("torch_xla")
    leaves = import_module("torch.utils._pytree").tree_leaves(kept)
    tensors: list[Any] = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.device.type == "xla"]
    for leaf in leaves:
        if isinstance(leaf, torch.nn.Module):
            tensors.extend(parameter for parameter in leaf.parameters() if parameter.device.type == "xla")
    if not tensors:
        return 0.0
    text: str = torch_xla._XLAC._get_xla_tensors_text(tensors)
    return float(sum(" = " in line for line in text.splitlines()))


def _listening_sockets() -> float:
    """TCP ports on which this process listens (Linux; 0 elsewhere)."""
    mine = set(_own_sockets())
    listening = 0
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        with contextlib.suppress(OSError):
            rows = (line.split() for line in Path(table).read_text().splitlines()[1:])
            listening += sum(row[3] == "0A" and row[9] in mine for row in rows)
    return float(listening)


def _own_sockets() -> Iterator[str]:
    with contextlib.suppress(OSError):
        for descriptor in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                target = os.readlink(f"/proc/self/fd/{descriptor}")
                if target.startswith("socket:["):
                    yield target[8:-1]
