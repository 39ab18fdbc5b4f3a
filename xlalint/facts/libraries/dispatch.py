"""Dispatch of external calls to whoever models them: rows of the framework table, torch's packages, roles,
receivers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from xlalint.facts.detectors.costly_calls import check_call
from xlalint.facts.detectors.graph_breaks import check_break, check_external, note_compiled
from xlalint.facts.detectors.padding import check_collator, check_padding_call
from xlalint.facts.detectors.profiler import note_profiler
from xlalint.facts.detectors.ranks import check_rank
from xlalint.facts.detectors.text_reads import printed
from xlalint.facts.detectors.timers import note_wait
from xlalint.facts.detectors.unsupported import check_restrictions
from xlalint.facts.domain.declared import parsed
from xlalint.facts.domain.lattice import join_maybe
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    FALSE,
    HOST,
    NONE,
    NUMPY,
    OBJECT,
    RANK,
    TENSOR_ROLES,
    UNKNOWN,
    XLA,
    XLA_DEVICE,
    Class,
    Function,
    Host,
    Instance,
    KnownObject,
    Mapping,
    Module,
    Sequence,
    Struct,
    Super,
    Tensor,
    Value,
    host,
    known_object,
    module_value,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.guards.device_branches import STAND_IN
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.facts.libraries.frameworks import training
from xlalint.facts.libraries.frameworks.diffusers import call_pipeline, made_by_diffusers
from xlalint.facts.libraries.frameworks.ignite_factories import make_engine
from xlalint.facts.libraries.frameworks.ignite_metrics import make_attachable
from xlalint.facts.libraries.frameworks.metrics import call_metric
from xlalint.facts.libraries.frameworks.scalers import call_scaler, make_scaler
from xlalint.facts.libraries.installed.followed_calls import INSTALLED, follow_made
from xlalint.facts.libraries.installed.pretrained import made_model
from xlalint.facts.libraries.module_methods import call_made_module
from xlalint.facts.libraries.packages import HEADS
from xlalint.facts.libraries.program_objects import add_state, call_class_method, call_object_method, call_super
from xlalint.facts.libraries.python import containers
from xlalint.facts.libraries.python.files import kept_by_row, read_here
from xlalint.facts.libraries.roles import call_role_method
from xlalint.facts.libraries.torch import factories, modules
from xlalint.facts.libraries.torch.loading import loaded
from xlalint.facts.libraries.torch.tensor_methods import call_tensor_method
from xlalint.facts.libraries.unknown_objects import call_unknown_method
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

MODEL_MAKERS = frozenset(
    {"create_model", "from_pretrained", "from_config", "from_timm", "get_peft_model", "build_model", "get_model"}
)
ENTERED = frozenset({"no_grad", "inference_mode", "enable_grad", "autocast", "set_grad_enabled"})


def note_external(frame: Frame, call: Call) -> None:
    check_restrictions(frame, call)
    note_profiler(frame, call)
    note_wait(frame, call.name, call.node)
    check_external(frame, call.name, call.node)
    check_call(frame, call)


def call_library(frame: Frame, call: Call) -> Value | None:
    """None where the name is one of torch's ops, or not known here."""
    note_external(frame, call)
    head, _, rest = call.name.partition(".")
    if head == "torch" or head == "torch_xla":
        return call_torch_library(frame, rest, call)
    handler = HEADS.get(head)
    if handler is not None:
        return handler(frame, call)
    if head in frameworks().names("arrays") and not any(map(tensor_of, call.arguments)):
        return NUMPY
    return call_framework(frame, call)


def call_torch_library(frame: Frame, rest: str, call: Call) -> Value | None:
    found = call_framework_row(frame, call)
    if found is not None:
        return found
    if call.last in ENTERED:
        return known_object(Role.CONTEXT, None, call.last)
    if call.name.startswith(STAND_IN) and call.last in factories.LEGACY:
        return factories.made_by_type(frame, XLA, call)
    if rest.startswith("nn.") and (call.last[:1].isupper() or call.last in modules.PARAMETRIZING):
        if frameworks().get("weighted", call.last) is not None:
            frame.sign(SignKind.MAKES_MODEL, call.node.at)
        return modules.make_module(frame, call)
    if rest.startswith("optim."):
        if call.last[:1].isupper():
            if "lr_scheduler" in rest:
                return known_object(Role.SCHEDULER, None, call.name)
            frame.sign(SignKind.MAKES_MODEL, call.node.at)
            return training.make_optimizer(call)
        return UNKNOWN
    if call.name == "torch.compile":
        note_compiled(frame, call)
    if rest == "compile" or rest.startswith("jit."):
        return call.arguments[0] if call.arguments else UNKNOWN
    if call.last == "SummaryWriter":
        return known_object(Role.WRITER)
    if rest.startswith("hub."):
        return module_value("?") if rest == "hub.load" else UNKNOWN
    if rest.startswith("distributions.") and call.last[:1].isupper():
        return training.make_distribution(frame, call.named(call.last))
    return None if call.name.startswith("torch.") else UNKNOWN


