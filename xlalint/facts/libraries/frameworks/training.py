"""Objects of a training loop: optimizers, loaders, batches, writers, metrics."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.facts.detectors.costly_calls import check_call
from xlalint.facts.detectors.loss import learn_loss
from xlalint.facts.detectors.padding import check_loader, check_padding_call, run_collate
from xlalint.facts.detectors.text_reads import logged, printed, shown_tensor
from xlalint.facts.domain import domain as d
from xlalint.facts.domain.known_names import LEVELS
from xlalint.facts.events import Effect
from xlalint.facts.libraries.torch.tensor_methods import call_tensor_method
from xlalint.facts.operations import members
from xlalint.facts.operations.shapes import device_of
from xlalint.facts.state.call import Arguments, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
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
    "track": 0,
}
READING_MAPS = frozenset({"add_scalars", "log_metrics", "set_postfix", "log_dict", "log"})
FORMATTING = frozenset({"set_description", "set_description_str", "set_postfix_str"})


def make_loader(frame: Frame, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call) -> d.Value:
    """A plain data loader: its batches lie on the host."""
    check_loader(frame, name, arguments, keywords, node)
    batch = d.tensor(d.HOST, certainty=1)
    told = told_by_collate(run_collate(frame, arguments, keywords, node))
    return d.role("loader", d.mapping(told, batch) if told else d.role("batch", batch), "plain")


def told_by_collate(made: d.Value) -> tuple[tuple[object, d.Value], ...]:
    """The entries of a batch that are known to be no tensors: lists of words, of numbers, and the like."""
    items = made.items if type(made) is d.Mapping else ()
    return tuple((key, value) for key, value in items if is_no_tensor(value))


def is_no_tensor(value: d.Value) -> bool:
    if type(value) is d.Sequence and value.elements is None:
        return not isinstance(value.element, d.Tensor)
    return type(value) is d.Host and value.type in ("str", "int", "float", "bool")


def on_device(loader: d.Value) -> d.Value:
    """The same loader with its batches moved to the device (MpDeviceLoader, ``accelerator.prepare``)."""
    element = loader.element if type(loader) is d.Role else None
    return d.role("loader", moved(element, d.XLA) if element is not None else device_batch(), "boundary")


def device_batch() -> d.Value:
    return d.role("batch", d.tensor(certainty=1))


def moved(value: d.Value, device: str) -> d.Value:
    return with_tensors(value, lambda tensor: tensor.but(device=device, certainty=max(tensor.certainty, 1)))


def with_tensors(value: d.Value, change: Callable[[d.Tensor], d.Value]) -> d.Value:
    """The same structure with each tensor in it changed."""
    if type(value) is d.Tensor:
        return change(value)
    if type(value) is d.Role and value.element is not None:
        return d.role(value.role, with_tensors(value.element, change), value.detail)
    if type(value) is d.Sequence:
        if value.elements is not None:
            return d.sequence(value.kind, [with_tensors(part, change) for part in value.elements])
        return d.sequence(value.kind, None, with_tensors(value.element, change))
    if type(value) is d.Mapping:
        items = tuple((key, with_tensors(part, change)) for key, part in value.items)
        return d.mapping(items, None if value.rest is None else with_tensors(value.rest, change))
    return value


def gathered(holds: str, arguments: Arguments) -> d.Value:
    """What all processes have together: ``its argument``, ``its 2nd argument``; ``lengthened`` where each adds its own,
    ``on the host`` where it goes there."""
    position = 1 if "2nd" in holds else 0
    if len(arguments) <= position:
        return d.UNKNOWN
    value = arguments[position]
    if holds.endswith("lengthened"):
        return with_tensors(value, lambda tensor: tensor.but(dims=None))
    return moved(value, d.HOST) if holds.endswith("host") else value


def call_batch_method(
    frame: Frame, batch: d.Role, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    """A batch or a model's output: a mapping, a sequence or a tensor, nobody knows which."""
    element = batch.element or d.UNKNOWN
    if name in MOVING and d.tensor_of(element) is not None:
        device = d.HOST if name == "cpu" else d.XLA
        if name == "to" and (arguments or "device" in keywords):
            given = arguments[0] if arguments else keywords["device"]
            if type(given) is d.Host and given.type == "dtype":
                return batch
            device = device_of(given) or d.XLA
        known = d.tensor_of(element)
        if device == d.HOST and known is not None and known.device == d.XLA:
            frame.emit(Effect.COPY_TO_HOST, node.at, element, name, receiver_node(node))
        if device == d.XLA and known is not None and known.device != d.XLA:
            frame.sign("moved", node.at)
            frame.sign("batch-moved", node.at)
        return moved(batch, device)
    if name == "items":
        return d.sequence("list", None, d.sequence("tuple", (d.STR, element)))
    if name == "values":
        return d.sequence("list", None, element)
    if name == "keys":
        return d.sequence("list", None, d.STR)
    if name in ("get", "pop"):
        return element
    known = d.tensor_of(element)
    if known is not None:
        return call_tensor_method(frame, known, name, arguments, keywords, node)
    return d.UNKNOWN


