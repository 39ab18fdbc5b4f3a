"""Flags in attributes that a file sets at one place and asks at another: ``args.cuda`` of parsed arguments."""

from __future__ import annotations

from xlalint.knowledge.tables import guards
from xlalint.program import ir
from xlalint.program.traversal import dotted_text


def is_off_on_xla(module: ir.ModuleIR, node: ir.Expr) -> bool:
    """``args.cuda = not args.no_cuda and torch.cuda.is_available()``: whether all that the file gives an attribute is
    false on XLA."""
    if not module.attributes_given:
        return False
    text = dotted_text(node)
    # ``self.args = args``: what is kept keeps its name.
    given = module.attributes_given.get(text) or module.attributes_given.get(text.removeprefix("self."))
    return given is not None and all(value is not None and is_false_by_text(value) for value in given)


def is_false_by_text(node: ir.Expr) -> bool:
    """Whether an expression asks for another device, by its text, and is false for that."""
    if type(node) is ir.Boolean:
        return (any if node.operator == "and" else all)(map(is_false_by_text, node.values))
    if type(node) is ir.Conditional:
        chosen = node.orelse if is_false_by_text(node.test) else None
        return type(chosen) is ir.Constant and not chosen.value
    return type(node) is ir.Call and guards().calls.get(dotted_text(node.function)) is False
