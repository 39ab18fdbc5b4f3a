"""Objects of a training loop: optimizers, loaders, batches, writers, metrics."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.facts.detectors.costly_calls import check_call
from xlalint.facts.detectors.padding import check_loader, check_padding_call, run_collate
from xlalint.facts.detectors.text_reads import logged, printed, shown_tensor
from xlalint.facts.domain.known_names import LEVELS
from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    HOST,
    KNOWN,
    NONE,
    STR,
    TRUE,
    UNKNOWN,
    XLA,
    Function,
    Host,
    KnownObject,
    Mapping,
    Sequence,
    Tensor,
    Value,
    batch_on,
    known_object,
    mapping,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries.torch.tensor_methods import call_tensor_method
from xlalint.facts.operations.shapes import device_of
from xlalint.facts.state.call import Arguments, Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program.traversal import receiver_node

MOVING = frozenset({"to", "cuda", "cpu"})
READING_WRITERS = {
    "add_scalar": 1,
    "add_histogram": 1,
    "add_image": 1,
    "add_images": 1,
    "add_text": 1,
    "log_metric": 1,
    "report_scalar": 2,
    "save_image": 0,
    "track": 0,
}
READING_MAPS = frozenset({"add_scalars", "log_metrics", "set_postfix", "log_dict", "log"})
FORMATTING = frozenset({"set_description", "set_description_str", "set_postfix_str"})


def make_loader(frame: Frame, call: Call) -> Value:
    """A plain data loader: its batches lie on the host."""
    check_loader(frame, call)
    batch = tensor(HOST, grad=False, certainty=1)
    told = told_by_collate(run_collate(frame, call))
    return known_object(Role.LOADER, mapping(told, batch) if told else known_object(Role.BATCH, batch), "plain")


def told_by_collate(made: Value) -> tuple[tuple[object, Value], ...]:
    """The entries of a batch that are known to be no tensors: lists of words, of numbers, and the like."""
    items = made.items if type(made) is Mapping else ()
    return tuple((key, value) for key, value in items if is_no_tensor(value))


def is_no_tensor(value: Value) -> bool:
    if type(value) is Sequence and value.elements is None:
        return not isinstance(value.element, Tensor)
    return type(value) is Host and value.type in ("str", "int", "float", "bool")


def on_device(loader: Value) -> Value:
    """The same loader with its batches moved to the device (MpDeviceLoader, ``accelerator.prepare``)."""
    element = loader.element if type(loader) is KnownObject else None
    return known_object(Role.LOADER, moved(element, XLA) if element is not None else batch_on(XLA), "boundary")


def moved(value: Value, device: str) -> Value:
    return with_tensors(value, lambda tensor: tensor.but(device=device, certainty=max(tensor.certainty, 1)))


def with_tensors(value: Value, change: Callable[[Tensor], Value]) -> Value:
    """The same structure with each tensor in it changed."""
    if type(value) is Tensor:
        return change(value)
    if type(value) is KnownObject and value.element is not None:
        return known_object(value.role, with_tensors(value.element, change), value.detail)
    if type(value) is Sequence:
        if value.elements is not None:
            return sequence(value.kind, [with_tensors(part, change) for part in value.elements])
        return sequence(value.kind, None, with_tensors(value.element, change))
    if type(value) is Mapping:
        items = tuple((key, with_tensors(part, change)) for key, part in value.items)
        return mapping(items, None if value.rest is None else with_tensors(value.rest, change))
    return value


def gathered(holds: str, arguments: Arguments) -> Value:
    """What all processes have together: ``its argument``, ``its 2nd argument``; ``lengthened`` where each adds its own,
    ``on the host`` where it goes there."""
    position = 1 if "2nd" in holds else 0
    if len(arguments) <= position:
        return UNKNOWN
    value = arguments[position]
    if holds.endswith("lengthened"):
        return with_tensors(value, lambda tensor: tensor.but(dims=None))
    return moved(value, HOST) if holds.endswith("host") else value


def call_batch_method(frame: Frame, batch: KnownObject, call: Call) -> Value:
    """A batch or a model's output: a mapping, a sequence or a tensor, nobody knows which."""
    element = batch.element or UNKNOWN
    if call.name in MOVING and tensor_of(element) is not None:
        device = HOST if call.name == "cpu" else XLA
        if call.name == "to" and (call.arguments or "device" in call.keywords):
            given = call.arguments[0] if call.arguments else call.keywords["device"]
            if type(given) is Host and given.type == "dtype":
                return batch
            device = device_of(given) or XLA
        known = tensor_of(element)
        if device == HOST and known is not None and known.device == XLA:
            frame.emit(Effect.COPY_TO_HOST, call.node.at, element, call.name, receiver_node(call.node))
        if device == XLA and known is not None and known.device != XLA:
            frame.sign(SignKind.MOVED, call.node.at)
            frame.sign(SignKind.BATCH_MOVED, call.node.at)
        return moved(batch, device)
    if call.name == "items":
        return sequence("list", None, sequence("tuple", (STR, element)))
    if call.name == "values":
        return sequence("list", None, element)
    if call.name == "keys":
        return sequence("list", None, STR)
    if call.name in ("get", "pop"):
        return element
    known = tensor_of(element)
    if known is not None:
        return call_tensor_method(frame, known, call)
    return UNKNOWN


