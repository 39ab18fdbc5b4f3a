"""Step boundaries: loops without one, and boundaries that stand inside a step."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from xlalint.facts.events import Effect
from xlalint.facts.heat.entry_points import decodes
from xlalint.facts.heat.loop_kinds import hangs_together
from xlalint.facts.heat.propagation import HeatMap
from xlalint.facts.kinds import BOUNDARY_CONTEXTS, LEARNS, LoopKind, RegionKind, SignKind
from xlalint.facts.records import RawEvent, RegionKey
from xlalint.facts.regions import FunctionFacts, loop_of, regions_around, within

READ_BEFORE = frozenset({SignKind.LOADER, SignKind.MOVED, SignKind.ENVIRONMENT_STEP})
"""What is moved to the device in each round was read before it, or came from an environment, and nothing grows."""
INTERRUPTS = READ_BEFORE | {SignKind.UPLOADED}
"""The same for a loop that goes on until a test says otherwise: what that has read is made a tensor again."""
ON_ITS_OWN = frozenset(
    {SignKind.PLAIN_LOADER, SignKind.MOVED, SignKind.UPLOADED, SignKind.PLAIN_STEP, SignKind.MANUAL_STEP}
)
"""Signs of a training that nothing out of sight carries out."""
ON_DEVICE = frozenset({SignKind.MOVED, SignKind.UPLOADED, SignKind.BATCH_MOVED, SignKind.HOST_READ})
"""Signs that a loss which lies on the host was brought there from the device."""


def of_loops(function: FunctionFacts, heat: HeatMap) -> Iterator[RawEvent]:
    """What is told of whole loops, once it is known which are step loops."""
    yield from loops_without_boundary(function, heat)
    yield from loops_over_plain_loaders(function, heat)
    yield from partial_traces(function, heat)


def loops_without_boundary(function: FunctionFacts, heat: HeatMap) -> Iterator[RawEvent]:
    """The headers of step loops that record operations and never run them."""
    for loop, kind in sorted(heat.loops.get(function.key, {}).items()):
        if kind != LoopKind.STEP or function.regions[loop].turns == 1 or nested_in_step(function, loop, heat):
            continue
        signs = heat.all_signs(function, loop)
        if SignKind.BOUNDARY in signs or SignKind.FRAMEWORK in signs or SignKind.BOUNDARY_LOADER in signs:
            continue
        if SignKind.HOST_LOSS in signs and signs.isdisjoint(ON_DEVICE):
            continue
        if (
            SignKind.PLAIN_LOADER not in signs
            and function.regions[loop].over in ("loader", "")
            and may_be_on_device(function, heat)
        ):
            continue
        # Without an optimizer the parameters may be changed one by one.
        trains = SignKind.OPTIMIZER_STEP in signs or signs >= {SignKind.BACKWARD, SignKind.MANUAL_STEP}
        generating = (
            (keeps(function, loop) or generates(function, loop))
            and SignKind.MODEL_CALL in signs
            and signs.isdisjoint(INTERRUPTS if loop[0] == RegionKind.WHILE else READ_BEFORE)
        )
        evaluates = (
            function.regions[loop].over == "loader" and SignKind.MODEL_CALL in signs and SignKind.BATCH_MOVED in signs
        )
        # Who calls ``xm.optimizer_step`` knows of XLA: a loader that can't be seen may set the boundary.
        unset = SignKind.STEP_WITHOUT_BARRIER in signs and function.regions[loop].over == "counter"
        if trains and (unset or not signs.isdisjoint(ON_ITS_OWN)):
            yield boundary_event(function, loop, "training")
        elif trains or reads_all(function, loop, heat):
            continue
        elif generating:
            yield boundary_event(function, loop, "decoding")
        elif evaluates and signs.isdisjoint(LEARNS):
            yield boundary_event(function, loop, "evaluating")


def reads_all(function: FunctionFacts, loop: RegionKey, heat: HeatMap) -> bool:
    """Whether each turn of a loop waits for what it computes, and keeps nothing on the device that it adds up."""
    if loop[0] == RegionKind.WHILE or any(s.kind is SignKind.SUMS and s.region == loop for s in function.signs):
        return False
    return heat.reads_each_turn(function, loop)


def keeps(function: FunctionFacts, loop: RegionKey) -> bool:
    """Whether the turns of a ``while`` loop leave something behind: a graph that nothing holds is dropped."""
    return any(sign.kind is SignKind.KEEPS and sign.region == loop for sign in function.signs)


def generates(function: FunctionFacts, loop: RegionKey) -> bool:
    """Whether a loop hands a model what the model gave the turn before, and nothing is learned from it."""
    off = function.without_grad or any(
        region[0] == RegionKind.EVALUATION and (within(function, region, loop) or within(function, loop, region))
        for region in function.regions
    )
    return hangs_together(function, loop) and (off or decodes(function))


def loops_over_plain_loaders(function: FunctionFacts, heat: HeatMap) -> Iterator[RawEvent]:
    """The headers of step loops whose batches are moved to the device one by one, by the loop itself."""
    for loop, kind in sorted(heat.loops.get(function.key, {}).items()):
        if kind != LoopKind.STEP or function.regions[loop].over != "loader" or may_be_on_device(function, heat):
            continue
        signs = heat.all_signs(function, loop)
        if {SignKind.PLAIN_LOADER, SignKind.BATCH_MOVED} <= signs and signs.isdisjoint(
            {SignKind.FRAMEWORK, SignKind.BOUNDARY_LOADER}
        ):
            event = boundary_event(function, loop, "loop")
            yield msgspec.structs.replace(event, effect=Effect.PLAIN_LOADER)


def may_be_on_device(function: FunctionFacts, heat: HeatMap) -> bool:
    """A loader that nobody knows, in a file that makes device loaders, may be one of them."""
    return function.key[0] in heat.with_device_loader


def nested_in_step(function: FunctionFacts, loop: RegionKey, heat: HeatMap) -> bool:
    region = function.regions[loop].parent
    outer = loop_of(function, region)
    while outer is not None:
        if heat.loops.get(function.key, {}).get(outer) == LoopKind.STEP:
            return True
        outer = loop_of(function, function.regions[outer].parent)
    return heat.base[function.key].loop is not None


def boundary_event(function: FunctionFacts, loop: RegionKey, subject: str) -> RawEvent:
    region = function.regions[loop]
    return RawEvent(
        effect=Effect.NO_BOUNDARY,
        subject=subject,
        at=loop[1],
        statement=loop[1],
        operand=region.text,
        value="",
        certainty=2 if subject == "training" else 1,
        region=loop,
    )


def placed_boundary(event: RawEvent, function: FunctionFacts, heat: HeatMap) -> RawEvent:
    """The boundary with a subject that says in which way it is misplaced; empty where it is not."""
    return msgspec.structs.replace(event, subject=misplacement(event, function, heat))


def misplacement(event: RawEvent, function: FunctionFacts, heat: HeatMap) -> str:
    if function.is_module and function.name == "forward":
        return "per-layer"
    if inside_context(function, event.region):
        return "nested"
    loop = loop_of(function, event.region)
    if loop is None or heat.loops.get(function.key, {}).get(loop) != LoopKind.STEP:
        return ""
    signs = [s for s in function.signs if within(function, s.region, loop)]
    steps = [s.at for s in signs if s.kind is SignKind.OPTIMIZER_STEP]
    backwards = [s.at for s in signs if s.kind is SignKind.BACKWARD]
    calls = [s.at for s in signs if s.kind in (SignKind.MODEL_CALL, SignKind.LAYER_CALL)]
    if not any(at > event.at for at in steps):
        return ""
    others = [s.at for s in signs if s.kind is SignKind.BOUNDARY and s.at > min(steps)]
    if any(at < event.at for at in backwards) and others:
        return "after-backward"
    if any(at < event.at for at in calls) and any(at > event.at for at in backwards) and others:
        return "after-forward"
    return ""


def inside_context(function: FunctionFacts, region: RegionKey) -> bool:
    return any(kind in BOUNDARY_CONTEXTS for kind, _ in regions_around(function.regions, region))


def partial_traces(function: FunctionFacts, heat: HeatMap) -> Iterator[RawEvent]:
    """``StepTrace`` around a part of a step: it syncs at its end."""
    for key, region in sorted(function.regions.items()):
        if key[0] is not RegionKind.STEP_TRACE:
            continue
        loop = loop_of(function, region.parent)
        if loop is None:
            continue
        outside = [
            s
            for s in function.signs
            if s.kind in (SignKind.BACKWARD, SignKind.OPTIMIZER_STEP, SignKind.MODEL_CALL, SignKind.LAYER_CALL)
            and within(function, s.region, loop)
            and not within(function, s.region, key)
        ]
        if outside:
            yield RawEvent(
                effect=Effect.TRACE_MISUSE,
                subject="partial-step",
                at=region.text or key[1],
                statement=key[1],
                operand=0,
                value="",
                certainty=2,
                region=region.parent,
            )
