"""One finding on the device: its programs, their runs, the verdict."""

from __future__ import annotations

import ast

import msgspec

from xlalint.device.programs.fitting import Choice, Fitting
from xlalint.device.programs.names import ELSEWHERE, lies_somewhere
from xlalint.device.programs.stand_ins import ValueAt
from xlalint.device.programs.synthesis import Material, NoProgram, Program
from xlalint.device.validation.case import Case, Settings
from xlalint.device.validation.failure_reasons import failed
from xlalint.device.validation.materials import materials
from xlalint.device.validation.verdicts import ASSUMED, NOTHING_RAN, RAN, compared, is_free, not_run, raised, summed_up
from xlalint.device.worker.experiment import Figures, Worker, measure
from xlalint.device.worker.protocol import Failure, Versions
from xlalint.findings.model import (
    Basis,
    Device,
    Evidence,
    LineCost,
    Mode,
    ModeEvidence,
    Neutral,
    Verdict,
)
from xlalint.slicing.aliases import origins_of_parts, resolved
from xlalint.slicing.callers import is_called_once
from xlalint.slicing.decisions import decides, origins_of
from xlalint.slicing.definitions import Modules
from xlalint.slicing.dependence import path_of, touches, writes
from xlalint.slicing.operands import operands
from xlalint.slicing.syntax_tree import SyntaxTree

_RAN = "stand_in.ran("
_BUCKETING = "bucketing"
_ITS_CLASS_DECIDES = ("stand_in.Layer(", "stand_in.Model(", "stand_in.Absent(", "lambda ")
_ONE_LENGTH = f"{ASSUMED}: nothing in sight gives rows of differing length"

_ASSUMED_OF = {"NotReached": "that the flagged line runs", "Ended": "that the loop goes on"}
_MOST_NAMES = 3
_SLOW = "TimeoutError"
_OTHER_GRAPH = "what runs in the other mode is a graph of its own without the switch too"


def validated(
    case: Case, tree: SyntaxTree, modules: Modules, value: ValueAt, worker: Worker, settings: Settings
) -> Evidence:
    """What the device says of one finding. Raises ``WorkerError`` only."""
    found: list[Evidence] = []
    # Trees are shared, and the flagged node is marked in them.
    with modules.reading:
        reasons, cuts = materials(case, tree, modules)
    for each, obeyed in cuts:
        try:
            trial = _Trial(case, each, value, worker, settings)
        except NoProgram as error:
            reasons.append(str(error))
            continue
        doubt = ""
        for parts in obeyed if trial.runs else ():
            certain, why = trial.certain(parts)
            if certain is not None:
                return certain
            doubt = doubt or why
        found.append(_doubted(trial.evidence(), doubt or f"{ASSUMED}: that the place is reached in each step"))
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


def _doubted(evidence: Evidence, reason: str) -> Evidence:
    """What is left of a confirmation that rests on what nobody in sight says."""
    if evidence.verdict is not Verdict.CONFIRMED:
        return evidence
    modes = {
        mode: msgspec.structs.replace(one, verdict=Verdict.NOT_RUN, reason=f"{reason}; with it {one.reason}")
        if one.verdict is Verdict.CONFIRMED
        else one
        for mode, one in evidence.modes.items()
    }
    verdict, told = summed_up(modes)
    return msgspec.structs.replace(evidence, verdict=verdict, reason=told, modes=modes, basis=Basis.ASSUMED)


class _NoVariant(Exception):
    """The program does not run without its flagged place. Why, in one line."""