def make_optimizer(call: Call) -> Value:
    """An optimizer; its element is a parameter, where that is known to lie on the host."""
    given = call.arguments[0] if call.arguments else call.keywords.get("params")
    held = given.element if isinstance(given, (KnownObject, Sequence)) else None
    on_host = type(held) is Tensor and held.device == HOST and held.certainty == KNOWN
    return known_object(Role.OPTIMIZER, held if on_host else None, call.name)


def optimizer_method(frame: Frame, role: KnownObject, call: Call) -> Value | None:
    if call.name != "step":
        return NONE if call.name == "zero_grad" else UNKNOWN
    if role.element is None:
        # What changes parameters on the host leaves no work to the device.
        frame.sign(SignKind.OPTIMIZER_STEP, call.node.at)
        frame.sign(SignKind.PLAIN_STEP, call.node.at)
    if call.arguments and type(call.arguments[0]) is Function:
        frame.call(call.arguments[0], call.given([], {}))
    frame.pending()
    return NONE


def logger_method(frame: Frame, role: KnownObject, call: Call) -> Value | None:
    if call.name not in LEVELS:
        return None
    logged(frame, call)
    return NONE


def printer_method(frame: Frame, role: KnownObject, call: Call) -> Value | None:
    method = f"{role.detail}.{call.name}"
    if frameworks().get("logging", method) is None:
        return None
    printed(frame, method, call)
    return NONE


def tokenizer_method(frame: Frame, role: KnownObject, call: Call) -> Value | None:
    check_padding_call(frame, call)
    return known_object(Role.BATCH, tensor(HOST, "int", None, False, None, 1))


def make_mixer(call: Call) -> Value:
    """``Mixup(cutmix_alpha=1.0)``. A row may name the argument without which, or with 0, no box is cut."""
    name, _, position = (frameworks().get("mixes", call.name) or "").partition("=")
    if position:
        given = call.arguments[int(position)] if len(call.arguments) > int(position) else call.keywords.get(name, NONE)
        if given is NONE or (type(given) is Host and given.known and not given.constant):
            return UNKNOWN
    return known_object(Role.MIXER, None, call.name)


def call_mixer(frame: Frame, call: Call) -> Value:
    """``images, labels = mixup(images, labels)``: each call cuts another box, which is a constant of the graph."""
    for value, argument in zip(call.arguments, call.node.arguments, strict=False):
        known = tensor_of(value.element) if type(value) is KnownObject and value.element else tensor_of(value)
        if known is not None and known.device == XLA:
            frame.emit(
                Effect.BAKED_NUMBER, call.node.at, known, "mixer", argument, certainty=1, varies=frame.draw_key()
            )
            break
    return sequence("tuple", call.arguments)


COUNTED = frozenset({"Categorical", "Bernoulli", "Binomial", "Poisson", "Geometric", "Multinomial"})
"""Distributions over whole numbers."""


DISTRIBUTIONS = "torch.distributions"
UNCHECKED = "unchecked "
"""Before the name of a distribution that does not look at what it is given."""


def make_distribution(frame: Frame, call: Call) -> Value:
    """``torch.distributions``: it lives where its parameters do."""
    check_call(frame, call.named(f"{DISTRIBUTIONS}.{call.name}"))
    parameters = [*call.arguments, *(value for key, value in call.keywords.items() if key != "validate_args")]
    checked = call.keywords.get("validate_args", NONE) in (NONE, TRUE)
    tensors = [t for value in parameters if (t := tensor_of(as_operand(value))) is not None]
    numbers = bool(parameters) and all(type(value) is Host and value.type in ("int", "float") for value in parameters)
    host = numbers or (bool(tensors) and all(t.device == HOST for t in tensors))
    sure = max((t.certainty for t in tensors), default=1)
    return known_object(
        Role.DISTRIBUTION,
        tensor(HOST if host else XLA, "float", certainty=max(sure, 1)),
        call.name if checked else f"{UNCHECKED}{call.name}",
    )


def drawn(role: KnownObject, name: str) -> Value:
    """What a distribution's method gives."""
    assert type(role.element) is Tensor
    if name == "expand":
        return role
    if name in ("sample", "rsample", "sample_n", "enumerate_support"):
        counts = role.detail is not None and role.detail.removeprefix(UNCHECKED) in COUNTED
        return role.element.but(grad=name == "rsample", dtype=None if counts else "float")
    return role.element if name in ("log_prob", "entropy", "cdf", "icdf", "perplexity", "mode") else UNKNOWN


def write(frame: Frame, role: KnownObject, call: Call) -> Value:
    """A writer or a progress bar reads what it is given."""
    if call.name in READING_WRITERS:
        position = READING_WRITERS[call.name]
        chosen = call.arguments[position : position + 1] or list(call.keywords.values())
    elif call.name in READING_MAPS:
        chosen = [*call.arguments, *call.keywords.values()]
    elif call.name in FORMATTING:
        chosen = call.arguments
    else:
        return role if role.role == Role.PROGRESS else UNKNOWN
    for value in chosen:
        known = shown_tensor(value)
        if known is not None:
            frame.emit(Effect.LOGGED, call.node.at, known, call.name, None)
            break
    return NONE
