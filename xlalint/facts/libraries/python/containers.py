"""Methods of containers, host values, modules, the program's objects, and of what nobody knows."""

from __future__ import annotations

from xlalint.facts.detectors.retained_outputs import check_kept
from xlalint.facts.detectors.text_reads import shown_tensor
from xlalint.facts.domain import domain as d
from xlalint.facts.domain.row_lengths import row_length
from xlalint.facts.events import Effect
from xlalint.facts.operations import members
from xlalint.facts.state.call import Arguments, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.store import keep
from xlalint.program import ir
from xlalint.program.traversal import receiver_node


def call_container(
    frame: Frame, receiver: d.Value, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    if type(receiver) is d.Sequence:
        return call_sequence(frame, receiver, name, arguments, node)
    assert type(receiver) is d.Mapping
    return call_mapping(frame, receiver, name, arguments, keywords, node)


def call_sequence(frame: Frame, receiver: d.Sequence, name: str, arguments: Arguments, node: ir.Call) -> d.Value:
    if name in ("append", "extend", "insert", "add", "appendleft"):
        added = arguments[-1] if arguments else d.UNKNOWN
        if name == "extend":
            added = members.element_of(frame, added)
        elif node.arguments:
            added = row_length(added, node.arguments[-1], frame.evaluate)
            if name == "append":
                check_kept(frame, added, node)
        empty = receiver.elements == ()
        keep(frame, node, d.sequence(receiver.kind, None, added if empty else d.join(receiver.element, added)))
        return d.NONE
    if name in ("index", "count", "remove"):
        sought = d.tensor_of(arguments[0]) if arguments else None
        held = d.tensor_of(receiver.element) if receiver.elements != () else None
        known = sought if sought is not None else held
        sure = (sought is None or d.surely_tensor(arguments[0])) and (held is None or d.surely_tensor(receiver.element))
        if known is not None and known.live and sure:
            frame.emit(Effect.COMPARED_ON_HOST, node.at, known, name, receiver_node(node))
        return d.INT
    if name == "pop":
        return receiver.element
    if name == "copy":
        return receiver
    return d.UNKNOWN


def call_mapping(
    frame: Frame, receiver: d.Mapping, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    if name in ("get", "pop", "setdefault"):
        key = arguments[0] if arguments else d.UNKNOWN
        default = arguments[1] if len(arguments) > 1 else d.NONE
        if type(key) is d.Host and key.known:
            found = receiver.get(key.constant)
            if found is not None:
                return found
            if receiver.rest is None:
                return default
        return d.join(receiver.rest, default) if receiver.rest is not None else d.UNKNOWN
    everything = d.joins([*(v for _, v in receiver.items), *([receiver.rest] if receiver.rest is not None else [])])
    if name == "items":
        if receiver.rest is None and 0 < len(receiver.items) <= 6:
            return d.sequence("list", [d.sequence("tuple", (d.constant(k), v)) for k, v in receiver.items])
        return d.sequence("list", None, d.sequence("tuple", (d.STR, everything)))
    if name == "values":
        return d.sequence("list", None, everything)
    if name == "keys":
        return d.sequence("list", None, d.STR)
    if name == "copy":
        return receiver
    if name == "update":
        items = dict(receiver.items)
        items.update((k, v) for k, v in keywords.items() if k != "**")
        rest = receiver.rest
        if arguments and type(arguments[0]) is d.Mapping:
            items.update(arguments[0].items)
            rest = d.join_maybe(rest, arguments[0].rest)
        elif arguments:
            rest = d.UNKNOWN
        keep(frame, node, d.mapping(tuple(items.items()), rest))
        return d.NONE
    return d.UNKNOWN


def call_host_method(
    frame: Frame, receiver: d.Host, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    if receiver.type == "str":
        if name == "format":
            for value in [*arguments, *keywords.values()]:
                known = shown_tensor(value)
                if known is not None:
                    frame.emit(Effect.PRINTED, node.at, known, "format", None)
                    break
        if name in ("split", "rsplit", "splitlines"):
            return d.sequence("list", None, d.STR)
        return (
            d.BOOL
            if name.startswith(("is", "starts", "ends"))
            else d.INT
            if name in ("find", "index", "count")
            else d.STR
        )
    if receiver.type == "numpy":
        return d.UNKNOWN if name == "item" else d.sequence("list", None, d.ANY_HOST) if name == "tolist" else d.NUMPY
    if receiver.type == "size":
        return d.INT
    return d.OBJECT if receiver.type == "object" else d.UNKNOWN
