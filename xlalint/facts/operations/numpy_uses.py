"""Values of which a later ``x.numpy()`` tells that they lie on the host: of a tensor on XLA it raises."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from xlalint.facts.domain.values import Sequence, Value
from xlalint.facts.operations.placement import lies_on_device, made_on_host
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.def_use import head_of, taken_up, unpacked
from xlalint.program.traversal import blocks_of, walk

KEEPING = frozenset(
    {"detach", "clone", "contiguous", "squeeze", "unsqueeze", "view", "reshape", "flatten", "permute", "transpose", "t"}
    | {"float", "double", "half", "int", "long", "short", "byte", "bool", "nonzero", "expand", "flip", "mul", "add"}
)
"""Methods whose result lies where the tensor does."""
MOVES = frozenset({"to", "cuda", "xla", "cpu", "numpy"})
PLACES = frozenset({"is_cuda", "is_cpu", "device", "use_cuda", "cuda", "gpu", "use_gpu", "cpu", "force"})
"""Names that ask, or say, where a tensor lies."""
GIVEN = 0
"""In place of a statement: where the function starts."""


def as_used_by_numpy(frame: Frame, name: str, value: Value) -> Value:
    """What a statement binds to a name, on the host where a later ``name.numpy()`` tells so."""
    if "numpy" not in frame.function.called or (frame.statement, name) not in told_by_numpy(frame.function):
        return value
    return value if stays_on_device(value) else made_on_host(value)


def given_as_used(function: ir.FunctionIR, name: str, value: Value) -> Value:
    """The same of a parameter."""
    if "numpy" not in function.called or (GIVEN, name) not in told_by_numpy(function):
        return value
    return value if stays_on_device(value) else made_on_host(value)


def stays_on_device(value: Value) -> bool:
    return lies_on_device(value.element if type(value) is Sequence else value)


@lru_cache(maxsize=8192)
def told_by_numpy(function: ir.FunctionIR) -> frozenset[tuple[int, str]]:
    """The statements, each with the name of what it binds, after which ``name.numpy()`` is called."""
    asked = {name for node in walk(function.body) if type(node) is ir.Call and (name := converted(node))}
    if not asked:
        return frozenset()
    found = {(GIVEN, one.name) for one in function.parameters if one.name in asked and is_used(function.body, one.name)}
    found.update(told_in(function.body, asked))
    return frozenset(found)


def told_in(block: ir.Block, asked: set[str]) -> Iterator[tuple[int, str]]:
    for position, statement in enumerate(block):
        if not is_moved(statement):
            targets = statement.targets if type(statement) is ir.Assign else ()
            for name in asked & names_of(part for one in targets for part in unpacked(one)):
                if is_used(block[position + 1 :], name):
                    yield statement.at, name
            if type(statement) is ir.For:
                for name in asked & names_of(taken_up(statement)):
                    if is_used(statement.body, name):
                        yield statement.at, name
        for inner in blocks_of(statement):
            yield from told_in(inner, asked)


def names_of(targets: Iterator[ir.Expr]) -> set[str]:
    return {one.name for one in targets if type(one) is ir.Name}


def is_moved(statement: ir.Stmt) -> bool:
    """Whether what a statement binds is moved by it."""
    source = statement.value if type(statement) is ir.Assign else None
    return any(
        type(node) is ir.Call and type(node.function) is ir.Attribute and node.function.name in MOVES
        for node in walk(source)
    )


def is_used(block: ir.Block, name: str) -> bool:
    """Whether ``name.numpy()`` is called before the name is bound anew, whatever the device."""
    for statement in block:
        head = head_of(statement) if type(statement) is not ir.Return else statement.value
        names_place, is_converted = looked_at(head, name)
        if is_converted and not names_place:
            return True
        inner = () if names_place or type(statement) is ir.Try else blocks_of(statement)
        if any(is_used(one, name) for one in inner):
            return True
        if binds_somewhere(statement, name):
            return False
    return False


def looked_at(head: object, name: str) -> tuple[bool, bool]:
    """Whether an expression names a place, and whether it takes ``name`` to numpy."""
    names_place = is_converted = False
    for node in walk(head):
        if isinstance(node, (ir.Name, ir.Attribute)):
            names_place = names_place or node.name in PLACES
        elif type(node) is ir.Call and converted(node) == name:
            is_converted = True
    return names_place, is_converted


def binds_somewhere(statement: ir.Stmt, name: str) -> bool:
    """Whether a statement, or one in it, may bind a name."""
    if type(statement) is ir.Assign:
        return name in names_of(part for one in statement.targets for part in unpacked(one))
    if name in names_of(taken_up(statement)):
        return True
    return any(binds_somewhere(inner, name) for block in blocks_of(statement) for inner in block)


def converted(node: ir.Call) -> str:
    """``x`` of ``x.detach().numpy()``, ``x[0].numpy()`` and ``(x == 1).nonzero().numpy()``; else nothing."""
    if type(node.function) is not ir.Attribute or node.function.name != "numpy" or node.keywords:
        return ""
    part: ir.Expr = node.function.value
    while True:
        if type(part) is ir.Call and type(part.function) is ir.Attribute and part.function.name in KEEPING:
            part = part.function.value
        elif type(part) is ir.Subscript or (type(part) is ir.Attribute and part.name in ("data", "T")):
            part = part.value
        elif isinstance(part, (ir.Compare, ir.Binary)):
            part = part.left
        else:
            return part.name if type(part) is ir.Name else ""
