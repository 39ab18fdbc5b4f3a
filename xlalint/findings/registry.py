"""Finds and imports the installed rules, by their file names in ``xlalint.rules``; no list names them.

A rule is a module ``xlaNNN_bad_thing.py`` with ``RULE`` and ``check``, and a page of the same name. Other packages
give rules of the same form through the entry point group ``xlalint.rules``; they are loaded only when the
configuration names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from types import ModuleType
from typing import cast

import msgspec

from xlalint.findings.errors import ConfigurationError, nearest
from xlalint.findings.model import Check, Rule
from xlalint.findings.plugins import note_installed, note_package
from xlalint.sources.patterns import lazy_pattern

PACKAGE = "xlalint.rules"
ENTRY_POINTS = "xlalint.rules"
_MODULE = lazy_pattern(r"([a-z]+\d{3,})_([a-z0-9_]+)\Z")


class RegistryError(Exception):
    """A rule that can't be used: no ``RULE`` or ``check``, a code or name given twice. One line."""


class Listed(msgspec.Struct, frozen=True):
    """A rule as the name of its file tells it, before anything is imported."""

    code: str
    name: str
    package: str
    module: str


class Loaded(msgspec.Struct, frozen=True):
    """A rule with its check; ``page`` is read by ``page_of``."""

    rule: Rule
    check: Check
    origin: Listed


def listed(plugins: Sequence[str] = ()) -> tuple[Listed, ...]:
    """All rules by code, without importing one (a plugin's package itself is imported). Refuses duplicates."""
    packages = [PACKAGE, *(_plugin_package(name) for name in dict.fromkeys(plugins))]
    found = sorted((rule for package in packages for rule in _in_package(package)), key=lambda rule: rule.code)
    _refuse_duplicates(found)
    return tuple(found)


def load_rules(plugins: Sequence[str] = ()) -> tuple[Loaded, ...]:
    """All rules by code, imported. Raises ``RegistryError`` and ``ConfigurationError`` (a plugin that isn't there)."""
    return tuple(load_one(one) for one in listed(plugins))


def load_one(one: Listed) -> Loaded:
    """Import one rule and see that it is one."""
    try:
        module = import_module(one.module)
    except Exception as error:
        raise RegistryError(f"rule module `{one.module}`: {type(error).__name__}: {_one_line(error)}") from error
    rule, check = _parts(module)
    if (rule.code, rule.name) != (one.code, one.name):
        raise RegistryError(f"rule module `{one.module}`: the file is named otherwise than {rule.code} {rule.name}")
    return Loaded(rule, check, one)


def find(name: str, rules: Iterable[Listed]) -> Listed | None:
    """A rule by code or name."""
    return next((one for one in rules if name.upper() == one.code or name.lower() == one.name), None)


def is_own(one: Listed) -> bool:
    """Whether a rule is the package's, and no plugin's."""
    return one.package == PACKAGE


def page_of(one: Listed) -> str:
    """The text of a rule's page (Markdown). Raises ``RegistryError`` if there is none."""
    import pkgutil

    name = one.module.rpartition(".")[2] + ".md"
    try:
        data = pkgutil.get_data(one.package, name)
    except OSError as error:
        raise RegistryError(f"rule {one.code} has no page `{name}`") from error
    if data is None:
        raise RegistryError(f"rule {one.code} has no page `{name}`")
    return data.decode("utf-8")


def refuse_missing(plugins: Iterable[str], origin: str) -> None:
    """Raises ``ConfigurationError`` for a plugin that isn't installed, before anything is loaded."""
    for name in plugins:
        _entry_point(name, f"{origin}: key `plugins`: ")


def _in_package(package: str) -> list[Listed]:
    import pkgutil  # for nothing where no rule has anything to say
    from importlib.util import find_spec

    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise RegistryError(f"`{package}` is not a package")
    found = []
    for module in pkgutil.iter_modules(spec.submodule_search_locations):
        match = _MODULE.match(module.name)
        if match is not None:
            name = match[2].replace("_", "-")
            found.append(Listed(match[1].upper(), name, package, f"{package}.{module.name}"))
    return found


def _entry_point(name: str, origin: str = "") -> str:
    from importlib.metadata import entry_points

    note_installed()
    points = {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
    if name not in points:
        raise ConfigurationError(f"{origin}no plugin `{name}` is installed{nearest(name, points)}")
    return points[name]


def _plugin_package(name: str) -> str:
    package = _entry_point(name).partition(":")[0].strip()
    try:
        import_module(package)
    except Exception as error:
        raise RegistryError(f"plugin `{name}`: {type(error).__name__}: {_one_line(error)}") from error
    note_package(package)
    return package


def _refuse_duplicates(rules: Sequence[Listed]) -> None:
    for attribute in ("code", "name"):
        seen: dict[str, Listed] = {}
        for one in rules:
            value = cast(str, getattr(one, attribute))
            if value in seen:
                raise RegistryError(f"the {attribute} `{value}` is given by `{seen[value].module}` and `{one.module}`")
            seen[value] = one


def _parts(module: ModuleType) -> tuple[Rule, Check]:
    rule, check = getattr(module, "RULE", None), getattr(module, "check", None)
    if not isinstance(rule, Rule):
        raise RegistryError(f"rule module `{module.__name__}` has no `RULE`")
    if not callable(check):
        raise RegistryError(f"rule module `{module.__name__}` has no function `check`")
    return rule, cast(Check, check)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
