"""Methods of modules: those that every module has, and those of containers of modules."""

from __future__ import annotations

from xlalint.facts.detectors.costly_calls import note_cuda
from xlalint.facts.detectors.growing_modules import check_added, check_hooked
from xlalint.facts.detectors.mode_switches import switch_mode
from xlalint.facts.detectors.round_trips import check_way_to_host
from xlalint.facts.detectors.unsupported import check_restrictions
from xlalint.facts.detectors.uploads import check_module
from xlalint.facts.domain.known_names import GENERATION_OPTIONS, LANGUAGE_MODELS
from xlalint.facts.domain.lattice import join, sequence
from xlalint.facts.domain.refinement import at_most
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    HOST,
    NONE,
    OBJECT,
    STR,
    UNKNOWN,
    Instance,
    Mapping,
    Module,
    Sequence,
    Struct,
    Value,
    known_object,
    mapping,
    module_value,
    of_rank,
    tensor,
)
from xlalint.facts.events import Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries.installed.followed_calls import follow_made
from xlalint.facts.libraries.python.containers import call_mapping
from xlalint.facts.libraries.torch import modules
from xlalint.facts.libraries.torch.tensorless_classes import registers_no_tensor
from xlalint.facts.operations import members
from xlalint.facts.operations.placement import lies_on_host
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.store import keep
from xlalint.program.traversal import receiver_node


def call_module_method(frame: Frame, receiver: Module | Instance | Struct, call: Call) -> Value | None:
    """Methods that every torch module has; None for others."""
    if call.name in ("train", "eval"):
        if not call.keywords.keys() <= {"mode"} or len(call.arguments) > 1:
            # That of a trainer, and no switch.
            return UNKNOWN
        switch_mode(frame, call.given([*call.arguments, *call.keywords.values()]))
        return receiver
    check_hooked(frame, call.name, call.node)
    if call.name in MODULE_RESULTS:
        return held_by(receiver, MODULE_RESULTS[call.name])
    if call.name == "cuda":
        if not holds_no_tensors(frame, receiver):
            note_cuda(frame, call.node)
        return receiver
    if call.name in ("to", "cpu", "float", "half", "double", "bfloat16", "requires_grad_", "apply", "type"):
        if isinstance(receiver, Module) or members.is_module_class(frame, receiver.ir):
            check_way_to_host(frame, call)
        if type(receiver) is Module:
            check_module(frame, receiver, call.name, call.node)
        return receiver
    if call.name == "compile":
        check_restrictions(frame, call.named("torch.nn.Module.compile"))
        return NONE
    if call.name == "no_sync":
        return OBJECT
    return None


def holds_no_tensors(frame: Frame, receiver: Module | Instance | Struct) -> bool:
    if isinstance(receiver, Module):
        return modules.holds_no_tensors(receiver)
    return registers_no_tensor(receiver.ir, frame.engine.program)


def generates_tokens(frame: Frame, call: Call) -> bool:
    """Whether a ``generate`` is that of a language model, and not that of any model that makes something: by what it is
    given, or by what else its file works with."""
    module = frame.engine.program.module(frame.path)
    imported = (*module.imports.values(), *module.star_imports) if module is not None else ()
    return not call.keywords.keys().isdisjoint(GENERATION_OPTIONS) or any(
        name.partition(".")[0] in LANGUAGE_MODELS for name in imported
    )


def held_by(receiver: Module | Instance | Struct, value: Value) -> Value:
    """Where the tensors of a module lie that is only learned by its use, is as likely and no surer."""
    return at_most(value, 1) if type(receiver) is Module and receiver.name == "?" else value


MODULE_RESULTS: dict[str, Value] = {
    **dict.fromkeys(("parameters", "buffers"), known_object(Role.PARAMETERS, tensor(dtype="float"))),
    "named_parameters": known_object(Role.PARAMETERS, sequence("tuple", (STR, tensor(dtype="float")))),
    "named_buffers": known_object(Role.PARAMETERS, sequence("tuple", (STR, tensor(dtype="float", grad=False)))),
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


def call_made_module(frame: Frame, receiver: Module, call: Call) -> Value:
    found = call_module_method(frame, receiver, call)
    if found is None and call.name != "forward":
        found = follow_made(frame, receiver.given, call)
    if found is not None:
        return found
    if call.name == "forward" or (
        receiver.name == "?" and call.name in ("module", "generate", "encode", "decode", "sample")
    ):
        if call.name == "generate" and generates_tokens(frame, call):
            if lies_on_host((*call.arguments, *call.keywords.values())):
                # The model lies where its input does, or this would raise.
                return tensor(HOST, dtype="int", dims=of_rank(2), certainty=1)
            frame.emit(Effect.GENERATE, call.node.at, NONE, "generate", receiver_node(call.node), certainty=1)
            return tensor(dtype="int", dims=of_rank(2), certainty=1)
        return modules.call_module(frame, receiver, call)
    check_added(frame, receiver, call.name, call.node)
    if call.name in ("append", "extend") and call.arguments:
        added = members.element_of(frame, call.arguments[0]) if call.name == "extend" else call.arguments[0]
        elements = receiver.elements
        if type(elements) is Sequence and elements.elements != ():
            added = join(elements.element, added)
        keep(frame, call.node, module_value(receiver.name, sequence("list", None, added), receiver.costs))
        return NONE
    if call.name in ("items", "values", "keys") and type(receiver.elements) is Mapping:
        return call_mapping(frame, receiver.elements, call)
    if receiver.name == "?" and call.name == "step":
        frame.sign(SignKind.OPTIMIZER_STEP, call.node.at)
    return UNKNOWN
