"""Collectives that only some ranks get to: the others never come, and each waits for all."""

from __future__ import annotations

from xlalint.facts.domain.values import NONE
from xlalint.facts.events import Effect
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks

GROUPS = frozenset({"group", "groups", "process_group", "pg"})


def check_rank(frame: Frame, call: Call) -> None:
    """Note a collective behind a test of the rank. One that is given a group may be meant for those ranks alone."""
    waits = frameworks().get("collective", call.name)
    if waits is None or not GROUPS.isdisjoint(call.keywords) or (waits == "of all" and call.arguments):
        return
    frame.emit(Effect.COLLECTIVE_BY_RANK, call.node.at, NONE, call.last, certainty=1)
