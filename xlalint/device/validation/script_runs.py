"""Runs of a project's scripts: as they are, once for all findings of a loop, and without the cost of one."""

from __future__ import annotations

import os
import pprint
import re
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

import msgspec

from xlalint.device.borders.plan import Adaptation, Log, LoopPlace, Place, Plan
from xlalint.device.validation.case import Settings
from xlalint.device.validation.invocation import Invocation
from xlalint.device.worker.client import Worker
from xlalint.device.worker.experiment import Figures, measure
from xlalint.device.worker.protocol import Failure, Request
from xlalint.findings.model import Diagnostic, Mode, Neutral
from xlalint.slicing.scripts import Scripts

_FEWEST = 2
_WITHOUT_BOUNDARY = 1
_SECONDS = 300.0
"""Wall time that one run of a script may take, where the user allows no more: it begins with its imports."""
_LEAST_SECONDS = 20.0
_PRELOADED = ("torchvision", "xlalint.device.borders.script")
"""What the worker imports once for all scripts, where it is there."""
_LEAST_MEMORY = 4 << 30
_COMMANDS = 16
"""Command lines of a script that are rehearsed besides its defaults."""
_OF_BUDGET = 0.25
"""The share of a budget that may go to the search for them, which other findings may not need."""
_REHEARSALS = 3
"""That follow one which failed, and found something."""
_OMISSIONS = 12
"""Statements that a program is run without, at most."""
_ON_OMISSIONS = 90.0
"""Seconds after which none is looked for."""
Command = tuple[tuple[str, str], ...]
"""Options with the expressions of their values, where these are not the defaults."""
_PROGRAM = """\
from xlalint.device.borders.script import run_script

PLAN = {}


def run(steps, surplus=None):
    return run_script(PLAN, steps, surplus)
"""
_NOT_READS = frozenset({Neutral.BOUNDARY, Neutral.NOTHING, Neutral.ARGUMENT, Neutral.LOADED_AHEAD})
_PLAIN = frozenset({Neutral.REPLAY_BATCH, Neutral.REPLAY_BACKWARD, Neutral.REPLAY_UPDATE})
"""In a script, its own statements use the value, and run the backward pass."""


class ScriptRun(msgspec.Struct, frozen=True):
    """A script at N and 2N steps."""

    text: str
    figures: Figures
    short: Log | None
    long: Log | None
    """None where the process ended without a word; ``failure`` tells why."""

    @property
    def failure(self) -> Failure | None:
        return self.figures.failure


class _Asked(msgspec.Struct, frozen=True):
    """What distinguishes one run of a script from another."""

    script: str
    command: Command
    loop: LoopPlace | None
    steps: int
    """Of the shorter run."""
    boundary: bool = True
    ends: bool = False
    without: tuple[int, ...] = ()


