"""A trace for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from xlalint.device.recording.counts import Counts
from xlalint.device.trace.confirmation import CONFIRMED, Confirmation, TraceReport
from xlalint.device.trace.steady_state import Rates, Trace, TracedLine, TracedProcess
from xlalint.reports.summary import plural

_COUNTED = Counts.__struct_fields__
_NOUNS = {"compiles": "compile", "executions": "graph", "reads": "read", "uploads": "upload", "fallbacks": "fallback"}


def render(reports: Sequence[TraceReport]) -> str:
    """Each report; where the program ran in several modes, a table of them at the end."""
    parts = ["\n".join(_report(report)) for report in reports]
    if len(reports) > 1:
        parts.append("\n".join(_modes([report.trace for report in reports])))
    return "\n\n".join(parts) + "\n"


def _report(report: TraceReport) -> Iterator[str]:
    trace = report.trace
    yield _heading(trace)
    for process in trace.processes:
        yield from _process(process, named=len(trace.processes) > 1)
    if report.lines:
        yield ""
        yield from _line_table(report)
    yield from _section("Compiled again after the warm-up", _recompiles(trace))
    yield from _section("Findings", (_confirmation(one) for one in report.confirmations))
    yield from _section("Costs that no rule found", (_unfound(line) for line in report.unfound))


def _heading(trace: Trace) -> str:
    if trace.mode is None:
        return "From a log; a debug log tells of graphs only, not of reads, uploads and fallbacks."
    if not trace.processes and trace.status:
        return f"{trace.mode.value} mode: the program ended with exit code {trace.status} before it used an XLA device"
    if not trace.processes:
        return f"{trace.mode.value} mode, exit code {trace.status}: no process used an XLA device"
    return f"{trace.mode.value} mode, exit code {trace.status}"


def _process(process: TracedProcess, named: bool) -> Iterator[str]:
    if named:
        yield ""
        yield f"rank {process.rank}" if process.rank is not None else f"process {process.pid}"
    if not process.complete:
        yield "The process ended before its end was recorded: these are the counts until then."
    yield f"In all: {_words(process.totals)}."
    if not process.steps:
        yield "No step boundary was passed, so there are no figures by step."
        return
    first = 1
    for counts, group in groupby(process.each_step):
        last = first + len(list(group)) - 1
        name = f"step {first}" if first == last else f"steps {first} to {last}, each"
        note = " (warm-up)" if last <= process.warm_up else ""
        yield f"  {name}{note}: {_words(counts)}"
        first = last + 1
    if process.per_step is not None:
        yield _steady_summary(process, process.per_step)


def _steady_summary(process: TracedProcess, rates: Rates) -> str:
    """What a steady step does, and what it would do without the lines that want values early."""
    early = [line for line in process.lines if line.early]
    text = f"A steady step runs {_amount(rates.executions, 'graph')}"
    if process.totals.reads:
        text += f" and reads the host {_times(rates.reads)}"
    if rates.compiles:
        text += f", compiling {_figure(rates.compiles)} of them again"
    if not early:
        return f"{text}."
    lines = " and ".join(filter(None, [", ".join(_number(line) for line in early[:-1]), _number(early[-1])]))
    word = "line" if len(early) == 1 else "lines"
    return f"{text}; without {word} {lines} it would run {_figure(rates.executions - process.early)}."


def _line_table(report: TraceReport) -> Iterator[str]:
    head = ("line", "function", *_COUNTED)
    rows = [
        (f"{line.total.path}:{line.total.line}", line.total.function, *(_cell(line, name) for name in _COUNTED))
        for line in report.lines
    ]
    unattributed = sum((process.unattributed for process in report.trace.processes), Counts())
    totals = report.trace.totals
    rows.append(("unattributed", "", *(str(getattr(unattributed, name)) for name in _COUNTED)))
    rows.append(("total", "", *(str(getattr(totals, name)) for name in _COUNTED)))
    yield from _aligned([head, *rows], left=2)
    if any(line.per_step is not None for line in report.lines):
        yield "(in brackets: in each steady step)"


def _cell(line: TracedLine, name: str) -> str:
    total = getattr(line.total, name)
    rate = getattr(line.per_step, name) if line.per_step is not None else 0
    return f"{total} ({_figure(rate)})" if rate else str(total)


def _recompiles(trace: Trace) -> Iterator[str]:
    for process in trace.processes:
        rank = f"rank {process.rank}, " if len(trace.processes) > 1 else ""
        for one in process.recompiles:
            place = f" at {one.at[0]}:{one.at[1]}" if one.at else ""
            yield f"{rank}step {one.step}{place}: {one.differs}"


def _confirmation(one: Confirmation) -> str:
    finding = one.finding
    where = f"{finding.path}:{finding.at.line}: {finding.code} {finding.name}"
    if one.verdict != CONFIRMED:
        return f"{one.verdict}  {where}: {one.reason}"
    if one.per_step is not None:
        return f"{one.verdict} {where}: in each steady step {_words(one.per_step)}"
    return f"{one.verdict} {where}: in all {_words(one.total)}"


def _unfound(line: TracedLine) -> str:
    where = f"{line.total.path}:{line.total.line} in {line.total.function}"
    if line.per_step is not None:
        return f"{where}: in each steady step {_words(line.per_step)}"
    return f"{where}: in all {_words(line.total)}"


def _modes(traces: Sequence[Trace]) -> Iterator[str]:
    head = ("mode", "compiles", "executions", "executions a step", "reads", "exit code")
    yield from _aligned([head, *(_mode_row(trace) for trace in traces)], left=1)


def _mode_row(trace: Trace) -> tuple[str, ...]:
    totals = trace.totals
    rates = [process.per_step.executions for process in trace.processes if process.per_step is not None]
    a_step = _figure(sum(rates) / len(rates)) if rates else "-"
    mode = trace.mode.value if trace.mode else ""
    return (mode, str(totals.compiles), str(totals.executions), a_step, str(totals.reads), str(trace.status))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    rows = list(lines)
    if rows:
        yield from ("", f"{title}:", *(f"  {row}" for row in rows))


def _aligned(rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """A table; the first ``left`` columns are text, the others numbers."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _words(counts: Counts | Rates | object) -> str:
    parts = [_amount(getattr(counts, name), noun) for name, noun in _NOUNS.items() if getattr(counts, name)]
    return ", ".join(parts) or "nothing"


def _amount(count: float, noun: str) -> str:
    return plural(count, noun) if isinstance(count, int) else f"{_figure(count)} {noun}{'' if count == 1 else 's'}"


def _times(count: float) -> str:
    words = {0.0: "never", 1.0: "once", 2.0: "twice"}
    return words.get(count, f"{_figure(count)} times")


def _number(line: TracedLine) -> str:
    return str(line.total.line)


def _figure(number: float) -> str:
    return f"{round(number, 2):g}"
