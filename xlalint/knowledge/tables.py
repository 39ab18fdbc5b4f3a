"""Reads the hand-written tables, once per process: results of ops, frameworks, guards.

Each is a csv file with comment lines (``#``) and a header; no cell holds a comma but the last.
"""

from __future__ import annotations

import csv
import functools
from pathlib import Path

import msgspec

FOLDER = Path(__file__).parent


class Result(msgspec.Struct, frozen=True):
    """What an op gives: ``dtype`` where the op decides it, else empty; ``shape`` how it follows from the operand."""

    dtype: str
    shape: str


NOTHING: frozenset[str] = frozenset()


class Frameworks(msgspec.Struct, frozen=True):
    """Rows of ``frameworks.csv`` by kind: dotted name → what it holds."""

    by_kind: dict[str, dict[str, str]]
    names_by_kind: dict[str, frozenset[str]]
    names_of_calls: frozenset[str]
    """All names, of whatever kind."""

    def get(self, kind: str, name: str) -> str | None:
        return self.by_kind.get(kind, {}).get(name)

    def names(self, kind: str) -> frozenset[str]:
        return self.names_by_kind.get(kind, NOTHING)


class Guards(msgspec.Struct, frozen=True):
    """Tests whose outcome on XLA is known: by call, attribute, comparison or flag → True, False or None."""

    calls: dict[str, bool | None]
    attributes: dict[str, bool | None]
    compares: dict[str, bool | None]
    flags: dict[str, bool | None]
    """Attributes that a project names after the device that it runs on, whatever object holds them."""
    instances: dict[str, bool | None]
    """Classes, by their last name."""


def rows(name: str, columns: int) -> list[list[str]]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [line.split(",", columns - 1) for line in lines[1:]]


@functools.cache
def results() -> dict[str, Result]:
    return {name: Result(dtype, shape) for name, dtype, shape in rows("results.csv", 3)}


@functools.cache
def frameworks() -> Frameworks:
    by_kind: dict[str, dict[str, str]] = {}
    for kind, name, holds, *_ in rows("frameworks.csv", 4):
        by_kind.setdefault(kind, {})[name] = holds
    names = {kind: frozenset(found) for kind, found in by_kind.items()}
    return Frameworks(by_kind, names, NOTHING.union(*names.values()))


@functools.cache
def cuda_packages() -> frozenset[str]:
    """Packages that run on GPUs only."""
    return frozenset(name for name, _ in rows("cuda_packages.csv", 2))


@functools.cache
def own_examples() -> frozenset[str]:
    """The package's own examples, by the SHA-256 of their text."""
    return frozenset(digest for digest, _ in rows("own_examples.csv", 2))


@functools.cache
def lowerings() -> dict[str, frozenset[str]]:
    """The devices on which ops are lowered that fall back on the CPU device."""
    return {op: frozenset(devices.split()) for op, devices, _ in rows("lowerings.csv", 3)}


@functools.cache
def guards() -> Guards:
    forms = ("call", "attribute", "compare", "flag", "isinstance")
    tables: dict[str, dict[str, bool | None]] = {form: {} for form in forms}
    for name, form, value, *_ in rows("guards.csv", 5):
        key = name.rpartition(".")[2] if form == "isinstance" else name
        tables[form][key] = {"true": True, "false": False}.get(value)
    return Guards(*(tables[form] for form in forms))


class Restriction(msgspec.Struct, frozen=True):
    """A row of ``unsupported.csv``: what an API does on XLA where its condition holds."""

    name: str
    condition: str
    positions: dict[str, int]
    effect: str
    outcome: str
    exception: str
    remark: str
    fix: str


@functools.cache
def restrictions() -> dict[str, tuple[Restriction, ...]]:
    found: dict[str, list[Restriction]] = {}
    with (FOLDER / "unsupported.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["name"], []).append(
                Restriction(
                    row["name"],
                    row["condition"],
                    positions_in(row["positions"]),
                    row["effect"],
                    row["outcome"],
                    row["exception"],
                    row["remark"],
                    row["fix"],
                )
            )
    return {name: tuple(rows) for name, rows in found.items()}


class CostlyCall(msgspec.Struct, frozen=True):
    """A row of ``calls.csv``: what a call of a library costs where its condition holds."""

    name: str
    condition: str
    positions: dict[str, int]
    operand: str
    """The parameter that has to be a device tensor; ``*`` any, ``in NAME`` one that holds some, or nothing."""
    unless: frozenset[str]
    """Functions that turn it off for the whole process, where the program calls one of them."""
    chosen: bool
    """Whether a test around the call means that it is wanted, or made seldom: no more is said of it then."""
    effect: str
    detail: str
    fix: str


@functools.cache
def costly_calls() -> dict[str, tuple[CostlyCall, ...]]:
    """By name; of the rows of one name the first that holds counts."""
    found: dict[str, list[CostlyCall]] = {}
    with (FOLDER / "calls.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["name"], []).append(
                CostlyCall(
                    row["name"],
                    row["condition"],
                    positions_in(row["positions"]),
                    row["operand"],
                    frozenset(row["unless"].split()),
                    row["chosen"] == "behind a test",
                    row["effect"],
                    row["detail"],
                    row["fix"],
                )
            )
    return {name: tuple(rows) for name, rows in found.items()}


def positions_in(text: str) -> dict[str, int]:
    """``device=0 dtype=1``: which positional argument a parameter is."""
    return {name: int(position) for name, _, position in (word.partition("=") for word in text.split())}
