"""What one turn of a ``while`` loop leaves to the next, by its text."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from xlalint.program import ir
from xlalint.program.def_use import head_of, taken_up, unpacked
from xlalint.program.definitions import FILLING
from xlalint.program.traversal import blocks_of, called_name, names_in, path_of, statements_in, walk

FILLS = FILLING | {"put", "push", "write", "send", "feed", "step"}
"""Methods by which an object takes something up."""


@functools.lru_cache(maxsize=8192)
def leaves_something(loop: ir.While) -> bool:
    """Whether a turn may leave a tensor to the next, or to what comes after: in a name that is used before it is bound
    again, in an object, or by what it writes to. Where none does, the graph of a turn is dropped with its names."""
    if any(map(stores, statements_in(loop.body))) or any(map(fills, walk(loop.body))):
        return True
    bound = {path for statement in statements_in(loop.body) for path in taken_by(statement)}
    return not bound.isdisjoint({*names_in(loop.test), *used_first(loop.body, set())})


def stores(statement: ir.Stmt) -> bool:
    """``x[i] = y``, ``self.x = y`` and ``x += y``, but for what counts by a constant."""
    if type(statement) is ir.Augmented:
        return type(statement.value) is not ir.Constant or type(statement.target) is not ir.Name
    if type(statement) in (ir.Return, ir.Define, ir.DefineClass):
        return True
    targets = statement.targets if type(statement) is ir.Assign else ()
    return any(type(part) is not ir.Name for target in targets for part in unpacked(target))


def fills(node: ir.Node) -> bool:
    """A call that puts something into an object, or writes into a tensor."""
    if type(node) in (ir.Walrus, ir.Lambda):
        return True
    name = called_name(node) if type(node) is ir.Call else ""
    return name in FILLS or (name.endswith("_") and not name.startswith("_"))


def taken_by(statement: ir.Stmt) -> Iterator[str]:
    targets = statement.targets if type(statement) is ir.Assign else tuple(taken_up(statement))
    for target in targets:
        for part in unpacked(target):
            if path := path_of(part):
                yield path


def used_first(block: ir.Block, bound: set[str]) -> Iterator[str]:
    """The names that a block uses before it surely binds them, beside those ``bound`` already. What an arm binds, it
    binds for itself."""
    for statement in block:
        read = statement.value if type(statement) is ir.Assign else head_of(statement)
        yield from (name for name in names_in(read) if name not in bound)
        inner = set(bound).union(taken_by(statement))
        for arm in blocks_of(statement):
            yield from used_first(arm, bound if type(statement) is ir.With else set(inner))
        bound.update(taken_by(statement))
