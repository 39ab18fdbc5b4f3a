"""Methods of modules: those that every module has, and those of containers of modules."""

from __future__ import annotations

from xlalint.facts.detectors.costly_calls import note_cuda
from xlalint.facts.detectors.growing_modules import check_added, check_hooked
from xlalint.facts.detectors.mode_switches import switch_mode
from xlalint.facts.detectors.round_trips import check_way_to_host
from xlalint.facts.detectors.unsupported import check_restrictions
from xlalint.facts.detectors.uploads import check_module
from xlalint.facts.domain.lattice import join, sequence
from xlalint.facts.domain.values import (
    NONE,
    OBJECT,
    STR,
    UNKNOWN,
    Mapping,
    Module,
    Sequence,
    Value,
    known_object,
    mapping,
    module_value,
    of_rank,
    tensor,
)
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
    frame: Frame, receiver: Value, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value | None:
    """Methods that every torch module has; None for others."""
    if name in ("train", "eval"):
        if not keywords.keys() <= {"mode"} or len(arguments) > 1:
            # That of a trainer, and no switch.
            return UNKNOWN
        switch_mode(frame, name, [*arguments, *keywords.values()], node)
        return receiver
    check_hooked(frame, name, node)
    if name in MODULE_RESULTS:
        if name in ("parameters", "buffers"):
            return known_object("parameters", tensor(dtype="float"))
        return MODULE_RESULTS[name]
    if name == "cuda":
        note_cuda(frame, node)
        return receiver
    if name in ("to", "cpu", "float", "half", "double", "bfloat16", "requires_grad_", "apply", "type"):
        if type(receiver) is Module or members.is_module_class(frame, receiver.ir):  # type: ignore[attr-defined]
            check_way_to_host(frame, name, arguments, keywords, node)
        if type(receiver) is Module:
            check_module(frame, receiver, name, node)
        return receiver
    if name == "compile":
        check_restrictions(frame, "torch.nn.Module.compile", arguments, keywords, node)
        return NONE
    if name == "no_sync":
        return OBJECT
    return None


MODULE_RESULTS: dict[str, Value] = {
    "parameters": UNKNOWN,
    "buffers": UNKNOWN,
    "named_parameters": known_object("parameters", sequence("tuple", (STR, tensor(dtype="float")))),
    "named_buffers": known_object("parameters", sequence("tuple", (STR, tensor(dtype="float", grad=False)))),
    "modules": sequence("list", None, module_value("?")),
    "children": sequence("list", None, module_value("?")),
    "named_modules": sequence("list", None, sequence("tuple", (STR, module_value("?")))),
    "named_children": sequence("list", None, sequence("tuple", (STR, module_value("?")))),
    "state_dict": mapping((), tensor(dtype=None)),
    "clip_grad_norm_": tensor(dtype="float", dims=()),  # of a model that FSDP has wrapped
    "zero_grad": NONE,
    "load_state_dict": UNKNOWN,
    "get_submodule": module_value("?"),
}


def call_made_module(
    frame: Frame, receiver: Module, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value:
    found = call_module_method(frame, receiver, name, arguments, keywords, node)
    if found is None and name != "forward":
        found = follow_made(frame, receiver.given, name, arguments, keywords, node)
    if found is not None:
        return found
    if name == "forward" or (receiver.name == "?" and name in ("module", "generate", "encode", "decode", "sample")):
        if name == "generate":
            frame.emit(Effect.GENERATE, node.at, NONE, "generate", receiver_node(node), certainty=1)
            return tensor(dtype="int", dims=of_rank(2), certainty=1)
        return modules.call_module(frame, receiver, arguments, keywords, node)
    check_added(frame, receiver, name, node)
    if name in ("append", "extend") and arguments:
        added = members.element_of(frame, arguments[0]) if name == "extend" else arguments[0]
        elements = receiver.elements
        if type(elements) is Sequence and elements.elements != ():
            added = join(elements.element, added)
        keep(frame, node, module_value(receiver.name, sequence("list", None, added), receiver.costs))
        return NONE
    if name in ("items", "values", "keys") and type(receiver.elements) is Mapping:
        return call_mapping(frame, receiver.elements, name, arguments, keywords, node)
    if receiver.name == "?" and name == "step":
        frame.sign("optimizer-step", node.at)
    return UNKNOWN
