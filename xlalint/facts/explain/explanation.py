"""The explanation of one line: its values, how often it runs and why, what happens on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlalint.facts.domain.display import show
from xlalint.facts.domain.values import HOST, Bound, Namespace, Tensor, alternatives
from xlalint.facts.driver.analysis import AssumptionsOf, workspace_of
from xlalint.facts.driver.called_names import called_in
from xlalint.facts.driver.event_builder import EventBuilder
from xlalint.facts.driver.file_index import Evaluated
from xlalint.facts.driver.partition import Partition
from xlalint.facts.driver.program_facts import ProgramFacts
from xlalint.facts.driver.workspace import ALONE, Around, absolute
from xlalint.facts.effect_traits import TRAITS
from xlalint.facts.events import Certainty, Effect, Event, Heat, Place
from xlalint.facts.explain.probe import Line, LineProbe
from xlalint.facts.failures import Failure
from xlalint.facts.heat.pace import Pace
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.facts.records import FunctionKey, RawEvent, RegionKey
from xlalint.facts.regions import FunctionFacts, regions_around
from xlalint.program import ir
from xlalint.sources.source import Source

OFTEN = {
    Heat.ONCE: "once",
    Heat.EPOCH: "once per epoch",
    Heat.CALL: "once per call",
    Heat.AMORTISED: "in some steps",
    Heat.STEP: "in every step",
    Heat.INNER: "several times in every step",
}
REGIONS = {
    RegionKind.AMORTISED: "behind a guard that holds only in some steps",
    RegionKind.RARE: "behind a guard for the first or last step, or in an exception handler",
    RegionKind.EVALUATION: "in evaluation: gradients are disabled",
    RegionKind.CLOSURE: "in a step closure, which runs after the boundary",
    RegionKind.GIVEN: "behind a guard on an optional parameter",
    RegionKind.COLLATE: "in code that builds batches, on the host",
}


def article(noun: str) -> str:
    return "an" if noun.startswith("e") else "a"


class Unexplained(Exception):
    """A file of which nothing is known. One line, without the path."""


def explain(
    source: Source,
    line: int,
    assumptions: AssumptionsOf,
    sources: Sequence[Source] = (),
    around: Around = ALONE,
) -> str:
    """What is known of a line, counted from 1, as lines of text, in a run over ``sources``: the file alone where none
    are given. What they import is read, too.

    Raises ``Unexplained`` for a file that can't be parsed.
    """
    (text,) = explanations([(source, line)], assumptions, sources or (source,), around)
    return text


def explanations(
    places: Sequence[tuple[Source, int]], assumptions: AssumptionsOf, sources: Sequence[Source], around: Around = ALONE
) -> list[str]:
    """The same of several lines, in one run over ``sources``. Raises ``Unexplained``."""
    workspace = workspace_of(sources, assumptions, around)
    part = Partition(workspace, workspace.sources)
    index = part.lower()
    engine = part.engine(called_in([index]))
    watch = LineProbe((absolute(source.path), line) for source, line in places)
    watch.on(engine)
    whole = ProgramFacts(
        workspace, [index, *part.lower_around()], [part.evaluate_with(engine, part.own)], part.failures
    )
    return ["\n".join(explained(whole, watch, source, line, assumptions)) + "\n" for source, line in places]


def explained(
    whole: ProgramFacts, watch: LineProbe, source: Source, line: int, assumptions: AssumptionsOf
) -> Iterator[str]:
    path = absolute(source.path)
    analysed = whole.analysed(source, assumptions(source.path))
    if analysed.unread:
        raise Unexplained(analysed.unread)
    placing = whole.placing(source, assumptions(source.path))
    functions = whole.functions.get(path, [])
    return Explanation(placing, functions, line, watch.lines[path, line], analysed.failures).lines()


class Explanation:
    """The text of one line's explanation, from what a run left."""

    def __init__(
        self, placing: EventBuilder, functions: list[Evaluated], line: int, watched: Line, failures: Sequence[Failure]
    ) -> None:
        self.placing = placing
        self.heat = placing.heat
        self.functions = functions
        self.line = line
        self.watched = watched
        self.failures = failures
        self.regions = sorted(place for place in watched.regions if place[0] in self.heat.functions)
        """Where the line was evaluated; a function in which the analysis failed has left nothing."""

    def lines(self) -> Iterator[str]:
        source, line = self.placing.source, self.line
        yield f"{source.path}:{line}: {source.lines()[line - 1].strip()}"
        yield from section("not linted", self.not_linted())
        if not self.regions:
            yield from section("how often", ["never: no expression of this line is reached"])
        else:
            yield from section("how often", self.places())
            yield from section("values", self.values())
        yield from section("what happens", self.happenings())

    def not_linted(self) -> Iterator[str]:
        for one in self.failures:
            yield f"{one.function} (line {one.line}): {one.reason}"

    # How often

    def places(self) -> Iterator[str]:
        for key, region in self.regions:
            pace = self.heat.pace(key, region)
            yield f"{self.often(key, region, pace)} (in `{key[1]}`)"
            yield from (f"  {text}" for text in self.reasons(key, region, pace))

    def often(self, key: FunctionKey, region: RegionKey, pace: Pace) -> str:
        text = OFTEN[pace.heat]
        if pace.loop is not None:
            text += f", by {self.placing.loop_text(pace)}"
        if pace.evaluation:
            text += ", in evaluation"
        if pace.host:
            text += ", on the host"
        if not pace.assumed:
            return text
        above = self.heat.assumed_of(key, region)
        return f"{text}: assumed, because {above or 'this function'} has no caller in the linted files"

    def reasons(self, key: FunctionKey, region: RegionKey, pace: Pace) -> Iterator[str]:
        for kind, at in reversed([*regions_around(self.heat.functions[key].regions, region)]):
            if kind in REGIONS:
                yield f"{REGIONS[kind]} (line {ir.unpack(at)[0]})"
            elif kind in ("loop", "while"):
                role = self.heat.loops.get(key, {}).get((kind, at), "")
                kind_of_loop = f"{article(role)} {role} loop" if role else "which is no step loop"
                yield f"in the loop at line {ir.unpack(at)[0]}, {kind_of_loop}"
        for caller, edge in self.heat.chain(key, region):
            where = f"{self.placing.shown(caller[0])}:{ir.unpack(edge.at)[0]}"
            yield f"{caller[1]} calls {edge.callee[1]} at {where}"

    # Values

    def values(self) -> Iterator[str]:
        seen = set()
        for at, value in self.watched.joined().items():
            text = self.placing.text.of(at)
            named = any(isinstance(part, (Namespace, Bound)) for part in alternatives(value))
            if text and text not in seen and not named:
                seen.add(text)
                yield f"{text}: {show(value)}"

    # Events

    def happenings(self) -> Iterator[str]:
        told = False
        for one in self.functions:
            here = {sign.kind for sign in one.facts.signs if ir.unpack(sign.at)[0] == self.line}
            for kind in sorted(here & STEPS.keys()):
                told = told or kind != "model-call"
                yield STEPS[kind]
            for raw in sorted(one.events, key=lambda e: (e.at, e.effect.value)):
                if self.is_here(raw.at) and not TRAITS[raw.effect].by_position and self.may_matter(raw, one.facts):
                    told = True
                    yield from self.happening(raw, one.facts)
        for event in self.placing.events(self.functions):
            if event.effect is Effect.NO_BOUNDARY and event.span.line == self.line:
                told = True
                yield f"no-boundary: the {event.subject} loop sets no step boundary"
        if not told:
            yield self.nothing()

    def may_matter(self, raw: RawEvent, function: FunctionFacts) -> bool:
        """What is recorded for the case that all of the program makes a cost of it says nothing where it makes none."""
        return not TRAITS[raw.effect].conditional or self.placing.event(raw, function) is not None

    def is_here(self, at: int) -> bool:
        first, _, last, _ = ir.unpack(at)
        return first <= self.line <= last

    def happening(self, raw: RawEvent, function: FunctionFacts) -> Iterator[str]:
        event = self.placing.event(raw, function)
        spelled = self.placing.text.of(raw.at)
        yield f"{raw.effect.value}: `{spelled}`" + (f" of {raw.value}" if raw.value != "None" else "")
        if event is None:
            host = self.heat.pace(function.key, raw.region).host
            reason = "it runs on the host" if host else "no step loop carries the change from step to step"
            yield f"  not flagged: {reason}"
            return
        for guard in event.guards:
            yield f"  only where `{guard}`"
        if self.heat.passes_by(function, raw.arms, raw.at):
            yield "  no call in the linted files comes here: each decides a test before it otherwise"
        yield f"  {judged(event)}"

    def nothing(self) -> str:
        values = [part for value in self.watched.joined().values() for part in alternatives(value)]
        tensors = [part for part in values if isinstance(part, Tensor)]
        if any(part.device == HOST for part in tensors) and not any(part.live for part in tensors):
            return "no cost: the tensors here are on the host"
        if tensors:
            return "no cost: all operations here stay on the device"
        return "no cost: no device tensor is known here"


