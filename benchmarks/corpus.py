"""Findings on pinned versions of ten packages: which are new and which are gone since they were last written down.

    pip install --no-deps --target SITE -r benchmarks/corpus-requirements.txt
    python benchmarks/corpus.py --site SITE                 # the difference to corpus.txt; exit code 1 if there is any
        --write                     writes what is found to corpus.txt, which is tracked
        --read N [--rule CODE]      prints N findings drawn at random (--seed) with their code, for a human to judge
        --package NAME              this package only; may be given more than once

A package of another version than the pinned one is passed over with a word, and so is one that is not there. Each is
linted apart, in a folder in which all of them stand: imports between them are followed, so where one is absent, what is
found in those that import it may differ too.

A line of ``corpus.txt`` is a finding: rule, first letter of the certainty, line, fingerprint; above it stands the file.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from listing import TRACKED, Entry, differences, pinned, read, written
from running import Failed, executable, run

AROUND = 4
"""Lines of code shown above and below a finding."""


@dataclass(frozen=True)
class Package:
    """A pinned distribution and the folder in which its modules lie."""

    name: str
    version: str
    folder: str


class Absent(Exception):
    """A package that can't be compared. The message says why."""


def packages(versions: Mapping[str, str], site: Path) -> Iterator[Package]:
    """Those that are there as they are pinned; of the others it is said why not."""
    for name, version in versions.items():
        try:
            yield package(name, version, site)
        except Absent as absent:
            print(f"{name}: passed over, {absent}")


def package(name: str, version: str, site: Path) -> Package:
    found = list(importlib.metadata.distributions(name=name, path=[str(site)]))
    if not found:
        raise Absent("not there")
    if found[0].version != version:
        raise Absent(f"is {found[0].version}, not {version}")
    tops = Counter(file.parts[0] for file in found[0].files or () if file.suffix == ".py" and len(file.parts) > 1)
    return Package(name, version, tops.most_common(1)[0][0])


@contextmanager
def laid_out(packages: Iterable[Package], site: Path) -> Iterator[Path]:
    """A folder with the packages alone: what is found depends on neither the name nor the rest of the site folder."""
    with tempfile.TemporaryDirectory() as folder:
        for one in packages:
            Path(folder, one.folder).symlink_to(site / one.folder, target_is_directory=True)
        yield Path(folder)


def findings_in(chosen: Package, laid: Path, linter: str) -> list[Entry]:
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "findings.json"
        command = [linter, "check", "--no-cache", "--isolated", "--output-format", "json", "--output", str(output)]
        linted = run([*command, chosen.folder], cwd=laid)
        if not output.exists():
            raise Failed(f"no findings from the linter: {linted.errors[-500:].strip()}")
        rows = json.loads(output.read_text("utf-8"))["findings"]
    return sorted(map(entry, rows))


def entry(row: Mapping[str, Any]) -> Entry:
    why = tuple(f"{reason['path']}:{reason['line']} {reason['text']}" for reason in row["why"])
    of_it = (row["path"], row["line"], row["code"], row["certainty"], row["fingerprint"], row["message"])
    return Entry(*of_it, why)


def framed(one: Entry, site: Path) -> str:
    """A finding with its message, its reasons and the lines around it."""
    lines = (site / one.path).read_text(encoding="utf-8").splitlines()
    first, last = max(1, one.line - AROUND), min(len(lines), one.line + AROUND)
    code = [f"{'>' if at == one.line else ' '} {at:5} | {lines[at - 1]}" for at in range(first, last + 1)]
    return "\n".join([one.text, f"  {one.message}", *(f"  why: {text}" for text in one.why), *code, ""])


def main() -> int:
    options, linter = arguments()
    versions = pinned()
    there = list(packages(versions, options.site))
    with laid_out(there, options.site) as laid:
        chosen_ones = [one for one in there if one.name in (options.package or versions)]
        found = {one.name: findings_in(one, laid, linter) for one in chosen_ones}
    if options.read:
        chosen = [one for entries in found.values() for one in entries if options.rule in (None, one.code)]
        for one in random.Random(options.seed).sample(chosen, min(options.read, len(chosen))):
            print(framed(one, options.site))
        print(f"{min(options.read, len(chosen))} of {len(chosen)}")
        return 0
    tracked = read(TRACKED.read_text(encoding="utf-8")) if TRACKED.exists() else {}
    if options.write:
        known = {name: entries for name, entries in tracked.items() if name in versions}
        TRACKED.write_text(written({**known, **found}, versions), encoding="utf-8")
    told = [text for name in found for text in differences(tracked.get(name, []), found[name])]
    print("\n".join([*told, *summary(tracked, found)]))
    return 1 if told and not options.write else 0


def summary(before: Mapping[str, Sequence[Entry]], after: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    for name, entries in after.items():
        counted = Counter(text.split()[0] for text in differences(before.get(name, []), entries))
        changes = ", ".join(f"{counted[kind]} {kind}" for kind in ("new", "gone", "other") if counted[kind])
        yield f"{name}: {len(entries)} findings, {changes or 'as before'}"


def arguments() -> tuple[argparse.Namespace, str]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path, default=os.environ.get("XLALINT_SITE"), help="a folder of packages")
    parser.add_argument("--exe", default="xlalint", help="the linter")
    parser.add_argument("--package", action="append", choices=pinned(), metavar="NAME", help="this package only")
    parser.add_argument("--write", action="store_true", help=f"write {TRACKED.name}")
    parser.add_argument("--read", type=int, default=0, metavar="N", help="print N findings, drawn at random")
    parser.add_argument("--rule", metavar="CODE", help="with --read: of this rule")
    parser.add_argument("--seed", type=int, default=0, help="with --read: which ones")
    options = parser.parse_args()
    linter = executable(options.exe)
    if linter is None:
        parser.error(f"no command {options.exe}")
    if options.site is None or not Path(options.site).is_dir():
        parser.error("no folder of packages: give --site")
    options.site = Path(options.site).resolve()
    return options, linter


if __name__ == "__main__":
    sys.exit(main())
