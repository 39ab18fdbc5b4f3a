"""Runs over single files of a package against the run over all of it: the findings, and the time as a ratio.

    python benchmarks/parts.py PACKAGE_FOLDER… [--count 15] [--seed 1]

Of each package so many files are drawn whose findings have their callers elsewhere, so many with findings, and so many
of all. Fails where a file that is named alone has other findings than in the run over the package. Both runs use one
process, and the time is the better of two for the whole.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from pathlib import Path

import msgspec

from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic, Report
from xlalint.findings.settings import defaults
from xlalint.linting import Options, lint


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+", type=Path, metavar="PACKAGE_FOLDER")
    parser.add_argument("--count", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    differing = [compared(folder, options.count, random.Random(options.seed)) for folder in options.packages]
    return 1 if any(differing) else 0


def compared(folder: Path, count: int, draw: random.Random) -> int:
    """How many files differ; prints a line for each, and one for the package."""
    (report, seconds), (_, again) = whole(folder), whole(folder)
    seconds = min(seconds, again)
    found: dict[str, list[Diagnostic]] = {}
    for one in report.diagnostics:
        found.setdefault(os.path.abspath(one.path), []).append(one)
    differing, ratios = 0, []
    for path in drawn(folder, found, count, draw):
        started = time.perf_counter()
        part = lint([Path(path)], everything(), Options(jobs=1, project=str(folder), alone=False))
        ratios.append((time.perf_counter() - started) / seconds)
        if list(part.diagnostics) != found.get(path, []):
            differing += 1
            print(f"{path}: {len(found.get(path, []))} findings in the whole, {len(part.diagnostics)} alone")
    middle = statistics.median(ratios)
    print(
        f"{folder.name}: {differing} of {len(ratios)} files differ; time against the whole ({seconds:.1f} s): "
        f"median {middle:.2f}, most {max(ratios):.2f}"
    )
    return differing


def whole(folder: Path) -> tuple[Report, float]:
    started = time.perf_counter()
    report = lint([folder], everything(), Options(jobs=1))
    return report, time.perf_counter() - started


def drawn(folder: Path, found: dict[str, list[Diagnostic]], count: int, draw: random.Random) -> list[str]:
    elsewhere = [
        path for path, told in sorted(found.items()) if any(why.path != one.path for one in told for why in one.why)
    ]
    groups = (elsewhere, sorted(found), sorted(str(path) for path in folder.resolve().rglob("*.py")))
    return list(dict.fromkeys(path for group in groups for path in draw.sample(group, min(count, len(group)))))


def everything() -> Configurations:
    """The defaults, with findings that are only possible."""
    found = defaults()
    settings = msgspec.structs.replace(found.settings, min_certainty="possible")
    return Configurations(fixed=msgspec.structs.replace(found, settings=settings))


if __name__ == "__main__":
    sys.exit(main())
