"""The intermediate representation: frozen instructions with spans, a compact form of the syntax tree.

It knows nothing of torch. Names are as written; what they mean is found by linking. A span is packed into one
integer (``pack``), since most nodes never become an event and an object per span would double the memory.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

_COLUMN, _LINES = 16, 12
_MOST_COLUMNS, _MOST_LINES = (1 << _COLUMN) - 1, (1 << _LINES) - 1
_LINE_SHIFT = 2 * _COLUMN + _LINES
_COLUMN_SHIFT = _COLUMN + _LINES


def pack(line: int, column: int, end_line: int, end_column: int) -> int:
    """One 64-bit integer for a span; lines 1-based, columns 0-based in UTF-8 bytes.

    A million lines fit; columns beyond 65,535 and spans of over 4,095 lines are clipped, and such a place is then
    not confirmed by the exact reading.
    """
    lines = end_line - line
    if column > _MOST_COLUMNS or end_column > _MOST_COLUMNS or lines > _MOST_LINES:
        column, end_column = min(column, _MOST_COLUMNS), min(end_column, _MOST_COLUMNS)
        lines = min(lines, _MOST_LINES)
    return (line << _LINE_SHIFT) | (column << _COLUMN_SHIFT) | (lines << _COLUMN) | end_column


def unpack(at: int) -> tuple[int, int, int, int]:
    """The inverse of ``pack``: line, column, end line, end column."""
    line = at >> _LINE_SHIFT
    return (
        line,
        (at >> _COLUMN_SHIFT) & _MOST_COLUMNS,
        line + ((at >> _COLUMN) & _MOST_LINES),
        at & _MOST_COLUMNS,
    )


def encloses(outer: int, inner: int) -> bool:
    """Whether one packed span lies in another."""
    a, b = unpack(outer), unpack(inner)
    return (a[0], a[1]) <= (b[0], b[1]) and (b[2], b[3]) <= (a[2], a[3])


class Node(msgspec.Struct, frozen=True, gc=False, eq=False):
    """Base of all instructions."""


# Expressions


class Constant(Node, frozen=True):
    value: Any
    at: int


class Name(Node, frozen=True):
    name: str
    at: int


class Attribute(Node, frozen=True):
    value: Expr
    name: str
    at: int


class Call(Node, frozen=True):
    function: Expr
    arguments: tuple[Expr, ...]
    keywords: tuple[tuple[str | None, Expr], ...]
    """A keyword of None is ``**value``."""
    at: int


class Subscript(Node, frozen=True):
    value: Expr
    index: Expr
    at: int


class Slice(Node, frozen=True):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


class Binary(Node, frozen=True):
    operator: str
    left: Expr
    right: Expr
    at: int


class Unary(Node, frozen=True):
    operator: str
    operand: Expr
    at: int


class Boolean(Node, frozen=True):
    operator: str
    values: tuple[Expr, ...]
    at: int


class Compare(Node, frozen=True):
    left: Expr
    operators: tuple[str, ...]
    rights: tuple[Expr, ...]
    at: int


class Conditional(Node, frozen=True):
    test: Expr
    body: Expr
    orelse: Expr
    at: int


class Formatted(Node, frozen=True):
    """One replacement field of an f-string; ``has_spec`` tells whether a format specification follows."""

    value: Expr
    has_spec: bool
    at: int


class FString(Node, frozen=True):
    """``start`` is the text before the first field."""

    start: str
    fields: tuple[Formatted, ...]
    at: int


class Display(Node, frozen=True):
    """A tuple, list or set display; ``kind`` is "tuple", "list" or "set"."""

    kind: str
    elements: tuple[Expr, ...]
    at: int


class DictDisplay(Node, frozen=True):
    keys: tuple[Expr | None, ...]
    values: tuple[Expr, ...]
    at: int


class Generator(Node, frozen=True):
    target: Expr
    iterable: Expr
    conditions: tuple[Expr, ...]


class Comprehension(Node, frozen=True):
    """``kind`` is "list", "set", "dict" or "generator"; ``key`` only for a dict."""

    kind: str
    key: Expr | None
    element: Expr
    generators: tuple[Generator, ...]
    at: int


class Lambda(Node, frozen=True):
    function: FunctionIR
    at: int


class Starred(Node, frozen=True):
    value: Expr


class Yield(Node, frozen=True):
    value: Expr | None
    from_: bool


class Await(Node, frozen=True):
    value: Expr


class Walrus(Node, frozen=True):
    target: str
    value: Expr
    at: int


Expr: TypeAlias = (
    Constant
    | Name
    | Attribute
    | Call
    | Subscript
    | Slice
    | Binary
    | Unary
    | Boolean
    | Compare
    | Conditional
    | FString
    | Formatted
    | Display
    | DictDisplay
    | Comprehension
    | Lambda
    | Starred
    | Yield
    | Await
    | Walrus
)


# Statements; ``at`` spans the statement, of a compound one its header


class Evaluate(Node, frozen=True):
    value: Expr
    at: int


class Assign(Node, frozen=True):
    targets: tuple[Expr, ...]
    value: Expr
    at: int


class Annotated(Node, frozen=True):
    target: Expr
    annotation: Expr
    value: Expr | None
    at: int


class Augmented(Node, frozen=True):
    operator: str
    target: Expr
    value: Expr
    at: int


class Return(Node, frozen=True):
    value: Expr | None
    at: int


class If(Node, frozen=True):
    test: Expr
    body: Block
    orelse: Block
    at: int


class For(Node, frozen=True):
    target: Expr
    iterable: Expr
    body: Block
    orelse: Block
    at: int


class While(Node, frozen=True):
    test: Expr
    body: Block
    orelse: Block
    at: int


class Break(Node, frozen=True):
    at: int


class Continue(Node, frozen=True):
    at: int


class Raise(Node, frozen=True):
    value: Expr | None
    at: int


class Assert(Node, frozen=True):
    test: Expr
    message: Expr | None
    at: int


class With(Node, frozen=True):
    items: tuple[tuple[Expr, Expr | None], ...]
    body: Block
    at: int


class Try(Node, frozen=True):
    body: Block
    handlers: tuple[tuple[str | None, Block], ...]
    orelse: Block
    final: Block
    at: int


class Match(Node, frozen=True):
    subject: Expr
    cases: tuple[tuple[tuple[str, ...], Expr | None, Block], ...]
    """Each case: the names that its pattern binds, its guard, its body."""
    compares: bool
    """Whether a pattern is a value, which is compared with the subject; the others look at types alone."""
    at: int


class Delete(Node, frozen=True):
    targets: tuple[Expr, ...]
    at: int


class Define(Node, frozen=True):
    """A nested function."""

    function: FunctionIR
    at: int


class DefineClass(Node, frozen=True):
    """A class inside a function."""

    cls: ClassIR
    at: int


class Scope(Node, frozen=True):
    """``global`` or ``nonlocal``."""

    names: tuple[str, ...]
    at: int


Stmt: TypeAlias = (
    Evaluate
    | Assign
    | Annotated
    | Augmented
    | Return
    | If
    | For
    | While
    | Break
    | Continue
    | Raise
    | Assert
    | With
    | Try
    | Match
    | Delete
    | Define
    | DefineClass
    | Scope
)
Block: TypeAlias = tuple[Stmt, ...]


# Definitions


class Parameter(Node, frozen=True):
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
    filled_in: dict[str, tuple[str, ...]]
    """Instance attribute → methods that put something into it."""


class ModuleIR(msgspec.Struct, eq=False):
    name: str
    path: str
    package: str
    body: FunctionIR
    functions: dict[str, FunctionIR]
    """Top-level functions by name."""
    classes: dict[str, ClassIR]
    """By their dotted name in the file: those at the top by a plain one."""
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
    sure_imports: dict[str, bool]
    """Dotted names of other packages that are imported without a condition → whether at the top level."""
    xla_flags: dict[str, bool] = {}
    """Names, and dotted attributes, that decide whether torch_xla is imported → whether they hold where it is."""
    choices: dict[str, tuple[Expr, FunctionIR]] = {}
    """Top-level functions that both arms of an ``if`` define → its test, and the one that is defined where it holds;
    ``functions`` has the other."""
    attributes_given: dict[str, tuple[Expr | None, ...]] = {}
    """Attributes of names, as ``args.cuda`` → the expressions that statements give them; None where none tells."""
