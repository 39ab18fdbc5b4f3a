"""Methods of lists, dicts and host values."""

from __future__ import annotations

from xlalint.facts.detectors.retained_outputs import check_kept
from xlalint.facts.detectors.text_reads import shown_tensor
from xlalint.facts.domain.lattice import join, join_all, join_maybe, sequence
from xlalint.facts.domain.row_lengths import row_length
from xlalint.facts.domain.values import (
    ANY_HOST,
    BOOL,
    INT,
    NONE,
    OBJECT,
    STR,
    UNKNOWN,
    Host,
    Mapping,
    Sequence,
    Value,
    constant,
    mapping,
    surely_tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.libraries.python.files import array_like
from xlalint.facts.libraries.python.named_attributes import set_fields
from xlalint.facts.operations import members
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.store import keep
from xlalint.program import ir
from xlalint.program.traversal import receiver_node


def call_sequence(frame: Frame, receiver: Sequence, call: Call) -> Value:
    if call.name in ("append", "extend", "insert", "add", "appendleft"):
        added = call.arguments[-1] if call.arguments else UNKNOWN
        if call.name == "extend":
            added = members.element_of(frame, added)
        elif call.node.arguments:
            added = row_length(added, call.node.arguments[-1], frame.evaluate)
            if call.name == "append":
                check_kept(frame, added, call.node)
        empty = receiver.elements == ()
        keep(frame, call.node, sequence(receiver.kind, None, added if empty else join(receiver.element, added)))
        return NONE
    if call.name in ("index", "count", "remove"):
        sought = tensor_of(call.arguments[0]) if call.arguments else None
        held = tensor_of(receiver.element) if receiver.elements != () else None
        known = sought if sought is not None else held
        sure = (sought is None or surely_tensor(call.arguments[0])) and (
            held is None or surely_tensor(receiver.element)
        )
        if known is not None and known.live and sure:
            frame.emit(Effect.COMPARED_ON_HOST, call.node.at, known, call.name, receiver_node(call.node))
        return INT
    if call.name == "pop":
        return receiver.element
    if call.name == "copy":
        return receiver
    return UNKNOWN


MOST_PAIRS = 16
"""Entries of a dict that are told apart where it is iterated."""


def call_mapping(frame: Frame, receiver: Mapping, call: Call) -> Value:
    if call.name in ("get", "pop", "setdefault"):
        key = call.arguments[0] if call.arguments else UNKNOWN
        default = call.arguments[1] if len(call.arguments) > 1 else NONE
        if type(key) is Host and key.known:
            found = receiver.get(key.constant)
            if found is not None:
                return found
            if receiver.rest is None:
                return default
            return join(receiver.rest, default)
        given = [default] if len(call.arguments) > 1 else []
        others = [] if receiver.rest is None else [receiver.rest]
        return join_all([*(value for _, value in receiver.items), *others, *given])
    everything = join_all([*(v for _, v in receiver.items), *([receiver.rest] if receiver.rest is not None else [])])
    if call.name == "items":
        if receiver.rest is None and 0 < len(receiver.items) <= MOST_PAIRS:
            return sequence("list", [sequence("tuple", (constant(k), v)) for k, v in receiver.items])
        return sequence("list", None, sequence("tuple", (STR, everything)))
    if call.name == "values":
        return sequence("list", None, everything)
    if call.name == "keys":
        return sequence("list", None, STR)
    if call.name == "copy":
        return receiver
    if call.name == "update":
        items = dict(receiver.items)
        items.update((k, v) for k, v in call.keywords.items() if k != "**")
        rest = receiver.rest
        if call.arguments and type(call.arguments[0]) is Mapping:
            items.update(call.arguments[0].items)
            rest = join_maybe(rest, call.arguments[0].rest)
        elif call.arguments:
            rest = UNKNOWN
        updated = mapping(tuple(items.items()), rest)
        held = receiver_node(call.node)
        if type(held) is ir.Attribute and held.name == "__dict__":
            set_fields(frame, held.value, updated, call.node.at)
        else:
            keep(frame, call.node, updated)
        return NONE
    return UNKNOWN


def call_host_method(frame: Frame, receiver: Host, call: Call) -> Value:
    if receiver.type == "str":
        if call.name == "format":
            for value in [*call.arguments, *call.keywords.values()]:
                known = shown_tensor(value)
                if known is not None:
                    frame.emit(Effect.PRINTED, call.node.at, known, "format", None)
                    break
        if call.name in ("split", "rsplit", "splitlines"):
            return sequence("list", None, STR)
        return (
            BOOL
            if call.name.startswith(("is", "starts", "ends"))
            else INT
            if call.name in ("find", "index", "count")
            else STR
        )
    if receiver.type == "numpy":
        if call.name in ("item", "tolist"):
            return UNKNOWN if call.name == "item" else sequence("list", None, ANY_HOST)
        return array_like(call, [receiver])
    if receiver.type == "size":
        return INT
    return OBJECT if receiver.type == "object" else UNKNOWN
