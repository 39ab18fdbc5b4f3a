"""Modules that a function makes for itself, never moves and hands to nobody: they lie on the host, and so does what
they give. Told by the function's text alone; what is not sure is not told.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from xlalint.facts.domain.known_names import WITH_PARAMETERS, is_module_base
from xlalint.program import ir
from xlalint.program.link import External, Program
from xlalint.program.main_blocks import is_main_block
from xlalint.program.traversal import holders, statements_in, walk

MOVES = frozenset({"to", "cuda", "xla", "tpu", "to_empty"})
TENSORS = frozenset({"grad", "data", "weight", "bias"})
"""Attributes that are tensors: to move a copy of one does not move its module."""
MODULES = frozenset(
    {"children", "modules", "named_children", "named_modules", "parameters", "named_parameters", "buffers"}
    | {"named_buffers", "eval", "train", "float", "double", "half", "bfloat16", "type", "requires_grad_", "apply"}
    | {"items", "values", "get_submodule", "get_parameter", "pop"}
)
"""Methods of modules, and of what holds some, that give modules and parameters."""
STORES = frozenset({"append", "extend", "insert", "add", "update", "add_module", "setdefault"})
COPIES = frozenset({"copy.copy", "copy.deepcopy"})
PLACED_ELSEWHERE = ("torch.compile", "torch.jit.", "torch.nn.parallel.", "torch.nn.DataParallel", "torch.distributed.")
DEFAULTS = frozenset({"set_default_device", "set_default_tensor_type", "init_empty_weights"})


@lru_cache(maxsize=8192)
def modules_on_host(function: ir.FunctionIR, program: Program) -> frozenset[str]:
    """The names in a function that hold such modules, several of them, or parts of them."""
    if not may_make(function, program) or not function.called.isdisjoint(DEFAULTS):
        return frozenset()
    text = FunctionText(function, program) if function.name != "<module>" else ScriptText(function, program)
    if not text.keeps_made():
        return frozenset()
    found: frozenset[str] = frozenset()
    for root in text.made():
        names = text.closure(root)
        if not any(text.leaves_host(node, names) for node in text.nodes):
            found |= names
    return found


def may_make(function: ir.FunctionIR, program: Program) -> bool:
    """Whether a function calls what may be a class of modules: its text is read for no other."""
    module = program.module(function.module)
    for name in function.called:
        if not name[:1].isupper() or name.endswith(NO_MODULES):
            continue
        if name.startswith(WITH_PARAMETERS) or name in CONTAINERS:
            return True
        here = module is not None and (name in module.imports or name in module.classes)
        symbol = program.resolve(function.module, name) if here else None
        if symbol is None or (
            isinstance(symbol, ir.ClassIR) and any(map(is_module_base, program.external_bases(symbol)))
        ):
            return True
    return False


NO_MODULES = ("Error", "Exception", "Warning", "Config", "Output", "Tensor")
"""How the names of classes end that are none of modules."""
CONTAINERS = frozenset({"Sequential", "ModuleList"})


class FunctionText:
    """The nodes of a function, and what they do to names that hold modules."""

    def __init__(self, function: ir.FunctionIR, program: Program) -> None:
        self.function = function
        self.program = program

    @cached_property
    def block(self) -> ir.Block:
        return self.function.body

    @cached_property
    def nodes(self) -> tuple[ir.Node, ...]:
        return tuple(walk(self.block))

    def keeps_made(self) -> bool:
        """Whether a statement binds a name to modules made on the spot: expressions are read for no other function."""
        bound = bindings_in(statements_in(self.block))
        return any(type(target) is ir.Name and self.makes(value) for target, value in bound)

    def made(self) -> list[str]:
        """The names that are bound to modules made on the spot, and to nothing else."""
        first: dict[str, bool] = {}
        for target, value in bindings_in(self.nodes):
            if type(target) is ir.Name:
                first[target.name] = first.get(target.name, True) and self.makes(value)
        return [name for name, makes in first.items() if makes]

    def makes(self, value: ir.Expr) -> bool:
        if type(value) is ir.Comprehension:
            return self.makes(value.element)
        if type(value) is ir.Display:
            return bool(value.elements) and all(map(self.makes, value.elements))
        if type(value) is not ir.Call:
            return False
        if type(value.function) is ir.Attribute and value.function.name in MODULES:
            return self.makes(value.function.value)
        if any(name in ("device", None) for name, _ in value.keywords):
            return False
        symbol = self.program.expression_symbol(value.function, self.function.module)
        if isinstance(symbol, ir.ClassIR):
            return self.has_parameters_on_host(symbol)
        name = symbol.name if isinstance(symbol, External) else ""
        if name in ("torch.nn.Sequential", "torch.nn.ModuleList"):
            return any(map(self.makes, value.arguments))
        return is_layer(name)

    def has_parameters_on_host(self, cls: ir.ClassIR) -> bool:
        """Whether a class of the program makes parameters, and leaves them where they are made. What has none, such as
        a loss, computes where its operands lie."""
        bases = self.program.mro(cls)
        made = [init for base in bases if isinstance(base, ir.ClassIR) and (init := base.methods.get("__init__"))]
        if not any(isinstance(base, str) and is_module_base(base) for base in bases):
            return False
        named = any("device" in parameter.name for init in made for parameter in init.parameters)
        derived = any(isinstance(base, str) and is_layer(base) for base in bases)
        parameters = derived or any(
            name.startswith((*WITH_PARAMETERS, "Parameter")) for init in made for name in init.called
        )
        return parameters and not named and all(init.called.isdisjoint(MOVES) for init in made)

    def closure(self, root: str) -> frozenset[str]:
        """All names that may hold the module, a part of it, or what holds it."""
        names = {root}
        bindings = list(bindings_in(self.nodes))
        stores = [node for node in self.nodes if type(node) is ir.Call and is_store(node)]
        for _ in bindings:
            before = len(names)
            for target, value in bindings:
                if self.carries(value, names):
                    names.update(part.name for part in walk(target) if type(part) is ir.Name)
            for call in stores:
                if any(self.carries(argument, names) for argument in call.arguments):
                    *_, start = holders(call.function)
                    names.update([start.name] if type(start) is ir.Name else [])
            if len(names) == before:
                break
        return frozenset(names)

    def carries(self, node: ir.Expr | None, names: set[str] | frozenset[str]) -> bool:
        """Whether an expression is, or holds, one of the modules or its parameters, and not only what they give."""
        if type(node) is ir.Name:
            return node.name in names
        if type(node) is ir.Attribute:
            return node.name not in TENSORS and self.carries(node.value, names)
        if isinstance(node, (ir.Subscript, ir.Starred)):
            return self.carries(node.value, names)
        if type(node) is ir.Display:
            return any(self.carries(part, names) for part in node.elements)
        if type(node) is ir.DictDisplay:
            return any(self.carries(part, names) for part in node.values)
        if type(node) is ir.Comprehension:
            return self.carries(node.element, names)
        if type(node) is ir.Conditional:
            return self.carries(node.body, names) or self.carries(node.orelse, names)
        if type(node) is ir.Call:
            return self.call_carries(node, names)
        return False

    def call_carries(self, node: ir.Call, names: set[str] | frozenset[str]) -> bool:
        if type(node.function) is ir.Attribute and self.carries(node.function.value, names):
            return node.function.name in MODULES
        name = self.callee(node)
        holds = name.startswith(("builtins.", "torch.nn.", "torch.optim.")) or name in COPIES
        return holds and any(self.carries(part, names) for part in arguments_of(node))

    def callee(self, node: ir.Call) -> str:
        """The dotted name of what is called; empty for what is no name of Python's or of a library."""
        if type(node.function) is ir.Name and hasattr(builtins, node.function.name):
            return f"builtins.{node.function.name}"
        symbol = self.program.expression_symbol(node.function, self.function.module)
        return symbol.name if isinstance(symbol, External) else ""

    def leaves_host(self, node: ir.Node, names: frozenset[str]) -> bool:
        """Whether a node moves one of the modules, or hands it to somebody who may."""
        if type(node) is ir.Call:
            return self.call_moves(node, names)
        if isinstance(node, (ir.Return, ir.Yield)):
            return self.carries(node.value, names)
        if type(node) is ir.Assign:
            return any(self.keeps(target, node.value, names) for target in node.targets)
        if type(node) is ir.Define:
            return not names.isdisjoint(node.function.free)
        if type(node) is ir.Lambda:
            return not names.isdisjoint(node.function.free)
        return type(node) is ir.Scope and not names.isdisjoint(node.names)

    def keeps(self, target: ir.Expr, value: ir.Expr, names: frozenset[str]) -> bool:
        """``self.model = model``, where others find it; ``p.data = …``, which may lie elsewhere."""
        if not isinstance(target, (ir.Attribute, ir.Subscript)):
            return False
        *_, start = holders(target)
        if type(start) is ir.Name and start.name in names:
            return type(target) is ir.Attribute and target.name == "data"
        return self.carries(value, names)

    def call_moves(self, node: ir.Call, names: frozenset[str]) -> bool:
        function = node.function
        if type(function) is ir.Attribute and self.carries(function.value, names):
            return function.name in MOVES
        if not any(self.carries(part, names) for part in arguments_of(node)) or is_store(node):
            return False
        if self.carries(function, names):
            return False
        called = self.program.expression_symbol(function, self.function.module)
        if isinstance(called, ir.FunctionIR) and moves_nothing(called, self.program):
            return False
        name = self.callee(node)
        harmless = name.startswith(("builtins.", "torch.")) or name in COPIES
        return not harmless or name.startswith(PLACED_ELSEWHERE)


