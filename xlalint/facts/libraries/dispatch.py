"""Calls into everything that is neither torch's ops nor the program's own: torch's other rooms, frameworks, roles."""

from __future__ import annotations

import functools

from xlalint.facts.detectors.costly_calls import check_call
from xlalint.facts.detectors.graph_breaks import check_break, check_external, note_compiled
from xlalint.facts.detectors.padding import check_collator, check_padding_call
from xlalint.facts.detectors.profiler import note_profiler
from xlalint.facts.detectors.text_reads import printed
from xlalint.facts.detectors.timers import note_wait
from xlalint.facts.detectors.unsupported import check_restrictions
from xlalint.facts.domain.declared import parsed
from xlalint.facts.domain.lattice import join_maybe
from xlalint.facts.domain.values import (
    ANY_HOST,
    FALSE,
    HOST,
    INT,
    NONE,
    OBJECT,
    TENSOR_ROLES,
    TRUE,
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
    Value,
    host,
    known_object,
    module_value,
    tensor,
)
from xlalint.facts.events import Effect
from xlalint.facts.guards.device_branches import STAND_IN
from xlalint.facts.libraries.frameworks import training
from xlalint.facts.libraries.frameworks.diffusers import call_pipeline, made_by_diffusers
from xlalint.facts.libraries.frameworks.ignite_factories import make_engine
from xlalint.facts.libraries.frameworks.ignite_metrics import make_attachable
from xlalint.facts.libraries.frameworks.metrics import call_metric
from xlalint.facts.libraries.installed.pretrained import made_model
from xlalint.facts.libraries.module_methods import call_made_module
from xlalint.facts.libraries.packages import HEADS
from xlalint.facts.libraries.program_objects import add_state, call_class_method, call_object_method, call_super
from xlalint.facts.libraries.python import containers
from xlalint.facts.libraries.roles import call_role_method
from xlalint.facts.libraries.torch import factories, modules
from xlalint.facts.libraries.unknown_objects import call_unknown_method
from xlalint.facts.state.call import Arguments, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

MODEL_MAKERS = frozenset(
    {"create_model", "from_pretrained", "from_config", "from_timm", "get_peft_model", "build_model", "get_model"}
)
ENTERED = frozenset({"no_grad", "inference_mode", "enable_grad", "autocast", "set_grad_enabled"})


def note_external(frame: Frame, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call) -> None:
    check_restrictions(frame, name, arguments, keywords, node)
    note_profiler(frame, name, arguments, keywords, node)
    note_wait(frame, name, node)
    check_external(frame, name, node)
    check_call(frame, name, arguments, keywords, node)


def call_library(frame: Frame, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call) -> Value | None:
    """None where the name is one of torch's ops, or not known here."""
    note_external(frame, name, arguments, keywords, node)
    head, _, rest = name.partition(".")
    last = name.rpartition(".")[2]
    if head == "torch" or head == "torch_xla":
        return call_torch_library(frame, name, rest, last, arguments, keywords, node)
    handler = HEADS.get(head)
    if handler is not None:
        return handler(frame, name, arguments, keywords, node)
    return call_framework(frame, name, last, arguments, keywords, node)


