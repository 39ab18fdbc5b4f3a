"""Results of ops: dtype, dims and device, from the table of results and the arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xlalint.facts.domain.lattice import MASKS, sequence
from xlalint.facts.domain.row_lengths import is_mark
from xlalint.facts.domain.values import (
    DATA,
    FALSE,
    HOST,
    INTEGRAL,
    NONE,
    TRUE,
    XLA,
    Host,
    LoopKey,
    Sequence,
    Tensor,
    Union,
    Value,
    constant,
    of_rank,
    tensor,
    tensor_of,
)
from xlalint.facts.domain.variation import is_read_size, is_rounded_draw
from xlalint.facts.operations.arithmetic import combined, matmul
from xlalint.facts.state.call import Arguments, Keywords
from xlalint.knowledge.tables import results


def dtype_argument(keywords: dict[str, Value], default: str | None) -> str | None:
    value = keywords.get("dtype")
    if type(value) is Host and value.type == "dtype":
        return value.constant if value.known else None
    return default if value is None or value is NONE else None


def device_argument(keywords: dict[str, Value], default: str | None = HOST) -> str | None:
    """Where a factory makes its tensor. A device that nobody knows is taken for the user's: XLA."""
    value = keywords.get("device")
    if value is None or value is NONE:
        return default
    return device_of(value)


def device_of(value: Value) -> str | None:
    if type(value) is Union:
        found = {device_of(part) for part in value.alternatives if part is not NONE}
        if found == {HOST}:
            return HOST
        return XLA
    if type(value) is Host:
        if value.type == "device" and value.known:
            return str(value.constant)
        if value.type == "str" and value.known:
            return HOST if value.constant.startswith(("cpu", "meta")) else XLA
    return XLA


def is_meta(value: Value) -> bool:
    """The device whose tensors have no values: moving there reads nothing (measured)."""
    return type(value) is Host and value.known and value.type in ("str", "device") and value.constant == "meta"


