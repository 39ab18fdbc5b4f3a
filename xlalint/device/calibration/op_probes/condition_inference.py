"""From measured cases to a condition on the arguments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xlalint.device.calibration.op_probes.arguments import known
from xlalint.knowledge.conditions import UNSETTLED, Argument, constant, decide, parse, uniform

Observation = tuple[Mapping[str, Argument], bool]
"""What a call was given, and whether it cost."""


def observation(arguments: Mapping[str, Mapping[str, Any]], grad: bool, cost: bool) -> Observation:
    return {name: known(told, grad) for name, told in arguments.items()}, cost


def condition(observations: Sequence[Observation], defaults: Mapping[str, object], dimensions: int) -> str:
    """The simplest condition that parts the costly calls from the free ones, or ``UNSETTLED``.

    Candidates come in order of generality, so that a condition on whether an argument is passed is preferred to
    one on its values. A single costly or free call is not enough for a condition on values of numbers: it would
    only repeat the sample. ``dimensions`` is the number that an output size speaks of.
    """
    atoms = list(dict.fromkeys(_atoms(observations, dimensions)))
    singles = [atom for atom in atoms if _separates(atom, observations, defaults)]
    if singles:
        return singles[0]
    useful = atoms[:80]
    for joiner in (";", "&"):
        for left, right in itertools.combinations(useful, 2):
            text = f"{left}{joiner}{right}"
            if _separates(text, observations, defaults):
                return text
    return UNSETTLED


def _separates(text: str, observations: Sequence[Observation], defaults: Mapping[str, object]) -> bool:
    parsed = parse(text)
    return all(decide(parsed, arguments, defaults) is cost for arguments, cost in observations)


def _atoms(observations: Sequence[Observation], dimensions: int) -> Iterator[str]:
    names = list(dict.fromkeys(name for arguments, _ in observations for name in arguments))
    yield "grad:*"
    for kind in ("tensor", "notensor"):
        yield from (f"{kind}:{name}" for name in names)
    yield from (f"uneven:{name}={dimensions}" for name in names if name in ("output_size", "size"))
    for kind in ("nondefault", "missing"):
        yield from (f"{kind}:{name}" for name in names)
    for name in names:
        yield from _of_dtype(name, observations)
    for name in names:
        yield from _of_value(name, observations)
    for name in names[:3]:
        ranks = {arguments[name].rank for arguments, cost in observations if cost and name in arguments} - {None}
        if ranks:
            yield f"rank:{name}=" + "|".join(str(rank) for rank in sorted(ranks, key=str))


def _of_dtype(name: str, observations: Sequence[Observation]) -> Iterator[str]:
    for dtype in ("bool", "int", "float", "complex"):
        if any(dtype in (arguments[name].dtypes or ()) for arguments, _ in observations if name in arguments):
            yield f"dtype:{name}={dtype}"


def _of_value(name: str, observations: Sequence[Observation]) -> Iterator[str]:
    """Sets of words; numbers only as a bound or as one value, lest the samples be learned by heart."""
    costly = {_literal(arguments[name].value) for arguments, cost in observations if cost and name in arguments}
    free = {_literal(arguments[name].value) for arguments, cost in observations if not cost and name in arguments}
    costly.discard("")
    free.discard("")
    for operator, values in (("=", costly - free), ("!=", free - costly)):
        texts = sorted(str(value) for value in values)
        numbers = [text for text in texts if isinstance(constant(text), (int, float)) and text not in ("True", "False")]
        if texts and len(texts) <= 6 and len(numbers) <= 1:
            yield f"value:{name}{operator}{'|'.join(texts)}"
    yield from (f"value:{name}{bound}" for bound in ("<0", ">1"))


def _literal(value: object) -> str:
    """The value as a condition spells it, or nothing."""
    value = uniform(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    plain = value is None or isinstance(value, (str, int, float, bool))
    return str(value) if plain and not set(str(value)) & set(",;&|:= ") else ""
