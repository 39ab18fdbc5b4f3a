"""A blind draw: findings on repositories that nobody here has read, to be judged as their owners would.

    python benchmarks/unread.py draw ROUND                      # the five repositories of a round, by a seeded draw
    python benchmarks/unread.py sheet ROUND REPO… --mirrors DIR --to FOLDER   # lint them, and sample findings to judge
    python benchmarks/unread.py keep FOLDER/verdicts.csv        # add the judged rows to unread.csv, which is tracked
    python benchmarks/unread.py figures                         # what the table says, round by round

``DIR`` holds git directories as ``OWNER+NAME/repo``. A sheet is ``sheet.md``, each finding with its source (other
people's text: it is never committed), and ``verdicts.csv``, whose columns ``verdict`` and ``mechanism`` the reader
fills in before anything is mended. A second reader gets ``second.csv``, the numbers of a quarter of them.

Verdicts: TRUE, right and its owner would want to know; TRUE-NW, right but not worth telling (it counts against *useful*
only where it is told as a warning or an error); FALSE, the claim is wrong; CANT-TELL, not scored.
A sample takes repositories in turn, and in each of them rules in turn, so that neither a large repository nor a
frequent rule fills it; of the places of one root only the first can be drawn.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from running import executable, run

HERE = Path(__file__).parent
CANDIDATES = HERE / "unread-candidates.txt"
TRACKED = HERE / "unread.csv"
SEED = 20261122
"""Written down together with the candidates; all draws follow from it."""
IN_ROUND = 5
AROUND = 14
COLUMNS = (
    "round",
    "repository",
    "commit",
    "path",
    "line",
    "code",
    "certainty",
    "heat",
    "severity",
    "verdict",
    "second",
    "mechanism",
)
VERDICTS = ("TRUE", "TRUE-NW", "FALSE", "CANT-TELL")
Row = dict[str, str]


def drawn(number: int) -> list[str]:
    """The repositories of a round, five that can be had and five to take the place of those that can't."""
    names = [line for line in CANDIDATES.read_text().split("\n") if line and not line.startswith("#")]
    random.Random(SEED).shuffle(names)
    start = (number - 1) * 2 * IN_ROUND
    return names[start : start + 2 * IN_ROUND]


def lint(repository: str, mirrors: Path, checkout: Path) -> tuple[str, list[dict[str, Any]]]:
    """Lay out the newest commit, and lint it; returns the commit and the findings."""
    git = ["git", f"--git-dir={mirrors / repository.replace('/', '+') / 'repo'}"]
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    checkout.mkdir(parents=True)
    archive = subprocess.run([*git, "archive", commit, ":(glob)**/*.py"], capture_output=True, check=True).stdout
    subprocess.run(["tar", "x", "-C", str(checkout)], input=archive, check=True)
    linter = executable("xlalint") or "xlalint"
    linted = run([linter, "check", "--isolated", "--assume-xla", "--output-format", "json", "."], cwd=checkout)
    return commit, json.loads(linted.output)["findings"]