class _Trial:
    """Tries the worlds until the program runs, then compares it with its neutralised variant in each mode."""

    def __init__(
        self,
        case: Case,
        parts: Material,
        value: ValueAt,
        worker: Worker,
        settings: Settings,
        like: Choice | None = None,
    ) -> None:
        """``like`` is what stood in where the same was run before."""
        self.case, self.parts, self.value, self.worker, self.settings = case, parts, value, worker, settings
        self.node = parts.cut.tree.at(case.diagnostic.at) or parts.cut.node
        neutral = case.diagnostic.neutral
        fitting = Fitting(parts, value, neutral, worker, self._raised_here, like, settings.given)
        self._fitted = fitting.best()
        self._choice = fitting.choice
        self._most_steps = settings.steps

    @property
    def runs(self) -> bool:
        """Whether the search found a program that runs; one that was too slow for the search may."""
        failure = self._fitted.failure
        return failure is None or failure.type == _SLOW or self._raised_here(self._fitted.made, failure)

    def certain(self, parts: Material) -> tuple[Evidence | None, str]:
        """The confirmation of a program in which nothing is assumed, of other parts; or what it would take."""
        try:
            other = _Trial(self.case, parts, self.value, self.worker, self.settings, self._choice)
        except NoProgram:
            return None, ""
        found = other.evidence()
        return (found, "") if found.verdict is Verdict.CONFIRMED else (None, other.doubt(found))

    def doubt(self, found: Evidence) -> str:
        """What was assumed where the place costs, seen from here, where nothing is assumed."""
        failure = self._fitted.failure
        if found.reason.startswith(ASSUMED):
            return found.reason
        if failure is not None and failure.type in _ASSUMED_OF:
            return f"{ASSUMED}: {_ASSUMED_OF[failure.type]}, and here {failure.message}"
        if failure is not None:
            return f"{ASSUMED}: that the place is reached in each step ({failed(failure)})"
        if not found.reason.startswith((NOTHING_RAN, RAN)):
            return f"{ASSUMED}: that the place costs in each step ({found.reason})"
        if ELSEWHERE in self._fitted.made.text:
            return f"{ASSUMED}: what a function gives that is not in sight"
        if self.parts.given and self.parts.given[0].anew:
            return f"{ASSUMED}: that rows differ in length, which those of {self.parts.given[0].where} do not"
        if self.parts.given:
            return f"{ASSUMED}: that it lies on the device, where {self.parts.given[0].where} places nothing"
        names = sorted(path for path, text in self._fitted.made.given.items() if lies_somewhere(text))
        named = ", ".join(f"`{each}`" for each in names[:_MOST_NAMES])
        return f"{ASSUMED}: nothing in sight places {named or 'it'} on the device"

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
        if before.failure is None and self.parts.cut.obeyed and is_free(before, self.case.claims):
            return not_run(NOTHING_RAN)
        if before.failure is None:
            return self._compared(made, before, mode)
        if self._raised_here(made, before.failure):
            return self._raising(made, before.failure)
        assumed = self._assumed(made)
        return not_run(f"{assumed}; {failed(before.failure)}" if assumed else failed(before.failure))

    def _measure(self, text: str, mode: Mode, *, record: bool = False) -> Figures:
        # A graph that grows with the steps takes ever longer.
        steps = max(2, self.settings.steps // (3 if self.case.diagnostic.neutral is Neutral.BOUNDARY else 1))
        steps = min(steps, self._most_steps)
        # A forked process raises of its own.
        fresh = "raises" in self.case.claims
        figures = measure(self.worker, text, mode, steps, self.settings.seconds, record=record, fresh=fresh)
        turns = _turns(figures.failure)
        fewer = min(turns // 2, steps - 1)
        if fewer < 1:
            return figures
        # The loop has fewer turns: as many of them are run as there are.
        self._most_steps = fewer
        return self._measure(text, mode, record=record)

    def _compared(self, made: Program, before: Figures, mode: Mode) -> ModeEvidence:
        if self.case.diagnostic.neutral is Neutral.NOTHING:
            return self._quiet(before)
        after = self._measure(made.neutral, mode)
        if after.failure is not None:
            raise _NoVariant(failed(after.failure))
        found = compared(before, after, self.case.claims, self._assumed(made))
        if found.verdict is Verdict.REFUTED and self.case.rule.family == _BUCKETING and not _is_ragged(made):
            found = msgspec.structs.replace(found, verdict=Verdict.NOT_RUN, reason=_ONE_LENGTH)
        if found.verdict is Verdict.REFUTED and self.case.diagnostic.neutral is Neutral.MODE_LEFT_OUT:
            found = msgspec.structs.replace(found, verdict=Verdict.NOT_RUN, reason=_OTHER_GRAPH)
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
        assumed = self._turned(made) or self._unknown_of(made)
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
        if self.parts.cut.obeyed:
            return self._turned(made) or self._unknown_of(made)
        found = operands(self.node, truth=self.case.diagnostic.neutral is Neutral.REPLAY_TRUTH)
        if found and all(path in made.tensors or self._is_given(path) for path in found):
            return f"{ASSUMED}: nothing in sight computes `{found[0]}`"
        return self._unknown_of(made)

    def _turned(self, made: Program) -> str:
        """Whether the place is reached, and again, by what was made up."""
        cut = self.parts.cut
        body = [*cut.body, *(each for given in self.parts.given for each in given.told())]
        made_up = {path.rpartition(":")[2]: text for path, text in made.given.items()}
        for test in cut.asked:
            for path in origins_of(test, body, made_up):
                if decides(made_up[path], test) and made_up[path] != cut.defaults.get(path):
                    return f"{ASSUMED}: what `{path}` is, of which `{ast.unparse(test)}` asks"
        if cut.loop is None and any(self.case.claims.values()) and is_called_once(cut.tree, cut.scope):
            return f"{ASSUMED}: that the function is called in each step, where its callers call it once"
        wrapper = next(iter(cut.wrappers), None) if cut.loop is None else None
        return f"{ASSUMED}: what `@{wrapper}` does with the function" if wrapper is not None else ""

    def _unknown_of(self, made: Program) -> str:
        called = path_of(self.node.func) if isinstance(self.node, ast.Call) else None
        if called is not None and made.given.get(called, "").startswith(_ITS_CLASS_DECIDES):
            return f"{ASSUMED}: what `{called}` does is not known"
        if made.varying and "compiles" in self.case.claims and self.case.rule.family != _BUCKETING:
            return f"{ASSUMED}: nothing in sight makes `{min(made.varying)}` vary"
        return ""


def _is_ragged(made: Program) -> bool:
    return any(f"stand_in.{name}(" in made.text for name in ("rows", "rows_by", "varying", "step"))


def _turns(failure: Failure | None) -> int:
    """How many turns a loop had that ended by itself; 0 for any other failure."""
    if failure is None or failure.type != "Ended":
        return 0
    return int(next(word for word in failure.message.split() if word.isdigit()))
