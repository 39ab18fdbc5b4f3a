"""What the runtime's own metrics count, read often. Imports torch_xla when it is made, never before."""

from __future__ import annotations

from importlib import import_module
from typing import Any

COMPILES = ("CompileTime", "EagerOpCompileTime")
EXECUTIONS = ("ExecuteTime", "ExecuteReplicatedTime", "EagerOpExecuteTime")
READS = ("TransferFromDeviceTime",)
UPLOADS = ("TransferToDeviceTime",)
READ_BYTES = "InboundData"
UPLOADED_BYTES = "OutboundData"
READ_OF_A_SCALAR = "aten::_local_scalar_dense"
"""Counted by the runtime as a fallback; it is the read itself, and stands under ``reads``."""
SAMPLED = {"compile": COMPILES, "graph": EXECUTIONS, "read": READS, "upload": UPLOADS}
"""What a timeline shows, and the metrics whose samples have its times."""

FIELDS = ("compiles", "executions", "reads", "uploads", "fallbacks")
Counts = tuple[int, int, int, int, int]


class Meter:
    """Counts in the order of ``FIELDS`` since it was made; a program that clears the metrics does not disturb it."""

    def __init__(self) -> None:
        self._runtime: Any = vars(import_module("torch_xla"))["_XLAC"]
        self._last: dict[str, int] = {}
        self._seen: tuple[object, ...] = ()

    def deltas(self) -> Counts:
        """What was added since the last call. Executions are those *sent* by the calling thread.

        The runtime's own metric of executions is written later, by the thread that runs them.
        """
        self.fallen = {name: count for name in self.fallback_ops() if (count := self._counter(name))}
        return (
            self._samples(*COMPILES),
            self._counter("CachedCompile")
            + self._counter("UncachedCompile")
            + self._samples("RunCachedGraphInputData")
            # A graph that dynamo hands over is compiled, and run by what comes after.
            - self._counter("DynamoExtractCompiledGraph"),
            self._samples(*READS),
            self._samples(*UPLOADS),
            sum(self.fallen.values()),
        )

    def amounts(self) -> dict[str, int]:
        """What the counts come to: nanoseconds of compiling and bytes over the border, since the last call."""
        return {
            "compile_ns": sum(self._sum(name) for name in COMPILES),
            "read_bytes": self._sum(READ_BYTES),
            "uploaded_bytes": self._sum(UPLOADED_BYTES),
        }

    def samples(self) -> dict[str, list[tuple[float, float]]]:
        """When each thing ended, in seconds of the clock, and how many nanoseconds it took: since the last call.

        Of more than the runtime keeps, the last.
        """
        return {kind: times for kind, names in SAMPLED.items() if (times := self._times(names))}

    def has_moved(self) -> bool:
        """Whether anything was sent, run or fetched since the last call: at a fraction of what it costs to say what."""
        runtime = self._runtime
        seen: tuple[object, ...] = (
            runtime._xla_counter_value("CachedCompile"),
            runtime._xla_counter_value("UncachedCompile"),
            *(
                (runtime._xla_metric_data(name) or (0,))[0]
                for name in ("TransferFromDeviceTime", "TransferToDeviceTime", "RunCachedGraphInputData", *_EAGER)
            ),
        )
        before, self._seen = self._seen, seen
        return seen != before

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

    def _sum(self, name: str) -> int:
        data = self._runtime._xla_metric_data(name)
        return self._grown(f"{name} in all", int(data[1])) if data else 0

    def _times(self, names: tuple[str, ...]) -> list[tuple[float, float]]:
        times: list[tuple[float, float]] = []
        for name in names:
            data = self._runtime._xla_metric_data(name)
            new = self._grown(f"{name} told", data[0]) if data else 0
            times += data[2][-new:] if new else []
        return times

    def _counter(self, name: str) -> int:
        return self._grown(name, self._runtime._xla_counter_value(name) or 0)

    def _grown(self, name: str, value: int) -> int:
        before = self._last.get(name, 0)
        self._last[name] = value
        return value - before if value >= before else value


_EAGER = ("EagerOpExecuteTime",)
