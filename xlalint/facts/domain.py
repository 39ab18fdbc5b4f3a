"""The lattice of abstract values. All values are interned: equality is identity, so memo keys are cheap.

``join`` is commutative, associative and idempotent up to the widening of long unions to ``UNKNOWN``; the laws are
tested exhaustively on the small elements. What is not known is ``UNKNOWN``, which is never taken for a tensor.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, TypeAlias

import msgspec

from xlalint.program import ir

XLA, HOST = "xla", "host"
LoopKey: TypeAlias = tuple[str, str, int]
"""A loop: path, qualified function name, line."""
DATA: LoopKey = ("", "", 0)
"""Not a loop: the quantity depends on the data itself."""
ROW: LoopKey = ("", "row", 0)
"""Not a loop: the length of one row of a batch."""
LONGEST: LoopKey = ("", "longest", 0)
"""Not a loop: the length of a batch's longest row, which is another one in each batch."""

MAX_ELEMENTS = 24
MAX_UNION = 4


class Value(msgspec.Struct, frozen=True, eq=False):
    """Base of all abstract values."""


class Tensor(Value, frozen=True):
    """``device`` is "xla", "host" or None (not known). ``dtype`` is bool, uint8, int, float, complex, or None;
    "other" is known not to mask. ``dims`` has one entry a dimension, None where its size is not known, and is None
    where the rank is not known. ``grad`` tells whether gradients can flow through it. ``varies`` names the loop
    whose iterations change its shape. ``certainty`` is 2 for known, 1 for learned by use or name, 0 for a guess.
    ``optional`` says that it may be None instead."""

    device: str | None
    dtype: str | None
    dims: tuple[int | None, ...] | None
    grad: bool
    varies: LoopKey | None
    certainty: int
    optional: bool

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
        )


def tensor(
    device: str | None = XLA,
    dtype: str | None = None,
    dims: tuple[int | None, ...] | None = None,
    grad: bool = True,
    varies: LoopKey | None = None,
    certainty: int = 2,
    optional: bool = False,
) -> Tensor:
    kind = "float" if dtype == "float16" else dtype
    return _tensor(device, kind, dims, grad and kind not in INTEGRAL, varies, certainty, optional)


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
    the loop that changes it; ``paid`` says that it was read from the device."""

    type: str
    constant: Any
    varies: LoopKey | None
    paid: bool

    @property
    def known(self) -> bool:
        return self.constant is not NO_CONSTANT


@lru_cache(maxsize=None, typed=True)
def _host(type_: str, constant: Any, varies: LoopKey | None, paid: bool) -> Host:
    return Host(type_, constant, varies, paid)


def host(type_: str, constant: Any = NO_CONSTANT, varies: LoopKey | None = None, paid: bool = False) -> Host:
    return _host(type_, constant, varies, paid)


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


class Record(Value, frozen=True):
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


class Module(Value, frozen=True):
    """An instance of a torch module class; ``elements`` for containers; ``name`` is "?" if learned by use."""

    name: str
    elements: Value | None
    costs: str | None
    """A remark if calling it costs whatever it is given (weight_norm)."""


class Role(Value, frozen=True):
    """An object known by its part: optimizer, scheduler, loader, iterator, writer, scaler, device …"""

    role: str
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


UNKNOWN = Unknown()
NONE = _host("none", None, None, False)
TRUE, FALSE = constant(True), constant(False)
INT, FLOAT, BOOL, STR = host("int"), host("float"), host("bool"), host("str")
OBJECT, ANY_HOST, NUMPY, SIZE, DTYPE = host("object"), host("?"), host("numpy"), host("size"), host("dtype")
PAID = host("float", paid=True)
LIKELY_HOST_DEVICE = host("device", HOST, paid=True)
"""The device of a tensor that was seen on the host."""
XLA_DEVICE, HOST_DEVICE, ANY_DEVICE = host("device", XLA), host("device", HOST), host("device")


@cache
def _sequence(kind: str, elements: tuple[Value, ...] | None, element: Value) -> Sequence:
    return Sequence(kind, elements, element, element is not UNKNOWN)


def sequence(kind: str, elements: Iterable[Value] | None = None, element: Value | None = None) -> Sequence:
    if elements is not None:
        known = tuple(elements)
        joined = joins(known)
        return _sequence(kind, known if len(known) <= MAX_ELEMENTS else None, joined)
    return _sequence(kind, None, UNKNOWN if element is None else element)


def mapping(items: tuple[tuple[Any, Value], ...] = (), rest: Value | None = None) -> Mapping:
    return _mapping(items[:40], rest if len(items) <= 40 else UNKNOWN)


_mapping = lru_cache(maxsize=None, typed=True)(Mapping)
_function, _namespace, _module, _role = cache(Function), cache(Namespace), cache(Module), cache(Role)


def function(
    definition: ir.FunctionIR,
    receiver: Value | None = None,
    captured: tuple[tuple[str, Value], ...] = (),
    bound: tuple[Value, ...] = (),
    keywords: tuple[tuple[str, Value], ...] = (),
) -> Function:
    return _function(definition, receiver, captured, bound, keywords)


cls = cache(Class)
instance = cache(Instance)
record = cache(Record)
super_of = cache(Super)


def namespace(name: str, path: str | None = None) -> Namespace:
    return _namespace(name, path)


def module(name: str, elements: Value | None = None, costs: str | None = None) -> Module:
    return _module(name, elements, costs)


def role(name: str, element: Value | None = None, detail: str | None = None) -> Role:
    return _role(name, element, detail)


bound = cache(Bound)


@cache
def _union(alternatives: frozenset[Value]) -> Union:
    return Union(tuple(sorted(alternatives, key=order_key)))


@cache
def order_key(value: Value) -> str:
    """A text that tells values apart, the same in each run: the order of a union's alternatives must not vary."""
    fields = (getattr(value, name) for name in value.__struct_fields__)
    return f"{type(value).__name__}({','.join(map(field_key, fields))})"


