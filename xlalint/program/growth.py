"""Growth in the text of a function: which of its parameters come back longer than they were given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from xlalint.program import ir
from xlalint.program.def_use import unpacked
from xlalint.program.traversal import blocks_of, called_name, names_in, none_tested, receiver_node, walk

JOINING = frozenset({"cat", "concat", "concatenate", "hstack", "vstack", "dstack"})
KEEPING = frozenset(
    {
        "index_select", "contiguous", "clone", "detach", "to", "type_as", "long", "int", "float", "half", "bfloat16",
        "view", "reshape", "unsqueeze", "squeeze", "transpose", "permute", "requires_grad_", "expand", "gather",
    }
)  # fmt: skip
"""Methods and functions whose result has as many rows as what they are called of."""
WHOLE: Final = -1
"""The position of a result that is not a part of a tuple."""
Entry: TypeAlias = tuple[str, object]
"""A parameter, and the key of what it holds."""


def joins(node: ir.Expr | None) -> bool:
    """``torch.cat([a, b])``, of what is written out."""
    if type(node) is not ir.Call or called_name(node) not in JOINING or not node.arguments:
        return False
    rows = node.arguments[0]
    return type(rows) is ir.Display and len(rows.elements) > 1


def joined_by(node: ir.Expr | None) -> tuple[ir.Expr, ...]:
    """What ``torch.cat([a, b])`` joins."""
    return node.arguments[0].elements if joins(node) else ()  # type: ignore[union-attr]


def kept(node: ir.Expr | None) -> ir.Expr | None:
    """What an expression is as long as: ``x`` of ``x.contiguous()`` and of ``torch.index_select(x, 0, i)``."""
    while type(node) is ir.Call and called_name(node) in KEEPING:
        receiver = receiver_node(node)
        by_torch = type(receiver) is ir.Name and receiver.name == "torch"
        node = (node.arguments[0] if node.arguments else None) if by_torch else receiver
    return node


@lru_cache(maxsize=8192)
def grown_parameters(function: ir.FunctionIR) -> frozenset[tuple[str, int]]:
    """The parameters that come back joined to something, each with its position in the result."""
    if function.called.isdisjoint(JOINING):
        return frozenset()
    found: set[tuple[str, int]] = set()
    as_given = {parameter.name: parameter.name for parameter in function.parameters}
    trace_growth(function.body, as_given, {}, found)
    return frozenset(found)


def trace_growth(
    block: ir.Block, as_given: dict[str, str], longer: dict[str, str], found: set[tuple[str, int]]
) -> None:
    """Follow names through a block: ``as_given`` are as long as the parameter, ``longer`` were joined to something.
    What is bound otherwise in any arm is neither."""
    for statement in block:
        if type(statement) is ir.Return:
            parts = statement.value.elements if type(statement.value) is ir.Display else None
            for position, part in enumerate(parts) if parts is not None else ((WHOLE, statement.value),):
                grown = grown_from(part, as_given, longer)
                found.update([(grown, position)] if grown is not None else [])
        for inner in blocks_of(statement):
            trace_growth(inner, as_given, longer, found)
        for name in bound_by(statement):
            value = statement.value if type(statement) is ir.Assign and type(statement.targets[0]) is ir.Name else None
            grown, source = grown_from(value, as_given, longer), kept(value)
            same = as_given.get(source.name) if type(source) is ir.Name else None
            longer.pop(name, None)
            as_given.pop(name, None)
            if grown is not None:
                longer[name] = grown
            elif same is not None:
                as_given[name] = same


def grown_from(node: ir.Expr | None, as_given: dict[str, str], longer: dict[str, str]) -> str | None:
    """The parameter that an expression is longer than."""
    source = kept(node)
    if type(source) is ir.Name:
        return longer.get(source.name)
    for part in joined_by(source):
        row = kept(part)
        if type(row) is ir.Name and (row.name in as_given or row.name in longer):
            return as_given.get(row.name) or longer[row.name]
    return None


def bound_by(statement: ir.Stmt) -> Iterator[str]:
    """The names that a statement itself binds."""
    targets: Iterable[ir.Expr] = ()
    if type(statement) is ir.Assign:
        targets = statement.targets
    elif type(statement) in (ir.Augmented, ir.Annotated, ir.For):
        targets = (statement.target,)  # type: ignore[union-attr]
    elif type(statement) is ir.With:
        targets = [target for _, target in statement.items if target is not None]
    for target in targets:
        for part in unpacked(target):
            if type(part) is ir.Name:
                yield part.name


# What a function hands back of a cache


@lru_cache(maxsize=8192)
def grown_entries(function: ir.FunctionIR) -> frozenset[int]:
    """The assignments that join something to what a cache holds, which is handed back in its place.

    A cache is empty at first, and who lengthens it asks whether it is: ``if "k" in cache: k = torch.cat([cache["k"],
    k])``, and later ``{"k": k}``.
    """
    if function.called.isdisjoint(JOINING):
        return frozenset()
    parameters = {parameter.name for parameter in function.parameters}
    entries = entries_of(function, parameters)
    found = set()
    for node, tests in tested_assignments(function.body, ()):
        rows = joined_by(node.value)
        entry = entry_of(kept(rows[0]), parameters, entries) if rows else None
        if entry is None or not any(asks_for(test, entry, entries) for test in tests):
            continue
        target = node.targets[0]
        if entry_of(target, parameters, {}) == entry or entry[1] in keys_of(function, target):
            found.add(node.at)
    return frozenset(found)


def asks_for(test: ir.Expr, entry: Entry, entries: dict[str, Entry]) -> bool:
    """Whether a test asks if a cache, or this entry of it, is there."""
    if type(test) is ir.Boolean:
        return any(asks_for(part, entry, entries) for part in test.values)
    if type(test) is ir.Unary:
        return asks_for(test.operand, entry, entries)
    if type(test) is not ir.Compare:
        return type(test) is ir.Name and (test.name == entry[0] or entries.get(test.name) == entry)
    if test.operators[0] in ("in", "not-in"):
        key = test.left
        return type(key) is ir.Constant and key.value == entry[1] and is_named(test.rights[0], entry[0])
    tested = none_tested(test)
    return tested is not None and (tested[0] == entry[0] or entries.get(tested[0]) == entry)


def entries_of(function: ir.FunctionIR, parameters: set[str]) -> dict[str, Entry]:
    """The names that hold what a parameter holds: ``old = cache["k"]``, ``key, value = past``."""
    found: dict[str, Entry] = {}
    for node in walk(function.body):
        if type(node) is not ir.Assign:
            continue
        target, value = node.targets[0], kept(node.value)
        if type(target) is ir.Name:
            entry = entry_of(value, parameters, {})
            found.update({target.name: entry} if entry is not None else {})
        elif type(target) is ir.Display and type(value) is ir.Name and value.name in parameters:
            pairs = enumerate(target.elements)
            found.update({part.name: (value.name, i) for i, part in pairs if type(part) is ir.Name})
    return found


def entry_of(node: ir.Expr | None, parameters: set[str], entries: dict[str, Entry]) -> Entry | None:
    """``cache["k"]``."""
    if type(node) is ir.Name:
        return entries.get(node.name)
    if type(node) is not ir.Subscript or type(node.value) is not ir.Name or type(node.index) is not ir.Constant:
        return None
    return (node.value.name, node.index.value) if node.value.name in parameters else None


def tested_assignments(block: ir.Block, tests: tuple[ir.Expr, ...]) -> Iterator[tuple[ir.Assign, tuple[ir.Expr, ...]]]:
    """The assignments of a block that stand behind tests, with these."""
    for statement in block:
        if type(statement) is ir.Assign and tests and len(statement.targets) == 1:
            yield statement, tests
        inner = (*tests, statement.test) if type(statement) is ir.If else tests
        for part in blocks_of(statement):
            yield from tested_assignments(part, inner)


def keys_of(function: ir.FunctionIR, target: ir.Expr) -> set[object]:
    """The keys, and positions in a pair, under which a function hands back what a name holds."""
    if type(target) is not ir.Name:
        return set()
    parts = [*walk(function.body)]
    returned = tuple(part.value for part in parts if type(part) is ir.Return)
    names = set(names_in(returned))
    made = (part.value for part in parts if type(part) is ir.Assign and not names.isdisjoint(bound_by(part)))
    keys: set[object] = set()
    for node in walk((*returned, *made)):
        if type(node) is ir.DictDisplay:
            pairs = zip(node.keys, node.values, strict=True)
            keys.update(k.value for k, v in pairs if type(k) is ir.Constant and is_named(kept(v), target.name))
        elif type(node) is ir.Display and node.kind == "tuple":
            keys.update(i for i, part in enumerate(node.elements) if is_named(kept(part), target.name))
    return keys


def is_named(node: ir.Expr | None, name: str) -> bool:
    return type(node) is ir.Name and node.name == name