def call_framework_row(frame: Frame, call: Call) -> Value | None:
    table = frameworks()
    if call.name not in table.names_of_calls and not call.name.endswith(".xla_device"):
        return None
    rank = table.get("rank", call.name)
    if rank is not None:
        return parsed(rank)
    if frame.ranks:
        check_rank(frame, call)
    boundary = table.get("boundary", call.name)
    gathered = table.get("gathers", call.name)
    if boundary is not None:
        ended = call_boundary(frame, boundary, call)
        return ended if gathered is None else training.gathered(gathered, call.arguments)
    if gathered is not None:
        frame.pending()
        return training.gathered(gathered, call.arguments)
    if (table.get("logging", call.name) or "").startswith("prints"):
        printed(frame, call.name, call)
        return NONE
    if table.get("writer", call.name) is not None:
        return training.write(frame, known_object(Role.WRITER), call.named(call.last))
    if table.get("wraps", call.name) is not None:
        return call.arguments[0] if call.arguments else next(iter(call.keywords.values()), UNKNOWN)
    if table.get("boundary-loader", call.name) is not None:
        frame.sign(SignKind.MAKES_DEVICE_LOADER, call.node.at)
        return training.on_device(call.arguments[0] if call.arguments else UNKNOWN)
    if table.get("loader", call.name) is not None:
        return training.make_loader(frame, call)
    if table.get("engine", call.name) is not None:
        return make_engine(frame, call)
    if table.get("device", call.name) is not None or call.name.endswith(".xla_device"):
        return XLA_DEVICE
    if table.get("iterates", call.name) is not None and call.arguments:
        return wrapped_iterable(call.arguments[0], call.last)
    if table.get("closure", call.name) is not None:
        return call_closure(frame, call)
    launched = table.get("launch", call.name)
    if launched is not None:
        return launch(frame, launched, call)
    if table.get("moves", call.name) is not None and call.arguments:
        return training.moved(call.arguments[0], XLA)
    if table.get("mixes", call.name) is not None:
        return training.make_mixer(call)
    return make_by_row(frame, call)


def make_by_row(frame: Frame, call: Call) -> Value | None:
    """What a call that has no effect on the steps makes, by its row."""
    table = frameworks()
    made = make_scaler(call)
    if made is not None:
        return made
    collator = table.get("collator", call.name)
    if collator is not None:
        if collator.startswith("pads"):
            check_collator(frame, call, "padding=" in collator, 2)
        return OBJECT
    if table.get("tokenizer", call.name) is not None:
        return known_object(Role.TOKENIZER)
    read = table.get("loads", call.name)
    if read is not None:
        return loaded(read, call)
    if table.get("metric", call.name) == "on the host":
        return known_object(Role.HOST_METRIC)
    made_of_row = made_by_row(call.name)
    return None if made_of_row is None else read_here(frame, kept_by_row(made_of_row, call))


@functools.cache
def printers() -> frozenset[str]:
    """The classes of which some method prints."""
    return frozenset(name.rpartition(".")[0] for name in frameworks().names("logging"))


def made_by_row(name: str) -> Value | None:
    """What a function makes, or a maker of such things."""
    row = frameworks().get("makes", name)
    if row is not None:
        return parsed(row)
    row = frameworks().get("maker", name)
    return None if row is None else known_object(Role.MAKER, parsed(row))


def launch(frame: Frame, how: str, call: Call) -> Value:
    """``xmp.spawn(fn, args=(flags,))`` calls ``fn(index, flags)``, once in each process."""
    position = 1 if how.startswith("2nd") else 0
    index = [] if how.endswith("without an index") else [host("int", varies=RANK)]
    given = call.keywords.get("args", call.arguments[position + 1] if len(call.arguments) > position + 1 else UNKNOWN)
    values = list(given.elements) if type(given) is Sequence and given.elements is not None else []
    if len(call.arguments) > position and type(call.arguments[position]) is Function:
        frame.call(call.arguments[position], call.given([*index, *values], {}))
    return UNKNOWN


def wrapped_iterable(value: Value, last: str) -> Value:
    """``tqdm(loader)``: the same elements, behind a progress bar."""
    return host("range") if last == "trange" else value


def call_boundary(frame: Frame, holds: str, call: Call) -> Value:
    if call.last == "optimizer_step":
        frame.sign(SignKind.OPTIMIZER_STEP, call.node.at)
        frame.pending()
        if call.keywords.get("barrier") in (None, FALSE):
            frame.sign(SignKind.STEP_WITHOUT_BARRIER, call.node.at)
            return NONE
    if "context" in holds:
        return known_object(Role.BOUNDARY_CONTEXT, None, call.last)
    note_boundary(frame, call.node)
    check_break(frame, call.last, call.node)
    frame.boundary(call.node.at)
    return NONE


