"""Models that each turn of a loop makes anew: what a turn does with its own model, later turns do not undo. Told by the
function's text, and by that of the functions that make the model.
"""

from __future__ import annotations

from functools import lru_cache

from xlalint.facts.domain.known_names import is_module_base
from xlalint.facts.operations.placement import MOVING
from xlalint.program import ir
from xlalint.program.link import External, Program
from xlalint.program.traversal import blocks_of, called_name, names_in, receiver_node, statements_in, walk

SAME = MOVING | {"train", "eval", "float", "half"}
"""Methods that give the module that they are called on."""
DEEPEST = 3
"""Calls between a name and the class that it is made of."""


def is_made_in_turn(function: ir.FunctionIR, name: str, node: ir.Node, program: Program) -> bool:
    """Whether the innermost loop around a node, or the whole function where there is none, makes what a name stands for
    there, and nothing else gives the name another object."""
    turn = innermost(function.body, node)
    within = bound(turn, name)
    if len(within) != len(bound(function.body, name)):
        return False
    # ``model = trained(model)`` gives the same one, or one that is made of it.
    made = [value for value in within if value is None or name not in names_in(value)]
    return bool(made) and all(value is not None and makes_module(value, function.module, program) for value in made)


def innermost(block: ir.Block, node: ir.Node) -> ir.Block:
    """The body of the innermost loop that a node stands in."""
    for statement in block:
        if any(part is node for part in walk(statement)):
            inner = next((one for one in blocks_of(statement) if any(part is node for part in walk(one))), None)
            if inner is None:
                return block
            found = innermost(inner, node)
            return block if found is inner and not isinstance(statement, (ir.For, ir.While)) else found
    return block


def bound(block: ir.Block, name: str) -> list[ir.Expr | None]:
    """What a name is given in a block; None for what no plain assignment gives."""
    found: list[ir.Expr | None] = []
    for statement in statements_in(block):
        if type(statement) is ir.Assign:
            for target in statement.targets:
                if name in bound_names(target):
                    found.append(statement.value if type(target) is ir.Name else None)
        elif type(statement) is ir.For and name in bound_names(statement.target):
            found.append(None)
        elif type(statement) is ir.With:
            found.extend(None for _, target in statement.items if target is not None and name in bound_names(target))
    return found


def bound_names(target: ir.Expr) -> list[str]:
    if type(target) is ir.Name:
        return [target.name]
    if type(target) is ir.Display:
        return [name for part in target.elements for name in bound_names(part)]
    return bound_names(target.value) if type(target) is ir.Starred else []


def same_module(value: ir.Expr) -> ir.Expr | None:
    """``net`` in ``net.to(device)``."""
    return receiver_node(value) if type(value) is ir.Call and called_name(value) in SAME else None


def makes_module(value: ir.Expr, path: str, program: Program, depth: int = 0) -> bool:
    """Whether an expression makes a module, by calling its class or a function that does nothing else."""
    if type(value) is not ir.Call or depth > DEEPEST:
        return False
    receiver = same_module(value)
    if receiver is not None:
        return makes_module(receiver, path, program, depth)
    symbol = program.expression_symbol(value.function, path)
    if isinstance(symbol, ir.ClassIR):
        return any(map(is_module_base, program.external_bases(symbol)))
    if isinstance(symbol, ir.FunctionIR):
        return gives_new_module(symbol, program, depth + 1)
    return isinstance(symbol, External) and symbol.name.startswith("torch.nn.") and is_module_base(symbol.name)


@lru_cache(maxsize=4096)
def gives_new_module(function: ir.FunctionIR, program: Program, depth: int) -> bool:
    given = [statement.value for statement in statements_in(function.body) if type(statement) is ir.Return]
    return bool(given) and all(value is not None and gives_new(value, function, program, depth) for value in given)


def gives_new(value: ir.Expr, function: ir.FunctionIR, program: Program, depth: int) -> bool:
    while (receiver := same_module(value)) is not None:
        value = receiver
    if type(value) is not ir.Name:
        return makes_module(value, function.module, program, depth)
    made = [one for one in bound(function.body, value.name) if one is None or value.name not in names_in(one)]
    return bool(made) and all(one is not None and makes_module(one, function.module, program, depth) for one in made)
