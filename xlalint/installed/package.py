"""Analyses one installed package: reads its files on demand, and answers each query with an engine of its own, so that
no result depends on another query."""

from __future__ import annotations

import os
from collections.abc import Iterator

from xlalint.facts.domain.values import UNKNOWN, Function, Value, function_value, instance, struct
from xlalint.facts.driver.partition import imported_source
from xlalint.facts.effect_traits import TRAITS
from xlalint.facts.engine.engine import ATTRIBUTE_DEPTH, Engine
from xlalint.facts.external import Called, Cost, ExternalSummary
from xlalint.facts.interpreter.instantiation import has_plain_bases
from xlalint.facts.kinds import LOOPS, RegionKind, SignKind
from xlalint.facts.options import Assumptions
from xlalint.facts.records import ROOT, FunctionKey, FunctionRecord, RawEvent, RegionKey, function_key
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.memo import Budget, Summary
from xlalint.program import ir
from xlalint.program.link import NothingCalled, Program, Symbol, dotted_name, source_root
from xlalint.program.lower import lower
from xlalint.program.syntax import Unparsable

SELDOM = frozenset({RegionKind.AMORTISED, RegionKind.RARE, RegionKind.EPOCH, RegionKind.CLOSURE, RegionKind.COLLATE})
"""Regions that most calls don't enter."""
STEPPING = frozenset({SignKind.BACKWARD, SignKind.OPTIMIZER_STEP, SignKind.BOUNDARY})
DEPTH = 8
"""Calls within calls that are evaluated."""
BOUND = 600
"""Evaluations that one question may cause."""
SOMEWHERE = 1
"""The place of a call, as a packed span."""
CALLS_BEFORE = 3
"""Calls of a method after which what it left in its object is taken for what later calls find there."""


class Package:
    """The files of one package in ``folder``, and the answers that they give. Nothing of it is imported."""

    def __init__(self, folder: str, name: str, assumptions: Assumptions) -> None:
        self.folder = folder
        self.name = name
        self.assumptions = assumptions
        self.importer = os.path.join(folder, f"{name}.py")
        self.files: dict[str, ir.ModuleIR | None] = {}
        """What was read, by path: None where it can't be."""
        self.program = Program(self.load, (folder,), NothingCalled(), frozenset({name}))
        self.caller = ir.FunctionIR("", "", 0, (), None, (), (), False, False, (), {}, "", self.importer, frozenset())

    def load(self, path: str) -> ir.ModuleIR | None:
        if path not in self.files:
            self.files[path] = lowered(path)
        return self.files[path]

    def symbol(self, name: str) -> Symbol:
        return self.program.dotted(name, self.importer)

    def kind_of(self, name: str) -> str:
        found = self.symbol(name)
        if isinstance(found, ir.FunctionIR):
            return "function"
        if not isinstance(found, ir.ClassIR):
            return ""
        if self.engine().is_module_class(found):
            return "module"
        if not has_plain_bases(list(self.program.external_bases(found))):
            return ""
        iterated = any(self.program.method(found, method) for method in ("__iter__", "__getitem__", "__len__"))
        return "" if iterated else "class"

    def engine(self) -> Engine:
        engine = Engine(self.program, self.assumptions)
        engine.cost_bound = BOUND
        engine.keeps_fields = True
        return engine

    # Answers

    def of_call(self, name: str, called: Called) -> ExternalSummary:
        symbol = self.symbol(name)
        if not isinstance(symbol, ir.FunctionIR):
            return NOTHING
        return self.summary(*self.called(self.engine(), function_value(symbol), called))

    def of_method(self, name: str, making: Called, method: str, called: Called) -> ExternalSummary | None:
        """A method of an object that was made so; "" for the call of the object itself."""
        cls = self.symbol(name)
        if not isinstance(cls, ir.ClassIR):
            return None
        engine = self.engine()
        found = self.method_of(cls, method, engine)
        if found is None:
            return None
        init = self.program.method(cls, "__init__")
        made = self.called(engine, function_value(init, instance(cls)), making)[1].writes if init is not None else {}
        for _ in range(CALLS_BEFORE):
            frame, answer = self.called(self.engine(), function_value(found, with_fields(cls, made)), called)
            later = {**made, **answer.writes}
            if later == made:
                break
            made = later
        return self.summary(frame, answer)

    def method_of(self, cls: ir.ClassIR, method: str, engine: Engine) -> ir.FunctionIR | None:
        """What runs for a method, or for a call of the object: ``forward`` where nothing else stands before it."""
        found = self.program.method(cls, method or "__call__")
        forward = self.program.method(cls, "forward") if not method and engine.is_module_class(cls) else None
        if forward is not None and (found is None or found.decorators):
            return forward
        return None if found is None or found.decorators else found

    def called(self, engine: Engine, callee: Function, called: Called) -> tuple[Frame, Summary]:
        """A call by a caller of which nothing is known but what it hands on."""
        frame = Frame(engine, self.caller, Environment(), None, Budget(DEPTH, ATTRIBUTE_DEPTH), called.no_grad)
        return frame, engine.call(frame, callee, called.arguments, called.keywords, SOMEWHERE)

    def summary(self, frame: Frame, answer: Summary) -> ExternalSummary:
        seen = Seen(frame)
        costs = [
            self.cost(key, event, surely) for key, event, surely in seen.events() if TRAITS[event.effect].in_package
        ]
        worst = max(costs, key=lambda cost: (cost.certainty, cost.place), default=None)
        return ExternalSummary(answer.value, worst, tuple(sorted(seen.signs & STEPPING)))

    def cost(self, key: FunctionKey, event: RawEvent, surely: bool) -> Cost:
        what = TRAITS[event.effect].in_package
        place = os.path.relpath(key[0], self.folder).replace(os.sep, "/")
        # The library that runs may be another version than the one that is read: never certain.
        certainty = min(event.certainty, 1) if surely and not (event.guards or event.undecided) else 0
        return Cost(what, f"{place}:{ir.unpack(event.at)[0]}", certainty)


