"""One finding in a script that leads to it: the script as it is, the script without the cost, the verdict."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from xlalint.device.borders.plan import CUT_OFF
from xlalint.device.recording.counts import LineCounts
from xlalint.device.validation.case import Case
from xlalint.device.validation.failure_reasons import failed
from xlalint.device.validation.script_runs import ScriptRun, ScriptRuns
from xlalint.device.validation.trials import device_of
from xlalint.device.validation.verdicts import SHOWN, compared, raised
from xlalint.device.worker.client import Worker
from xlalint.device.worker.experiment import Figures
from xlalint.findings.model import Basis, Evidence, LineCost, Mode, ModeEvidence, Neutral, Verdict

_BUCKETING = "bucketing"
_NO_VARIANT = (Neutral.NOTHING, Neutral.ARGUMENT)
_CLAIM = "raises"
_ON_A_DEVICE = ("executions", "pending_ops")
_OTHER_REASON = "Device index must not be negative"
"""What a GPU would raise too."""
_BASES = {"AcceleratorError": "RuntimeError"}
"""Of torch's errors."""
_MODES = "XLA401"
"""An evaluation is a graph of its own, whatever the mode is: that it is as many graphs refutes nothing."""


class NoVerdict(Exception):
    """A script says nothing of a finding. One line: why; nothing where no script leads to it."""


def proved_by_script(case: Case, scripts: Sequence[str], runs: ScriptRuns, worker: Worker) -> Evidence:
    """The verdict of the first script that comes to the place. Raises ``NoVerdict``, ``WorkerError``."""
    if not case.claims or (case.diagnostic.neutral in _NO_VARIANT and "raises" not in case.claims):
        raise NoVerdict("")
    reasons: list[str] = []
    for script in scripts:
        try:
            return _Proof(case, script, runs, worker).evidence()
        except NoVerdict as error:
            reasons.append(f"`{os.path.basename(script)}` {error}")
    raise NoVerdict("; ".join(reasons))


