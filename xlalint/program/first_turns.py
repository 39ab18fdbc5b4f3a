"""Iterables of which only the first element is ever taken, by a function's text: ``next(iter(loader))``."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator

from xlalint.program import ir
from xlalint.program.def_use import unpacked
from xlalint.program.traversal import called_name, names_in, plain_callee, receiver_node, walk


@functools.lru_cache(maxsize=8192)
def first_only(function: ir.FunctionIR) -> frozenset[str]:
    """The names of iterables that are begun anew each time that an element is taken. What a module binds anybody may
    use, and so what a nested function captures."""
    if function.name == "<module>":
        return frozenset()
    nodes = list(walk(function.body))
    taken = Counter(name for node in nodes if type(node) is ir.Call and (name := begun_by(node)))
    if not taken:
        return frozenset()
    bound = (node.targets for node in nodes if type(node) is ir.Assign)
    stored = Counter(
        part.name for targets in bound for one in targets for part in unpacked(one) if type(part) is ir.Name
    )
    # What is asked of the object itself, such as its length, takes nothing.
    asked = Counter(node.value.name for node in nodes if type(node) is ir.Attribute and type(node.value) is ir.Name)
    used = Counter(names_in(function.body))
    captured = {name for node in nodes for inner in inner_functions(node) for name in inner.free}
    return frozenset(
        name for name in taken if used[name] == taken[name] + stored[name] + asked[name] and name not in captured
    )


def begun_by(node: ir.Call) -> str:
    """``x`` of ``next(iter(x))`` and, as it was in Python 2, of ``iter(x).next()``."""
    if plain_callee(node) == "next":
        begun = node.arguments[0] if len(node.arguments) == 1 else None
    else:
        begun = receiver_node(node) if called_name(node) in ("next", "__next__") else None
    if type(begun) is not ir.Call or plain_callee(begun) != "iter" or len(begun.arguments) != 1:
        return ""
    source = begun.arguments[0]
    return source.name if type(source) is ir.Name else ""


def inner_functions(node: ir.Node) -> Iterator[ir.FunctionIR]:
    if isinstance(node, (ir.Define, ir.Lambda)):
        yield node.function
