"""Class queries: the kind of the program's classes, and what their subclasses share."""

from __future__ import annotations

from xlalint.facts.domain.known_names import is_module_base
from xlalint.facts.domain.values import Function, Instance, function_value, instance
from xlalint.facts.state.frame import Evaluator
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.link import Program


def imports_other_arrays(module: ir.ModuleIR) -> bool:
    """Whether a file computes with tensorflow, jax or their like, and not with torch."""
    heads = {name.partition(".")[0] for name in (*module.imports.values(), *module.star_imports)}
    return not heads.isdisjoint(frameworks().names("arrays")) and not any(head.startswith("torch") for head in heads)


class Classes(Evaluator):
    """The engine's queries about classes; each is answered once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._module_classes: dict[ir.ClassIR, bool] = {}
        self._class_names: dict[ir.ClassIR, tuple[str, ...]] = {}
        self._elsewhere: dict[str, bool] = {}

    def computes_elsewhere(self, path: str) -> bool:
        known = self._elsewhere.get(path)
        if known is None:
            module = self.program.module(path)
            known = self._elsewhere[path] = module is not None and imports_other_arrays(module)
        return known

    def is_module_class(self, cls: ir.ClassIR) -> bool:
        known = self._module_classes.get(cls)
        if known is None:
            known = self._module_classes[cls] = any(map(is_module_base, self.program.external_bases(cls)))
        return known

    def tells_own_gradient(self, function: ir.FunctionIR) -> bool:
        """A method of an ``autograd.Function``: what it computes is not differentiated."""
        cls = self.program.owner(function) if function.owner else None
        return cls is not None and "torch.autograd.Function" in self.class_names(cls)

    def class_names(self, cls: ir.ClassIR) -> tuple[str, ...]:
        """The names of a class and of its bases, those outside of the program dotted."""
        known = self._class_names.get(cls)
        if known is None:
            names = (base if isinstance(base, str) else base.name for base in self.program.mro(cls))
            known = self._class_names[cls] = tuple(names)
        return known

    def is_set_up(self, function: ir.FunctionIR) -> bool:
        """A method that frameworks call once: what it leaves in its object is asked for by attribute."""
        if not function.owner or function.name.startswith("__"):
            return False
        row = frameworks().get("entry", function.name)
        return row is not None and row.startswith("once")

    def generalised(self, callee: Function) -> Function:
        """A method that uses nothing which its object's class overrides is evaluated once for all subclasses."""
        receiver = callee.receiver
        if type(receiver) is not Instance or not callee.ir.owner:
            return callee
        owner = self.program.owner(callee.ir)
        if owner is None or owner is receiver.ir:
            return callee
        if callee.ir.name != "__init__":
            own = self.program.defined_before(receiver.ir, owner)
            if not own.isdisjoint(self.program.reached_names(owner, callee.ir.name)):
                return callee
        return function_value(callee.ir, instance(owner), callee.captured, callee.bound, callee.bound_keywords)
