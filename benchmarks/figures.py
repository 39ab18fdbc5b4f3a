"""Figures of a run: how they are shown, kept in a tracked file and compared with what stands there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

POINT = 0.01
ROUNDING = 1e-6


@dataclass(frozen=True)
class Figure:
    """One figure of one part.

    ``value`` is a share of 1, or where ``per`` is more than 1 so many cases in ``per``. ``of`` is how many cases it
    was taken from, and 0 is none: such a figure says nothing. ``target`` is what is to be reached, the least or, where
    ``lower`` is better, the most; None for a figure that is only told.
    """

    part: str
    what: str
    value: float
    of: int
    target: float | None = None
    lower: bool = False
    per: int = 1
    remark: str = ""

    @property
    def reached(self) -> bool:
        if self.target is None or not self.of:
            return True
        return self.value <= self.target + ROUNDING if self.lower else self.value >= self.target - ROUNDING

    @property
    def slack(self) -> float:
        """How much worse the figure may be before it counts: a point or a case, whichever is more."""
        case = self.per / self.of if self.of else 0.0
        return case if self.per > 1 else max(case, POINT)

    def worse_than(self, other: Figure) -> bool:
        change = self.value - other.value if self.lower else other.value - self.value
        return change > max(self.slack, other.slack) + ROUNDING

    def row(self) -> tuple[str, ...]:
        target, verdict = "", ""
        if self.target is not None:
            target = f"{'≤' if self.lower else '≥'} {self.target:.3f}"
            verdict = "reached" if self.reached else "missed"
        return self.part, self.what, f"{self.value:.3f}", str(self.of), target, verdict, self.remark


def share(part: str, what: str, cases: int, of: int, target: float | None = None, remark: str = "") -> Figure:
    return Figure(part, what, cases / of if of else 0.0, of, target, remark=remark)


HEAD = ("part", "what", "measured", "of", "target", "", "remark")


def write(path: Path, figures: Sequence[Figure]) -> None:
    """Parts that were not measured in this run are kept as they stand."""
    fresh = {figure.part for figure in figures}
    kept = [figure for figure in read(path) if figure.part not in fresh] if path.exists() else []
    rows = [{key: value for key, value in asdict(figure).items() if key != "remark"} for figure in [*figures, *kept]]
    lines = ",\n  ".join(json.dumps({**row, "value": round(row["value"], 5)}) for row in rows)
    path.write_text(f'{{"figures": [\n  {lines}\n]}}\n', encoding="utf-8")


def read(path: Path) -> list[Figure]:
    return [Figure(**row) for row in json.loads(path.read_text(encoding="utf-8"))["figures"]]


def drops(figures: Sequence[Figure], tracked: Sequence[Figure]) -> Iterator[str]:
    """What is worse than it stands in the tracked file, one line each; figures that stand in one only are passed."""
    known = {(figure.part, figure.what): figure for figure in tracked}
    for figure in figures:
        before = known.get((figure.part, figure.what))
        if before is not None and before.of and figure.worse_than(before):
            yield f"{figure.part}, {figure.what}: {figure.value:.3f}, and was {before.value:.3f}"
