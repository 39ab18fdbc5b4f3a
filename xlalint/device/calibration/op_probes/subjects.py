"""What is measured: ops, modules and expressions, each a name with a bounded number of cases."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_leaves, tree_map

from xlalint.device.calibration.op_probes.arguments import Signature, bind, described, signatures
from xlalint.device.calibration.op_probes.extra_calls import EXTRAS, namespace

PREFERRED = (torch.float32, torch.int64, torch.bool, torch.complex64, torch.float64)
EXCLUDED = {
    "to": "a transfer, not an op",
    "broadcast_shapes": "takes no tensor",
    "normal in_place": "is Tensor.normal_, which the extras hold",
}
WHOLE = 60
"""No more samples of one OpInfo are ever looked at."""


@dataclass(frozen=True)
class Case:
    """One call. ``place(device, grad)`` puts its inputs there and returns the call and its tensor inputs."""

    arguments: Mapping[str, dict[str, Any]]
    place: Callable[[str, bool], tuple[Callable[[], object], list[torch.Tensor]]]
    """For a case with a ``sample`` the call is a ``functools.partial``."""
    sample: Any = None


@dataclass(frozen=True)
class Subject:
    """``key`` names one OpInfo, ModuleInfo or expression; several may share the dotted ``name``.

    ``aliases`` are names that the database gives the same op.
    """

    key: str
    name: str
    target: object
    differentiable: bool
    cases: Callable[[int, bool], tuple[list[Case], list[Signature]]]
    """At most so many cases, spread evenly, for calls without or with gradients; and the signatures they fit."""
    on_cpu: Callable[[], Iterator[tuple[torch.dtype, Any, Callable[..., object]]]]
    """(dtype, sample, op) for what needs no device."""
    aliases: tuple[str, ...] = ()


def all_subjects() -> dict[str, Subject]:
    """By key, in a stable order."""
    found = [*map(_of_op, op_db), *map(_of_module, module_db), *map(_of_extra, EXTRAS.items())]
    return {one.key: one for one in found if one is not None}


def resolve(name: str) -> tuple[str, object] | None:
    """The dotted name that users write for an OpInfo's name, and the object."""
    for prefix, root in (("torch", torch), ("torch.Tensor", torch.Tensor)):
        for spelling in (name, f"{name}_"):
            target: object = root
            for part in spelling.split("."):
                target = getattr(target, part, None)
            if target is not None:
                return f"{prefix}.{spelling}", target
    return None


def _of_op(op: Any) -> Subject | None:
    resolved = resolve(op.name.removeprefix("torch."))
    if resolved is None or not {op.name, f"{op.name} {op.variant_test_name}"}.isdisjoint(EXCLUDED) or not op.dtypes:
        return None
    name, target = resolved
    return Subject(
        key=f"op {op.name} {op.variant_test_name}".strip(),
        name=name,
        target=target,
        differentiable=bool(op.supports_autograd),
        cases=functools.partial(_op_cases, op, name, signatures(name, target)),
        on_cpu=functools.partial(_op_on_cpu, op),
        aliases=tuple(alias.name for alias in op.aliases),
    )


def _samples(op: Any, dtype: torch.dtype, grad: bool = False) -> list[Any]:
    """Not the same with and without gradients: some options exclude them."""
    torch.manual_seed(0)
    random.seed(0)
    grad = grad and (dtype.is_floating_point or dtype.is_complex)
    samples = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=grad), WHOLE))
    full = [one for one in samples if all(leaf.numel() for leaf in tree_leaves(_inputs(one)) if torch.is_tensor(leaf))]
    return full or samples


def _inputs(sample: Any) -> tuple[Any, Any, Any]:
    return sample.input, sample.args, dict(sample.kwargs)


def spread(samples: Sequence[Any], most: int) -> list[Any]:
    if len(samples) <= most:
        return list(samples)
    if most == 1:
        return [samples[0]]
    return [samples[round(place * (len(samples) - 1) / (most - 1))] for place in range(most)]


def _op_cases(
    op: Any, name: str, choices: Sequence[Signature], most: int, grad: bool
) -> tuple[list[Case], list[Signature]]:
    dtype = next((one for one in PREFERRED if one in op.dtypes), None) or next(iter(op.dtypes))
    cases: list[Case] = []
    used: list[Signature] = []
    for sample in spread(_samples(op, dtype, grad), most):
        bound, signature = bind(name, choices, (sample.input, *sample.args), sample.kwargs)
        used += [] if signature is None else [signature]
        arguments = {key: described(value) for key, value in bound.items()}
        cases.append(Case(arguments, functools.partial(_place_sample, op.op, sample), sample))
    return cases, used


