"""The engine answers queries: what a function returns for its arguments, what an attribute holds, what a global is.

Every query is a pure function of the program. Its depth is bounded by budgets that are part of the question; an
answer that never met a bound holds for every budget that covers what it needed. So no answer depends on what was
asked before, and files may be analysed in any order and in any number of processes.
"""

from __future__ import annotations

from xlalint.facts.domain.display import show
from xlalint.facts.domain.known_names import COUNTER_NAMES, COUNTER_SUFFIXES, UNEVALUATED_DECORATORS
from xlalint.facts.domain.lattice import join_maybe, sequence
from xlalint.facts.domain.refinement import at_most, without_gradient
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    INT,
    NONE,
    UNKNOWN,
    Bound,
    Function,
    Host,
    Instance,
    KnownObject,
    Namespace,
    Struct,
    Value,
    batch_on,
    instance,
    known_object,
)
from xlalint.facts.engine.annotations import annotated
from xlalint.facts.engine.attributes import CALL_DEPTH_FOR_ATTRIBUTES, ONLY_CONSTANTS
from xlalint.facts.engine.binding import bind_call, bind_signature, is_loader_name
from xlalint.facts.engine.contradiction import SIGNATURE, Contradictions
from xlalint.facts.engine.function_kinds import (
    NO_GRAD_DECORATORS,
    is_close,
    is_fixture,
    is_scripted,
    is_vmapped,
    is_without_grad,
)
from xlalint.facts.engine.globals import Globals
from xlalint.facts.engine.outcome import holds_numbers, is_guessed, left_in_object, with_later_names
from xlalint.facts.engine.skipped_tests import SkippedTests
from xlalint.facts.external import Follower
from xlalint.facts.failures import Failure
from xlalint.facts.guards.optional_arguments import is_given_no_data, optional_given
from xlalint.facts.heat.entry_points import inherited_entries
from xlalint.facts.interpreter.assignment import assign
from xlalint.facts.interpreter.calls import apply
from xlalint.facts.interpreter.decorators import note_decorators
from xlalint.facts.interpreter.expressions import EXPRESSIONS
from xlalint.facts.interpreter.statements import execute
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.facts.libraries.installed.followed_calls import INSTALLED
from xlalint.facts.libraries.roles import role_attribute
from xlalint.facts.operations.given_objects import left_in_given
from xlalint.facts.operations.placement import made_on_host, tells_no_device
from xlalint.facts.options import Assumptions
from xlalint.facts.records import ROOT, FunctionRecord, Sign, function_key
from xlalint.facts.state.environment import Environment, Names
from xlalint.facts.state.frame import Frame, Reveal
from xlalint.facts.state.memo import Budget, Memo, Summary, summary_of
from xlalint.facts.state.work_bound import WorkBound
from xlalint.knowledge.ops import OpTable, load_ops
from xlalint.program import ir
from xlalint.program.link import Program
from xlalint.program.traversal import called_name, decorator_names, last_name

CALL_DEPTH = 3
ATTRIBUTE_DEPTH = 2
COST_BOUND = 6000
"""Evaluations that one query may cause before its further calls are answered by annotations."""


