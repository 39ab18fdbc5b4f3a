"""The slice in which nothing is taken to hold: its tests are asked, its loops end where they end, its exits leave.

The favourable slice of ``backward_slice`` shows what a place costs if it is reached in each step. This one shows
whether it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from xlalint.slicing.backward_slice import STEPS, Emitter, Slice, slice_of
from xlalint.slicing.dependence import NESTED
from xlalint.slicing.instrumentation import stub_call
from xlalint.slicing.selection import EXITS, blocks_of, ends_program, test_of
from xlalint.slicing.syntax_tree import SyntaxTree

_NAME = "__name__"
"""Of the file that is run: it is run."""


class NotObeyed(Exception):
    """Control that can't be told by itself. One line."""


def cut_as_obeyed(
    tree: SyntaxTree,
    node: ast.expr | ast.stmt,
    loop_line: int | None,
    boundary: bool = True,
    gradients: bool = False,
    step: bool = False,
) -> Slice | None:
    """As ``backward_slice.cut``. Raises ``NotObeyed``."""
    scope = tree.scope(node)
    if not isinstance(scope, ast.Module) and isinstance(tree.scope(scope), (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise NotObeyed("when a function within a function is called is not asked")
    return slice_of(tree, node, loop_line, boundary, gradients, step, _Obeying)


class _Obeying(Emitter):
    """Writes control as it stands."""

    OBEYED = True

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        selection = self.selection
        if node in selection.exits:
            above = selection.tree.above(node)
            self.asked += [each.test for each in above if isinstance(each, ast.If) and each not in selection.around]
            return [_exit(node)]
        if node in selection.around or (node is selection.statement and node is selection.loop):
            return self.surrounding(node)
        if node is selection.statement:
            return self.place(node)
        if node not in selection.chosen or isinstance(node, EXITS):
            return []
        if isinstance(node, NESTED) or not blocks_of(node):
            return [copy.deepcopy(node)]
        return self.compound(node)

    def place(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Return):
            value = copy.deepcopy(node.value) if node.value is not None else ast.Constant(None)
            return [ast.copy_location(ast.Expr(value), node), ast.copy_location(ast.Return(None), node)]
        return self.compound(node) if blocks_of(node) else [copy.deepcopy(node)]

    def leaves(self, node: ast.If) -> bool:
        """Whether nothing goes on behind an arm: here all that leaves is told."""
        selection = self.selection
        told = node in selection.around or node.body[-1] in selection.exits
        return isinstance(node.body[-1], ast.Raise) and not told

    def surrounding(self, node: ast.stmt) -> list[ast.stmt]:
        if node is self.selection.loop:
            return [self.step_loop(node)]
        if isinstance(node, ast.If):
            return self._asked(node)
        if isinstance(node, (ast.For, ast.While)):
            return self.compound(node)
        if isinstance(node, ast.Match):
            raise NotObeyed("which case is met is not asked")
        if isinstance(node, ast.Try) and any(self._leads_to_place(each.body) for each in node.handlers):
            raise NotObeyed("whether it raises is not asked")
        return super().surrounding(node)

    def _asked(self, node: ast.If) -> list[ast.stmt]:
        if _NAME in {each.id for each in ast.walk(node.test) if isinstance(each, ast.Name)}:
            return self.block(node.body)
        test = test_of(node, self.selection.around | {self.selection.statement})
        if test is not node.test:
            self.assumed.append(f"`{ast.unparse(node.test)}` holds every so many steps")
        if test is None:
            return self.block(node.body)
        self.asked.append(test)
        (new,) = self.compound(node)
        assert isinstance(new, ast.If)
        new.test = copy.deepcopy(test)
        return [new]

    def step_loop(self, loop: ast.stmt) -> ast.stmt:
        """The loop itself, cut off after as many turns as are asked for."""
        count = ast.Name(STEPS, ast.Load())
        assert isinstance(loop, (ast.For, ast.While))
        if isinstance(loop, ast.For):
            items, target = copy.deepcopy(loop.iter), copy.deepcopy(loop.target)
        else:
            if any(isinstance(each, ast.NamedExpr) for each in ast.walk(loop.test)):
                raise NotObeyed("the test of the loop binds a name")
            nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            items, target = stub_call("while_", ast.Lambda(nothing, copy.deepcopy(loop.test))), _unused()
        turns = stub_call("turns", items, count)
        if not self.boundary:
            turns.keywords.append(ast.keyword("boundary", ast.Constant(False)))
        return self.looped(loop, target, turns, self.block(loop.body))


class _Giving(_Obeying):
    """Ends at a call, with what is wanted of it."""

    def place(self, node: ast.stmt) -> list[ast.stmt]:
        given = ast.Tuple([copy.deepcopy(each) for each in self.wanted], ast.Load())
        return [ast.copy_location(ast.Return(given), node)]


def cut_up_to(tree: SyntaxTree, call: ast.Call, wanted: Sequence[ast.expr]) -> Slice | None:
    """What leads to a call, and gives ``wanted`` there. Raises ``NotObeyed``."""
    return slice_of(tree, call, None, True, False, False, _Giving, wanted)


def _unused() -> ast.expr:
    return ast.Name("_", ast.Store())


def _exit(node: ast.stmt) -> ast.stmt:
    """What leaves, without what it gives."""
    new: ast.stmt = copy.deepcopy(node)
    if isinstance(node, ast.Return):
        new = ast.Return(None)
    elif isinstance(node, ast.Raise) or ends_program(node):
        new = ast.Expr(stub_call("left"))
    return ast.copy_location(new, node)
