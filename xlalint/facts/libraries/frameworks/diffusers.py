"""Schedulers and pipelines of diffusers: where timesteps lie, what a step of denoising gives, what a pipeline gives."""

from __future__ import annotations

from xlalint.facts.domain.declared import promised_attribute
from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    FALSE,
    HOST,
    NONE,
    UNKNOWN,
    Host,
    KnownObject,
    Value,
    bound_method,
    known_object,
    of_rank,
    tensor,
    tensor_of,
)
from xlalint.facts.operations.shapes import device_of
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.store import keep
from xlalint.knowledge.tables import frameworks

HEAD = "diffusers."
MADE = ("from_pretrained", "from_config")
SCHEDULER = "SchedulerMixin"
PIPELINE = "DiffusionPipeline"
LATENTS = "unchecked latents"
"""The detail of what an autoencoder of diffusers gives: a distribution whose `mode` is a method, too."""
AS_TENSORS = ("pt", "latent")
"""Values of ``output_type`` with which a pipeline gives tensors; otherwise images of the host."""


def made_by_diffusers(name: str) -> Value | None:
    """``DDIMScheduler(…)``, ``StableDiffusionPipeline.from_pretrained(…)``; None for what is neither."""
    parts = [part for part in name.split(".") if part not in MADE]
    if not name.startswith(HEAD) or not parts[-1][:1].isupper():
        return None
    if parts[-1].endswith("Scheduler"):
        # Where its timesteps lie, `set_timesteps` will tell.
        return known_object(Role.SCHEDULER, UNKNOWN)
    return known_object(Role.PIPELINE) if parts[-1].endswith("Pipeline") or "PipelineFor" in parts[-1] else None


def call_scheduler(frame: Frame, role: KnownObject, call: Call) -> Value:
    if call.name == "set_timesteps":
        given = call.keywords.get("device", call.arguments[1] if len(call.arguments) > 1 else None)
        device = HOST if given is None else device_of(given)
        keep(frame, call.node, known_object(Role.SCHEDULER, tensor(device, "int", of_rank(1), certainty=1)))
        return NONE
    return carried(call.name, call.arguments, call.keywords)


def carried(name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    """What a scheduler makes of the sample that it is given: a tensor like it."""
    row = (frameworks().get("carries", f"{SCHEDULER}.{name}") or "").split()
    if not row:
        return UNKNOWN
    parameter, position = row[0], int(row[1])
    known = tensor_of(as_operand(keywords.get(parameter, UNKNOWN)))
    if known is None and position < len(arguments):
        known = tensor_of(as_operand(arguments[position]))
    if known is None:
        return UNKNOWN
    if "output" not in row:
        return known
    return sequence("tuple", None, known) if keywords.get("return_dict") is FALSE else known_object(Role.OUTPUT, known)


def timesteps_of(role: KnownObject) -> Value:
    return role.element if role.element is not None else promised_attribute(("Scheduler",), "timesteps") or UNKNOWN


def latents_of(output: KnownObject) -> Value:
    """``vae.encode(x).latent_dist``."""
    known = tensor_of(output.element) if output.element is not None else None
    return known_object(Role.DISTRIBUTION, (known or tensor(certainty=1)).but(dtype="float"), LATENTS)


def pipeline_attribute(role: KnownObject, name: str) -> Value:
    return promised_attribute((PIPELINE,), name) or bound_method(role, name)


def call_pipeline(keywords: dict[str, Value]) -> Value:
    kind = keywords.get("output_type")
    tensors = type(kind) is Host and kind.constant in AS_TENSORS
    return known_object(Role.OUTPUT, tensor(dtype="float", certainty=1)) if tensors else ANY_HOST
