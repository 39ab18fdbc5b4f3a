"""Attribute queries: the join of the values that methods assign."""

from __future__ import annotations

from abc import abstractmethod

from xlalint.facts.domain.lattice import join_all
from xlalint.facts.domain.values import NONE, UNKNOWN, Function, Mapping, Sequence, Value
from xlalint.facts.engine.classes import Classes
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.memo import Budget, Summary
from xlalint.program import ir

CALL_DEPTH_FOR_ATTRIBUTES = 2
ONLY_CONSTANTS = -1
"""The budget of attributes of a default or a class value: what it asks for must not lead back to it."""


class Attributes(Classes):
    """The engine's queries about attributes; how a function is evaluated is the engine's own."""

    _attributes: dict[tuple[ir.ClassIR, str], list[tuple[int, Value | None, Summary]]]

    @abstractmethod
    def root(
        self,
        function: ir.FunctionIR,
        calls: int,
        attributes: int,
        closure: Function | None = None,
        seed: tuple[str, Value] | None = None,
    ) -> Summary: ...

    def attribute_value(self, frame: Frame, cls: ir.ClassIR, name: str) -> Value | None:
        """What ``self.name`` holds: the join of what the methods that assign it leave there."""
        depth = frame.depth
        key = (cls, name)
        for asked, value, answer in self._attributes.get(key, ()):
            if asked == depth.attributes or (answer.whole_attributes and answer.attributes <= depth.attributes):
                depth.used(answer, 0, answer.attributes)
                return value
        if depth.attributes <= 0:
            depth.cut_attributes()
            return None
        value, inner = self.assigned(cls, name, depth.attributes - 1)
        answer = Summary(UNKNOWN, {}, {}, False, 0, inner.needed_attributes + 1, True, inner.whole_attributes, 1)
        self._attributes.setdefault(key, []).append((depth.attributes, value, answer))
        depth.used(answer, 0, answer.attributes)
        return value

    def assigned(self, cls: ir.ClassIR, name: str, attributes: int) -> tuple[Value | None, Budget]:
        depth = Budget(CALL_DEPTH_FOR_ATTRIBUTES, attributes)
        for base in self.program.mro(cls):
            if not isinstance(base, ir.ClassIR):
                continue
            values = self.written(base, name, depth)
            declared = self.class_level(base, name)
            if values and declared is not NONE:
                return join_all(values), depth
            if declared is not None:
                return join_all([declared, *values]), depth
            if name in base.assigned_in:
                return UNKNOWN, depth
        return None, depth

    def written(self, cls: ir.ClassIR, name: str, depth: Budget) -> list[Value]:
        """What the methods of one class leave in an attribute. Those that also read it start from what the others
        leave there, so that ``self.x = self.x.to(device)`` keeps what is known of it."""
        assigning = cls.assigned_in.get(name, ())
        # What is assigned by its name is rarely set by another's, or from outside.
        given, by_name = cls.assigned_in.get("self", ()), cls.assigned_in.get("setattr", ())
        by_name = () if assigning else (*by_name, *given)
        names = dict.fromkeys((*assigning, *cls.assigned_in.get("*", ()), *by_name))
        methods = [cls.methods[method] for method in names if method in cls.methods]
        updating = [m for m in methods if name in m.uses.get("self", ()) and m.name != "__init__"]
        values: list[Value] = []
        for method in methods:
            if method not in updating:
                self.collect(method, name, None, depth, values)
        registered = [value for value in self.registered(cls, name, assigning, depth) if value is not UNKNOWN]
        if registered:
            # A buffer or a state stays what it was registered as, whatever is assigned to it.
            values = [value for value in values if value is not UNKNOWN]
        seed = (name, join_all(values)) if values else None
        for method in updating:
            self.collect(method, name, seed, depth, values)
        if values and all(map(is_empty, values)):
            self.fill(cls, name, methods, depth, values)
        return [value for value in values if value is not UNKNOWN] if registered else values

    def fill(
        self, cls: ir.ClassIR, name: str, assigning: list[ir.FunctionIR], depth: Budget, values: list[Value]
    ) -> None:
        """What methods put into a container that is empty where it is made."""
        seed = (name, join_all(values))
        for filling in cls.filled_in.get(name, ()):
            method = cls.methods.get(filling)
            if method is not None and method not in assigning:
                self.collect(method, name, seed, depth, values)

    def registered(self, cls: ir.ClassIR, name: str, assigning: tuple[str, ...], depth: Budget) -> list[Value]:
        """What ``register_buffer``, ``add_state`` and the like put into an attribute."""
        values: list[Value] = []
        for method in cls.assigned_in.get("*", ()):
            if method in cls.methods and method not in assigning:
                self.collect(cls.methods[method], name, None, depth, values)
        return values

    def collect(
        self,
        method: ir.FunctionIR,
        name: str,
        seed: tuple[str, Value] | None,
        depth: Budget,
        values: list[Value],
    ) -> None:
        answer = self.root(method, CALL_DEPTH_FOR_ATTRIBUTES, depth.attributes, None, seed)
        depth.used(answer, 0, answer.attributes)
        if name in answer.writes:
            values.append(answer.writes[name])

    def class_level(self, cls: ir.ClassIR, name: str) -> Value | None:
        entry = cls.attributes.get(name)
        if entry is None:
            return None
        value, annotation = entry
        if value is not None:
            holder = next(iter(cls.methods.values()), None) or self.body_of(cls)
            return self.default(value, holder) if holder is not None else UNKNOWN
        return self.annotated(annotation, cls.module) or UNKNOWN

    def body_of(self, cls: ir.ClassIR) -> ir.FunctionIR | None:
        module = self.program.module(cls.module)
        return module.body if module is not None else None

    def class_value(self, frame: Frame, cls: ir.ClassIR, name: str) -> Value | None:
        if frame.depth.attributes <= ONLY_CONSTANTS:
            return None
        for base in self.program.mro(cls):
            if isinstance(base, ir.ClassIR):
                value = self.class_level(base, name)
                if value is not None:
                    return value
        return None


def is_empty(value: Value) -> bool:
    """A list or dict that holds nothing, or of whose entries nothing is known but how they begin."""
    if type(value) is Sequence:
        return value.elements == ()
    if type(value) is Mapping:
        held = [part for _, part in value.items] + ([] if value.rest is None else [value.rest])
        return all(map(is_empty, held))
    return False