def leading(findings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings that are shown on their own: of those with one root, the first."""
    roots: set[str] = set()
    kept = []
    for finding in findings:
        root = (finding.get("root") or {}).get("id")
        if root is None or root not in roots:
            kept.append(finding)
        if root is not None:
            roots.add(root)
    return kept


def in_turn(groups: Sequence[Sequence[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """One of each group, then the second of each, until all are given."""
    for row in itertools.zip_longest(*groups):
        yield from (finding for finding in row if finding is not None)


def sample(findings: Sequence[dict[str, Any]], size: int, chance: random.Random) -> list[dict[str, Any]]:
    """``size`` findings: repositories in turn, and in each of them rules in turn."""
    by_repository: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for finding in findings:
        by_repository[finding["repository"]][finding["code"]].append(finding)
    turns = []
    for _, by_rule in sorted(by_repository.items()):
        rules = [places for _, places in sorted(by_rule.items())]
        for places in rules:
            chance.shuffle(places)
        chance.shuffle(rules)
        turns.append(list(in_turn(rules)))
    return list(itertools.islice(in_turn(turns), size))


def described(number: int, finding: Mapping[str, Any], checkout: Path) -> str:
    lines = (checkout / finding["path"]).read_text(errors="replace").split("\n")
    first = max(0, finding["line"] - AROUND - 1)
    source = "\n".join(
        f"{'>' if finding['line'] <= at <= finding['end_line'] else ' '}{at:5} {text}"
        for at, text in enumerate(lines[first : finding["line"] + AROUND], first + 1)
    )
    why = "".join(f"- {reason if isinstance(reason, str) else json.dumps(reason)}\n" for reason in finding["why"])
    return "\n".join(
        (
            f"## {number}. {finding['repository']} {finding['path']}:{finding['line']} {finding['code']}",
            f"\n{finding['severity']}, {finding['certainty']}, {finding['heat']}: {finding['message']}",
            f"\nhelp: {finding['help']}\n\n{why}",
            f"```\n{source}\n```\n",
        )
    )


def write_sheet(number: int, repositories: Sequence[str], mirrors: Path, folder: Path, size: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    everything, chance = [], random.Random(SEED + number)
    for repository in repositories:
        checkout = folder / "checkouts" / repository.replace("/", "+")
        commit, findings = lint(repository, mirrors, checkout)
        shown = leading(findings)
        print(f"{repository} {commit[:8]}: {len(findings)} findings, {len(shown)} of them lead")
        everything += [{**finding, "repository": repository, "commit": commit} for finding in shown]
    taken = sample(everything, size, chance)
    sheet = [
        described(index, finding, folder / "checkouts" / finding["repository"].replace("/", "+"))
        for index, finding in enumerate(taken, 1)
    ]
    (folder / "sheet.md").write_text("\n".join(sheet))
    rows = [
        {"round": str(number), "verdict": "", "second": "", "mechanism": ""}
        | {column: str(finding[column]) for column in COLUMNS[1:9]}
        for finding in taken
    ]
    save(folder / "verdicts.csv", rows)
    again = sorted(chance.sample(range(len(taken)), max(1, len(taken) // 4))) if taken else []
    (folder / "second.csv").write_text("number,verdict,mechanism\n" + "".join(f"{index + 1},,\n" for index in again))


def load(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def save(path: Path, rows: Iterable[Row]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def keep(path: Path) -> None:
    """Add judged rows to the table. A reading that is there already is never replaced: the first one counts."""
    rows = load(path)
    bad = [row for row in rows if row["verdict"] not in VERDICTS or row["second"] not in ("", *VERDICTS)]
    old = load(TRACKED) if TRACKED.exists() else []
    if bad or {row["round"] for row in rows} & {row["round"] for row in old}:
        sys.exit(
            f"{len(bad)} rows without a verdict" if bad else "this round is in the table: its first reading counts"
        )
    save(TRACKED, [*old, *rows])


def interval(part: int, whole: int) -> str:
    """The share with Wilson's interval of 95 % (https://doi.org/10.1080/01621459.1927.10502953)."""
    if not whole:
        return "none"
    z, share = 1.96, part / whole
    centre = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z / (1 + z * z / whole) * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    return f"{share:.2f} ({centre - half:.2f} to {centre + half:.2f})"


def figures() -> None:
    rounds = defaultdict(list)
    for row in load(TRACKED):
        rounds[row["round"]].append(row)
    print("| round | judged | useful | right | certain ones that are right | second readings that agree |")
    print("| --- | --- | --- | --- | --- | --- |")
    for number, rows in sorted(rounds.items(), key=lambda each: int(each[0])):
        scored = [row for row in rows if row["verdict"] != "CANT-TELL"]
        counted = Counter(row["verdict"] for row in scored)
        quiet = sum(row["verdict"] == "TRUE-NW" and row["severity"] == "note" for row in scored)
        right = counted["TRUE"] + counted["TRUE-NW"]
        certain = [row for row in scored if row["certainty"] == "certain"]
        twice = [row for row in rows if row["second"]]
        alike = sum((row["second"] == "FALSE") == (row["verdict"] == "FALSE") for row in twice)
        equal = sum(row["second"] == row["verdict"] for row in twice)
        cells = (
            number,
            str(len(scored)),
            interval(counted["TRUE"], len(scored) - quiet),
            interval(right, len(scored)),
            interval(sum(row["verdict"] != "FALSE" for row in certain), len(certain)),
            f"{alike} of {len(twice)} (right or not), {equal} (to the word)",
        )
        print(f"| {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("draw").add_argument("round", type=int)
    sheet = commands.add_parser("sheet")
    sheet.add_argument("round", type=int)
    sheet.add_argument("repository", nargs="+")
    sheet.add_argument("--mirrors", type=Path, required=True)
    sheet.add_argument("--to", type=Path, default=Path(tempfile.gettempdir()) / "unread")
    sheet.add_argument("--size", type=int, default=40)
    commands.add_parser("keep").add_argument("verdicts", type=Path)
    commands.add_parser("figures")
    options = parser.parse_args()
    match options.command:
        case "draw":
            print("\n".join(drawn(options.round)))
        case "sheet":
            write_sheet(options.round, options.repository, options.mirrors, options.to, options.size)
        case "keep":
            keep(options.verdicts)
        case _:
            figures()


if __name__ == "__main__":
    main()
