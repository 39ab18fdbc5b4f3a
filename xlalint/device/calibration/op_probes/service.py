"""What a child of the worker is asked to measure: named works, an item each, a record each.

A record is written as soon as it is there, one line of JSON to the file that the worker reads at the end of the
child. So an item that crashes or hangs harms itself only: the records before it stand, and it is the next one.
"""

from __future__ import annotations

import json
import os
import signal
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from xlalint.device.calibration.op_probes.measurement import FEW, lazily, on_cpu, one_case, probe, under_openxla
from xlalint.device.calibration.op_probes.subjects import all_subjects
from xlalint.device.calibration.op_probes.table import rows
from xlalint.device.worker.protocol import LEFT

SUBJECTS = MappingProxyType(all_subjects())
Record = dict[str, Any]


class TookTooLong(BaseException):
    """Raised in the midst of an item by the alarm. No ``Exception``: that would stand for what an op raises."""


def answer(work: str, items: list[Any], seconds: int) -> None:
    """Do ``work`` for each of ``items``; one that takes more than ``seconds`` is interrupted."""
    warnings.filterwarnings("ignore")
    done = WORKS[work]
    out = os.open(LEFT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    signal.signal(signal.SIGALRM, _interrupt)
    for item in items:
        signal.alarm(seconds)
        try:
            record = done(item)
        except BaseException as error:  # an op may raise anything
            record = {"failed": f"{type(error).__name__}: {str(error)[:200]}"}
        signal.alarm(0)
        os.write(out, json.dumps(record).encode() + b"\n")
    os.close(out)


def _interrupt(_signal: int, _frame: object) -> None:
    raise TookTooLong


def _names(_: Any) -> Record:
    """The subjects of each op."""
    found: dict[str, list[str]] = {}
    for key, subject in SUBJECTS.items():
        found.setdefault(subject.name, []).append(key)
    return {"names": found}


def _lazily(key: str) -> Record:
    return lazily(SUBJECTS[key])


def _cases(key: str) -> Record:
    """The first cases, to be run one by one, for a subject that crashes its process."""
    subject = SUBJECTS[key]
    cases = [
        {"grad": grad, "place": place, "arguments": dict(case.arguments)}
        for grad in ((False, True) if subject.differentiable else (False,))
        for place, case in enumerate(subject.cases(FEW, grad)[0])
    ]
    used = subject.cases(FEW, False)[1]
    return {"most": FEW, "cases": cases, "parameters": max((one.text() for one in used), key=len, default="")}


def _one_case(item: tuple[str, bool, int]) -> Record:
    key, grad, place = item
    return one_case(SUBJECTS[key], grad, place)


def _on_cpu(key: str) -> Record:
    return on_cpu(SUBJECTS[key])


def _under_openxla(item: tuple[str, int, Mapping[str, list[int]]]) -> Record:
    key, most, places = item
    return under_openxla(SUBJECTS[key], most, places)


def _probe(item: tuple[str, str]) -> Record:
    phase, text = item
    return probe(text, phase)


def _rows(item: tuple[Mapping[str, Record], Mapping[str, Record]]) -> Record:
    lazy, openxla = item
    return {"rows": rows(SUBJECTS, lazy, openxla)}


WORKS: Mapping[str, Callable[[Any], Record]] = MappingProxyType(
    {
        "names": _names,
        "lazy": _lazily,
        "cases": _cases,
        "case": _one_case,
        "cpu": _on_cpu,
        "openxla": _under_openxla,
        "probe": _probe,
        "rows": _rows,
    }
)
