"""The closed set of ways to run a flagged place: as it is, and without its cost.

One mechanism serves them all: what a place gave in the first step is given again in the others. Types and shapes
stay what they were, whatever the rule is about, and the rest of the program runs on as before.
"""

from __future__ import annotations

import ast
from typing import cast

from xlalint.findings.model import Neutral

STUBS = "stand_in"
"""The name under which a program knows what stands in for its missing parts."""
_AFTER = {Neutral.REPLAY_BATCH: "used", Neutral.REPLAY_BACKWARD: "learned", Neutral.MODE_LEFT_OUT: "switched"}
_OF_STATEMENTS = (Neutral.FIRST_ONLY, Neutral.LEFT_OUT, Neutral.MODE_LEFT_OUT)
"""What is done with the whole statement that a flagged expression stands in."""
_MARK = "xlalint_flagged"
_TURNING = frozenset({"steps", "turns"})
"""The stubs that a step loop goes over."""
_MODES = frozenset({"train", "eval"})
_UNMOVABLE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)


class Immovable(Exception):
    """The flagged place can't be put off: it binds a name or yields. One line."""


def flag(node: ast.expr | ast.stmt) -> None:
    """Mark a node; its copies bear the mark too."""
    setattr(node, _MARK, True)


def is_flagged(node: ast.AST) -> bool:
    return hasattr(node, _MARK)


def unflag(node: ast.expr | ast.stmt) -> None:
    delattr(node, _MARK)


def as_is(block: list[ast.stmt], kind: Neutral, stubs: str = STUBS) -> list[ast.stmt]:
    """The program with a count of how often the flagged place runs. ``stubs`` is the name of what counts."""
    return _Instrument(None, _AFTER.get(kind, ""), stubs).block(block)


def tried(block: list[ast.stmt], stubs: str) -> list[ast.stmt]:
    """The program with a flagged expression that is tried first. Raises ``Immovable``."""
    return _Trial(None, "", stubs).block(block)


def neutralised(block: list[ast.stmt], kind: Neutral, stubs: str = STUBS) -> list[ast.stmt]:
    """The program without the cost of the flagged place. Raises ``Immovable``."""
    return _Instrument(kind, _AFTER.get(kind, ""), stubs).block(block)


