"""Name resolution: local, captured, global, builtin."""

from __future__ import annotations

from xlalint.facts.domain.values import (
    Struct,
    Value,
    class_object,
    constant,
    function_value,
    namespace,
    struct,
    truth_value,
)
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import guards
from xlalint.program import ir
from xlalint.program.link import External, GlobalName, Symbol


def lookup(frame: Frame, node: ir.Name) -> Value:
    environment = frame.environment
    assert environment is not None
    value = environment.get(node.name)
    if value is None:
        value = frame.definitions.get(node.name)
    elif type(value) is Struct and frame.writes and node.name == "self":
        return as_written(frame, value)
    return value if value is not None else global_value(frame, node.name)


def as_written(frame: Frame, value: Struct) -> Struct:
    """An object of known fields as its own method has left it so far."""
    fields = dict(value.fields)
    fields.update((name, frame.env[f"self.{name}"]) for name in frame.writes if f"self.{name}" in frame.env)
    return struct(value.ir, tuple(fields.items()))


def global_value(frame: Frame, name: str) -> Value:
    symbol = imported_here(frame, name) or frame.engine.program.resolve(frame.path, name)
    if isinstance(symbol, GlobalName):
        return frame.engine.global_value(frame, symbol)
    value = frame.definitions[name] = namespace(f"builtins.{name}") if symbol is None else symbol_value(frame, symbol)
    return value


def imported_here(frame: Frame, name: str) -> Symbol | None:
    """``import model`` … ``model = model.Net()``: until it is bound anew at the top level, a name is its import."""
    if frame.function.name != "<module>":
        return None
    module = frame.engine.program.module(frame.path)
    dotted = module.imports.get(name) if module is not None and name in module.globals else None
    return None if dotted is None else frame.engine.program.dotted(dotted, frame.path)


def symbol_value(frame: Frame, symbol: Symbol) -> Value:
    if isinstance(symbol, ir.FunctionIR):
        return function_value(chosen(frame, symbol))
    if isinstance(symbol, ir.ClassIR):
        return class_object(symbol)
    if isinstance(symbol, ir.ModuleIR):
        return namespace(symbol.name, symbol.path)
    if isinstance(symbol, External):
        known = guards().attributes
        guard = known.get(symbol.name, known.get(symbol.name.rpartition(".")[2]))
        return namespace(symbol.name) if guard is None else constant(guard)
    assert isinstance(symbol, GlobalName)
    return frame.engine.global_value(frame, symbol)


def chosen(frame: Frame, function: ir.FunctionIR) -> ir.FunctionIR:
    """The function that a top-level name leads to where both arms of an ``if`` define it: the first one's, where the
    test is known to hold."""
    module = None if function.owner else frame.engine.program.module(function.module)
    choice = None if module is None else module.choices.get(function.name)
    if choice is None or module is None or module.functions.get(function.name) is not function:
        return function
    test, first = choice
    return first if truth_value(frame.engine.default(test, module.body)) else function
