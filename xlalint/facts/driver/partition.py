"""One process's partition of the files: it lowers them, then evaluates their functions."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from xlalint.facts.detectors.graph_breaks import is_turned_off
from xlalint.facts.domain.known_names import is_module_base
from xlalint.facts.driver.called_names import CalledByRoot
from xlalint.facts.driver.counters import Count, uncounted
from xlalint.facts.driver.file_index import Evaluated, Index
from xlalint.facts.driver.ir_exchange import pack_module, unpack_module
from xlalint.facts.driver.workspace import MAX_IMPORTED, Surroundings, Workspace
from xlalint.facts.driver.xla_reach import needed_for_cuda, reaches_xla
from xlalint.facts.effect_traits import TRAITS
from xlalint.facts.engine.engine import Engine
from xlalint.facts.engine.function_kinds import is_without_grad
from xlalint.facts.failures import Failure, reason_of
from xlalint.facts.kinds import LOOPS
from xlalint.facts.records import FunctionKey, FunctionRecord, RawEvent, RegionKey, function_key
from xlalint.facts.regions import CONSTRUCTORS, FunctionFacts, regions_around
from xlalint.program import ir
from xlalint.program.link import Program, dotted_name, source_root
from xlalint.program.lower import lower
from xlalint.program.syntax import Unparsable
from xlalint.program.traversal import decorator_names
from xlalint.sources.read import read
from xlalint.sources.screen import COSTLY_CALLS, imports_torch
from xlalint.sources.source import Source, Unreadable

RECURSION_LIMIT = 12_000
DEPTH_OF_SIGNS = 4
"""Calls by which a loop may lead to what tells that it is one of steps."""


class ProjectCalls:
    """The names of all that is called in a project: ``known`` in the files that are analysed; the others are asked when
    a name comes up."""

    def __init__(self, known: CalledByRoot, around: Surroundings, part: Partition) -> None:
        self.known = known
        self.around = around
        self.part = part
        self.asked: dict[str, bool] = {}
        self.called: dict[str, frozenset[str]] = {}

    def __contains__(self, name: object) -> bool:
        if name in self.known or not isinstance(name, str):
            return name in self.known
        if name not in self.asked:
            calling = (path for path in self.around.calling(name) if path not in self.part.sources)
            self.asked[name] = any(name in self.called_in(path) for path in calling)
        return self.asked[name]

    def near(self, name: str, root: str) -> bool:
        """A project is one tree."""
        return name in self

    def called_in(self, path: str) -> frozenset[str]:
        if path not in self.called:
            module = self.part.lowered(path)
            functions = () if module is None else module.everything
            self.called[path] = frozenset().union(*(function.called for function in functions))
        return self.called[path]


def called_in_loops(record: FunctionRecord) -> Iterator[FunctionKey]:
    looping = {key for key in record.regions if within_loop(record, key)}
    return (edge.callee for edge in record.calls if edge.region in looping)


def within_loop(record: FunctionRecord, region: RegionKey) -> bool:
    return any(kind in LOOPS for kind, _ in regions_around(record.regions, region))


class Partition:
    """The files of one process: ``own`` are those that it answers for, ``left_out`` those that nobody may read."""

    def __init__(self, workspace: Workspace, own: Iterable[str], left_out: frozenset[str] = frozenset()) -> None:
        self.workspace = workspace
        self.sources = workspace.sources
        self.own = sorted(own)
        self.left_out = left_out
        self.assumptions = workspace.assumptions
        self.counter = uncounted()
        """Told each file that the process comes to, and all that it has done."""
        self.modules: dict[str, ir.ModuleIR | None] = {}
        self.borrowed: dict[str, bytes] = {}
        """Files that another process has lowered, packed."""
        self.failures: dict[Failure, None] = {}
        sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION_LIMIT))

    def lower(self) -> Index:
        called: dict[str, set[str]] = {}
        roots: dict[str, str] = {}
        imports: dict[str, tuple[str, ...]] = {}
        xla: dict[str, bool] = {}
        cuda: dict[str, str] = {}
        for path in self.own:
            self.counter.begin(path)
            module = self.lowered(path)
            self.counter.add(Count.LOWERED)
            if module is not None:
                self.counter.add(Count.FUNCTIONS, len(module.everything))
                roots[path] = root = source_root(path)
                called.setdefault(root, set()).update(*(function.called for function in module.everything))
                imports[path] = (*sorted(set(module.imports.values())), *module.star_imports)
                reaches = reaches_xla(module)
                if reaches is not None:
                    xla[path] = reaches
                package = needed_for_cuda(module)
                if package:
                    cuda[path] = package
        return Index({root: frozenset(names) for root, names in called.items()}, imports, xla, cuda, roots)

    def lower_around(self) -> list[Index]:
        """What a run over the whole project knows of the files that this one does not analyse, as far as it tells who
        runs with torch_xla."""
        around = self.workspace.surroundings
        if around is None:
            return []
        others = sorted(around.files - self.sources.keys())
        naming = {file.path for file in around.index.mentioning(b"torch_xla")}
        xla: dict[str, bool] = {}
        for path in others:
            module = self.lowered(path) if path in naming else None
            reaches = None if module is None else reaches_xla(module)
            if reaches is not None:
                xla[path] = reaches
        imports = {path: tuple(around.graph.names(path)) for path in others} if naming else {}
        return [Index({}, imports, xla)]

    def lowered(self, path: str) -> ir.ModuleIR | None:
        if path not in self.modules:
            self.modules[path] = self.load(path)
        return self.modules[path]

    def lend(self, asked: Iterable[str]) -> dict[str, bytes]:
        """Those of the files asked for that this process has lowered."""
        modules = {path: module for path in asked if (module := self.modules.get(path)) is not None}
        packed = {path: pack_module(module) for path, module in modules.items()}
        return {path: data for path, data in packed.items() if data is not None}

    def load(self, path: str) -> ir.ModuleIR | None:
        borrowed = self.borrowed.pop(path, None)
        if path in self.left_out:
            return None
        if borrowed is not None:
            return unpack_module(borrowed)
        source = self.sources.get(path)
        if source is None:
            source = imported_source(path)
            if source is None:
                return None
        name, package = dotted_name(path, source_root(path))
        try:
            return lower(Source(path, source.text, source.encoding), name, package)
        except Unparsable as error:
            self.fail(Failure(path, 0, "", str(error), False))
        except Exception as error:  # a bug of ours must not cost the user the other files
            self.fail(Failure(path, 0, "", reason_of(error), True))
        return None

    def fail(self, failure: Failure) -> None:
        self.failures[failure] = None

    def engine(self, called: CalledByRoot) -> Engine:
        """An engine for these files; ``called`` holds the last names of all that the linted files call."""
        around = self.workspace.surroundings
        names = called if around is None else ProjectCalls(called, around, self)
        program = Program(self.lowered, self.workspace.roots(), names, self.workspace.packages())
        return Engine(program, self.assumptions)

    def evaluate(self, called: CalledByRoot, paths: Iterable[str] | None = None) -> list[Evaluated]:
        """All functions of the part's own files, or of other linted ones, and whatever they called."""
        return self.evaluate_with(self.engine(called), self.own if paths is None else paths)

    def evaluate_with(self, engine: Engine, paths: Iterable[str]) -> list[Evaluated]:
        for path in paths:
            self.counter.begin(path)
            module = self.lowered(path)
            if module is not None and (engine.reveal or self.can_cost(path, module)):
                self.evaluate_file(engine, module)
            elif module is not None:
                self.counter.add(Count.EVALUATED_FUNCTIONS, len(module.everything))
            self.counter.add(Count.EVALUATED)
        self.evaluate_called_in_loops(engine)
        for follower in {self.assumptions.follower, *self.assumptions.follower_by_file.values()}:
            if follower is not None:
                follower.close()
        return self.evaluated(engine)

    def evaluate_file(self, engine: Engine, module: ir.ModuleIR) -> None:
        engine.begin_file()
        for function in module.everything:
            self.counter.add(Count.EVALUATED_FUNCTIONS)
            if not self.workspace.leads(module.path, function.qualname):
                continue
            self.attempt(partial(engine.analyse, function), module.path, function.at, function.qualname)
            if engine.work.is_met:
                return
        for cls in module.classes.values():
            if not self.workspace.leads(cls.module, cls.qualname):
                continue
            self.attempt(partial(engine.analyse_inherited, cls), module.path, cls.at, cls.name)

    def evaluate_called_in_loops(self, engine: Engine) -> None:
        """What loops call is evaluated for its own sake in a part of a project, too: by what it does, a run over all of
        it tells what the loops are."""
        around = self.workspace.surroundings
        if around is None:
            return
        done: set[FunctionKey] = set()
        wave = {key for record in engine.records.values() for key in called_in_loops(record)}
        for _ in range(DEPTH_OF_SIGNS):
            wave = {key for key in wave - done if not self.workspace.leads(key[0], key[1])}
            done |= wave
            functions = [one for key in sorted(wave) if (one := self.function(key, around)) is not None]
            for function in functions:
                engine.begin_file()
                self.attempt(partial(engine.analyse, function), function.module, function.at, function.qualname)
            records = [engine.records[one] for one in functions if one in engine.records]
            wave = {edge.callee for record in records for edge in record.calls}

    def function(self, key: FunctionKey, around: Surroundings) -> ir.FunctionIR | None:
        """A function of the project by its key; nested ones are evaluated where they are made."""
        module = self.lowered(key[0]) if key[0] in around.files else None
        return (
            next((one for one in module.everything if function_key(one) == key), None) if module is not None else None
        )

    def evaluated(self, engine: Engine) -> list[Evaluated]:
        """The records of all functions that were evaluated."""
        self.failures.update(engine.failures)
        found: list[Evaluated] = []
        for function, record in engine.records.items():
            take = partial(lambda f, r: found.append(evaluated(engine.program, f, r)), function, record)
            self.attempt(take, function.module, function.at, function.qualname)
        return found

    def can_cost(self, path: str, module: ir.ModuleIR) -> bool:
        """Whether reading a file for its own sake may find something. One that imports nothing which hands tensors on,
        calls nothing that costs and is no script, is only read where others call it."""
        if module.is_script or imports_torch(self.sources[path].text.encode(errors="replace")):
            return True
        return any(not function.called.isdisjoint(COSTLY_CALLS) for function in module.everything)

    def attempt(self, act: Callable[[], None], path: str, at: int, name: str) -> None:
        """What fails costs the function that it was done for, is told, and costs no other."""
        try:
            act()
        except Exception as error:
            self.fail_in((path, name, at), error)

    def fail_in(self, function: FunctionKey, error: Exception) -> None:
        path, name, at = function
        self.fail(Failure(path, ir.unpack(at)[0], name, reason_of(error), True))


