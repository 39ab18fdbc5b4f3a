"""Metrics: those of torchmetrics by the class that is asked, and those of evaluate, which keep lists on the host."""

from __future__ import annotations

from xlalint.facts.detectors.costly_calls import FREE, check_call
from xlalint.facts.detectors.text_reads import shown_tensor
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    NONE,
    UNKNOWN,
    Host,
    KnownObject,
    Value,
    known_object,
    mapping,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import costly_calls, frameworks

HEAD = "torchmetrics"
FUNCTIONAL = "torchmetrics.functional."
COLLECTION = "torchmetrics.MetricCollection"
SAME = frozenset({"cuda", "clone", "train", "eval", "float", "double", "half", "requires_grad_"})
ASKED = {"update": ("update",), "forward": ("update", "compute"), "compute": ("compute",)}
"""What a call does: ``forward`` updates, and computes the value of the batch."""


def make_metric(frame: Frame, call: Call) -> Value:
    last = call.name.rpartition(".")[2]
    if not last[:1].isupper():
        return value_of(frame, call.arguments) if call.name.startswith(FUNCTIONAL) else UNKNOWN
    task = call.keywords.get("task", call.arguments[0] if call.arguments else NONE)
    if type(task) is Host and task.constant == "binary":
        last = f"Binary{last}"
    settled = "**" not in call.keywords and all(is_cost_known(key, value) for key, value in call.keywords.items())
    return known_object(Role.METRIC, None, f"{HEAD}.{last}" if settled else None)


def is_cost_known(argument: str, value: Value) -> bool:
    """Whether a metric's cost is known with this argument, or does not depend on it."""
    known = frameworks().get("metric-argument", argument)
    return known is None or (type(value) is Host and value.known and str(value.constant) in known.split("; "))


def call_metric(frame: Frame, metric: KnownObject, call: Call) -> Value:
    if call.name == "to":
        return known_object(Role.METRIC, tensor(certainty=1), metric.detail)
    if call.name in SAME:
        return metric
    if metric.detail is not None and call.name in ASKED:
        # A value that is asked for lies where the metric was moved to.
        given = call.arguments if call.name != "compute" else [metric.element] if metric.element is not None else []
        rows = (f"{metric.detail}.{method}" for method in ASKED[call.name])
        known = next((row for row in rows if any(one.effect != FREE for one in costly_calls().get(row, ()))), None)
        if known is not None:
            check_call(frame, Call(known, given, call.keywords, call.node))
    if call.name == "compute":
        value: Value = metric.element or UNKNOWN
    elif call.name == "forward":
        value = value_of(frame, [*call.arguments, *call.keywords.values()])
    else:
        return UNKNOWN
    return mapping((), value) if metric.detail == COLLECTION and value is not UNKNOWN else value


def value_of(frame: Frame, arguments: list[Value]) -> Value:
    """A metric's value is computed where the tensors lie that it is given."""
    frame.pending()
    devices = {known.device for value in arguments if (known := tensor_of(value)) is not None}
    return tensor(devices.pop(), "float", certainty=1) if len(devices) == 1 else UNKNOWN


HOST_METRIC = "evaluate.EvaluationModule"


def call_host_metric(frame: Frame, call: Call) -> Value:
    """``metric.add_batch(predictions=…, references=…)`` makes lists of the tensors that it is given."""
    if frameworks().get("metric-method", f"{HOST_METRIC}.{call.name}") is None:
        return UNKNOWN
    shown = [*call.node.arguments, *(value for _, value in call.node.keywords)]
    for value, argument in zip([*call.arguments, *call.keywords.values()], shown, strict=False):
        known = shown_tensor(value)
        if known is not None:
            frame.emit(Effect.VALUES_TO_LIST, call.node.at, known, call.name, argument)
            break
    return ANY_HOST
