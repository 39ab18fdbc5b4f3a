"""``python -m tools.measure_ops``: measure the ops on an XLA device and write the table.

The raw records go to a scratch folder, one JSON line an op and phase; a run that was stopped goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from xlalint.device.calibration.op_measurement import OpProbes, Records
from xlalint.device.worker.client import Worker
from xlalint.device.worker.protocol import Versions
from xlalint.knowledge.ops import COLUMNS, digest

_STRETCH = 80
"""Subjects between two writes to the scratch folder."""


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
    commands.add_parser("probe", help="measure expressions: lines PHASE<tab>EXPRESSION on standard input")
    given = parser.parse_args(arguments)
    with Worker() as worker:
        probes = OpProbes(worker)
        if given.command == "run":
            _run(probes, given.phase, given.scratch)
        elif given.command == "write":
            _write(probes, worker.versions, given.scratch, given.table)
        elif given.command == "again":
            _again(probes, given.names)
        else:
            _probe(probes, [line.rstrip("\n").partition("\t") for line in sys.stdin if line.strip()])
    return 0


def _records(path: Path) -> Records:
    if not path.exists():
        return {}
    return dict(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("]"))


def _run(probes: OpProbes, phase: str, scratch: Path) -> None:
    scratch.mkdir(parents=True, exist_ok=True)
    lazy, done = (_records(scratch / f"{name}.jsonl") for name in ("lazy", phase))
    left = [key for keys in probes.names.values() for key in keys if key not in done]
    if phase == "openxla":
        left = [key for key in left if key in lazy]
    start = time.monotonic()
    with (scratch / f"{phase}.jsonl").open("a", encoding="utf-8") as out:
        for first in range(0, len(left), _STRETCH):
            keys = left[first : first + _STRETCH]
            measured = (
                probes.lazily(keys) if phase == "lazy" else probes.under_openxla({key: lazy[key] for key in keys})
            )
            out.writelines(json.dumps([key, record]) + "\n" for key, record in measured.items())
            out.flush()
            print(f"{first + len(keys)}/{len(left)} {time.monotonic() - start:.0f}s", flush=True)


def _write(probes: OpProbes, versions: Versions, scratch: Path, table: Path) -> None:
    found = probes.rows(_records(scratch / "lazy.jsonl"), _records(scratch / "openxla.jsonl"))
    body = _text([",".join(COLUMNS)], found)
    table.write_text(_text([*_header(versions), f"# sha256: {digest(body)}"], []) + body, encoding="utf-8")
    print(f"{len(found)} rows")


def _header(versions: Versions) -> list[str]:
    told = "# Written by `python -m tools.measure_ops write`; not to be edited. Columns: xlalint/knowledge/ops.py."
    named = {"torch": versions.torch, "torch_xla": versions.torch_xla, "device": f"PJRT {versions.device}"}
    return [told, *(f"# {name}: {text}" for name, text in named.items())]


def _text(head: Iterable[str], found: Iterable[Sequence[str]]) -> str:
    return "\n".join([*head, *(",".join(cells) for cells in found)]) + "\n"


def _again(probes: OpProbes, names: Sequence[str]) -> None:
    lazy = probes.lazily([key for name in names for key in probes.names.get(name, ())])
    print(_text([], probes.rows(lazy, probes.under_openxla(lazy))), end="")


def _probe(probes: OpProbes, lines: Sequence[tuple[str, str, str]]) -> None:
    for (phase, text), record in probes.expressions([(phase, text) for phase, _, text in lines]):
        print(json.dumps([phase, text, record]))


if __name__ == "__main__":
    sys.exit(main())
