"""One finding on the device: its programs, their runs, the verdict."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import msgspec

from xlalint.device.programs.fitting import Fitting
from xlalint.device.programs.stand_ins import ValueAt
from xlalint.device.programs.synthesis import Material, NoProgram, Program, material
from xlalint.device.validation.failure_reasons import failed
from xlalint.device.validation.verdicts import ASSUMED, compared, not_run, raised, summed_up
from xlalint.device.worker.experiment import Figures, Worker, measure
from xlalint.device.worker.protocol import Failure, Versions
from xlalint.findings.model import (
    Basis,
    Device,
    Diagnostic,
    Evidence,
    LineCost,
    Mode,
    ModeEvidence,
    Neutral,
    Rule,
    Verdict,
)
from xlalint.slicing.aliases import origins_of_parts, resolved
from xlalint.slicing.backward_slice import Slice, cut
from xlalint.slicing.definitions import Modules
from xlalint.slicing.dependence import path_of, touches, writes
from xlalint.slicing.instrumentation import flag, unflag
from xlalint.slicing.operands import operands
from xlalint.slicing.syntax_tree import SyntaxTree

_RAN = "stand_in.ran("
_BUCKETING = "bucketing"
_ITS_CLASS_DECIDES = ("stand_in.Layer(", "stand_in.Model(", "stand_in.Absent(", "lambda ")
_ONE_LENGTH = f"{ASSUMED}: nothing in sight gives rows of differing length"


class Case(msgspec.Struct, frozen=True):
    """A finding with all that its run needs."""

    diagnostic: Diagnostic
    rule: Rule
    claims: Mapping[str, bool]
    """The metrics in which the rule's page says that the cost shows, with whether it does in each step."""
    raises: frozenset[str]

    @property
    def metric(self) -> str:
        """The first that is claimed."""
        return next(iter(self.claims), "")


class Settings(msgspec.Struct, frozen=True):
    steps: int = 6
    seconds: float = 30.0
    modes: tuple[Mode, ...] = (Mode.LAZY,)


def validated(
    case: Case, tree: SyntaxTree, modules: Modules, value: ValueAt, worker: Worker, settings: Settings
) -> Evidence:
    """What the device says of one finding. Raises ``WorkerError`` only."""
    found: list[Evidence] = []
    # Trees are shared, and the flagged node is marked in them.
    with modules.reading:
        reasons, materials = _materials(case, tree, modules)
    for each in materials:
        try:
            found.append(_Trial(case, each, value, worker, settings).evidence())
        except NoProgram as error:
            reasons.append(str(error))
            continue
        if found[-1].verdict is not Verdict.NOT_RUN:
            return found[-1]
    # What ran on assumptions says more than what did not run.
    ran = [each for each in found if any(one.before for one in each.modes.values())]
    if ran or found:
        return (ran or found)[0]
    nothing = "the step that it costs in is not in sight" if case.rule.whole_step else "it stands in no function"
    return no_evidence(reasons[0] if reasons else nothing, settings, worker.versions)


def no_evidence(reason: str, settings: Settings, versions: Versions) -> Evidence:
    modes = {mode: not_run(reason) for mode in settings.modes}
    return Evidence(
        verdict=Verdict.NOT_RUN, reason=reason, basis=None, assumptions=(), device=device_of(versions), modes=modes
    )


def device_of(versions: Versions) -> Device:
    return Device(versions.device, versions.torch, versions.torch_xla)


def _materials(case: Case, tree: SyntaxTree, modules: Modules) -> tuple[list[str], list[Material]]:
    """What each slice is made of, and why others are none."""
    reasons: list[str] = []
    found: list[Material] = []
    for slice_ in _slices(case, tree):
        try:
            found.append(material(slice_, modules))
        except NoProgram as error:
            reasons.append(str(error))
    return reasons, found


