"""The settings: keys, types and defaults, as documented in ``docs/configuration.md``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from xlalint.findings.errors import ConfigurationError, nearest, validation_message
from xlalint.sources.ignored import DEFAULT_EXCLUDES, Excludes, Globs, is_pattern
from xlalint.sources.patterns import lazy_pattern
from xlalint.sources.read import DEFAULT_LIMIT_MB

if TYPE_CHECKING:
    from xlalint.findings.profile import Profile

ModeName = Literal["lazy", "dynamo", "eager", "all"]
CertaintyName = Literal["possible", "likely", "certain"]
SeverityName = Literal["note", "warning", "error"]
TreatmentName = Literal["lower", "same", "skip"]

_CHOICES = {
    "mode": get_args(ModeName),
    "min-certainty": get_args(CertaintyName),
    "fail-on": get_args(SeverityName),
    "severity": get_args(SeverityName),
    "assume-xla": ("auto", "true", "false"),
    "tests": get_args(TreatmentName),
    "cuda-files": get_args(TreatmentName),
    "copies": get_args(TreatmentName),
}

# As packages are versioned (PEP 440), those that are not released included: `2`, `2.9.1+cpu`, `2.9.0a0+git1a2b3c`.
_VERSION = lazy_pattern(
    r"v?\d+(?:\.\d+)*(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc|post|rev|r|dev)[-_.]?\d*)*(?:\+[\w.-]+)?",
    re.ASCII | re.IGNORECASE,
)
_MOST_JOBS = 1024
COMMAND_LINE = "the command line"


class Hints(msgspec.Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """Names of the user's own things, dotted (``pkg.data.Batches``) or as they are spelled where they are used."""

    loaders: tuple[str, ...] = ()
    """Classes and functions whose result yields batches: a loop over it is a step loop."""
    step_functions: tuple[str, ...] = ()
    """Functions that run once a step."""
    boundaries: tuple[str, ...] = ()
    """Functions that end the step on the device, as ``torch_xla.sync`` does."""
    host_functions: tuple[str, ...] = ()
    """Functions that only see host values, or are never called in a step: nothing in them is reported."""


