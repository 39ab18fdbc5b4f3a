"""Forms of a data set's items: what the text of its `__getitem__` says, and others that a failure asks for.

A form is an expression over `torch` and `index`, of the parts that an item has. Imports nothing heavy.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

_IMAGE, _NUMBER, _REAL, _TEXT = "torch.rand(3, 64, 64)", "index % 2", "torch.rand(16)", "str(index)"
_LABELS, _TOKENS, _LENGTH = "torch.randint(0, 2, (64, 64))", "torch.randint(1, 8, (16,))", "16"
_KINDS = (
    (re.compile(r"mask(?!ed)|seg(?!ment_id)|ground_?truth|annotation|^gt"), _LABELS),
    (re.compile(r"path|name|file|^fn|title|url|caption$"), _TEXT),
    (re.compile(r"label|target|^y|cls|class|categor|^id$|^idx|index|^i$|^[pc]id|cam_?id|^lab"), _NUMBER),
    (re.compile(r"token|ids$|seq|^src|^trg|^tgt|sentence|word|text|question|answer"), _TOKENS),
    (re.compile(r"len|^num|count|size"), _LENGTH),
    (re.compile(r"box|landmark|coord|point|vector|attr|emb|state|action|reward|feat|signal|series"), _REAL),
)
"""By the names of parts; all others are images."""
_SIDE = 16
_TABLE = "torch.rand(64, 16)"
_OF_ROWS_BY_KIND = MappingProxyType(
    {_NUMBER: "torch.randint(0, 2, (64,))", _TEXT: "torch.randint(0, 2, (64,))", _LENGTH: "torch.randint(1, 8, (16,))"}
)
"""By the form of an item: that of many of them."""
_COMMON = (
    _IMAGE,
    "torch.rand(1, 28, 28)",
    _NUMBER,
    "torch.rand(3, 224, 224)",
    _LABELS,
    _REAL,
    "torch.rand(1)",
    "torch.rand(1, 64, 64)",
    _TOKENS,
    "float(index % 2)",
    "torch.rand(16, 16)",
    "torch.rand(3, 299, 299)",
    "torch.rand(16000)",
    _TEXT,
)
_NUMBERS = re.compile(r"torch\.(?:LongTensor|IntTensor)|\.long\(|\.int\(|int64|(?:^|[^n])int\(")
_WORDS = re.compile(r"^str\(|\.join\(")
_DIMS = re.compile(r"torch\.rand(?:int)?\((?:0, 2, |1, 8, )?\(?([\d, ]*)\)?\)")
_SHAPE = re.compile(r"[\[(](\d+(?:, ?\d+)+)[\])]")
_CHANNELS = re.compile(r"to have (\d+) channels")
_PRODUCT = re.compile(r"\((\d+)x(\d+) and (\d+)x(\d+)\)")
_VIEW = re.compile(r"shape '\[([-\d, ]+)\]' is invalid")
_SIZES = re.compile(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)")
_ROWS = re.compile(r"input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
_PARTS = re.compile(r"unpack.*expected (\d+)")
_SMALL = re.compile(r"[Kk]ernel size|[Oo]utput size is too small|spatial dimensions|more than 1 value per channel")
_OF_ROWS = re.compile(r"3D \(batched\)")
_RANK = re.compile(r"expected (\d+), got (\d+)")
_AXIS = re.compile(r"Dimension out of range \(expected.*but got (-?\d+)\)|too many indices for (?:array|tensor)")
_MOST_PARTS = 6
_MOST_DIMS = 4
_MAKERS = MappingProxyType(
    {
        **dict.fromkeys(("FloatTensor", "Tensor", "zeros", "ones", "empty", "rand", "randn"), "rand"),
        **dict.fromkeys(("LongTensor", "IntTensor"), "randint"),
    }
)
"""By the name of what makes a tensor of these dimensions."""


class ItemForm(msgspec.Struct, frozen=True):
    """Of one class of data sets."""

    frame: str
    """How the parts stand together: `({}, {})`."""
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.frame.format(*self.parts)


def told_form(function: ast.FunctionDef | None, sizes: Mapping[str, int] = MappingProxyType({})) -> ItemForm:
    """What a `__getitem__` gives back, by its own text; an image and a number where that says nothing. ``sizes`` are
    the numbers that its object holds, by `self.name`."""
    if function is not None:
        values = _Assigned(function, sizes)
        returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
        for value in reversed(returned):
            form = _form(values.resolved(value), values)
            if form is not None:
                return form
    return _tuple((_IMAGE, _NUMBER))


def form_of_name(name: str) -> ItemForm:
    """What is read as a whole, by its name: rows of numbers, or of kinds."""
    for pattern, text in _KINDS:
        if pattern.search(name.lower()):
            return ItemForm("{}", (_OF_ROWS_BY_KIND.get(text, text),))
    return ItemForm("{}", (_TABLE,))


def other_forms(form: ItemForm, message: str) -> Iterator[ItemForm]:
    """Those that differ in one part, or in the number of them; what the message of a failure asks for comes first."""
    wanted = _PARTS.search(message)
    if wanted is not None and 0 < int(wanted[1]) <= _MOST_PARTS:
        yield _tuple((form.parts + (_NUMBER,) * _MOST_PARTS)[: int(wanted[1])])
    for number, part in enumerate(form.parts):
        for text in _asked_for(part, message):
            yield _with(form, number, text)
    for text in _COMMON:
        for number, part in enumerate(form.parts):
            if text != part:
                yield _with(form, number, text)


def _with(form: ItemForm, number: int, text: str) -> ItemForm:
    return ItemForm(form.frame, (*form.parts[:number], text, *form.parts[number + 1 :]))


def _tuple(parts: tuple[str, ...]) -> ItemForm:
    return ItemForm("({})".format("{}, " * len(parts)), parts)


class _Assigned:
    """The values that the names of a function have last."""

    def __init__(self, function: ast.FunctionDef, sizes: Mapping[str, int]) -> None:
        self.sizes = sizes
        self.own = {arg.arg for arg in function.args.args}
        self.by_name: dict[str, list[ast.expr]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.by_name.setdefault(target.id, []).append(node.value)

    def resolved(self, value: ast.expr) -> ast.expr:
        """A display of parts that a name was given, also through a transform of it; else the value itself."""
        seen: set[str] = set()
        found = value
        while True:
            if isinstance(found, ast.Name) and found.id in self.by_name and found.id not in seen:
                seen.add(found.id)
                displays = [each for each in self.by_name[found.id] if isinstance(each, (ast.Dict, ast.Tuple))]
                found = displays[-1] if displays else self.by_name[found.id][-1]
            elif isinstance(found, ast.Call) and len(found.args) == 1 and self._is_display(found.args[0]):
                found = found.args[0]
            elif isinstance(found, (ast.Dict, ast.Tuple)):
                return found
            else:
                return value

    def _is_display(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return any(isinstance(each, (ast.Dict, ast.Tuple)) for each in self.by_name.get(node.id, ()))
        return isinstance(node, (ast.Dict, ast.Tuple))


def _form(value: ast.expr, values: _Assigned) -> ItemForm | None:
    if isinstance(value, ast.Tuple):
        found = [_form(each, values) or ItemForm("{}", (_part(each, values),)) for each in value.elts]
        frame = "({})".format("".join(f"{each.frame}, " for each in found))
        return ItemForm(frame, tuple(part for each in found for part in each.parts))
    if isinstance(value, ast.Dict):
        pairs = [
            (repr(key.value), _part(each, values, key.value))
            for key, each in zip(value.keys, value.values, strict=True)
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and "{" not in key.value
        ]
        frame = "{{{{{}}}}}".format(", ".join(f"{key}: {{}}" for key, _ in pairs))
        return ItemForm(frame, tuple(part for _, part in pairs)) if pairs else None
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Attribute):
        # A row of what was read before: nothing says how many parts it has.
        return None
    return ItemForm("{}", (_part(value, values),)) if isinstance(value, (ast.Name, ast.Call)) else None


def _part(value: ast.expr, values: _Assigned, name: str = "") -> str:
    """A part by how it is made, and by its name."""
    name = (name or _name(value)).lower()
    made = [value]
    if isinstance(value, ast.Name):
        made += values.by_name.get(value.id, [])
    texts = [ast.unparse(each) for each in made]
    sized = [text for each in made if (text := _sized(each, values.sizes))]
    if sized:
        return sized[-1]
    for pattern, text in _KINDS:
        if pattern.search(name):
            return text
    if any(_WORDS.search(each) for each in texts):
        return _TEXT
    return _NUMBER if any(_NUMBERS.search(each) for each in texts) else _IMAGE


def _sized(value: ast.expr, sizes: Mapping[str, int]) -> str:
    """Of what is made by `torch.zeros(5, 3)` and the like, whose dimensions are known; nothing of anything else."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or not value.args:
        return ""
    maker = _MAKERS.get(value.func.attr)
    first = value.args[0]
    texts = [ast.unparse(each) for each in (first.elts if isinstance(first, (ast.Tuple, ast.List)) else value.args)]
    if maker is None or not all(each.isdecimal() or each in sizes for each in texts):
        return ""
    dims = tuple(int(each) if each.isdecimal() else sizes[each] for each in texts)
    return _made(maker, dims) if all(dims) else ""