def _slices(case: Case, tree: SyntaxTree) -> Iterator[Slice]:
    """Where a finding may be cut out: at its step loop, be it in a caller; in its function; in one that calls it."""
    node = tree.at(case.diagnostic.at)
    if node is None:
        return
    boundary = case.diagnostic.neutral is not Neutral.BOUNDARY
    gradients = case.diagnostic.neutral is Neutral.REPLAY_UPDATE
    step = case.rule.whole_step
    if case.diagnostic.neutral is Neutral.FIRST_ONLY:
        node = tree.statement(node) or node
    line = node.lineno if isinstance(node, (ast.For, ast.While)) and not boundary else case.diagnostic.loop_line
    calls = [
        call
        for reason in case.diagnostic.why
        if reason.path == case.diagnostic.path and " calls " in reason.text
        for call in [tree.call_at(reason.line, reason.column)]
        if call is not None
    ]
    flag(node)
    try:
        if case.diagnostic.neutral is Neutral.ARGUMENT:
            yield from _at_its_use(tree, node)
            return
        looped = [call for call in calls if any(getattr(each, "lineno", 0) == line for each in tree.above(call))]
        for call in looped:
            found = cut(tree, call, line, boundary, gradients, step)
            if found is not None and found.loop is not None:
                yield found
        own = cut(tree, node, line or None, boundary, gradients, step)
        if own is not None and not (step and own.loop is None):
            yield own
        for call in calls if not step else ():
            found = cut(tree, call, None, boundary, gradients) if call not in looped else None
            if found is not None:
                yield found
    finally:
        unflag(node)


def _at_its_use(tree: SyntaxTree, node: ast.expr | ast.stmt) -> Iterator[Slice]:
    """Cut at the first loop behind the place that uses what it sets: there its cost shows."""
    statement = tree.statement(node)
    if not isinstance(statement, ast.Assign):
        return
    names = {each.id for each in statement.targets if isinstance(each, ast.Name)}
    loops = [each for each in ast.walk(tree.scope(statement)) if isinstance(each, (ast.For, ast.While))]
    for loop in loops:
        used = {each.id for each in ast.walk(loop) if isinstance(each, ast.Name)}
        if loop.lineno > statement.lineno and names & used:
            found = cut(tree, loop, loop.lineno, step=True)
            if found is not None:
                yield found
            return


class _NoVariant(Exception):
    """The program does not run without its flagged place. Why, in one line."""