class _Proof:
    def __init__(self, case: Case, script: str, runs: ScriptRuns, worker: Worker) -> None:
        self.case, self.script, self.runs, self.worker = case, script, runs, worker
        self.number = runs.number(case.diagnostic)
        self.command = runs.command(script, case.diagnostic, worker)

    def evidence(self) -> Evidence:
        """Raises ``NoVerdict``."""
        if "raises" in self.case.claims:
            on_host = self._raised_on_host()
            if on_host is not None:
                return on_host
            tried = self.runs.all_loops(self.script, self.command, self.worker)
            return self._evidence(tried, self._raised(tried))
        by_line = self._by_line()
        if by_line is not None:
            return by_line
        before = self.runs.baseline(self.script, self.command, self.case.diagnostic, self.worker)
        self._must_have_come_here(before)
        if (
            self.case.diagnostic.neutral is Neutral.BOUNDARY
            and before.long is not None
            and before.long.ended != CUT_OFF
        ):
            # What waits for a boundary is counted where the loop is cut off.
            raise NoVerdict(f"ends in the midst of its loop: {before.long.ended or 'there are no more items'}")
        after = self.runs.without(self.script, self.command, self.case.diagnostic, self.worker)
        if after.failure is not None:
            raise NoVerdict(f"does not run without the flagged place: {failed(after.failure)}")
        if before.long is None or after.long is None:
            raise NoVerdict("told nothing of its run")
        if before.long.ended != after.long.ended:
            raise NoVerdict(f"ends otherwise without the flagged place: {after.long.ended or before.long.ended}")
        found = compared(before.figures, after.figures, self.case.claims, "")
        self._must_be_able_to_refute(found, before)
        return self._evidence(before, msgspec.structs.replace(found, lines=self._lines(before)), after.text)

    def _by_line(self) -> Evidence | None:
        """A read falls on the line that asks for it: one run serves all that are flagged. None where it decides
        nothing, as the place does not run in each of the steps."""
        if not self.runs.is_told_by_its_line(self.case.diagnostic):
            return None
        before = self.runs.all_loops(self.script, self.command, self.worker)
        if before.short is None or before.long is None or before.short.turns[self.number] < self.runs.steps:
            return None
        if before.long.turns[self.number] < 2 * self.runs.steps:
            return None
        after = self.runs.without_reads(self.script, self.command, self.worker)
        if after.failure is not None or after.long is None or after.long.ended != before.long.ended:
            return None
        found = compared(self._of_its_line(before.figures), self._of_its_line(after.figures), self.case.claims, "")
        if found.verdict is not Verdict.CONFIRMED:
            return None
        return self._evidence(before, msgspec.structs.replace(found, lines=self._lines(before)), after.text)

    def _of_its_line(self, figures: Figures) -> Figures:
        """What falls on the lines of the flagged statement, of the figures of a script."""
        short, long = (self._on_its_lines(lines) for lines in (figures.short_lines, figures.lines))
        growth = {name: (long[name] - short[name]) / figures.steps for name in SHOWN}
        once = {name: short[name] - growth[name] * figures.steps for name in SHOWN}
        return Figures(steps=figures.steps, per_step=growth, once=once)

    def _on_its_lines(self, lines: Sequence[LineCounts]) -> dict[str, float]:
        path, at = os.path.realpath(self.case.diagnostic.path), self.case.diagnostic.at
        own = [one for one in lines if at.line <= one.line <= at.end_line and os.path.realpath(one.path) == path]
        return {name: float(sum(getattr(one, name, 0) for one in own)) for name in SHOWN}

    def _evidence(self, before: ScriptRun, found: ModeEvidence, neutral_program: str = "") -> Evidence:
        return Evidence(
            verdict=found.verdict,
            reason=found.reason,
            basis=Basis.SCRIPT if self.runs.invocation is None else Basis.RUN,
            assumptions=before.long.assumptions if before.long is not None else (),
            device=device_of(self.worker.versions),
            modes={Mode.LAZY: found},
            metric=self.case.metric,
            program=before.text,
            neutral_program=neutral_program,
        )

    def _raised_on_host(self) -> Evidence | None:
        """What asks for a GPU raises without one, wherever the other values lie; None where the device has to tell.

        Raises ``NoVerdict`` where the script does not come to the place.
        """
        run = self.runs.rehearsal(self.script, self.command, self.worker)
        if run is None or run.long is None:
            return None
        if not run.long.reached[self.number]:
            raise NoVerdict(f"does not come to it{f': {run.long.ended}' if run.long.ended else ' in its rehearsal'}")
        if not run.long.raised[self.number]:
            return None
        try:
            return self._evidence(run, self._raised(run))
        except NoVerdict:
            return None

    def _raised(self, run: ScriptRun) -> ModeEvidence:
        """What the place did when it was tried for the first time, as it is."""
        log = run.long or run.short
        if log is None:
            raise NoVerdict(failed(run.failure) if run.failure is not None else "told nothing of its run")
        told = log.raised[self.number]
        if not log.reached[self.number]:
            raise NoVerdict(f"does not come to it{f': {log.ended}' if log.ended else self._in_its_steps}")
        if told is None:
            raise NoVerdict("comes to it, where it can't be tried")
        if told and _OTHER_REASON in told:
            raise NoVerdict(f"comes to it, and it raises {told}: that is its argument's")
        kind = told.partition(":")[0]
        if told and not self.case.raises.isdisjoint((kind, _BASES.get(kind, kind))):
            return raised(f"raises {told}")
        if self.case.claims.keys() != {"raises"} or told:
            raise NoVerdict(f"comes to it, and it {f'raises {told}' if told else 'raises nothing'}")
        if _CLAIM not in self.case.diagnostic.message:
            # Of the same rule, what does nothing where it should: `autocast` that casts nothing.
            raise NoVerdict("comes to it, and it raises nothing, which is not what is claimed")
        if log.adaptation.omitted:
            raise NoVerdict("comes to it, where it raises nothing, but statements that failed are left out")
        if log.ended:
            # What it made may be why.
            raise NoVerdict(f"comes to it, where it raises nothing, and ends later: {log.ended}")
        return ModeEvidence(verdict=Verdict.REFUTED, reason="it ran, and raised nothing")

    @property
    def _in_its_steps(self) -> str:
        return f" in its {2 * self.runs.steps_of(self.case.diagnostic)} steps"

    def _must_have_come_here(self, run: ScriptRun) -> None:
        """The place ran in as many steps as there were; fewer say something only if the script itself ended them."""
        if run.failure is not None:
            raise NoVerdict(failed(run.failure))
        if run.short is None or run.long is None:
            raise NoVerdict("told nothing of its run")
        steps = run.long.turns[self.number]
        ended = f": {run.long.ended}" if run.long.ended else ""
        if not steps:
            raise NoVerdict(f"does not come to it{ended or self._in_its_steps}")
        if ended and steps <= self.runs.steps_of(self.case.diagnostic):
            raise NoVerdict(f"comes to it in {steps} steps only{ended}")
        if not any(figures.get(name) for figures in (run.figures.once, run.figures.per_step) for name in _ON_A_DEVICE):
            raise NoVerdict("runs on the host alone: nothing is placed on a device")

    def _must_be_able_to_refute(self, found: ModeEvidence, run: ScriptRun) -> None:
        """Data that was made up has rows of one length, and goes on beyond the steps that were asked for."""
        if found.verdict is not Verdict.REFUTED or run.long is None:
            return
        if run.long.adaptation.omitted:
            raise NoVerdict("comes to it, in a program of which statements that failed are left out")
        came = run.long.turns[self.number]
        if came < run.long.steps:
            raise NoVerdict(f"comes to it in {came} of {run.long.steps} steps")
        if self.case.rule.family == _BUCKETING:
            varies = "its data, made up, does not vary" if self.runs.invocation is None else "no shape varies so early"
            raise NoVerdict(f"comes to it, and {varies}")
        if self.case.rule.code == _MODES:
            both = len(run.long.modes) == 2
            why = "compiles as many graphs without the switch" if both else "does not run a model in both modes"
            raise NoVerdict(f"comes to it, and {why}")

    def _lines(self, run: ScriptRun) -> tuple[LineCost, ...]:
        """What fell on the lines of the finding's file."""
        path = os.path.realpath(self.case.diagnostic.path)
        return tuple(
            LineCost(self.case.diagnostic.path, one.line, one.compiles, one.executions, one.reads, one.uploads)
            for one in sorted(run.figures.lines, key=lambda one: one.line)
            if os.path.realpath(one.path) == path and one.line
        )


def with_reason(evidence: Evidence, reason: str) -> Evidence:
    """Why no script says anything, which names what it lacks, and what else was run."""
    if evidence.verdict is not Verdict.NOT_RUN or not reason:
        return evidence
    return msgspec.structs.replace(evidence, reason=f"{reason}; cut out of it: {evidence.reason}")
