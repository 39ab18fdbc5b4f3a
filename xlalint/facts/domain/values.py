"""The abstract values. All are interned: equality is identity, so memo keys are cheap.

What is not known is ``UNKNOWN``, which is never taken for a tensor. How values join stands in ``lattice``.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

import msgspec

from xlalint.facts.domain.role import Role
from xlalint.program import ir

XLA: Final = "xla"
HOST: Final = "host"
LoopKey: TypeAlias = tuple[str, str, int]
"""A loop: path, qualified function name, line."""
DATA: Final[LoopKey] = ("", "", 0)
"""Not a loop: the quantity depends on the data itself."""
ROW: Final[LoopKey] = ("", "row", 0)
"""Not a loop: the length of one row of a batch."""
LONGEST: Final[LoopKey] = ("", "longest", 0)
"""Not a loop: the length of a batch's longest row, which is another one in each batch."""
SHORTEST: Final[LoopKey] = ("", "shortest", 0)
"""Not a loop: the length of a batch's shortest row."""
ROUNDED: Final[LoopKey] = ("", "rounded", 0)
"""Not a loop: such a length that was rounded, to one of as many as the mark says (see ``row_lengths``)."""
RANK: Final[LoopKey] = ("", "rank", 0)
"""Not a loop: each process, or each device, has a value of its own."""

KNOWN: Final = 3
DECLARED: Final = 2
"""It is a tensor, but where it lies nobody has shown: who calls may give another than the annotation says."""

MAX_ELEMENTS: Final = 24
MAX_UNION: Final = 4
MAX_OBJECTS: Final = 12
"""How many objects, or methods of them, one may be of before nothing is known of it."""


class Value(msgspec.Struct, frozen=True, eq=False):
    """Base of all abstract values."""


