"""See the package's own description."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import tools.mutation
from tools.mutation import code, tables
from tools.mutation.mutant import Mutant
from tools.mutation.running import Broken, Verdict, verdicts

ROOT = Path(__file__).parent.parent.parent
RESULT = Path(__file__).with_name("result.md")
SHARES = {"ops": 120, "lattice": 90, "guards": 90}
"""How many of 300 are of each kind: what decides most, and so must be held by tests."""
BESIDE = {"conditions": 40, "frameworks": 20, "other tables": 20}
"""What is made besides, of each kind: told, and not counted with the others."""
TARGET = 0.95


def drawn(root: Path, count: int, seed: int, kinds: Sequence[str]) -> list[Mutant]:
    """``count`` mutants, of each kind by its share; fewer where a kind has no more."""
    by_kind: dict[str, dict[str, list[Mutant]]] = {kind: {} for kind in kinds}
    for mutant in (*tables.mutants(root), *code.mutants(root)):
        if mutant.kind in by_kind:
            # A row with many cells is drawn no oftener than one with few.
            place = f"{mutant.path}:{mutant.start}"
            by_kind[mutant.kind].setdefault(place, []).append(mutant)
    shares = SHARES | BESIDE
    whole = sum(shares[kind] for kind in kinds if kind in SHARES) or sum(shares[kind] for kind in kinds)
    found = []
    for kind, places in by_kind.items():
        choice = random.Random(f"{seed} {kind}")
        wanted = min(len(places), round(count * shares[kind] / whole))
        found += [choice.choice(places[place]) for place in choice.sample(sorted(places), wanted)]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=tools.mutation.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--kind", action="append", choices=[*SHARES, *BESIDE], help="of this kind only")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    options = parser.parse_args()
    kinds = options.kind or [*SHARES, *BESIDE]
    found: list[Verdict] = []
    try:
        for verdict in verdicts(ROOT, drawn(ROOT, options.count, options.seed, kinds), options.jobs):
            found.append(verdict)
            print(f"{'killed  ' if verdict.by else 'SURVIVED'} {verdict.mutant.label} [{verdict.by}]", flush=True)
    except Broken as broken:
        print(f"the tests fail without a mutant:\n{broken}")
        return 2
    text = report(found, options.seed)
    print(text)
    if options.write:
        RESULT.write_text(text, encoding="utf-8")
    counted = [verdict for verdict in found if verdict.mutant.kind in SHARES]
    return 0 if sum(bool(verdict.by) for verdict in counted) >= TARGET * len(counted) else 1


def report(found: Sequence[Verdict], seed: int) -> str:
    lines = [
        "# Mutants",
        "",
        f"Written by `python -m tools.mutation --write`, seed {seed}. A mutant is killed when a fast test fails.",
        "",
        "| kind | mutants | killed | share |",
        "| --- | --- | --- | --- |",
        *(row(kind, [one for one in found if one.mutant.kind == kind]) for kind in SHARES),
        row(f"together, target {TARGET}", [one for one in found if one.mutant.kind in SHARES]),
        *(row(f"besides: {kind}", of) for kind in BESIDE if (of := [one for one in found if one.mutant.kind == kind])),
        "",
        "## Survivors",
        "",
        *sorted(f"- {one.mutant.kind}: {one.mutant.label}" for one in found if not one.by),
    ]
    return "\n".join(lines) + "\n"


def row(title: str, found: Sequence[Verdict]) -> str:
    killed = sum(bool(one.by) for one in found)
    return f"| {title} | {len(found)} | {killed} | {killed / max(1, len(found)):.3f} |"


if __name__ == "__main__":
    sys.exit(main())
