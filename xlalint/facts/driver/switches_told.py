"""The switches between training and evaluation that are told: those within a step, and of evaluations between steps one
of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from xlalint.facts.detectors.mode_switches import ANY, alternates, is_local
from xlalint.facts.driver.file_index import Evaluated
from xlalint.facts.events import Effect, Heat, Root, RootKind, Span
from xlalint.facts.heat.pace import Pace
from xlalint.facts.heat.propagation import HeatMap, mode_before
from xlalint.facts.kinds import TRAINED, SignKind
from xlalint.facts.records import ROOT, FunctionKey, RawEvent, RegionKey, Sign
from xlalint.facts.regions import FunctionFacts, loop_of, within
from xlalint.program.ir import unpack

Place = tuple[FunctionKey, int]
Loop = tuple[FunctionKey, RegionKey]


class SwitchesTold:
    """Answers for the whole program, by the heat of all its functions."""

    def __init__(self, heat: HeatMap, functions: Iterable[Evaluated]) -> None:
        self.heat = heat
        self.functions = functions
        self._trained_so: dict[Loop, bool] = {}

    def is_told(self, raw: RawEvent, function: FunctionFacts, pace: Pace) -> bool:
        """Whether a change costs that is not told elsewhere. One that comes once costs nothing."""
        if pace.heat < Heat.EPOCH:
            return True
        if not self.alternates(raw, function, pace):
            return False
        if pace.heat >= Heat.STEP:
            return pace.loop is None or (self.runs_in_both_modes(pace.loop) and self.is_undone(raw, pace.loop))
        return (function.key, raw.at) in self.of_evaluations

    def runs_in_both_modes(self, loop: Loop) -> bool:
        """Whether the steps of a loop call a model in training mode, too. An evaluation that sets the mode in each
        step, and sets it back, does not."""
        return not self.heat.signs_of(loop).isdisjoint(TRAINED)

    def is_undone(self, raw: RawEvent, loop: Loop) -> bool:
        """Whether each turn of a loop sets the other mode, too: ``model.train()`` ahead of each step undoes what an
        evaluation now and then has set, and is free in all others."""
        if raw.subject == "eval":
            return True
        signs = self.heat.signs_each_turn(self.heat.functions[loop[0]], loop[1])
        return alternates(raw.subject, raw.detail, signs, True)

    @cached_property
    def of_evaluations(self) -> frozenset[Place]:
        """The first switch around an evaluation, of each program: each mode is compiled once, whatever changes it."""
        first: dict[str, tuple[tuple[object, ...], Place]] = {}
        for one in self.functions:
            function = one.facts
            for raw in one.events:
                if raw.effect is not Effect.MODE_SWITCH:
                    continue
                pace = self.heat.pace(function.key, raw.region)
                if not Heat.EPOCH <= pace.heat < Heat.STEP or pace.assumed or not self.alternates(raw, function, pace):
                    continue
                path = self.program_of(function, raw, pace)
                order = (
                    -raw.certainty,
                    raw.subject != "eval",
                    function.key[0] != path,
                    function.key[0],
                    raw.at,
                    function.key,
                )
                if path not in first or order < first[path][0]:
                    first[path] = (order, (function.key, raw.at))
        return frozenset(place for _, place in first.values())

    def program_of(self, function: FunctionFacts, raw: RawEvent, pace: Pace) -> str:
        """The file at the top of the calls that lead to a place."""
        key, region = pace.loop if pace.loop is not None else (function.key, raw.region)
        seen = {key}
        while (via := self.heat.reached_by(key, region)) is not None and via[0] not in seen:
            key, region = via[0], via[1].region
            seen.add(key)
        return key[0]

    def alternates(self, raw: RawEvent, function: FunctionFacts, pace: Pace) -> bool:
        """Whether the rounds see both modes: setting the same one each time changes nothing."""
        if pace.loop is not None:
            return self.sees_both(raw, function, pace.loop)
        if pace.heat >= Heat.AMORTISED:
            return alternates(raw.subject, raw.detail, self.heat.everything(function.key, 2), True)
        loops = list(self.heat.loops_around(function.key, raw.region))
        return not loops or any(self.sees_both(raw, function, loop) for loop in loops)

    def sees_both(self, raw: RawEvent, function: FunctionFacts, loop: Loop) -> bool:
        """Whether what a loop does puts the model into the other mode, too. What the function has bound itself, callers
        don't have under a parameter's name: it is a model of its own, or it is handed on from there."""
        signs = self.heat.signs_of(loop)
        if loop[0] != function.key and is_local(raw.detail):
            below = self.heat.everything(function.key, 3)
            signs = frozenset(sign for sign in signs if not sign.endswith(f" {ANY}") or sign in below)
        if raw.detail != ANY:
            signs -= self.of_parameters(function, loop)
        if self.trains_in_evaluation_mode(loop):
            signs -= TRAINED
        return alternates(raw.subject, raw.detail, signs, loop[0] == function.key)

    def of_parameters(self, function: FunctionFacts, loop: Loop) -> frozenset[str]:
        """The modes that only the function itself sets, and of its parameters: what has a name of its own there, such
        as a teacher beside a student, is another model."""
        given = {sign.label for sign in function.signs if sign.subject == ANY}
        others = (signs for one, signs in self.signs_within(loop) if one is not function)
        return frozenset(given - {sign.label for signs in others for sign in signs}) if given else frozenset()

    def trains_in_evaluation_mode(self, loop: Loop) -> bool:
        """Whether all that is trained in a loop was put into evaluation mode just ahead: to train only the last layer
        of a model, say. Who never sets the other mode does not come back to it."""
        known = self._trained_so.get(loop)
        if known is None:
            found = [mode_before(one, of) for one, of in self.training_loops(loop)]
            known = self._trained_so[loop] = bool(found) and all(mode is SignKind.EVAL for mode in found)
        return known

    def training_loops(self, loop: Loop) -> Iterator[tuple[FunctionFacts, RegionKey]]:
        """The loops within a loop, and in what it calls, in which a model is trained."""
        for function, signs in self.signs_within(loop):
            for sign in signs:
                if sign.kind in TRAINED:
                    yield function, loop_of(function, sign.region) or ROOT

    def signs_within(self, loop: Loop) -> Iterator[tuple[FunctionFacts, tuple[Sign, ...]]]:
        """What a loop does, and what it calls, function by function."""
        own = self.heat.functions[loop[0]]
        yield own, tuple(sign for sign in own.signs if within(own, sign.region, loop[1]))
        pending = [edge.callee for edge in own.calls if within(own, edge.region, loop[1])]
        seen = {own.key}
        while pending:
            function = self.heat.functions.get(pending.pop())
            if function is not None and function.key not in seen:
                seen.add(function.key)
                yield function, function.signs
                pending.extend(edge.callee for edge in function.calls)


def root_of_switch(pace: Pace, shown: Callable[[str], str]) -> Root | None:
    """All that changes the mode in the steps of one loop is one decision."""
    if pace.loop is None or pace.heat < Heat.STEP:
        return None
    (path, name, _), (_, at) = pace.loop
    return Root(
        kind=RootKind.MODE, key=f"{name} {at}", text="the modes of one step", path=shown(path), span=Span(*unpack(at))
    )
