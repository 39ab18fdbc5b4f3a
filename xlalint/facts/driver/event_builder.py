"""Raw events and the heat of their regions become the events that rules see, with text and reasons."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from xlalint.facts.detectors.joined_rows import IN_BATCH
from xlalint.facts.domain.values import DATA, RANK, LoopKey
from xlalint.facts.domain.variation import is_drawn, is_read_size, place_of, region_of, set_back_in
from xlalint.facts.driver.event_roots import EventRoots
from xlalint.facts.driver.file_index import Evaluated
from xlalint.facts.driver.switches_told import SwitchesTold, root_of_switch
from xlalint.facts.effect_traits import AT_ANY_HEAT, TRAITS
from xlalint.facts.events import Certainty, Effect, Event, Heat, Place, Span, Step
from xlalint.facts.heat import boundaries
from xlalint.facts.heat.entry_points import decodes, may_run_once
from xlalint.facts.heat.pace import Pace
from xlalint.facts.heat.propagation import HeatMap
from xlalint.facts.kinds import CALLS_OF_MODELS, LEARNS, LOOPS, TRAINED, RegionKind, SignKind
from xlalint.facts.libraries.frameworks.lightning import BY_THE_STEP
from xlalint.facts.records import ROOT, FunctionKey, RawEvent
from xlalint.facts.regions import FunctionFacts, regions_around
from xlalint.knowledge.tables import lowerings
from xlalint.program.ir import unpack
from xlalint.sources.source import Source

SHORT = 60
FEW = "few values"
UNKNOWN_BOUND = 2
FEW_WORDS = 5
"""``# mark the step`` names what a line does; so many words may say why."""
RECOMPUTING = frozenset({"torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"})
TRAINING = LEARNS | {SignKind.FRAMEWORK}
COMPUTED = TRAINING | CALLS_OF_MODELS | {SignKind.MOVED, SignKind.UPLOADED, SignKind.BATCH_MOVED, SignKind.BOUNDARY}


