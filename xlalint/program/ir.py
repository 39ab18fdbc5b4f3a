"""The intermediate representation: frozen instructions with spans, a compact form of the syntax tree.

It knows nothing of torch. Names are as written; what they mean is found by linking. A span is packed into one
integer (``pack``), since most nodes never become an event and an object per span would double the memory.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

_BITS = 21
_MASK = (1 << _BITS) - 1


def pack(line: int, column: int, end_line: int, end_column: int) -> int:
    """One integer for a span; lines 1-based, columns 0-based in UTF-8 bytes, clipped at two million."""
    return (
        (line << 3 * _BITS)
        | (min(column, _MASK) << 2 * _BITS)
        | (min(end_line - line, _MASK) << _BITS)
        | min(end_column, _MASK)
    )


def unpack(at: int) -> tuple[int, int, int, int]:
    """The inverse of ``pack``: line, column, end line, end column."""
    line = at >> 3 * _BITS
    return line, (at >> 2 * _BITS) & _MASK, line + ((at >> _BITS) & _MASK), at & _MASK


class Node(msgspec.Struct, frozen=True, gc=False, eq=False):
    """Base of all instructions."""


# Expressions


class Constant(Node):
    value: Any
    at: int


class Name(Node):
    name: str
    at: int


class Attribute(Node):
    value: Expr
    name: str
    at: int


class Call(Node):
    function: Expr
    arguments: tuple[Expr, ...]
    keywords: tuple[tuple[str | None, Expr], ...]
    """A keyword of None is ``**value``."""
    at: int


class Subscript(Node):
    value: Expr
    index: Expr
    at: int


class Slice(Node):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


class Binary(Node):
    operator: str
    left: Expr
    right: Expr
    at: int


class Unary(Node):
    operator: str
    operand: Expr
    at: int


class Boolean(Node):
    operator: str
    values: tuple[Expr, ...]
    at: int


class Compare(Node):
    left: Expr
    operators: tuple[str, ...]
    rights: tuple[Expr, ...]
    at: int


class Conditional(Node):
    test: Expr
    body: Expr
    orelse: Expr
    at: int


class Formatted(Node):
    """One replacement field of an f-string; ``has_spec`` tells whether a format specification follows."""

    value: Expr
    has_spec: bool
    at: int


class FString(Node):
    fields: tuple[Formatted, ...]
    at: int


class Display(Node):
    """A tuple, list or set display; ``kind`` is "tuple", "list" or "set"."""

    kind: str
    elements: tuple[Expr, ...]
    at: int


class DictDisplay(Node):
    keys: tuple[Expr | None, ...]
    values: tuple[Expr, ...]
    at: int


class Generator(Node):
    target: Expr
    iterable: Expr
    conditions: tuple[Expr, ...]


class Comprehension(Node):
    """``kind`` is "list", "set", "dict" or "generator"; ``key`` only for a dict."""

    kind: str
    key: Expr | None
    element: Expr
    generators: tuple[Generator, ...]
    at: int


class Lambda(Node):
    function: FunctionIR
    at: int


class Starred(Node):
    value: Expr


class Yield(Node):
    value: Expr | None
    from_: bool


class Await(Node):
    value: Expr


class Walrus(Node):
    target: str
    value: Expr
    at: int


Expr: TypeAlias = Constant | Name | Attribute | Call | Subscript | Slice | Binary | Unary | Boolean | Compare | Conditional | FString | Formatted | Display | DictDisplay | Comprehension | Lambda | Starred | Yield | Await | Walrus


# Statements; ``at`` spans the statement, of a compound one its header


class Evaluate(Node):
    value: Expr
    at: int


class Assign(Node):
    targets: tuple[Expr, ...]
    value: Expr
    at: int


class Annotated(Node):
    target: Expr
    annotation: Expr
    value: Expr | None
    at: int


class Augmented(Node):
    operator: str
    target: Expr
    value: Expr
    at: int


class Return(Node):
    value: Expr | None
    at: int


class If(Node):
    test: Expr
    body: Block
    orelse: Block
    at: int


class For(Node):
    target: Expr
    iterable: Expr
    body: Block
    orelse: Block
    at: int


class While(Node):
    test: Expr
    body: Block
    orelse: Block
    at: int


class Break(Node):
    at: int


class Continue(Node):
    at: int


class Raise(Node):
    value: Expr | None
    at: int


class Assert(Node):
    test: Expr
    message: Expr | None
    at: int


class With(Node):
    items: tuple[tuple[Expr, Expr | None], ...]
    body: Block
    at: int


class Try(Node):
    body: Block
    handlers: tuple[tuple[str | None, Block], ...]
    orelse: Block
    final: Block
    at: int


class Match(Node):
    subject: Expr
    cases: tuple[tuple[tuple[str, ...], Expr | None, Block], ...]
    """Each case: the names that its pattern binds, its guard, its body."""
    at: int


class Delete(Node):
    targets: tuple[Expr, ...]
    at: int


class Define(Node):
    """A nested function."""

    function: FunctionIR
    at: int


class DefineClass(Node):
    """A class inside a function."""

    cls: ClassIR
    at: int


class Scope(Node):
    """``global`` or ``nonlocal``."""

    names: tuple[str, ...]
    at: int


Stmt: TypeAlias = Evaluate | Assign | Annotated | Augmented | Return | If | For | While | Break | Continue | Raise | Assert | With | Try | Match | Delete | Define | DefineClass | Scope
Block: TypeAlias = tuple[Stmt, ...]


# Definitions


class Parameter(Node):
    """``kind`` is "positional", "keyword", "args" or "kwargs"."""

    name: str
    kind: str
    annotation: Expr | None
    default: Expr | None


class FunctionIR(msgspec.Struct, eq=False, weakref=True):
    """A function, method, lambda or module body.

    ``uses`` maps each name (or ``self.name``) to what is done to it: attribute names, ``()`` called, ``for``
    iterated, ``[]`` subscripted: the raw material for learning by use.
    """

    name: str
    qualname: str
    at: int
    parameters: tuple[Parameter, ...]
    returns: Expr | None
    decorators: tuple[Expr, ...]
    body: Block
    is_generator: bool
    is_async: bool
    free: tuple[str, ...]
    """Names read here or deeper that are not bound here: what a closure captures."""
    uses: dict[str, frozenset[str]]
    owner: str
    """Qualified name of the class, for a method; otherwise empty."""
    module: str
    """Path of the file, which is what tells modules apart: two scripts may share a dotted name."""
    called: frozenset[str]
    """Last names of everything called here."""


class ClassIR(msgspec.Struct, eq=False, weakref=True):
    name: str
    qualname: str
    module: str
    at: int
    bases: tuple[Expr, ...]
    decorators: tuple[Expr, ...]
    methods: dict[str, FunctionIR]
    attributes: dict[str, tuple[Expr | None, Expr | None]]
    """Class-level names: value and annotation."""
    assigned_in: dict[str, tuple[str, ...]]
    """Instance attribute → methods that assign it; ``*`` holds methods that register attributes by call."""


class ModuleIR(msgspec.Struct, eq=False):
    name: str
    path: str
    package: str
    body: FunctionIR
    functions: dict[str, FunctionIR]
    """Top-level functions by name."""
    classes: dict[str, ClassIR]
    """Top-level classes by name."""
    globals: dict[str, tuple[Expr, ...]]
    """Top-level names and the expressions assigned to them by plain statements."""
    reassigned: frozenset[str]
    """Top-level names whose value no single expression tells: loop targets, unpacking, augmented."""
    imports: dict[str, str]
    """Local name → dotted name."""
    star_imports: tuple[str, ...]
    everything: tuple[FunctionIR, ...]
    """All functions and methods, nested ones and lambdas excluded."""
    is_script: bool
    """It has a ``__main__`` guard, or calls things at the top level."""
