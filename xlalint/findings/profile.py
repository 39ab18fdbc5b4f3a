"""Reads and writes device profiles: the differences of a user's device from the built-in tables.

``docs/calibrate.md`` is the page of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from xlalint.findings.errors import ConfigurationError, nearest, validation_message
from xlalint.findings.model import Device, Mode
from xlalint.findings.registry import listed
from xlalint.knowledge.conditions import UNSETTLED, ConditionError, parse
from xlalint.knowledge.ops import OpRow, OpTable, load_ops
from xlalint.sources.discover import shown
from xlalint.sources.read import read_bytes
from xlalint.sources.source import Unreadable

SCHEMA_VERSION = 1
_LIMIT_MB = 1000
_READS = ("never", "always", "sometimes")


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number of ops and rules that were measured."""

    ops: int
    rules: int


class Difference(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An experiment whose figures are not those of the rule's page."""

    mode: Mode
    experiment: str
    """Its label; empty for that without one."""
    claims: tuple[str, ...]
    """What does not hold, and what was counted instead; a line each."""


class RuleProfile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The modes in which a rule is free, and the experiments that differ."""

    code: str
    name: str
    free_in: tuple[Mode, ...] = ()
    """Modes in which nothing that it flags costs: it says nothing there."""
    differs: tuple[Difference, ...] = ()


class Document(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file."""

    schema_version: int
    xlalint: str
    """The version that wrote it."""
    device: Device
    measured: Measured
    ops: tuple[OpRow, ...] = ()
    """Rows of the op table that differ, whole: each takes the place of the built-in one."""
    new_ops: tuple[OpRow, ...] = ()
    """Ops that cost and that the table lacks: the device's torch has them."""
    rules: tuple[RuleProfile, ...] = ()


class Profile(msgspec.Struct, frozen=True):
    """What a run needs of the file ``path`` (as it is shown)."""

    path: str
    device: Device
    ops: OpTable
    free: Mapping[str, frozenset[Mode]]
    """By the code of a rule, the modes in which it says nothing."""

    def modes_left(self, code: str, modes: frozenset[Mode]) -> frozenset[Mode]:
        return modes - self.free.get(code, frozenset())


def load_profile(path: str, plugins: Sequence[str] = ()) -> Profile:
    """Read a profile; ``plugins`` have rules that it may name. Raises ``ConfigurationError``, one line."""
    origin = f"profile {shown(path)}"
    document = _document(_json_document(path, origin), origin)
    _refuse_unknown_rows(document, plugins, origin)
    for row in (*document.ops, *document.new_ops):
        _check(row, origin)
    return Profile(
        shown(path),
        document.device,
        load_ops().with_rows((*document.ops, *document.new_ops)),
        {rule.code: frozenset(rule.free_in) for rule in document.rules if rule.free_in},
    )


def encoded(document: Document) -> str:
    """The text of the file."""
    return json.dumps(msgspec.to_builtins(document), indent=2, ensure_ascii=False) + "\n"


def _json_document(path: str, origin: str) -> Mapping[str, Any]:
    try:
        data = read_bytes(Path(path), _LIMIT_MB)
    except Unreadable as error:
        raise ConfigurationError(f"{origin}: {error}") from error
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{origin}: is not valid UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{origin}: is no JSON: {error}") from error
    if not isinstance(found, dict) or "schema_version" not in found:
        raise ConfigurationError(f"{origin}: was not written by `xlalint calibrate`: it has no `schema_version`")
    if found["schema_version"] != SCHEMA_VERSION:
        other = json.dumps(found["schema_version"])[:20]
        raise ConfigurationError(
            f"{origin}: its schema version is {other}, and this xlalint reads {SCHEMA_VERSION}: calibrate again"
        )
    return found


def _document(found: Mapping[str, Any], origin: str) -> Document:
    try:
        return msgspec.convert(found, Document)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{origin}: {validation_message(str(error))}") from error


def _refuse_unknown_rows(document: Document, plugins: Sequence[str], origin: str) -> None:
    """Raises for ops and rules that are unknown here: a profile is used as a whole or not at all."""
    from importlib.metadata import version  # a tenth of a second that only who has a profile needs

    own = version("xlalint")
    by = f" (written by xlalint {document.xlalint}, this is {own}: calibrate again)" if document.xlalint != own else ""
    ops = {row.name for row in load_ops().rows}
    for row in document.ops:
        if row.name not in ops:
            raise ConfigurationError(f"{origin}: no op `{row.name}`{by or nearest(row.name, ops)}")
    codes = {rule.code for rule in listed(plugins)} if document.rules else set()
    for rule in document.rules:
        if rule.code not in codes:
            raise ConfigurationError(f"{origin}: no rule `{rule.code}`{by or nearest(rule.code, codes)}")


def _check(row: OpRow, origin: str) -> None:
    for cell, value in (("reads", row.reads), ("backward_reads", row.backward_reads)):
        if value not in _READS:
            raise ConfigurationError(f"{origin}: op `{row.name}`: `{cell}`: expected one of {', '.join(_READS)}")
    for cell, condition in (("condition", row.condition), ("backward_condition", row.backward_condition)):
        try:
            if condition not in ("", UNSETTLED):
                parse(condition)
        except ConditionError as error:
            raise ConfigurationError(f"{origin}: op `{row.name}`: `{cell}`: {error}") from error
