"""See the package's own description."""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import tools.mutation
from tools.mutation import code, tables
from tools.mutation.mutant import Mutant
from tools.mutation.running import Broken, Verdict, verdicts

ROOT = Path(__file__).parent.parent.parent
RESULT = Path(__file__).with_name("result.md")
SHARES = {"ops": 100, "lattice": 60, "guards": 60, "conditions": 40, "frameworks": 20, "other tables": 20}
"""How many of 300 are of each kind."""
TARGET = 0.95


def drawn(root: Path, count: int, seed: int, kinds: Sequence[str]) -> list[Mutant]:
    """``count`` mutants, of each kind by its share; fewer where a kind has no more."""
    by_kind: dict[str, dict[str, list[Mutant]]] = {kind: {} for kind in kinds}
    for mutant in (*tables.mutants(root), *code.mutants(root)):
        if mutant.kind in by_kind:
            # A row with many cells is drawn no oftener than one with few.
            place = f"{mutant.path}:{mutant.start}"
            by_kind[mutant.kind].setdefault(place, []).append(mutant)
    whole = sum(SHARES[kind] for kind in kinds)
    found = []
    for kind, places in by_kind.items():
        choice = random.Random(f"{seed} {kind}")
        wanted = min(len(places), round(count * SHARES[kind] / whole))
        found += [choice.choice(places[place]) for place in choice.sample(sorted(places), wanted)]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=tools.mutation.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--kind", action="append", choices=SHARES, help="of this kind only")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"write {RESULT.name}")
    options = parser.parse_args()
    kinds = options.kind or list(SHARES)
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
    return 0 if sum(bool(verdict.by) for verdict in found) >= TARGET * len(found) else 1


def report(found: Sequence[Verdict], seed: int) -> str:
    made = Counter(one.mutant.kind for one in found)
    killed = Counter(one.mutant.kind for one in found if one.by)
    lines = [
        "# Mutants",
        "",
        f"Written by `python -m tools.mutation --write`, seed {seed}. A mutant is killed when a fast test fails.",
        "",
        "| kind | mutants | killed | share |",
        "| --- | --- | --- | --- |",
        *(f"| {kind} | {made[kind]} | {killed[kind]} | {killed[kind] / made[kind]:.3f} |" for kind in made),
        f"| all | {len(found)} | {sum(killed.values())} | {sum(killed.values()) / max(1, len(found)):.3f} |",
        "",
        "## Survivors",
        "",
        *sorted(f"- {one.mutant.label}".replace("|", "\\|") for one in found if not one.by),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
