"""Schedulers and pipelines of diffusers: where timesteps lie, what a step of denoising gives, what a pipeline gives."""

from __future__ import annotations

from xlalint.facts.domain import domain as d
from xlalint.facts.domain.declared import promised_attribute
from xlalint.facts.operations.shapes import device_of
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.store import keep
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

HEAD = "diffusers."
MADE = ("from_pretrained", "from_config")
SCHEDULER = "SchedulerMixin"
PIPELINE = "DiffusionPipeline"
LATENTS = "unchecked latents"
"""The detail of what an autoencoder of diffusers gives: a distribution whose `mode` is a method, too."""
AS_TENSORS = ("pt", "latent")
"""Values of ``output_type`` with which a pipeline gives tensors; otherwise images of the host."""


def made_by_diffusers(name: str) -> d.Value | None:
    """``DDIMScheduler(…)``, ``StableDiffusionPipeline.from_pretrained(…)``; None for what is neither."""
    parts = [part for part in name.split(".") if part not in MADE]
    if not name.startswith(HEAD) or not parts[-1][:1].isupper():
        return None
    if parts[-1].endswith("Scheduler"):
        # Where its timesteps lie, `set_timesteps` will tell.
        return d.role("scheduler", d.UNKNOWN)
    return d.role("pipeline") if parts[-1].endswith("Pipeline") or "PipelineFor" in parts[-1] else None


def call_scheduler(
    frame: Frame, role: d.Role, name: str, arguments: list[d.Value], keywords: dict[str, d.Value], node: ir.Call
) -> d.Value:
    if name == "set_timesteps":
        given = keywords.get("device", arguments[1] if len(arguments) > 1 else None)
        device = d.HOST if given is None else device_of(given)
        keep(frame, node, d.role("scheduler", d.tensor(device, "int", d.of_rank(1), certainty=1)))
        return d.NONE
    return carried(name, arguments, keywords)


def carried(name: str, arguments: list[d.Value], keywords: dict[str, d.Value]) -> d.Value:
    """What a scheduler makes of the sample that it is given: a tensor like it."""
    row = (frameworks().get("carries", f"{SCHEDULER}.{name}") or "").split()
    if not row:
        return d.UNKNOWN
    parameter, position = row[0], int(row[1])
    known = d.tensor_of(d.as_operand(keywords.get(parameter, d.UNKNOWN)))
    if known is None and position < len(arguments):
        known = d.tensor_of(d.as_operand(arguments[position]))
    if known is None:
        return d.UNKNOWN
    if "output" not in row:
        return known
    return d.sequence("tuple", None, known) if keywords.get("return_dict") is d.FALSE else d.role("output", known)


def timesteps_of(role: d.Role) -> d.Value:
    return role.element if role.element is not None else promised_attribute(("Scheduler",), "timesteps") or d.UNKNOWN


def latents_of(output: d.Role) -> d.Value:
    """``vae.encode(x).latent_dist``."""
    known = d.tensor_of(output.element) if output.element is not None else None
    return d.role("distribution", (known or d.tensor(certainty=1)).but(dtype="float"), LATENTS)


def pipeline_attribute(role: d.Role, name: str) -> d.Value:
    return promised_attribute((PIPELINE,), name) or d.bound(role, name)


def call_pipeline(keywords: dict[str, d.Value]) -> d.Value:
    kind = keywords.get("output_type")
    tensors = type(kind) is d.Host and kind.constant in AS_TENSORS
    return d.role("output", d.tensor(dtype="float", certainty=1)) if tensors else d.ANY_HOST