def optimizer_method(
    frame: Frame, role: d.Role, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value | None:
    if name != "step":
        return d.NONE if name == "zero_grad" else d.UNKNOWN
    frame.sign("optimizer-step", node.at)
    frame.sign("plain-step", node.at)
    if arguments and type(arguments[0]) is d.Function:
        frame.call(arguments[0], [], {}, node)
    frame.pending()
    return d.NONE


def logger_method(
    frame: Frame, role: d.Role, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value | None:
    if name not in LEVELS:
        return None
    logged(frame, name, arguments, node)
    return d.NONE


def printer_method(
    frame: Frame, role: d.Role, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value | None:
    method = f"{role.detail}.{name}"
    if frameworks().get("logging", method) is None:
        return None
    printed(frame, method, arguments, node)
    return d.NONE


def tokenizer_method(
    frame: Frame, role: d.Role, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value | None:
    check_padding_call(frame, name, arguments, keywords, node)
    return d.role("batch", d.tensor(d.HOST, "int", None, False, None, 1))


def scaler_method(
    frame: Frame, role: d.Role, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value | None:
    if name == "scale":
        learn_loss(frame, node)
        return arguments[0] if arguments else d.UNKNOWN
    if name == "step":
        frame.sign("optimizer-step", node.at)
        return d.NONE
    return None


COUNTED = frozenset({"Categorical", "Bernoulli", "Binomial", "Poisson", "Geometric", "Multinomial"})
"""Distributions over whole numbers."""


DISTRIBUTIONS = "torch.distributions"
UNCHECKED = "unchecked "
"""Before the name of a distribution that does not look at what it is given."""


def make_distribution(frame: Frame, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call) -> d.Value:
    """``torch.distributions``: it lives where its parameters do."""
    check_call(frame, f"{DISTRIBUTIONS}.{name}", arguments, keywords, node)
    parameters = [*arguments, *(value for key, value in keywords.items() if key != "validate_args")]
    checked = keywords.get("validate_args", d.NONE) in (d.NONE, d.TRUE)
    tensors = [t for value in parameters if (t := d.tensor_of(d.as_operand(value))) is not None]
    numbers = bool(parameters) and all(type(value) is d.Host and value.type in ("int", "float") for value in parameters)
    host = numbers or (bool(tensors) and all(t.device == d.HOST for t in tensors))
    sure = max((t.certainty for t in tensors), default=1)
    return d.role(
        "distribution",
        d.tensor(d.HOST if host else d.XLA, "float", certainty=max(sure, 1)),
        name if checked else f"{UNCHECKED}{name}",
    )


def drawn(role: d.Role, name: str) -> d.Value:
    """What a distribution's method gives."""
    assert type(role.element) is d.Tensor
    if name == "expand":
        return role
    if name in ("sample", "rsample", "sample_n", "enumerate_support"):
        counts = role.detail is not None and role.detail.removeprefix(UNCHECKED) in COUNTED
        return role.element.but(grad=name == "rsample", dtype=None if counts else "float")
    return role.element if name in ("log_prob", "entropy", "cdf", "icdf", "perplexity", "mode") else d.UNKNOWN


def write(frame: Frame, role: d.Role, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call) -> d.Value:
    """A writer or a progress bar reads what it is given."""
    if name in READING_WRITERS:
        position = READING_WRITERS[name]
        chosen = arguments[position : position + 1] or list(keywords.values())
    elif name in READING_MAPS:
        chosen = [*arguments, *keywords.values()]
    elif name in FORMATTING:
        chosen = arguments
    else:
        return role if role.role == "progress" else d.UNKNOWN
    for value in chosen:
        known = shown_tensor(value)
        if known is not None:
            frame.emit(Effect.LOGGED, node.at, known, name, None)
            break
    return d.NONE


def element_for(frame: Frame, value: d.Value) -> d.Value:
    return members.element_of(frame, value)
