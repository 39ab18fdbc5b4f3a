"""Objects that drive a training for the program: ``Accelerator`` of accelerate and ``Fabric`` of Lightning.

They move models and batches, run backward, and set the boundary. What their methods do stands in ``frameworks.csv``.
"""

from __future__ import annotations

import functools

from xlalint.facts.detectors.costly_calls import check_call
from xlalint.facts.detectors.loss import learn_loss
from xlalint.facts.detectors.text_reads import printed
from xlalint.facts.domain.declared import promised_result
from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import NONE, TRUE, UNKNOWN, KnownObject, Value
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries.frameworks.training import gathered, on_device, write
from xlalint.facts.libraries.installed.followed_calls import follow_method
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.sources.patterns import lazy_pattern

DRIVERS = ("accelerate.Accelerator", "lightning.Fabric")
HANDED_ON = lazy_pattern(r"(?P<callee>[\w.]+)(?:\((?P<key>\w+)=True\))?(?: where (?P<needed>\w+))?")


@functools.cache
def methods(kind: str) -> dict[str, str]:
    """The drivers' methods that have a row of this kind, with what it holds."""
    table = frameworks()
    names = [key.rpartition(".") for key in table.names(kind)]
    return {last: table.get(kind, f"{owner}.{last}") or "" for owner, _, last in names if owner in DRIVERS}


def call_driver(frame: Frame, role: KnownObject, call: Call) -> Value:
    if call.name in methods("hands-on"):
        check_forwarded_call(frame, methods("hands-on")[call.name], call)
    if call.name in methods("prepares"):
        frame.sign(SignKind.FRAMEWORK, call.node.at)
        values = [on_device(v) if type(v) is KnownObject and v.role == Role.LOADER else v for v in call.arguments]
        return values[0] if len(values) == 1 else sequence("tuple", values)
    if call.name in methods("backward"):
        frame.sign(SignKind.BACKWARD, call.node.at)
        frame.sign(SignKind.FRAMEWORK, call.node.at)
        learn_loss(frame, call.node)
        frame.pending()
        return NONE
    if call.name in methods("gathers"):
        follow_method(frame, DRIVERS[0], call)
        if call.name in methods("boundary"):
            frame.boundary(call.node.at)
        return gathered(methods("gathers")[call.name], call.arguments)
    if call.name in methods("logging"):
        printed(frame, f"accelerator.{call.name}", call)
        return NONE
    if call.name in methods("writer"):
        return write(frame, role, call)
    followed = follow_method(frame, DRIVERS[0], call)
    return promised_result(DRIVERS, call.name, call.keywords) or followed or UNKNOWN


def check_forwarded_call(frame: Frame, row: str, call: Call) -> None:
    """A method that calls a function whose cost is measured: its own arguments go to it by name."""
    match = HANDED_ON.fullmatch(row)
    if match is None or (match["needed"] and match["needed"] not in call.keywords):
        return
    default = {match["key"]: TRUE} if match["key"] else {}
    check_call(frame, Call(match["callee"], [], {**default, **call.keywords}, call.node), fixable=False)
