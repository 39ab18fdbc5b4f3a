"""The records of all processes, put together for the whole program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xlalint.facts.driver.event_builder import EventBuilder
from xlalint.facts.driver.file_index import Evaluated, Index
from xlalint.facts.driver.partition import merge_partitions
from xlalint.facts.driver.switches_told import SwitchesTold
from xlalint.facts.driver.workspace import Workspace, absolute
from xlalint.facts.driver.xla_reach import files_with_xla
from xlalint.facts.events import Event, Facts
from xlalint.facts.failures import Analysed, Failure, reason_of
from xlalint.facts.heat.propagation import HeatMap
from xlalint.facts.options import Assumptions
from xlalint.program import ir
from xlalint.sources.source import Source


class ProgramFacts:
    """What all processes found, together: enough to place the events of any file."""

    def __init__(
        self,
        workspace: Workspace,
        indexes: Sequence[Index],
        parts: Iterable[list[Evaluated]],
        failures: Iterable[Failure],
    ) -> None:
        functions = merge_partitions(parts)
        self.heat = HeatMap([one.facts for one in functions.values()], workspace.files, workspace.usage)
        self.switches = SwitchesTold(self.heat, functions.values())
        self.xla = files_with_xla(indexes, workspace.files)
        self.cuda = {path: package for index in indexes for path, package in index.cuda.items()}
        self.names = {**workspace.beside, **{path: source.path for path, source in workspace.sources.items()}}
        self.failures: dict[str, list[Failure]] = {}
        for failure in sorted(set(failures)):
            self.failures.setdefault(failure.path, []).append(failure)
        self.functions: dict[str, list[Evaluated]] = {}
        for key, one in functions.items():
            self.functions.setdefault(key[0], []).append(one)
        files = dict.fromkeys((*workspace.sources, *workspace.beside, *self.failures))
        self.reported = tuple(path for path in files if self.is_told(path, workspace))
        """The files of which something is told: those of the run, those beside them that are handed tensors, and those
        around them on which the linter failed."""

    def is_told(self, path: str, workspace: Workspace) -> bool:
        if any(failure.internal for failure in self.failures.get(path, ())):
            return True
        if not workspace.is_reported(path):
            return False
        handed = path in workspace.beside and any(one.events for one in self.functions.get(path, ()))
        return handed or path in workspace.sources

    def analysed(self, source: Source, assumptions: Assumptions) -> Analysed:
        """The facts of one file, and what there are none of."""
        path = absolute(source.path)
        failures = [*self.failures.get(path, ())]
        placing = self.placing(source, assumptions)
        events: list[Event] = []
        for one in self.functions.get(path, ()):
            try:
                events.extend(placing.events([one]))
            except Exception as error:  # a bug of ours must not cost the user the other functions
                line, name = ir.unpack(one.facts.key[2])[0], one.facts.key[1]
                failures.append(Failure(path, line, name, reason_of(error), True))
        return Analysed(Facts(source.path, events), tuple(failures), path in self.xla, self.cuda.get(path, ""))

    def placing(self, source: Source, assumptions: Assumptions) -> EventBuilder:
        in_reach = absolute(source.path) in self.xla
        uses_xla = in_reach if assumptions.assume_xla is None else assumptions.assume_xla
        return EventBuilder(source, self.heat, self.names, uses_xla, in_reach, self.switches)