@lru_cache(maxsize=8192)
def moves_nothing(function: ir.FunctionIR, program: Program) -> bool:
    """Whether neither a function nor those of its file that it calls move or keep what they are given."""
    if not function.called.isdisjoint(MOVES | DEFAULTS) or function.owner:
        return False
    module = program.module(function.module)
    if module is None or not module.classes.keys().isdisjoint(function.called):
        return False
    called = [module.functions[name] for name in function.called if name in module.functions]
    return all(one is function or one.called.isdisjoint(MOVES | DEFAULTS | module.functions.keys()) for one in called)


class ScriptText(FunctionText):
    """The nodes behind ``if __name__ == "__main__"``; what is bound elsewhere, too, or read by a function, is none of
    them."""

    @cached_property
    def block(self) -> ir.Block:
        return tuple(part for one in self.function.body if is_main_block(one) for part in one.body)

    def made(self) -> list[str]:
        outside = tuple(one for one in self.function.body if not is_main_block(one))
        bound = {
            part.name for target, _ in bindings_in(walk(outside)) for part in walk(target) if type(part) is ir.Name
        }
        module = self.program.module(self.function.module)
        if module is not None:
            bound.update(name for function in module.everything for name in function.free)
        return [name for name in super().made() if name not in bound]


def is_layer(name: str) -> bool:
    return name.startswith("torch.nn.") and name.count(".") == 2 and name[9:].startswith(WITH_PARAMETERS)


