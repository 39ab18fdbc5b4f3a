"""Methods of containers, host values, modules, the program's objects, and of what nobody knows."""

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
    NUMPY,
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
from xlalint.facts.operations import members
from xlalint.facts.state.call import Arguments, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.store import keep
from xlalint.program import ir
from xlalint.program.traversal import receiver_node


def call_container(
    frame: Frame, receiver: Value, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value:
    if type(receiver) is Sequence:
        return call_sequence(frame, receiver, name, arguments, node)
    assert type(receiver) is Mapping
    return call_mapping(frame, receiver, name, arguments, keywords, node)


def call_sequence(frame: Frame, receiver: Sequence, name: str, arguments: Arguments, node: ir.Call) -> Value:
    if name in ("append", "extend", "insert", "add", "appendleft"):
        added = arguments[-1] if arguments else UNKNOWN
        if name == "extend":
            added = members.element_of(frame, added)
        elif node.arguments:
            added = row_length(added, node.arguments[-1], frame.evaluate)
            if name == "append":
                check_kept(frame, added, node)
        empty = receiver.elements == ()
        keep(frame, node, sequence(receiver.kind, None, added if empty else join(receiver.element, added)))
        return NONE
    if name in ("index", "count", "remove"):
        sought = tensor_of(arguments[0]) if arguments else None
        held = tensor_of(receiver.element) if receiver.elements != () else None
        known = sought if sought is not None else held
        sure = (sought is None or surely_tensor(arguments[0])) and (held is None or surely_tensor(receiver.element))
        if known is not None and known.live and sure:
            frame.emit(Effect.COMPARED_ON_HOST, node.at, known, name, receiver_node(node))
        return INT
    if name == "pop":
        return receiver.element
    if name == "copy":
        return receiver
    return UNKNOWN


def call_mapping(
    frame: Frame, receiver: Mapping, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value:
    if name in ("get", "pop", "setdefault"):
        key = arguments[0] if arguments else UNKNOWN
        default = arguments[1] if len(arguments) > 1 else NONE
        if type(key) is Host and key.known:
            found = receiver.get(key.constant)
            if found is not None:
                return found
            if receiver.rest is None:
                return default
        return join(receiver.rest, default) if receiver.rest is not None else UNKNOWN
    everything = join_all([*(v for _, v in receiver.items), *([receiver.rest] if receiver.rest is not None else [])])
    if name == "items":
        if receiver.rest is None and 0 < len(receiver.items) <= 6:
            return sequence("list", [sequence("tuple", (constant(k), v)) for k, v in receiver.items])
        return sequence("list", None, sequence("tuple", (STR, everything)))
    if name == "values":
        return sequence("list", None, everything)
    if name == "keys":
        return sequence("list", None, STR)
    if name == "copy":
        return receiver
    if name == "update":
        items = dict(receiver.items)
        items.update((k, v) for k, v in keywords.items() if k != "**")
        rest = receiver.rest
        if arguments and type(arguments[0]) is Mapping:
            items.update(arguments[0].items)
            rest = join_maybe(rest, arguments[0].rest)
        elif arguments:
            rest = UNKNOWN
        keep(frame, node, mapping(tuple(items.items()), rest))
        return NONE
    return UNKNOWN


def call_host_method(
    frame: Frame, receiver: Host, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value:
    if receiver.type == "str":
        if name == "format":
            for value in [*arguments, *keywords.values()]:
                known = shown_tensor(value)
                if known is not None:
                    frame.emit(Effect.PRINTED, node.at, known, "format", None)
                    break
        if name in ("split", "rsplit", "splitlines"):
            return sequence("list", None, STR)
        return BOOL if name.startswith(("is", "starts", "ends")) else INT if name in ("find", "index", "count") else STR
    if receiver.type == "numpy":
        return UNKNOWN if name == "item" else sequence("list", None, ANY_HOST) if name == "tolist" else NUMPY
    if receiver.type == "size":
        return INT
    return OBJECT if receiver.type == "object" else UNKNOWN
