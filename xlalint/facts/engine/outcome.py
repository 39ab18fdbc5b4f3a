"""Outcomes of a call: what its value says, what it leaves in its object, what its closures see."""

from __future__ import annotations

from xlalint.facts.domain.values import Function, Host, Sequence, Tensor, Value, function_value, is_guess
from xlalint.facts.state.environment import Names, join_environments
from xlalint.facts.state.frame import Frame


def is_guessed(value: Value) -> bool:
    """Nothing is known of it, or of its parts, but that tensors were at hand."""
    return is_guessed(value.element) if type(value) is Sequence else is_guess(value)


def holds_numbers(value: Value) -> bool:
    if type(value) is Sequence:
        return all(map(holds_numbers, value.elements or (value.element,)))
    return type(value) is Host and value.type in ("int", "float", "bool", "str")


def left_in_object(frame: Frame) -> Names:
    """What a method leaves in its object. A tensor is where the method's end has it, and not where it was on the way;
    what was of several kinds may be asked for in between."""
    ends = join_environments(frame.final, frame.environment) if frame.writes else None
    if ends is None:
        return frame.writes
    left = dict(frame.writes)
    for name, value in frame.writes.items():
        last = ends.get(f"self.{name}") if type(value) is Tensor and name not in frame.registered else None
        if type(last) is Tensor:
            left[name] = last
    return left


def with_later_names(closure: Function, final: Names | None) -> Function:
    """A closure that is handed on also sees the names that were bound after it was made."""
    known = {name for name, _ in closure.captured}
    later = tuple((n, final[n]) for n in closure.ir.free if n not in known and n in final) if final else ()
    if not later:
        return closure
    return function_value(closure.ir, closure.receiver, closure.captured + later, closure.bound, closure.bound_keywords)