class _Trial:
    """Tries the worlds until the program runs, then compares it with its neutralised variant in each mode."""

    def __init__(self, case: Case, parts: Material, value: ValueAt, worker: Worker, settings: Settings) -> None:
        self.case, self.parts, self.value, self.worker, self.settings = case, parts, value, worker, settings
        self.node = parts.cut.tree.at(case.diagnostic.at) or parts.cut.node
        neutral = case.diagnostic.neutral
        self._fitted = Fitting(parts, value, neutral, worker, self._raised_here).best()

    def evidence(self) -> Evidence:
        modes: dict[Mode, ModeEvidence] = {}
        shown: Program | None = None
        for mode in self.settings.modes:
            made, modes[mode] = self._mode(mode)
            shown = shown or made
        verdict, reason = summed_up(modes)
        assert shown is not None
        return Evidence(
            verdict=verdict,
            reason=reason,
            basis=self._basis(shown, modes),
            assumptions=shown.assumptions,
            device=device_of(self.worker.versions),
            modes=modes,
            metric=self.case.metric,
            program=shown.text,
            neutral_program=shown.neutral,
        )

    def _basis(self, shown: Program, modes: dict[Mode, ModeEvidence]) -> Basis | None:
        if not any(one.before or one.verdict is not Verdict.NOT_RUN for one in modes.values()):
            return None
        return Basis.ASSUMED if self._assumed(shown) else Basis.SLICE

    def _mode(self, mode: Mode) -> tuple[Program, ModeEvidence]:
        made = self._fitted.made
        try:
            return made, self._judged(made, mode)
        except _NoVariant:
            # What depends on data may not fit what was kept of the first step.
            still = made.still()
        try:
            return still, self._judged(still, mode)
        except _NoVariant as error:
            return made, not_run(f"without the flagged place the program fails: {error}")

    def _judged(self, made: Program, mode: Mode) -> ModeEvidence:
        """Raises ``_NoVariant``."""
        before = self._measure(made.text, mode, record=True)
        if before.failure is None:
            return self._compared(made, before, mode)
        if self._raised_here(made, before.failure):
            return self._raising(made, before.failure)
        assumed = self._assumed(made)
        return not_run(f"{assumed}; {failed(before.failure)}" if assumed else failed(before.failure))

    def _measure(self, text: str, mode: Mode, *, record: bool = False) -> Figures:
        # A graph that grows with the steps takes ever longer.
        steps = max(2, self.settings.steps // (3 if self.case.diagnostic.neutral is Neutral.BOUNDARY else 1))
        return measure(self.worker, text, mode, steps, self.settings.seconds, record=record)

    def _compared(self, made: Program, before: Figures, mode: Mode) -> ModeEvidence:
        if self.case.diagnostic.neutral is Neutral.NOTHING:
            return self._quiet(before)
        after = self._measure(made.neutral, mode)
        if after.failure is not None:
            raise _NoVariant(failed(after.failure))
        found = compared(before, after, self.case.claims, self._assumed(made))
        if found.verdict is Verdict.REFUTED and self.case.rule.family == _BUCKETING and not _is_ragged(made):
            found = msgspec.structs.replace(found, verdict=Verdict.NOT_RUN, reason=_ONE_LENGTH)
        reason = "; ".join([found.reason, *(f"graph break: {each}" for each in before.graph_breaks)])
        return self._on_its_line(msgspec.structs.replace(found, lines=self._lines(made, before), reason=reason))

    def _lines(self, made: Program, before: Figures) -> tuple[LineCost, ...]:
        """What fell on the lines of the file, from what fell on those of the program."""
        path = self.case.diagnostic.path
        costs: dict[int, LineCost] = {}
        for each in before.lines:
            line = made.lines.get(each.line, 0)
            known = costs.get(line, LineCost(path, line))
            costs[line] = LineCost(
                path,
                line,
                known.compiles + each.compiles,
                known.executions + each.executions,
                known.reads + each.reads,
                known.uploads + each.uploads,
            )
        return tuple(costs[line] for line in sorted(costs) if line)

    def _on_its_line(self, found: ModeEvidence) -> ModeEvidence:
        """Reads fall where they are asked for; a compile falls where the graph ends, which is another line."""
        if found.verdict is not Verdict.CONFIRMED or self.case.metric != "reads" or not found.lines:
            return found
        tree = self.parts.cut.tree
        at = self.case.diagnostic.at
        node = tree.at(at)
        statement = tree.statement(node) if node is not None else None
        first = statement.lineno if statement is not None else at.line
        if any(each.reads for each in found.lines if first <= each.line <= at.end_line):
            return found
        elsewhere = ", ".join(str(each.line) for each in found.lines if each.reads)
        reason = f"the reads fall on another line: {elsewhere or 'none of this file'}"
        return msgspec.structs.replace(found, verdict=Verdict.NOT_RUN, reason=reason)

    def _quiet(self, before: Figures) -> ModeEvidence:
        """A rule about what raises: it did not."""
        if self.case.claims.keys() != {"raises"} or not self.case.raises:
            return not_run("its cost does not show in the steps")
        return compared(before, before, {"raises": True}, "")

    def _raised_here(self, made: Program, failure: Failure) -> bool:
        lines = [number for number, line in enumerate(made.text.splitlines(), 1) if _RAN in line]
        near = any(number in (failure.line, failure.line - 1) for number in lines)
        return "raises" in self.case.claims and near and failure.type in self.case.raises

    def _raising(self, made: Program, failure: Failure) -> ModeEvidence:
        assumed = self._assumed(made)
        return not_run(assumed) if assumed else raised(f"raises {failure.type}: {failure.message}")

    def _is_given(self, path: str) -> bool:
        """Whether a name is, or is taken out of, what the slice has from outside, without any computation."""
        body = self.parts.cut.body
        set_here = {
            written
            for block in body
            for node in ast.walk(block)
            if isinstance(node, ast.stmt)
            for written in writes(node)
        }
        origin = resolved(path, origins_of_parts(body))
        return origin.partition(".")[0] in self.parts.needs and not any(touches(each, {origin}) for each in set_here)

    def _assumed(self, made: Program) -> str:
        """Why a run of this program says nothing of the finding, or nothing."""
        found = operands(self.node, truth=self.case.diagnostic.neutral is Neutral.REPLAY_TRUTH)
        if found and all(path in made.tensors or self._is_given(path) for path in found):
            return f"{ASSUMED}: nothing in sight computes `{found[0]}`"
        called = path_of(self.node.func) if isinstance(self.node, ast.Call) else None
        if called is not None and made.given.get(called, "").startswith(_ITS_CLASS_DECIDES):
            return f"{ASSUMED}: what `{called}` does is not known"
        if made.varying and "compiles" in self.case.claims and self.case.rule.family != _BUCKETING:
            return f"{ASSUMED}: nothing in sight makes `{min(made.varying)}` vary"
        return ""


def _is_ragged(made: Program) -> bool:
    return any(f"stand_in.{name}(" in made.text for name in ("rows", "rows_by", "varying"))
