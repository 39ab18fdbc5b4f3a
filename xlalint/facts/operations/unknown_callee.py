"""Calls of which nothing is known but what they are given."""

from __future__ import annotations

from xlalint.facts.domain import domain as d
from xlalint.facts.state.call import Arguments, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.program import ir


def call_unknown(frame: Frame, arguments: Arguments, keywords: Keywords, node: ir.Call) -> d.Value:
    """Something unknown that is fed a batch in a step loop is taken for a model; what is made of tensors, for one."""
    if any(type(a) is d.Role and a.role == "batch" for a in arguments) or (
        type(keywords.get("**")) is d.Tensor and "**" in keywords
    ):
        frame.sign("model-call", node.at)
        return d.role("output", d.tensor(certainty=1))
    if any(holds_live_tensor(value) for value in (*arguments, *keywords.values())):
        return DERIVED
    return d.UNKNOWN


DERIVED = d.role("derived", d.tensor(certainty=0))


def holds_live_tensor(value: d.Value) -> bool:
    if type(value) is d.Sequence:
        value = value.element
    known = d.tensor_of(d.as_operand(value))
    return known is not None and known.live
