"""Validates the findings of a report: runs each on a device and attaches the evidence."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import msgspec

from xlalint.cache.folder import default_cache
from xlalint.device.programs.stand_ins import ValueAt
from xlalint.device.validation.case import Case, Settings
from xlalint.device.validation.invocation import Invocation
from xlalint.device.validation.script_runs import ScriptRuns
from xlalint.device.validation.script_verdicts import NoVerdict, proved_by_script, with_reason
from xlalint.device.validation.trials import no_evidence, validated
from xlalint.device.wall.enclosure import CPU
from xlalint.device.worker.experiment import Worker
from xlalint.device.worker.guard import Guard
from xlalint.device.worker.pool import WorkerPool
from xlalint.facts.domain.values import Value
from xlalint.facts.driver.partition import imported_source
from xlalint.facts.events import Span
from xlalint.facts.explain.value_recorder import ValueRecorder, recorded_values
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic, Evidence, Mode, Report, Severity, Verdict
from xlalint.findings.pages import Experiment, Page, parse_page
from xlalint.findings.registry import Loaded, page_of
from xlalint.linting import Followers, rules_of
from xlalint.slicing.definitions import Modules
from xlalint.slicing.scripts import Scripts
from xlalint.slicing.syntax_tree import SyntaxTree
from xlalint.sources.read import decode, read_bytes
from xlalint.sources.source import Source

_FAST_COMPILES = ("--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true")
_FASTER_COMPILES = {"2.9": ("--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1")}
"""By the torch_xla whose runtime knows the flags: another one ends where it does not know one."""

Run = Callable[[Diagnostic, Worker], Evidence]


class Underway(NamedTuple):
    """How far a run is."""

    done: int
    total: int
    verdicts: Mapping[Verdict, int]
    running: tuple[Diagnostic, ...]
    """The findings that are being run."""


Told = Callable[[Underway], None]
"""Told whenever a finding is begun, or done."""


def validate(
    report: Report,
    configurations: Configurations,
    settings: Settings,
    *,
    guard: Guard | None = None,
    jobs: int = 1,
    only: frozenset[str] = frozenset(),
    folders: Sequence[str] = (),
    packages: Sequence[str] = (),
    invocation: Invocation | None = None,
    budget: float | None = None,
    told: Told | None = None,
    noted: Callable[[str], None] | None = None,
) -> Report:
    """``report`` with the evidence of each finding; those whose code is not among ``only``, if any, are left out.

    Statements of the linted program are run: ``guard`` says behind which wall, without it there is none. Scripts that
    lead to a finding are looked for in ``folders``, and may import from ``packages``; with an ``invocation`` that
    program is run as it is, and nothing else. After ``budget`` seconds no finding is begun: what raises costs least and
    comes first, then errors come before warnings and notes. ``noted`` is told what the user should know of the device.
    Raises ``WorkerError`` where there is none.
    """
    if budget is not None:
        settings = msgspec.structs.replace(settings, budget=budget, until=time.monotonic() + budget)
    kept = runnable(report, only)
    cases = _Cases(kept, configurations)
    cases.look_for_scripts(folders, packages, settings, invocation)
    with WorkerPool(guard or Guard(), _environment(), min(jobs, len(kept))) as pool:
        if noted is not None and not pool.versions.network_off:
            noted(
                "the programs are run beside the network: the device asks for it, or the system does not take it away"
            )
        order = sorted(kept, key=cases.urgency, reverse=True) if budget is not None else kept
        run = _within_budget(partial(cases.run, settings=settings), settings)
        evidences = pool.map(run if told is None else _Followed(run, len(kept), told), order)
        proved = {
            id(one): msgspec.structs.replace(one, evidence=evidence)
            for one, evidence in zip(order, evidences, strict=True)
        }
    return msgspec.structs.replace(report, diagnostics=tuple(proved[id(one)] for one in kept))


def _within_budget(run: Run, settings: Settings) -> Run:
    """``run`` up to the end of the time that is given; after it nothing is begun."""

    def in_time(diagnostic: Diagnostic, worker: Worker) -> Evidence:
        if settings.is_spent:
            return no_evidence(f"the budget of {settings.budget:g} s was spent", settings, worker.versions)
        return run(diagnostic, worker)

    return in_time


def runnable(report: Report, only: frozenset[str]) -> list[Diagnostic]:
    """The findings that are run: of the codes ``only``, if any are named."""
    return [one for one in report.diagnostics if one.suppressed is None and (not only or one.code in only)]


class _Followed:
    """A ``Run`` that tells which findings are begun and done, one at a time."""

    def __init__(self, run: Run, total: int, told: Told) -> None:
        self._run, self._total, self._told = run, total, told
        self._verdicts: Counter[Verdict] = Counter()
        self._running: dict[int, Diagnostic] = {}
        self._telling = Lock()

    def __call__(self, diagnostic: Diagnostic, worker: Worker) -> Evidence:
        with self._telling:
            self._running[id(diagnostic)] = diagnostic
            self._tell()
        evidence = self._run(diagnostic, worker)
        with self._telling:
            del self._running[id(diagnostic)]
            self._verdicts[evidence.verdict] += 1
            self._tell()
        return evidence

    def _tell(self) -> None:
        done = sum(self._verdicts.values())
        self._told(Underway(done, self._total, dict(self._verdicts), tuple(self._running.values())))


def _environment() -> dict[str, str]:
    """How often a graph is compiled does not depend on how well; on the CPU it takes a tenth of the time."""
    if os.environ.get("PJRT_DEVICE", CPU) != CPU:
        return {}
    installed = ".".join(_torch_xla().split(".")[:2])
    flags = [*_FAST_COMPILES, *_FASTER_COMPILES.get(installed, ())]
    return {"XLA_FLAGS": " ".join([os.environ.get("XLA_FLAGS", ""), *flags]).strip()}


def _torch_xla() -> str:
    """The version that is installed; nothing where none is, which the worker will say."""
    try:
        return version("torch_xla")
    except PackageNotFoundError:
        return ""


class _Cases:
    """What all findings of a run share: the trees, the values and the claims of the rules."""

    def __init__(self, diagnostics: Sequence[Diagnostic], configurations: Configurations) -> None:
        self._diagnostics = diagnostics
        paths = list(dict.fromkeys(one.path for one in diagnostics))
        sources = [_source(path) for path in paths]
        self._trees = {source.path: SyntaxTree(source) for source in sources}
        self._sights: ValueRecorder = recorded_values(sources, Followers(configurations, default_cache()).assumptions)
        packages = frozenset(one.package for one in diagnostics if one.package)
        self._modules = Modules(self._sights.resolve, self._read, packages)
        self._rules = {loaded.rule.code: loaded for path in paths for loaded in rules_of(configurations.of_file(path))}
        self._pages = {one.code: _page(self._rules[one.code]) for one in diagnostics if one.code in self._rules}

    def look_for_scripts(
        self, folders: Sequence[str], packages: Sequence[str], settings: Settings, invocation: Invocation | None
    ) -> None:
        self._scripts = Scripts(folders)
        claims = {code: _growths(page.experiments) for code, page in self._pages.items()}
        self._raising = frozenset(code for code, metrics in claims.items() if "raises" in metrics)
        reading = frozenset(code for code, metrics in claims.items() if metrics.get("reads")) - self._raising
        self._runs = ScriptRuns(
            self._diagnostics,
            folders,
            packages,
            self._scripts,
            settings,
            raising=self._raising,
            reading=reading,
            invocation=invocation,
        )

    def urgency(self, one: Diagnostic) -> tuple[bool, Severity]:
        """What raises does so before anything compiles."""
        return one.code in self._raising, one.severity

    def _read(self, path: str) -> SyntaxTree | None:
        """A file that is not among those with findings; None where it can't be read."""
        source = imported_source(path)
        return SyntaxTree(source) if source is not None else None

    def run(self, diagnostic: Diagnostic, worker: Worker, settings: Settings) -> Evidence:
        loaded = self._rules.get(diagnostic.code)
        if loaded is None:
            return no_evidence("it claims no cost", settings, worker.versions)
        page = self._pages[diagnostic.code]
        case = Case(diagnostic, loaded.rule, _growths(page.experiments), _raises(page))

        def value(spans: Iterable[Span]) -> Value:
            return self._sights.value(diagnostic.path, spans)

        invocation = self._runs.invocation
        try:
            if invocation is not None:
                return proved_by_script(case, [invocation.script], self._runs, worker)
            if settings.modes == (Mode.LAZY,):
                return proved_by_script(case, self._scripts.leading_to(diagnostic.path), self._runs, worker)
        except NoVerdict as error:
            if invocation is not None:
                reason = str(error) or "a run of the program does not tell"
                return no_evidence(reason, settings, worker.versions)
            return with_reason(self._by_slice(case, value, worker, settings), str(error))
        return self._by_slice(case, value, worker, settings)

    def _by_slice(self, case: Case, value: ValueAt, worker: Worker, settings: Settings) -> Evidence:
        return validated(case, self._trees[case.diagnostic.path], self._modules, value, worker, settings)


def _source(path: str) -> Source:
    return decode(read_bytes(Path(path)), path)


def _page(loaded: Loaded) -> Page:
    return parse_page(page_of(loaded.origin))


def _growths(experiments: tuple[Experiment, ...]) -> dict[str, bool]:
    """By metric, whether all that the page claims of it is a cost in each step."""
    found: dict[str, bool] = {}
    for each in experiments:
        grows = (each.bad.per_step or 0) != (each.good.per_step or 0) or each.bad.at_least is not None
        found[each.metric] = found.get(each.metric, True) and grows
    return found


def _raises(page: Page) -> frozenset[str]:
    """What the device raises. An exception that the page's own programs raise tells what is counted nowhere, and none
    of it is seen in a program without that test."""
    told = "".join(block.text for block in page.blocks)
    named = (each.raises for each in page.experiments if each.raises is not None)
    return frozenset(name for name in named if f"raise {name}" not in told)