def imported_source(path: str) -> Source | None:
    """A file outside the input that an import leads to; None where it can't be read."""
    try:
        return read(Path(path), path, MAX_IMPORTED)
    except Unreadable:
        return None


def evaluated(program: Program, function: ir.FunctionIR, record: FunctionRecord) -> Evaluated:
    module = program.module(function.module)
    cls = program.owner(function)
    bases: tuple[str, ...] = ()
    is_module = has_forward = False
    overrides: tuple[FunctionKey, ...] = ()
    if cls is not None:
        bases = tuple(base if isinstance(base, str) else base.name for base in program.mro(cls))
        is_module = any(map(is_module_base, bases))
        has_forward = program.method(cls, "forward") is not None
        overrides = overridden(program, cls, function)
    key: FunctionKey = function_key(function)
    facts = FunctionFacts(
        key,
        function.name,
        function.owner,
        bases,
        is_module,
        is_module and has_forward,
        overrides,
        module.is_script if module is not None else False,
        record.regions,
        tuple(record.signs),
        tuple(record.calls),
        function.is_generator,
        is_without_grad(function),
        is_turned_off(decorator_names(function)),
        tuple(record.outcomes),
        tuple(sorted(record.default_tests)),
    )
    return Evaluated(facts, tuple(record.events.values()))


