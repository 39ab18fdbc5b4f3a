"""Has the ops measured by children of the device worker, and gives the rows of the op table that they make.

No torch here: what is asked of a child is told by name, and what it says is plain data. Ops go in batches, for a
child pays for its device once; what crashes, hangs or is killed is tried again alone at the head of the next batch,
and is blamed if it dies there too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from xlalint.device.worker.client import Worker
from xlalint.device.worker.protocol import DYNAMO, Outcome, Request
from xlalint.findings.model import Mode

Record = Mapping[str, Any]
Records = dict[str, Record]
Told = Callable[[int], None]
"""Told how many subjects are done, after each batch."""

_SERVE = "xlalint.device.calibration.op_probes.service"
_BATCH = 40
_BATCH_OF_ITEMS = 3.0
"""A child is killed after so many times what one item may take; what it did not reach is left to the next."""
_DATA_BYTES = 16 << 30
"""These programs are our own: a limit that fails an op would stand in the table."""


def _to_nobody(done: int) -> None:
    pass


class NotMeasurable(Exception):
    """The ops can't be measured here. One line."""


class OpProbes:
    """The ops of the installed torch, measured by ``worker``; one item may take ``seconds``.

    Raises NotMeasurable where torch's databases can't be imported.
    """

    def __init__(self, worker: Worker, seconds: float = 90.0) -> None:
        self._worker = worker
        self._seconds = seconds
        self.names: Mapping[str, tuple[str, ...]] = {
            name: tuple(keys) for name, keys in self._one("names", None)["names"].items()
        }
        """Op → its subjects: each is one entry of a database."""

    def lazily(self, keys: Sequence[str], told: Told = _to_nobody) -> Records:
        """Forward and backward in lazy mode. Who crashes its process is measured case by case."""
        records: Records = {}
        for key, record in self._each("lazy", keys, told=told):
            records[key] = self._carefully(key) if "died" in record else record
        return records

    def under_openxla(self, lazy: Mapping[str, Record], told: Told = _to_nobody) -> Records:
        """Forward under ``torch.compile``, of the cases that tell the most."""
        chosen = {key: places for key, record in lazy.items() if (places := _worth(record))}
        items = [(key, lazy[key]["most"], places) for key, places in chosen.items()]
        records: Records = {}
        for (key, _, _), record in self._each("openxla", items, preload=DYNAMO, told=told):
            records[key] = record
        return records

    def rows(self, lazy: Mapping[str, Record], openxla: Mapping[str, Record]) -> list[list[str]]:
        """Rows of the table, as text, of what was measured."""
        found: list[list[str]] = self._one("rows", (lazy, openxla))["rows"]
        return found

    def expressions(self, items: Sequence[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Record]]:
        """What expressions cost; an item is (``forward`` or ``backward``, text)."""
        return self._each("probe", items)

    def _carefully(self, key: str) -> Record:
        """Each case by itself, of a subject that crashes."""
        ((_, known),) = self._each("cases", [key])
        record: dict[str, Any] = {"most": known.get("most", 0), "forward": [], "grad": []}
        record["parameters"] = known.get("parameters", "")
        cases = known.get("cases", [])
        items = [(key, case["grad"], case["place"]) for case in cases]
        for case, (_, told) in zip(cases, self._each("case", items), strict=True):
            if "died" in told or "failed" in told:
                told = {**_without_grad(case), "error": "Crash", "text": "", "during": "call"}
            if told:
                record["grad" if case["grad"] else "forward"].append(told)
        ((_, on_cpu),) = self._each("cpu", [key])
        return record if "died" in on_cpu else {**record, **on_cpu}

    def _one(self, work: str, item: object) -> Record:
        """The answer to a question that must have one."""
        outcome = self._run(work, [item], ())
        records = _records(outcome)
        if not records:
            raise NotMeasurable(f"the ops can't be measured: {_reason(outcome)}")
        if "failed" in records[0]:
            raise NotMeasurable(f"the ops can't be measured: {records[0]['failed']}")
        return records[0]

    def _each(
        self, work: str, items: Sequence[Any], preload: tuple[str, ...] = (), told: Told = _to_nobody
    ) -> Iterator[tuple[Any, Record]]:
        """(item, record) in order; the record of one that killed or stopped its child is ``{"died": how}``."""
        place = 0
        while place < len(items):
            outcome = self._run(work, items[place : place + _BATCH], preload)
            records = _records(outcome)
            if not records:
                records = [{"died": "hung" if outcome.failure and outcome.failure.type == "TimedOut" else "crashed"}]
            yield from zip(items[place:], records, strict=False)
            place += len(records)
            told(place)

    def _run(self, work: str, items: Iterable[object], preload: tuple[str, ...]) -> Outcome:
        asked = json.dumps(list(items))
        text = (
            f"import json\nfrom {_SERVE} import answer\n\n\n"
            f"def run(steps: int) -> None:\n    answer({work!r}, json.loads({asked!r}), {int(self._seconds)})\n"
        )
        whole = _BATCH_OF_ITEMS * self._seconds
        request = Request(
            text=text,
            steps=1,
            mode=Mode.LAZY,
            seconds=whole,
            cpu_seconds=int(8 * whole),
            data_bytes=_DATA_BYTES,
            network=self._worker.versions.device != "CPU",
            preload=(_SERVE, *preload),
        )
        return self._worker.run(request)


def _records(outcome: Outcome) -> list[Record]:
    """The whole lines: the last one may have been cut off."""
    return [json.loads(line) for line in outcome.left.split("\n")[:-1]]


def _reason(outcome: Outcome) -> str:
    return outcome.failure.message if outcome.failure else "no answer"


def _without_grad(case: Record) -> Record:
    return {"place": case["place"], "arguments": case["arguments"]}


def _worth(record: Record) -> dict[str, list[int]]:
    """The cases for openxla: the first that is free in lazy mode and the first that is not, each with a second."""
    ran = [case for case in record.get("forward", ()) if "error" not in case] or record.get("forward", ())
    chosen: dict[str, list[int]] = {}
    for case in ran:
        costly = bool(case.get("reads") or case.get("fallback") or case.get("error"))
        chosen.setdefault("costly" if costly else "free", []).append(int(case["place"]))
    return {name: [places[0], places[-1]] if len(places) > 1 else places for name, places in chosen.items()}
