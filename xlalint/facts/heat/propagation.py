"""The propagation of heat: a fixpoint over the whole program's calls and loops.

Heat flows down the call graph, from the hottest caller. What makes a loop a step loop is what happens in it: an
optimizer's step, a boundary, ``backward()``, a loader that is iterated, a model that is called under a counter.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

import msgspec

from xlalint.facts.events import Heat
from xlalint.facts.heat.entry_points import (
    decodes,
    looks_like_evaluation,
    sets_up,
    stands_in,
)
from xlalint.facts.heat.loop_kinds import hangs_together
from xlalint.facts.heat.pace import COLD, Pace, called_in_sight, hotter, made_in_steps
from xlalint.facts.heat.passed_by import passed_functions
from xlalint.facts.heat.suggested_paces import SuggestedPaces
from xlalint.facts.kinds import LEARNS, LOOPS, LoopKind, RegionKind, SignKind
from xlalint.facts.records import ROOT, Arm, CallEdge, FunctionKey, RegionKey
from xlalint.facts.regions import (
    TURNS,
    FunctionFacts,
    functions_named,
    loop_of,
    regions_around,
    within,
)
from xlalint.program.ir import unpack
from xlalint.program.usage import ALL_USED, Usage


class Giving(msgspec.Struct, frozen=True):
    """The hottest call that gives a parameter; ``via`` is None as long as none is known to run."""

    pace: Pace
    via: tuple[FunctionKey, CallEdge] | None = None


class HeatMap(SuggestedPaces):
    """The fixpoint. ``pace(function, region)`` answers; ``chain(function)`` tells the calls from the step loop."""

    def __init__(self, functions: Iterable[FunctionFacts], files: Iterable[str] = (), usage: Usage = ALL_USED) -> None:
        super().__init__(functions, files)
        self.by_name = {key[:2]: function for key, function in self.functions.items()}
        """By path and qualified name."""
        self.base: dict[FunctionKey, Pace] = {}
        self.via: dict[FunctionKey, tuple[FunctionKey, CallEdge]] = {}
        self._steps: dict[tuple[FunctionKey, RegionKey], bool] = {}
        self.asked = {key: asked for key, function in self.functions.items() if (asked := asked_parameters(function))}
        self.giving = self.asked_and_given()
        self.spread()
        self.compiled = self.find_compiled()
        self.usage = usage
        self.passed = passed_functions(self, self.is_fixed, self.never_used())
        self.restarting = {
            (key[0], key[1], unpack(loop[1])[0])
            for key, loops in self.loops.items()
            for loop, kind in loops.items()
            if kind is LoopKind.STEP and self.starts_again(self.functions[key], loop)
        }

    def starts_again(self, function: FunctionFacts, loop: RegionKey) -> bool:
        """A ``range`` inside an outer loop: its numbers are the same each time."""
        region = function.regions[loop]
        if region.over != "counter":
            return False
        pace = self.of_region(function, region.parent)
        return loop_of(function, region.parent) is not None or (pace.heat >= Heat.EPOCH and not pace.assumed)

    def find_compiled(self) -> set[FunctionKey]:
        """The functions that dynamo compiles, and those that they call."""
        pending = [
            key for function in self.functions.values() for key in functions_named(function.signs, SignKind.COMPILED)
        ]
        found: set[FunctionKey] = set()
        while pending:
            function = self.functions.get(pending.pop())
            if function is not None and function.key not in found and not function.turned_off:
                found.add(function.key)
                pending.extend(edge.callee for edge in function.calls)
        return found

    def never_used(self) -> frozenset[FunctionKey]:
        """The functions that nothing in an application names: neither themselves nor what they stand in. What a
        framework may call is another matter."""
        found = {key for key in self.functions if self.usage.is_unused(key[0], key[1])}
        named = self.usage.named
        if named is not None:
            found |= {key for key, function in self.functions.items() if self.is_unnamed(function, named)}
        return frozenset(found)

    def is_unnamed(self, function: FunctionFacts, named: frozenset[str]) -> bool:
        """Whether a method's name does not occur in what runs."""
        if not function.owner or function.name in named or function.name.startswith("__") or stands_in(function):
            return False
        return not self.is_fixed(function) and not self.callers.get(function.key)

    def passes_by(self, function: FunctionFacts, arms: Collection[Arm], at: int) -> bool:
        """Whether no call of the program that runs leads to these arms of a function, or none but a trial to a place of
        a file."""
        if function.key in self.passed or function.is_passed_by(arms) or self.is_left_out(function, arms):
            return True
        return function.key[1] == "<module>" and self.usage.is_trial(function.key[0], unpack(at)[0])

    def is_left_out(self, function: FunctionFacts, arms: Collection[Arm]) -> bool:
        """Whether one of these arms runs for no object that the program makes: by their defaults, all decide it
        otherwise."""
        return any(
            (test.at, not test.by_default.outcome) in arms and self.usage.leaves_out(test.cls, test.by_default)
            for test in function.default_tests
        )

    # Paces

    def spread(self) -> None:
        """Heat from callers to callees, until nothing changes."""
        for key, function in self.functions.items():
            self.base[key] = self.placed(function)
        pending = sorted(self.functions)
        while pending:
            pending += self.propagate_from(pending.pop())

    def propagate_from(self, key: FunctionKey) -> Iterator[FunctionKey]:
        """A function's heat to what it calls; gives what became hotter."""
        function = self.functions[key]
        paces: dict[RegionKey, Pace] = {}
        for edge, replaces in self.leads_to(function):
            given = paces.get(edge.region)
            if given is None:
                given = paces[edge.region] = self.of_region(function, edge.region)
            if replaces and given.assumed:
                # One assumption is as good as another, and the method's own tells more.
                continue
            if edge.callee in self.asked and self.gives(key, edge, given):
                yield edge.callee
            if edge.callee in self.tests and key not in self.tests:
                # What a test hands over is called for the test, as often as that wants it.
                continue
            mine = self.base[edge.callee]
            if given is mine or not hotter(given, mine):
                continue
            callee = self.functions[edge.callee]
            # A name that tells of setting up is overruled by a caller that is known to run in each step.
            apart = self.is_fixed(callee) or (sets_up(callee) and given.assumed)
            if apart and not called_in_sight(given, mine) and not made_in_steps(callee, given):
                continue
            self.base[edge.callee] = given
            self.via[edge.callee] = (key, edge)
            yield edge.callee

    def asked_and_given(self) -> dict[tuple[FunctionKey, int], Giving]:
        """For each parameter of which a function asks whether it was given, the hottest call that gives it: not yet
        known. Who calls an entry of a framework is not in sight."""
        return {
            (key, position): Giving(COLD)
            for key, asked in self.asked.items()
            if not self.is_fixed(self.functions[key])
            for position in asked
            if any(edge.gives(position) for _, edge in self.callers.get(key, ()))
        }

    def gives(self, caller: FunctionKey, edge: CallEdge, pace: Pace) -> bool:
        """Whether a call gives its callee a parameter more often than was known."""
        grown = False
        for position in self.asked[edge.callee]:
            known = self.giving.get((edge.callee, position))
            if edge.gives(position) and known is not None and (known.via is None or hotter(pace, known.pace)):
                self.giving[edge.callee, position] = Giving(pace, (caller, edge))
                grown = True
        return grown

    def given_at(self, function: FunctionFacts, region: RegionKey) -> Giving | None:
        """The hottest call that leads to a region behind a guard on an optional parameter; None where every
        call of the function may."""
        if function.key not in self.asked:
            return None
        found: Giving | None = None
        for key in regions_around(function.regions, region):
            giving = (
                self.giving.get((function.key, int(function.regions[key].over))) if key[0] == RegionKind.GIVEN else None
            )
            if giving is not None and (found is None or hotter(found.pace, giving.pace)):
                found = giving
        return found

    def pace(self, key: FunctionKey, region: RegionKey) -> Pace:
        function = self.functions[key]
        return self.of_region(function, region)

    def of_region(self, function: FunctionFacts, region: RegionKey) -> Pace:
        giving = self.given_at(function, region)
        base = self.base.get(function.key, COLD)
        if giving is not None and hotter(base, giving.pace):
            base = giving.pace
        return base if region == ROOT else self.of_inner(function, region, base)

    def of_inner(self, function: FunctionFacts, region: RegionKey, base: Pace) -> Pace:
        known = function.regions.get(region)
        if known is None:
            return base
        outer = self.of_inner(function, known.parent, base)
        kind = region[0]
        if kind in LOOPS:
            return self.in_loop(function, region, outer)
        if kind is RegionKind.AMORTISED:
            seldom = outer.heat >= Heat.STEP and not self.is_the_step(function, region)
            return self.at_times(function, region, base, outer) if seldom else outer
        if kind is RegionKind.COLLATE:
            return Pace(Heat.STEP, None, outer.evaluation, outer.assumed, True)
        if kind is RegionKind.LEAVING:
            return outer if loop_of(function, region) is None else self.around_loop(function, region, base)
        if kind is RegionKind.EPOCH:
            return msgspec.structs.replace(outer, heat=max(outer.heat, Heat.EPOCH))
        if kind in (RegionKind.RARE, RegionKind.CLOSURE):
            return msgspec.structs.replace(
                outer, heat=Heat.ONCE if kind is RegionKind.RARE else Heat.AMORTISED, assumed=False
            )
        if kind is RegionKind.EVALUATION and (outer.loop is None or outer.evaluation):
            # Under ``no_grad`` in the step of a training loop stands a part of the training.
            return msgspec.structs.replace(outer, evaluation=True)
        return outer

    def at_times(self, function: FunctionFacts, region: RegionKey, base: Pace, outer: Pace) -> Pace:
        """How often that runs which a test lets run now and then: what it asks for may be the turn of a loop that a
        step goes through."""
        around = self.around_loop(function, region, base)
        in_each = function.regions[region].over == TURNS and not around.assumed
        return msgspec.structs.replace(outer, heat=max(Heat.AMORTISED, around.heat) if in_each else Heat.AMORTISED)

    def around_loop(self, function: FunctionFacts, region: RegionKey, base: Pace) -> Pace:
        """How often the loop around a region is begun."""
        loop = loop_of(function, region)
        return self.of_inner(function, ROOT if loop is None else function.regions[loop].parent, base)

    def only_evaluates(self, function: FunctionFacts, loop: RegionKey, outer: Pace) -> bool:
        """Whether a loop of steps only looks at what a model says: nothing in it learns, and where it stands, its name,
        the model's mode or gradients that are off say so."""
        signs = self.all_signs(function, loop)
        if not signs.isdisjoint(LEARNS):
            return False
        if outer.evaluation or looks_like_evaluation(function.name):
            return True
        if function.without_grad and not decodes(function):
            return True
        if self.only_infers(function, loop):
            return True
        if mode_before(function, loop) is SignKind.EVAL and not is_within_loop(function, loop):
            return True
        trains = mode_before(function, loop) is SignKind.TRAIN or any(map(SETS_TRAINING, signs))
        return function.regions[loop].over == "loader" and not trains

    def only_infers(self, function: FunctionFacts, loop: RegionKey) -> bool:
        """Whether each turn calls a model anew under ``no_grad``, and hands nothing on to the next: one image after
        the other. What an agent sees in an environment is learned from elsewhere."""
        if hangs_together(function, loop) or decodes(function):
            return False
        off = False
        for region, kinds in self.signs_by_region(function, loop):
            if SignKind.ENVIRONMENT_STEP in kinds:
                return False
            if SignKind.MODEL_CALL in kinds:
                off = RegionKind.EVALUATION in (one[0] for one in regions_around(function.regions, region))
                if not off:
                    return False
        return off

    def signs_by_region(self, function: FunctionFacts, loop: RegionKey) -> Iterator[tuple[RegionKey, frozenset[str]]]:
        """What the places in a loop give, themselves or by the calls that stand there."""
        for sign in function.signs:
            if within(function, sign.region, loop):
                yield sign.region, frozenset({sign.kind})
        for edge in self.calls[function.key]:
            if within(function, edge.region, loop):
                yield edge.region, self.performs[edge.callee]

    def is_the_step(self, function: FunctionFacts, region: RegionKey) -> bool:
        """Whether an arm holds the step of the only optimizer: gradients are accumulated until then."""
        known = self._steps.get((function.key, region))
        if known is None:
            loop = loop_of(function, region) or ROOT
            stepping = list(self.stepping_regions(function, loop))
            known = bool(stepping) and all(within(function, one, region) for one in stepping)
            self._steps[function.key, region] = known
        return known

    def stepping_regions(self, function: FunctionFacts, loop: RegionKey) -> Iterator[RegionKey]:
        """Where an optimizer steps in one turn of a loop, in the function itself or in what it calls."""
        for sign in function.signs:
            if sign.kind is SignKind.OPTIMIZER_STEP and within(function, sign.region, loop):
                yield sign.region
        for edge in function.calls:
            if SignKind.OPTIMIZER_STEP in self.performs.get(edge.callee, ()) and within(function, edge.region, loop):
                yield edge.region

    def in_loop(self, function: FunctionFacts, region: RegionKey, outer: Pace) -> Pace:
        kind = self.loops.get(function.key, {}).get(region)
        if kind is LoopKind.STEP:
            if outer.heat >= Heat.STEP and outer.loop is not None:
                return msgspec.structs.replace(outer, heat=Heat.INNER)
            evaluation = self.only_evaluates(function, region, outer)
            return Pace(Heat.STEP, (function.key, region), evaluation, False, outer.host)
        if kind is LoopKind.EPOCH:
            if outer.heat < Heat.STEP and self.goes_through_generations(function, region):
                return msgspec.structs.replace(outer, heat=Heat.CALL, loop=None)
            return msgspec.structs.replace(outer, heat=Heat.EPOCH) if outer.heat < Heat.EPOCH else outer
        if outer.heat >= Heat.STEP:
            return msgspec.structs.replace(outer, heat=Heat.INNER)
        return outer

    def assumed_of(self, key: FunctionKey, region: RegionKey) -> str:
        """The function at the top of the calls that lead to this one, and of which its heat is assumed; empty where it
        is this one."""
        chain = self.chain(key, region)
        return chain[0][0][1] if chain else ""

    def signs_of(self, loop: tuple[FunctionKey, RegionKey]) -> frozenset[str]:
        return self.all_signs(self.functions[loop[0]], loop[1])

    def loops_around(self, key: FunctionKey, region: RegionKey) -> Iterator[tuple[FunctionKey, RegionKey]]:
        """The loops of epochs and steps around a place, innermost first: its function's own, then the callers'."""
        seen: set[FunctionKey] = set()
        while key not in seen:
            seen.add(key)
            for around in regions_around(self.functions[key].regions, region):
                if self.loops.get(key, {}).get(around):
                    yield key, around
            via = self.reached_by(key, region)
            if via is not None:
                key, region = via[0], via[1].region

    def reached_by(self, key: FunctionKey, region: RegionKey) -> tuple[FunctionKey, CallEdge] | None:
        """The call that leads most often to a place, and what it stands in."""
        giving = self.given_at(self.functions[key], region)
        return giving.via if giving is not None and giving.via is not None else self.via.get(key)

    def chain(self, key: FunctionKey, region: RegionKey) -> list[tuple[FunctionKey, CallEdge]]:
        """The calls from the step loop down to a place, outermost first."""
        found: list[tuple[FunctionKey, CallEdge]] = []
        seen = {key}
        while via := self.reached_by(key, region):
            caller, edge = via
            found.append((caller, edge))
            if caller in seen:
                break
            seen.add(caller)
            pace = self.pace(caller, edge.region)
            if pace.loop is not None and pace.loop[0] == caller:
                break
            key, region = caller, edge.region
        return found[::-1]


SETS_TRAINING = re.compile(SignKind.TRAIN + r"\b").match


def mode_before(function: FunctionFacts, loop: RegionKey) -> SignKind | None:
    """The mode that a function last puts a model into ahead of a loop; None where it puts none into any."""
    modes = (SignKind.TRAIN, SignKind.EVAL)
    around = {ROOT, *regions_around(function.regions, loop)}
    before = [one for one in function.signs if one.kind in modes and one.region in around and one.at < loop[1]]
    return max(before, key=lambda sign: sign.at).kind if before else None


def is_within_loop(function: FunctionFacts, loop: RegionKey) -> bool:
    return loop_of(function, function.regions[loop].parent) is not None


def asked_parameters(function: FunctionFacts) -> frozenset[int]:
    """The positions of the parameters of which a function asks whether they were given, and is told by some call."""
    return frozenset(int(region.over) for region in function.regions.values() if region.key[0] == "given")