def op_result(name: str, base: Tensor, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    """``arguments`` are those after the first tensor."""
    row = results().get(name) or (results().get(name[:-1]) if name.endswith("_") else None)
    base = base.but(optional=False) if base.optional else base
    if name in SETTLING and is_read_size(base.varies):
        base = base.but(varies=None)
    if row is None:
        return base.but(dims=None, dtype=dtype_argument(keywords, weakened(base.dtype)))
    dtype = row.dtype or None
    shape = row.shape
    if shape == "binary" or (shape == "reduce-pair" and arguments and tensor_of(arguments[0]) is not None):
        other = tensor_of(arguments[0]) if arguments else None
        return combined(base, other, dtype, False, arguments[0] if arguments and other is None else None)
    if shape == "reduce-last-pair":
        return reduced(name, base, arguments or [constant(-1)], keywords, dtype, True)
    if shape in ("reduce", "reduce-pair"):
        return reduced(name, base, arguments, keywords, dtype, shape == "reduce-pair")
    if shape == "matmul":
        return matmul(base, tensor_of(arguments[0]) if arguments else None)
    kind = dtype_argument(keywords, dtype or base.dtype)
    if shape == "same":
        return base.but(dtype=kind, grad=base.grad and kind not in INTEGRAL)
    if shape == "sought":
        sought = tensor_of(arguments[0] if arguments else keywords.get("input", NONE))
        return base.but(dtype=kind, dims=sought.dims if sought is not None else None, grad=False)
    if shape == "rank":
        return base.but(dtype=kind, dims=of_rank(base.rank))
    if shape == "pair":
        ranked = base.but(dims=of_rank(base.rank))
        return sequence("tuple", (ranked, ranked.but(dtype="int", grad=False)))
    if shape == "loss":
        return loss(base, keywords)
    if shape == "like":
        device = device_argument(keywords, base.device)
        return tensor(device, kind, base.dims, False, base.varies, base.certainty)
    if shape == "rows":
        return base.but(dims=(None, base.rank), dtype="int", grad=False, varies=DATA, along=0)
    return base.but(dtype=kind, dims=None)


SETTLING = frozenset(
    {
        "interpolate", "upsample", "grid_sample", "pad", "resize", "resize_", "center_crop", "crop",
        "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d", "fold", "unfold",
    }
)  # fmt: skip
"""Ops that may well give what was as large as its file one size for all."""


def flowing(result: Value, name: str, given: Iterable[Value]) -> Value:
    """The result of an op through which gradients flow to any of its operands: ``F.linear(x, weight)``."""
    if type(result) is not Tensor or result.grad or result.dtype in INTEGRAL:
        return result
    row = results().get(name)
    if row is not None and row.shape in WITHOUT_GRADIENT:
        return result
    return result.but(grad=True) if any(part.grad for value in given if (part := tensor_of(value))) else result


WITHOUT_GRADIENT = frozenset({"like", "rows", "factory"})
"""Kinds of results that are made anew, whatever the op was given."""


def weakened(dtype: str | None) -> str | None:
    """The dtype of an op that the table does not know: a mask need not stay one."""
    return None if dtype in MASKS else dtype


def loss(base: Tensor, keywords: dict[str, Value]) -> Tensor:
    reduction = keywords.get("reduction")
    none = type(reduction) is Host and reduction.constant == "none"
    scalar = reduction is None or (type(reduction) is Host and reduction.known and not none)
    return base.but(dtype="float", dims=() if scalar else None, grad=True)


def reduced(
    name: str,
    base: Tensor,
    arguments: list[Value],
    keywords: dict[str, Value],
    dtype: str | None,
    pair: bool,
) -> Value:
    position = 1 if name in ("norm", "quantile", "nanquantile") else 0
    dim = keywords.get("dim", keywords.get("axis"))
    if dim is None and len(arguments) > position:
        dim = arguments[position]
    keep = keywords.get("keepdim", keywords.get("keepdims"))
    if keep is None and len(arguments) > position + 1:
        keep = arguments[position + 1]
    kind = dtype_argument(keywords, dtype or reduced_dtype(name, base.dtype))
    dims: tuple[int | None, ...] | None
    if dim is None or dim is NONE:
        kept = keywords.get("keepdim", keywords.get("keepdims"))
        whole = () if kept is None or kept is FALSE else of_rank(base.rank) if kept is TRUE else None
        return base.but(dims=whole, dtype=kind, varies=None, grad=base.grad and kind not in INTEGRAL)
    dims = reduced_dims(base, dim, keep)
    value = base.but(dims=dims, dtype=kind, grad=base.grad and kind not in INTEGRAL)
    if pair:
        return sequence("tuple", (value, value.but(dtype="int", grad=False)))
    return value


def reduced_dtype(name: str, dtype: str | None) -> str | None:
    """Sums of masks are counts."""
    if name in ("sum", "prod", "cumsum", "nansum") and dtype in MASKS:
        return "int"
    return dtype


def reduced_dims(base: Tensor, dim: Value, keep: Value | None) -> tuple[int | None, ...] | None:
    if base.rank is None:
        return None
    if keep is TRUE:
        return of_rank(base.rank)
    if keep is not None and keep is not FALSE:
        return None
    if type(dim) is Sequence and dim.elements is not None:
        return of_rank(max(base.rank - len(dim.elements), 0))
    if type(dim) is Host:
        return of_rank(max(base.rank - 1, 0))
    return None


def dims_from(arguments: list[Value]) -> tuple[int | None, ...] | None:
    """Sizes as written: ``(2, 3)``, ``[2, 3]`` or ``2, 3``."""
    if len(arguments) == 1 and type(arguments[0]) is Sequence:
        elements = arguments[0].elements
        if elements is None:
            return None
        arguments = list(elements)
    sizes: list[int | None] = []
    for value in arguments:
        if type(value) is Host and value.type in ("int", "?", "float"):
            sizes.append(value.constant if type(value.constant) is int else None)
        elif type(value) is Host and value.type == "size":
            return None
        elif type(value) is Tensor and value.rank == 0:
            sizes.append(None)
        else:
            return None
    return tuple(sizes)


def varying(arguments: list[Value], rounded: bool = False) -> LoopKey | None:
    """The loop that changes one of these sizes. ``rounded`` is whether a random number that was rounded counts."""
    for value in arguments:
        if type(value) is Host and value.varies is not None and not is_mark(value.varies):
            if rounded or not is_rounded_draw(value.varies):
                return value.varies
        elif type(value) is Sequence:
            found = varying(list(value.elements or (value.element,)), rounded)
            if found is not None:
                return found
    return None


# Results that the table can't express


def of_one_hot(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    return base.but(dtype="int", dims=None if base.rank is None else of_rank(base.rank + 1), grad=False)


def of_nonzero(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    flat = base.but(dtype="int", dims=(None,), grad=False, varies=DATA, along=0)
    if keywords.get("as_tuple") is TRUE or (rest and rest[0] is TRUE):
        return sequence("tuple", None, flat) if base.rank is None else sequence("tuple", [flat] * base.rank)
    return flat.but(dims=(None, base.rank), along=0)


def of_masked_select(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    return base.but(dims=(None,), varies=DATA, along=0)


def of_unique(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    value = base.but(dims=of_rank(1) if "dim" not in keywords else None, varies=DATA, grad=False)
    extra = [k for k in ("return_inverse", "return_counts") if keywords.get(k) not in (None, FALSE)]
    if not extra:
        return value
    return sequence("tuple", [value] + [value.but(dtype="int", dims=(None,)) for _ in extra])


def of_repeat(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    return base.but(dims=of_rank(base.rank))


def of_second(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    """One result for each element of the second operand: ``take``."""
    other = tensor_of(rest[0]) if rest else tensor_of(next(iter(keywords.values()), None))
    return base.but(dims=other.dims if other is not None else None)


def of_searchsorted(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    other = tensor_of(rest[0]) if rest else None
    number = bool(rest) and type(rest[0]) is Host and rest[0].type in ("int", "float")
    return base.but(dims=() if number else other and other.dims, dtype="int", grad=False)


def of_bucketize(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    return base.but(dtype="int", grad=False)


def of_multinomial(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    count = rest[0] if rest else keywords.get("num_samples")
    size = count.constant if type(count) is Host and type(count.constant) is int else None
    dims = None if base.dims is None else (*base.dims[:-1], size)
    return base.but(dims=dims, dtype="int", grad=False)


def of_trace(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    return base.but(dims=())


def of_outer(base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    return combined(base, tensor_of(rest[0]) if rest else None).but(dims=of_rank(2))


SPECIAL: dict[str, Callable[[Tensor, Arguments, Keywords], Value]] = {
    "one_hot": of_one_hot,
    "nonzero": of_nonzero,
    "argwhere": of_nonzero,
    "masked_select": of_masked_select,
    "unique": of_unique,
    "unique_consecutive": of_unique,
    "repeat_interleave": of_repeat,
    "searchsorted": of_searchsorted,
    "bucketize": of_bucketize,
    "multinomial": of_multinomial,
    "take": of_second,
    "trace": of_trace,
    **dict.fromkeys(("outer", "ger"), of_outer),
}
