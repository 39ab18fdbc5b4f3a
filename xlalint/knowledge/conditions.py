"""Conditions on a call's arguments: when an op that costs only sometimes does cost.

The language is closed, so that a static analyser can decide it (``;`` is or, ``&`` is and, ``|`` parts values)::

    missing:A        A is absent, or is its default        nondefault:A   the opposite
    tensor:A         A is a tensor                         notensor:A     the opposite
    dtype:A=bool     A, or a member of A, has that kind of dtype: bool, int, float, complex
    rank:A=3|4       number of dimensions of the tensor A
    value:A=x|y      A is one of the values; also ``!=``, ``<`` and ``>`` (one number; any member of a sequence)
    uneven:A=2       of the last 2 dimensions of the call's first tensor one is no multiple of the size A
    grad:A           gradients are recorded for A (any argument: ``grad:*``)

Answers have three values: None is "can't be told".
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import msgspec

UNSETTLED = "?"
"""A condition that the samples do not settle: the op costs sometimes, and nobody can say when."""

_WORDS = {"True": True, "False": False, "None": None, "inf": math.inf, "-inf": -math.inf}
_KINDS = frozenset({"missing", "nondefault", "tensor", "notensor", "dtype", "rank", "value", "uneven", "grad"})
_OPERATORS = ("!=", "=", "<", ">")


class ConditionError(ValueError):
    """A text that is not in the language."""


class Unknown(msgspec.Struct, frozen=True):
    """The value of an argument that is passed but not known."""


UNKNOWN = Unknown()


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one argument of a call; an argument left out has no ``Argument``."""

    value: object = UNKNOWN
    """A constant (numbers, strings, None, tuples of them) or ``UNKNOWN``."""
    tensor: bool | None = None
    dtypes: frozenset[str] | None = None
    """Kinds of dtype of the tensor or of the tensors in the sequence; None if unknown."""
    rank: int | None = None
    shape: tuple[int | None, ...] | None = None
    grad: bool | None = None
    counts: bool = False
    """It is a positive number, whichever: a size, a number of classes."""


class Atom(msgspec.Struct, frozen=True):
    kind: str
    argument: str
    operator: str = ""
    values: tuple[object, ...] = ()


Condition = tuple[tuple[Atom, ...], ...]
"""Alternatives of conjunctions."""


def constant(text: str) -> object:
    """The value that a word of a condition or of a default stands for: a number, True, False, None or a string."""
    if text in _WORDS:
        return _WORDS[text]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def uniform(value: object) -> object:
    """A sequence whose members are all equal stands for its member: ``(1, 1)`` is 1."""
    if isinstance(value, (tuple, list)):
        members = tuple(uniform(member) for member in value)
        return members[0] if members and all(_same(member, members[0]) for member in members) else members
    return value


def _same(left: object, right: object) -> bool:
    if isinstance(left, bool) is not isinstance(right, bool):
        return False
    return left == right


@functools.cache
def parse(text: str) -> Condition:
    """Raises ``ConditionError`` for what is not in the language (``UNSETTLED`` and "" included)."""
    return tuple(tuple(_atom(part) for part in alternative.split("&")) for alternative in text.split(";"))


def _atom(text: str) -> Atom:
    kind, _, rest = text.partition(":")
    if kind not in _KINDS or not rest:
        raise ConditionError(f"not a condition: {text!r}")
    if kind not in ("value", "dtype", "rank", "uneven"):
        return Atom(kind, rest)
    for operator in _OPERATORS:
        name, found, values = rest.partition(operator)
        if found and name and values:
            return Atom(kind, name, operator, tuple(constant(value) for value in values.split("|")))
    raise ConditionError(f"not a condition: {text!r}")


def decide(condition: Condition, arguments: Mapping[str, Argument], defaults: Mapping[str, object]) -> bool | None:
    """Whether the condition holds for a call; ``arguments`` by parameter name, in the order of the parameters."""
    answers = [_all([_holds(atom, arguments, defaults) for atom in alternative]) for alternative in condition]
    if True in answers:
        return True
    return None if None in answers else False


