"""The op table: what each torch op costs on XLA, as measured. Read from ``ops.csv`` and ``op_conditions.csv``.

``ops.csv`` is written by ``python -m tools.measure_ops`` and names the versions and the back end it was measured
on. ``op_conditions.csv`` is kept by hand; each of its rows has a probe that the device tests run, and it wins.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from xlalint.knowledge.conditions import UNSETTLED, Argument, constant, decide, parse

TABLE = Path(__file__).with_name("ops.csv")
CONDITIONS = Path(__file__).with_name("op_conditions.csv")
COLUMNS = (
    "name",
    "method",
    "aliases",
    "parameters",
    "result",
    "reads",
    "condition",
    "fallback",
    "backward_reads",
    "backward_condition",
    "backward_fallback",
    "data_shape",
    "openxla",
    "raises",
)
HEADER = ("torch", "torch_xla", "device", "sha256")
CONDITION_COLUMNS = ("name", "phase", "condition", "fallback", "costs", "free", "open")
_TENSOR = "torch.Tensor."


class OpTableError(ValueError):
    """A table that can't be read; the message names file and line."""


class OpRow(msgspec.Struct, frozen=True):
    """One op. Conditions are texts of ``xlalint.knowledge.conditions``; empty: it always does what the row says."""

    name: str
    """Dotted, as users write it: ``torch.addmm``, ``torch.nn.functional.one_hot``, ``torch.Tensor.item``."""
    method: bool
    """Whether tensors have it as a method too."""
    aliases: tuple[str, ...]
    parameters: str
    """Names parted by spaces, ``=default`` where there is one; a class's are those of its constructor (conditions
    name those of its call ``call.NAME``)."""
    result: str
    """``same`` (what the tensor arguments promote to), ``bool``, ``int``, ``float``, ``complex``; ``+`` joins the
    members of a tuple, ``list:`` is a list of unknown length, ``/`` parts alternatives, ``py-…`` is a Python value,
    ``none`` nothing, ``?`` not known."""
    reads: str
    """Whether the forward call moves data to the host: ``never``, ``always``, ``sometimes``."""
    condition: str
    fallback: tuple[str, ...]
    """The ``aten`` ops that run on the CPU instead of the device, forward."""
    backward_reads: str
    backward_condition: str
    backward_fallback: tuple[str, ...]
    data_shape: bool
    """The shape of the result depends on the values of the inputs."""
    openxla: str
    """Forward under ``torch.compile(backend="openxla")``: ``ok``, ``fallback``, ``reads``, ``break``, ``raises`` or
    ``unmeasured``; where an op costs sometimes in lazy mode, of a free call and, after ``/``, of a costly one."""
    raises: str
    """The exception's type in lazy mode, ``sometimes TYPE``, or nothing."""
    open: str = ""
    """What a call is taken for that leaves the condition open: ``likely`` to cost forward where most of what may be
    given does, else only possibly."""
    backward_open: str = ""

    @property
    def costs(self) -> str:
        """``never``, ``always`` or ``sometimes``: whether the forward call reads or falls back."""
        return _when(self.reads, self.fallback, self.condition)

    @property
    def free(self) -> bool:
        """It never costs, forward or backward."""
        return self.reads == self.backward_reads == "never" and not self.fallback and not self.backward_fallback

    @property
    def backward_costs(self) -> str:
        return _when(self.backward_reads, self.backward_fallback, self.backward_condition)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """In positional order; the first is the receiver of the method form. ``*`` starts keyword-only ones."""
        return tuple(word.partition("=")[0] for word in self.parameters.split())

    @property
    def defaults(self) -> dict[str, object]:
        pairs = (word.partition("=") for word in self.parameters.split())
        return {name: constant(default) for name, found, default in pairs if found}

    def costs_for(self, arguments: Mapping[str, Argument]) -> bool | None:
        """Whether a call with these arguments (by parameter name) costs forward; None if it can't be told."""
        return _decided(self.costs, self.condition, arguments, self.defaults)

    def is_likely_for(self, arguments: Mapping[str, Argument]) -> bool:
        """Whether a call that leaves the condition open is likely to cost forward."""
        return _is_likely(self.open, self.condition, arguments, self.defaults)

    def is_backward_likely_for(self, arguments: Mapping[str, Argument]) -> bool:
        """The same for its backward."""
        return _is_likely(self.backward_open, self.backward_condition, arguments, self.defaults)

    def backward_costs_for(self, arguments: Mapping[str, Argument]) -> bool | None:
        """The same for the backward of the call."""
        return _decided(self.backward_costs, self.backward_condition, arguments, self.defaults)