NOTHING = ExternalSummary(UNKNOWN, None, ())


def with_fields(cls: ir.ClassIR, fields: dict[str, Value]) -> Value:
    return struct(cls, tuple(sorted(fields.items())))


class Seen:
    """What a frame's calls led to, wherever it stands in the library, but for what most calls don't come to."""

    def __init__(self, frame: Frame) -> None:
        self.records = {function_key(function): record for function, record in frame.engine.records.items()}
        self.signs: set[SignKind] = set()
        self.reached: dict[FunctionKey, bool] = {}
        """Functions that are called each time → whether no test stands before it."""
        self.follow(frame.record, True)

    def follow(self, record: FunctionRecord, surely: bool) -> None:
        if surely:
            self.signs.update(sign.kind for sign in record.signs if sign.region == ROOT)
        for edge in record.calls:
            if each_time(record, edge.region):
                self.reach(edge.callee, surely and not edge.undecided)

    def reach(self, key: FunctionKey, surely: bool) -> None:
        known, record = self.reached.get(key), self.records.get(key)
        if record is None or known is True or known is surely:
            return
        self.reached[key] = surely
        self.follow(record, surely)

    def events(self) -> Iterator[tuple[FunctionKey, RawEvent, bool]]:
        for key, surely in self.reached.items():
            record = self.records[key]
            for event in record.events.values():
                if not event.backward_only and each_time(record, event.region):
                    yield key, event, surely


def each_time(record: FunctionRecord, region: RegionKey) -> bool:
    """What leaves a loop is done once, after many turns that did not come to it; what leaves the function is done."""
    leaves = False
    while region in record.regions:
        if region[0] in SELDOM or (leaves and region[0] in LOOPS):
            return False
        leaves = leaves or region[0] == RegionKind.LEAVING
        region = record.regions[region].parent
    return True


def lowered(path: str) -> ir.ModuleIR | None:
    """A file of a library; None where it can't be read."""
    source = imported_source(path)
    try:
        return None if source is None else lower(source, *dotted_name(path, source_root(path)))
    except (Unparsable, RecursionError):
        return None
