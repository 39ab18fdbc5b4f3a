"""Models made by libraries: their maker may determine what their calls cost."""

from __future__ import annotations

from xlalint.facts.domain.lattice import PERHAPS
from xlalint.facts.domain.values import UNKNOWN, Host, Module, Value, module_value
from xlalint.knowledge.tables import costly_calls, frameworks

MADE_BY = "made by "


def made_by(module: Module) -> str:
    """The class that a module is of; for what a library makes, what made it, where that is known."""
    costs = (module.costs or "").removeprefix(PERHAPS)
    return costs.removeprefix(MADE_BY) if costs.startswith(MADE_BY) else module.name


def made_model(name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    """A model of which is known what made it, where that tells of its cost."""
    maker, _, _ = name.rpartition(".")
    checkpoint = arguments[0] if arguments else keywords.get("pretrained_model_name_or_path", UNKNOWN)
    words = checkpoint.constant.lower() if type(checkpoint) is Host and isinstance(checkpoint.constant, str) else ""
    unasked = any(name in words for name in frameworks().names("mask-unasked"))
    asks = "attn_implementation" not in keywords and not unasked
    return (
        module_value("?", None, MADE_BY + maker) if asks and f"{maker}.forward" in costly_calls() else module_value("?")
    )
