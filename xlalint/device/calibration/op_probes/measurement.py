"""The work of a child: everything that is measured of one subject, as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_map

from xlalint.device.calibration.op_probes.arguments import Signature, kind
from xlalint.device.calibration.op_probes.execution import compiled, forward, tensors
from xlalint.device.calibration.op_probes.subjects import Case, Subject, expression

FEW, MANY = 12, 48
"""Cases of one subject at first, and when the first ones disagree."""


def lazily(subject: Subject) -> dict[str, Any]:
    """Forward and backward in lazy mode, data-dependent shapes and kinds of results."""
    most, cases, used = _phase_cases(subject, False)
    _, with_grad, more = _phase_cases(subject, True) if subject.differentiable else (0, [], [])
    return {"most": most, "forward": cases, "grad": with_grad, "parameters": _longest(used + more), **on_cpu(subject)}


def _longest(used: list[Signature]) -> str:
    return max((one.text() for one in used), key=len, default="")


def on_cpu(subject: Subject) -> dict[str, Any]:
    """What needs no device: data-dependent shapes and kinds of results."""
    shape, how = _data_shape(subject)
    return {"data_shape": shape, "data_shape_by": how, "results": _results(subject) or _results_of_calls(subject)}


def one_case(subject: Subject, grad: bool, place: int) -> dict[str, Any]:
    """The record of a single case; empty where the CPU refuses it too."""
    return _measured(place, subject.cases(FEW, grad)[0][place], grad) or {}


def _phase_cases(subject: Subject, grad: bool) -> tuple[int, list[dict[str, Any]], list[Signature]]:
    """All cases measured with or without gradients; more of them where the first ones disagree."""
    most = FEW
    cases, used = subject.cases(most, grad)
    measured = [_measured(place, case, grad) for place, case in enumerate(cases)]
    if _disagree(measured) and len(cases) == FEW:
        most = MANY
        cases, used = subject.cases(most, grad)
        measured = [_measured(place, case, grad) for place, case in enumerate(cases)]
    return most, [one for one in measured if one is not None], used


def _measured(place: int, case: Case, grad: bool) -> dict[str, Any] | None:
    """None for a call that the CPU refuses too."""
    if not _runs_on_cpu(case, grad):
        return None
    return {"place": place, "arguments": case.arguments, **forward(case, grad)}


def _runs_on_cpu(case: Case, grad: bool) -> bool:
    try:
        call, _ = case.place("cpu", grad)
        call()
    except Exception:
        return False
    return True


def _disagree(measured: list[dict[str, Any] | None]) -> bool:
    """Whether some calls cost and some do not, forward or backward."""
    ran = [one for one in measured if one is not None]
    for seen in (ran, [one["backward"] for one in ran if one.get("backward")]):
        if len({bool(one["reads"] or one["fallback"]) for one in seen if "error" not in one}) > 1:
            return True
    return False


def _variants(generator: torch.Generator) -> list[Callable[[torch.Tensor], torch.Tensor]]:
    return [
        torch.zeros_like,
        torch.ones_like,
        lambda t: torch.arange(t.numel()).view(t.shape).to(t.dtype),
        lambda t: t.flatten()[torch.randint(0, t.numel(), (t.numel(),), generator=generator)].view(t.shape),
        lambda t: torch.where(torch.rand(t.shape, generator=generator) < 0.5, t, torch.zeros_like(t)),
    ]


def _data_shape(subject: Subject) -> tuple[bool, str]:
    """Whether the same shapes with other data give another shape, tried on the CPU."""
    generator = torch.Generator().manual_seed(1)
    cases, _ = subject.cases(FEW, False)
    for case in cases:
        if case.sample is None:
            continue
        try:
            base = _shapes(case.place("cpu", False)[0]())
        except Exception:
            continue
        for change in _variants(generator):
            try:
                call: Any = case.place("cpu", False)[0]
                args, keywords = tree_map(lambda v, change=change: _changed(v, change), (call.args, call.keywords))
                if _shapes(call.func(*args, **keywords)) != base:
                    return True, str(case.arguments)[:120]
            except Exception:
                continue
    return False, ""


def _changed(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if not isinstance(value, torch.Tensor) or not value.numel() or value.layout is not torch.strided:
        return value
    return change(value)


def _shapes(result: object) -> list[tuple[int, ...]]:
    return [tuple(leaf.shape) for leaf in tensors(result)]


def _results(subject: Subject) -> dict[str, str]:
    """What comes out, by what goes in: ``{"float": "same+int/float"}``; one entry a promoted input kind."""
    found: dict[str, list[str]] = {}
    for _dtype, sample, call in subject.on_cpu():
        inputs = tensors((sample.input, sample.args, dict(sample.kwargs)))
        try:
            result = call(sample.input, *sample.args, **sample.kwargs)
        except Exception:
            continue
        promoted = ""
        if inputs:
            whole = inputs[0].dtype
            for one in inputs[1:]:
                whole = torch.promote_types(whole, one.dtype)
            promoted = kind(whole)
        told = found.setdefault(promoted, [])
        text = _told(result)
        if text not in told:
            told.append(text)
    return {key: "/".join(sorted(value)) for key, value in found.items()}


def _results_of_calls(subject: Subject) -> dict[str, str]:
    """The same for modules and expressions: they are fed floats, but for makers of tensors, which are fed none."""
    texts: set[str] = set()
    for case in subject.cases(FEW, False)[0]:
        try:
            texts.add(_told(case.place("cpu", False)[0]()))
        except Exception:
            continue
    fed = subject.name.startswith(("torch.nn.", "torch.Tensor.")) and subject.name != "torch.Tensor.new_tensor"
    return {"float" if fed else "": "/".join(sorted(texts))} if texts else {}


def _told(result: object) -> str:
    if isinstance(result, torch.Tensor):
        return kind(result.dtype)
    if result is None:
        return "none"
    if isinstance(result, list):
        return "list:" + (_told(result[0]) if result else "none")
    if isinstance(result, tuple):
        parts = [_told(member) for member in result]
        if not parts:
            return "none"
        return "+".join(parts) if len(parts) <= 6 and not isinstance(result, torch.Size) else f"list:{parts[0]}"
    return f"py-{type(result).__name__}"


def under_openxla(subject: Subject, most: int, places: Mapping[str, list[int]]) -> dict[str, Any]:
    """The first of the cases at ``places`` (among ``most``) that does not raise, by the names of the places."""
    cases, _ = subject.cases(most, False)
    told: dict[str, Any] = {}
    for name, tried in places.items():
        for place in tried:
            told[name] = _compiled(subject, cases[place])
            if "error" not in told[name]:
                break
    return {"cases": told}


def _compiled(subject: Subject, case: Case) -> dict[str, Any]:
    """Databases wrap random ops in a function that sets the seed, which alone breaks the graph."""
    record = compiled(case)
    if record.get("breaks") and callable(subject.target) and not isinstance(subject.target, type):
        direct = compiled(case, subject.target)
        return record if "error" in direct else direct
    return record


def probe(text: str, phase: str) -> dict[str, Any]:
    """The costs of an expression over ``namespace`` in ``forward`` or ``backward``."""
    record = forward(expression(text), phase == "backward")
    if phase == "backward" and "error" not in record:
        return record["backward"] or {"error": "NoGradient", "text": "nothing to differentiate"}
    return record
