"""Which statements of a function a flagged place needs: who needs a name needs whoever sets it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xlalint.slicing.dependence import GRADIENTS, NESTED, heads, reads, touches, writes
from xlalint.slicing.syntax_tree import Loop, Scope, SyntaxTree

EXITS = (ast.Return, ast.Break, ast.Continue, ast.Raise)
_ENDS = frozenset({"exit", "quit", "sys.exit", "os._exit"})


class Selection:
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
        obeyed: bool = False,
        wanted: Sequence[ast.expr] | None = None,
    ) -> None:
        """``whole``: all that a flagged loop does is needed, and not only what its test asks for. ``step``: so is all
        that the loop around the place does. ``obeyed``: so is what decides whether the place is reached, and again."""
        self.tree = tree
        self.statement = statement
        self.around = set(inside)
        self.loop = loop
        self.gradients = gradients
        self.chosen: set[ast.stmt] = {statement}
        self.exits: set[ast.stmt] = set()
        self.wanted = wanted
        self.needed = reads(heads(statement) if wanted is None else iter(wanted)) | (
            {GRADIENTS} if gradients else set()
        )
        if loop is not None and (step or (statement is loop and whole)):
            for each in self._simple(loop.body):
                self.chosen.add(each)
                self.needed |= reads(heads(each))
        for each in inside:
            if isinstance(each, (ast.For, ast.While)):
                self.needed |= reads(heads(each))
        if obeyed:
            self._choose_control(scope, inside)
        candidates = [each for each in self._simple(scope.body) if self._may_matter(each)]
        grown = True
        while grown:
            grown = False
            for each in candidates:
                if each not in self.chosen and any(touches(path, self.needed) for path in writes(each)):
                    self._choose(each)
                    grown = True

    def _choose_control(self, scope: Scope, inside: list[ast.stmt]) -> None:
        for each in inside:
            if isinstance(each, ast.If) and (test := test_of(each, self.around | {self.statement})) is not None:
                self.needed |= reads(iter([test]))
        for each in self._simple(scope.body):
            if self._is_exit(each) and self._may_leave(each):
                self._choose(each)
                # What it gives nobody asks for.
                self.exits.add(each)

    def _is_exit(self, statement: ast.stmt) -> bool:
        """A failing check before the loop is taken to pass: who goes on has not gone there."""
        if isinstance(statement, ast.Raise):
            in_loop = self.loop is not None and self.loop in self._above(statement)
            return in_loop or self.tree.parents.get(statement) in self.around or self._is_at_top(statement)
        return isinstance(statement, EXITS) or ends_program(statement)

    def _is_at_top(self, statement: ast.stmt) -> bool:
        return isinstance(self.tree.parents.get(statement), (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module))

    def _may_leave(self, statement: ast.stmt) -> bool:
        """Whether the place may not be reached, or not again, for this exit."""
        if statement is self.statement:
            return False
        loops = [each for each in self._above(statement) if isinstance(each, (ast.For, ast.While))]
        if isinstance(statement, (ast.Break, ast.Continue)):
            return bool(loops) and loops[0] in self.around | {self.statement}
        around = self.around | {self.statement}
        return statement.lineno <= self.statement.lineno or any(each in around for each in loops)

    def _simple(self, block: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for each in block:
            found.append(each)
            if not isinstance(each, NESTED):
                for inner in blocks_of(each):
                    found.extend(self._simple(inner))
        return found

    def _may_matter(self, statement: ast.stmt) -> bool:
        """What stands before the place, or is carried to it by the step loop."""
        if statement is self.statement or isinstance(statement, EXITS):
            return False
        if self.wanted is not None and self._is_at_top_of_file(statement):
            # A name of the file is found there.
            return False
        before = statement.lineno <= self.statement.lineno
        if before:
            return True
        if isinstance(statement, ast.Expr) and not self.gradients:
            # Called for its effect after the place: no value of the next step comes from there.
            return False
        return any(isinstance(each, (ast.For, ast.While)) and each in self.around for each in self._above(statement))

    def _is_at_top_of_file(self, statement: ast.stmt) -> bool:
        is_definition = isinstance(statement, (*NESTED, ast.Import, ast.ImportFrom))
        return is_definition and isinstance(self.tree.scope(statement), ast.Module)

    def _above(self, statement: ast.stmt) -> list[ast.stmt]:
        return [each for each in self.tree.above(statement) if isinstance(each, ast.stmt)]

    def _choose(self, statement: ast.stmt) -> None:
        self.chosen.add(statement)
        if not isinstance(statement, EXITS):
            self.needed |= reads(heads(statement))
        for each in self._above(statement):
            if isinstance(each, NESTED):
                break
            if each not in self.chosen and each not in self.around:
                self.chosen.add(each)
                self.needed |= reads(heads(each))


def blocks_of(node: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(node, NESTED):
        return []
    blocks = [getattr(node, name) for name in ("body", "orelse", "finalbody") if getattr(node, name, None)]
    blocks += [each.body for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))]
    return blocks


def ends_program(statement: ast.stmt) -> bool:
    """``sys.exit()`` and the like."""
    called = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(called, ast.Call) and ast.unparse(called.func) in _ENDS


def test_of(node: ast.If, around: set[ast.stmt]) -> ast.expr | None:
    """What a test around the place asks, but for what is so in every so many steps; None where nothing is left."""
    if not any(each in around for each in node.body):
        return node.test
    parts = node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else [node.test]
    kept = [each for each in parts if not _is_period(each)]
    if len(kept) == len(parts):
        return node.test
    return ast.copy_location(ast.BoolOp(ast.And(), kept), node.test) if len(kept) > 1 else next(iter(kept), None)


def _is_period(test: ast.expr) -> bool:
    """``step % 100 == 0``"""
    asked = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    asked = asked.left if isinstance(asked, ast.Compare) else asked
    return isinstance(asked, ast.BinOp) and isinstance(asked.op, ast.Mod)
