"""The configuration that ``xlalint init`` writes: comments on what there is to set, fit for the project it finds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from xlalint.sources.patterns import lazy_pattern

_COPIED = frozenset({"vendor", "vendored", "third_party", "thirdparty", "_vendor", "external", "extern", "submodules"})
_VERSION = lazy_pattern(r"torch[_-]xla(?:\[[^\]]*\])?\s*[=~><]{1,2}\s*(\d+\.\d+)", re.IGNORECASE)


class Project(msgspec.Struct, frozen=True):
    """What is known of a project; paths from its folder, with ``/``."""

    files: tuple[str, ...]
    """Its Python files."""
    imports_xla: bool
    xla_version: str | None = None
    baseline: bool = False
    """Whether accepted findings lie beside it."""


def xla_version_in(requirements: Iterable[str]) -> str | None:
    """The version of torch_xla that a text of requirements asks for, if it does."""
    matches = (_VERSION.search(text) for text in requirements)
    return next((match[1] for match in matches if match is not None), None)


def initial_table(project: Project, most_files: int) -> str:
    """The keys of the table, without its head: those that the project needs, and the others commented out."""
    return "\n".join(_settings_lines(project, most_files)) + "\n"


def _settings_lines(project: Project, most_files: int) -> Iterable[str]:
    copied = _copied_folders(project.files)
    yield "# Path patterns that are not linted, beside .gitignore and the defaults (.venv, build and the like)."
    yield f"extend-exclude = [{', '.join(copied)}]" if copied else '# extend-exclude = ["vendored"]'
    yield "# Rules that are not used: codes, beginnings of codes, names or families; `xlalint rule` lists them."
    yield '# ignore = ["XLA314"]'
    yield "# Rules that are not used in some files, and other levels for some: note, warning, error."
    yield '# per-file-ignores = { "scripts/*" = ["XLA106"] }'
    yield '# severity = { XLA104 = "error" }'
    if project.imports_xla:
        yield "# Code of yours imports torch_xla, so it is linted as such; `true` would take all of it for code on XLA."
        yield "# assume-xla = true"
    else:
        yield "# Nothing here imports torch_xla. `true` uses rules about habits that are right elsewhere, too."
        yield "# assume-xla = true"
    yield "# The version of torch_xla that the code is written for."
    version = project.xla_version
    yield f'torch-xla-version = "{version}"' if version is not None else '# torch-xla-version = "2.9"'
    yield "# Findings in tests are one level lower; `skip` leaves them out."
    yield '# tests = "skip"'
    if len(project.files) > most_files:
        yield "# So many Python files are searched for callers of the files that are named alone."
        yield f"project-max-files = {round(len(project.files) * 1.5, -2):.0f}"
    if not project.baseline:
        yield "# Where there is too much to mend at once: `xlalint baseline` accepts what is found now."


def _copied_folders(files: Sequence[str]) -> list[str]:
    """Folders of other people's code, as patterns from the configuration's folder."""
    found = set()
    for path in files:
        parts = path.split("/")[:-1]
        at = next((at for at, part in enumerate(parts) if part.lower() in _COPIED), None)
        if at is not None:
            found.add(f'"/{"/".join(parts[: at + 1])}"')
    return sorted(found)
