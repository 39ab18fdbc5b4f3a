"""Classes of the program that are modules and register no tensor, as most losses are: to move one moves nothing, so
``Smoothing(0.1).cuda()`` raises without a GPU no more than with one. Told by the classes' text alone; what is not sure
is not told.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from functools import lru_cache

from xlalint.facts.libraries.torch.modules import is_tensorless
from xlalint.program import ir
from xlalint.program.link import External, Program
from xlalint.program.traversal import walk

MODULE = ("torch.nn.Module", "torch.nn.modules.module.Module")
REGISTERING = frozenset(
    {"register_buffer", "register_parameter", "register_module", "add_module", "setattr", "__setattr__", "append"}
)
"""``append`` and the like fill containers of modules."""


MAKING_MODULES = ("torch.hub.", "torch.jit.", "torch.load", "torch.compile", "torch.fx.")


@lru_cache(maxsize=4096)
def registers_no_tensor(cls: ir.ClassIR, program: Program) -> bool:
    """Whether no method of a class, or of one that it extends, may register a tensor or a module that holds some."""
    bases = program.mro(cls)
    own = [base for base in bases if isinstance(base, ir.ClassIR)]
    if not any(base in MODULE for base in bases) or any(base not in (*MODULE, "object") for base in outside(bases)):
        return False
    return all(keeps_plain_values(base, program) for base in own)


def outside(bases: tuple[ir.ClassIR | str, ...]) -> list[str]:
    return [base for base in bases if isinstance(base, str)]


def keeps_plain_values(cls: ir.ClassIR, program: Program) -> bool:
    methods = cls.methods.values()
    if any(not method.called.isdisjoint(REGISTERING) for method in methods) or cls.assigned_in.get("*"):
        return False
    used = {name for method in methods for name in used_as_modules(method)}
    return all(
        is_plain(value, method.module, program) and (type(value) is ir.Call or used.isdisjoint(names))
        for method in methods
        for names, value in stored(method)
    )


def used_as_modules(method: ir.FunctionIR) -> Iterator[str]:
    """Attributes that a method calls, ``self.model(x)`` and ``self.model.eval()``: they may be modules."""
    for node in walk(method.body):
        if type(node) is ir.Call and type(node.function) is ir.Attribute:
            yield node.function.name
            if type(node.function.value) is ir.Attribute:
                yield node.function.value.name


def stored(method: ir.FunctionIR) -> Iterator[tuple[list[str], ir.Expr]]:
    """What a method keeps in attributes, with their names."""
    for node in walk(method.body):
        if type(node) is ir.Assign:
            names = [part.name for target in node.targets for part in walk(target) if type(part) is ir.Attribute]
            if names:
                yield names, node.value


def is_plain(value: ir.Expr, path: str, program: Program) -> bool:
    """Whether a value is no parameter and no module, or a module without tensors."""
    calls = (part for part in walk(value) if type(part) is ir.Call)
    return all(gives_plain(call, path, program) for call in calls)


def gives_plain(call: ir.Call, path: str, program: Program) -> bool:
    if type(call.function) is ir.Name and hasattr(builtins, call.function.name):
        return True
    symbol = program.expression_symbol(call.function, path)
    if isinstance(symbol, ir.ClassIR):
        return registers_no_tensor(symbol, program)
    name = symbol.name if isinstance(symbol, External) else ""
    if name.startswith("torch.nn.") and not name.startswith("torch.nn.functional."):
        return is_tensorless(name) and not call.arguments and not any(key == "weight" for key, _ in call.keywords)
    return name.startswith(("torch.", "math.", "numpy.", "random.")) and not name.startswith(MAKING_MODULES)