def _when(reads: str, fallback: tuple[str, ...], condition: str) -> str:
    if reads == "never" and not fallback:
        return "never"
    return "sometimes" if condition else "always"


def _decided(
    costs: str, condition: str, arguments: Mapping[str, Argument], defaults: Mapping[str, object]
) -> bool | None:
    if costs != "sometimes":
        return costs == "always"
    return None if condition == UNSETTLED else decide(parse(condition), arguments, defaults)


def _is_likely(
    taken_for: str, condition: str, arguments: Mapping[str, Argument], defaults: Mapping[str, object]
) -> bool:
    """Only where it is a value that is not known: of shapes that are not, most cost nothing."""
    if taken_for != "likely" or condition in ("", UNSETTLED):
        return False
    by_value = tuple(group for group in parse(condition) if all(atom.kind in _OF_VALUES for atom in group))
    return decide(by_value, arguments, defaults) is None


_OF_VALUES = frozenset({"missing", "nondefault", "value"})


class HandCondition(msgspec.Struct, frozen=True):
    """A row of ``op_conditions.csv``: ``condition`` may also be ``always`` or ``never``."""

    name: str
    phase: str
    """``forward`` or ``backward``."""
    condition: str
    fallback: tuple[str, ...]
    """What falls back where it costs; none where it is a read only."""
    costs: str
    """A Python expression that costs on the device, empty for ``never``."""
    free: str
    """One that does not, empty for ``always`` where nothing equivalent is free."""
    open: str
    """``likely`` where most values cost of those that an argument may have, and it is not known which it has."""


class OpTable:
    """All rows, by name, alias and method."""

    def __init__(
        self, header: Mapping[str, str], rows: tuple[OpRow, ...], newly_costly: frozenset[str] = frozenset()
    ) -> None:
        self.newly_costly = newly_costly
        """Names of rows that cost on a device, of ops that are free where the table was measured."""
        self.header = dict(header)
        """``torch``, ``torch_xla``, ``device``: what it was measured on; ``sha256`` of what stands below."""
        self.rows = rows
        self._functions: dict[str, OpRow] = {}
        self._methods: dict[str, OpRow] = {}
        for row in rows:
            for name in row.aliases:
                self._functions.setdefault(name, row)
                if name.startswith(_TENSOR):
                    self._methods.setdefault(name[len(_TENSOR) :], row)
        for row in rows:
            self._functions[row.name] = row
            if row.method:
                self._methods[row.name.rpartition(".")[2]] = row
        self.names: frozenset[str] = frozenset(self._functions)
        """All dotted names, aliases included."""
        self.methods: frozenset[str] = frozenset(self._methods)
        """All names of tensor methods, without their in-place forms."""

    def with_rows(self, rows: Sequence[OpRow]) -> OpTable:
        """The same with ``rows`` in the place of those of the same name; those that it lacks are added."""
        by_name = {row.name: row for row in self.rows}
        newly = {row.name for row in rows if not row.free and (row.name not in by_name or by_name[row.name].free)}
        by_name |= {row.name: row for row in rows}
        return OpTable(self.header, tuple(by_name.values()), frozenset(newly))

    def function(self, name: str) -> OpRow | None:
        """The row of a dotted name; an in-place form (``torch.relu_``) has the row of the other."""
        return self._functions.get(name) or (self._functions.get(name[:-1]) if name.endswith("_") else None)

    def method(self, name: str) -> OpRow | None:
        """The row of a tensor method; an in-place form (``add_``) has the row of the other."""
        row = self._methods.get(name)
        if row is None and name.endswith("_") and not name.endswith("__"):
            row = self._methods.get(name[:-1])
        return row


