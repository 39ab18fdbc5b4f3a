"""A trace for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xlalint.device.recording.counts import Amounts, Counts
from xlalint.device.trace.confirmation import CONFIRMED, NOT_SEEN, Confirmation, TraceReport
from xlalint.device.trace.model import CompiledGraph, LibraryLine, Trace, TracedLine
from xlalint.device.trace.processes import name_of
from xlalint.findings.model import Mode
from xlalint.reports.summary import plural
from xlalint.reports.trace_steps import process_lines
from xlalint.reports.trace_words import aligned, figure, in_package, place_name, size, words

_COUNTED = Counts.__struct_fields__
_MOST_BELOW = 5
"""Lines of libraries that are shown below one line of the user's."""
_LARGEST = 3
_LOG = "From a log; a debug log tells of graphs only, not of reads, uploads and fallbacks."
_LOGS = "From {} logs; a debug log tells of graphs only, not of reads, uploads and fallbacks."


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
        yield from process_lines(process, name_of(process) if len(trace.processes) > 1 else None)
    yield from _section("Processes that do not do the same, so those that wait for each other hang", report.differences)
    if report.lines:
        yield ""
        yield from _line_table(report)
    yield from _section("Ops that fell back to the host", _fallbacks(report))
    yield from _section("Largest graphs", _largest(trace))
    again = sum(len(process.recompiles) for process in trace.processes)
    grown = f" (UncachedCompile grew by {again})" if trace.mode is not Mode.EAGER else ""
    yield from _section(f"Compiled again after the warm-up{grown}", _recompiles(trace))
    yield from _section("Graph breaks of dynamo", _breaks(trace))
    yield from _section("Findings", (_confirmation(one) for one in report.confirmations))
    yield from _section("Costs that no rule found", (_unfound(line) for line in report.unfound))


def _heading(trace: Trace) -> str:
    if trace.mode is None:
        return _LOG if len(trace.processes) == 1 else _LOGS.format(len(trace.processes))
    if not trace.processes and trace.status:
        return f"{trace.mode.value} mode: the program ended with exit code {trace.status} before it used an XLA device"
    if not trace.processes:
        return f"{trace.mode.value} mode, exit code {trace.status}: no process used an XLA device"
    first = trace.processes[0]
    many = f" ({first.devices} devices)" if first.devices > 1 else ""
    device = f" on {first.device}{many}" if first.device else ""
    return f"{trace.mode.value} mode{device}, exit code {trace.status}"


def _line_table(report: TraceReport) -> Iterator[str]:
    head = ("line", "function", *_COUNTED)
    rows: list[tuple[str, ...]] = []
    for line in report.lines:
        rows.append((place_name((line.total.path, line.total.line)), line.total.function, *_cells(line)))
        rows += [
            (f"  {in_package(one.total.path)}:{one.total.line}", one.total.function, *_cells(one))
            for one in _worth_showing(line)
        ]
    unattributed = sum((process.unattributed for process in report.trace.processes), Counts())
    totals = report.trace.totals
    rows.append(("unattributed", "", *(str(getattr(unattributed, name)) for name in _COUNTED)))
    rows.append(("total", "", *(str(getattr(totals, name)) for name in _COUNTED)))
    yield from aligned([head, *rows], left=2)
    notes = ["in brackets: in each steady step"] if any(line.per_step is not None for line in report.lines) else []
    if any(_worth_showing(line) for line in report.lines):
        notes.append("indented: where in a library")
    if notes:
        yield f"({'; '.join(notes)})"


def _worth_showing(line: TracedLine) -> list[LibraryLine]:
    """Where a call of the user's costs inside of a library. Uploads alone are no reason to look there."""
    costly = [one for one in line.library if _weight(one) > (0.0, 0)]
    return sorted(costly, key=_weight, reverse=True)[:_MOST_BELOW]


def _weight(one: LibraryLine) -> tuple[float, int]:
    rates, total = one.per_step, one.total
    each = rates.executions + rates.reads + rates.fallbacks if rates is not None else 0.0
    return each, total.compiles + total.executions + total.reads + total.fallbacks


def _cells(line: TracedLine | LibraryLine) -> Iterator[str]:
    for name in _COUNTED:
        total = getattr(line.total, name)
        rate = getattr(line.per_step, name) if line.per_step is not None else 0
        yield f"{total} ({figure(rate)})" if rate else str(total)