class _Instrument(ast.NodeTransformer):
    """Works in place, on copies. ``kind`` None only counts."""

    def __init__(self, kind: Neutral | None, after: str, stubs: str) -> None:
        self.kind = kind
        self.stubs = stubs
        self.after = after
        """What is done with the value both times, by a stub of this name; or nothing."""

    def block(self, block: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        skips = False
        for each in block:
            skips = skips and not _switches_mode(each)
            if skips:
                # With the switch goes what runs in its mode.
                continue
            skips = self.kind is Neutral.MODE_LEFT_OUT and isinstance(each, ast.Expr) and _holds_flagged(each)
            new = self.visit(each)
            found.extend(new if isinstance(new, list) else [cast(ast.stmt, new)])
        return found

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, block in ast.iter_fields(node):
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, name, self.block(block))
            elif isinstance(block, list):
                setattr(node, name, [self.visit(each) if isinstance(each, ast.AST) else each for each in block])
            elif isinstance(block, ast.AST):
                setattr(node, name, self.visit(block))
        return node

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        if isinstance(node, ast.stmt) and self._stands_in_head(node):
            return self.statement(node)
        if isinstance(node, ast.expr) and is_flagged(node):
            return self.expression(node)
        visited: ast.AST = self.generic_visit(node)
        return visited

    def _stands_in_head(self, node: ast.stmt) -> bool:
        """Whether a statement is to be changed as a whole: it is flagged, or stored into, or its rule says so."""
        if is_flagged(node):
            return True
        if isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.FunctionDef, ast.ClassDef)):
            return False
        inside = [each for each in ast.walk(node) if is_flagged(each)]
        if any(isinstance(getattr(each, "ctx", None), ast.Store) for each in inside):
            return True
        return bool(inside) and self.kind in _OF_STATEMENTS

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        counted = ast.copy_location(ast.Expr(self._call("ran")), node)
        if self.kind in (None, Neutral.BOUNDARY, Neutral.NOTHING):
            if isinstance(node, (ast.For, ast.While)):
                node.body.insert(0, counted)
                return [node]
            return [counted, node]
        if self.kind is Neutral.LOADED_AHEAD:
            return [self._loaded_ahead(node, counted)]
        if self.kind in (Neutral.LEFT_OUT, Neutral.MODE_LEFT_OUT):
            if not isinstance(node, ast.Expr):
                raise Immovable("the flagged statement has a result")
            return [counted]
        if isinstance(node, ast.Assign) and all(isinstance(each, (ast.Name, ast.Tuple)) for each in node.targets):
            node.value = self._replayed(node.value)
            return [node]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            before = ast.Name(node.target.id, ast.Load())
            value = self._replayed(ast.BinOp(before, node.op, node.value))
            return [ast.copy_location(ast.Assign([node.target], value), node)]
        if isinstance(node, ast.For):
            node.iter = self._replayed(ast.Call(ast.Name("list", ast.Load()), [node.iter], []))
            return [node]
        if isinstance(node, (ast.Return, ast.FunctionDef, ast.ClassDef, ast.While)):
            raise Immovable("the flagged statement has no form without its cost")
        return [ast.copy_location(ast.If(self._call("first"), [node], []), node)]

    def expression(self, node: ast.expr) -> ast.expr:
        if self.kind in (None, Neutral.BOUNDARY, Neutral.NOTHING):
            return ast.copy_location(self._call("ran", self._call(self.after, node) if self.after else node), node)
        if self.after:
            return self._call(self.after, self._replayed(node))
        if self.kind is Neutral.ARGUMENT:
            return self._call("ran", _argument(node))
        if self.kind is Neutral.WITHOUT_GRAPH:
            return self._call("without_graph", node)
        if self.kind is Neutral.REPLAY_TRUTH:
            node = ast.Call(ast.Name("bool", ast.Load()), [node], [])
        return self._replayed(node)

    def _call(self, name: str, *arguments: ast.expr) -> ast.Call:
        return stub_call(name, *arguments, stubs=self.stubs)

    def _replayed(self, node: ast.expr) -> ast.expr:
        return self._put_off("replay", node)

    def _put_off(self, name: str, node: ast.expr) -> ast.expr:
        if any(isinstance(each, _UNMOVABLE) for each in ast.walk(node)):
            raise Immovable("the flagged expression binds a name or yields")
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return self._call(name, ast.Lambda(nothing, node))

    def _loaded_ahead(self, loop: ast.stmt, counted: ast.stmt) -> ast.stmt:
        if not isinstance(loop, ast.For):
            raise Immovable("what is flagged is no loop over batches")
        if isinstance(loop.iter, ast.Call) and _is_stub(loop.iter.func, _TURNING):
            # The steps are counted where they run, and not by the thread that loads.
            loop.iter.args[0] = self._call("loaded_ahead", loop.iter.args[0])
        else:
            loop.iter = self._call("loaded_ahead", loop.iter)
        loop.body.insert(0, counted)
        return loop


def _holds_flagged(node: ast.AST) -> bool:
    return any(is_flagged(each) for each in ast.walk(node))


def _switches_mode(statement: ast.stmt) -> bool:
    """``model.train()``"""
    called = statement.value.func if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in _MODES


class _Trial(_Instrument):
    def expression(self, node: ast.expr) -> ast.expr:
        return self._put_off("tried", node)


def _argument(node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.Call) or not node.args:
        raise Immovable("the flagged place is no call with an argument")
    return node.args[0]


def _is_stub(node: ast.expr, names: frozenset[str]) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in names and ast.unparse(node.value) == STUBS


def stub_call(name: str, *arguments: ast.expr, stubs: str = STUBS) -> ast.Call:
    """A call of what stands in for the program's missing parts."""
    return ast.Call(ast.Attribute(ast.Name(stubs, ast.Load()), name, ast.Load()), list(arguments), [])