class ScriptRuns:
    """Of one project. A baseline is run once, by whoever asks first."""

    def __init__(
        self,
        diagnostics: Sequence[Diagnostic],
        folders: Sequence[str],
        packages: Sequence[str],
        scripts: Scripts,
        settings: Settings,
        *,
        raising: frozenset[str] = frozenset(),
        reading: frozenset[str] = frozenset(),
        invocation: Invocation | None = None,
    ) -> None:
        """``packages`` are folders with installed packages; ``raising`` are the rules that claim that something raises,
        by code; ``reading`` those that claim a read in each step, which falls on the flagged line: all of these are
        taken out at once. With an ``invocation`` the program is run as it is, and nothing is stood in for."""
        self._scripts, self._packages, self.invocation = scripts, tuple(packages), invocation
        self._folders = tuple(dict.fromkeys(os.path.realpath(each) for each in folders if os.path.isdir(each)))
        self.steps = max(_FEWEST, settings.steps // 2)
        """Of the shorter run."""
        self._seconds, self._given, self._settings = max(settings.seconds, _SECONDS), settings.given, settings
        self._numbers = {_key(one): number for number, one in reversed([*enumerate(diagnostics)])}
        self._places = tuple(_place(one, one.code in raising) for one in diagnostics)
        self._loops = tuple(dict.fromkeys(loop for one in diagnostics if (loop := loop_of(one)) is not None))
        self._reading = tuple(self.number(one) for one in diagnostics if self._is_read(one, reading))
        self._lines = [{(one.path, line) for line in range(one.at.line, one.at.end_line + 1)} for one in diagnostics]
        self._known: dict[_Asked, ScriptRun] = {}
        self._rehearsals: dict[_Asked, ScriptRun] = {}
        self._locks: dict[_Asked, Lock] = {}
        self._searched = 0.0
        """Seconds that were spent on command lines other than the default one."""
        self._lock = Lock()

    def number(self, one: Diagnostic) -> int:
        return self._numbers[_key(one)]

    def command(self, script: str, one: Diagnostic, worker: Worker) -> Command:
        """With which a script comes to a place: its defaults, else those with another value of one option."""
        if self.invocation is not None:
            return ()
        number, plain = self.number(one), self._rehearsal(script, (), worker).long
        if plain is None or plain.reached[number]:
            return ()
        for command in self._commands(script, one, plain):
            if self._searched > _OF_BUDGET * self._settings.budget or self._settings.is_spent:
                break
            began = time.monotonic()
            rehearsed = self._rehearsal(script, command, worker).long
            self._searched += time.monotonic() - began
            if rehearsed is not None and rehearsed.reached[number]:
                return command
        return ()

    def _commands(self, script: str, one: Diagnostic, plain: Log) -> Sequence[Command]:
        """Options that the text around the place names, then those that the script itself names."""
        texts = [_text_of(path) for path in dict.fromkeys((one.path, script))]

        def distance(name: str) -> int:
            named = re.compile(rf"\b{re.escape(name)}\b")
            return next((number for number, text in enumerate(texts) if named.search(text)), len(texts))

        named = (name for name in plain.options if name not in self._given and distance(name) < len(texts))
        names = sorted(named, key=distance)
        return [((name, value),) for name in names for value in plain.options[name]][:_COMMANDS]

    def baseline(self, script: str, command: Command, one: Diagnostic, worker: Worker) -> ScriptRun:
        """As it is; a loop without a boundary of its own gets one unless that is what is flagged."""
        ends = one.neutral is Neutral.BOUNDARY
        asked = _Asked(script, command, loop_of(one), self.steps_of(one), boundary=not ends, ends=ends)
        return self._shared(asked, worker)

    def without(self, script: str, command: Command, one: Diagnostic, worker: Worker) -> ScriptRun:
        ends = one.neutral is Neutral.BOUNDARY
        numbers = () if ends else (self.number(one),)
        return self._run(_Asked(script, command, loop_of(one), self.steps_of(one), ends=ends, without=numbers), worker)

    def all_loops(self, script: str, command: Command, worker: Worker) -> ScriptRun:
        """As it is, each loop that takes steps for as many turns as are counted."""
        return self._shared(_Asked(script, command, None, self.steps), worker)

    def is_told_by_its_line(self, one: Diagnostic) -> bool:
        """Whether it is a flagged read, and shares no line with another: that would not tell which of them it was."""
        own = self._lines[self.number(one)]
        beside = (self._lines[number] for number in self._reading if number != self.number(one))
        return self.number(one) in self._reading and not any(own & lines for lines in beside)

    def without_reads(self, script: str, command: Command, worker: Worker) -> ScriptRun:
        """The same without any of the flagged reads."""
        return self._shared(_Asked(script, command, None, self.steps, without=self._reading), worker)

    def steps_of(self, one: Diagnostic) -> int:
        """Of the shorter run."""
        # Without a boundary the graph grows with the steps, and each read runs all of it.
        return _WITHOUT_BOUNDARY if one.neutral is Neutral.BOUNDARY else self.steps

    def _is_read(self, one: Diagnostic, reading: frozenset[str]) -> bool:
        return one.code in reading and one.neutral not in _NOT_READS

    def _shared(self, asked: _Asked, worker: Worker) -> ScriptRun:
        with self._lock:
            mine = self._locks.setdefault(asked, Lock())
        with mine:
            if asked not in self._known:
                self._known[asked] = self._run(asked, worker)
        return self._known[asked]

    def _plan(self, asked: _Asked, rehearsed: Log | None) -> Plan:
        plan = Plan(
            script=asked.script,
            folders=tuple(dict.fromkeys([*self._folders, os.path.dirname(asked.script)])),
            packages=self._packages,
            places=self._places,
            without=asked.without,
            loop=asked.loop,
            step_loops=self._loops,
            boundary=asked.boundary,
            ends=asked.ends,
            placed=self._is_placed(asked.script),
            adaptation=Adaptation(smaller=True) if rehearsed is None else rehearsed.adaptation,
            given=self._given,
            chosen=dict(asked.command),
        )
        return plan if self.invocation is None else _as_it_is(plan, self.invocation)

    def rehearsal(self, script: str, command: Command, worker: Worker) -> ScriptRun | None:
        """On the host, where nothing compiles, and what asks for a GPU raises as it does beside an XLA device. None of
        a program that runs as it is, or that asks torch_xla for its device."""
        is_rehearsed = self._is_placed(script) and self.invocation is None
        return self._rehearsal(script, command, worker) if is_rehearsed else None

    def _run(self, asked: _Asked, worker: Worker) -> ScriptRun:
        rehearsed = self._rehearsal(asked.script, asked.command, worker)
        if _is_hopeless(rehearsed.long) and self._is_placed(asked.script):
            # What fails before a model has run fails on the device too.
            return rehearsed
        return self._measured(self._plan(asked, rehearsed.long), asked.steps, worker)

    def _rehearsal(self, script: str, command: Command, worker: Worker) -> ScriptRun:
        asked = _Asked(script, command, None, 0)
        with self._lock:
            mine = self._locks.setdefault(asked, Lock())
        with mine:
            if asked not in self._rehearsals:
                self._rehearsals[asked] = self._rehearsed(asked, worker)
        return self._rehearsals[asked]

    def _rehearsed(self, asked: _Asked, worker: Worker) -> ScriptRun:
        plan = msgspec.structs.replace(self._plan(asked, None), rehearsed=True)
        text = _text(plan)
        if self.invocation is not None:
            return ScriptRun(text, Figures(steps=_FEWEST), None, None)
        log = self._log_of_rehearsal(text, worker)
        for _ in range(_REHEARSALS):
            known = _taken_on(log, plan.adaptation)
            if known == plan.adaptation or self._settings.is_spent:
                break
            # What was found in the end may have decided the rest.
            plan = msgspec.structs.replace(plan, adaptation=known)
            text = _text(plan)
            log = self._log_of_rehearsal(text, worker) or log
        if log is None or (log.adaptation.smaller and log.ended):
            # Its models may not take smaller images.
            known = msgspec.structs.replace(plan.adaptation, smaller=False)
            text = _text(msgspec.structs.replace(plan, adaptation=known))
            log = self._log_of_rehearsal(text, worker) or log
        return self._completed(ScriptRun(text, Figures(steps=_FEWEST), log, log), plan, worker)

    def _completed(self, run: ScriptRun, plan: Plan, worker: Worker) -> ScriptRun:
        """The rehearsal that came furthest, of those without the statements that ended one after the other."""
        best, log, began = run, run.long, time.monotonic()
        for _ in range(_OMISSIONS):
            known = None if log is None else _next(log)
            if known is None or self._settings.is_spent or time.monotonic() - began > _ON_OMISSIONS:
                break
            text = _text(msgspec.structs.replace(plan, adaptation=known))
            log = self._log_of_rehearsal(text, worker)
            if log is not None and best.long is not None and _extent(log) > _extent(best.long):
                best = ScriptRun(text, Figures(steps=_FEWEST), log, log)
        return best

    def _log_of_rehearsal(self, text: str, worker: Worker) -> Log | None:
        request = Request(
            text=text,
            steps=_FEWEST,
            mode=Mode.LAZY,
            seconds=self._allowed,
            data_bytes=_memory(),
            preload=_preloaded(),
        )
        return _log(worker.run(request).left)

    @property
    def _allowed(self) -> float:
        """Seconds of one run: what is left of the budget, and as many as a start takes at least."""
        return max(_LEAST_SECONDS, min(self._seconds, self._settings.until - time.monotonic()))

    def _is_placed(self, script: str) -> bool:
        """Whether what the program puts on a GPU is placed on the XLA device: not where it uses torch_xla itself."""
        return not self._scripts.use_xla(script)

    def _measured(self, plan: Plan, steps: int, worker: Worker) -> ScriptRun:
        text = _text(plan)
        figures = measure(
            worker,
            text,
            Mode.LAZY,
            steps,
            self._allowed,
            record=True,
            preload=_preloaded(),
            owned=plan.folders,
            # What waits for a boundary at the end is counted there only.
            halved=not plan.ends,
            data_bytes=_memory(),
        )
        short, long = (_log(left) for left in (figures.left or ("", "")))
        return ScriptRun(text, figures, short if plan.ends else _shorter(long), long)


def _next(log: Log) -> Adaptation | None:
    """With what a program that failed is tried again: as one that a launcher has started, then without a statement."""
    if not log.ended:
        return None
    if log.adaptation.launched is False:
        return msgspec.structs.replace(log.adaptation, launched=True)
    if log.failed is None:
        return None
    return msgspec.structs.replace(log.adaptation, omitted=(*log.adaptation.omitted, log.failed))


def _extent(log: Log) -> tuple[int, int, bool]:
    """How far a program came: to how many places, in how many steps, whether to its end."""
    return sum(map(bool, log.reached)), log.steps, not log.ended


def _taken_on(log: Log | None, known: Adaptation) -> Adaptation:
    """What the next rehearsal begins with, where one has failed."""
    if log is None or not log.ended:
        return known
    return msgspec.structs.replace(log.adaptation, smaller=known.smaller)


def _shorter(log: Log | None) -> Log | None:
    """As if it had been run for half of the steps."""
    if log is None or log.half is None:
        return None
    return msgspec.structs.replace(log, reached=log.half.reached, turns=log.half.turns, steps=log.half.steps)


def _memory() -> int:
    """Bytes for one script: a third of what the machine has, which two of them share with others."""
    try:
        return max(_LEAST_MEMORY, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 3)
    except (AttributeError, OSError, ValueError):
        return _LEAST_MEMORY


def _preloaded() -> tuple[str, ...]:
    return tuple(name for name in _PRELOADED if find_spec(name) is not None)


def _is_hopeless(rehearsed: Log | None) -> bool:
    return rehearsed is not None and bool(rehearsed.ended) and not rehearsed.modes and not rehearsed.steps


def _as_it_is(plan: Plan, invocation: Invocation) -> Plan:
    """Its steps are ended for it only to see what a missing boundary costs."""
    return msgspec.structs.replace(
        plan,
        module=invocation.module,
        arguments=invocation.arguments,
        copied=invocation.folder,
        boundary=plan.boundary and plan.ends,
        placed=False,
        borders=False,
        batch=0,
    )


def loop_of(one: Diagnostic) -> LoopPlace | None:
    """The loop whose turns make a finding cost, where it is in the same file."""
    return LoopPlace(os.path.realpath(one.path), one.loop_line) if one.loop_line else None


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _key(one: Diagnostic) -> tuple[str, object, str]:
    return one.path, one.at, one.code


def _place(one: Diagnostic, raises: bool) -> Place:
    neutral = Neutral.REPLAY if one.neutral in _PLAIN else one.neutral
    at = one.at
    return Place(os.path.realpath(one.path), at.line, at.column, at.end_line, at.end_column, neutral, raises)


def _text(plan: Plan) -> str:
    shown = pprint.pformat(msgspec.to_builtins(plan), width=100, sort_dicts=False)
    return _PROGRAM.format(shown)


def _log(left: str) -> Log | None:
    try:
        return msgspec.json.decode(left, type=Log)
    except msgspec.DecodeError:
        return None
