"""Random numbers of the host: rows ``draw`` of the framework table."""

from __future__ import annotations

from xlalint.facts.domain.values import NONE, NUMPY, Host, Sequence, Value, host
from xlalint.facts.operations.members import element_of
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks

SIZE = "size="


def drawn(frame: Frame, call: Call) -> Value | None:
    """What a generator of the host gives; None where nothing is known of the function.

    A row holds the type of one number, and which argument makes it an array, ``*`` for any.
    """
    holds = frameworks().get("draw", call.name)
    if holds is None:
        return None
    kind, _, size = holds.partition(" ")
    if kind == "element":
        return element(frame, call)
    if kind not in ("int", "float"):
        return None
    given = call.keywords.get("size", NONE)
    if size == "*":
        given = call.arguments[0] if call.arguments else given
    elif size.startswith(SIZE) and len(call.arguments) > int(size.removeprefix(SIZE)):
        given = call.arguments[int(size.removeprefix(SIZE))]
    if given is not NONE:
        return NUMPY
    return host(kind, varies=frame.draw_key())


def element(frame: Frame, call: Call) -> Value | None:
    """``choice(values)``: one of a few that are written out is one of as many graphs."""
    given = call.arguments[0] if call.arguments else None
    if given is None or len(call.arguments) > 1 or "size" in call.keywords:
        return None
    if type(given) is Sequence and given.elements:
        return given.element
    if type(given) is Host and given.type == "int":
        # ``numpy.random.choice(n)`` draws from ``range(n)``.
        return host("int", varies=frame.draw_key())
    one = element_of(frame, given)
    if type(one) is Host:
        return host(one.type, varies=frame.draw_key(), read_from_device=one.read_from_device)
    return one if call.name.startswith("random.") else None