STEPS = {
    SignKind.BACKWARD: "a backward pass: its loop is a step loop",
    SignKind.OPTIMIZER_STEP: "an optimizer step: its loop is a step loop",
    SignKind.BOUNDARY: "a step boundary: pending operations are executed here",
    SignKind.LOADER: "iterates over a loader: a step loop",
    SignKind.MODEL_CALL: "a model is called",
}
PLACES = {
    Place.BEFORE_BOUNDARY: "before the step boundary, ",
    Place.AFTER_BOUNDARY: "after the step boundary, ",
    Place.UNKNOWN: "",
}


def judged(event: Event) -> str:
    """What a rule sees of an event, in words."""
    surely = event.certainty.name.lower()
    text = f"{PLACES[event.place]}{OFTEN[event.heat]}, {surely}"
    if event.heat is Heat.CALL:
        return f"{text}: a note"
    if event.heat < Heat.STEP:
        return f"{text}: not flagged, because it does not run in every step"
    if event.certainty is Certainty.POSSIBLE:
        return f"{text}: shown with `--min-certainty possible` only"
    if event.evaluation:
        return f"{text}: one level lower, as it is in evaluation"
    return f"{text}: its rule decides"


def section(title: str, lines: Iterator[str] | list[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"  {title}"
        yield from (f"    {line}" for line in found)
