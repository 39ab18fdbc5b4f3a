"""Known objects by their role: who answers for their methods and attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xlalint.facts.detectors.costly_calls import check_call
from xlalint.facts.detectors.unsupported import check_restrictions
from xlalint.facts.domain.declared import PARAMETER_GROUPS
from xlalint.facts.domain.known_names import ANY_ATTRIBUTE_ROLES, HOST_ATTRIBUTES, TENSOR_METHODS
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import INT, UNKNOWN, XLA_DEVICE, KnownObject, Value, bound_method, tensor, tensor_of
from xlalint.facts.libraries.frameworks.accelerate import call_driver
from xlalint.facts.libraries.frameworks.diffusers import (
    LATENTS,
    call_scheduler,
    latents_of,
    pipeline_attribute,
    timesteps_of,
)
from xlalint.facts.libraries.frameworks.ignite import engine_attribute, run_engine
from xlalint.facts.libraries.frameworks.ignite_metrics import attach
from xlalint.facts.libraries.frameworks.metrics import call_host_metric, call_metric
from xlalint.facts.libraries.frameworks.scalers import scaler_method
from xlalint.facts.libraries.frameworks.training import (
    DISTRIBUTIONS,
    MOVING,
    UNCHECKED,
    drawn,
    logger_method,
    optimizer_method,
    printer_method,
    tokenizer_method,
    write,
)
from xlalint.facts.operations.members import tensor_attribute
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame

RoleMethod: TypeAlias = Callable[[Frame, KnownObject, Call], Value | None]


DECISIVE = frozenset({"step", "log_prob", "cdf"})
"""Methods whose cost is a matter of the class that they are of."""


def call_role_method(frame: Frame, role: KnownObject, call: Call) -> Value | None:
    """A method of something known by its part; None where the part does not say."""
    if role.detail is not None and role.role != Role.SCALER and call.name in DECISIVE and (made := maker(role)):
        # A value lies where the distribution does that is asked about it.
        given = [role.element] if role.role == Role.DISTRIBUTION and role.element is not None else call.arguments
        check_call(frame, Call(f"{made}.{call.name}", given, call.keywords, call.node))
    handler = ROLE_METHODS.get(role.role)
    return None if handler is None else handler(frame, role, call)


def accelerator_method(frame: Frame, role: KnownObject, call: Call) -> Value | None:
    return call_driver(frame, role, call)


def timing_event_method(frame: Frame, role: KnownObject, call: Call) -> Value | None:
    """An event can be made without a GPU, and not be recorded."""
    check_restrictions(frame, call.named(f"torch.cuda.Event.{call.name}"))
    return UNKNOWN


def maker(role: KnownObject) -> str | None:
    """The class that the table of costly calls knows an object by."""
    if role.role != Role.DISTRIBUTION:
        return role.detail
    return f"{DISTRIBUTIONS}.Distribution" if role.detail and not role.detail.startswith(UNCHECKED) else None


ROLE_METHODS: dict[str, RoleMethod] = {
    Role.ACCELERATOR: accelerator_method,
    Role.ATTACHABLE: lambda frame, role, call: attach(frame, role, call) if call.name == "attach" else None,
    Role.DISTRIBUTION: lambda frame, role, call: drawn(role, call.name) if role.element is not None else None,
    Role.ENGINE: lambda frame, role, call: run_engine(frame, role, call) if call.name == "run" else None,
    Role.GENERATOR: lambda frame, role, call: role if call.name == "manual_seed" else UNKNOWN,
    Role.HOST_METRIC: lambda frame, role, call: call_host_metric(frame, call),
    Role.LOADER: lambda frame, role, call: role if call.name == "__iter__" else UNKNOWN,
    Role.LOGGER: logger_method,
    Role.METRIC: call_metric,
    Role.OPTIMIZER: optimizer_method,
    Role.PACKED: lambda *_: UNKNOWN,
    Role.PIPELINE: lambda frame, role, call: role if call.name in MOVING else None,
    Role.PRINTER: printer_method,
    Role.SCALER: scaler_method,
    Role.SCHEDULER: call_scheduler,
    Role.TIMING_EVENT: timing_event_method,
    Role.TOKENIZER: tokenizer_method,
    Role.PROGRESS: write,
    Role.WRITER: write,
}
"""Who answers for a method of an object that is known by its part; None where the part does not say."""


def role_attribute(value: KnownObject, name: str) -> Value:
    if value.role in ANY_ATTRIBUTE_ROLES and name not in ("to", "items", "keys", "values", "pop", "get", "cuda", "cpu"):
        if name in HOST_ATTRIBUTES or name in ("shape", "ndim", "dtype", "device", "data"):
            return tensor_attribute(tensor_of(value.element) or tensor(certainty=1), name)
        if name == "latent_dist":
            return latents_of(value)
        if name not in TENSOR_METHODS and value.element is not None:
            return value.element
    moments = ("mean", "stddev", "variance", "mode", "logits", "probs", "loc", "scale")
    if value.role == Role.DISTRIBUTION and name in moments and value.detail != LATENTS:
        return value.element or UNKNOWN
    if value.role == Role.ENGINE:
        return engine_attribute(value, name)
    if value.role == Role.ACCELERATOR and name == "device":
        return XLA_DEVICE
    if value.role == Role.OPTIMIZER and name == "param_groups":
        return PARAMETER_GROUPS
    if value.role == Role.SCHEDULER and name == "timesteps":
        return timesteps_of(value)
    if value.role == Role.PIPELINE:
        return pipeline_attribute(value, name)
    if value.role == Role.LOADER and name in ("dataset", "sampler", "batch_sampler", "batch_size", "collate_fn"):
        return UNKNOWN if name != "batch_size" else INT
    return bound_method(value, name)