@functools.cache
def load_ops() -> OpTable:
    """The table that comes with the linter, read once. Raises ``OpTableError``."""
    header, rows = read_table(TABLE)
    return OpTable(header, with_conditions(rows, read_conditions(CONDITIONS)))


def with_conditions(rows: Iterable[OpRow], conditions: Iterable[HandCondition]) -> tuple[OpRow, ...]:
    """Measured rows with what was settled by hand in its place."""
    hand = {(row.name, row.phase): row for row in conditions}
    return tuple(_with_hand(row, hand) for row in rows)


def read_table(path: Path) -> tuple[dict[str, str], tuple[OpRow, ...]]:
    """Header (from the comment lines) and rows as measured, without the hand conditions."""
    comments, cells = _cells(path, COLUMNS)
    header = dict(line.split(": ", 1) for line in comments if line.partition(": ")[0] in HEADER)
    return header, tuple(row_of(cell) for cell in cells)


def read_conditions(path: Path) -> tuple[HandCondition, ...]:
    rows = _cells(path, CONDITION_COLUMNS)[1]
    return tuple(
        HandCondition(name, phase, condition, tuple(fallback.split()), costs, free, open_)
        for name, phase, condition, fallback, costs, free, open_ in rows
    )


def digest(body: str) -> str:
    """The checksum in the header: of all lines that are no comments, so that no cell changes by hand."""
    import hashlib  # only the tool and the tests check it; loading the table must stay cheap

    lines = [line for line in body.splitlines(keepends=True) if not line.startswith("#")]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _cells(path: Path, columns: tuple[str, ...]) -> tuple[list[str], list[list[str]]]:
    """Comment lines and the rows below the head."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comments = [line[1:].strip() for line in lines if line.startswith("#")]
    reader = csv.reader(line for line in lines if not line.startswith("#"))
    if tuple(next(reader, ())) != columns:
        raise OpTableError(f"{path.name}: the columns are not {', '.join(columns)}")
    rows = list(reader)
    for row in rows:
        if len(row) != len(columns):
            raise OpTableError(f"{path.name}: {len(row)} cells, not {len(columns)}, in the row of {row[:1]}")
    return comments, rows


def row_of(cells: Sequence[str]) -> OpRow:
    """A row from its cells, in the order of ``COLUMNS``."""
    return OpRow(
        cells[0],
        cells[1] == "yes",
        tuple(cells[2].split()),
        cells[3],
        cells[4],
        cells[5],
        cells[6],
        tuple(cells[7].split()),
        cells[8],
        cells[9],
        tuple(cells[10].split()),
        cells[11] == "yes",
        cells[12],
        cells[13],
    )


def _with_hand(row: OpRow, hand: Mapping[tuple[str, str], HandCondition]) -> OpRow:
    forward, backward = hand.get((row.name, "forward")), hand.get((row.name, "backward"))
    if forward is not None:
        reads, condition, fallback = _applied(forward, row.reads, row.fallback)
        row = msgspec.structs.replace(row, reads=reads, condition=condition, fallback=fallback, open=forward.open)
    if backward is not None:
        reads, condition, fallback = _applied(backward, row.backward_reads, row.backward_fallback)
        row = msgspec.structs.replace(
            row,
            backward_reads=reads,
            backward_condition=condition,
            backward_fallback=fallback,
            backward_open=backward.open,
        )
    return row


def _applied(hand: HandCondition, reads: str, fallback: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]]:
    """Fallbacks are those that were measured and those that the hand row names."""
    if hand.condition == "never":
        return "never", "", ()
    names = tuple(sorted({*fallback, *hand.fallback}))
    if hand.condition == "always":
        return "always", "", names
    return "sometimes", hand.condition, names