class Tensor(Value, frozen=True):
    """``device`` is "xla", "host" or None (not known). ``dtype`` is bool, uint8, int, float, complex, or None;
    "other" is known not to mask. ``dims`` has one entry a dimension, None where its size is not known, and is None
    where the rank is not known. ``grad`` tells whether gradients can flow through it. ``varies`` names the loop
    whose iterations change its shape. ``certainty`` is ``KNOWN``, ``DECLARED`` (an annotation
    alone says so), 1 for learned by use or name, 0 for a guess. ``optional`` says that it may be None instead.
    ``along`` is the one dimension that varies, counted from the first, where that is known."""

    device: str | None
    dtype: str | None
    dims: tuple[int | None, ...] | None
    grad: bool
    varies: LoopKey | None
    certainty: int
    optional: bool
    along: int | None

    @property
    def rank(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def live(self) -> bool:
        """A read of it waits for the device."""
        return self.device != HOST

    def but(self, **changes: Any) -> Tensor:
        get = changes.get
        return tensor(
            get("device", self.device),
            get("dtype", self.dtype),
            get("dims", self.dims),
            get("grad", self.grad),
            get("varies", self.varies),
            get("certainty", self.certainty),
            get("optional", self.optional),
            get("along", None if "dims" in changes or "varies" in changes else self.along),
        )

    def varies_at(self, dim: int) -> LoopKey | None:
        """What changes the size of one dimension."""
        position = dim if dim >= 0 or self.dims is None else dim + len(self.dims)
        return None if self.along is not None and position >= 0 and position != self.along else self.varies


def tensor(
    device: str | None = XLA,
    dtype: str | None = None,
    dims: tuple[int | None, ...] | None = None,
    grad: bool = True,
    varies: LoopKey | None = None,
    certainty: int = KNOWN,
    optional: bool = False,
    along: int | None = None,
) -> Tensor:
    kind = "float" if dtype == "float16" else dtype
    place = along if varies is not None else None
    return _tensor(device, kind, dims, grad and kind not in INTEGRAL, varies, certainty, optional, place)


_tensor = cache(Tensor)


INTEGRAL = frozenset({"bool", "uint8", "int"})


def of_rank(rank: int | None) -> tuple[None, ...] | None:
    return None if rank is None or rank < 0 else (None,) * rank


class _NoConstant:
    __slots__ = ()

    def __repr__(self) -> str:
        return "?"


NO_CONSTANT: Any = _NoConstant()


class Host(Value, frozen=True):
    """A Python or numpy value. ``type`` is its type's name or "?"; ``constant`` its value where known; ``varies``
    the loop that changes it; ``read_from_device`` says that it was read from the device."""

    type: str
    constant: Any
    varies: LoopKey | None
    read_from_device: bool

    @property
    def known(self) -> bool:
        return self.constant is not NO_CONSTANT


@lru_cache(maxsize=None, typed=True)
def _host(type_: str, constant: Any, varies: LoopKey | None, read_from_device: bool) -> Host:
    return Host(type_, constant, varies, read_from_device)


def host(
    type_: str, constant: Any = NO_CONSTANT, varies: LoopKey | None = None, read_from_device: bool = False
) -> Host:
    return _host(type_, constant, varies, read_from_device)


@lru_cache(maxsize=None, typed=True)
def constant(value: Any) -> Host:
    if value is None:
        return NONE
    kind = type(value).__name__
    if isinstance(value, str) and len(value) > 80:
        return STR
    if kind in ("int", "float", "bool", "str"):
        return _host(kind, value, None, False)
    return _host("ellipsis" if value is Ellipsis else kind, NO_CONSTANT, None, False)


class Unknown(Value, frozen=True):
    pass


class Sequence(Value, frozen=True):
    """A Python sequence: its elements where they are few and known, else one value for all of them."""

    kind: str
    elements: tuple[Value, ...] | None
    element: Value
    tracked: bool
    """Whether ``element`` may be trusted to stand for every element."""


class Mapping(Value, frozen=True):
    """A dict: known keys, and one value for all others or None where there are none."""

    items: tuple[tuple[Any, Value], ...]
    rest: Value | None

    def get(self, key: Any) -> Value | None:
        for known, value in self.items:
            if known == key and type(known) is type(key):
                return value
        return None


class Function(Value, frozen=True):
    """A function of the program; ``receiver`` for a bound method, ``captured`` for what its closure holds,
    ``bound`` and ``bound_keywords`` for ``functools.partial``."""

    ir: ir.FunctionIR
    receiver: Value | None
    captured: tuple[tuple[str, Value], ...]
    bound: tuple[Value, ...]
    bound_keywords: tuple[tuple[str, Value], ...]


class Class(Value, frozen=True):
    ir: ir.ClassIR


class Instance(Value, frozen=True):
    """An object of a class of the program."""

    ir: ir.ClassIR


class Struct(Value, frozen=True):
    """An object whose fields are known: a dataclass, a model output, a meter."""

    ir: ir.ClassIR
    fields: tuple[tuple[str, Value], ...]

    def get(self, name: str) -> Value | None:
        for field, value in self.fields:
            if field == name:
                return value
        return None


class Namespace(Value, frozen=True):
    """A dotted name outside the program, or a module."""

    name: str
    path: str | None


class Partial(Value, frozen=True):
    """``functools.partial`` of something outside the program."""

    target: Namespace
    bound: tuple[Value, ...]
    bound_keywords: tuple[tuple[str, Value], ...]


class Module(Value, frozen=True):
    """An instance of a torch module class; ``elements`` for containers; ``name`` is "?" if learned by use."""

    name: str
    elements: Value | None
    costs: str | None
    """A remark if calling it costs whatever it is given (weight_norm)."""
    given: str | None = None
    """How it was made, for one of a class of an installed package."""


class KnownObject(Value, frozen=True):
    """An object known by its part: optimizer, scheduler, loader, iterator, writer, scaler, device …"""

    role: Role
    element: Value | None
    detail: str | None


class Bound(Value, frozen=True):
    """A method of something outside the program."""

    receiver: Value
    name: str


class Super(Value, frozen=True):
    ir: ir.ClassIR
    receiver: Value


class Union(Value, frozen=True):
    alternatives: tuple[Value, ...]


UNKNOWN: Final = Unknown()
NONE: Final[Host] = _host("none", None, None, False)
TRUE: Final = constant(True)
FALSE: Final = constant(False)
INT: Final = host("int")
FLOAT: Final = host("float")
BOOL: Final = host("bool")
STR: Final = host("str")
INFINITE: Final = constant(math.inf)
OBJECT: Final = host("object")
ANY_HOST: Final = host("?")
NUMPY: Final = host("numpy")
SIZE: Final = host("size")
DTYPE: Final = host("dtype")
READ_NUMBER: Final = host("float", read_from_device=True)
LIKELY_HOST_DEVICE: Final = host("device", HOST, read_from_device=True)
"""The device of a tensor that was seen on the host."""
XLA_DEVICE: Final = host("device", XLA)
HOST_DEVICE: Final = host("device", HOST)
ANY_DEVICE: Final = host("device")


def mapping(items: tuple[tuple[Any, Value], ...] = (), rest: Value | None = None) -> Mapping:
    return _mapping(items[:40], rest if len(items) <= 40 else UNKNOWN)


_mapping = lru_cache(maxsize=None, typed=True)(Mapping)
_function, _namespace, _module, _known_object = cache(Function), cache(Namespace), cache(Module), cache(KnownObject)


def function_value(
    definition: ir.FunctionIR,
    receiver: Value | None = None,
    captured: tuple[tuple[str, Value], ...] = (),
    bound: tuple[Value, ...] = (),
    keywords: tuple[tuple[str, Value], ...] = (),
) -> Function:
    return _function(definition, receiver, captured, bound, keywords)


class_object = cache(Class)
instance = cache(Instance)
struct = cache(Struct)
super_of = cache(Super)


def namespace(name: str, path: str | None = None) -> Namespace:
    return _namespace(name, path)


def module_value(
    name: str, elements: Value | None = None, costs: str | None = None, given: str | None = None
) -> Module:
    return _module(name, elements, costs, given)


def known_object(role: Role, element: Value | None = None, detail: str | None = None) -> KnownObject:
    return _known_object(role, element, detail)


bound_method = cache(Bound)
partial_of = cache(Partial)


def batch_on(device: str | None = XLA) -> KnownObject:
    """What a loader gives, likely tensors: no gradient flows into them."""
    return known_object(Role.BATCH, tensor(device, grad=False, certainty=1))


# Questions


def alternatives(value: Value) -> tuple[Value, ...]:
    return value.alternatives if type(value) is Union else (value,)


def tensor_of(value: Value | None) -> Tensor | None:
    """The tensor that this value is, or may be."""
    if type(value) is Tensor:
        return value
    if type(value) is Union:
        for part in value.alternatives:
            if type(part) is Tensor:
                return part
    return None


TENSOR_ROLES = frozenset({Role.BATCH, Role.OUTPUT, Role.DERIVED})
"""Roles that stand for tensors or for structures of them: a loader's batch, a model's output, and what an unknown
function made of tensors that it was given."""


def is_guess(value: Value) -> bool:
    """Nothing is known of it but that it was made of tensors."""
    return (type(value) is Tensor and value.certainty == 0) or (
        type(value) is KnownObject and value.role == Role.DERIVED
    )


def surely_tensor(value: Value) -> bool:
    """Nothing else in it is ambiguous: besides a tensor there are at most None and where a sum starts."""
    if type(value) is Tensor:
        return True
    if type(value) is not Union:
        return False
    return all(
        type(part) is Tensor or part is NONE or (type(part) is Host and is_start(part)) for part in value.alternatives
    )


def is_start(value: Host) -> bool:
    """A number that an accumulator starts from. One that was read from a tensor is none."""
    return value.known and value.type in ("int", "float")


def truth_value(value: Value) -> bool | None:
    """What ``bool(value)`` is, where it is known."""
    if isinstance(value, Host):
        if not value.known or value.type in ("dtype", "device"):
            return None
        return bool(value.constant)
    if isinstance(value, (Function, Instance, Module, Class)):
        return True
    if isinstance(value, KnownObject):
        return None if value.role in TENSOR_ROLES else True
    if isinstance(value, Sequence) and value.kind == "tuple" and value.elements is not None:
        return len(value.elements) > 0
    return None
