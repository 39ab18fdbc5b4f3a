"""Calibrate: run the op table's probes and the rules' experiments here, and say where this device differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version

import msgspec

from xlalint.device.calibration.op_measurement import OpProbes
from xlalint.device.calibration.op_profile import OpsMeasured, measure_ops
from xlalint.device.calibration.rule_profile import measure_rule
from xlalint.device.worker.client import Worker
from xlalint.device.worker.guard import Guard
from xlalint.device.worker.protocol import Versions
from xlalint.findings import profile
from xlalint.findings.model import Device
from xlalint.findings.pages import Page
from xlalint.findings.profile import RuleProfile

_NO_OPS = OpsMeasured(0, (), (), ())
_RULE = 60
"""Steps of the ops that a rule takes the time of, roughly."""

Told = Callable[[float, str], None]
"""Told what share of the time is over, from 0 to 1, and what is being measured."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to calibrate."""

    ops: tuple[str, ...] | None
    """Names in the op table; None: all that the installed torch has; empty: none."""
    pages: tuple[Page, ...]
    """The pages of the rules."""
    seconds: float
    """What one op, or one run of a program, may take."""


class Calibration(msgspec.Struct, frozen=True):
    document: profile.Document
    ops: OpsMeasured


def calibrate(plan: Plan, told: Told, guard: Guard) -> Calibration:
    """Raises ``WorkerError`` where there is no device, and ``NotMeasurable`` where ops can't be measured.

    Ops and rules have a worker each: what torch's databases set when they are imported is not for the rules' programs.
    """
    ops = _NO_OPS
    of_rules = _RULE * len(plan.pages)
    of_ops = 0

    def told_of_ops(done: int, total: int, remark: str) -> None:
        nonlocal of_ops
        of_ops = total
        told(done / (total + of_rules), f"measuring {remark}: {done}/{total}")

    def told_of_rules(done: int, remark: str) -> None:
        share = (of_ops + _RULE * done) / (of_ops + of_rules)
        told(share, f"measuring rules: {done}/{len(plan.pages)}: {remark}")

    versions: Versions | None = None
    if plan.ops is None or plan.ops:
        with guard.worker() as worker:
            versions = worker.versions
            ops = measure_ops(OpProbes(worker, plan.seconds), plan.ops, told_of_ops)
    rules: list[RuleProfile] = []
    if plan.pages or versions is None:
        with guard.worker() as worker:
            versions = worker.versions
            rules = _measure_rules(plan, worker, told_of_rules)
    device = Device(versions.device, versions.torch, versions.torch_xla)
    return Calibration(_document(device, ops, rules), ops)


def _measure_rules(plan: Plan, worker: Worker, told: Callable[[int, str], None]) -> list[RuleProfile]:
    found = []
    for done, page in enumerate(plan.pages):
        told(done, page.code)
        found.append(measure_rule(page, worker, plan.seconds))
    return found


def _document(device: Device, ops: OpsMeasured, rules: Sequence[RuleProfile]) -> profile.Document:
    return profile.Document(
        schema_version=profile.SCHEMA_VERSION,
        xlalint=version("xlalint"),
        device=device,
        measured=profile.Measured(ops.measured, len(rules)),
        ops=ops.differing,
        new_ops=ops.new,
        rules=tuple(rule for rule in rules if rule.free_in or rule.differs),
    )