def _place_sample(
    call: Callable[..., object], sample: Any, device: str, grad: bool
) -> tuple[Callable[[], object], list[torch.Tensor]]:
    placed: list[torch.Tensor] = []

    def move(value: object) -> object:
        if isinstance(value, torch.device):
            return torch.device(device)
        if not isinstance(value, torch.Tensor):
            return value
        copy = value.detach().clone().to(device)
        if grad and value.requires_grad:
            copy.requires_grad_()
        placed.append(copy)
        return copy

    first, args, kwargs = tree_map(move, _inputs(sample))
    if isinstance(kwargs.get("device"), str):
        kwargs["device"] = device
    return functools.partial(call, first, *args, **kwargs), placed


def _op_on_cpu(op: Any) -> Iterator[tuple[torch.dtype, Any, Callable[..., object]]]:
    dtypes = [one for one in (torch.float32, torch.int64) if one in op.dtypes] or [torch.complex64]
    for dtype in dtypes:
        if dtype in op.dtypes:
            for sample in spread(_samples(op, dtype), 8):
                yield dtype, sample, op.op


def _of_module(info: Any) -> Subject:
    name = f"torch.nn.{info.module_cls.__name__}"
    return Subject(
        key=f"module {name}",
        name=name,
        target=info.module_cls,
        differentiable=True,
        cases=functools.partial(
            _module_cases,
            info,
            signatures(name, info.module_cls),
            signatures(name, functools.partial(info.module_cls.forward, None)),
        ),
        on_cpu=lambda: iter(()),
    )


def _module_cases(
    info: Any, choices: Sequence[Signature], calls: Sequence[Signature], most: int, grad: bool
) -> tuple[list[Case], list[Signature]]:
    """Arguments of the call stand behind those of the constructor, as ``call.NAME``."""
    torch.manual_seed(0)
    inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=grad, training=True)
    cases: list[Case] = []
    used: list[Signature] = []
    for one in spread(list(itertools.islice((x for x in inputs if x.forward_input is not None), WHOLE)), most):
        made = one.constructor_input
        bound, signature = bind("", choices, made.args, made.kwargs)
        used += [] if signature is None else [signature]
        passed, _ = bind("", calls, one.forward_input.args, one.forward_input.kwargs)
        bound |= {f"call.{key}": value for key, value in passed.items()}
        arguments = {key: described(value) for key, value in bound.items()}
        cases.append(Case(arguments, functools.partial(_place_module, info.module_cls, one)))
    return cases, used


def _place_module(
    cls: Callable[..., Any], one: Any, device: str, grad: bool
) -> tuple[Callable[[], object], list[torch.Tensor]]:
    module = cls(*one.constructor_input.args, **one.constructor_input.kwargs).to(device).train()
    given = one.forward_input
    parts = list(given.args)
    sample = type(
        "Sample", (), {"input": parts[0] if parts else None, "args": tuple(parts[1:]), "kwargs": given.kwargs}
    )
    call = module if parts else lambda _none, **kwargs: module(**kwargs)
    thunk, placed = _place_sample(call, sample, device, grad)
    if not grad:
        module.requires_grad_(False)
    return thunk, placed


def _of_extra(extra: tuple[str, tuple[str, ...]]) -> Subject:
    name, expressions = extra
    target: object = torch
    for part in name.split(".")[1:]:
        target = getattr(target, part)
    shown = signatures(name, target)[:1]
    return Subject(
        key=f"extra {name}",
        name=name,
        target=target,
        differentiable=True,
        cases=lambda most, _grad: ([expression(one) for one in expressions[:most]], shown),
        on_cpu=lambda: iter(()),
    )


def expression(text: str) -> Case:
    """A case from an expression over ``namespace``."""
    return Case({}, functools.partial(_place_expression, text))


def _place_expression(text: str, device: str, grad: bool) -> tuple[Callable[[], object], list[torch.Tensor]]:
    names = namespace(device, grad)
    return eval(f"lambda: {text}", names), [value for value in names.values() if isinstance(value, torch.Tensor)]