def _all(answers: list[bool | None]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _holds(atom: Atom, arguments: Mapping[str, Argument], defaults: Mapping[str, object]) -> bool | None:
    if atom.kind == "grad":
        return _grad(atom, arguments)
    given = arguments.get(atom.argument)
    if atom.kind in ("missing", "nondefault"):
        absent = _is_default(given, defaults.get(atom.argument))
        return absent if atom.kind == "missing" else _not(absent)
    if given is None:
        if atom.kind == "value" and atom.argument in defaults:
            return _compare(atom, defaults[atom.argument])
        return atom.kind == "notensor"
    if atom.kind == "tensor":
        return given.tensor
    if atom.kind == "notensor":
        return _not(given.tensor)
    if atom.kind == "dtype":
        return _has_dtype(given, atom)
    if atom.kind == "rank":
        return None if given.rank is None else given.rank in atom.values
    if atom.kind == "uneven":
        return _uneven(given, _pooled(arguments), atom.values[0])
    if given.tensor or isinstance(given.value, Unknown):
        return False if given.tensor else None
    return _compare(atom, given.value)


def _grad(atom: Atom, arguments: Mapping[str, Argument]) -> bool | None:
    if atom.argument != "*":
        given = arguments.get(atom.argument)
        return False if given is None else given.grad
    return None if not arguments else _not(_all([_not(given.grad) for given in arguments.values()]))


def _is_default(given: Argument | None, default: object) -> bool | None:
    if given is None:
        return True
    if given.tensor:
        return False
    if isinstance(given.value, Unknown):
        is_count = isinstance(default, (int, float)) and default >= 0
        return False if given.counts and not is_count else None
    return _same(uniform(given.value), uniform(default))


def _has_dtype(given: Argument, atom: Atom) -> bool | None:
    if given.dtypes is not None:
        return any(value in given.dtypes for value in atom.values)
    plain = given.value is None or isinstance(given.value, (bool, int, float, str))
    return False if given.tensor is False and plain else None


def _compare(atom: Atom, value: object) -> bool | None:
    value = uniform(value)
    if atom.operator == "=":
        return any(_same(value, wanted) for wanted in atom.values)
    if atom.operator == "!=":
        return not any(_same(value, wanted) for wanted in atom.values)
    bound = atom.values[0]
    members = value if isinstance(value, tuple) else (value,)
    if not isinstance(bound, (int, float)) or any(isinstance(member, Unknown) for member in members):
        return None
    numbers = [member for member in members if isinstance(member, (int, float))]
    return any(number < bound if atom.operator == "<" else number > bound for number in numbers)


def _pooled(arguments: Mapping[str, Argument]) -> Argument:
    """The tensor that a size is asked for: the first argument of the call, also where that of a module follows."""
    called = (given for name, given in arguments.items() if name.startswith("call."))
    return next(called, next(iter(arguments.values())))


def _uneven(size: Argument, over: Argument, dimensions: object) -> bool | None:
    """``size`` may hold None, which keeps the dimension; 1 divides everything, so it needs no shape."""
    if isinstance(size.value, Unknown):
        return None
    whole = uniform(size.value)
    if whole is None or _same(whole, 1):
        return False
    if over.shape is None or not isinstance(dimensions, int):
        return None
    wanted = whole if isinstance(whole, tuple) else (whole,) * dimensions
    if not wanted or len(wanted) > len(over.shape):
        return None
    answers: list[bool | None] = []
    for dimension, part in zip(over.shape[-len(wanted) :], wanted, strict=True):
        if part is None or part == 1:
            answers.append(False)
        elif dimension is None or not isinstance(part, int) or part == 0:
            answers.append(None)
        else:
            answers.append(dimension % part != 0)
    return _not(_all([_not(answer) for answer in answers]))