def _name(value: ast.expr) -> str:
    """The last name of a chain; that of what is called, or of its first argument where it makes a tensor of that."""
    if isinstance(value, ast.Name):
        return value.id
    if isinstance(value, ast.Attribute):
        return value.attr
    if isinstance(value, ast.Subscript):
        return _name(value.value)
    if isinstance(value, ast.Call):
        of_method = isinstance(value.func, ast.Attribute) and not value.args
        inner = value.func.value if of_method and isinstance(value.func, ast.Attribute) else None
        return _name(inner) if inner is not None else _name(value.args[0]) if value.args else ""
    return ""


class _Size(NamedTuple):
    """Of a part that is a tensor: what makes it, and its dimensions."""

    maker: str
    dims: tuple[int, ...]


def _size(part: str) -> _Size | None:
    found = _DIMS.fullmatch(part)
    if found is None:
        return None
    dims = tuple(int(each) for each in found[1].replace(" ", "").split(",") if each)
    return _Size("randint" if "randint" in part else "rand", dims)


def _made(maker: str, dims: tuple[int, ...]) -> str:
    inner = ", ".join(map(str, dims))
    return (
        f"torch.rand({inner or '()'})" if maker == "rand" else f"torch.randint(0, 2, ({inner}{',' * (len(dims) == 1)}))"
    )


