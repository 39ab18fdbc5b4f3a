"""From raw records to the rows of ``ops.csv``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from xlalint.device.calibration.op_probes.condition_inference import Observation, condition, observation
from xlalint.device.calibration.op_probes.subjects import Subject
from xlalint.knowledge.conditions import UNSETTLED, constant
from xlalint.knowledge.ops import COLUMNS

Record = Mapping[str, Any]


def rows(subjects: Mapping[str, Subject], lazy: Mapping[str, Record], openxla: Mapping[str, Record]) -> list[list[str]]:
    """Of what ``lazy`` holds, sorted by name; subjects of one name make one row. ``subjects`` are all there are."""
    by_name: dict[str, list[str]] = {}
    for key, subject in subjects.items():
        if key in lazy:
            by_name.setdefault(subject.name, []).append(key)
    taken = {subject.name for subject in subjects.values()}
    aliases = _aliases(subjects, taken)
    found = [
        _row(
            name,
            [lazy[key] for key in keys],
            [openxla[key] for key in keys if key in openxla],
            aliases.get(name, []),
            taken,
        )
        for name, keys in by_name.items()
    ]
    return sorted((row for row in found if row), key=lambda row: row[0])


def _row(
    name: str, records: Sequence[Record], openxla: Sequence[Record], aliases: Sequence[str], taken: set[str]
) -> list[str]:
    cases = [case for record in records for case in record.get("forward", ())]
    with_grad = [case for record in records for case in record.get("grad", ())]
    parameters = max((str(record.get("parameters", "")) for record in records), key=len).replace(",", "")
    died = [str(record["died"]) for record in records if "died" in record]
    forward = _looks(cases, False) + _looks(with_grad, True)
    backward = _looks(
        [{**case["backward"], "arguments": case["arguments"]} for case in with_grad if case.get("backward")], True
    )
    if not cases and not died:
        return []
    defaults = _defaults(parameters)
    dimensions = int(name[-2]) if name[-2:] in ("1d", "2d", "3d") else 2
    reads, when, fallback = _phase_cells(forward, defaults, dimensions)
    backward_reads, backward_when, backward_fallback = _phase_cells(backward, defaults, dimensions)
    if not when and not backward_when:
        aliases = [*aliases, *_namesakes(name, {*taken, *aliases})]
    cells = {
        "name": name,
        "method": "yes" if _has_method(name) else "no",
        "aliases": " ".join(sorted(aliases)),
        "parameters": parameters,
        "result": _result(records),
        "reads": reads,
        "condition": when,
        "fallback": fallback,
        "backward_reads": backward_reads,
        "backward_condition": backward_when,
        "backward_fallback": backward_fallback,
        "data_shape": "yes" if any(record.get("data_shape") for record in records) else "no",
        "openxla": _openxla(openxla),
        "raises": died[0] if died else _raises(cases),
    }
    return [cells[column] for column in COLUMNS]


def _defaults(parameters: str) -> dict[str, object]:
    return {word.partition("=")[0]: constant(word.partition("=")[2]) for word in parameters.split() if "=" in word}


Look = tuple[Observation, int, tuple[str, ...]]
"""Arguments and cost, reads, fallbacks of one call."""


def _looks(cases: Iterable[Record], grad: bool) -> list[Look]:
    return [
        (
            observation(case["arguments"], grad, bool(case["reads"] or case["fallback"])),
            case["reads"],
            tuple(case["fallback"]),
        )
        for case in cases
        if "error" not in case
    ]


def _phase_cells(looks: Sequence[Look], defaults: Mapping[str, object], dimensions: int) -> tuple[str, str, str]:
    """(reads, condition, fallbacks) of one phase."""
    reading = {bool(reads) for _, reads, _ in looks}
    reads = "sometimes" if len(reading) > 1 else "always" if True in reading else "never"
    fallback = " ".join(sorted({name for _, _, names in looks for name in names}))
    observations = [seen for seen, _, _ in looks]
    if len({cost for _, cost in observations}) < 2:
        return reads, "", fallback
    if any(not arguments for arguments, _ in observations):
        return reads, UNSETTLED, fallback
    return reads, condition(observations, defaults, dimensions), fallback


def _has_method(name: str) -> bool:
    root, _, last = name.rpartition(".")
    return root == "torch.Tensor" or (root == "torch" and hasattr(torch.Tensor, last))


def _result(records: Sequence[Record]) -> str:
    merged: dict[str, set[str]] = {}
    for record in records:
        for kind, text in record.get("results", {}).items():
            merged.setdefault(kind, set()).update(text.split("/"))
    if not merged:
        return "?"
    return "/".join(sorted({text for kind, texts in merged.items() for text in _relative(kind, texts, merged)}))


def _relative(kind: str, texts: Iterable[str], merged: Mapping[str, set[str]]) -> Iterable[str]:
    """``same`` where the kind of the result follows that of the tensors, seen in every kind that was tried."""
    constants = set.intersection(*merged.values()) if len(merged) > 1 else set()
    floats = {text.replace("float", "same") for text in merged.get("float", ())}
    for text in texts:
        if text in constants or not kind:
            yield text
        elif kind == "float" or text not in {one.replace("same", kind) for one in floats}:
            yield text.replace(kind, "same")


def _raises(cases: Sequence[Record]) -> str:
    named = [str(case["error"]) for case in cases if "error" in case]
    if not named:
        return ""
    return named[0] if len(named) == len(cases) else f"sometimes {named[0]}"


def _openxla(records: Sequence[Record]) -> str:
    """What the call that is free in lazy mode does, then what the costly one does."""
    told: dict[str, list[str]] = {}
    for record in records:
        for which, case in record.get("cases", {}).items():
            told.setdefault(which, []).append(_outcome_word(case))
        if "died" in record:
            told.setdefault("free", []).append("raises")
    worst = [next(word for word in WORST if word in told[which]) for which in ("free", "costly") if which in told]
    return "/".join(worst) or "unmeasured"


WORST = ("raises", "fallback", "reads", "break", "ok")


def _outcome_word(case: Record) -> str:
    if "error" in case:
        return "raises"
    if case["fallback"]:
        return "fallback"
    return "reads" if case["reads"] else "break" if case["breaks"] else "ok"


NAMESPACES = ("", "nn.functional.", "special.", "linalg.", "fft.", "Tensor.")


def _aliases(subjects: Mapping[str, Subject], measured: set[str]) -> dict[str, list[str]]:
    """Other names of the same object, those that the database gives the op, and their methods."""
    found: dict[str, set[str]] = {}
    by_object = {id(subject.target): subject.name for subject in subjects.values() if subject.target is not None}
    for prefix in NAMESPACES:
        root = _member(prefix.rstrip("."))
        for word in dir(root):
            row = by_object.get(id(getattr(root, word, None)))
            if row is not None and not word.startswith("_"):
                found.setdefault(row, set()).add(f"torch.{prefix}{word}")
    for subject in subjects.values():
        for alias in subject.aliases:
            names = (f"torch.{prefix}{alias}" for prefix in ("", "Tensor.") if _member(f"{prefix}{alias}") is not None)
            found.setdefault(subject.name, set()).update(names)
    return {row: sorted(names - measured - {row}) for row, names in found.items()}


def _member(dotted: str) -> object:
    """What ``torch.`` and these words name, or None."""
    found: object = torch
    for part in dotted.split(".") if dotted else ():
        found = getattr(found, part, None)
    return found


def _namesakes(row: str, taken: set[str]) -> list[str]:
    """``torch.relu`` and ``Tensor.relu`` of ``torch.nn.functional.relu``: wrappers with other parameters."""
    prefix, _, last = row.rpartition(".")
    if prefix != "torch.nn.functional":
        return []
    names = (
        f"torch.{last}" if hasattr(torch, last) else "",
        f"torch.Tensor.{last}" if hasattr(torch.Tensor, last) else "",
    )
    return [name for name in names if name and name not in taken]
