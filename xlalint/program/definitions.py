"""Scopes of a file that is lowered: which names they bind, which they read, what is done to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from xlalint.program import ir
from xlalint.program.link import beneath, relative
from xlalint.program.main_blocks import PROGRAMS, is_program, spelled_last
from xlalint.program.traversal import dotted_text, holders, stored_path

REGISTERING = frozenset(
    {
        "register_buffer",
        "register_parameter",
        "add_state",
        "register_modules",
        "add_module",
        "register_module",
    }
)
"""Methods that set attributes of ``self`` by call: ``*`` in ``assigned_in``."""
LEAVES_AS_IS = frozenset(
    {"super", "isinstance", "issubclass", "type", "id", "len", "hash", "repr", "str", "getattr", "hasattr", "setattr",
     "vars", "print", "iter", "partial", "__init__"}
)  # fmt: skip
"""Functions that set no attribute of what they are given, or one that is known otherwise."""
FILLING = frozenset({"append", "appendleft", "extend", "insert", "add", "update", "setdefault"})
"""Methods that put something into a container."""
MOST_EXPRESSIONS = 100
"""Values of a top-level variable that are kept: generated files bind one name ten thousand times."""


@cache
def shared(names: frozenset[str]) -> frozenset[str]:
    """The same set for the same names: most are used in one of a few ways, and a set takes 200 bytes or more."""
    return names


class FunctionScope:
    __slots__ = (
        "assigned_self", "bound", "called", "filled_self", "hands_self_on", "is_generator", "is_module", "outer",
        "read", "uses",
    )  # fmt: skip

    def __init__(self, is_module: bool) -> None:
        self.is_module = is_module
        self.bound: set[str] = set()
        self.read: set[str] = set()
        self.outer: set[str] = set()
        self.uses: dict[str, set[str]] = {}
        self.called: set[str] = set()
        self.assigned_self: dict[str, None] = {}
        self.filled_self: dict[str, None] = {}
        self.hands_self_on = False
        self.is_generator = False


class ClassScope:
    __slots__ = ("assigned_in", "attributes", "filled_in", "methods", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.methods: dict[str, ir.FunctionIR] = {}
        self.attributes: dict[str, tuple[ir.Expr | None, ir.Expr | None]] = {}
        self.assigned_in: dict[str, tuple[str, ...]] = {}
        self.filled_in: dict[str, tuple[str, ...]] = {}


def may_be_method(name: str, parameters: tuple[ir.Parameter, ...]) -> bool:
    """A function in a class's body; a lambda there may be the default of a method's parameter, and takes no object."""
    return name != "<lambda>" or any(parameter.name == "self" for parameter in parameters[:1])


class Scopes:
    """The stack of open functions and classes of one file, and what has been collected for its module."""

    def __init__(self, module: str, package: str) -> None:
        self.module = module
        self.package = package
        self.stack: list[FunctionScope | ClassScope] = []
        self.qualname: list[str] = []
        self.functions: dict[str, ir.FunctionIR] = {}
        self.choices: dict[str, tuple[ir.Expr, ir.FunctionIR]] = {}
        self.classes: dict[str, ir.ClassIR] = {}
        self.globals: dict[str, tuple[ir.Expr, ...]] = {}
        self.reassigned: set[str] = set()
        self.imports: dict[str, str] = {}
        self.stars: list[str] = []
        self.everything: list[ir.FunctionIR] = []
        self.is_script = False
        self.conditions = 0
        """How many branches and handlers of errors are open around this place."""
        self.sure_imports: dict[str, bool] = {}
        self.xla_imports = 0
        self.xla_flags: dict[str, bool] = {}
        self.attributes_given: dict[str, tuple[ir.Expr | None, ...]] = {}
        self.muted = 0
        self.current: FunctionScope = FunctionScope(True)

    # Opening and closing

    @contextmanager
    def function(self, name: str, is_module: bool = False) -> Iterator[None]:
        outer = self.current
        scope = FunctionScope(is_module)
        self.stack.append(scope)
        self.current = scope
        if not is_module:
            self.qualname.append(name)
        try:
            yield
        finally:
            self.stack.pop()
            self.current = outer
            if not is_module:
                self.qualname.pop()

    @contextmanager
    def cls(self, name: str) -> Iterator[None]:
        self.stack.append(ClassScope(name))
        self.qualname.append(name)
        try:
            yield
        finally:
            self.stack.pop()
            self.qualname.pop()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Reads in here do not count."""
        self.muted += 1
        try:
            yield
        finally:
            self.muted -= 1

    def close_function(
        self,
        name: str,
        at: int,
        parameters: tuple[ir.Parameter, ...],
        returns: ir.Expr | None,
        decorators: tuple[ir.Expr, ...],
        body: ir.Block,
        is_async: bool,
    ) -> ir.FunctionIR:
        scope = self.current
        owner = ""
        if len(self.stack) > 1 and isinstance(self.stack[-2], ClassScope) and may_be_method(name, parameters):
            owner = ".".join(self.qualname[:-1])
            self.collect_attributes(name, scope, self.stack[-2])
        free = tuple(sorted((scope.read - scope.bound) | scope.outer))
        self.hand_up_reads(free, scope)
        return ir.FunctionIR(
            name,
            ".".join(self.qualname) or name,
            at,
            parameters,
            returns,
            decorators,
            body,
            scope.is_generator,
            is_async,
            free,
            {path: shared(frozenset(uses)) for path, uses in scope.uses.items()},
            owner,
            self.module,
            shared(frozenset(scope.called)),
        )

    def hand_up_reads(self, free: tuple[str, ...], inner: FunctionScope) -> None:
        """What an inner function reads from outside, the function around it reads too, and uses in the same way."""
        for scope in reversed(self.stack[:-1]):
            if isinstance(scope, FunctionScope):
                scope.read.update(free)
                for name in free:
                    if not scope.is_module and name in inner.uses:
                        scope.uses.setdefault(name, set()).update(inner.uses[name])
                return

    def collect_attributes(self, method: str, scope: FunctionScope, cls: ClassScope) -> None:
        for attribute in scope.assigned_self:
            cls.assigned_in[attribute] = (*cls.assigned_in.get(attribute, ()), method)
        for attribute in scope.filled_self:
            cls.filled_in[attribute] = (*cls.filled_in.get(attribute, ()), method)
        if not scope.called.isdisjoint(REGISTERING):
            cls.assigned_in["*"] = (*cls.assigned_in.get("*", ()), method)
        if "setattr" in scope.called:
            cls.assigned_in["setattr"] = (*cls.assigned_in.get("setattr", ()), method)
        if scope.hands_self_on:
            cls.assigned_in["self"] = (*cls.assigned_in.get("self", ()), method)

    def close_class(
        self, name: str, at: int, bases: tuple[ir.Expr, ...], decorators: tuple[ir.Expr, ...]
    ) -> ir.ClassIR:
        scope = self.stack[-1]
        assert isinstance(scope, ClassScope)
        qualname = ".".join(self.qualname)
        return ir.ClassIR(
            name,
            qualname,
            self.module,
            at,
            bases,
            decorators,
            scope.methods,
            scope.attributes,
            scope.assigned_in,
            scope.filled_in,
        )

    def close_module(self, path: str, name: str, body: ir.FunctionIR) -> ir.ModuleIR:
        return ir.ModuleIR(
            name,
            path,
            self.package,
            body,
            self.functions,
            self.classes,
            self.globals,
            frozenset(self.reassigned),
            self.imports,
            tuple(self.stars),
            (body, *self.everything),
            self.is_script,
            self.sure_imports,
            self.xla_flags,
            self.choices,
            self.attributes_given,
        )

    def top_functions(self) -> dict[str, ir.FunctionIR]:
        """What the top level of the file defines so far; nothing inside of a function or a class."""
        return dict(self.functions) if len(self.stack) == 1 else {}

    def note_definitions(
        self, test: ir.Expr, before: dict[str, ir.FunctionIR], between: dict[str, ir.FunctionIR]
    ) -> None:
        """``if NEW: def transform(x): … else: def transform(x): …``, at the end of both arms."""
        for name, function in between.items():
            if before.get(name) is not function and self.functions[name] is not function:
                self.choices[name] = (test, function)

    def add_function(self, function: ir.FunctionIR) -> ir.Stmt | None:
        scope = self.stack[-1]
        if isinstance(scope, ClassScope):
            if function.name not in scope.methods or not is_accessor(function):
                scope.methods[function.name] = function
            self.everything.append(function)
            return None
        self.bind_name(function.name)
        if scope.is_module:
            self.functions[function.name] = function
            self.everything.append(function)
            return None
        return ir.Define(function, function.at)

    def add_class(self, cls: ir.ClassIR) -> ir.Stmt | None:
        scope = self.stack[-1]
        self.classes[cls.qualname] = cls
        if isinstance(scope, ClassScope):
            return None
        self.bind_name(cls.name)
        return None if scope.is_module else ir.DefineClass(cls, cls.at)

    # What happens inside

    def read(self, name: str) -> None:
        if not self.muted:
            self.current.read.add(name)

    def use(self, value: ir.Expr, how: str) -> None:
        if self.muted:
            return
        path = stored_path(value)
        if path is not None:
            uses = self.current.uses.get(path)
            if uses is None:
                self.current.uses[path] = {how}
            else:
                uses.add(how)

    def use_call(self, function: ir.Expr, arguments: tuple[ir.Expr, ...]) -> None:
        if self.muted:
            return
        if isinstance(function, (ir.Name, ir.Attribute)):
            self.current.called.add(function.name)
            if function.name not in LEAVES_AS_IS and any(type(x) is ir.Name and x.name == "self" for x in arguments):
                self.current.hands_self_on = True
        if type(function) is ir.Attribute and function.name in FILLING:
            self.fill(function.value)
        self.use(function, "()")

    def fill(self, container: ir.Expr) -> None:
        """``self.rows[k].append(x)``, ``self.table[k] = x``: the attribute keeps its value and holds more."""
        while True:
            if type(container) is ir.Subscript:
                container = container.value
            elif type(container) is ir.Call and type(container.function) is ir.Attribute:
                container = container.function.value
            else:
                break
        path = stored_path(container)
        if path is not None and path.startswith("self.") and not self.muted:
            self.current.filled_self[path[5:]] = None

    def bind_parameters(self, parameters: tuple[ir.Parameter, ...]) -> None:
        self.current.bound.update(p.name for p in parameters)

    def bind_name(self, name: str) -> None:
        scope = self.stack[-1]
        if isinstance(scope, FunctionScope):
            scope.bound.add(name)
            if scope.is_module:
                self.reassigned.add(name)

    def bind(self, target: ir.Expr, value: ir.Expr | None, annotation: ir.Expr | None = None) -> None:
        if isinstance(target, ir.Name):
            self.bind_variable(target.name, value, annotation)
        elif isinstance(target, ir.Display):
            for element in target.elements:
                self.bind(element, None)
        elif isinstance(target, ir.Starred):
            self.bind(target.value, None)
        elif isinstance(target, ir.Attribute):
            base = target.value
            if isinstance(base, ir.Name) and base.name == "self":
                self.current.assigned_self[target.name] = None
            elif isinstance(base, ir.Name):
                text = f"{base.name}.{target.name}"
                self.attributes_given[text] = (*self.attributes_given.get(text, ())[:MOST_EXPRESSIONS], value)
        elif isinstance(target, ir.Subscript):
            self.fill(target.value)

    def bind_variable(self, name: str, value: ir.Expr | None, annotation: ir.Expr | None) -> None:
        scope = self.stack[-1]
        if isinstance(scope, ClassScope):
            scope.attributes[name] = (value, annotation)
            return
        scope.bound.add(name)
        if not scope.is_module:
            return
        if value is None:
            if annotation is None:
                self.reassigned.add(name)
        else:
            known = self.globals.get(name, ())
            if len(known) < MOST_EXPRESSIONS:
                self.globals[name] = (*known, value)

    def declare_outer(self, names: list[str]) -> None:
        self.current.outer.update(names)

    def note_yield(self) -> None:
        self.current.is_generator = True

    def note_top_level_call(self, call: ast.Call) -> None:
        """A file of a package calls what registers, renames or warns when it is imported, and is no script for that."""
        if self.current.is_module and isinstance(self.stack[-1], FunctionScope) and len(self.stack) == 1:
            self.is_script |= not self.package or spelled_last(call.func) in PROGRAMS

    @contextmanager
    def main_guard(self, block: list[ast.stmt]) -> Iterator[None]:
        """The calls in a ``__main__`` block are judged together."""
        before = self.is_script
        yield
        self.is_script = before or is_program(block, self.functions, bool(self.package))

    def note_choice(self, test: ir.Expr, runs_on_xla: bool) -> None:
        """One arm of a test imports torch_xla, the other does not: where the program runs on XLA, the outcome of the
        test is known."""
        if isinstance(test, ir.Unary) and test.operator == "not":
            self.note_choice(test.operand, not runs_on_xla)
        elif isinstance(test, ir.Boolean) and (test.operator == "and") == runs_on_xla:
            for value in test.values:
                self.note_choice(value, runs_on_xla)
        elif isinstance(test, (ir.Name, ir.Attribute)):
            *_, start = holders(test)
            if isinstance(start, ir.Name):
                self.xla_flags[dotted_text(test)] = runs_on_xla

    def import_(self, node: ast.Import | ast.ImportFrom) -> None:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        self.xla_imports += not BACK_END.isdisjoint(names)
        if not self.conditions:
            at_top = self.current.is_module
            self.sure_imports.update((name, at_top or self.sure_imports.get(name, False)) for name in names)
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    self.imports[alias.asname] = alias.name
                else:
                    head = alias.name.split(".", 1)[0]
                    self.imports.setdefault(head, head)
            return
        origin = node.module or ""
        if node.level:
            origin = relative(self.package, node.level, origin)
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(origin)
            else:
                self.imports[alias.asname or alias.name] = beneath(origin, alias.name)


BACK_END = frozenset({"torch_xla", "torch_xla.core", "torch_xla.core.xla_model", "torch_xla.runtime"})
"""What a program imports to run on XLA at all."""


def is_accessor(function: ir.FunctionIR) -> bool:
    """A property's setter or deleter, which must not hide its getter."""
    return any(isinstance(d, ir.Attribute) and d.name in ("setter", "deleter") for d in function.decorators)
