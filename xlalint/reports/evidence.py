"""Renders the evidence of a device, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator

from xlalint.findings.model import Basis, Evidence, Mode, ModeEvidence, Verdict

_COLUMNS = ("compiles", "executions", "reads", "uploads", "fallbacks", "graph_breaks", "pending_ops", "live_tensors")
_ALWAYS = ("compiles", "executions", "reads")
_WHERE_THEY_DIFFER = ("pending_ops", "live_tensors")
"""What each program has left at its end: some of it is in every one."""
_BASES = {
    Basis.RUN: "the program itself was run, up to some steps",
    Basis.SCRIPT: "a script that leads to it was run, up to some steps",
    Basis.SLICE: "its own statements were run, from stand-ins for the rest of the program",
    Basis.ASSUMED: "what it works on was itself a stand-in",
}
VERDICTS = {Verdict.CONFIRMED: "confirmed", Verdict.REFUTED: "refuted", Verdict.NOT_RUN: "not run"}
_LONGEST = 100


def headline(evidence: Evidence) -> str:
    return f"{VERDICTS[evidence.verdict]}: {evidence.reason}"


def table(evidence: Evidence) -> Iterator[str]:
    """A row for each counter that says something: as it is, without the flagged cost, and the difference a step."""
    for mode, one in evidence.modes.items():
        if not one.before:
            if len(evidence.modes) > 1:
                yield f"{mode.value}: {VERDICTS[one.verdict]}: {one.reason}"
            continue
        if len(evidence.modes) > 1:
            yield f"{mode.value}: {VERDICTS[one.verdict]}: {one.reason}"
        rows = [("", "before", "after", "a step")]
        for name in _shown(one):
            difference = one.per_step[name]
            cells = (f"{one.before[name]:g}", f"{one.after[name]:g}", f"{-difference + 0.0:+g}" if difference else "0")
            rows.append((name.replace("_", " "), *cells))
        width = max(len(row[0]) for row in rows)
        for name, *rest in rows:
            yield f"{name:<{width}}" + "".join(f"{cell:>10}" for cell in rest)


def basis(evidence: Evidence) -> str:
    return _BASES[evidence.basis] if evidence.basis is not None else ""


def assumptions(evidence: Evidence) -> Iterator[str]:
    """What the verdict rests on; nothing where nothing was run."""
    for each in evidence.assumptions if evidence.basis is not None else ():
        yield _short(each.replace("stand_in.", ""))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def as_json(evidence: Evidence) -> dict[str, object]:
    device = evidence.device
    return {
        "verdict": evidence.verdict.value,
        "reason": evidence.reason,
        "basis": evidence.basis.value if evidence.basis is not None else None,
        "assumptions": list(evidence.assumptions),
        "device": {"kind": device.kind, "torch": device.torch, "torch_xla": device.torch_xla},
        "modes": {mode.value: _mode(evidence.modes[mode]) for mode in Mode if mode in evidence.modes},
    }


def _mode(one: ModeEvidence) -> dict[str, object]:
    lines = [
        {
            "path": each.path,
            "line": each.line,
            "compiles": each.compiles,
            "executions": each.executions,
            "reads": each.reads,
            "uploads": each.uploads,
        }
        for each in one.lines
    ]
    return {
        "verdict": one.verdict.value,
        "reason": one.reason,
        "before": _counters(one.before),
        "after": _counters(one.after),
        "per_step": _counters(one.per_step),
        "growth": one.growth,
        "lines": lines,
    }


def _counters(figures: dict[str, float]) -> dict[str, float]:
    return {name: figures.get(name, 0) for name in _COLUMNS}


def _shown(one: ModeEvidence) -> list[str]:
    return [name for name in _COLUMNS if name in _ALWAYS or _says_something(one, name)]


def _says_something(one: ModeEvidence, name: str) -> bool:
    before, after = one.before.get(name, 0), one.after.get(name, 0)
    return before != after if name in _WHERE_THEY_DIFFER else bool(before or after)
