"""What tests of rules need: lint a text, or make facts by hand."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator

from xlalint.facts.assumptions import Assumptions
from xlalint.facts.events import Event, Facts
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic
from xlalint.linting import Bench, Options
from xlalint.sources.source import Source


def facts_of(text: str, path: str = "page.py", *, assume_xla: bool | None = None) -> Facts | str:
    """The facts of one text, or why there are none."""
    analyse = importlib.import_module("xlalint.facts.analysis").analyse
    assumptions = Assumptions(assume_xla=assume_xla)
    found: Iterator[tuple[Source, Facts | str]] = analyse(
        [Source(path, text, "utf-8")], lambda _: assumptions, Options(jobs=1)
    )
    return next(found)[1]


def findings_of(text: str, path: str = "page.py") -> list[Diagnostic]:
    """The findings of one text with the default configuration, suppressed ones left out.

    Raises ``ValueError`` for a text that can't be linted.
    """
    facts = facts_of(text, path)
    if isinstance(facts, str):
        raise ValueError(facts)
    found = Bench(Configurations()).judge(Source(path, text, "utf-8"), facts)
    if not isinstance(found, list):
        raise ValueError(found.reason)
    return [one for one in found if one.suppressed is None]


def facts_with(*events: Event, path: str = "page.py") -> Facts:
    return Facts(path, events)


def all_events(facts: Facts) -> Iterable[Event]:
    from xlalint.facts.events import Effect

    return facts.events(*Effect)
