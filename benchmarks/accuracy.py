"""Scores xlalint against recorded truth, and prints a table: what was measured, and what is to be reached.

    python benchmarks/accuracy.py --site SITE_PACKAGES --mirrors DIR [--shared ../shared] [--exe xlalint]
        --show N     also N misses and N false alarms of each part, with the facts on which they were decided
        --write      writes the figures to accuracy.json beside this file, which is tracked
        --compare    fails where a figure is worse than there by more than a point and a case; targets do not count

Four parts, each left out with a word where its material is absent:

* ``truth``: lines of released libraries that read the device, fell back to the CPU or made a shape from data when real
  models ran. Needs ``--site``, a folder with transformers, torchmetrics, accelerate, timm, torchvision and diffusers.
  It also tells the calibration: of the findings of each certainty, which share is true.
* ``scripts``: lines of real training scripts by how often they cost. Needs ``--mirrors``, git directories as
  ``OWNER+NAME/repo``. Reads inside torch and libraries count; the lines called *direct* leave those out.
* ``fixes``: lines that people mended, before and after. Needs ``--mirrors`` too.
* ``apps``: findings on applications that were read line by line: *useful* where the owner would want to know, *right*
  where the claim is true, *kept* of what was useful, and recall in loops read by hand. Needs ``--mirrors`` too. Told
  twice, with ``--assume-xla`` and without it. The checkouts are gone when it ends, so places are shown unexplained.

The environment names the folders where no option does: ``XLALINT_SITE``, ``XLALINT_MIRRORS``.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from figures import HEAD, Figure, drops, read, write
from running import Failed, executable, table
from scoring import Absent, Material, Measured, apps, fixes, scripts, truth

TRACKED = Path(__file__).with_suffix(".json")
PARTS = {"truth": truth, "scripts": scripts, "fixes": fixes, "apps": apps}


def main() -> int:
    options, linter = arguments()
    material = Material(options.shared, options.site, options.mirrors, linter, options.show)
    figures: list[Figure] = []
    failed = False
    for name in options.part or PARTS:
        try:
            measured = PARTS[name](material)
        except Absent as absent:
            print(f"{name}: left out{', not compared' if options.compare else ''}: {absent}")
        except Failed as failure:
            failed = True
            print(f"{name}: failed, {failure}")
        else:
            show(measured)
            figures.extend(measured.figures)
    if figures:
        print(table(HEAD, [figure.row() for figure in figures]))
    if options.write and not failed:
        write(TRACKED, figures)
    if options.compare:
        worse = list(drops(figures, read(TRACKED)))
        for text in worse:
            print(f"worse than in {TRACKED.name}: {text}")
        return 1 if failed or worse else 0
    return 1 if failed or not all(figure.reached for figure in figures) else 0


def show(measured: Measured) -> None:
    for text in measured.shown:
        print(text)


def arguments() -> tuple[argparse.Namespace, str]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parent.parent.parent / "shared")
    parser.add_argument("--site", type=Path, default=folder("XLALINT_SITE"), help="a folder with the libraries")
    parser.add_argument(
        "--mirrors", type=Path, default=folder("XLALINT_MIRRORS"), help="a folder of git directories, OWNER+NAME/repo"
    )
    parser.add_argument("--exe", default="xlalint", help="the linter to score")
    parser.add_argument("--part", action="append", choices=PARTS, help="this part only")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="explain N misses and N false alarms of each")
    parser.add_argument("--write", action="store_true", help=f"write {TRACKED.name}")
    parser.add_argument("--compare", action="store_true", help=f"fail where a figure is worse than in {TRACKED.name}")
    options = parser.parse_args()
    linter = executable(options.exe)
    if linter is None:
        parser.error(f"no command {options.exe}")
    return options, linter


def folder(variable: str) -> Path | None:
    return Path(os.environ[variable]) if os.environ.get(variable) else None


if __name__ == "__main__":
    sys.exit(main())
