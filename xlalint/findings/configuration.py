"""Finds and reads configuration files: the nearest ``xlalint.toml``, or ``pyproject.toml`` with ``[tool.xlalint]``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from xlalint.findings.errors import ConfigurationError
from xlalint.findings.settings import COMMAND_LINE, Configuration, defaults, settings_from
from xlalint.installed.environment import named, packages_in
from xlalint.sources import observed
from xlalint.sources.discover import shown
from xlalint.sources.read import reason_of

if TYPE_CHECKING:
    from xlalint.findings.profile import Profile

OWN = "xlalint.toml"
SHARED = "pyproject.toml"
_TABLE = "tool.xlalint"
# Longest part of the parser's message that is repeated: a broken file can be one line of a megabyte.
_MOST_CHARACTERS = 120

Adjust = Callable[[Configuration], Configuration]


class Configurations:
    """The configuration of each folder: that of the nearest file upwards, looked up once a folder.

    Files are not merged: the nearest says all. ``adjust`` lays the command line over what was found.
    """

    def __init__(self, adjust: Adjust | None = None, fixed: Configuration | None = None) -> None:
        self._adjust = adjust or (lambda configuration: configuration)
        self._profiles: dict[str, Profile] = {}
        self._fixed = self._finished(fixed) if fixed is not None else None
        self._found: dict[str, Configuration | None] = {}
        self._default = self._finished(defaults())
        self._with_packages: set[str] = set()

    def of_folder(self, folder: str) -> Configuration:
        """``folder`` is an absolute path. Raises ``ConfigurationError``."""
        if self._fixed is not None:
            return self._fixed
        return self._upwards(folder) or self._default

    def of_file(self, path: str) -> Configuration:
        return self.of_folder(os.path.dirname(os.path.abspath(path)))

    def refuse_missing_packages(self, path: str) -> None:
        """Raises ``ConfigurationError`` where the file or folder ``path`` is linted by packages that are not where its
        configuration says. Not asked of each configuration that is met: an environment may be of another machine."""
        found = self.of_folder(os.path.abspath(path)) if observed.is_folder(path) else self.of_file(path)
        if found.settings.python is None or not found.settings.follow:
            return
        environment = named(found.settings.python, found.root)
        if environment not in self._with_packages:
            refuse_without_packages(environment, _origin(found))
            self._with_packages.add(environment)

    def _upwards(self, folder: str) -> Configuration | None:
        passed: list[str] = []
        found: Configuration | None = None
        while folder not in self._found:
            passed.append(folder)
            found = configuration_in(folder)
            parent = os.path.dirname(folder)
            if found is not None or parent == folder:
                found = self._finished(found) if found is not None else None
                break
            folder = parent
        else:
            found = self._found[folder]
        for one in passed:
            self._found[one] = found
        return found

    def _finished(self, found: Configuration) -> Configuration:
        """With the command line laid over it, and with its profile read."""
        adjusted = self._adjust(found)
        if adjusted.settings.plugins:
            from xlalint.findings.registry import refuse_missing

            refuse_missing(adjusted.settings.plugins, _origin(adjusted))
        path = adjusted.profile_path()
        if path is None or adjusted.profile is not None:
            return adjusted
        # A profile of the command line is the same for each file, and names itself.
        origin = _origin(found) if adjusted.settings.profile == found.settings.profile else ""
        return msgspec.structs.replace(adjusted, profile=self._profile(path, adjusted.settings.plugins, origin))

    def _profile(self, path: str, plugins: Sequence[str], origin: str) -> Profile:
        if path not in self._profiles:
            from xlalint.findings.profile import load_profile

            try:
                self._profiles[path] = load_profile(path, plugins)
            except ConfigurationError as error:
                raise ConfigurationError(f"{origin}: {error}" if origin else str(error)) from error
        return self._profiles[path]


def refuse_without_packages(environment: str, origin: str) -> None:
    """Raises ``ConfigurationError`` where an environment that ``origin`` names, absolute, has no packages."""
    if packages_in(environment):
        return
    told = f"{origin}: key `python`: {shown(environment)}"
    if not observed.exists(environment):
        raise ConfigurationError(f"{told}: no such file or folder")
    raise ConfigurationError(f"{told}: is neither an environment nor its interpreter nor a folder with packages")


def configuration_in(folder: str) -> Configuration | None:
    """The configuration that stands in ``folder``; a ``pyproject.toml`` without our table is none."""
    own = os.path.join(folder, OWN)
    if observed.is_file(own):
        return load_configuration(own)
    shared = os.path.join(folder, SHARED)
    if observed.is_file(shared) and b"xlalint" in _bytes(shared):
        table = _tool_table(_toml_document(shared), shared)
        if table is not None:
            return _configuration(table, shared)
    return None


def load_configuration(path: str) -> Configuration:
    """One file, ``pyproject.toml`` or of the form of ``xlalint.toml``. Raises ``ConfigurationError``."""
    if not observed.is_file(path):
        reason = "is not a regular file" if observed.exists(path) else "no such configuration file"
        raise ConfigurationError(f"{shown(path)}: {reason}")
    document = _toml_document(path)
    if os.path.basename(path) == SHARED:
        return _configuration(_tool_table(document, path) or {}, path)
    table = _tool_table(document, path)
    return _configuration(document if table is None else table, path)


def _origin(found: Configuration) -> str:
    return shown(found.file) if found.file is not None else COMMAND_LINE


def _configuration(table: Mapping[str, Any], path: str) -> Configuration:
    path = os.path.abspath(path)
    return Configuration(settings_from(table, shown(path)), os.path.dirname(path), path)


def _tool_table(document: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    tool = document.get("tool")
    table = tool.get("xlalint") if isinstance(tool, Mapping) else None
    if table is not None and not isinstance(table, Mapping):
        raise ConfigurationError(f"{shown(path)}: `{_TABLE}`: expected a table, got {type(table).__name__}")
    return table


def _bytes(path: str) -> bytes:
    try:
        return observed.content(path)
    except OSError as error:
        raise ConfigurationError(f"{shown(path)}: {reason_of(error)}") from error


def _toml_document(path: str) -> dict[str, Any]:
    data = _bytes(path)
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document: dict[str, Any] = toml.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{shown(path)}: is not valid UTF-8") from error
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is a ValueError
        raise ConfigurationError(f"{shown(path)}: {_shortened(str(error))}") from error
    return document


def _shortened(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _MOST_CHARACTERS else line[:_MOST_CHARACTERS] + "…"
