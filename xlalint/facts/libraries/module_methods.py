"""Methods of modules: those that every module has, and those of containers of modules."""

from __future__ import annotations

from xlalint.facts.detectors.costly_calls import note_cuda
from xlalint.facts.detectors.growing_modules import check_added, check_hooked
from xlalint.facts.detectors.mode_switches import switch_mode
from xlalint.facts.detectors.round_trips import check_way_to_host
from xlalint.facts.detectors.unsupported import check_restrictions
from xlalint.facts.detectors.uploads import check_module
from xlalint.facts.domain import domain as d
from xlalint.facts.events import Effect
from xlalint.facts.libraries.installed.followed_calls import follow_made
from xlalint.facts.libraries.python.containers import call_mapping
from xlalint.facts.libraries.torch import modules
from xlalint.facts.operations import members
from xlalint.facts.state.call import Arguments, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.store import keep
from xlalint.program import ir
from xlalint.program.traversal import receiver_node


def call_module_method(
    frame: Frame, receiver: d.Value, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value | None:
    """Methods that every torch module has; None for others."""
    if name in ("train", "eval"):
        if not keywords.keys() <= {"mode"} or len(arguments) > 1:
            # That of a trainer, and no switch.
            return d.UNKNOWN
        switch_mode(frame, name, [*arguments, *keywords.values()], node)
        return receiver
    check_hooked(frame, name, node)
    if name in MODULE_RESULTS:
        if name in ("parameters", "buffers"):
            return d.role("parameters", d.tensor(dtype="float"))
        return MODULE_RESULTS[name]
    if name == "cuda":
        note_cuda(frame, node)
        return receiver
    if name in ("to", "cpu", "float", "half", "double", "bfloat16", "requires_grad_", "apply", "type"):
        if type(receiver) is d.Module or members.is_module_class(frame, receiver.ir):  # type: ignore[attr-defined]
            check_way_to_host(frame, name, arguments, keywords, node)
        if type(receiver) is d.Module:
            check_module(frame, receiver, name, node)
        return receiver
    if name == "compile":
        check_restrictions(frame, "torch.nn.Module.compile", arguments, keywords, node)
        return d.NONE
    if name == "no_sync":
        return d.OBJECT
    return None


MODULE_RESULTS: dict[str, d.Value] = {
    "parameters": d.UNKNOWN,
    "buffers": d.UNKNOWN,
    "named_parameters": d.role("parameters", d.sequence("tuple", (d.STR, d.tensor(dtype="float")))),
    "named_buffers": d.role("parameters", d.sequence("tuple", (d.STR, d.tensor(dtype="float", grad=False)))),
    "modules": d.sequence("list", None, d.module("?")),
    "children": d.sequence("list", None, d.module("?")),
    "named_modules": d.sequence("list", None, d.sequence("tuple", (d.STR, d.module("?")))),
    "named_children": d.sequence("list", None, d.sequence("tuple", (d.STR, d.module("?")))),
    "state_dict": d.mapping((), d.tensor(dtype=None)),
    "clip_grad_norm_": d.tensor(dtype="float", dims=()),  # of a model that FSDP has wrapped
    "zero_grad": d.NONE,
    "load_state_dict": d.UNKNOWN,
    "get_submodule": d.module("?"),
}


def call_made_module(
    frame: Frame, receiver: d.Module, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    found = call_module_method(frame, receiver, name, arguments, keywords, node)
    if found is None and name != "forward":
        found = follow_made(frame, receiver.given, name, arguments, keywords, node)
    if found is not None:
        return found
    if name == "forward" or (receiver.name == "?" and name in ("module", "generate", "encode", "decode", "sample")):
        if name == "generate":
            frame.emit(Effect.GENERATE, node.at, d.NONE, "generate", receiver_node(node), certainty=1)
            return d.tensor(dtype="int", dims=d.of_rank(2), certainty=1)
        return modules.call_module(frame, receiver, arguments, keywords, node)
    check_added(frame, receiver, name, node)
    if name in ("append", "extend") and arguments:
        added = members.element_of(frame, arguments[0]) if name == "extend" else arguments[0]
        elements = receiver.elements
        if type(elements) is d.Sequence and elements.elements != ():
            added = d.join(elements.element, added)
        keep(frame, node, d.module(receiver.name, d.sequence("list", None, added), receiver.costs))
        return d.NONE
    if name in ("items", "values", "keys") and type(receiver.elements) is d.Mapping:
        return call_mapping(frame, receiver.elements, name, arguments, keywords, node)
    if receiver.name == "?" and name == "step":
        frame.sign("optimizer-step", node.at)
    return d.UNKNOWN