def field_key(field: Any) -> str:
    if isinstance(field, Value):
        return order_key(field)
    if isinstance(field, tuple):
        return f"({','.join(map(field_key, field))})"
    if isinstance(field, (ir.FunctionIR, ir.ClassIR)):
        return f"{field.module}:{field.qualname}:{field.at}"
    return f"{type(field).__name__} {field!r}"


def union(values: Iterable[Value]) -> Value:
    """Values that don't merge into one: at most one tensor, one host value, one sequence … and None beside them."""
    found: list[Value] = []
    for value in values:
        for part in value.alternatives if type(value) is Union else (value,):
            if part is UNKNOWN:
                return UNKNOWN
            add_alternative(found, part)
    if NONE in found and len(found) > 1:
        position = next((i for i, part in enumerate(found) if type(part) is Tensor), None)
        if position is not None:
            found.remove(NONE)
            found = [part.but(optional=True) if type(part) is Tensor else part for part in found]
    if len(found) == 1:
        return found[0]
    if not found or len(found) - (NONE in found) > MAX_UNION:
        return UNKNOWN
    return _union(frozenset(found))


def add_alternative(found: list[Value], part: Value) -> None:
    """What merges with one of the others takes its place, everything else stays apart."""
    for i, other in enumerate(found):
        if other is part:
            return
        merged = merge(other, part)
        if merged is not None:
            found[i] = merged
            return
    found.append(part)


# Joins


def join_tensors(a: Tensor, b: Tensor) -> Tensor:
    if a is b:
        return a
    device, certainty = a.device, min(a.certainty, b.certainty)
    if a.device != b.device:
        device = XLA if XLA in (a.device, b.device) else None
        certainty = min(certainty, 1)
    return tensor(
        device,
        a.dtype if a.dtype == b.dtype else join_dtypes(a.dtype, b.dtype),
        join_dims(a.dims, b.dims),
        a.grad or b.grad,
        join_varies(a.varies, b.varies),
        certainty,
        a.optional or b.optional,
    )


def join_dtypes(a: str | None, b: str | None) -> str | None:
    if a is None or b is None or MASKS & {a, b}:
        return None
    return "other"


MASKS = frozenset({"bool", "uint8"})


def join_dims(a: tuple[int | None, ...] | None, b: tuple[int | None, ...] | None) -> tuple[int | None, ...] | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b))


def join_varies(a: LoopKey | None, b: LoopKey | None) -> LoopKey | None:
    if a is None or b is None:
        return a or b
    return min(a, b)


def join_hosts(a: Host, b: Host) -> Host:
    varies = join_varies(a.varies, b.varies)
    paid = a.paid or b.paid
    if a.type == b.type:
        return host(a.type, NO_CONSTANT, varies, paid)
    if {a.type, b.type} == {"int", "float"}:
        return host("float", NO_CONSTANT, varies, paid)
    return host("?", NO_CONSTANT, varies, paid)


def merge(a: Value, b: Value) -> Value | None:
    """The one value that stands for both; None where they stay apart in a union."""
    kind = type(a)
    if kind is not type(b):
        if isinstance(a, (Instance, Record)) and isinstance(b, (Instance, Record)) and a.ir is b.ir:
            return instance(a.ir)
        return None
    if kind is Tensor:
        return join_tensors(a, b)  # type: ignore[arg-type]
    if kind is Host:
        return None if a is NONE or b is NONE else join_hosts(a, b)  # type: ignore[arg-type]
    if kind is Sequence:
        return join_sequences(a, b)  # type: ignore[arg-type]
    if kind is Mapping:
        return join_mappings(a, b)  # type: ignore[arg-type]
    if isinstance(a, Module) and isinstance(b, Module) and a.name == b.name:
        return module(a.name, join_maybe(a.elements, b.elements), join_costs(a.costs, b.costs))
    if isinstance(a, Role) and isinstance(b, Role) and a.role == b.role:
        return role(a.role, join_maybe(a.element, b.element), join_details(a.detail, b.detail))
    if isinstance(a, Record) and isinstance(b, Record) and a.ir is b.ir:
        return join_records(a, b)
    return None