def note_boundary(frame: Frame, node: ir.Call) -> None:
    frame.emit(Effect.BOUNDARY, node.at, NONE, "", None)


def call_closure(frame: Frame, call: Call) -> Value:
    """A step closure runs after the boundary, and reads what is there."""
    if call.arguments:
        given = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("args")
        values = list(given.elements) if type(given) is Sequence and given.elements is not None else []
        with frame.inside(RegionKind.CLOSURE, call.node.at):
            frame.call(call.arguments[0], call.given(values, {}))
    return NONE


def call_framework(frame: Frame, call: Call) -> Value | None:
    found = call_framework_row(frame, call)
    if found is not None:
        return found
    if call.last in ("Accelerator", "Fabric"):
        return known_object(Role.ACCELERATOR)
    if call.last == "SummaryWriter":
        return known_object(Role.WRITER)
    if call.name in printers():
        return known_object(Role.PRINTER, None, call.name)
    if "Tokenizer" in call.name or "Processor" in call.name or "FeatureExtractor" in call.name:
        return known_object(Role.TOKENIZER)
    made = made_by_diffusers(call.name)
    if made is not None:
        return made
    if call.last in MODEL_MAKERS or call.name.startswith(
        ("torchvision.models.", "timm.create", "segmentation_models_pytorch.")
    ):
        return made_model(call.name, call.arguments, call.keywords)
    if call.last == "get_logger":
        return known_object(Role.LOGGER)
    if call.name.startswith("ignite."):
        return make_attachable(call.name, call.keywords)
    if call.last.startswith("DataCollator"):
        check_collator(frame, call, False, 1)
        return OBJECT
    return None


# Roles, and methods of what is not a tensor


def call_role(frame: Frame, role: KnownObject, call: Call) -> Value:
    if role.role == Role.TOKENIZER:
        check_padding_call(frame, call.named("__call__"))
        return known_object(Role.BATCH, tensor(HOST, "int", None, False, None, 1))
    if role.role == Role.MAKER:
        return kept_by_row(role.element or UNKNOWN, call)
    if role.role == Role.METRIC:
        return call_metric(frame, role, call.named("forward"))
    if role.role == Role.PIPELINE:
        return call_pipeline(call.keywords)
    if role.role == Role.SCALER:
        return call_scaler(frame, role, call)
    if role.role == Role.MIXER:
        return training.call_mixer(frame, call)
    if role.role in TENSOR_ROLES:
        return role
    return UNKNOWN


def known_function(frame: Frame, callee: Function, call: Call) -> Value | None:
    """A function of the program that a framework row knows better than its text does."""
    name = callee.ir.name
    if name == "get_input_embeddings":
        return module_value("torch.nn.Embedding")
    if name in ("_from_config", "from_pretrained", "from_config") and type(callee.receiver) is Class:
        return frame.engine.instance_of(callee.receiver.ir)
    if name == "prepare_data_loader":
        frame.sign(SignKind.MAKES_DEVICE_LOADER, call.node.at)
    if name == "progress_bar":
        return call.arguments[0] if call.arguments else next(iter(call.keywords.values()), UNKNOWN)
    if name == "register_modules" and type(callee.receiver) in (Instance, Struct):
        for key, value in call.keywords.items():
            if key != "**":
                frame.writes[key] = join_maybe(frame.writes.get(key), value) or value
        return NONE
    if name == "add_state" and type(callee.receiver) in (Instance, Struct):
        return add_state(frame, call.arguments, call.keywords)
    if name == "_gradient_checkpointing_func" and call.arguments:
        return frame.call(call.arguments[0], call.given(call.arguments[1:], {}))
    if name in ("warning_once", "get_logger"):
        return known_object(Role.LOGGER) if name == "get_logger" else NONE
    return None


def call_known_object_method(frame: Frame, receiver: KnownObject, call: Call) -> Value:
    if receiver.role in TENSOR_ROLES:
        return training.call_batch_method(frame, receiver, call)
    if receiver.role == INSTALLED:
        by_name = call_unknown_method(frame, receiver, call)
        return follow_made(frame, receiver.detail, call) or by_name
    return call_role_method(frame, receiver, call) or UNKNOWN


def call_host_value_method(frame: Frame, receiver: Host, call: Call) -> Value:
    if receiver is ANY_HOST:
        return call_unknown_method(frame, receiver, call)
    return containers.call_host_method(frame, receiver, call)


RECEIVERS: dict[type[Value], Callable[[Frame, Any, Call], Value]] = {
    Tensor: call_tensor_method,
    KnownObject: call_known_object_method,
    Super: call_super,
    Sequence: containers.call_sequence,
    Mapping: containers.call_mapping,
    Host: call_host_value_method,
    Module: call_made_module,
    Instance: call_object_method,
    Struct: call_object_method,
    Class: call_class_method,
}
"""Who answers for the methods of a value of each type; of what is missing, only the method's name tells."""
