"""The part of a profile that ops make: which rows of the op table are others on this device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from xlalint.device.calibration.op_measurement import OpProbes, Record, Records
from xlalint.knowledge.ops import (
    CONDITIONS,
    HandCondition,
    OpRow,
    load_ops,
    read_conditions,
    row_of,
    with_conditions,
)

Told = Callable[[int, int, str], None]
"""Told how much is done, of how much, and at what it works."""
_UNMEASURED = "unmeasured"


class OpsMeasured(msgspec.Struct, frozen=True):
    """What the ops of a calibration showed."""

    measured: int
    """Ops of which there is a row."""
    differing: tuple[OpRow, ...]
    """Rows of the table that are others here."""
    new: tuple[OpRow, ...]
    """Ops that cost here and that the table lacks."""
    failed: tuple[str, ...]
    """Ops that took too long, or could not be run at all: the table stands."""


def measure_ops(probes: OpProbes, names: Sequence[str] | None, told: Told) -> OpsMeasured:
    """Measure the ops ``names`` (None: all that the installed torch has) and compare them with the table."""
    keys = {name: probes.names.get(name, ()) for name in (probes.names if names is None else names)}
    subjects = [key for of_one in keys.values() for key in of_one]
    hand = [row for row in read_conditions(CONDITIONS) if keys.get(row.name)]
    total = 2 * len(subjects) + len(hand)
    lazy = probes.lazily(subjects, lambda done: told(done, total, "ops"))
    openxla = probes.under_openxla(lazy, lambda done: told(len(subjects) + done, total, "ops under openxla"))
    told(2 * len(subjects), total, "conditions of ops")
    holding = tuple(_holding(hand, probes))
    failed = [name for name, of_one in keys.items() if not of_one or any(_failed(lazy[key]) for key in of_one)]
    rows = {row.name: row for row in with_conditions(_rows(probes, lazy, openxla), holding) if row.name not in failed}
    known = {row.name: row for row in load_ops().rows}
    settled = [_settled(row, known.get(row.name)) for row in rows.values()]
    return OpsMeasured(
        measured=len(rows),
        differing=tuple(row for row in settled if row.name in known and row != known[row.name]),
        new=tuple(row for row in settled if row.name not in known and not row.free),
        failed=tuple(sorted({*failed, *(name for name in keys if name not in rows and name in known)})),
    )


def differences(row: OpRow) -> Iterator[str]:
    """In words, how a row is not the built-in one."""
    known = load_ops().function(row.name)
    if known is None or known.name != row.name:
        yield "the table lacks it"
        known = None
    sides = (
        ("forward", row.costs, row.condition, row.fallback, known and (known.costs, known.condition, known.fallback)),
        (
            "backward",
            row.backward_costs,
            row.backward_condition,
            row.backward_fallback,
            known and (known.backward_costs, known.backward_condition, known.backward_fallback),
        ),
    )
    for side, costs, condition, fallback, before in sides:
        if before is None or (costs, condition, fallback) != before:
            yield f"{side}: {_cost(costs, condition, fallback)}" + (f", was: {_cost(*before)}" if before else "")
    if known is not None:
        for cell in ("reads", "backward_reads", "parameters", "result", "data_shape", "openxla", "raises", "aliases"):
            mine, theirs = getattr(row, cell), getattr(known, cell)
            if mine != theirs:
                yield f"{cell}: {_shown(mine)}, was: {_shown(theirs)}"


def _holding(rows: Sequence[HandCondition], probes: OpProbes) -> Iterator[HandCondition]:
    """The conditions by hand that both of their probes bear out here. Without them what the samples say stands."""
    items = [(row.phase, text) for row in rows for text in (row.costs, row.free) if text]
    seen = dict(probes.expressions(list(dict.fromkeys(items))))
    for row in rows:
        costs, free = seen.get((row.phase, row.costs), {}), seen.get((row.phase, row.free), {})
        if _is_costly(costs) is not False and _is_costly(free) is not True:
            yield row


def _is_costly(record: Record) -> bool | None:
    """None where it was not measured: it failed, or there is no such probe."""
    return bool(record["reads"] or record["fallback"]) if "reads" in record else None


def _failed(record: Record) -> bool:
    return "failed" in record or "died" in record


def _rows(probes: OpProbes, lazy: Records, openxla: Records) -> Iterable[OpRow]:
    return map(row_of, probes.rows(lazy, openxla)) if lazy else ()


def _settled(row: OpRow, known: OpRow | None) -> OpRow:
    """A cell that could not be measured is no difference: what took too long under openxla, or crashed the CPU too."""
    if known is None:
        return row
    openxla = known.openxla if row.openxla == _UNMEASURED else row.openxla
    return msgspec.structs.replace(row, openxla=openxla, result=known.result if row.result == "?" else row.result)


def _cost(costs: str, condition: str, fallback: Sequence[str]) -> str:
    if costs == "never":
        return "free"
    what = f"falls back ({' '.join(fallback)})" if fallback else "reads the host"
    return what if costs == "always" else f"{what} where {condition}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value) or "none"