class Selectors(msgspec.Struct, frozen=True):
    """Choices of rules of one origin: codes, prefixes, names, families or ``ALL``."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


class CommandLine(Selectors, frozen=True):
    """What the command line chooses beside the settings that it replaces."""

    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()


class Settings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """All settings of one file, with their defaults."""

    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    severity: dict[str, SeverityName] = {}
    min_certainty: CertaintyName = "likely"
    fail_on: SeverityName = "warning"
    mode: ModeName = "lazy"
    assume_xla: bool | Literal["auto"] = "auto"
    tests: TreatmentName = "lower"
    """What becomes of findings in tests: one level lower, the same, or none."""
    cuda_files: TreatmentName = "lower"
    """The same of files that can't be imported without a GPU."""
    copies: TreatmentName = "lower"
    """The same of copies that somebody keeps beside what runs."""
    torch_xla_version: str | None = None
    plugins: tuple[str, ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDES
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    max_file_size: int = DEFAULT_LIMIT_MB
    """In millions of bytes."""
    profile: str | None = None
    """A file of ``xlalint calibrate``: what the device does that the code is for."""
    baseline: str | None = None
    """The file of accepted findings, if it is not that of the default name."""
    follow: bool = True
    """Whether calls into installed packages are followed through their source."""
    python: str | None = None
    """Where those packages are installed: a virtual environment, its interpreter, or a folder with packages."""
    jobs: int = 0
    """Processes; 0: one for each core."""
    project_max_files: int = 5000
    """Python files of a project beyond which what leads to the named ones is not looked for."""
    hints: Hints = Hints()


class Configuration(msgspec.Struct, frozen=True):
    """Settings with their origin: ``file`` (None: the defaults) and the folder that its patterns start from.

    ``command_line`` holds the choices made there: they beat those of the file, and their patterns start from the
    working directory.
    """

    settings: Settings
    root: str
    file: str | None = None
    command_line: CommandLine = CommandLine()
    profile: Profile | None = None
    """What ``settings.profile`` names, read."""

    def profile_path(self) -> str | None:
        """The file that ``settings.profile`` names, absolute; one of a configuration file starts from its folder."""
        name = self.settings.profile
        return None if name is None else os.path.join(self.root, name)

    def excludes(self) -> Excludes:
        settings, line = self.settings, self.command_line
        here = os.getcwd()
        if line.exclude is not None:
            globs: tuple[Globs, ...] = (Globs(here, (*line.exclude, *line.extend_exclude)),)
        else:
            globs = (Globs(self.root, (*settings.exclude, *settings.extend_exclude)),)
            if line.extend_exclude:
                globs = (*globs, Globs(here, line.extend_exclude))
        return Excludes(globs, force=settings.force_exclude, gitignore=settings.respect_gitignore)

    def with_command_line(self, changes: Mapping[str, Any], command_line: CommandLine) -> Configuration:
        """The same with ``changes`` to the settings (by attribute name). Raises ``ConfigurationError``."""
        settings = msgspec.structs.replace(self.settings, **changes)
        _check_numbers(settings, COMMAND_LINE)
        _check_patterns("exclude", command_line.exclude or (), COMMAND_LINE)
        _check_patterns("extend-exclude", command_line.extend_exclude, COMMAND_LINE)
        return msgspec.structs.replace(self, settings=settings, command_line=command_line)


def defaults(root: str | None = None) -> Configuration:
    return Configuration(Settings(), root if root is not None else os.getcwd())


def settings_from(table: Mapping[str, Any], origin: str) -> Settings:
    """The settings of a configuration table. Raises ``ConfigurationError``; ``origin`` says whose table it is."""
    _refuse_unknown_keys(table, Settings, origin)
    if isinstance(table.get("hints"), Mapping):
        _refuse_unknown_keys(table["hints"], Hints, f"{origin}, [hints]")
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{origin}: {validation_message(str(error), _CHOICES)}") from error
    _check_numbers(settings, origin)
    _check_names(settings, origin)
    for key, patterns in (
        ("exclude", settings.exclude),
        ("extend-exclude", settings.extend_exclude),
        ("per-file-ignores", settings.per_file_ignores),
    ):
        _check_patterns(key, patterns, origin)
    return settings


def _refuse_unknown_keys(table: Mapping[str, Any], kind: type[msgspec.Struct], origin: str) -> None:
    known = kind.__struct_encode_fields__
    for key in table:
        if key not in known:
            raise ConfigurationError(f"{origin}: unknown key `{key}`{nearest(key.replace('_', '-'), known)}")


def _check_numbers(settings: Settings, origin: str) -> None:
    if not 0 <= settings.jobs <= _MOST_JOBS:
        raise ConfigurationError(f"{origin}: key `jobs`: expected 0 to {_MOST_JOBS}, got {settings.jobs}")
    if settings.max_file_size < 1:
        raise ConfigurationError(f"{origin}: key `max-file-size`: expected 1 or more, got {settings.max_file_size}")


def _check_names(settings: Settings, origin: str) -> None:
    """What names something must be able to: an empty path, or a hint that is no name, would mean nothing."""
    for key, path in (("profile", settings.profile), ("python", settings.python), ("baseline", settings.baseline)):
        if path == "":
            raise ConfigurationError(f"{origin}: key `{key}`: the path is empty")
        if path is not None and "\0" in path:
            raise ConfigurationError(f"{origin}: key `{key}`: no path holds a null character")
    version = settings.torch_xla_version
    if version is not None and not _VERSION.fullmatch(version):
        raise ConfigurationError(f"{origin}: key `torch-xla-version`: expected a version such as 2.9, got `{version}`")
    for key in Hints.__struct_fields__:
        for name in getattr(settings.hints, key):
            if not all(part.isidentifier() for part in name.split(".")):
                told = f"expected names such as `pkg.data.Batches`, got `{name}`"
                raise ConfigurationError(f"{origin}, [hints]: key `{key.replace('_', '-')}`: {told}")


def _check_patterns(key: str, patterns: Iterable[str], origin: str) -> None:
    for pattern in patterns:
        if not is_pattern(pattern):
            raise ConfigurationError(f"{origin}: key `{key}`: `{pattern}` is no pattern, and would match nothing")
