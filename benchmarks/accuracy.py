"""Scores xlalint against recorded truth, and prints a table: what was measured, and what is to be reached.

    python benchmarks/accuracy.py --site SITE_PACKAGES --mirrors DIR [--shared ../shared] [--exe xlalint]

Three parts, each left out with a word where its material is absent:

* ``truth``: lines of released libraries that read the device, fell back to the CPU or made a shape from data when real
  models ran. Needs ``--site``, a folder with transformers, torchmetrics, accelerate, timm, torchvision and diffusers.
* ``scripts``: lines of real training scripts by how often they cost. Needs ``--mirrors``, git directories as
  ``OWNER+NAME/repo``.
* ``fixes``: lines that people mended, before and after. Needs ``--mirrors`` too.

The scorers are those that lie beside the truth.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from running import Failed, Run, executable, run, table

LIBRARIES = ("transformers", "torchmetrics", "accelerate", "timm", "torchvision", "diffusers")


@dataclass(frozen=True)
class Score:
    """One figure: ``value`` and ``target`` are shares of 1."""

    part: str
    what: str
    value: float
    target: float
    remark: str = ""


@dataclass(frozen=True)
class Material:
    """Where things lie; ``site`` and ``mirrors`` may not be given."""

    shared: Path
    site: Path | None
    mirrors: Path | None
    linter: str


class Absent(Exception):
    """A part can't be scored. The message says what is missing."""


def truth(material: Material) -> Iterator[Score]:
    scorer = present(material.shared / "truth" / "score.py")
    site = given(material.site, "--site")
    libraries = [str(site / name) for name in LIBRARIES if (site / name).is_dir()]
    if not libraries:
        raise Absent(f"none of {', '.join(LIBRARIES)} in the folder given by --site")
    with tempfile.TemporaryDirectory() as scratch:
        findings = str(Path(scratch) / "findings.json")
        lint = [material.linter, "check", "--no-cache", "--output-format", "json", "--output", findings, *libraries]
        linted = run(lint)
        if not Path(findings).exists():
            raise Failed(f"no findings from the linter: {linted.errors[-500:].strip()}")
        score = [
            sys.executable,
            str(scorer),
            str(scorer.with_name("truth.jsonl")),
            findings,
            "--root",
            str(site),
            "--json",
        ]
        scored = json.loads(run(score, allowed=(0,)).output)
    missing = scored["drifted_or_missing"]
    remark = f"{scored['files']} files" + (f", {missing} others differ or are missing" if missing else "")
    yield Score("truth", "recall", scored["recall"], 0.93, remark)
    conditional = f"{scored['precision_without_conditional']:.3f} without conditional ones"
    yield Score("truth", "precision", scored["precision"], 0.91, conditional)


def scripts(material: Material) -> Iterator[Score]:
    scorer = present(material.shared / "scripts" / "score.py")
    mirrors = given(material.mirrors, "--mirrors")
    options = ["--direct", "--args=--assume-xla", "--mirrors", str(mirrors)]
    ended = run([sys.executable, str(scorer), material.linter, *options])
    figures = last_line(ended, r"recall ([\d.]+) precision ([\d.]+) cold-flagged (\d+) boundary (\d+)/(\d+)")
    found, scripts_without = int(figures[3]), int(figures[4])
    yield Score("scripts", "recall", float(figures[0]), 0.95)
    yield Score("scripts", "precision", float(figures[1]), 0.88, f"{figures[2]} cold lines flagged")
    if scripts_without:
        yield Score("scripts", "boundary", found / scripts_without, 15 / 21, f"{found} of {scripts_without}")


def fixes(material: Material) -> Iterator[Score]:
    scorer = present(material.shared / "fixes" / "run.py")
    mirrors = given(material.mirrors, "--mirrors")
    with tempfile.TemporaryDirectory() as trees:
        laid = run([sys.executable, str(scorer.with_name("rebuild.py")), str(mirrors), trees])
        ended = run([sys.executable, str(scorer), material.linter, "0.70", "0.92", "--trees", trees])
    figures = last_line(ended, r"recall ([\d.]+) clean ([\d.]+)")
    yield Score("fixes", "recall", float(figures[0]), 0.70, laid.output.strip())
    yield Score("fixes", "clean", float(figures[1]), 0.92)


def present(path: Path) -> Path:
    if not path.exists():
        raise Absent(f"no {path.parent.name}/{path.name} in the folder given by --shared")
    return path.resolve()


def given(folder: Path | None, option: str) -> Path:
    if folder is None or not folder.is_dir():
        raise Absent(f"no folder given by {option}")
    return folder.resolve()


def last_line(ended: Run, pattern: str) -> tuple[str, ...]:
    """The figures in the line with which a scorer ends; ``Failed`` where it ended otherwise."""
    lines = ended.output.strip().splitlines() or [""]
    match = re.search(pattern, lines[-1])
    if match is None:
        raise Failed(f"no figures from the scorer: {(ended.errors or lines[-1])[-500:].strip()}")
    return match.groups()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).parent.parent.parent / "shared")
    parser.add_argument("--site", type=Path, help="a site-packages folder with the libraries")
    parser.add_argument("--mirrors", type=Path, help="a folder of git directories, OWNER+NAME/repo")
    parser.add_argument("--exe", default="xlalint", help="the linter to score")
    options = parser.parse_args()
    linter = executable(options.exe)
    if linter is None:
        parser.error(f"no command {options.exe}")
    material = Material(shared=options.shared, site=options.site, mirrors=options.mirrors, linter=linter)
    scores: list[Score] = []
    failed = False
    for part in (truth, scripts, fixes):
        try:
            scores.extend(part(material))
        except Absent as absent:
            print(f"{part.__name__}: left out, {absent}")
        except Failed as failure:
            failed = True
            print(f"{part.__name__}: failed, {failure}")
    rows = [
        (score.part, score.what, f"{score.value:.3f}", f"{score.target:.3f}", verdict(score), score.remark)
        for score in scores
    ]
    if rows:
        print(table(("part", "what", "measured", "at least", "", "remark"), rows))
    return 1 if failed or any(score.value < score.target for score in scores) else 0


def verdict(score: Score) -> str:
    return "reached" if score.value >= score.target else "missed"


if __name__ == "__main__":
    sys.exit(main())
