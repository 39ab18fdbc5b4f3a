"""Definitions and uses in the text of a function: which statement binds a name, what a loop changes of itself."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from xlalint.program import ir
from xlalint.program.traversal import blocks_of, calls_in, holders, names_in, path_of, walk


def bound_anew(block: ir.Block, node: ir.Assign, target: str, loop: int) -> bool:
    """Whether each iteration of the loop that starts in line ``loop`` binds ``target`` anew before ``node``, from
    something else than what it held."""
    way = way_to(block, node)
    inside = False
    for statements, position in way:
        if inside and any(binds(statement, target) for statement in statements[:position]):
            return True
        around = statements[position]
        inside = inside or (type(around) in (ir.For, ir.While) and ir.unpack(around.at)[0] == loop)
        if inside and any(path_of(part) == target for part in taken_up(around)):
            return True
    return False


def taken_up(statement: ir.Stmt) -> Iterator[ir.Expr]:
    """What a compound statement binds before its body runs: a loop's targets, what a context manager gives."""
    if type(statement) is ir.For:
        yield from unpacked(statement.target)
    elif type(statement) is ir.With:
        for _, target in statement.items:
            if target is not None:
                yield from unpacked(target)


def way_to(block: ir.Block, node: ir.Stmt) -> list[tuple[ir.Block, int]]:
    """The blocks around a statement, outermost first, each with the position of what leads on to it."""
    for position, statement in enumerate(block):
        if statement is node:
            return [(block, position)]
        for inner in blocks_of(statement):
            way = way_to(inner, node)
            if way:
                return [(block, position), *way]
    return []


def binds(statement: ir.Stmt, target: str) -> bool:
    """Whether a statement surely gives ``target`` a value that has nothing of the old one."""
    if type(statement) is ir.Assign:
        targets = [part for one in statement.targets for part in unpacked(one)]
        return any(path_of(one) == target for one in targets) and target not in set(names_in(statement.value))
    if type(statement) is ir.If:
        return all(any(binds(inner, target) for inner in arm) for arm in (statement.body, statement.orelse))
    return type(statement) is ir.With and any(binds(inner, target) for inner in statement.body)


def unpacked(target: ir.Expr) -> Iterator[ir.Expr]:
    """The single targets of a pattern: ``i, (x, *rest)``."""
    if type(target) is ir.Display:
        for part in target.elements:
            yield from unpacked(part)
    else:
        yield target.value if type(target) is ir.Starred else target


@functools.lru_cache(maxsize=8192)
def assignments_of(function: ir.FunctionIR) -> dict[int, ir.Assign]:
    """A function's assignments by packed span."""
    found: dict[int, ir.Assign] = {}
    pending = [function.body]
    while pending:
        for statement in pending.pop():
            if type(statement) is ir.Assign:
                found[statement.at] = statement
            else:
                pending += blocks_of(statement)
    return found


@functools.lru_cache(maxsize=8192)
def iterated_by(function: ir.FunctionIR) -> dict[str, tuple[ir.Expr, ...]]:
    """By name what loops and comprehensions bind it to elements of."""
    found: dict[str, tuple[ir.Expr, ...]] = {}
    for node in walk(function.body):
        if isinstance(node, (ir.For, ir.Generator)):
            for name in names_in(node.target):
                found[name] = (*found.get(name, ()), node.iterable)
    return found


@functools.lru_cache(maxsize=8192)
def statements_of(function: ir.FunctionIR) -> dict[int, tuple[ir.Stmt, int]]:
    """A function's statements by packed span, each with the next one of its block that uses what it binds (0: none)."""
    found: dict[int, tuple[ir.Stmt, int]] = {}
    pending = [function.body]
    while pending:
        block = pending.pop()
        used: dict[str, int] = {}
        for statement in reversed(block):
            targets = statement.targets if type(statement) is ir.Assign else ()
            bound = [name for one in targets for part in unpacked(one) if (name := path_of(part)) is not None]
            found[statement.at] = (statement, next((used[name] for name in bound if name in used), 0))
            for inner in blocks_of(statement):
                pending.append(inner)
                # Who uses it there, and whether it is one, is not asked.
                for name in names_in(inner):
                    used[name] = 0
            for name in bound:
                used.pop(name, None)
            used.update(dict.fromkeys(names_in(head_of(statement)), statement.at))
    return found


