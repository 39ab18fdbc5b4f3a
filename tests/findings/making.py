"""Events, facts and rules for the tests of this folder: real ones, made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from xlalint.facts.events import Certainty, Effect, Event, Facts, Heat, Place, Span
from xlalint.findings.model import Check, Finding, Rule, Severity
from xlalint.findings.registry import Listed, Loaded
from xlalint.findings.settings import CommandLine, Configuration, settings_from


def event(line: int, column: int, spelling: str = "loss.item()", **changes: Any) -> Event:
    """A scalar read in every step of a loop over ``loader``, unless ``changes`` say otherwise."""
    fields: dict[str, Any] = {
        "effect": Effect.SCALAR_READ,
        "span": Span(line, column, line, column + len(spelling.encode())),
        "scope": "train",
        "subject": "item",
        "spelling": spelling,
        "operand": spelling.partition(".")[0],
        "value": "tensor xla f32[]",
        "heat": Heat.STEP,
        "certainty": Certainty.LIKELY,
        "place": Place.BEFORE_BOUNDARY,
        "loop": "the loop over `loader`",
        "evaluation": False,
        "assumed_hot": False,
        "guards": (),
        "why": (),
        "detail": "",
        "form": "",
        "backward_only": False,
        "uses_xla": True,
    }
    return Event(**{**fields, **changes})


def facts(*events: Event, path: str = "x.py") -> Facts:
    return Facts(path, events)


def rule(code: str = "XLA101", name: str = "scalar-read-in-step", family: str = "host-transfer", **more: Any) -> Rule:
    return Rule(code=code, name=name, family=family, severity=more.pop("severity", Severity.WARNING), **more)


def loaded(rule: Rule, *effects: Effect) -> Loaded:
    """A rule that reports every event with one of ``effects`` (by default every scalar read)."""

    def check(facts: Facts) -> Iterator[Finding]:
        for read in facts.events(*(effects or (Effect.SCALAR_READ,))):
            yield Finding(rule=rule, at=read, message=f"`{read.spelling}` waits", help="keep it on the device")

    return with_check(rule, check)


def with_check(rule: Rule, check: Check) -> Loaded:
    return Loaded(rule, check, Listed(rule.code, rule.name, "tests", "tests"))


def configuration(root: str = "/", line: CommandLine | None = None, **table: Any) -> Configuration:
    """A configuration from its keys, with ``_`` for ``-``."""
    settings = settings_from({key.replace("_", "-"): value for key, value in table.items()}, "xlalint.toml")
    return Configuration(settings, root, None, line or CommandLine())
