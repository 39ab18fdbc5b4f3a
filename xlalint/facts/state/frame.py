"""The frame of one evaluation, and the evaluator that answers its queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from xlalint.facts.domain.values import UNKNOWN, Function, KnownObject, Value
from xlalint.facts.external import Follower
from xlalint.facts.failures import Failure
from xlalint.facts.kinds import RegionKind
from xlalint.facts.options import Assumptions
from xlalint.facts.records import (
    FunctionRecord,
)
from xlalint.facts.state.call import Arguments, Call, Keywords
from xlalint.facts.state.environment import Environment, Names
from xlalint.facts.state.memo import Budget, Summary
from xlalint.facts.state.met_arms import Flag, MetArms
from xlalint.facts.state.recorder import Recorder
from xlalint.facts.state.work_bound import WorkBound
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
    work: WorkBound
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

    @abstractmethod
    def ops_of(self, path: str) -> OpTable: ...

    @abstractmethod
    def definitions_seen_by(self, function: ir.FunctionIR) -> Names: ...

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
    def computes_elsewhere(self, path: str) -> bool:
        """Whether what a file computes with are the arrays of another framework than torch."""

    @abstractmethod
    def instance_of(self, cls: ir.ClassIR) -> Value: ...

    # Statements

    @abstractmethod
    def enter(self, frame: Frame, expression: ir.Expr) -> tuple[Value, RegionKind | None]: ...

    @abstractmethod
    def iterated(self, frame: Frame, node: ir.For) -> Value: ...


class Frame(Recorder):
    """The evaluation of one function in one context."""

    def __init__(
        self,
        engine: Evaluator,
        function: ir.FunctionIR,
        environment: Environment,
        receiver: Value | None,
        depth: Budget,
        no_grad: bool = False,
    ) -> None:
        super().__init__(function, environment, engine.show)
        self.engine = engine
        self.expressions = engine.expressions
        self.ops = engine.ops_of(self.path)
        self.definitions = engine.definitions_seen_by(function)
        self.receiver = receiver
        self.depth = depth
        self.no_grad = no_grad
        self.writes: Names = {}
        self.fields_given: dict[str, Names] = {}
        """The fields of parameters that were set."""
        self.filled: set[str] = set()
        """The parameters that were appended to, or whose entries were set."""
        self.registered: set[str] = set()
        """Attributes that are buffers or states: these stay what they were registered as."""
        self.result: Value | None = None
        self.yielded: Value | None = None
        self.final: Environment | None = None
        self.known_globals: Names | None = {} if function.name == "<module>" else None
        """The last known value of each top-level name: what functions see that are called in between."""
        self.breaks: list[Environment] = []
        self.continues: list[Environment] = []
        self.globals: frozenset[str] = frozenset()
        self.heeds_signature = False
        """Whether ``given_by_signature`` was asked."""
        self.stands_for_device = False
        self.on_host: frozenset[str] | None = None
        """The names that hold modules which lie on the host; None before anybody asks."""
        self.cost = 1
        self.closures: dict[Function, None] = {}
        self.met_arms: dict[Flag, MetArms] = {}

    def evaluate(self, node: ir.Expr) -> Value:
        return self.expressions[type(node)](self, node)

    def call(self, callee: Value, call: Call) -> Value:
        """What calling a value gives."""
        return self.engine.apply(self, callee, call)

    def lookup(self, path: str) -> Value | None:
        return self.env.get(path)

    def bind(self, path: str, value: Value) -> None:
        environment = self.environment
        assert environment is not None
        environment[path] = value
        self.origins[path] = self.statement
        if self.met_arms:
            self.met_arms.pop((path, False), None)
            self.met_arms.pop((path, True), None)
        if self.known_globals is not None and value is not UNKNOWN:
            self.known_globals[path] = value

    def given_by_signature(self) -> bool:
        """No call gave the arguments: they are what the signature promises."""
        self.heeds_signature = True
        return self.by_signature

    def after_call(self, answer: Summary) -> None:
        """Whether the device has work after a call is what the callee leaves."""
        if self.environment is not None and self.environment.is_clean is not answer.clean:
            self.environment.is_clean = answer.clean
