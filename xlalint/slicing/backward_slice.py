"""The backward slice: the statements of a function that a flagged place needs, and the control around it.

Data dependence goes by dotted names. Tests between the step loop and the place are taken to hold, for a finding says
what happens where it is reached; each is told.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from xlalint.slicing.dependence import GRADIENTS, NESTED, heads, reads, touches, writes
from xlalint.slicing.instrumentation import flag, is_flagged, stub_call
from xlalint.slicing.syntax_tree import Loop, Scope, SyntaxTree

STEPS = "stand_in_steps"
"""The parameter of a program that says how many; no name of the user's is like it."""
_EXITS = (ast.Return, ast.Break, ast.Continue, ast.Raise)


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
    statement = tree.statement(node)
    if statement is None:
        return None
    scope = tree.scope(statement)
    around = [each for each in tree.above(statement) if isinstance(each, ast.stmt)]
    inside = around[: around.index(scope)] if isinstance(scope, ast.stmt) else around
    loop = _step_loop([statement, *inside], loop_line)
    selection = _Selection(tree, scope, statement, inside, loop, whole=not boundary, gradients=gradients, step=step)
    emitter = _Emitter(selection, boundary)
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


def _is_grad(decorator: ast.expr) -> bool:
    return any(word in ast.unparse(decorator) for word in ("no_grad", "inference_mode", "enable_grad"))


class _Selection:
    """The statements that are needed, to a fixpoint: who needs a name needs whoever sets it."""

    def __init__(
        self,
        tree: SyntaxTree,
        scope: Scope,
        statement: ast.stmt,
        inside: list[ast.stmt],
        loop: Loop | None,
        *,
        whole: bool,
        gradients: bool,
        step: bool,
    ) -> None:
        """``whole``: all that a flagged loop does is needed, and not only what its test asks for. ``step``: so is all
        that the loop around the place does."""
        self.tree = tree
        self.statement = statement
        self.around = set(inside)
        self.loop = loop
        self.gradients = gradients
        self.chosen: set[ast.stmt] = {statement}
        self.needed = reads(heads(statement)) | ({GRADIENTS} if gradients else set())
        if loop is not None and (step or (statement is loop and whole)):
            for each in self._simple(loop.body):
                self.chosen.add(each)
                self.needed |= reads(heads(each))
        for each in inside:
            if isinstance(each, (ast.For, ast.While)):
                self.needed |= reads(heads(each))
        candidates = [each for each in self._simple(scope.body) if self._may_matter(each)]
        grown = True
        while grown:
            grown = False
            for each in candidates:
                if each not in self.chosen and any(touches(path, self.needed) for path in writes(each)):
                    self._choose(each)
                    grown = True

    def _simple(self, block: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for each in block:
            found.append(each)
            if not isinstance(each, NESTED):
                for inner in _blocks(each):
                    found.extend(self._simple(inner))
        return found

    def _may_matter(self, statement: ast.stmt) -> bool:
        """What stands before the place, or is carried to it by the step loop."""
        if statement is self.statement or isinstance(statement, _EXITS):
            return False
        before = statement.lineno <= self.statement.lineno
        if before:
            return True
        if isinstance(statement, ast.Expr) and not self.gradients:
            # Called for its effect after the place: no value of the next step comes from there.
            return False
        return any(isinstance(each, (ast.For, ast.While)) and each in self.around for each in self._above(statement))

    def _above(self, statement: ast.stmt) -> list[ast.stmt]:
        return [each for each in self.tree.above(statement) if isinstance(each, ast.stmt)]

    def _choose(self, statement: ast.stmt) -> None:
        self.chosen.add(statement)
        self.needed |= reads(heads(statement))
        for each in self._above(statement):
            if isinstance(each, NESTED):
                break
            if each not in self.chosen and each not in self.around:
                self.chosen.add(each)
                self.needed |= reads(heads(each))


class _Emitter:
    """Writes the chosen statements anew, in their order."""

    def __init__(self, selection: _Selection, boundary: bool) -> None:
        self.selection = selection
        self.boundary = boundary
        self.assumed: list[str] = []
        self.tests: list[ast.expr] = []

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
        return self.compound(node) if _blocks(node) else [copy.deepcopy(node)]

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
            new = self.compound(node) if _blocks(node) else [copy.deepcopy(node)]
        reached = _Reached()
        found: list[ast.stmt] = [reached.visit(each) for each in new]
        self.assumed += reached.assumed
        self.tests += reached.tests
        return found

    def compound(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, (ast.Try, ast.With, ast.AsyncWith)) and not _is_context_of_torch(node):
            return self.block(node.body)
        if isinstance(node, ast.If) and node is not self.selection.statement and _leaves(node.body):
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
        body += self.block(loop.body)
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


def _blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(node, NESTED):
        return []
    blocks = [getattr(node, name) for name in ("body", "orelse", "finalbody") if getattr(node, name, None)]
    blocks += [each.body for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
    return blocks


def _leaves(block: list[ast.stmt]) -> bool:
    return isinstance(block[-1], (ast.Raise, ast.Return))


def _is_context_of_torch(node: ast.stmt) -> bool:
    """Contexts that decide whether gradients flow stay; any other is an effect of its own."""
    return isinstance(node, (ast.With, ast.AsyncWith)) and all(_is_grad(item.context_expr) for item in node.items)


def _stub_call_of_copies(name: str, *arguments: ast.expr) -> ast.Call:
    return stub_call(name, *(copy.deepcopy(each) for each in arguments))


def _like(new: ast.stmt, old: ast.stmt) -> ast.stmt:
    return ast.copy_location(new, old)


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:59]}…"
