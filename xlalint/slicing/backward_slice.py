"""The backward slice: the statements of a function that a flagged place needs, and the control around it.

Data dependence goes by dotted names. Tests between the step loop and the place are taken to hold, for a finding says
what happens where it is reached; each is told.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass

from xlalint.slicing.dependence import NESTED
from xlalint.slicing.instrumentation import flag, is_flagged, stub_call
from xlalint.slicing.selection import Selection, blocks_of
from xlalint.slicing.syntax_tree import Loop, Scope, SyntaxTree

STEPS = "stand_in_steps"
"""The parameter of a program that says how many; no name of the user's is like it."""


@dataclass(frozen=True)
class Slice:
    """``body`` is a copy with the places of the source; the flagged node bears ``flagged``, and ``loop`` tells
    whether the step loop is in it. ``scope`` is where it was cut out of."""

    tree: SyntaxTree
    scope: Scope
    node: ast.expr | ast.stmt
    body: list[ast.stmt]
    loop: Loop | None
    parameters: tuple[str, ...]
    defaults: dict[str, str]
    """Of parameters, where they are constants."""
    decorators: tuple[ast.expr, ...]
    assumed: tuple[str, ...]
    tests: tuple[ast.expr, ...]
    """What is taken to hold, and is no part of ``body``."""
    asked: tuple[ast.expr, ...] = ()
    """What decides in ``body`` whether the place is reached, and again."""
    wrappers: tuple[str, ...] = ()
    """Decorators that are left out, and may decide how often the function runs."""
    obeyed: bool = False
    """Whether nothing is taken to hold."""


def cut(
    tree: SyntaxTree,
    node: ast.expr | ast.stmt,
    loop_line: int | None,
    boundary: bool = True,
    gradients: bool = False,
    step: bool = False,
) -> Slice | None:
    """The slice for ``node``, in the innermost function around it; ``loop_line`` is where its step loop begins.

    Without a ``boundary`` the step loop sets none: what the program does itself is what counts. ``gradients`` says
    that the place works on them, and so needs the backward pass that makes them, ``step`` that all of its step is
    needed.
    """
    return slice_of(tree, node, loop_line, boundary, gradients, step, Emitter)


def slice_of(
    tree: SyntaxTree,
    node: ast.expr | ast.stmt,
    loop_line: int | None,
    boundary: bool,
    gradients: bool,
    step: bool,
    written_by: type[Emitter],
    wanted: Sequence[ast.expr] | None = None,
) -> Slice | None:
    """As ``cut``, with what writes the statements anew; ``wanted`` is all that is needed of the place, if it is not all
    of it."""
    statement = tree.statement(node)
    if statement is None:
        return None
    scope = tree.scope(statement)
    around = [each for each in tree.above(statement) if isinstance(each, ast.stmt)]
    inside = around[: around.index(scope)] if isinstance(scope, ast.stmt) else around
    loop = _step_loop([statement, *inside], loop_line)
    selection = Selection(
        tree,
        scope,
        statement,
        inside,
        loop,
        whole=not boundary,
        gradients=gradients,
        step=step,
        obeyed=written_by.OBEYED,
        wanted=wanted,
    )
    emitter = written_by(selection, boundary)
    emitter.wanted = wanted or ()
    body = emitter.block(scope.body)
    return Slice(
        tree,
        scope,
        node,
        body,
        loop,
        _parameters(scope),
        _defaults(scope),
        _decorators(scope),
        tuple(emitter.assumed),
        tuple(emitter.tests),
        tuple(emitter.asked),
        _wrappers(scope),
        written_by.OBEYED,
    )


def _step_loop(around: list[ast.stmt], line: int | None) -> Loop | None:
    loops = [each for each in around if isinstance(each, (ast.For, ast.While))]
    if line is None:
        return None
    return next((each for each in loops if each.lineno == line), None)


def _parameters(scope: Scope) -> tuple[str, ...]:
    if isinstance(scope, ast.Module):
        return ()
    given = scope.args
    every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    return tuple(each.arg for each in every if each is not None)


def _defaults(scope: Scope) -> dict[str, str]:
    """``*args`` and ``**kwargs`` are empty where nobody hands them anything."""
    if isinstance(scope, ast.Module):
        return {}
    given = scope.args
    positional = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(positional), reversed(given.defaults), strict=False)]
    pairs += [
        (name, value) for name, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is not None
    ]
    found = {name.arg: ast.unparse(value) for name, value in pairs if isinstance(value, ast.Constant)}
    if given.vararg is not None:
        found[given.vararg.arg] = "()"
    if given.kwarg is not None:
        found[given.kwarg.arg] = "{}"
    return found