def bindings_in(nodes: Iterable[ir.Node]) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """What is bound, and to what, or to an element of what."""
    for node in nodes:
        if type(node) is ir.Assign:
            yield from ((target, node.value) for target in node.targets)
        elif type(node) is ir.Walrus:
            yield ir.Name(node.target, node.at), node.value
        elif isinstance(node, (ir.For, ir.Generator)):
            yield from in_step(node.target, node.iterable)
        elif type(node) is ir.With:
            yield from ((target, value) for value, target in node.items if target is not None)


def arguments_of(node: ir.Call) -> tuple[ir.Expr, ...]:
    return (*node.arguments, *(value for _, value in node.keywords))


def is_store(node: ir.Call) -> bool:
    """``held.append(module)``."""
    if type(node.function) is not ir.Attribute or node.function.name not in STORES:
        return False
    *_, start = holders(node.function)
    return type(start) is ir.Name and start.name != "self"


def in_step(target: ir.Expr, iterable: ir.Expr) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """``for a, b in zip(x, y)`` binds ``a`` to what is in ``x``, and ``b`` to what is in ``y``."""
    called = iterable.function.name if type(iterable) is ir.Call and type(iterable.function) is ir.Name else ""
    if type(iterable) is not ir.Call or type(target) is not ir.Display or called not in ("zip", "enumerate"):
        yield target, iterable
    elif called == "zip" and len(target.elements) == len(iterable.arguments):
        for part, source in zip(target.elements, iterable.arguments, strict=True):
            yield from in_step(part, source)
    elif called == "enumerate" and iterable.arguments and len(target.elements) == 2:
        yield from in_step(target.elements[1], iterable.arguments[0])
    else:
        yield target, iterable
