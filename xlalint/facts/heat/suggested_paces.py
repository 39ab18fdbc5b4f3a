"""How often a function runs as its name, its place and the frameworks suggest, before any call is followed."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from xlalint.facts.events import Heat
from xlalint.facts.heat.entry_points import (
    COMPUTING,
    PLAIN_ENTRIES,
    SUMMING_UP,
    collates,
    evaluates,
    feeds,
    is_apart,
    looks_like_training,
    may_run_once,
    reads_answers,
    sets_up,
    stands_in,
)
from xlalint.facts.heat.loop_kinds import STRONG, StepLoops
from xlalint.facts.heat.pace import COLD, HEATS, Pace
from xlalint.facts.kinds import TRAINED, LoopKind, SignKind
from xlalint.facts.records import FunctionKey
from xlalint.facts.regions import (
    FunctionFacts,
)
from xlalint.knowledge.tables import frameworks


class SuggestedPaces(StepLoops):
    """What heat starts from: ``placed(function)``."""

    def placed(self, function: FunctionFacts) -> Pace:
        """The heat that a function's name and place suggest."""
        row = self.row_of(function)
        if row is not None:
            words = row.split()
            heat = HEATS.get(words[0], Heat.STEP)
            return Pace(heat, None, "evaluation" in words, False, "host" in words)
        if function.name == "<module>":
            return COLD
        if function.key in self.tests or sets_up(function):
            return COLD
        if self.is_called_by_program(function.key) or self.is_called_beside_steps(function):
            return COLD
        if self.is_run_as_its_base(function):
            return COLD
        if any(sign.kind == SignKind.MAKES_LOADER for sign in function.signs):
            # A loader outlives many steps.
            return COLD
        if feeds(function):
            return Pace(Heat.STEP, assumed=True, host=True)
        if function.owner and function.name in SUMMING_UP:
            return Pace(Heat.CALL, assumed=True, evaluation=True)
        if reads_answers(function):
            return Pace(Heat.CALL, assumed=True)
        if function.in_script or function.key in self.contains:
            beside = self.performed_beside_loops(function) & self.strong_beside(function)
            if beside:
                return Pace(Heat.STEP, assumed=True)
            return Pace(Heat.CALL, assumed=True) if self.computes(function) else COLD
        if is_apart(function):
            return COLD
        return Pace(Heat.STEP, assumed=True, evaluation=evaluates(function))

    def computes(self, function: FunctionFacts) -> bool:
        """Whether a public function is there for a result that it computes in a loop on the device: a sample, a
        prediction, a solution. Training and evaluation run once, or once an epoch."""
        if is_apart(function) or may_run_once(function) or looks_like_training(function.name):
            return False
        loops = [loop for loop, kind in self.loops.get(function.key, {}).items() if kind is LoopKind.STEP]
        fits = function.owner and function.name in COMPUTING
        return bool(loops) and (bool(fits) or all(function.regions[loop].over != "loader" for loop in loops))

    def strong_beside(self, function: FunctionFacts) -> frozenset[str]:
        """The signs by which a function that loops is a step all the same. One that holds the loop of steps is none,
        whatever stands after it; one that only decodes in a loop may learn from the whole."""
        loops = [loop for loop, kind in self.loops.get(function.key, {}).items() if kind is LoopKind.STEP]
        if any(self.evidence(function, loop) & (STRONG | {SignKind.LOADER}) for loop in loops):
            return frozenset()
        return TRAINED if loops else STRONG

    def is_called_by_program(self, key: FunctionKey) -> bool:
        """By more than tests: what only they call is there for those who use the library."""
        return any(caller not in self.tests for caller, _ in self.callers.get(key, ()))

    def is_run_as_its_base(self, function: FunctionFacts) -> bool:
        """Whether all calls of what a method overrides are led to by scripts and frameworks: it runs as often."""
        callers = {caller for base in function.overrides for caller in self.callers_but_overriders(base)} - self.tests
        return bool(callers) and all(one in self.run_by_scripts or one in self.run_by_entries for one in callers)

    def is_fixed(self, function: FunctionFacts) -> bool:
        return self.row_of(function) is not None

    def row_of(self, function: FunctionFacts) -> str | None:
        if collates(function):
            return "step host"
        if function.name not in entry_names():
            return None
        if (not function.owner and function.name not in PLAIN_ENTRIES) or self.is_own_entry(function):
            return None
        return inherited_entry_row(function.name, function.bases) or frameworks().get("entry", function.name)

    def is_own_entry(self, function: FunctionFacts) -> bool:
        """Whether the program has a trainer of its own, which calls a method that is called like the entry of one."""
        if not function.owner or function.is_module or stands_in(function):
            return False
        if any(True for base in function.overrides for _ in self.callers_but_overriders(base)):
            return True
        return self.is_called_by_program(function.key) and not inherited_entry_row(function.name, function.bases)

    @functools.cached_property
    def run_by_scripts(self) -> frozenset[FunctionKey]:
        """The functions that the scripts of the program lead to: how often these run is seen there."""
        return self.led_to(
            key for key, function in self.functions.items() if function.in_script and key[1] == "<module>"
        )

    @functools.cached_property
    def run_by_entries(self) -> frozenset[FunctionKey]:
        """The functions that what frameworks call leads to: how often these run is known, too."""
        return self.led_to(key for key, function in self.functions.items() if self.is_fixed(function))

    def led_to(self, starts: Iterable[FunctionKey]) -> frozenset[FunctionKey]:
        pending = list(starts)
        found = set(pending)
        while pending:
            for edge, _ in self.leads_to(self.functions[pending.pop()]):
                if edge.callee not in found:
                    found.add(edge.callee)
                    pending.append(edge.callee)
        return frozenset(found)


@functools.cache
def entry_names() -> frozenset[str]:
    """The last names of all entries that frameworks call: few functions have one of them."""
    return frozenset(name.rpartition(".")[2] for name in frameworks().names("entry"))


@functools.cache
def inherited_entry_row(name: str, bases: tuple[str, ...]) -> str | None:
    """What is known of an entry of this name in a class with these bases; a dotted name tells frameworks apart whose
    classes are called alike."""
    table = frameworks()
    for base in bases:
        row = table.get("entry", f"{base}.{name}") or table.get("entry", f"{base.rpartition('.')[2]}.{name}")
        if row is not None:
            return row
    return None