def head_of(statement: ir.Stmt) -> object:
    """What a statement evaluates itself: of one with blocks its test, or what it iterates."""
    return HEADS[type(statement)](statement) if type(statement) in HEADS else statement


HEADS: dict[type, Callable[[Any], object]] = {
    # What is returned together was not made for one thing.
    ir.Return: lambda node: (),
    ir.If: lambda node: node.test,
    ir.While: lambda node: node.test,
    ir.For: lambda node: node.iterable,
    ir.With: lambda node: tuple(item for item, _ in node.items),
    ir.Try: lambda node: (),
    ir.Match: lambda node: node.subject,
    ir.Assign: lambda node: (node.value, tuple(one for one in node.targets if path_of(one) is None)),
    ir.Define: lambda node: (),
    ir.DefineClass: lambda node: (),
}


@lru_cache(maxsize=8192)
def counted_paths(loop: ir.For | ir.While) -> tuple[str, ...]:
    return tuple(dict.fromkeys(counted(loop.body)))


def counted(block: ir.Block) -> Iterator[str]:
    for statement in block:
        if type(statement) is ir.Augmented:
            path = path_of(statement.target) if statement.operator in ("add", "sub") else None
            if path is not None:
                yield path
        elif type(statement) is ir.Assign and type(statement.value) is ir.Binary and len(statement.targets) == 1:
            path = path_of(statement.targets[0])
            if path is not None and path == path_of(statement.value.left):
                yield path
        else:
            for inner in blocks_of(statement):
                yield from counted(inner)


@lru_cache(maxsize=8192)
def counted_attributes(function: ir.FunctionIR) -> frozenset[str]:
    """The attributes of ``self`` that a method counts and binds in no other way: ``self.step += 1``."""
    counts = list(counted(function.body))
    bound = [path_of(target) for one in assignments_of(function).values() for target in one.targets]
    own = {path for path in counts if path.startswith("self.")}
    return frozenset(path[5:] for path in own if bound.count(path) <= counts.count(path) - augments(function, path))


def augments(function: ir.FunctionIR, path: str) -> int:
    """How often a function counts something by ``+=``."""
    pending, found = [function.body], 0
    while pending:
        for statement in pending.pop():
            found += type(statement) is ir.Augmented and path_of(statement.target) == path
            pending += blocks_of(statement)
    return found


def targets_of(loop: ir.For) -> frozenset[str]:
    targets = loop.target.elements if type(loop.target) is ir.Display else (loop.target,)
    return frozenset(target.name for target in targets if type(target) is ir.Name)


@lru_cache(maxsize=8192)
def steps_each(loop: ir.For) -> bool:
    """``for optimizer in optimizers: optimizer.step()``: a part of a step."""
    names = targets_of(loop)
    functions = [call.function for call in calls_in(loop.body)]
    methods = [function for function in functions if type(function) is ir.Attribute and function.name == "step"]
    return any(type(method.value) is ir.Name and method.value.name in names for method in methods)


@lru_cache(maxsize=8192)
def chains_parts(loop: ir.For) -> bool:
    """``for layer in layers: x = layer(x)``, and ``x = layers[i](x)``: the loop calls what it goes through, one after
    the other, each with what the one before gave."""
    names = frozenset(names_in(loop.target))
    pending = [loop.body]
    while pending:
        for statement in pending.pop():
            pending += blocks_of(statement)
            if type(statement) is ir.Assign:
                targets = {path_of(part) for one in statement.targets for part in unpacked(one)}
                if any(is_part(names, call) and not targets.isdisjoint(given_to(call)) for call in calls_of(statement)):
                    return True
    return False


def calls_of(statement: ir.Assign) -> Iterator[ir.Call]:
    return (part for part in walk(statement.value) if type(part) is ir.Call)


def given_to(call: ir.Call) -> Iterator[str]:
    yield from names_in(call.arguments)
    for _, value in call.keywords:
        yield from names_in(value)