def _decorators(scope: Scope) -> tuple[ast.expr, ...]:
    """Those of torch, which decide whether gradients flow."""
    if isinstance(scope, ast.Module):
        return ()
    return tuple(each for each in scope.decorator_list if ast.unparse(each).startswith("torch.") and _is_grad(each))


_TELLING = ("property", "staticmethod", "classmethod", "override", "abstractmethod", "overload")


def _wrappers(scope: Scope) -> tuple[str, ...]:
    if isinstance(scope, ast.Module):
        return ()
    told = ((each, ast.unparse(each)) for each in scope.decorator_list)
    return tuple(text for each, text in told if not _is_grad(each) and text.rpartition(".")[2] not in _TELLING)


def _is_grad(decorator: ast.expr) -> bool:
    return any(word in ast.unparse(decorator) for word in ("no_grad", "inference_mode", "enable_grad"))


class Emitter:
    """Writes the chosen statements anew, in their order."""

    OBEYED = False
    """Whether control is written as it stands."""

    def __init__(self, selection: Selection, boundary: bool) -> None:
        self.selection = selection
        self.boundary = boundary
        self.assumed: list[str] = []
        self.tests: list[ast.expr] = []
        self.asked: list[ast.expr] = []
        self.wanted: Sequence[ast.expr] = ()

    def block(self, block: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for each in block:
            found.extend(self.statement(each))
        return found

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        selection = self.selection
        if node in selection.around or (node is selection.statement and node is selection.loop):
            return self.surrounding(node)
        if node is selection.statement:
            return self.place(node)
        if node not in selection.chosen or self._ends_step(node):
            return []
        if isinstance(node, NESTED):
            return [copy.deepcopy(node)]
        return self.compound(node) if blocks_of(node) else [copy.deepcopy(node)]

    def _ends_step(self, node: ast.stmt) -> bool:
        """Whether a statement would leave the step before its end, or the step loop."""
        if isinstance(node, (ast.Return, ast.Raise)):
            return True
        if not isinstance(node, (ast.Break, ast.Continue)):
            return False
        loops = (each for each in self.selection.tree.above(node) if isinstance(each, (ast.For, ast.While)))
        return next(loops, None) is self.selection.loop

    def place(self, node: ast.stmt) -> list[ast.stmt]:
        """The flagged statement: its head, with what of its body is needed."""
        if isinstance(node, ast.Return):
            value = node.value if node.value is not None else ast.Constant(None)
            new: list[ast.stmt] = [_like(ast.Expr(copy.deepcopy(value)), node)]
        else:
            new = self.compound(node) if blocks_of(node) else [copy.deepcopy(node)]
        reached = _Reached()
        found: list[ast.stmt] = [reached.visit(each) for each in new]
        self.assumed += reached.assumed
        self.tests += reached.tests
        return found

    def compound(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, (ast.Try, ast.With, ast.AsyncWith)) and not _is_context_of_torch(node):
            return self.block(node.body)
        if isinstance(node, ast.If) and node is not self.selection.statement and self.leaves(node):
            # Who goes on has not gone there.
            return self.block(node.orelse)
        blocks = {name: getattr(node, name) for name in ("body", "orelse") if getattr(node, name, None)}
        kept = {name: self.block(block) for name, block in blocks.items()}
        bare = copy.copy(node)
        for name in blocks:
            setattr(bare, name, [])
        new = copy.deepcopy(bare)
        for name, block in kept.items():
            setattr(new, name, block)
        if not new.body:  # type: ignore[attr-defined]
            new.body = [ast.Pass()]  # type: ignore[attr-defined]
        return [new]

    def leaves(self, node: ast.If) -> bool:
        """Whether nothing goes on behind its first arm."""
        return isinstance(node.body[-1], (ast.Raise, ast.Return))

    def surrounding(self, node: ast.stmt) -> list[ast.stmt]:
        """What stands around the place: loops stay, and tests are taken to hold."""
        if node is self.selection.loop:
            return [self.step_loop(node)]
        if isinstance(node, ast.If):
            holds = self._leads_to_place(node.body)
            self.tests += [node.test] if holds else []
            self.assumed.append(f"`{_short(node.test)}` {'holds' if holds else 'does not hold'}")
            return self.block(node.body if holds else node.orelse)
        if isinstance(node, ast.For) and self._leads_to_loop(node):
            once = _stub_call_of_copies("once", node.iter)
            return [_like(ast.For(copy.deepcopy(node.target), once, self.block(node.body), []), node)]
        if isinstance(node, ast.Try):
            for block in (node.body, node.orelse, node.finalbody, *(each.body for each in node.handlers)):
                if self._leads_to_place(block):
                    before = [] if block is node.body else self.block(node.body)
                    return [*before, *self.block(block)]
        if isinstance(node, (ast.With, ast.AsyncWith)) and not _is_context_of_torch(node):
            self.assumed.append(f"`with {_short(node.items[0].context_expr)}` is left out")
            return self.block(node.body)
        if isinstance(node, ast.Match):
            self.assumed.append(f"a case of `{_short(node.subject)}` is met")
            return [each for case in node.cases for each in self.block(case.body)]
        if isinstance(node, ast.While) and self._leads_to_loop(node):
            return self.block(node.body)
        if isinstance(node, ast.While) and not _holds_flag(node.test):
            # What would end it may be no part of the slice.
            self.assumed.append(f"`while {_short(node.test)}` goes round once in a step")
            turn = ast.Call(ast.Name("range", ast.Load()), [ast.Constant(1)], [])
            return [_like(ast.For(ast.Name("_", ast.Store()), turn, self.block(node.body), []), node)]
        return self.compound(node)

    def step_loop(self, loop: Loop) -> ast.stmt:
        """As many turns of the loop as are asked for; a test that would end it earlier is asked and not obeyed."""
        count = ast.Name(STEPS, ast.Load())
        if isinstance(loop, ast.For):
            turns = _stub_call_of_copies("steps", loop.iter, count)
            target: ast.expr = copy.deepcopy(loop.target)
            body: list[ast.stmt] = []
        else:
            turns = _stub_call_of_copies("steps", ast.Call(ast.Name("range", ast.Load()), [count], []), count)
            target = ast.Name("_", ast.Store())
            # Only where the test itself is flagged: else it is no part of what is measured.
            asked = any(is_flagged(node) for node in ast.walk(loop.test))
            body = [_like(ast.Expr(_stub_call_of_copies("truth", loop.test)), loop)] if asked else []
            self.assumed.append(f"the loop goes on, whatever `{_short(loop.test)}` says")
        if not self.boundary:
            turns.keywords.append(ast.keyword("boundary", ast.Constant(False)))
        return self.looped(loop, target, turns, [*body, *self.block(loop.body)])

    def looped(self, loop: ast.stmt, target: ast.expr, turns: ast.expr, body: list[ast.stmt]) -> ast.stmt:
        new = _like(ast.For(target, turns, body or [ast.Pass()], []), loop)
        if is_flagged(loop):
            flag(new)
        return new

    def _leads_to_place(self, block: list[ast.stmt]) -> bool:
        wanted = self.selection.around | {self.selection.statement}
        return any(each in wanted for each in block)

    def _leads_to_loop(self, node: ast.stmt) -> bool:
        loop = self.selection.loop
        return loop is not None and loop is not node and loop in ast.walk(node)


class _Reached(ast.NodeTransformer):
    """What decides within a statement whether the flagged place is reached, is taken to let it be reached."""

    def __init__(self) -> None:
        self.assumed: list[str] = []
        self.tests: list[ast.expr] = []

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        first = next((number for number, each in enumerate(node.values) if _holds_flag(each)), 0)
        word = "holds" if isinstance(node.op, ast.And) else "does not hold"
        self.assumed += [f"`{_short(each)}` {word}" for each in node.values[:first]]
        self.tests += node.values[:first] if isinstance(node.op, ast.And) else []
        rest = node.values[first:]
        return rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(node.op, rest), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        for branch, word in ((node.body, "holds"), (node.orelse, "does not hold")):
            if _holds_flag(branch):
                self.assumed.append(f"`{_short(node.test)}` {word}")
                self.tests += [node.test] if branch is node.body else []
                return branch
        return node


def _holds_flag(node: ast.AST) -> bool:
    return any(is_flagged(each) for each in ast.walk(node))


def _is_context_of_torch(node: ast.stmt) -> bool:
    """Contexts that decide where tensors are made, of which type, and whether gradients flow, stay; any other is an
    effect of its own."""
    return isinstance(node, (ast.With, ast.AsyncWith)) and all(_decides(item.context_expr) for item in node.items)


def _decides(context: ast.expr) -> bool:
    return _is_grad(context) or ast.unparse(context).startswith(("torch.device(", "torch.autocast(", "torch.amp."))


def _stub_call_of_copies(name: str, *arguments: ast.expr) -> ast.Call:
    return stub_call(name, *(copy.deepcopy(each) for each in arguments))


def _like(new: ast.stmt, old: ast.stmt) -> ast.stmt:
    return ast.copy_location(new, old)


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:59]}…"
