"""Callbacks that a program passes to a framework by keyword: ``Trainer(compute_metrics=f)``.

How often, and with what, stands in ``frameworks.csv``: ``step evaluation: tensor xla; tensor xla``.
"""

from __future__ import annotations

import functools

from xlalint.facts.domain.declared import is_a, parsed
from xlalint.facts.domain.values import INT, Class, Function, Instance, Namespace, Sequence, Struct, Value, host
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

CALLABLE = (Function, Instance, Struct)


@functools.cache
def rows() -> dict[str, tuple[tuple[str, str, tuple[Value, ...]], ...]]:
    """By keyword: whose calls take it, the pace, and what the function is given."""
    found: dict[str, list[tuple[str, str, tuple[Value, ...]]]] = {}
    for key in sorted(frameworks().names("calls-back")):
        owner, _, keyword = key.rpartition(".")
        pace, _, given = (frameworks().get("calls-back", key) or "").partition(":")
        values = tuple(parsed(text.strip()) for text in given.split(";")) if given else ()
        found.setdefault(keyword, []).append((owner, pace, values))
    return {key: tuple(values) for key, values in found.items()}


def check_called_back(frame: Frame, callee: Value, call: Call) -> None:
    if not call.keywords or rows().keys().isdisjoint(call.keywords):
        return
    names = names_of(frame, callee)
    expressions = {name: value for name, value in call.node.keywords if name is not None}
    for keyword in sorted(rows().keys() & call.keywords.keys() & expressions.keys()):
        for owner, pace, given in rows()[keyword]:
            if owner == "*" or any(is_a(name, owner) for name in names):
                for function in functions_in(call.keywords[keyword]):
                    run_callback(
                        frame, function, pace, given, call.node, getattr(expressions[keyword], "at", call.node.at)
                    )


def names_of(frame: Frame, callee: Value) -> tuple[str, ...]:
    if type(callee) is Namespace:
        return (callee.name,)
    return frame.engine.class_names(callee.ir) if type(callee) is Class else ()


def functions_in(value: Value) -> list[Value]:
    parts = value.elements or () if type(value) is Sequence else (value,)
    return [part for part in parts if type(part) in CALLABLE]


def run_callback(frame: Frame, function: Value, pace: str, given: tuple[Value, ...], node: ir.Call, at: int) -> None:
    heat, *words = pace.split()
    region = RegionKind.COLLATE if "host" in words else RegionKind.LOOP if heat == "step" else RegionKind(heat)
    with frame.inside(region, at, "loader" if region is RegionKind.LOOP else "", at):
        if region is RegionKind.LOOP:
            # A loop of steps that the framework has: it trains, unless the row says that it evaluates.
            frame.sign(SignKind.FRAMEWORK, at)
            if "evaluation" not in words:
                frame.sign(SignKind.BACKWARD, at)
        counted = host("int", varies=frame.loop_key())
        frame.call(function, Call("", [counted if value is INT else value for value in given], {}, node))
