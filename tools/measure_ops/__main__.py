"""``python -m tools.measure_ops``: measure the ops on an XLA device and write the table.

The raw records go to a scratch folder, one JSON line an op and phase; a run that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tools.measure_ops.subjects import Subject

os.environ.setdefault("PJRT_DEVICE", "CPU")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="measure_ops", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure what the scratch folder lacks")
    run.add_argument("phase", choices=("lazy", "openxla"))
    run.add_argument("scratch", type=Path)
    write = commands.add_parser("write", help="write the table from the scratch folder")
    write.add_argument("scratch", type=Path)
    write.add_argument("table", type=Path)
    again = commands.add_parser("again", help="measure the named rows anew and print them, as in the table")
    again.add_argument("names", nargs="+")
    probes = commands.add_parser("probe", help="measure expressions: lines PHASE<tab>EXPRESSION on standard input")
    given = parser.parse_args(arguments)
    if given.command == "run":
        return _run(given.phase, given.scratch)
    if given.command == "write":
        return _write(given.scratch, given.table)
    if given.command == "again":
        return _again(given.names)
    assert probes is not None
    return _probe([line.rstrip("\n").partition("\t") for line in sys.stdin if line.strip()])


def _prepare() -> None:
    """Import everything that children need; touch no device."""
    import warnings

    warnings.filterwarnings("ignore")
    import torch

    torch.set_num_threads(1)
    import tools.measure_ops.measure
    import tools.measure_ops.table  # noqa: F401


def _records(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    return dict(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("]"))


def _run(phase: str, scratch: Path) -> int:
    _prepare()
    from tools.measure_ops.measure import lazily, under_openxla
    from tools.measure_ops.subjects import all_subjects

    scratch.mkdir(parents=True, exist_ok=True)
    subjects = all_subjects()
    lazy = _records(scratch / "lazy.jsonl")
    done = _records(scratch / f"{phase}.jsonl")
    items = [key for key in subjects if key not in done]
    if phase == "lazy":
        crashed = _measure(items, lambda key: lazily(subjects[key]), scratch / "lazy.jsonl")
        with (scratch / "lazy.jsonl").open("a", encoding="utf-8") as out:
            for key in crashed:
                out.write(json.dumps([key, _carefully(subjects[key])]) + "\n")
    else:
        chosen = {key: _worth(lazy[key]) for key in items if key in lazy}
        items = [key for key in items if chosen.get(key)]
        _measure(
            items, lambda key: under_openxla(subjects[key], lazy[key]["most"], chosen[key]), scratch / "openxla.jsonl"
        )
    return 0


def _worth(record: Mapping[str, Any]) -> dict[str, list[int]]:
    """The cases for openxla: the first that is free in lazy mode and the first that is not, each with a second."""
    ran = [case for case in record.get("forward", ()) if "error" not in case] or record.get("forward", ())
    chosen: dict[str, list[int]] = {}
    for case in ran:
        costly = bool(case.get("reads") or case.get("fallback") or case.get("error"))
        chosen.setdefault("costly" if costly else "free", []).append(int(case["place"]))
    return {name: [places[0], places[-1]] if len(places) > 1 else places for name, places in chosen.items()}


def _carefully(subject: Subject) -> dict[str, Any]:
    """Each case in a process of its own, for a subject that crashes."""
    from tools.measure_ops.measure import FEW, assembled, case_by_case, on_cpu, one_case
    from tools.measure_ops.worker import in_children

    def run(item: str) -> dict[str, Any]:
        grad, place = item.split()
        return one_case(subject, grad == "True", int(place)) if place != "cpu" else on_cpu(subject)

    record: dict[str, Any] = {"most": FEW, "forward": [], "grad": [], "parameters": ""}
    items = [f"{grad} {place}" for grad, place in case_by_case(subject)]
    for item, told in in_children(items, run, batch=1):
        grad, place = item.split()
        if case := assembled(subject, grad == "True", int(place), told):
            record["grad" if grad == "True" else "forward"].append(case)
    record["parameters"] = max((one.text() for one in subject.cases(FEW, False)[1]), key=len, default="")
    for _, told in in_children(["False cpu"], run):
        record |= {} if "died" in told else told
    return record


def _measure(items: Sequence[str], work: Callable[[str], dict[str, Any]], sink: Path) -> list[str]:
    """Writes the records to ``sink``; returns the items that killed their process."""
    from tools.measure_ops.worker import in_children

    start = time.monotonic()
    crashed: list[str] = []
    with sink.open("a", encoding="utf-8") as out:
        for number, (key, record) in enumerate(in_children(items, work), 1):
            out.write(json.dumps([key, record]) + "\n")
            out.flush()
            crashed += [key] if "died" in record else []
            if number % 20 == 0 or "died" in record or "failed" in record:
                note = record.get("died") or record.get("failed") or ""
                print(f"{number}/{len(items)} {time.monotonic() - start:.0f}s {key} {note}", flush=True)
    return crashed


def _write(scratch: Path, table: Path) -> int:
    _prepare()
    from tools.measure_ops.subjects import all_subjects
    from tools.measure_ops.table import rows
    from xlalint.knowledge.ops import COLUMNS, digest

    found = rows(all_subjects(), _records(scratch / "lazy.jsonl"), _records(scratch / "openxla.jsonl"))
    body = _text([",".join(COLUMNS)], found)
    table.write_text(_text([*_header(), f"# sha256: {digest(body)}"], []) + body, encoding="utf-8")
    print(f"{len(found)} rows")
    return 0


def _header() -> list[str]:
    versions = {package: importlib.metadata.version(package) for package in ("torch", "torch_xla")}
    told = "# Written by `python -m tools.measure_ops write`; not to be edited. Columns: xlalint/knowledge/ops.py."
    device = f"# device: PJRT {os.environ['PJRT_DEVICE']}"
    return [told, *(f"# {name}: {version.partition('+')[0]}" for name, version in versions.items()), device]


def _text(head: Iterable[str], found: Iterable[Sequence[str]]) -> str:
    return "\n".join([*head, *(",".join(cells) for cells in found)]) + "\n"


def _again(names: Sequence[str]) -> int:
    _prepare()
    from tools.measure_ops.measure import lazily, under_openxla
    from tools.measure_ops.subjects import all_subjects
    from tools.measure_ops.table import rows
    from tools.measure_ops.worker import in_children

    subjects = {key: one for key, one in all_subjects().items() if one.name in names}
    lazy = dict(in_children(list(subjects), lambda key: lazily(subjects[key])))
    lazy |= {key: _carefully(subjects[key]) for key, record in lazy.items() if "died" in record}
    chosen = {key: places for key, record in lazy.items() if (places := _worth(record))}
    openxla = dict(in_children(list(chosen), lambda key: under_openxla(subjects[key], lazy[key]["most"], chosen[key])))
    print(_text([], rows(subjects, lazy, openxla)), end="")
    return 0


def _probe(lines: Sequence[tuple[str, str, str]]) -> int:
    _prepare()
    from tools.measure_ops.measure import probe
    from tools.measure_ops.worker import in_children

    items = [f"{phase}\t{text}" for phase, _, text in lines]
    for item, record in in_children(items, lambda item: probe(*reversed(item.split("\t", 1)))):
        print(json.dumps([*item.split("\t", 1), record]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
