"""Functions that only calls lead to which do not run."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.facts.heat.loop_kinds import StepLoops
from xlalint.facts.kinds import SignKind
from xlalint.facts.records import FunctionKey
from xlalint.facts.regions import FunctionFacts, functions_named


def passed_functions(
    calls: StepLoops, is_entry: Callable[[FunctionFacts], bool], unused: frozenset[FunctionKey] = frozenset()
) -> frozenset[FunctionKey]:
    """Those that are never used, those whose calls all stand in arms that do not run, what stands in for them, and what
    they alone call. Who calls an entry of a framework is not in sight."""
    signs = (function.signs for function in calls.functions.values())
    pending = [key for some in signs for key in functions_named(some, SignKind.PASSED_CALL)]
    found: set[FunctionKey] = set(unused)
    pending += (edge.callee for key in unused for edge in calls.calls[key])
    while pending:
        key = pending.pop()
        function = calls.functions.get(key)
        if function is None or key in found or is_entry(function) or runs(calls, function, found):
            continue
        found.add(key)
        pending += (edge.callee for edge in calls.calls[key])
        pending += calls.stand_ins.get(key, ())
    return frozenset(found)


def runs(calls: StepLoops, function: FunctionFacts, passed: set[FunctionKey]) -> bool:
    """Whether something calls a function, or what it overrides, that is not passed by itself."""
    if any(caller not in passed for caller, _ in calls.callers.get(function.key, ())):
        return True
    return any(caller not in passed for base in function.overrides for caller in calls.callers_but_overriders(base))