@cache
def _join(a: Value, b: Value) -> Value:
    merged = merge(a, b)
    return merged if merged is not None else union((a, b))


def join(a: Value, b: Value) -> Value:
    if a is b:
        return a
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    return _join(a, b)


def join_details(a: str | None, b: str | None) -> str | None:
    """What may be a device loader is not known to lack a boundary."""
    if a == b:
        return a
    return "boundary" if "boundary" in (a, b) else None


def join_maybe(a: Value | None, b: Value | None) -> Value | None:
    if a is None or b is None:
        return b if a is None else a
    return join(a, b)


def joins(values: Iterable[Value]) -> Value:
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return UNKNOWN if result is None else result


def join_costs(a: str | None, b: str | None) -> str | None:
    return min(a, b) if a is not None and b is not None else a or b


def join_sequences(a: Sequence, b: Sequence) -> Sequence:
    kind = a.kind if a.kind == b.kind else "list"
    if a.elements == () or b.elements == ():
        other = b if a.elements == () else a
        if other.elements == ():
            return sequence(kind, ())
        return sequence(kind, None, other.element)
    if a.elements is not None and b.elements is not None and len(a.elements) == len(b.elements):
        return sequence(kind, [join(x, y) for x, y in zip(a.elements, b.elements, strict=True)])
    return sequence(kind, None, join(a.element, b.element))


def join_mappings(a: Mapping, b: Mapping) -> Value:
    keys = [key for key, _ in a.items] + [key for key, _ in b.items if a.get(key) is None]
    if len(keys) > len(a.items) or len(keys) > len(b.items) or keys != [key for key, _ in b.items]:
        keys.sort(key=field_key)
    items = tuple((key, join_entries(a.get(key), b.get(key))) for key in keys)
    return mapping(items, join_maybe(a.rest, b.rest))


def join_entries(a: Value | None, b: Value | None) -> Value:
    """An entry that one dict alone has may be missing: its constant is not sure."""
    if a is not None and b is not None:
        return join(a, b)
    one = a if a is not None else b
    assert one is not None
    if type(one) is Host and one.known and one is not NONE:
        return host(one.type, varies=one.varies, paid=one.paid)
    return one


def join_records(a: Record, b: Record) -> Value:
    names = [name for name, _ in a.fields] + [name for name, _ in b.fields if a.get(name) is None]
    if len(names) > len(a.fields) or len(names) > len(b.fields) or names != [name for name, _ in b.fields]:
        names.sort()
    return record(a.ir, tuple((name, join_maybe(a.get(name), b.get(name)) or UNKNOWN) for name in names))


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


TENSOR_ROLES = frozenset({"batch", "output", "derived"})
"""Roles that stand for tensors or for structures of them: a loader's batch, a model's output, and what an unknown
function made of tensors that it was given."""


def as_operand(value: Value) -> Value:
    """A value as the operand of a torch op: that proves what has such a role to be a tensor."""
    if type(value) is Role and value.role in TENSOR_ROLES and type(value.element) is Tensor:
        return value.element
    return value


def without_gradient(value: Value) -> Value:
    """The same as it is made under ``no_grad``."""
    if type(value) is Tensor:
        return value.but(grad=False) if value.grad else value
    if type(value) is Role and value.role in TENSOR_ROLES and value.element is not None:
        return role(value.role, without_gradient(value.element), value.detail)
    if type(value) is Sequence:
        if value.elements is not None:
            return sequence(value.kind, [without_gradient(part) for part in value.elements])
        return sequence(value.kind, None, without_gradient(value.element))
    return value


def is_guess(value: Value) -> bool:
    """Nothing is known of it but that it was made of tensors."""
    return (type(value) is Tensor and value.certainty == 0) or (type(value) is Role and value.role == "derived")


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
    """A number that an accumulator starts from, or that was read from a tensor."""
    return value.paid or (value.known and value.type in ("int", "float"))


def truth(value: Value) -> bool | None:
    """What ``bool(value)`` is, where it is known."""
    kind = type(value)
    if kind is Host:
        if not value.known or value.type in ("dtype", "device"):  # type: ignore[attr-defined]
            return None
        return bool(value.constant)  # type: ignore[attr-defined]
    if kind in (Function, Instance, Module, Class):
        return True
    if kind is Role:
        return None if value.role in TENSOR_ROLES else True  # type: ignore[attr-defined]
    if kind is Sequence and value.kind == "tuple" and value.elements is not None:  # type: ignore[attr-defined]
        return len(value.elements) > 0  # type: ignore[attr-defined]
    return None


def without_none(value: Value) -> Value:
    if type(value) is Tensor:
        return value.but(optional=False) if value.optional else value
    if type(value) is Union:
        return union([part for part in value.alternatives if part is not NONE] or [UNKNOWN])
    return UNKNOWN if value is NONE else value
