"""Files as large as they are: images and sounds that are read, and what keeps their size."""

from __future__ import annotations

from xlalint.facts.domain.declared import OF_FILE
from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.values import NUMPY, Host, Sequence, Tensor, Value, host
from xlalint.facts.domain.variation import read_in, size_kept
from xlalint.facts.state.call import Arguments, Call
from xlalint.facts.state.frame import Frame

KEEPING = frozenset(
    {
        "array", "asarray", "ascontiguousarray", "astype", "clip", "convert", "copy", "expand_dims", "flip", "fliplr",
        "flipud", "float32", "float64", "moveaxis", "rollaxis", "squeeze", "swapaxes", "transpose", "uint8",
    }
)  # fmt: skip
"""Functions and methods of arrays and of PIL's images whose result is as large as what they are given."""


def read_here(frame: Frame, value: Value) -> Value:
    """What a file holds, marked by the place that reads it."""
    if type(value) is Sequence and value.elements is not None:
        return sequence(value.kind, [read_here(frame, part) for part in value.elements])
    if type(value) is Host and value.varies == OF_FILE:
        return host(value.type, varies=read_in(frame.draw_key()))
    if type(value) is Tensor and value.varies == OF_FILE:
        return value.but(varies=read_in(frame.draw_key()))
    return value


def read_again(frame: Frame, value: Value, arguments: Arguments) -> Value:
    """What a function read by itself is another file's each time that it is called, here."""
    if size_kept(value) is None or any(size_kept(argument) is not None for argument in arguments):
        return value
    assert isinstance(value, (Host, Tensor))
    mark = read_in(frame.draw_key())
    return value.but(varies=mark) if isinstance(value, Tensor) else host(value.type, varies=mark)


def array_like(call: Call, given: Arguments) -> Value:
    """The array that a function or a method gives, as large as the first of ``given`` where it keeps that."""
    kept = size_kept(given[0]) if given and call.last in KEEPING else None
    return NUMPY if kept is None else host("numpy", varies=kept)


def kept_by_row(made: Value, call: Call) -> Value:
    """What a row says that is made of an image, as large as that: ``ToTensor()(image)``."""
    kept = size_kept(call.arguments[0]) if call.arguments else None
    return made.but(varies=kept) if kept is not None and type(made) is Tensor else made
