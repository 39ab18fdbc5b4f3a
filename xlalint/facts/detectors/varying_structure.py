"""Steps whose structure varies: trip counts that change, layers that are skipped at random."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.row_lengths import is_mark
from xlalint.facts.domain.values import DATA, TRUE, Host, Namespace, Tensor, Value, tensor, tensor_of
from xlalint.facts.domain.variation import is_rounded_draw
from xlalint.facts.events import FEW_SHAPES, Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.reaching import assignment_of
from xlalint.facts.state.recorder import span_of
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import blocks_of, called_name, names_in, walk

WORK = frozenset({SignKind.MODEL_CALL, SignKind.LAYER_CALL, SignKind.BACKWARD, SignKind.OPTIMIZER_STEP})
DEEPEST = 3
COIN = " by a coin"
"""After a name in the environment: a flag that is set or not by a random number."""


def check_trips(frame: Frame, node: ir.For, iterable: Value) -> None:
    """``for _ in range(step)``, after the loop: each turn is a part of the graph, if it changes a device tensor."""
    varies = iterable.varies if type(iterable) is Host and iterable.type == "range" else None
    if varies is None or is_mark(varies) or is_rounded_draw(varies) or frame.environment is None:
        return
    worked = worked_on(frame, frame.environment, node.body)
    if worked is None and does_steps(frame, node.body):
        worked = tensor(certainty=1)
    if worked is not None:
        at = getattr(node.iterable, "at", node.at)
        # Of what a mask selects there may be as many in each step, and what an object keeps is often of before them.
        sure = 2 if varies != DATA else 0 if is_kept(frame, node.iterable) else 1
        frame.emit(Effect.VARYING_TRIPS, at, worked, "range", node.iterable, certainty=sure, varies=varies)


def is_kept(frame: Frame, node: ir.Expr, depth: int = DEEPEST) -> bool:
    """Whether an expression depends on an attribute of ``self`` that another method sets."""
    owner = frame.engine.program.owner(frame.function) if frame.function.owner else None
    if owner is None:
        return False
    called = {id(part.function) for part in walk(node) if type(part) is ir.Call}
    for part in walk(node):
        if type(part) is ir.Attribute and type(part.value) is ir.Name and part.value.name == "self":
            if id(part) not in called and frame.function.name not in owner.assigned_in.get(part.name, ()):
                return True
        elif type(part) is ir.Name and depth and part.name != "self":
            assigned = assignment_of(frame, part.name)
            if assigned is not None and is_kept(frame, assigned.value, depth - 1):
                return True
    return False


def does_steps(frame: Frame, block: ir.Block) -> bool:
    """Whether a block calls a model, or runs its backward pass: micro-batches, as many as the number says."""
    first, last = ir.unpack(block[0].at)[0], last_line(block)
    return any(sign.kind in WORK and first <= ir.unpack(sign.at)[0] <= last for sign in frame.record.signs)


def check_coin(frame: Frame, node: ir.If, taken: Environment | None, other: Environment | None) -> None:
    """``if random.random() < p: x = layer(x)``, after the arms, which left ``taken`` and ``other``."""
    if draw_names().isdisjoint(frame.function.called) or not draws(frame, node.test):
        return
    for block, left in ((node.body, taken), (node.orelse, other)):
        if left is None:
            continue
        left.update((f"{name}{COIN}", TRUE) for name in flags_in(block))
        worked = worked_on(frame, left, block)
        if worked is not None:
            frame.emit(Effect.RANDOM_STRUCTURE, span_of(node.test), worked, "coin", node.test)


def flags_in(block: ir.Block) -> Iterator[str]:
    """``skip = True``."""
    for statement in block:
        if type(statement) is ir.Assign and type(statement.value) is ir.Constant:
            yield from (target.name for target in statement.targets if type(target) is ir.Name)


def worked_on(frame: Frame, environment: Environment, block: ir.Block) -> Tensor | None:
    """A device tensor that a block binds."""
    if not block:
        return None
    first, last = ir.unpack(block[0].at)[0], last_line(block)
    for name, value in environment.items():
        known = tensor_of(as_operand(value))
        if known is None or not known.live or known.certainty == 0:
            continue
        if first <= frame.bound_on(name) <= last:
            return known
    return None


@lru_cache(maxsize=8192)
def last_line(block: ir.Block) -> int:
    ends = [ir.unpack(statement.at)[2] for statement in block]
    ends += [last_line(inner) for statement in block for inner in blocks_of(statement) if inner]
    return max(ends, default=0)


def draws(frame: Frame, node: ir.Expr, depth: int = DEEPEST) -> bool:
    """Whether an expression asks a random generator of the host, through the names that it uses."""
    calls, names = parts_of(node)
    if any(is_draw(frame, call) for call in calls) or any(f"{name}{COIN}" in frame.env for name in names):
        return True
    if depth == 0:
        return False
    assigned = (assignment_of(frame, name) for name in names)
    return any(one is not None and draws(frame, one.value, depth - 1) for one in assigned)


def draws_one_of_many(frame: Frame, node: ir.Expr) -> bool:
    """The same of a number that is not one of a few: ``torch.randint(1, 4, ())`` gives as many graphs."""
    return draws(frame, node) and not any(is_among_few(call) for call in parts_of(node)[0])


def is_among_few(call: ir.Call) -> bool:
    """``randint(low=1, high=4)``, whose bounds are written out."""
    named = [value for name, value in call.keywords if name in ("low", "high")]
    bounds = [part.value for part in (*call.arguments[:2], *named) if type(part) is ir.Constant]
    numbers = [bound for bound in bounds if type(bound) is int]
    return called_name(call) == "randint" and bool(numbers) and numbers[-1] - (0, *numbers)[-2] <= FEW_SHAPES


def is_draw(frame: Frame, call: ir.Call) -> bool:
    function = call.function
    if not isinstance(function, (ir.Name, ir.Attribute)) or function.name not in draw_names():
        return False
    callee = frame.evaluate(function)
    on_host = not any(name == "device" for name, _ in call.keywords)
    return type(callee) is Namespace and callee.name in frameworks().names("draw") and on_host


@cache
def draw_names() -> frozenset[str]:
    """The last names of all that draw: few functions call one of them."""
    return frozenset(name.rpartition(".")[2] for name in frameworks().names("draw"))


@lru_cache(maxsize=8192)
def parts_of(node: ir.Expr) -> tuple[tuple[ir.Call, ...], tuple[str, ...]]:
    """The calls and the names in an expression."""
    return tuple(part for part in walk(node) if type(part) is ir.Call), tuple(names_in(node))
