"""Source text → ``ModuleIR``. Knows the grammar and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from xlalint.program import ir
from xlalint.program.definitions import Scopes
from xlalint.program.main_blocks import is_main_guard
from xlalint.program.syntax import OPERATORS, header, last_parameter, parse, span
from xlalint.sources.source import Source


def is_value(pattern: ast.pattern) -> bool:
    """``case 0:``, ``case A.B | "x":``."""
    if isinstance(pattern, ast.MatchOr):
        return any(map(is_value, pattern.patterns))
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is not None and is_value(pattern.pattern)
    return isinstance(pattern, ast.MatchValue)


def lower(source: Source, module: str, package: str) -> ir.ModuleIR:
    """Parse and lower one file. Raises ``Unparsable``, and ``RecursionError`` for what only Python can read."""
    return Lowering(source.path, package).module(parse(source.text), source.path, module)


SAVING = "save_for_backward"
"""The method of an autograd function's context that takes tensors alone."""


class Lowering:
    """One file's lowering; holds the scopes, everything else is a pure function of the tree."""

    def __init__(self, module: str, package: str) -> None:
        self.scopes = Scopes(module, package)
        self.expressions: dict[type, Callable[[Any], ir.Expr]] = {
            ast.Constant: self.constant,
            ast.Name: self.name,
            ast.Attribute: self.attribute,
            ast.Call: self.call,
            ast.Subscript: self.subscript,
            ast.Slice: self.slice,
            ast.BinOp: self.binary,
            ast.UnaryOp: self.unary,
            ast.BoolOp: self.boolean,
            ast.Compare: self.compare,
            ast.IfExp: self.conditional,
            ast.JoinedStr: self.fstring,
            ast.FormattedValue: self.formatted,
            ast.Tuple: self.display,
            ast.List: self.display,
            ast.Set: self.display,
            ast.Dict: self.dictionary,
            ast.ListComp: self.comprehension,
            ast.SetComp: self.comprehension,
            ast.GeneratorExp: self.comprehension,
            ast.DictComp: self.comprehension,
            ast.Lambda: self.lambda_,
            ast.Starred: self.starred,
            ast.Yield: self.yield_,
            ast.YieldFrom: self.yield_,
            ast.Await: self.await_,
            ast.NamedExpr: self.walrus,
        }
        self.statements: dict[type, Callable[[Any], ir.Stmt | None]] = {
            ast.Expr: self.evaluate,
            ast.Assign: self.assign,
            ast.AnnAssign: self.annotated,
            ast.AugAssign: self.augmented,
            ast.Return: self.return_,
            ast.If: self.if_,
            ast.For: self.for_,
            ast.AsyncFor: self.for_,
            ast.While: self.while_,
            ast.Break: lambda n: ir.Break(span(n)),
            ast.Continue: lambda n: ir.Continue(span(n)),
            ast.Raise: lambda n: ir.Raise(self.maybe(n.exc), span(n)),
            ast.Assert: lambda n: ir.Assert(self.expr(n.test), self.maybe(n.msg), span(n)),
            ast.With: self.with_,
            ast.AsyncWith: self.with_,
            ast.Try: self.try_,
            ast.Match: self.match,
            ast.Delete: lambda n: ir.Delete(self.exprs(n.targets), span(n)),
            ast.FunctionDef: self.define,
            ast.AsyncFunctionDef: self.define,
            ast.ClassDef: self.define_class,
            ast.Global: self.scope,
            ast.Nonlocal: self.scope,
            ast.Import: self.import_,
            ast.ImportFrom: self.import_,
        }
        if hasattr(ast, "TryStar"):
            self.statements[ast.TryStar] = self.try_

    # Definitions

    def module(self, tree: ast.Module, path: str, name: str) -> ir.ModuleIR:
        with self.scopes.function("<module>", is_module=True):
            body = self.block(tree.body)
            function = self.scopes.close_function("<module>", ir.pack(1, 0, 1, 0), (), None, (), body, False)
        return self.scopes.close_module(path, name, function)

    def define(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ir.Stmt | None:
        decorators = self.exprs(node.decorator_list)
        parameters = self.parameters(node.args)
        returns = self.annotation(node.returns)
        with self.scopes.function(node.name):
            self.scopes.bind_parameters(parameters)
            body = self.block(node.body)
            function = self.scopes.close_function(
                node.name,
                header(node, node.returns or last_parameter(node.args)),
                parameters,
                returns,
                decorators,
                body,
                isinstance(node, ast.AsyncFunctionDef),
            )
        return self.scopes.add_function(function)

    def lambda_(self, node: ast.Lambda) -> ir.Lambda:
        parameters = self.parameters(node.args)
        with self.scopes.function("<lambda>"):
            self.scopes.bind_parameters(parameters)
            body = (ir.Return(self.expr(node.body), span(node.body)),)
            function = self.scopes.close_function("<lambda>", span(node), parameters, None, (), body, False)
        return ir.Lambda(function, span(node))

    def define_class(self, node: ast.ClassDef) -> ir.Stmt | None:
        bases = self.exprs(node.bases)
        decorators = self.exprs(node.decorator_list)
        with self.scopes.cls(node.name):
            self.block(node.body)
            cls = self.scopes.close_class(
                node.name, header(node, node.bases[-1] if node.bases else None), bases, decorators
            )
        return self.scopes.add_class(cls)

    def parameters(self, arguments: ast.arguments) -> tuple[ir.Parameter, ...]:
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults += arguments.defaults
        found = [self.parameter(a, "positional", d) for a, d in zip(positional, defaults, strict=True)]
        if arguments.vararg:
            found.append(self.parameter(arguments.vararg, "args", None))
        keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        found += [self.parameter(a, "keyword", d) for a, d in keyword_only]
        if arguments.kwarg:
            found.append(self.parameter(arguments.kwarg, "kwargs", None))
        return tuple(found)

    def parameter(self, argument: ast.arg, kind: str, default: ast.expr | None) -> ir.Parameter:
        return ir.Parameter(argument.arg, kind, self.annotation(argument.annotation), self.maybe(default))

    def annotation(self, node: ast.expr | None) -> ir.Expr | None:
        """An annotation, strings parsed. Its names do not count as uses."""
        if node is None:
            return None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value.strip(), mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        with self.scopes.silent():
            return self.expr(node)

    # Statements

    def block(self, nodes: Iterable[ast.stmt]) -> ir.Block:
        lowered = []
        for node in nodes:
            handler = self.statements.get(type(node))
            statement = handler(node) if handler is not None else None
            if statement is not None:
                lowered.append(statement)
        return tuple(lowered)

    def evaluate(self, node: ast.Expr) -> ir.Stmt | None:
        if isinstance(node.value, ast.Constant):
            return None
        if isinstance(node.value, ast.Call):
            self.scopes.note_top_level_call(node.value)
        return ir.Evaluate(self.expr(node.value), span(node))

    def assign(self, node: ast.Assign) -> ir.Stmt:
        value = self.expr(node.value)
        targets = self.exprs(node.targets)
        for target in targets:
            self.scopes.bind(target, value)
        return ir.Assign(targets, value, span(node))

    def annotated(self, node: ast.AnnAssign) -> ir.Stmt:
        value = self.maybe(node.value)
        target = self.expr(node.target)
        annotation = self.annotation(node.annotation) or ir.Constant(None, span(node.annotation))
        self.scopes.bind(target, value, annotation)
        return ir.Annotated(target, annotation, value, span(node))

    def augmented(self, node: ast.AugAssign) -> ir.Stmt:
        value = self.expr(node.value)
        target = self.expr(node.target)
        if isinstance(target, ir.Attribute):
            self.scopes.use(target.value, target.name)
        self.scopes.bind(target, None)
        return ir.Augmented(OPERATORS[type(node.op)], target, value, span(node))

    def return_(self, node: ast.Return) -> ir.Stmt:
        return ir.Return(self.maybe(node.value), span(node))

    def if_(self, node: ast.If) -> ir.Stmt:
        if is_main_guard(node.test):
            test, at = self.expr(node.test), header(node, node.test)
            with self.scopes.main_guard(node.body):
                return ir.If(test, self.block(node.body), self.block(node.orelse), at)
        test = self.expr(node.test)
        self.scopes.conditions += 1
        before, defined = self.scopes.xla_imports, self.scopes.top_functions()
        body = self.block(node.body)
        between, in_first = self.scopes.xla_imports, self.scopes.top_functions()
        orelse = self.block(node.orelse)
        self.scopes.conditions -= 1
        self.scopes.note_definitions(test, defined, in_first)
        in_body, in_orelse = between > before, self.scopes.xla_imports > between
        if in_body is not in_orelse:
            self.scopes.note_choice(test, in_body)
        return ir.If(test, body, orelse, header(node, node.test))

    def for_(self, node: ast.For | ast.AsyncFor) -> ir.Stmt:
        iterable = self.expr(node.iter)
        target = self.expr(node.target)
        self.scopes.bind(target, None)
        self.scopes.use(iterable, "for")
        at = header(node, node.iter)
        return ir.For(target, iterable, self.block(node.body), self.block(node.orelse), at)

    def while_(self, node: ast.While) -> ir.Stmt:
        test = self.expr(node.test)
        return ir.While(test, self.block(node.body), self.block(node.orelse), header(node, node.test))

    def with_(self, node: ast.With | ast.AsyncWith) -> ir.Stmt:
        items = []
        for item in node.items:
            target = self.maybe(item.optional_vars)
            items.append((self.expr(item.context_expr), target))
            if target is not None:
                self.scopes.bind(target, None)
        last = node.items[-1].optional_vars or node.items[-1].context_expr
        return ir.With(tuple(items), self.block(node.body), header(node, last))

    def try_(self, node: Any) -> ir.Stmt:
        handlers = []
        self.scopes.conditions += 1
        body = self.block(node.body)
        for handler in node.handlers:
            if handler.name:
                self.scopes.bind_name(handler.name)
            handlers.append((handler.name, self.block(handler.body)))
        self.scopes.conditions -= 1
        at = ir.pack(node.lineno, node.col_offset, node.lineno, node.col_offset + 3)
        return ir.Try(body, tuple(handlers), self.block(node.orelse), self.block(node.finalbody), at)

    def match(self, node: ast.Match) -> ir.Stmt:
        subject = self.expr(node.subject)
        cases = []
        for case in node.cases:
            names = tuple(
                name
                for pattern in ast.walk(case.pattern)
                if (name := getattr(pattern, "name", None) or getattr(pattern, "rest", None))
            )
            for name in names:
                self.scopes.bind_name(name)
            cases.append((names, self.maybe(case.guard), self.block(case.body)))
        compares = any(is_value(case.pattern) for case in node.cases)
        return ir.Match(subject, tuple(cases), compares, header(node, node.subject))

    def scope(self, node: ast.Global | ast.Nonlocal) -> ir.Stmt:
        self.scopes.declare_outer(node.names)
        return ir.Scope(tuple(node.names), span(node))

    def import_(self, node: ast.Import | ast.ImportFrom) -> None:
        self.scopes.import_(node)

    # Expressions

    def expr(self, node: ast.expr) -> ir.Expr:
        return self.expressions[type(node)](node)

    def exprs(self, nodes: Iterable[ast.expr]) -> tuple[ir.Expr, ...]:
        table = self.expressions
        return tuple([table[type(node)](node) for node in nodes])

    def maybe(self, node: ast.expr | None) -> ir.Expr | None:
        return None if node is None else self.expressions[type(node)](node)

    def constant(self, node: ast.Constant) -> ir.Expr:
        return ir.Constant(node.value, span(node))

    def name(self, node: ast.Name) -> ir.Expr:
        self.scopes.read(node.id)
        return ir.Name(node.id, span(node))

    def attribute(self, node: ast.Attribute) -> ir.Expr:
        value = self.expr(node.value)
        if type(node.ctx) is ast.Load:
            self.scopes.use(value, node.attr)
        return ir.Attribute(value, node.attr, span(node))

    def call(self, node: ast.Call) -> ir.Expr:
        function = self.expr(node.func)
        keywords = tuple([(k.arg, self.expr(k.value)) for k in node.keywords])
        arguments = self.exprs(node.args)
        self.scopes.use_call(function, arguments)
        if isinstance(function, ir.Attribute) and function.name == SAVING:
            for argument in arguments:
                self.scopes.use(argument, SAVING)
        return ir.Call(function, arguments, keywords, span(node))

    def subscript(self, node: ast.Subscript) -> ir.Expr:
        value = self.expr(node.value)
        self.scopes.use(value, "[]")
        return ir.Subscript(value, self.expr(node.slice), span(node))

    def slice(self, node: ast.Slice) -> ir.Expr:
        return ir.Slice(self.maybe(node.lower), self.maybe(node.upper), self.maybe(node.step))

    def binary(self, node: ast.BinOp) -> ir.Expr:
        return ir.Binary(OPERATORS[type(node.op)], self.expr(node.left), self.expr(node.right), span(node))

    def unary(self, node: ast.UnaryOp) -> ir.Expr:
        return ir.Unary(OPERATORS[type(node.op)], self.expr(node.operand), span(node))

    def boolean(self, node: ast.BoolOp) -> ir.Expr:
        return ir.Boolean(OPERATORS[type(node.op)], self.exprs(node.values), span(node))

    def compare(self, node: ast.Compare) -> ir.Expr:
        operators = tuple([OPERATORS[type(o)] for o in node.ops])
        return ir.Compare(self.expr(node.left), operators, self.exprs(node.comparators), span(node))

    def conditional(self, node: ast.IfExp) -> ir.Expr:
        return ir.Conditional(self.expr(node.test), self.expr(node.body), self.expr(node.orelse), span(node))

    def fstring(self, node: ast.JoinedStr) -> ir.Expr:
        fields = tuple([self.formatted(v) for v in node.values if isinstance(v, ast.FormattedValue)])
        first = node.values[0] if node.values else None
        start = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        return ir.FString(start, fields, span(node))

    def formatted(self, node: ast.FormattedValue) -> ir.Formatted:
        return ir.Formatted(self.expr(node.value), node.format_spec is not None, span(node.value))

    def display(self, node: ast.Tuple | ast.List | ast.Set) -> ir.Expr:
        kind = "tuple" if type(node) is ast.Tuple else "list" if type(node) is ast.List else "set"
        return ir.Display(kind, self.exprs(node.elts), span(node))

    def dictionary(self, node: ast.Dict) -> ir.Expr:
        return ir.DictDisplay(tuple([self.maybe(k) for k in node.keys]), self.exprs(node.values), span(node))

    def comprehension(self, node: Any) -> ir.Expr:
        generators = []
        for generator in node.generators:
            iterable = self.expr(generator.iter)
            target = self.expr(generator.target)
            self.scopes.bind(target, None)
            generators.append(ir.Generator(target, iterable, self.exprs(generator.ifs)))
        kinds = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "generator"}
        kind = kinds[type(node)]
        key = self.expr(node.key) if kind == "dict" else None
        element = self.expr(node.value if kind == "dict" else node.elt)
        return ir.Comprehension(kind, key, element, tuple(generators), span(node))

    def starred(self, node: ast.Starred) -> ir.Expr:
        return ir.Starred(self.expr(node.value))

    def yield_(self, node: ast.Yield | ast.YieldFrom) -> ir.Expr:
        self.scopes.note_yield()
        return ir.Yield(self.maybe(node.value), isinstance(node, ast.YieldFrom))

    def await_(self, node: ast.Await) -> ir.Expr:
        return ir.Await(self.expr(node.value))

    def walrus(self, node: ast.NamedExpr) -> ir.Expr:
        value = self.expr(node.value)
        self.scopes.bind_name(node.target.id)
        return ir.Walrus(node.target.id, value, span(node))