class Engine(Globals):
    expressions = EXPRESSIONS
    execute = staticmethod(execute)
    assign = staticmethod(assign)
    apply = staticmethod(apply)
    role_attribute = staticmethod(role_attribute)
    show = staticmethod(show)

    def __init__(self, program: Program, assumptions: Assumptions) -> None:
        super().__init__(program)
        self.assumptions = assumptions
        self.records: dict[ir.FunctionIR, FunctionRecord] = {}
        self.watched: Frame | None = None
        self.reveal: Reveal | None = None
        self.cost_bound = COST_BOUND
        self.work = WorkBound()
        self.keeps_fields = False
        """Whether modules are known by how they were made, and not by their classes alone."""
        self.promised: dict[ir.Parameter, Value] = {}
        """What signatures tell of parameters."""
        self.failures: dict[Failure, None] = {}
        """Calls into packages of which nothing could be found out."""
        self._definitions: dict[tuple[str, bool], Names] = {}
        self._answers = Memo()
        self._attributes: dict[tuple[ir.ClassIR, str], list[tuple[int, Value | None, Summary]]] = {}
        self._annotations: dict[tuple[int, str], Value | None] = {}
        self._defaults: dict[ir.Expr, Value] = {}
        self.contradictions = Contradictions(self)
        self.skipped_tests = SkippedTests(self)
        self._ops = assumptions.ops or load_ops()

    def ops_of(self, path: str) -> OpTable:
        """What ops cost in a file."""
        return self.assumptions.ops_by_file.get(path, self._ops)

    @property
    def torch_version(self) -> str:
        """The version that the code is run with: the user's, else the one that ops were measured with."""
        return self.assumptions.torch_version or self._ops.header.get("torch", "2")

    def follower_of(self, path: str) -> Follower | None:
        """Who follows a file's calls into installed packages."""
        return self.assumptions.follower_by_file.get(path, self.assumptions.follower)

    # Files and functions

    def begin_file(self) -> None:
        """What comes is done for another file, which may cost as much as the last."""
        self.work = WorkBound()

    def analyse(self, function: ir.FunctionIR) -> None:
        """Evaluate a function for its own sake, and the functions that it defines and hands on."""
        if self.skipped_tests.holds(function):
            return
        if function.name == "__init__":
            self.root(function, CALL_DEPTH_FOR_ATTRIBUTES, ATTRIBUTE_DEPTH - 1)
        else:
            self.root(function, CALL_DEPTH, ATTRIBUTE_DEPTH)

    def analyse_inherited(self, cls: ir.ClassIR) -> None:
        """Evaluate the entries that a class inherits where they lead to its own methods: only there is seen what those
        are given."""
        bases = [base for base in self.program.mro(cls)[1:] if isinstance(base, ir.ClassIR)]
        for name in sorted({name for base in bases for name in inherited_entries() & base.methods.keys()}):
            function = self.program.method(cls, name)
            owner = self.program.owner(function) if function is not None else None
            if function is None or owner is None or owner is cls:
                continue
            if not cls.methods.keys().isdisjoint(self.program.reached_names(owner, name)):
                self.root(function, CALL_DEPTH, ATTRIBUTE_DEPTH, of=cls)

    def root(
        self,
        function: ir.FunctionIR,
        calls: int,
        attributes: int,
        closure: Function | None = None,
        seed: tuple[str, Value] | None = None,
        of: ir.ClassIR | None = None,
    ) -> Summary:
        """The function in the context that its signature and its place suggest.

        ``seed`` is what an attribute of ``self`` holds when the function starts, ``of`` the class of ``self`` where it
        is not the method's own.
        """
        key = (function, "root", closure, seed, of)
        answer = self._answers.get(key, calls, attributes)
        if answer is not None:
            return answer
        environment, receiver = bind_signature(self, function, closure, of)
        if seed is not None:
            environment[f"self.{seed[0]}"] = seed[1]
        no_grad = is_without_grad(function) or self.tells_own_gradient(function)
        without_data = is_given_no_data(function, environment, receiver)
        same_call = (function, receiver, (), no_grad, False, tuple(environment.values()))
        is_plain = closure is None and seed is None
        answer = self._answers.get(same_call, calls, attributes) if is_plain else None
        if answer is None or answer.heeds_signature:
            answer = self.run(function, environment, receiver, Budget(calls, attributes), no_grad, by_signature=True)
            if is_plain and not answer.heeds_signature:
                self._answers.put(same_call, calls, attributes, answer)
        if without_data:
            self.records[function].signs[Sign(SignKind.GIVEN_NO_DATA, ROOT, 0)] = None
        self._answers.put(key, calls, attributes, answer)
        return answer

    def invoke(
        self,
        frame: Frame,
        callee: Function,
        arguments: list[Value],
        keywords: dict[str, Value],
        at: int,
    ) -> Value:
        """What a call of a program's function returns; its writes to ``self`` are the caller's to apply."""
        return self.call(frame, callee, arguments, keywords, at).value

    def call(
        self,
        frame: Frame,
        callee: Function,
        arguments: list[Value],
        keywords: dict[str, Value],
        at: int,
    ) -> Summary:
        function = callee.ir
        at = at or frame.statement
        depth = frame.depth
        decorators = decorator_names(function)
        if not decorators.isdisjoint(UNEVALUATED_DECORATORS) or self.is_set_up(function):
            frame.edge(function_key(function), at)
            return summary_of(self.returned(function))
        if depth.calls <= (0 if is_close(function) else 1) or frame.cost > self.cost_bound:
            frame.edge(function_key(function), at)
            depth.cut_calls()
            return summary_of(self.promised_of(callee, arguments, keywords))
        if callee.receiver is not None:
            callee = self.generalised(callee)
        environment, receiver = bind_call(self, frame, callee, arguments, keywords)
        frame.edge(function_key(function), at, optional_given(function, environment))
        self.note_given(frame.function, function, environment)
        if frame.env.is_clean:
            environment.is_clean = True
        no_grad = frame.no_grad or not decorators.isdisjoint(NO_GRAD_DECORATORS) or self.tells_own_gradient(function)
        key = (function, receiver, callee.captured, no_grad, environment.is_clean, tuple(environment.values()))
        calls, attributes = depth.calls - 1, depth.attributes
        answer = self._answers.get(key, calls, attributes)
        if answer is None:
            answer = self.run(function, environment, receiver, Budget(calls, attributes), no_grad)
            self._answers.put(key, calls, attributes, answer)
        depth.used(answer, answer.calls + 1, answer.attributes)
        frame.cost += answer.cost
        return answer

    def note_given(self, caller: ir.FunctionIR, function: ir.FunctionIR, environment: Environment) -> None:
        outcome = self.contradictions.outcome(caller, function, environment)
        if outcome is not None:
            self.records.setdefault(function, FunctionRecord()).outcomes[outcome] = None

    def run(
        self,
        function: ir.FunctionIR,
        environment: Environment,
        receiver: Value | None,
        depth: Budget,
        no_grad: bool,
        by_signature: bool = False,
    ) -> Summary:
        frame = Frame(self, function, environment, receiver, depth, no_grad)
        frame.by_signature = by_signature
        if by_signature and self.contradictions.promised(function):
            frame.arms = (SIGNATURE,)
        if is_vmapped(function) or (by_signature and is_scripted(function)):
            frame.quiet = 1
        if function.decorators:
            note_decorators(frame, function)
            if is_fixture(function):
                frame.surest = 0
        execute(frame, function.body)
        self.evaluate_escaping_closures(frame)
        merged = self.records.get(function)
        if merged is None:
            merged = self.records[function] = FunctionRecord()
        if function.name != "<module>" or depth.calls >= CALL_DEPTH or (depth.whole_calls and depth.whole_attributes):
            # What was asked for names of the file and was cut short says less than what is evaluated for its own sake.
            merged.merge(frame.record)
        value = without_gradient(self.value_of(frame)) if no_grad else self.value_of(frame)
        if function.returns is not None and (value is UNKNOWN or is_guessed(value)):
            value = self.told_by_annotation(function, value)
        final = frame.final if frame.environment is None else frame.environment
        names = NO_NAMES
        if frame.known_globals is not None:
            last = () if final is None else final.items()
            names = {**frame.known_globals, **{name: value for name, value in last if value is not UNKNOWN}}
        return Summary(
            value,
            left_in_object(frame) or NO_NAMES,
            names,
            final is not None and final.is_clean,
            depth.needed_calls,
            depth.needed_attributes,
            depth.whole_calls,
            depth.whole_attributes,
            frame.cost,
            left_in_given(frame),
            frame.heeds_signature,
        )

    def value_of(self, frame: Frame) -> Value:
        value = frame.result
        if frame.yielded is not None or frame.function.is_generator:
            return sequence("list", None, frame.yielded)
        if frame.environment is not None:
            value = join_maybe(value, NONE)
        return UNKNOWN if value is None else value

    def evaluate_escaping_closures(self, frame: Frame) -> None:
        """A nested function that is never called here is handed to someone: evaluate it by its signature."""
        called = {edge.callee for edge in frame.record.calls}
        for closure in frame.closures:
            if function_key(closure.ir) in called or frame.depth.calls <= 0:
                continue
            closure = with_later_names(closure, frame.final if frame.environment is None else frame.environment)
            answer = self.root(closure.ir, frame.depth.calls - 1, frame.depth.attributes, closure)
            frame.depth.used(answer, answer.calls + 1, answer.attributes)

    def told_by_annotation(self, function: ir.FunctionIR, value: Value) -> Value:
        """What is unknown is what the annotation says; what is only guessed to be a tensor is a number if that says
        so."""
        returned = self.returned(function)
        return returned if value is UNKNOWN or holds_numbers(returned) else value

    def returned(self, function: ir.FunctionIR) -> Value:
        """What the annotation says that a function returns, where nothing else tells: it is likely, and no more."""
        return at_most(self.annotated(function.returns, function.module) or UNKNOWN, 1)

    def promised_of(self, callee: Function, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """The same of a call: what is made of words, numbers and tensors of the host alone is made there."""
        value = self.returned(callee.ir)
        given = [*callee.bound, *arguments, *keywords.values()]
        if callee.receiver is None and given and all(map(tells_no_device, given)):
            return made_on_host(value)
        return value

    def annotated(self, node: ir.Expr | None, path: str) -> Value | None:
        if node is None:
            return None
        key = (id(node), path)
        if key not in self._annotations:
            self._annotations[key] = annotated(self, node, path)
        return self._annotations[key]

    def default(self, node: ir.Expr, function: ir.FunctionIR) -> Value:
        """The value of a parameter's default, evaluated at the top level of its file.

        Asked without a budget, so it may lead to nothing that could ask for it again: no calls, no class values,
        and of the globals only those that one expression gives.
        """
        known = self._defaults.get(node)
        if known is None:
            frame = Frame(self, function, Environment(), None, Budget(0, ONLY_CONSTANTS))
            frame.quiet = 1
            known = self._defaults[node] = frame.evaluate(node)
        return known

    # Statements that need more than one room

    def enter(self, frame: Frame, expression: ir.Expr) -> tuple[Value, RegionKind | None]:
        """What a ``with`` item binds, and the kind of region that its body is."""
        value = frame.evaluate(expression)
        if type(value) is KnownObject:
            if value.role == Role.CONTEXT:
                off = value.detail in ("no_grad", "inference_mode")
                return UNKNOWN, RegionKind.EVALUATION if off else None
            if value.role == Role.BOUNDARY_CONTEXT:
                is_trace = value.detail == "StepTrace"
                return UNKNOWN, RegionKind.STEP_TRACE if is_trace else RegionKind.BOUNDARY_CONTEXT
            return value, None
        return (value if type(value) in (Instance, Struct, Host) else UNKNOWN), None

    def iterated(self, frame: Frame, node: ir.For) -> Value:
        """What a ``for`` iterates; a loader's name is taken for a loader where nothing else is known."""
        value = frame.evaluate(node.iterable)
        unknown = value is UNKNOWN or (type(value) is KnownObject and value.role == INSTALLED)
        if not unknown and type(value) not in (Bound, Namespace):
            return value
        expression, counted = node.iterable, False
        while type(expression) is ir.Call and expression.arguments:
            counted = counted or called_name(expression) == "enumerate"
            expression = expression.arguments[0]
        name = last_name(expression)
        if not name or not is_loader_name(self, name):
            return value
        batch = batch_on(None)
        wrapped = expression is not node.iterable
        if counted or (wrapped and takes_counter(node.target)):
            return known_object(Role.LOADER, sequence("tuple", (INT, batch)))
        return known_object(Role.LOADER, batch)

    # Objects

    def instance_of(self, cls: ir.ClassIR) -> Value:
        return instance(cls)


def takes_counter(target: ir.Expr) -> bool:
    """``for batch_idx, batch in wrapped(loader)``: a wrapper nobody knows that counts."""
    if type(target) is not ir.Display or len(target.elements) != 2:
        return False
    first, second = target.elements
    if type(first) is not ir.Name:
        return False
    is_counter = first.name in COUNTER_NAMES or first.name.endswith(COUNTER_SUFFIXES)
    return is_counter or type(second) is ir.Display


NO_NAMES: Names = {}
"""Shared by all that leaves no names behind; nobody writes to it."""
