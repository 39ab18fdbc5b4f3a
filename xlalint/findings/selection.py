"""Selects rules: selectors by code, prefix, name, family or ``ALL``; the more specific wins.

Among equally specific ones the command line beats the configuration, and ``ignore`` beats ``select``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

from xlalint.findings.errors import ConfigurationError, nearest
from xlalint.findings.model import Mode, Rule
from xlalint.findings.settings import Configuration, Selectors
from xlalint.sources.discover import shown
from xlalint.sources.ignored import Pattern, globs_pattern
from xlalint.sources.patterns import lazy_pattern

EVERYTHING = "ALL"
_PREFIX = lazy_pattern(r"[A-Z]+\d*\Z")


class Specificity(IntEnum):
    """How narrow a selector is. Each digit of a prefix counts one more."""

    EVERYTHING = 0
    FAMILY = 1
    PREFIX = 2
    EXACT = 100


def specificity(selector: str, rule: Rule) -> int | None:
    """How narrowly ``selector`` names ``rule``; None if it doesn't. Codes in either case."""
    if selector in (rule.code, rule.name) or selector.upper() == rule.code:
        return Specificity.EXACT
    if selector == EVERYTHING:
        return Specificity.EVERYTHING
    if selector == rule.family:
        return Specificity.FAMILY
    prefix = selector.upper()
    if _PREFIX.match(prefix) and rule.code.startswith(prefix):
        return Specificity.PREFIX + len(prefix)
    return None


def covers(selectors: Iterable[str], rule: Rule) -> bool:
    """Whether any of ``selectors`` names ``rule``, however widely."""
    return any(specificity(selector, rule) is not None for selector in selectors)


def refuse_unknown(selectors: Iterable[str], rules: Sequence[Rule], origin: str) -> None:
    """Raises ``ConfigurationError`` for a selector that names no rule at all."""
    for selector in selectors:
        if selector != EVERYTHING and not any(specificity(selector, rule) is not None for rule in rules):
            known = {word for rule in rules for word in (rule.code, rule.name, rule.family)}
            raise ConfigurationError(f"{origin}: no rule `{selector}`{nearest(selector, sorted(known))}")


def refuse_unknown_in(configuration: Configuration, rules: Sequence[Rule]) -> None:
    """Check every selector of a configuration. Raises ``ConfigurationError``."""
    settings, line = configuration.settings, configuration.command_line
    for_line = (*(line.select or ()), *line.extend_select, *line.ignore)
    refuse_unknown(for_line, rules, "the command line")
    origin = shown(configuration.file) if configuration.file else "the configuration"
    for key, selectors in (
        ("select", settings.select),
        ("extend-select", settings.extend_select),
        ("ignore", settings.ignore),
        ("severity", tuple(settings.severity)),
        ("per-file-ignores", tuple(one for ignored in settings.per_file_ignores.values() for one in ignored)),
    ):
        refuse_unknown(selectors, rules, f"{origin}: key `{key}`")


def is_selected(rule: Rule, configuration: Configuration) -> bool:
    """Whether ``rule`` is on in this configuration, before modes and per-file ignores."""
    best: tuple[int, int, int] = (-1, 0, 0)
    on = False
    for layer, chosen in enumerate(_layers(configuration)):
        for is_ignore, selectors in enumerate(((*(chosen.select or ()), *chosen.extend_select), chosen.ignore)):
            for selector in selectors:
                narrow = specificity(selector, rule)
                # What is off by default is on only where it is named itself.
                if narrow is None or (not rule.default and not is_ignore and narrow < Specificity.EXACT):
                    continue
                if (narrow, layer, is_ignore) > best:
                    best, on = (narrow, layer, is_ignore), not is_ignore
    return on


def modes_of(rule: Rule, configuration: Configuration) -> frozenset[Mode]:
    """The modes in which the rule's cost was measured, less those in which the profile's device has none."""
    profile = configuration.profile
    return rule.modes if profile is None else profile.modes_left(rule.code, rule.modes)


def counts_in(rule: Rule, configuration: Configuration) -> bool:
    """Whether the rule's cost was measured in the mode that the user cares for."""
    wanted, modes = configuration.settings.mode, modes_of(rule, configuration)
    return bool(modes) if wanted == "all" else Mode(wanted) in modes


def severity_of(rule: Rule, overrides: Mapping[str, str]) -> str | None:
    """The override of the narrowest selector, if there is one."""
    ranked = [(narrow, name) for key, name in overrides.items() if (narrow := specificity(key, rule)) is not None]
    return max(ranked)[1] if ranked else None


class FileIgnores:
    """The per-file ignores of one configuration; globs as in ``.gitignore``, from the configuration's folder."""

    def __init__(self, configuration: Configuration) -> None:
        self._entries: list[tuple[Pattern, tuple[str, ...]]] = [
            (globs_pattern(configuration.root, (glob,)), selectors)
            for glob, selectors in configuration.settings.per_file_ignores.items()
        ]

    def of(self, path: str) -> tuple[str, ...]:
        """The selectors that are ignored in the file ``path``."""
        absolute = os.path.abspath(path)
        return tuple(one for matches, selectors in self._entries if matches(absolute, False) for one in selectors)


def _layers(configuration: Configuration) -> tuple[Selectors, Selectors]:
    settings, line = configuration.settings, configuration.command_line
    if line.select is not None:
        # A choice on the command line replaces that of the file; what the file ignores stays.
        return Selectors(ignore=settings.ignore), line
    return Selectors(settings.select, settings.extend_select, settings.ignore), line
