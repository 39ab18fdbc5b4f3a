"""Where dynamo ends a graph before the end of a function, and why. For the worker's children only."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from xlalint.device.recording.addresses import without_addresses


class GraphBreaks:
    """Listens beside the openxla backend, as ``torch._dynamo.explain`` does: each graph says what ended it.

    A break before the first operation leaves no graph; dynamo only counts it.
    """

    def __init__(self) -> None:
        self._ended: list[str] = []

    def backend(self, graph: Any, inputs: list[Any]) -> Any:
        """A backend for ``torch.compile``."""
        reason = getattr(graph, "compile_subgraph_reason", None)
        if reason is not None and reason.graph_break:
            self._ended.append(_shown(reason.reason))
        return import_module("torch._dynamo.backends.registry").lookup_backend("openxla")(graph, inputs)

    def reasons(self) -> dict[str, int]:
        """How often, by reason. Importing dynamo takes seconds: a program that did not use it has none."""
        found: dict[str, int] = {}
        for each in self._ended:
            found[each] = found.get(each, 0) + 1
        dynamo = sys.modules.get("torch._dynamo.utils")
        for text, count in dynamo.counters["graph_break"].items() if dynamo else ():
            found[_shown(text)] = max(found.get(_shown(text), 0), count)
        return found


def _shown(reason: object) -> str:
    """The first line of what dynamo says, and its explanation."""
    first, *rest = (line.strip() for line in without_addresses(str(reason)).strip().splitlines())
    told = [line.removeprefix("Explanation: ") for line in rest if line.startswith("Explanation: ")]
    return ": ".join([first, *told[:1]])
