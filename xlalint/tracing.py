"""Traces a user's program: runs it, lints its files, and compares findings with the costs that were recorded."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO

import msgspec

from xlalint.cache.folder import default_cache
from xlalint.device.recording.attribution import attribute
from xlalint.device.recording.counts import Counts
from xlalint.device.recording.debug_log import events
from xlalint.device.recording.inside.files import included_in, owner
from xlalint.device.recording.metrics_report import amounts_of, is_metrics_report, totals_of
from xlalint.device.trace.confirmation import TraceReport, held_against
from xlalint.device.trace.launch import Asked, launch, roots_of
from xlalint.device.trace.model import Trace, TracedProcess
from xlalint.device.trace.steady_state import renamed, trace_of_folder, traced
from xlalint.device.trace.timeline import Span, spans_of_folder
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic, Mode
from xlalint.findings.pages import PageError, parse_page
from xlalint.findings.registry import RegistryError, find, listed, page_of
from xlalint.linting import Options, Progress, lint
from xlalint.sources.discover import shown

_NOT_OURS = re.compile(r"^<|[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python3[.\d]*[/\\]")


class NoLog(Exception):
    """A file is neither a debug log nor a metrics report. One line."""


def trace(
    command: Sequence[str],
    mode: Mode,
    configurations: Configurations,
    output: IO[bytes] | int,
    asked: Asked,
    follow: Callable[[], Progress] | None = None,
) -> tuple[TraceReport, tuple[Span, ...]]:
    """Run ``command`` in ``mode``; what each thing took is told where ``asked`` for. ``follow`` gives who is told of
    the progress once the program has ended. Raises ``NotStarted``."""
    roots = roots_of(command)
    with tempfile.TemporaryDirectory(prefix="xlalint-trace-") as folder:
        status = launch(command, mode, Path(folder), roots, output, asked)
        progress = follow() if follow is not None else None
        traced_run = trace_of_folder(Path(folder), mode, status, owner(roots, asked.included))
        spans = spans_of_folder(Path(folder), owner(roots, asked.included)) if asked.times else ()
    return _report_of(traced_run, configurations, _shown_here, progress), spans


def trace_of_logs(
    paths: Sequence[Path],
    configurations: Configurations,
    asked: Asked,
    moved: Sequence[tuple[str, str]],
    progress: Progress | None = None,
) -> TraceReport:
    """Debug logs or metrics reports that were made elsewhere, one for each host. Raises ``NoLog``.

    Paths in them need not exist here; ``moved`` says where the first lies as the second.
    """
    named = included_in(asked.included)

    def owned(path: str) -> bool:
        return bool(named(path)) or not _NOT_OURS.search(path)

    def here(path: str) -> str:
        for there, instead in sorted(moved, key=lambda pair: -len(pair[0])):
            rest = path.removeprefix(there.rstrip("/"))
            if rest != path and (not rest or rest.startswith("/")):
                return _shown_here(f"{instead.rstrip('/') or '/'}{rest}")
        return _shown_here(path)

    processes = [_process_of_log(path, owned, asked, here) for path in paths]
    if len(paths) > 1:
        processes = [
            msgspec.structs.replace(one, log=_file_name(path, paths))
            for one, path in zip(processes, paths, strict=True)
        ]
    return _report_of(Trace(mode=None, status=0, processes=tuple(processes)), configurations, here, progress)


def _process_of_log(
    path: Path, owned: Callable[[str], bool], asked: Asked, here: Callable[[str], str]
) -> TracedProcess:
    text = path.read_text(encoding="utf-8", errors="replace")
    if is_metrics_report(text):
        totals = totals_of(text)
        return TracedProcess(pid=0, totals=totals, unattributed=totals, amounts=amounts_of(text))
    found = tuple(events(text.splitlines()))
    step_at: list[tuple[str, int]] = []
    if asked.step_at:
        wanted = (_shown_here(asked.step_at[0]), asked.step_at[1])
        frames = {(frame.path, frame.line) for one in found for frame in getattr(one, "frames", ())}
        step_at = [frame for frame in frames if (here(frame[0]), frame[1]) == wanted]
    process = traced(attribute(found, owned, step_at))
    if process.totals == Counts():
        raise NoLog(f"{path}: no debug log (PT_XLA_DEBUG_LEVEL=2, PT_XLA_DEBUG_FILE) and no metrics report")
    return process


def _file_name(path: Path, paths: Sequence[Path]) -> str:
    """Its name; with its folder where another has the same name."""
    names = [one.name for one in paths]
    return path.name if names.count(path.name) == 1 else str(path)


def _shown_here(path: str) -> str:
    # A log from elsewhere names files that are not here; those keep their names.
    return shown(path) if Path(path).exists() else path


def _report_of(
    traced_run: Trace, configurations: Configurations, name: Callable[[str], str], progress: Progress | None
) -> TraceReport:
    named = renamed(traced_run, lru_cache(maxsize=None)(name))
    files = {path for process in named.processes for path in process.ran}
    files |= {line.total.path for process in named.processes for line in process.lines}
    # Lines of a package can be shown; its owner is not asked to mend them here.
    present = [Path(path) for path in sorted(files) if Path(path).is_file() and not _NOT_OURS.search(path)]
    diagnostics: tuple[Diagnostic, ...] = ()
    if present:
        options = Options(jobs=1, cache=default_cache())
        diagnostics = lint(present, configurations, options, progress=progress).diagnostics
    kept = [one for one in diagnostics if one.suppressed is None]
    return held_against(named, kept, {shown(str(path)) for path in present}, metrics_of_rule)


@lru_cache(maxsize=256)
def metrics_of_rule(code: str) -> frozenset[str]:
    """What a rule claims to cost: the metrics of its page's experiments."""
    one = find(code, listed(()))
    if one is None:
        return frozenset()
    try:
        return frozenset(experiment.metric for experiment in parse_page(page_of(one)).experiments)
    except (PageError, RegistryError):
        return frozenset()