class Text:
    """The text of one file by span: columns are UTF-8 bytes."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lines: list[str] | None = None

    @property
    def lines(self) -> list[str]:
        """Split when a span is first asked for: most files have no event."""
        if self._lines is None:
            self._lines = self.source.lines()
        return self._lines

    def of(self, at: int, limit: int = SHORT) -> str:
        if at == 0:
            return ""
        line, column, end_line, end_column = unpack(at)
        if line > len(self.lines):
            return ""
        if line == end_line:
            return shortened(sliced(self.lines[line - 1], column, end_column), limit)
        first = sliced(self.lines[line - 1], column, None)
        rest = [text.strip() for text in self.lines[line : end_line - 1]]
        last = sliced(self.lines[end_line - 1], 0, end_column).strip() if end_line <= len(self.lines) else ""
        return shortened(" ".join([first.strip(), *rest, last]), limit)

    def is_explained(self, line: int) -> bool:
        """Whether a comment beside or above a line says in some words why it stands there."""
        above = self.lines[line - 2].strip() if 1 < line <= len(self.lines) else ""
        beside = self.lines[line - 1].partition("#")[2] if line <= len(self.lines) else ""
        told = above.lstrip("# ") if above.startswith("#") else ""
        return any(len(words.split()) >= FEW_WORDS and "noqa" not in words for words in (beside, told))


def sliced(line: str, start: int, end: int | None) -> str:
    if line.isascii():
        return line[start:end]
    return line.encode()[start:end].decode(errors="replace")


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


class EventBuilder:
    """The events of one file. ``names`` are the paths as shown, by absolute path; ``imports_xla`` tells whether the
    program names torch_xla itself, ``uses_xla`` whether it runs on XLA, be it by assumption."""

    def __init__(
        self,
        source: Source,
        heat: HeatMap,
        names: dict[str, str],
        uses_xla: bool,
        imports_xla: bool,
        switches: SwitchesTold,
    ) -> None:
        self.source = source
        self.heat = heat
        self.names = names
        self.uses_xla = uses_xla
        self.imports_xla = imports_xla
        self.switches = switches
        self.text = Text(source)

    def events(self, functions: Sequence[Evaluated]) -> Iterator[Event]:
        for one in functions:
            function = one.facts
            told: set[LoopKey] = set()
            roots = EventRoots(function, one.events, self.text, self.shown)
            costly = {raw.at for raw in one.events if not TRAITS[raw.effect].coexists}
            matched = in_both_arms(one.events)
            for raw in sorted(one.events, key=lambda e: (e.at, e.effect.value)):
                if raw.changed_by:
                    raw = self.as_carried(raw, function)
                if raw.varies == RANK:
                    raw = msgspec.structs.replace(raw, effect=Effect.GRAPH_BY_RANK, varies=None)
                if raw.effect is Effect.COLLECTIVE_BY_RANK and raw.subject in matched:
                    continue
                if raw.effect is Effect.BOUNDARY:
                    raw = boundaries.placed_boundary(raw, function, self.heat)
                if raw.effect is Effect.GRAPH_BREAK and raw.at in costly:
                    # A read cuts the graph, too, and is told as what it is.
                    continue
                event = self.event(raw, function)
                if event is not None and TRAITS[raw.effect].by_value and raw.varies in self.heat.restarting:
                    # As many graphs as the range is long, each compiled once: told at the first use, and only
                    # possible, as nobody knows whether that is few.
                    first = raw.varies not in told
                    told.add(raw.varies)
                    event = msgspec.structs.replace(event, detail=FEW, certainty=Certainty.POSSIBLE) if first else None
                if event is not None:
                    behind = roots.test_before(raw) is not None
                    yield msgspec.structs.replace(event, root=roots.of(raw) or event.root, behind_root=behind)
            for raw in boundaries.of_loops(function, self.heat):
                event = self.event(raw, function)
                if event is not None:
                    yield event

    def event(self, raw: RawEvent, function: FunctionFacts) -> Event | None:
        pace = self.heat.pace(function.key, raw.region)
        if raw.changed_by:
            raw = self.as_carried(raw, function)
        if (TRAITS[raw.effect].carried or raw.varies is not None) and not self.is_carried(raw, function, pace):
            return None
        if pace.host and not TRAITS[raw.effect].on_host:
            return None
        if raw.effect is Effect.CUDA_HABIT and raw.subject == "silent-host" and not self.imports_xla:
            # A program that is only assumed to run on XLA is read with XLA's device in this place.
            return None
        is_taught = function.key[0] not in self.heat.usage.untaught
        if raw.backward_only and (not is_taught or (pace.evaluation and pace.loop is not None)):
            # No backward pass goes through what only programs, or loops, run that learn nothing.
            return None
        if raw.effect is Effect.GRAPH_BREAK and function.key not in self.heat.compiled:
            return None
        if raw.effect is Effect.COMPILED_PART and not self.heat.everything(function.key, 3) >= TRAINED:
            return None
        if raw.effect is Effect.SHORT_LAST_BATCH and self.is_only_looked_at(function):
            return None
        if raw.effect is Effect.KEPT_OUTPUT and not self.is_evaluation(function, pace):
            return None
        if (raw.form == BY_THE_STEP and pace.evaluation) or (raw.form == IN_BATCH and not pace.host):
            return None
        if raw.effect is Effect.MODE_SWITCH and not self.switches.is_told(raw, function, pace):
            return None
        line, column, end_line, end_column = unpack(raw.at)
        return Event(
            effect=raw.effect,
            span=Span(line, column, end_line, end_column),
            scope=function.key[1],
            subject=raw.subject,
            spelling=self.text.of(raw.at),
            operand=self.text.of(raw.operand) if raw.operand else "",
            value=raw.value,
            heat=pace.heat,
            certainty=self.certainty(raw, function, pace),
            place=raw.place if pace.loop is not None else Place.UNKNOWN,
            loop=self.loop_text(pace),
            evaluation=pace.evaluation,
            assumed_hot=pace.assumed,
            guards=tuple(text for text in map(self.text.of, raw.guards) if text),
            why=tuple(self.why(raw, function, pace)),
            detail=raw.detail,
            form=raw.form or (lowered_elsewhere(raw.detail) if raw.effect is Effect.CPU_FALLBACK else ""),
            backward_only=raw.backward_only,
            explained=raw.effect is Effect.BOUNDARY and self.text.is_explained(line),
            uses_xla=self.uses_xla,
            by_rank=raw.by_rank,
            assumed_of=self.heat.assumed_of(function.key, raw.region) if pace.assumed else "",
            loop_line=self.loop_line(pace),
            repeats=self.repeats(raw, function, pace),
            root=root_of_switch(pace, self.shown) if raw.effect is Effect.MODE_SWITCH else None,
        )

    def is_only_looked_at(self, function: FunctionFacts) -> bool:
        """Whether a function that makes a loader goes through its batches itself, and computes with none of them."""
        if all(region.over != "loader" for region in function.regions.values()):
            return False
        return self.heat.everything(function.key, 2).isdisjoint(COMPUTED)

    def is_evaluation(self, function: FunctionFacts, pace: Pace) -> bool:
        """Whether a loop only looks at what the model says, and no caller turns gradients off."""
        if pace.loop is None or pace.loop[0] != function.key or self.heat.signs_of(pace.loop) & TRAINING:
            return False
        return not self.is_without_gradients(function)

    def is_without_gradients(self, function: FunctionFacts, depth: int = 3) -> bool:
        """Whether a function, or a call that leads to it, turns gradients off."""
        if function.without_grad or depth == 0:
            return function.without_grad
        for caller, edge in self.heat.callers.get(function.key, ()):
            known = self.heat.functions[caller]
            off = any(region[0] == RegionKind.EVALUATION for region in regions_around(known.regions, edge.region))
            if off or self.is_without_gradients(known, depth - 1):
                return True
        return False

    def certainty(self, raw: RawEvent, function: FunctionFacts, pace: Pace) -> Certainty:
        if self.heat.passes_by(function, raw.arms, raw.at) or function.key[0] in self.heat.usage.unmoved:
            return Certainty.POSSIBLE
        if raw.subject in RECOMPUTING and function.key[0] in self.heat.usage.untaught:
            # Only what learns has activations to save.
            return Certainty.POSSIBLE
        if not pace.assumed:
            return Certainty(raw.certainty)
        chain = self.heat.chain(function.key, raw.region)
        top = self.heat.functions[chain[0][0]] if chain else function
        # Of what a script runs the script tells how often, and not what nothing calls.
        seldom = pace.heat >= Heat.STEP and function is not top and function.key in self.heat.run_by_scripts
        doubtful = self.converts(raw, function) or ((seldom or may_run_once(top)) and raw.effect not in AT_ANY_HEAT)
        return min(Certainty(raw.certainty), Certainty.POSSIBLE if doubtful else Certainty.LIKELY)

    def converts(self, raw: RawEvent, function: FunctionFacts) -> bool:
        """Whether a function that nothing calls takes to the host what it was given, or bears the name of that: it is
        there for it, and who calls it decides how often. Another method may be a meter's, called in each step."""
        if not TRAITS[raw.effect].conversion or function.key in self.heat.via:
            return False
        as_given = not raw.origin and self.text.of(raw.operand).isidentifier()
        return function.name == raw.subject or (as_given and not function.owner)

    def as_carried(self, raw: RawEvent, function: FunctionFacts) -> RawEvent:
        """What several loops change, by the first of those whose change goes from step to step, and which do not count
        the same each time."""
        if raw.varies is None:
            return raw
        pace = self.heat.pace(function.key, raw.region)
        ways = [msgspec.structs.replace(raw, varies=key) for key in (raw.varies, *raw.changed_by)]
        carried = [way for way in ways if self.is_carried(way, function, pace)]
        return next((way for way in carried if way.varies not in self.heat.restarting), carried[0] if carried else raw)

    def is_carried(self, raw: RawEvent, function: FunctionFacts, pace: Pace) -> bool:
        """Whether the loop that makes a number or a tensor change is a step loop."""
        if raw.varies is None:
            if raw.effect is Effect.GROWING_MODULE:
                return pace.heat >= Heat.STEP and pace.loop is not None
            return raw.effect is Effect.GROWING and pace.heat >= Heat.STEP and not function.name.startswith("__")
        if raw.varies == DATA:
            return raw.effect is Effect.VARYING_TRIPS and pace.heat >= Heat.STEP
        if is_drawn(raw.varies):
            return pace.heat >= Heat.STEP and self.is_drawn_hot(raw.varies)
        if not self.is_step_loop(raw.varies):
            return False
        if raw.effect is Effect.GRAPH_THROUGH_STEPS:
            # A loop without a backward pass of its own unrolls one step: what it carries ends with that.
            own = self.heat.signs_of(self.heat.step_loops[raw.varies])
            goes_back = pace.loop is None or not own.isdisjoint(TRAINING)
            return pace.heat >= Heat.STEP and goes_back and not pace.evaluation and not decodes(function)
        return True

    def is_drawn_hot(self, key: LoopKey) -> bool:
        """Whether a random number, or a counter, is another one in each step."""
        function = self.heat.by_name.get(place_of(key))
        if function is None or any(map(self.runs_in_steps, set_back_in(key))):
            return False
        region = next((region for region in function.regions if region[1] == region_of(key)), ROOT)
        pace = self.heat.pace(function.key, region)
        # Of what a function reads that nobody calls, only its own loops tell that there are several.
        return pace.heat >= Heat.STEP and not (pace.assumed and region == ROOT and is_read_size(key))

    def runs_in_steps(self, name: tuple[str, str]) -> bool:
        function = self.heat.by_name.get(name)
        if function is None:
            return False
        pace = self.heat.pace(function.key, ROOT)
        return pace.heat >= Heat.STEP and not pace.assumed

    def is_step_loop(self, key: LoopKey) -> bool:
        return key in self.heat.step_loops

    def loop_line(self, pace: Pace) -> int:
        if pace.loop is None or pace.loop[0][0] != os.path.abspath(self.source.path):
            return 0
        return unpack(pace.loop[1][1])[0]

    def repeats(self, raw: RawEvent, function: FunctionFacts, pace: Pace) -> int:
        """How often a place runs in one step: by the loops between it and the step loop, or the function's own."""
        if pace.heat < Heat.INNER:
            return 1
        times = 1
        for region in regions_around(function.regions, raw.region):
            if pace.loop == (function.key, region):
                break
            if region[0] in LOOPS:
                times *= function.regions[region].turns or UNKNOWN_BOUND
        return max(times, UNKNOWN_BOUND)

    def loop_text(self, pace: Pace) -> str:
        if pace.loop is None:
            return ""
        key, region = pace.loop
        known = self.heat.functions[key].regions[region]
        line = unpack(region[1])[0]
        what = ""
        if key[0] == os.path.abspath(self.source.path):
            what = self.text.of(known.text, 40)
        if region[0] == RegionKind.WHILE:
            return f"the loop `while {what}` (line {line})" if what else f"the loop at line {line}"
        where = f"line {line}" if what else f"{self.shown(key[0])}:{line}"
        return f"the loop over `{what}` ({where})" if what else f"the loop at {where}"

    def shown(self, path: str) -> str:
        return self.names.get(path) or os.path.relpath(path).replace(os.sep, "/")

    def why(self, raw: RawEvent, function: FunctionFacts, pace: Pace) -> Iterator[Step]:
        own = os.path.abspath(self.source.path)
        if pace.loop is not None and pace.loop[0] != function.key:
            key, region = pace.loop
            yield Step(self.shown(key[0]), as_span(region[1]), "the step loop")
        # A step loop around the place itself needs no callers to make it hot.
        own_loop = pace.loop is not None and pace.loop[0] == function.key
        for caller, edge in () if own_loop else self.heat.chain(function.key, raw.region):
            name = caller[1] if caller[1] != "<module>" else "the module"
            yield Step(self.shown(caller[0]), as_span(edge.at), f"{name} calls {function_name(edge.callee)}")
        if raw.origin and function.key[0] == own:
            yield Step(self.shown(own), as_span(raw.origin), f"`{self.text.of(raw.operand)}` is set here")


def in_both_arms(events: Iterable[RawEvent]) -> set[str]:
    """Collectives that stand behind more than one test of the rank in a function: each rank gets to one of them."""
    met = Counter(raw.subject for raw in events if raw.effect is Effect.COLLECTIVE_BY_RANK)
    return {subject for subject, times in met.items() if times > 1}


def lowered_elsewhere(ops: str) -> str:
    """The devices on which all of several ops are lowered that fall back on the CPU device."""
    known = [lowerings().get(op.removeprefix("aten::"), NOWHERE) for op in ops.split()]
    return " and ".join(sorted(frozenset.intersection(*known))) if known else ""


NOWHERE: frozenset[str] = frozenset()


def as_span(at: int) -> Span:
    return Span(*unpack(at))


def function_name(key: FunctionKey) -> str:
    return key[1]
