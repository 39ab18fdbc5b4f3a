"""The recorder of an evaluation: events, signs of a step, calls, step boundaries."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from xlalint.facts.domain.values import LoopKey, Value, tensor_of
from xlalint.facts.effect_traits import TRAITS, executes
from xlalint.facts.events import Effect
from xlalint.facts.kinds import CALLS_OF_MODELS, SignKind
from xlalint.facts.records import ANY_PARAMETER, Arm, CallEdge, FunctionKey, FunctionRecord, RawEvent, RawRoot, Sign
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.position import Position
from xlalint.facts.state.roots import root_of
from xlalint.program import ir


class Recorder(Position):
    """A position that keeps a record. ``show`` gives the text of a value."""

    def __init__(self, function: ir.FunctionIR, environment: Environment, show: Callable[[Value], str]) -> None:
        self.record = FunctionRecord()
        super().__init__(function, environment, self.record.regions)
        self.show = show
        self.quiet = 0
        """Above 0 events and signs are dropped: what is evaluated is only asked for."""
        self.surest = 2
        """No event here is surer."""
        self.by_signature = False
        """Whether no call tells what the parameters are."""
        self.arms: tuple[Arm, ...] = ()
        self.tests_of_defaults: set[int] = set()
        """The tests that a constructor's defaults decide."""
        """The arms that a function is in which is evaluated by its signature."""
        self.called_at: set[int] = set()
        """Where models and functions of the program were called."""

    def emit(
        self,
        effect: Effect,
        at: int,
        value: Value,
        subject: str = "",
        operand: ir.Expr | None = None,
        *,
        certainty: int = 2,
        detail: str = "",
        form: str = "",
        backward_only: bool = False,
        varies: LoopKey | None = None,
        root: RawRoot | None = None,
    ) -> None:
        if self.quiet:
            return
        known = tensor_of(value)
        if known is not None:
            certainty = min(certainty, SHOWN[known.certainty])
        certainty = min(certainty, self.surest)
        if self.guards or self.by_data:
            certainty = min(certainty, 1)
        if not self.is_news(effect, at, certainty):
            return
        event = RawEvent(
            effect,
            subject,
            at,
            self.statement,
            span_of(operand),
            self.show(value),
            certainty,
            self.region,
            self.guards,
            self.place(),
            detail,
            form,
            backward_only,
            self.origins.get(operand.name, 0) if type(operand) is ir.Name else 0,
            varies,
            self.undecided > 0,
            self.arms,
            root or root_of(self, effect, operand),
            self.ranks > 0,
        )
        self.record_event(event)
        if certainty > 0 and executes(effect) and not backward_only:
            self.sign(SignKind.HOST_READ, 0)

    def record_event(self, event: RawEvent) -> None:
        """One place gives one event: the first that costs for sure."""
        if self.is_news(event.effect, event.at, event.certainty):
            self.record.events[event_key(event.effect, event.at)] = event

    def is_news(self, effect: Effect, at: int, certainty: int) -> bool:
        """Whether a place gives an event that no earlier and surer one stands for."""
        known = self.record.events.get(event_key(effect, at))
        if known is None:
            return True
        return known.certainty < certainty and (known.effect is effect or known.certainty == 0)

    def enter_arm(self, at: int, outcome: bool) -> tuple[Arm, ...]:
        """Enter an arm of an ``if``; gives the arms around it, which the caller sets again. Where a call gives the
        arguments, the test may have this outcome."""
        around = self.arms
        self.stand_in_arm(at, outcome)
        if not self.by_signature:
            self.record.outcomes[at, outcome] = None
        return around

    def stand_in_arm(self, at: int, outcome: bool) -> None:
        if self.by_signature or at in self.tests_of_defaults:
            self.arms = (*self.arms, (at, outcome))

    def mark_form(self, node: ir.Expr | None, effect: Effect, form: str) -> None:
        """What stands around a place that was just read tells which fix fits it."""
        key = (span_of(node), "")
        known = self.record.events.get(key)
        if known is not None and known.effect is effect and not known.form:
            self.record.events[key] = msgspec.structs.replace(known, form=form)

    def sign(self, kind: SignKind, at: int, subject: str = "") -> None:
        if kind in CALLS_OF_MODELS:
            self.called_at.add(at)
        if not self.quiet:
            self.record.signs[Sign(kind, self.region, at, subject)] = None

    def record_callee(self, call: ir.Call) -> bool:
        """Whether a call was one of a model or of a function of the program."""
        return call.at in self.called_at

    def edge(self, callee: FunctionKey, at: int, given: tuple[int, ...] = ANY_PARAMETER) -> None:
        if not at:
            return
        self.called_at.add(at)
        undecided = self.undecided > 0 or bool(self.guards)
        self.record.calls[CallEdge(callee, self.region, at, undecided, given)] = None

    def pending(self) -> None:
        """The device has work again."""
        if self.environment is not None and self.environment.is_clean:
            self.environment.is_clean = False

    def boundary(self, at: int) -> None:
        self.sign(SignKind.BOUNDARY, at)
        if self.environment is not None:
            self.environment.is_clean = True


SHOWN = (0, 1, 1, 2)
"""The certainty of an event, by that of its tensor: an annotation alone makes nothing certain."""


def event_key(effect: Effect, at: int) -> tuple[int, str]:
    return (at, effect.value if TRAITS[effect].coexists else "")


def span_of(node: ir.Expr | None) -> int:
    return getattr(node, "at", 0) if node is not None else 0
