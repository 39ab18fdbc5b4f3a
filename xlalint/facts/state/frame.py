"""The evaluation of one function in one context: its environment, where it stands, what it leaves behind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from xlalint.facts.domain.values import TRUE, UNKNOWN, Function, KnownObject, LoopKey, Value, tensor_of
from xlalint.facts.effect_traits import TRAITS
from xlalint.facts.events import Effect, Place
from xlalint.facts.external import Follower
from xlalint.facts.failures import Failure
from xlalint.facts.kinds import CALLS_OF_MODELS, LOOPS, RegionKind, SignKind
from xlalint.facts.options import Assumptions
from xlalint.facts.records import (
    ANY_PARAMETER,
    ROOT,
    CallEdge,
    FunctionKey,
    FunctionRecord,
    RawEvent,
    Region,
    RegionKey,
    Sign,
)
from xlalint.facts.state.call import Arguments, Call, Keywords
from xlalint.facts.state.environment import CLEAN, Environment
from xlalint.facts.state.memo import Budget, Summary
from xlalint.knowledge.ops import OpTable
from xlalint.program import ir
from xlalint.program.link import GlobalName, Program

Evaluation: TypeAlias = "Callable[[Frame, Any], Value]"
"""How an expression of one type is evaluated."""
Reveal: TypeAlias = Callable[[str, int, Value], None]
"""Told the path, the line and the argument of each ``reveal(x)`` that is evaluated; tests of facts set it."""


class Evaluator(ABC):
    """What the evaluation of one function asks of the program around it. The engine answers.

    Each answer is a function of the program, the question and the budget that stands in the frame: none reads what
    another has left. What evaluates expressions, statements and calls is handed in here, so that no room below the
    interpreter imports it.
    """

    program: Program
    assumptions: Assumptions
    records: dict[ir.FunctionIR, FunctionRecord]
    failures: dict[Failure, None]
    reveal: Reveal | None
    promised: dict[ir.Parameter, Value]
    work: int
    keeps_fields: bool
    expressions: Mapping[type[ir.Expr], Evaluation]

    @staticmethod
    @abstractmethod
    def show(value: Value) -> str: ...

    @staticmethod
    @abstractmethod
    def execute(frame: Frame, block: ir.Block) -> None: ...

    @staticmethod
    @abstractmethod
    def assign(frame: Frame, target: ir.Expr, value: Value, source: ir.Expr | None) -> None: ...

    @staticmethod
    @abstractmethod
    def apply(frame: Frame, callee: Value, call: Call) -> Value:
        """What calling any value gives."""

    @staticmethod
    @abstractmethod
    def role_attribute(value: KnownObject, name: str) -> Value: ...

    @property
    @abstractmethod
    def torch_version(self) -> str: ...

    @property
    @abstractmethod
    def is_spent(self) -> bool: ...

    @abstractmethod
    def ops_of(self, path: str) -> OpTable: ...

    @abstractmethod
    def definitions_seen_by(self, function: ir.FunctionIR) -> Environment: ...

    @abstractmethod
    def follower_of(self, path: str) -> Follower | None: ...

    # Queries about functions

    @abstractmethod
    def call(self, frame: Frame, callee: Function, arguments: Arguments, keywords: Keywords, at: int) -> Summary:
        """What a function of the program gives and leaves behind."""

    @abstractmethod
    def invoke(self, frame: Frame, callee: Function, arguments: Arguments, keywords: Keywords, at: int) -> Value: ...

    @abstractmethod
    def default(self, node: ir.Expr, function: ir.FunctionIR) -> Value: ...

    @abstractmethod
    def annotated(self, node: ir.Expr | None, path: str) -> Value | None: ...

    # Queries about names, classes and attributes

    @abstractmethod
    def global_value(self, frame: Frame, symbol: GlobalName) -> Value: ...

    @abstractmethod
    def module_attribute(self, frame: Frame, path: str, dotted: str, name: str) -> Value: ...

    @abstractmethod
    def attribute_value(self, frame: Frame, cls: ir.ClassIR, name: str) -> Value | None: ...

    @abstractmethod
    def class_value(self, frame: Frame, cls: ir.ClassIR, name: str) -> Value | None: ...

    @abstractmethod
    def class_names(self, cls: ir.ClassIR) -> tuple[str, ...]: ...

    @abstractmethod
    def is_module_class(self, cls: ir.ClassIR) -> bool: ...

    @abstractmethod
    def instance_of(self, cls: ir.ClassIR) -> Value: ...

    # Statements

    @abstractmethod
    def enter(self, frame: Frame, expression: ir.Expr) -> tuple[Value, RegionKind | None]: ...

    @abstractmethod
    def iterated(self, frame: Frame, node: ir.For) -> Value: ...


class Frame:
    def __init__(
        self,
        engine: Evaluator,
        function: ir.FunctionIR,
        environment: Environment,
        receiver: Value | None,
        depth: Budget,
        no_grad: bool = False,
    ) -> None:
        self.engine = engine
        self.expressions = engine.expressions
        self.function = function
        self.path = function.module
        self.ops = engine.ops_of(self.path)
        self.definitions = engine.definitions_seen_by(function)
        self.environment: Environment | None = environment
        self.receiver = receiver
        self.depth = depth
        self.no_grad = no_grad
        self.record = FunctionRecord()
        self.writes: dict[str, Value] = {}
        self.registered: set[str] = set()
        """Attributes that are buffers or states: these stay what they were registered as."""
        self.result: Value | None = None
        self.yielded: Value | None = None
        self.final: Environment | None = None
        self.region: RegionKey = ROOT
        self.statement = 0
        self.guards: tuple[int, ...] = ()
        self.undecided = 0
        """How many arms of tests of which nothing is known stand around this place."""
        self.origins: dict[str, int] = {}
        self.known_globals: Environment | None = {} if function.name == "<module>" else None
        """The last known value of each top-level name: what functions see that are called in between."""
        self.breaks: list[Environment] = []
        self.continues: list[Environment] = []
        self.globals: frozenset[str] = frozenset()
        self.quiet = 0
        self.rows: frozenset[str] = frozenset()
        """Names that hold one row of a tensor after the other, in the loops around this place."""
        self.remembers = False
        """Some name holds what is true every k-th time."""
        self.by_signature = False
        self.heeds_signature = False
        """Whether ``given_by_signature`` was asked."""
        self.stands_for_device = False
        self.cost = 1
        self.closures: dict[Function, None] = {}
        self.loops = 0
        self.called_at: set[int] = set()

    # Evaluation

    def evaluate(self, node: ir.Expr) -> Value:
        return self.expressions[type(node)](self, node)

    def call(self, callee: Value, call: Call) -> Value:
        """What calling a value gives."""
        return self.engine.apply(self, callee, call)

    @property
    def env(self) -> Environment:
        """The environment of a place that can be reached."""
        assert self.environment is not None
        return self.environment

    def lookup(self, path: str) -> Value | None:
        return self.env.get(path)

    def bind(self, path: str, value: Value) -> None:
        environment = self.environment
        assert environment is not None
        environment[path] = value
        self.origins[path] = self.statement
        if self.known_globals is not None and value is not UNKNOWN:
            self.known_globals[path] = value

    def bound_on(self, name: str) -> int:
        """The line on which this function last bound a name; 0 where it was given."""
        return ir.unpack(self.origins.get(name, 0))[0]

    def given_by_signature(self) -> bool:
        """No call gave the arguments: they are what the signature promises."""
        self.heeds_signature = True
        return self.by_signature

    # What is left behind

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
    ) -> None:
        if self.quiet:
            return
        known = tensor_of(value)
        if known is not None:
            certainty = min(certainty, known.certainty)
        if self.guards:
            certainty = min(certainty, 1)
        event = RawEvent(
            effect,
            subject,
            at,
            self.statement,
            span_of(operand),
            self.engine.show(value),
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
        )
        self.record_event(event)

    def record_event(self, event: RawEvent) -> None:
        """One place gives one event: the first that costs for sure."""
        key = (event.at, "" if not TRAITS[event.effect].coexists else event.effect.value)
        known = self.record.events.get(key)
        surer = known is not None and known.certainty < event.certainty
        if known is None or (surer and (known.effect is event.effect or known.certainty == 0)):
            self.record.events[key] = event

    def mark_form(self, node: ir.Expr | None, effect: Effect, form: str) -> None:
        """What stands around a place that was just read tells which fix fits it."""
        key = (span_of(node), "")
        known = self.record.events.get(key)
        if known is not None and known.effect is effect and not known.form:
            self.record.events[key] = msgspec.structs.replace(known, form=form)

    def place(self) -> Place:
        env = self.environment
        if env is not None and CLEAN in env:
            return Place.AFTER_BOUNDARY
        return Place.BEFORE_BOUNDARY

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
        if self.environment is not None:
            self.environment.pop(CLEAN, None)

    def after_call(self, answer: Summary) -> None:
        """Whether the device has work after a call is what the callee leaves."""
        if self.environment is not None and answer.clean:
            self.environment[CLEAN] = TRUE
        else:
            self.pending()

    def boundary(self, at: int) -> None:
        self.sign(SignKind.BOUNDARY, at)
        if self.environment is not None:
            self.environment[CLEAN] = TRUE

    def inside(self, kind: RegionKind, at: int, over: str = "", text: int = 0) -> Inside:
        """Everything evaluated in here belongs to a region of its own."""
        key = (kind, at)
        known = self.record.regions.get(key)
        if known is None or known.over < over:
            self.record.regions[key] = Region(key, self.region, over, text)
        return Inside(self, key)

    def over_parameters(self) -> bool:
        """In a loop over a model's parameters."""
        key = self.region
        while key != ROOT:
            region = self.record.regions[key]
            if region.over == "parameters":
                return True
            key = region.parent
        return False

    def outermost_loop(self) -> int:
        """The line on which the outermost loop around this place begins; 0 where there is none."""
        first, key = 0, self.region
        while key in self.record.regions:
            if key[0] in LOOPS:
                first = ir.unpack(key[1])[0]
            key = self.record.regions[key].parent
        return first

    def loop_key(self) -> LoopKey | None:
        """The innermost loop around this place."""
        if not self.loops:
            return None
        key: RegionKey | None = self.region
        while key is not None and key != ROOT:
            if key[0] in LOOPS:
                return (self.path, self.function.qualname, ir.unpack(key[1])[0])
            region = self.record.regions.get(key)
            key = None if region is None else region.parent
        return None


class Inside:
    """The region that a frame stands in, for the time of a ``with``. Written out: it is entered for most branches."""

    __slots__ = ("frame", "key", "loops", "outer")

    def __init__(self, frame: Frame, key: RegionKey) -> None:
        self.frame = frame
        self.key = key
        self.outer = frame.region
        self.loops = frame.loops

    def __enter__(self) -> None:
        self.frame.region = self.key
        if self.key[0] in LOOPS:
            self.frame.loops += 1

    def __exit__(self, *error: object) -> None:
        self.frame.region = self.outer
        self.frame.loops = self.loops


def span_of(node: ir.Expr | None) -> int:
    return getattr(node, "at", 0) if node is not None else 0
