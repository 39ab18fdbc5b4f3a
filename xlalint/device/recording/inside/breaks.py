"""Where dynamo ends a graph before the end of a function, and why."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

REGISTRY = "torch._dynamo.backends.registry"
Place = tuple[str, int, str]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class GraphBreaks:
    """Listens to what dynamo gives to its backends: each graph says what ended it.

    A break before the first operation leaves no graph; dynamo only counts it, and its line is not known.
    """

    def __init__(self, is_named: Callable[[str], bool]) -> None:
        self._is_named = is_named
        self._found: Counter[tuple[str, Place | None]] = Counter()
        self._listening: dict[str, Any] = {}

    def listen(self) -> None:
        """To be called when dynamo's registry of backends has been imported, and before anything is compiled."""
        for name in (REGISTRY, "torch._dynamo.eval_frame", "torch._dynamo"):
            module: Any = sys.modules.get(name)
            original = getattr(module, "lookup_backend", None)
            if original is not None and not hasattr(original, "of_xlalint"):
                module.lookup_backend = self._listening_lookup(original)

    def told(self) -> list[dict[str, Any]]:
        rows = [{"reason": reason, "at": place, "count": count} for (reason, place), count in self._found.items()]
        dynamo: Any = sys.modules.get("torch._dynamo.utils")
        counted = dynamo.counters["graph_break"] if dynamo else {}
        known: Counter[str] = Counter()
        for (reason, _), count in self._found.items():
            known[reason] += count
        for text, count in counted.items():
            missing = count - known[_shown(text)]
            if missing > 0:
                rows.append({"reason": _shown(text), "at": None, "count": missing})
        return rows

    def _listening_lookup(self, original: Any) -> Any:
        def lookup_backend(name: Any) -> Any:
            backend = original(name)
            if not isinstance(name, str) or "openxla" not in name:
                return backend
            # Dynamo compiles again where it is given another backend, so each keeps its one listener.
            return self._listening.setdefault(name, self._listening_backend(backend))

        lookup_backend.of_xlalint = True  # type: ignore[attr-defined]
        return lookup_backend

    def _listening_backend(self, backend: Any) -> Any:
        def openxla(graph: Any, inputs: Any, *arguments: Any, **named: Any) -> Any:
            reason = getattr(graph, "compile_subgraph_reason", None)
            if reason is not None and reason.graph_break:
                self._found[_shown(reason.reason), self._place(reason.user_stack)] += 1
            return backend(graph, inputs, *arguments, **named)

        return openxla

    def _place(self, stack: Any) -> Place | None:
        """The innermost line of the user's files, else the innermost of all."""
        frames = [(one.filename, one.lineno, one.name) for one in stack or ()]
        named = [frame for frame in frames if self._is_named(frame[0])]
        return next(reversed(named or frames), None)


def _shown(reason: object) -> str:
    """The first line of what dynamo says, and its explanation."""
    first, *rest = (line.strip() for line in _ADDRESS.sub("", str(reason)).strip().splitlines() or [""])
    told = [line[len("Explanation: ") :] for line in rest if line.startswith("Explanation: ")]
    return ": ".join([first, *told[:1]])
