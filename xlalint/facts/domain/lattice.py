"""How values join. Commutative, associative and idempotent up to the widening of long unions to ``UNKNOWN``: the laws
are tested exhaustively on the small elements.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from xlalint.facts.domain.values import (
    MAX_ELEMENTS,
    MAX_OBJECTS,
    MAX_UNION,
    NO_CONSTANT,
    NONE,
    UNKNOWN,
    XLA,
    Bound,
    Function,
    Host,
    Instance,
    KnownObject,
    LoopKey,
    Mapping,
    Module,
    Sequence,
    Struct,
    Tensor,
    Union,
    Value,
    alternatives,
    host,
    instance,
    known_object,
    mapping,
    module_value,
    struct,
    tensor,
)
from xlalint.facts.domain.variation import is_read_size
from xlalint.program import ir


@cache
def _sequence(kind: str, elements: tuple[Value, ...] | None, element: Value) -> Sequence:
    return Sequence(kind, elements, element, element is not UNKNOWN)


def sequence(kind: str, elements: Iterable[Value] | None = None, element: Value | None = None) -> Sequence:
    if elements is not None:
        known = tuple(elements)
        joined = join_all(known)
        return _sequence(kind, known if len(known) <= MAX_ELEMENTS else None, joined)
    return _sequence(kind, None, UNKNOWN if element is None else element)


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
    return _union(frozenset(found)) if found and is_short(found) else UNKNOWN


def is_short(found: list[Value]) -> bool:
    """Whether a union says more than that nothing is known. One of several models of a program is called as any of
    them is; torch's own layers have too little in common."""
    count = len(found) - (NONE in found)
    if count <= MAX_UNION:
        return True
    return count <= MAX_OBJECTS and all(part is NONE or type(part) in CHOSEN_BY_NAME for part in found)


CHOSEN_BY_NAME = frozenset({Instance, Struct, Bound, Function})
"""What a program chooses from by name: its models, and so their methods."""


def add_alternative(found: list[Value], part: Value) -> None:
    """What merges with one of the others takes its place, everything else stays apart."""
    for i, other in enumerate(found):
        if other is part:
            return
        merged = merge_parts(other, part)
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
        join_changes(a.varies, b.varies),
        certainty,
        a.optional or b.optional,
        join_along(a, b),
    )


def join_along(a: Tensor, b: Tensor) -> int | None:
    if a.varies is None or b.varies is None:
        return b.along if a.varies is None else a.along
    return a.along if a.along == b.along else None


def join_dtypes(a: str | None, b: str | None) -> str | None:
    if a is None or b is None or MASKS & {a, b}:
        return None
    return "other"


MASKS = frozenset({"bool", "uint8"})


def join_dims(a: tuple[int | None, ...] | None, b: tuple[int | None, ...] | None) -> tuple[int | None, ...] | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def join_varies(a: LoopKey | None, b: LoopKey | None) -> LoopKey | None:
    if a is None or b is None:
        return a or b
    return min(a, b)


def join_changes(a: LoopKey | None, b: LoopKey | None) -> LoopKey | None:
    """What changes one of two values. What is as large as its file in one arm, and of one size in the other, is
    resized where that matters."""
    if is_read_size(a) or is_read_size(b):
        a, b = (b, a) if is_read_size(a) else (a, b)
        return min(a, b) if a is not None and b is not None and is_read_size(a) else a
    return join_varies(a, b)


def join_hosts(a: Host, b: Host) -> Host:
    varies = join_changes(a.varies, b.varies)
    read_from_device = a.read_from_device or b.read_from_device
    if a.type == b.type:
        return host(a.type, NO_CONSTANT, varies, read_from_device)
    if {a.type, b.type} == {"int", "float"}:
        return host("float", NO_CONSTANT, varies, read_from_device)
    return host("?", NO_CONSTANT, varies, read_from_device)


def merge_parts(a: Value, b: Value) -> Value | None:
    """The one value that stands for both; None where they stay apart in a union."""
    if type(a) is not type(b):
        if isinstance(a, (Instance, Struct)) and isinstance(b, (Instance, Struct)) and a.ir is b.ir:
            return instance(a.ir)
        return None
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return join_tensors(a, b)
    if isinstance(a, Host) and isinstance(b, Host):
        return None if a is NONE or b is NONE else join_hosts(a, b)
    if isinstance(a, Sequence) and isinstance(b, Sequence):
        return join_sequences(a, b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return join_mappings(a, b)
    if isinstance(a, Module) and isinstance(b, Module) and a.name == b.name:
        return module_value(
            a.name,
            join_maybe(a.elements, b.elements),
            join_costs(a.costs, b.costs),
            a.given if a.given == b.given else None,
        )
    if isinstance(a, KnownObject) and isinstance(b, KnownObject) and a.role == b.role:
        return known_object(a.role, join_maybe(a.element, b.element), join_details(a.detail, b.detail))
    if isinstance(a, Struct) and isinstance(b, Struct) and a.ir is b.ir:
        return join_structs(a, b)
    return None


@cache
def _join(a: Value, b: Value) -> Value:
    merged = merge_parts(a, b)
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


def join_all(values: Iterable[Value]) -> Value:
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return UNKNOWN if result is None else result


def join_costs(a: str | None, b: str | None) -> str | None:
    """One of several normalisations may be none of those that cost."""
    if a == b:
        return a
    known = [cost.removeprefix(PERHAPS) for cost in (a, b) if cost is not None]
    sure = a is not None and b is not None and not (a.startswith(PERHAPS) or b.startswith(PERHAPS))
    return min(known) if sure else PERHAPS + min(known)


PERHAPS = "perhaps "
"""The beginning of a remark on what a module costs that holds for some of the modules that may stand there."""


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
    return union([without_constant(part) for part in alternatives(one)])


def without_constant(value: Value) -> Value:
    if type(value) is Host and value.known and value is not NONE:
        return host(value.type, varies=value.varies, read_from_device=value.read_from_device)
    return value


def join_structs(a: Struct, b: Struct) -> Value:
    names = [name for name, _ in a.fields] + [name for name, _ in b.fields if a.get(name) is None]
    if len(names) > len(a.fields) or len(names) > len(b.fields) or names != [name for name, _ in b.fields]:
        names.sort()
    return struct(a.ir, tuple((name, join_maybe(a.get(name), b.get(name)) or UNKNOWN) for name in names))
