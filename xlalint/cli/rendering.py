"""Builds the context of a report, and the text of ``--show-settings``."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Report, Rule
from xlalint.findings.settings import Configuration
from xlalint.reports import ReportContext, RuleCard
from xlalint.reports.ranking import SHORT_LIST
from xlalint.sources.read import lines_of

if TYPE_CHECKING:
    from xlalint.findings.profile import Profile
    from xlalint.findings.registry import Listed
    from xlalint.inputs import Stdin


def context_for(
    report: Report, configured: Configurations, stdin: Stdin | None, format: str, **how: Any
) -> ReportContext:
    """What the report of ``format`` needs; ``how`` are the other fields of ``ReportContext``."""
    return ReportContext(
        version=_version() if format in ("json", "sarif") else "",
        sources=_sources(stdin),
        rules=_cards(report, configured) if format == "sarif" else {},
        measured=_measured(report, configured) if _ranks_roots(report, format) else {},
        working_directory=os.getcwd(),
        **how,
    )


def settings_text(configuration: Configuration) -> str:
    """The settings as they would stand in a file, with their origin."""
    origin = configuration.file or "no configuration file: defaults"
    line = configuration.command_line
    table = msgspec.to_builtins(configuration.settings)
    for key, value in (("select", line.select), ("exclude", line.exclude)):
        if value is not None:
            table[key] = value
    for key, more in (
        ("extend-select", line.extend_select),
        ("ignore", line.ignore),
        ("extend-exclude", line.extend_exclude),
    ):
        table[key] = [*table[key], *more]
    hints = table.pop("hints")
    lines = [
        f"# {origin}",
        *_of_profile(configuration.profile),
        *_assignments(table),
        "",
        "[hints]",
        *_assignments(hints),
    ]
    return "".join(f"{text}\n" for text in lines)


def _of_profile(profile: Profile | None) -> list[str]:
    if profile is None:
        return []
    device = profile.device
    return [f"# profile: {device.kind} device, torch {device.torch}, torch_xla {device.torch_xla}"]


def _assignments(table: dict[str, Any]) -> list[str]:
    return [f"{key} = {_toml(value)}" if value is not None else f"# {key} is not set" for key, value in table.items()]


def _toml(value: Any) -> str:
    import json  # only to show settings

    if isinstance(value, dict):
        pairs = ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    # Strings, numbers, booleans and arrays are written alike in JSON and TOML.
    return json.dumps(value, ensure_ascii=False)


def _version() -> str:
    from importlib.metadata import version

    return version("xlalint")


def _sources(stdin: Stdin | None) -> Callable[[str], list[str] | None]:
    def lines(path: str) -> list[str] | None:
        if stdin is not None and path == stdin.name:
            return stdin.lines()
        return lines_of(path)

    return lines


def _cards(report: Report, configured: Configurations) -> dict[str, RuleCard]:
    """Of all rules, for a reader who wants to know what was looked for."""
    from xlalint.findings.registry import load_one
    from xlalint.findings.suppression import UNUSED, UNUSED_PAGE

    cards = {one.code: _card(load_one(one).rule, page) for one, page in _pages(report, configured)}
    return {**cards, UNUSED.code: _card(UNUSED, UNUSED_PAGE)}


def _ranks_roots(report: Report, format: str) -> bool:
    return format == "json" or (format == "text" and len(report.diagnostics) > SHORT_LIST)


def _measured(report: Report, configured: Configurations) -> dict[str, dict[str, float]]:
    """What the pages of the rules that found something show; a page of a plugin may show nothing."""
    from xlalint.findings.pages import PageError, growth, parse_page

    measured = {}
    for one, page in _pages_found(report, configured):
        try:
            measured[one.code] = growth(parse_page(page))
        except PageError:
            continue
    return measured


def _pages_found(report: Report, configured: Configurations) -> Iterator[tuple[Listed, str]]:
    """The rules that found something, each with its page."""
    wanted = {found.code for found in report.diagnostics}
    return ((one, page) for one, page in _pages(report, configured, wanted)) if wanted else iter(())


def _pages(
    report: Report, configured: Configurations, wanted: Collection[str] | None = None
) -> Iterator[tuple[Listed, str]]:
    """The rules of the working directory and of all files with findings, each with its page; the text is empty where it
    has none."""
    from xlalint.findings.registry import RegistryError, listed, page_of

    found = [configured.of_file(path) for path in dict.fromkeys(one.path for one in report.diagnostics)]
    plugins = dict.fromkeys(one.settings.plugins for one in (configured.of_folder(os.getcwd()), *found))
    met: set[str] = set()
    for names in plugins:
        for one in listed(names):
            if one.code in met or (wanted is not None and one.code not in wanted):
                continue
            met.add(one.code)
            try:
                yield one, page_of(one)
            except RegistryError:
                yield one, ""


def _card(rule: Rule, page: str) -> RuleCard:
    return RuleCard(
        code=rule.code,
        name=rule.name,
        family=rule.family,
        severity=rule.severity,
        description=first_paragraph(page) or rule.name,
        page=page,
    )


def first_paragraph(page: str) -> str:
    """The first paragraph of a page on one line: the definition of the rule."""
    for block in page.split("\n\n"):
        text = " ".join(block.split())
        if text and not text.startswith("#"):
            return text
    return ""