def _fallbacks(report: TraceReport) -> Iterator[str]:
    """By line where the counters tell, else of the whole run."""
    named = [(place_name((line.total.path, line.total.line)), line.amounts) for line in report.lines]
    told = sum((amounts for _, amounts in named), Amounts())
    of_all = report.trace.amounts.fallback_ops
    rest = {op: count - told.fallback_ops.get(op, 0) for op, count in of_all.items()}
    for where, amounts in named:
        yield from (f"{where}: {op}, {count} times" for op, count in sorted(amounts.fallback_ops.items()))
    yield from (f"unattributed: {op}, {count} times" for op, count in sorted(rest.items()) if count > 0)


def _largest(trace: Trace) -> Iterator[str]:
    graphs = [graph for process in trace.processes for graph in process.graphs]
    told = [graph for graph in graphs if graph.ops or any(graph.memory.values())]
    for graph in sorted(told, key=_size_of_graph, reverse=True)[:_LARGEST]:
        when = f"step {graph.step}" if graph.step else "after the last step"
        parts = [plural(graph.ops, "op") if graph.ops else "", plural(graph.inputs, "input")]
        parts += [plural(graph.outputs, "output"), f"{size(memory)} of memory" if (memory := _memory(graph)) else ""]
        yield f"{_place_of(graph)} ({when}): {', '.join(filter(None, parts))}"


def _place_of(graph: CompiledGraph) -> str:
    return f"{place_name(graph.at)}{f', in {place_name(graph.below)}' if graph.below else ''}"


def _size_of_graph(graph: CompiledGraph) -> tuple[int, float]:
    return graph.ops or 0, _memory(graph)


def _memory(graph: CompiledGraph) -> float:
    """Bytes: what goes in and comes out, what is kept meanwhile, and the program; what is both in and out once."""
    parts = (-each if "liased" in what else each for what, each in graph.memory.items())
    return sum(parts) * 1024**3


def _recompiles(trace: Trace) -> Iterator[str]:
    for process in trace.processes:
        name = f"{name_of(process)}, " if len(trace.processes) > 1 else ""
        for one in process.recompiles:
            yield f"{name}step {one.step}{f' at {_place_of(one)}' if one.at else ''}: {one.differs}"


def _breaks(trace: Trace) -> Iterator[str]:
    for process in trace.processes:
        name = f"{name_of(process)}, " if len(trace.processes) > 1 else ""
        for one in sorted(process.breaks, key=lambda each: -each.count):
            where = place_name((one.at.path, one.at.line)) if one.at else "before the first op of a graph"
            yield f"{name}{where}: {one.reason}{f' ({one.count} times)' if one.count > 1 else ''}"


def _confirmation(one: Confirmation) -> str:
    finding = one.finding
    where = f"{one.verdict} {finding.path}:{finding.at.line}: {finding.code} {finding.name}"
    cost = words(one.total) if one.per_step is None else f"in each steady step {words(one.per_step)}"
    if one.verdict == CONFIRMED:
        return f"{where}: {'in all ' if one.per_step is None else ''}{cost}"
    if one.verdict == NOT_SEEN:
        return f"{where}: {one.reason}"
    return f"{where}: {one.reason} (in all {words(one.total)})"


def _unfound(line: TracedLine) -> str:
    where = f"{line.total.path}:{line.total.line} in {line.total.function}"
    below = _worth_showing(line)[:1]
    most = f", most at {place_name((below[0].total.path, below[0].total.line))}" if below else ""
    if line.per_step is not None:
        return f"{where}: in each steady step {words(line.per_step)}{most}"
    return f"{where}: in all {words(line.total)}{most}"


def _modes(traces: Sequence[Trace]) -> Iterator[str]:
    head = ("mode", "compiles", "executions", "executions a step", "reads", "graph breaks", "exit code")
    yield from aligned([head, *(_mode_row(trace) for trace in traces)], left=1)


def _mode_row(trace: Trace) -> tuple[str, ...]:
    totals = trace.totals
    rates = [process.per_step.executions for process in trace.processes if process.per_step is not None]
    a_step = figure(sum(rates) / len(rates)) if rates else "-"
    mode = trace.mode.value if trace.mode else ""
    breaks = sum(one.count for process in trace.processes for one in process.breaks)
    figures = (totals.compiles, totals.executions, a_step, totals.reads, breaks, trace.status)
    return (mode, *map(str, figures))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    rows = list(lines)
    if rows:
        yield from ("", f"{title}:", *(f"  {row}" for row in rows))
