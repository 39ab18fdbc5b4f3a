"""Metrics and progress bars attached to an ignite engine.

A metric of ignite can't be made on an XLA device, so each update copies what the batch gave.
"""

from __future__ import annotations

import fnmatch
import functools

from xlalint.facts.detectors.text_reads import shown_tensor
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import NONE, UNKNOWN, Function, KnownObject, Value, known_object
from xlalint.facts.events import Effect
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.facts.libraries.frameworks.ignite import output_of
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

HOST_SUMS = "keeps its sums on the host, and reads the output of each batch"


def make_attachable(name: str, keywords: dict[str, Value]) -> Value | None:
    """A metric or a handler of ignite, by the function that picks what it is given from the engine's output."""
    if not name.rpartition(".")[2][:1].isupper() or effect_of(name) is None:
        return None
    return known_object(Role.ATTACHABLE, keywords.get("output_transform"), name)


@functools.cache
def effect_of(name: str) -> Effect | None:
    """What an object of a class does that is attached to an engine; None where nothing is known."""
    table = frameworks()
    rows = (table.get("attaches", key) for key in table.names("attaches") if fnmatch.fnmatchcase(name, key))
    return next((Effect(holds) for holds in rows if holds), None)


def attach(frame: Frame, attached: KnownObject, call: Call) -> Value:
    """``metric.attach(engine, "name")``: it reads in each step of the engine where that gives device tensors."""
    engine = call.arguments[0] if call.arguments else call.keywords.get("engine", UNKNOWN)
    name = attached.detail or ""
    effect = effect_of(name)
    if effect is Effect.METRIC_READ:
        note(frame, effect, engine, attached.element, name, call.node)
    elif effect is not None and "event_name" not in call.keywords and "output_transform" in call.keywords:
        note(frame, effect, engine, call.keywords["output_transform"], "attach", call.node)
    return UNKNOWN


def note(frame: Frame, effect: Effect, engine: Value, transform: Value | None, subject: str, node: ir.Call) -> None:

    output = output_of(engine)
    with frame.inside(RegionKind.LOOP, node.at, "loader", node.at):
        frame.sign(SignKind.FRAMEWORK, node.at)
        if type(transform) is Function:
            output = frame.call(transform, Call("", [output], {}, node))
        elif transform not in (None, NONE):
            output = UNKNOWN
        known = shown_tensor(output)
        if known is not None:
            detail = HOST_SUMS if effect is Effect.METRIC_READ else ""
            frame.emit(effect, node.at, known, subject, None, detail=detail)
