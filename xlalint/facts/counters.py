"""Numbers that a loop itself changes: ``step += 1``. Before the first round they are as unknown as after it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from xlalint.facts import domain as d
from xlalint.facts.frame import Frame
from xlalint.facts.narrowing import path_of
from xlalint.program import ir


def forget_first_values(frame: Frame, loop: ir.For | ir.While) -> None:
    """A counter's value at the loop's start says nothing of the tests in its body."""
    environment = frame.env
    for path in counted_paths(loop):
        value = environment.get(path)
        if type(value) is d.Host and value.known and value.type in ("int", "float"):
            environment[path] = d.host(value.type, varies=frame.loop_key(), paid=value.paid)


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


def blocks_of(statement: ir.Stmt) -> tuple[ir.Block, ...]:
    if type(statement) in (ir.If, ir.For, ir.While):
        return (statement.body, statement.orelse)  # type: ignore[union-attr]
    if type(statement) is ir.With:
        return (statement.body,)
    if type(statement) is ir.Try:
        return (statement.body, *(block for _, block in statement.handlers), statement.orelse, statement.final)
    if type(statement) is ir.Match:
        return tuple(block for _, _, block in statement.cases)
    return ()
