"""Statements that a program is run without, as they fail with what is made up: its own reading of a file, a check of
what a file holds, a report. Imports nothing heavy.

A server that goes on past a fault, with a value made up for the statement that failed, is *failure-oblivious* (Rinard
et al., "Enhancing Server Availability and Security Through Failure-Oblivious Computing", OSDI 2004). Here it is done
between two runs: a rehearsal ends at what nobody catches, and the next one leaves that statement out. What a model
computes is never left out, nor is a flagged place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.plan import Omission, Place
from xlalint.device.stubs.objects import Absent
from xlalint.sources.read import decode, read_bytes

_OMITTED = "_xlalint_omitted"
"""The name of what is called in place of a statement."""
_COMPUTING = ("/torch/nn/", "/torch/functional.py", "/torch/_tensor.py", "/torch/autograd/", "/torch/optim/")
"""Files in which what fails is part of what a model computes."""
_COMPUTED = frozenset({"backward", "step", "parse_args", "parse_known_args"})
"""Calls without which a training is none, or a command line is not read."""
_LONGEST = 60
"""Characters of a statement that are told."""


def omission(error: BaseException, owned: Callable[[str], bool], places: Sequence[Place]) -> Omission | None:
    """The innermost statement of the program's own in which an uncaught exception was raised; None where the program
    can't do without it. ``owned`` tells the program's own files."""
    frames = list(_frames(error.__traceback__))
    own = [number for number, frame in enumerate(frames) if owned(frame.tb_frame.f_code.co_filename)]
    if not own or not isinstance(error, (Exception, SystemExit)) or isinstance(error, MemoryError):
        return None
    inmost = frames[own[-1]]
    if any(map(_computes, frames)):
        return None
    path, line = inmost.tb_frame.f_code.co_filename, inmost.tb_lineno
    tree = _parsed(path)
    node = None if tree is None else _statement(tree, line)
    if node is None or _holds(node, path, places) or _stand_in_of(node, 0) is None or _is_needed(node):
        return None
    if isinstance(error, (RuntimeError, SystemExit)) and own[-1] < len(frames) - 1:
        # Tensors do not fit, or a command line is refused.
        return None
    if isinstance(error, RuntimeError) and not isinstance(node, ast.Raise):
        return None
    message = str(error).strip().partition("\n")[0][:_LONGEST]
    text = ast.unparse(node).partition("\n")[0][:_LONGEST]
    return Omission(path, line, text, f"{type(error).__name__}: {message}" if message else type(error).__name__)


class Omissions:
    """Of one run: the statements that it leaves out."""

    def __init__(self, omitted: Sequence[Omission], clock: Clock) -> None:
        self._omitted, self._clock = tuple(omitted), clock

    def leave_out(self, module: ast.Module, path: str) -> list[ast.stmt]:
        """The statements of a file without those that are left out."""
        wanted = {number: each for number, each in enumerate(self._omitted) if each.path == path}
        found: dict[int, ast.stmt] = {}
        for number, each in wanted.items():
            node = _statement(module, each.line)
            replaced = None if node is None else _stand_in_of(node, number)
            if node is not None and replaced is not None:
                found[id(node)] = ast.copy_location(replaced, node)
        return [_Replacement(found).visit(each) for each in module.body] if found else module.body

    @property
    def names(self) -> dict[str, Any]:
        """What the code calls."""
        return {_OMITTED: self}

    def __call__(self, number: int, *instead: Any) -> Any:
        """What a statement that is left out gives: the value ``instead``, where it has one."""
        one = self._omitted[number]
        self._clock.assume(f"`{one.text}` ({Path(one.path).name}:{one.line}) is left out, as it fails: {one.why}")
        return instead[0] if instead and instead[0] is not self else Absent(one.text, why=one.why)


class _Replacement(ast.NodeTransformer):
    def __init__(self, found: dict[int, ast.stmt]) -> None:
        self._found = found

    def visit(self, node: ast.AST) -> Any:
        return self.generic_visit(self._found.get(id(node), node))


def _frames(trace: TracebackType | None) -> list[TracebackType]:
    found = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def _computes(trace: TracebackType) -> bool:
    """Whether a model, or torch, computes there."""
    code = trace.tb_frame.f_code
    path = code.co_filename.replace("\\", "/")
    return code.co_name == "forward" or any(part in path for part in _COMPUTING)


def _parsed(path: str) -> ast.Module | None:
    try:
        return ast.parse(decode(read_bytes(Path(path)), path).text)
    except (OSError, SyntaxError, ValueError):
        return None


def _statement(tree: ast.Module, line: int) -> ast.stmt | None:
    """The innermost one that lies on a line; of several on one line the first."""
    around = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    around = (node for node in around if node.lineno <= line <= (node.end_lineno or node.lineno))
    return max(around, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)


def _holds(node: ast.stmt, path: str, places: Sequence[Place]) -> bool:
    end = node.end_lineno or node.lineno
    return any(each.path == path and each.line <= end and node.lineno <= each.end_line for each in places)


def _is_needed(node: ast.stmt) -> bool:
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(getattr(each.func, "attr", None) in _COMPUTED for each in calls)


def _stand_in_of(node: ast.stmt, number: int) -> ast.stmt | None:
    """What stands for a statement that is left out: the names that it binds have no value, no arm is entered."""

    def told(*instead: ast.expr) -> ast.Call:
        return ast.Call(ast.Name(_OMITTED, ast.Load()), [ast.Constant(number), *instead], [])

    match node:
        case ast.Expr() | ast.Assert() | ast.Raise() | ast.Delete() | ast.AugAssign():
            return ast.Expr(told())
        case ast.Assign(targets=[ast.Attribute(value=held, attr=name)]):
            # Of an object that has it already it stays as it is.
            of = ast.parse(ast.unparse(held), mode="eval").body
            present = [of, ast.Constant(name), ast.Name(_OMITTED, ast.Load())]
            return ast.Assign(node.targets, told(ast.Call(ast.Name("getattr", ast.Load()), present, [])))
        case ast.Assign():
            return ast.Assign(node.targets, told())
        case ast.AnnAssign():
            return ast.AnnAssign(node.target, node.annotation, told(), node.simple)
        case ast.Return():
            return ast.Return(told())
        case ast.If():
            return ast.If(told(ast.Constant(value=False)), node.body, node.orelse)
        case ast.While():
            return ast.While(told(ast.Constant(value=False)), node.body, node.orelse)
        case ast.For():
            return ast.For(node.target, told(ast.Tuple([], ast.Load())), node.body, node.orelse)
        case ast.With():
            return ast.With([ast.withitem(told(), each.optional_vars) for each in node.items], node.body)
    return None
