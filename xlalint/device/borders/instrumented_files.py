"""Imports the program's own files with their loops counted and their flagged places watched."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from xlalint.device.borders.demands import Demand, demanded
from xlalint.device.borders.former_division import Quotients, is_python_2
from xlalint.device.borders.omissions import Omissions
from xlalint.device.borders.packages import parts
from xlalint.device.borders.places import WatchedPlace
from xlalint.device.borders.plan import Place, Plan
from xlalint.device.borders.turns import Loops
from xlalint.findings.model import Neutral, Position
from xlalint.slicing.instrumentation import Immovable, as_is, flag, neutralised, stub_call, tried, unflag
from xlalint.slicing.syntax_tree import SyntaxTree
from xlalint.sources.read import decode, read_bytes

_LOOPS = "_xlalint_loops"
"""Names that a star import leaves where they are."""
_PARTS = "_xlalint_parts"
_ANSWERED = "_xlalint_answered"
_DIVIDED = "_xlalint_divided"
_ASYNC = re.compile(rb"\basync\s*=(?!=)")
"""An argument of `cuda` and `copy_`, until Python 3.7 took its name."""
_PLACE = "_xlalint_place_{}"
_COMPILED = ("script", "jit.script", "torch.jit.script", "torch.jit.script_method")


class Instrumentation:
    """The places of a plan, and the loops, in the files that they are in."""

    def __init__(
        self,
        plan: Plan,
        loops: Loops,
        watched: Sequence[WatchedPlace],
        read: Callable[[ast.Module, str], None],
        answers: Callable[[object, bool, str], bool],
        quotients: Quotients,
        omissions: Omissions,
    ) -> None:
        """``read`` is told the tree and the path of each file before it runs; ``answers`` gives what it demands."""
        self._omissions = omissions
        self._plan, self._loops, self._watched, self._told = plan, loops, watched, read
        self._names = {_PARTS: parts, _ANSWERED: answers, _DIVIDED: quotients.of, **omissions.names}
        self._by_path: dict[str, list[int]] = {}
        for number, place in enumerate(plan.places):
            self._by_path.setdefault(os.path.realpath(place.path), []).append(number)

    def code(self, path: str) -> CodeType:
        """Raises ``SyntaxError``, ``Immovable``."""
        source = SyntaxTree(decode(read_bytes(Path(path)), path))
        if source.module is None:
            source = SyntaxTree(decode(_ASYNC.sub(b"non_blocking=", read_bytes(Path(path))), path))
        if source.module is None:
            return compile(read_bytes(Path(path)), path, "exec")
        self._told(source.module, path)
        numbers = self._by_path.get(os.path.realpath(path), [])
        # All are found before any is changed: a change moves what is inside.
        nodes = [(number, self._node(source, self._plan.places[number])) for number in numbers]
        body = self._omissions.leave_out(source.module, path)
        for number, node in nodes:
            if node is None:
                continue
            flag(node)
            try:
                body = self._changed(body, number)
            finally:
                unflag(node)
        borders = self._plan.borders
        changes = _Loops(borders, borders and is_python_2(source.module))
        module = ast.Module([changes.visit(each) for each in body], [])
        return compile(ast.fix_missing_locations(_flat(module)), path, "exec")

    def _node(self, source: SyntaxTree, place: Place) -> ast.expr | ast.stmt | None:
        """An expression that is a statement by itself has the same range as that; it is the one that can be tried."""
        found = source.at(_position(place))
        return found.value if place.raises and isinstance(found, ast.Expr) else found

    def _changed(self, body: list[ast.stmt], number: int) -> list[ast.stmt]:
        place, name = self._plan.places[number], _PLACE.format(number)
        if place.raises:
            with suppress(Immovable):
                return tried(body, name)
        without = number in self._plan.without and place.neutral is not Neutral.BOUNDARY
        return (neutralised if without else as_is)(body, place.neutral, name)

    def names(self, path: str) -> dict[str, Any]:
        """What the code of a file calls."""
        numbers = self._by_path.get(os.path.realpath(path), [])
        found: dict[str, Any] = {_PLACE.format(number): self._watched[number] for number in numbers}
        return {_LOOPS: self._loops.of_file(os.path.realpath(path)), **self._names, **found}


@dataclass
class InstrumentedFinder:
    """Finds what the import path has, and instruments it where it is the program's own."""

    instrumentation: Instrumentation
    owned: Callable[[str], bool]

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader) and spec.origin and self.owned(spec.origin):
            spec.loader = _InstrumentedLoader(name, spec.origin, self.instrumentation)
            return spec
        return None


class _InstrumentedLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, instrumentation: Instrumentation) -> None:
        super().__init__(name, path)
        self._instrumentation = instrumentation

    def get_code(self, _: str) -> CodeType:
        return self._instrumentation.code(self.path)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self._instrumentation.names(self.path))
        exec(self.get_code(module.__name__), vars(module))


class _Loops(ast.NodeTransformer):
    """Loops ask before each turn; what is unpacked, and what is demanded, may be absent; quotients may be whole.
    What torch reads the source of is left as it is."""

    def __init__(self, borders: bool, of_python_2: bool) -> None:
        self._borders, self._of_python_2 = borders, of_python_2

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._let_past(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return self._let_past(node)

    def _let_past(self, node: ast.If | ast.Assert) -> ast.AST:
        if self._borders and (asked := demanded(node)):
            node.test = _Demands(asked).visit(node.test)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if any(ast.unparse(each) in _COMPILED for each in node.decorator_list):
            return node
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not self._of_python_2 or not isinstance(node.op, ast.Div):
            return node
        return ast.Call(ast.Name(_DIVIDED, ast.Load()), [node.left, node.right], [])

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = stub_call("turns", node.iter, ast.Constant(node.lineno), stubs=_LOOPS)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(node.value, ast.Call) and isinstance(target, ast.Tuple) and _is_plain(target):
            count = ast.Constant(len(target.elts))
            node.value = ast.Call(ast.Name(_PARTS, ast.Load()), [node.value, count], [])
        return node

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        line = ast.Constant(node.lineno)
        node.test = ast.BoolOp(ast.And(), [stub_call("turn", line, stubs=_LOOPS), node.test])
        enter, leave = (ast.Expr(stub_call(name, line, stubs=_LOOPS)) for name in ("enter", "leave"))
        return [ast.copy_location(each, node) for each in (enter, ast.Try([node], [], [], [leave]))]


class _Demands(ast.NodeTransformer):
    """Puts an answer around each question."""

    def __init__(self, asked: Sequence[Demand]) -> None:
        self._asked = {id(each.question): each.wanted for each in asked}

    def visit(self, node: ast.AST) -> Any:
        wanted = self._asked.get(id(node))
        if wanted is None or not isinstance(node, ast.expr):
            return self.generic_visit(node)
        text = ast.unparse(node)
        return ast.Call(ast.Name(_ANSWERED, ast.Load()), [node, ast.Constant(wanted), ast.Constant(text)], [])


def _is_plain(target: ast.Tuple) -> bool:
    return not any(isinstance(each, ast.Starred) for each in target.elts)


def _flat(module: ast.Module) -> ast.Module:
    """A statement may have become several."""
    module.body = [one for each in module.body for one in (each if isinstance(each, list) else [each])]
    return module


def _position(place: Place) -> Position:
    return Position(place.line, place.column, place.end_line, place.end_column)