def is_part(names: frozenset[str], call: ir.Call) -> bool:
    """Whether what is called, or holds the method, is one of these names, or has one as its index."""
    function = call.function
    while type(function) is ir.Attribute:
        function = function.value
    if type(function) is ir.Subscript:
        return type(function.index) is ir.Name and function.index.name in names
    return type(function) is ir.Name and function.name in names


@lru_cache(maxsize=8192)
def calls_parts(loop: ir.For) -> bool:
    """Whether the loop calls what it goes through, or a method of it."""
    names = frozenset(names_in(loop.target))
    return any(is_part(names, call) for call in calls_in(loop.body))


@lru_cache(maxsize=8192)
def hands_on(loop: ir.For) -> bool:
    """Whether the loop's body calls something else with what the loop iterates: ``for batch in data: model(batch)``."""
    names = targets_of(loop)
    return bool(names) and any(map(functools.partial(is_given, names), calls_in(loop.body)))


@lru_cache(maxsize=8192)
def carries(loop: ir.For) -> bool:
    """Whether the loop calls something with what its last turn gave: ``for t in times: x = x - model(x, t)``, or
    ``x[:, t] = model(x)``."""
    given: set[str] = set()
    for statement in statements_of_turn(loop.body):
        given |= {
            name
            for part in walk(getattr(statement, "value", None))
            if type(part) is ir.Call
            for name in names_in(part.arguments)
        }
        if isinstance(statement, ir.Assign) and any(
            (path_of(part) or written_to(part)) in given for target in statement.targets for part in unpacked(target)
        ):
            return True
        if type(statement) is ir.Evaluate and type(statement.value) is ir.Call:
            function = statement.value.function
            if type(function) is ir.Attribute and function.name in WRITING and written_to(function.value) in given:
                return True
    return False


WRITING = frozenset({"copy_", "fill_", "set_", "scatter_", "index_copy_", "masked_fill_", "masked_scatter_"})


def written_to(node: ir.Expr) -> str | None:
    """``x`` where a part of it is written to: ``x[:, 3]``, ``x.data[:, 3]``; None for a name itself."""
    if type(node) is not ir.Subscript:
        return None
    *_, start = holders(node)
    return start.name if type(start) is ir.Name else None


@lru_cache(maxsize=8192)
def sums_of(loop: ir.For) -> tuple[str, ...]:
    """The names that each turn of a loop adds to, and that it does nothing else with."""
    used = list(names_in(loop.body))
    return tuple(
        statement.target.name
        for statement in statements_of_turn(loop.body)
        if type(statement) is ir.Augmented
        and statement.operator == "add"
        and type(statement.target) is ir.Name
        and used.count(statement.target.name) == 1
    )


def statements_of_turn(block: ir.Block) -> Iterator[ir.Stmt]:
    """What each turn of a loop does, whatever it is tested for."""
    for statement in block:
        yield statement
        if type(statement) is ir.With:
            yield from statements_of_turn(statement.body)


def is_given(names: frozenset[str], call: ir.Call) -> bool:
    function = call.function
    while isinstance(function, (ir.Attribute, ir.Subscript)):
        function = function.value
    own = type(function) is ir.Name and function.name in names
    return not own and any(type(part) is ir.Name and part.name in names for part in call.arguments)


def same(a: object, b: object) -> bool:
    """Whether two expressions are spelled alike."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if not isinstance(a, ir.Node):
        return a == b
    fields = (name for name in a.__struct_fields__ if name != "at")
    return all(same(getattr(a, name), getattr(b, name)) for name in fields)


def as_binary(node: ir.Augmented) -> ir.Binary:
    return ir.Binary(node.operator, node.target, node.value, node.at)


def bound_in(statement: ir.Stmt, name: str) -> ir.Binary | None:
    """The operation whose result a statement binds to a name."""
    if type(statement) is ir.Augmented:
        target, value = statement.target, as_binary(statement)
    elif type(statement) is ir.Assign and len(statement.targets) == 1 and type(statement.value) is ir.Binary:
        target, value = statement.targets[0], statement.value
    else:
        return None
    return value if type(target) is ir.Name and target.name == name else None
