"""Objects that drive a training for the program: ``Accelerator`` of accelerate and ``Fabric`` of Lightning.

They move models and batches, run backward, and set the boundary. What their methods do stands in ``frameworks.csv``.
"""

from __future__ import annotations

import functools
import re

from xlalint.facts.detectors.costly_calls import check_call
from xlalint.facts.detectors.loss import learn_loss
from xlalint.facts.detectors.text_reads import printed
from xlalint.facts.domain.declared import promised_result
from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.values import NONE, TRUE, UNKNOWN, KnownObject, Value
from xlalint.facts.libraries.frameworks.training import gathered, on_device, write
from xlalint.facts.libraries.installed.followed_calls import follow_method
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

DRIVERS = ("accelerate.Accelerator", "lightning.Fabric")
HANDED_ON = re.compile(r"(?P<callee>[\w.]+)(?:\((?P<key>\w+)=True\))?(?: where (?P<needed>\w+))?")


@functools.cache
def methods(kind: str) -> dict[str, str]:
    """The drivers' methods that have a row of this kind, with what it holds."""
    table = frameworks()
    names = [key.rpartition(".") for key in table.names(kind)]
    return {last: table.get(kind, f"{owner}.{last}") or "" for owner, _, last in names if owner in DRIVERS}


def call_driver(
    frame: Frame, role: KnownObject, name: str, arguments: list[Value], keywords: dict[str, Value], node: ir.Call
) -> Value:
    if name in methods("hands-on"):
        hand_on(frame, methods("hands-on")[name], keywords, node)
    if name in methods("prepares"):
        frame.sign("framework", node.at)
        values = [on_device(v) if type(v) is KnownObject and v.role == "loader" else v for v in arguments]
        return values[0] if len(values) == 1 else sequence("tuple", values)
    if name in methods("backward"):
        frame.sign("backward", node.at)
        frame.sign("framework", node.at)
        learn_loss(frame, node)
        frame.pending()
        return NONE
    if name in methods("gathers"):
        follow_method(frame, DRIVERS[0], name, arguments, keywords, node)
        if name in methods("boundary"):
            frame.boundary(node.at)
        return gathered(methods("gathers")[name], arguments)
    if name in methods("logging"):
        printed(frame, f"accelerator.{name}", arguments, node)
        return NONE
    if name in methods("writer"):
        return write(frame, role, name, arguments, keywords, node)
    followed = follow_method(frame, DRIVERS[0], name, arguments, keywords, node)
    return promised_result(DRIVERS, name, keywords) or followed or UNKNOWN


def hand_on(frame: Frame, row: str, keywords: dict[str, Value], node: ir.Call) -> None:
    """A method that calls a function whose cost is measured: its own arguments go to it by name."""
    match = HANDED_ON.fullmatch(row)
    if match is None or (match["needed"] and match["needed"] not in keywords):
        return
    default = {match["key"]: TRUE} if match["key"] else {}
    check_call(frame, match["callee"], [], {**default, **keywords}, node, fixable=False)