def overridden(program: Program, cls: ir.ClassIR, function: ir.FunctionIR) -> tuple[FunctionKey, ...]:
    """The methods of the program's classes that a method stands in for."""
    if cls.methods.get(function.name) is not function or function.name in CONSTRUCTORS:
        return ()
    bases = [base for base in program.mro(cls) if isinstance(base, ir.ClassIR) and base is not cls]
    found = [base.methods.get(function.name) for base in bases]
    return tuple(function_key(method) for method in found if method is not None)


def merge_partitions(parts: Iterable[list[Evaluated]]) -> dict[FunctionKey, Evaluated]:
    """The records of all processes, one for each function, in the order of their keys."""
    merged: dict[FunctionKey, Evaluated] = {}
    for part in parts:
        for one in part:
            known = merged.get(one.facts.key)
            merged[one.facts.key] = one if known is None else merge_records(known, one)
    return {key: merged[key] for key in sorted(merged)}


def merge_records(a: Evaluated, b: Evaluated) -> Evaluated:
    record = FunctionRecord()
    for one in (a, b):
        other = FunctionRecord()
        other.events = {(event.at, slot(event)): event for event in one.events}
        other.regions = one.facts.regions
        other.signs = dict.fromkeys(one.facts.signs)
        other.calls = dict.fromkeys(one.facts.calls)
        other.outcomes = dict.fromkeys(one.facts.outcomes)
        other.default_tests = dict.fromkeys(one.facts.default_tests)
        record.merge(other)
    facts = msgspec.structs.replace(
        a.facts,
        regions=record.regions,
        signs=tuple(record.signs),
        calls=tuple(record.calls),
        outcomes=tuple(record.outcomes),
        default_tests=tuple(sorted(record.default_tests)),
    )
    return Evaluated(facts, tuple(record.events.values()))


def slot(event: RawEvent) -> str:
    return event.effect.value if TRAITS[event.effect].coexists else ""


def without_collector() -> None:
    """Trees are dropped file by file; the collector would only walk what is kept."""
    gc.disable()