def _asked_for(part: str, message: str) -> Iterator[str]:
    size = _size(part)
    if size is not None:
        yield from (_made(size.maker, dims) for dims in _other_dims(size.dims, message) if dims != size.dims)
    if _OF_ROWS.search(message):
        yield _made("rand", (64, 3))
    for shape in _SHAPE.findall(message):
        dims = tuple(int(each) for each in shape.replace(" ", "").split(","))[1:]
        yield from (_made(maker, dims) for maker in ("rand", "randint"))
    if "Long" in message or "Float" in message or "Double" in message or "dtype" in message:
        yield from _of_other_type(part, size)


def _of_other_type(part: str, size: _Size | None) -> Iterator[str]:
    if size is not None:
        yield _made("randint" if size.maker == "rand" else "rand", size.dims)
    elif part == _NUMBER:
        yield "float(index % 2)"


def _other_dims(dims: tuple[int, ...], message: str) -> Iterator[tuple[int, ...]]:
    channels, sizes = _CHANNELS.search(message), _SIZES.search(message)
    if channels is not None and len(dims) == 3:
        yield (int(channels[1]), *dims[1:])
    if channels is not None:
        yield from ((*dims[:axis], int(channels[1]), *dims[axis + 1 :]) for axis in reversed(range(len(dims))))
    if sizes is not None:
        there, here = int(sizes[1]), int(sizes[2])
        yield from (_replaced(dims, old, new) for old, new in ((here, there), (there, here)) if old in dims)
    rows = _ROWS.search(message)
    if rows is not None and dims and math.prod(dims) * int(rows[1]) % int(rows[2]) == 0:
        yield (math.prod(dims) * int(rows[1]) // int(rows[2]),)
    if _SMALL.search(message) and len(dims) == 3:
        yield from ((dims[0], side, side) for side in (128, 224, 299))
    axis = _AXIS.search(message)
    if axis is not None:
        count = int(axis[1] or len(dims))
        yield (*dims, *(_SIDE,) * min(_MOST_DIMS - len(dims), max(1, count + 1 - len(dims), -count - len(dims))))
    rank = _RANK.search(message)
    if rank is not None and len(dims) + 1 == int(rank[2]) < int(rank[1]):
        # The first dimension is the batch's.
        yield (2,) * (int(rank[1]) - int(rank[2])) + dims
    for has, wanted in _flattened(message):
        yield from _of_elements(dims, has, wanted)


def _flattened(message: str) -> Iterator[tuple[int, int]]:
    """(elements of a row that there are, or 0, elements that are wanted)"""
    product, view = _PRODUCT.search(message), _VIEW.search(message)
    if product is not None:
        yield int(product[2]), int(product[3])
    if view is not None:
        yield 0, math.prod(int(each) for each in view[1].split(",") if int(each) > 0)


def _of_elements(dims: tuple[int, ...], has: int, wanted: int) -> Iterator[tuple[int, ...]]:
    if dims and dims[-1] == has:
        yield (*dims[:-1], wanted)
    if len(dims) == 3:
        if has:
            scale = math.sqrt(wanted / has)
            near = round(dims[-1] * scale)
            for side in dict.fromkeys(
                (near, *(side for side in (28, 32, 96, 112, 128, 224, 256, 299) if abs(side - near) < near / 5))
            ):
                yield (dims[0], side, side)
        for channels in (dims[0], 1, 3):
            side = math.isqrt(wanted // channels)
            if side and channels * side * side == wanted:
                yield (channels, side, side)
    yield (wanted,)


def _replaced(dims: tuple[int, ...], old: int, new: int) -> tuple[int, ...]:
    return tuple(new if each == old else each for each in dims)
