"""Traces a user's program: runs it, lints its files, and compares findings with the costs that were recorded."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO

from xlalint.device.recording.attribution import attribute
from xlalint.device.recording.debug_log import events
from xlalint.device.recording.inside.program import owner
from xlalint.device.recording.metrics_report import is_metrics_report, totals_of
from xlalint.device.trace.confirmation import TraceReport, held_against
from xlalint.device.trace.launch import launch, roots_of
from xlalint.device.trace.steady_state import Trace, TracedProcess, renamed, trace_of_folder, traced
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic, Mode
from xlalint.findings.pages import PageError, parse_page
from xlalint.findings.registry import RegistryError, find, listed, page_of
from xlalint.linting import Options, lint
from xlalint.sources.discover import shown

_NOT_OURS = re.compile(r"^<|[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python3[.\d]*[/\\]")


def trace(command: Sequence[str], mode: Mode, configurations: Configurations, output: IO[bytes] | int) -> TraceReport:
    """Run ``command`` in ``mode``. Raises ``NotStarted`` where it can't be run."""
    roots = roots_of(command)
    with tempfile.TemporaryDirectory(prefix="xlalint-trace-") as folder:
        status = launch(command, mode, Path(folder), roots, output)
        traced_run = trace_of_folder(Path(folder), mode, status, owner(roots))
    return _report_of(traced_run, configurations)


def trace_of_log(path: Path, configurations: Configurations) -> TraceReport:
    """A debug log or a metrics report that was made elsewhere. Its paths need not exist here."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if is_metrics_report(text):
        process = TracedProcess(
            pid=0,
            rank=None,
            complete=True,
            steps=0,
            warm_up=0,
            totals=totals_of(text),
            per_step=None,
            early=0,
            lines=(),
            unattributed=totals_of(text),
            recompiles=(),
            each_step=(),
            ran={},
        )
    else:
        process = traced(attribute(events(text.splitlines()), lambda name: not _NOT_OURS.search(name)))
    return _report_of(Trace(mode=None, status=0, processes=(process,)), configurations)


def _report_of(traced_run: Trace, configurations: Configurations) -> TraceReport:
    # A log from elsewhere names files that are not here; those keep their names.
    named = renamed(traced_run, lambda path: shown(path) if Path(path).exists() else path)
    files = {path for process in named.processes for path in process.ran}
    files |= {line.total.path for process in named.processes for line in process.lines}
    present = [Path(path) for path in sorted(files) if Path(path).is_file()]
    diagnostics: tuple[Diagnostic, ...] = ()
    if present:
        diagnostics = lint(present, configurations, Options(jobs=1)).diagnostics
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
