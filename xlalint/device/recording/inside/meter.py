"""What the runtime's own metrics count, read often. Imports torch_xla when it is made, never before."""

from __future__ import annotations

from importlib import import_module
from typing import Any

COMPILES = ("CompileTime", "EagerOpCompileTime")
EXECUTIONS = ("ExecuteTime", "ExecuteReplicatedTime", "EagerOpExecuteTime")
READS = ("TransferFromDeviceTime",)
UPLOADS = ("TransferToDeviceTime",)
READ_OF_A_SCALAR = "aten::_local_scalar_dense"
"""Counted by the runtime as a fallback; it is the read itself, and stands under ``reads``."""

FIELDS = ("compiles", "executions", "reads", "uploads", "fallbacks")
Counts = tuple[int, int, int, int, int]


class Meter:
    """Counts in the order of ``FIELDS`` since it was made; a program that clears the metrics does not disturb it."""

    def __init__(self) -> None:
        self._runtime: Any = vars(import_module("torch_xla"))["_XLAC"]
        self._last: dict[str, int] = {}

    def deltas(self) -> Counts:
        """What was added since the last call. Executions are those *sent* by the calling thread.

        The runtime's own metric of executions is written later, by the thread that runs them.
        """
        return (
            self._samples(*COMPILES),
            self._counter("CachedCompile")
            + self._counter("UncachedCompile")
            + self._samples("RunCachedGraphInputData")
            # A graph that dynamo hands over is compiled, and run by what comes after.
            - self._counter("DynamoExtractCompiledGraph"),
            self._samples(*READS),
            self._samples(*UPLOADS),
            sum(self._counter(name) for name in self.fallback_ops()),
        )

    def executed(self) -> int:
        """Executions that the runtime has finished and counted since the last call."""
        return self._samples(*EXECUTIONS)

    def fallback_ops(self) -> list[str]:
        names: list[str] = self._runtime._xla_counter_names()
        return [name for name in names if name.startswith("aten::") and name != READ_OF_A_SCALAR]

    def device_was_used(self) -> bool:
        return bool(self._runtime._xla_counter_value("CreateXlaTensor"))

    def finish_pending(self) -> None:
        if self.device_was_used():
            self._runtime._xla_wait_device_ops([])

    def _samples(self, *names: str) -> int:
        found = ((name, self._runtime._xla_metric_data(name)) for name in names)
        return sum(self._grown(name, data[0]) for name, data in found if data)

    def _counter(self, name: str) -> int:
        return self._grown(name, self._runtime._xla_counter_value(name) or 0)

    def _grown(self, name: str, value: int) -> int:
        before = self._last.get(name, 0)
        self._last[name] = value
        return value - before if value >= before else value