def call_torch_library(
    frame: Frame, name: str, rest: str, last: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value | None:
    found = call_framework_row(frame, name, last, arguments, keywords, node)
    if found is not None:
        return found
    if last in ENTERED:
        return known_object("context", None, last)
    if name.startswith(STAND_IN) and last in factories.LEGACY:
        return factories.made_by_type(frame, last, XLA, arguments, keywords, node)
    if rest.startswith("nn.") and (last[:1].isupper() or last in modules.PARAMETRIZING):
        return modules.make_module(frame, name, arguments, keywords, node)
    if rest.startswith("optim."):
        if last[:1].isupper():
            return known_object("scheduler" if "lr_scheduler" in rest else "optimizer", None, name)
        return UNKNOWN
    if name == "torch.compile":
        note_compiled(frame, arguments, keywords, node)
    if rest == "compile" or rest.startswith("jit."):
        return arguments[0] if arguments else UNKNOWN
    if last == "GradScaler":
        return known_object("scaler", None, name if keywords.get("enabled", TRUE) is TRUE else None)
    if last == "SummaryWriter":
        return known_object("writer")
    if rest.startswith("hub."):
        return module_value("?") if rest == "hub.load" else UNKNOWN
    if rest.startswith("distributions.") and last[:1].isupper():
        return training.make_distribution(frame, last, arguments, keywords, node)
    return None if name.startswith("torch.") else UNKNOWN


def call_framework_row(
    frame: Frame, name: str, last: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value | None:
    table = frameworks()
    if name not in table.names_of_calls and not name.endswith(".xla_device"):
        return None
    boundary = table.get("boundary", name)
    gathered = table.get("gathers", name)
    if boundary is not None:
        ended = call_boundary(frame, boundary, last, keywords, node)
        return ended if gathered is None else training.gathered(gathered, arguments)
    if gathered is not None:
        frame.pending()
        return training.gathered(gathered, arguments)
    if (table.get("logging", name) or "").startswith("prints"):
        printed(frame, name, arguments, node)
        return NONE
    if table.get("writer", name) is not None:
        return training.write(frame, known_object("writer"), last, arguments, keywords, node)
    if table.get("wraps", name) is not None:
        return arguments[0] if arguments else next(iter(keywords.values()), UNKNOWN)
    if table.get("boundary-loader", name) is not None:
        frame.sign("makes-device-loader", node.at)
        return training.on_device(arguments[0] if arguments else UNKNOWN)
    if table.get("loader", name) is not None:
        return training.make_loader(frame, name, arguments, keywords, node)
    if table.get("engine", name) is not None:
        return make_engine(frame, name, arguments, keywords, node)
    if table.get("device", name) is not None or name.endswith(".xla_device"):
        return XLA_DEVICE
    if table.get("iterates", name) is not None and arguments:
        return wrapped_iterable(arguments[0], last)
    if table.get("closure", name) is not None:
        return call_closure(frame, arguments, keywords, node)
    launched = table.get("launch", name)
    if launched is not None:
        return launch(frame, launched, arguments, keywords, node)
    if table.get("moves", name) is not None and arguments:
        return training.moved(arguments[0], XLA)
    collator = table.get("collator", name)
    if collator is not None:
        if collator.startswith("pads"):
            check_collator(frame, arguments, keywords, node, "padding=" in collator, 2)
        return OBJECT
    if table.get("tokenizer", name) is not None:
        return known_object("tokenizer")
    if table.get("metric", name) == "on the host":
        return known_object("host-metric")
    return made_by_row(name)


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
    return None if row is None else known_object("maker", parsed(row))


def launch(frame: Frame, how: str, arguments: Arguments, keywords: Keywords, node: ir.Call) -> Value:
    """``xmp.spawn(fn, args=(flags,))`` calls ``fn(index, flags)``, once in each process."""

    position = 1 if how.startswith("2nd") else 0
    index = [] if how.endswith("without an index") else [INT]
    given = keywords.get("args", arguments[position + 1] if len(arguments) > position + 1 else UNKNOWN)
    values = list(given.elements) if type(given) is Sequence and given.elements is not None else []
    if len(arguments) > position and type(arguments[position]) is Function:
        frame.call(arguments[position], [*index, *values], {}, node)
    return UNKNOWN


def wrapped_iterable(value: Value, last: str) -> Value:
    """``tqdm(loader)``: the same elements, behind a progress bar."""
    if ("tqdm" in last or "progress" in last or last == "trange") and last == "trange":
        return host("range")
    return value


def call_boundary(frame: Frame, holds: str, last: str, keywords: Keywords, node: ir.Call) -> Value:
    if last == "optimizer_step":
        frame.sign("optimizer-step", node.at)
        frame.pending()
        if keywords.get("barrier") in (None, FALSE):
            frame.sign("step-without-barrier", node.at)
            return NONE
    if "context" in holds:
        return known_object("boundary-context", None, last)
    note_boundary(frame, node)
    check_break(frame, last, node)
    frame.boundary(node.at)
    return NONE


def note_boundary(frame: Frame, node: ir.Call) -> None:
    frame.emit(Effect.BOUNDARY, node.at, NONE, "", None)


def call_closure(frame: Frame, arguments: Arguments, keywords: Keywords, node: ir.Call) -> Value:
    """A step closure runs after the boundary, and reads what is there."""

    if arguments:
        given = arguments[1] if len(arguments) > 1 else keywords.get("args")
        values = list(given.elements) if type(given) is Sequence and given.elements is not None else []
        with frame.inside("closure", node.at):
            frame.call(arguments[0], values, {}, node)
    return NONE


def call_framework(
    frame: Frame, name: str, last: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value | None:
    found = call_framework_row(frame, name, last, arguments, keywords, node)
    if found is not None:
        return found
    if last in ("Accelerator", "Fabric"):
        return known_object("accelerator")
    if last == "SummaryWriter":
        return known_object("writer")
    if name in printers():
        return known_object("printer", None, name)
    if "Tokenizer" in name or "Processor" in name or "FeatureExtractor" in name:
        return known_object("tokenizer")
    made = made_by_diffusers(name)
    if made is not None:
        return made
    if last in MODEL_MAKERS or name.startswith(("torchvision.models.", "timm.create", "segmentation_models_pytorch.")):
        return made_model(name, arguments, keywords)
    if last == "get_logger":
        return known_object("logger")
    if name.startswith("ignite."):
        return make_attachable(name, keywords)
    if last.startswith("DataCollator"):
        check_collator(frame, arguments, keywords, node, False, 1)
        return OBJECT
    return None


# Roles, and methods of what is not a tensor


def call_role(frame: Frame, role: KnownObject, arguments: Arguments, keywords: Keywords, node: ir.Call) -> Value:
    if role.role == "tokenizer":
        check_padding_call(frame, "__call__", arguments, keywords, node)
        return known_object("batch", tensor(HOST, "int", None, False, None, 1))
    if role.role == "maker":
        return role.element or UNKNOWN
    if role.role == "metric":
        return call_metric(frame, role, "forward", arguments, keywords, node)
    if role.role == "pipeline":
        return call_pipeline(keywords)
    if role.role in TENSOR_ROLES:
        return role
    return UNKNOWN


def known_function(
    frame: Frame, callee: Function, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value | None:
    """A function of the program that a framework row knows better than its text does."""
    name = callee.ir.name
    if name == "get_input_embeddings":
        return module_value("torch.nn.Embedding")
    if name in ("_from_config", "from_pretrained", "from_config") and type(callee.receiver) is Class:
        return frame.engine.instance_of(callee.receiver.ir)
    if name == "prepare_data_loader":
        frame.sign("makes-device-loader", node.at)
    if name == "progress_bar":
        return arguments[0] if arguments else next(iter(keywords.values()), UNKNOWN)
    if name == "register_modules" and type(callee.receiver) in (Instance, Struct):
        for key, value in keywords.items():
            if key != "**":
                frame.writes[key] = join_maybe(frame.writes.get(key), value) or value
        return NONE
    if name == "add_state" and type(callee.receiver) in (Instance, Struct):
        return add_state(frame, arguments, keywords)
    if name == "_gradient_checkpointing_func" and arguments:
        return frame.call(arguments[0], arguments[1:], {}, node)
    if name in ("warning_once", "get_logger"):
        return known_object("logger") if name == "get_logger" else NONE
    return None


def call_method(
    frame: Frame, receiver: Value, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value:
    kind = type(receiver)
    if kind is KnownObject:
        found = call_role_method(frame, receiver, name, arguments, keywords, node)  # type: ignore[arg-type]
        return UNKNOWN if found is None else found
    if kind is Super:
        return call_super(frame, receiver, name, arguments, keywords, node)  # type: ignore[arg-type]
    if kind in (Sequence, Mapping):
        return containers.call_container(frame, receiver, name, arguments, keywords, node)
    if kind is Host and receiver is not ANY_HOST:
        return containers.call_host_method(frame, receiver, name, arguments, keywords, node)  # type: ignore[arg-type]
    if kind is Module:
        return call_made_module(frame, receiver, name, arguments, keywords, node)  # type: ignore[arg-type]
    if kind in (Instance, Struct):
        return call_object_method(frame, receiver, name, arguments, keywords, node)
    if kind is Class:
        return call_class_method(frame, receiver, name, arguments, keywords, node)  # type: ignore[arg-type]
    return call_unknown_method(frame, receiver, name, arguments, keywords, node)
