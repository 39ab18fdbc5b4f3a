"""The free names of a slice, each with what is read off it and how: the ground for what stands in for it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from xlalint.facts.events import Span
from xlalint.knowledge.ops import load_ops
from xlalint.slicing.aliases import aliases
from xlalint.slicing.definitions import is_builtin
from xlalint.slicing.dependence import path_of
from xlalint.slicing.instrumentation import STUBS
from xlalint.slicing.syntax_tree import span_of

_TENSOR_FIRST = (("input",), ("self",), ("condition",))
"""How ops name their first parameter where it is a tensor."""


@dataclass
class Need:
    """One name, or one attribute of it. ``spans`` is where it is read, ``calls`` where it is called; ``fields`` and
    ``parts`` tell what is made of the results: attributes that are read, and into how many they are unpacked; ``keys``
    are texts that they are indexed with.
    ``is_operand``: it is indexed, calculated with, or handed to a function of torch. ``is_spread``: it is handed on as
    ``**name``."""

    name: str
    spans: list[Span] = field(default_factory=list)
    calls: list[Span] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    parts: int = 0
    is_iterated: bool = False
    is_operand: bool = False
    is_spread: bool = False
    children: dict[str, Need] = field(default_factory=dict)

    def take(self, other: Need) -> None:
        """What is done with the same thing elsewhere."""
        self.spans += other.spans
        self.calls += other.calls
        self.fields |= other.fields
        self.keys |= other.keys
        self.parts = self.parts or other.parts
        self.is_iterated |= other.is_iterated
        self.is_operand |= other.is_operand
        self.is_spread |= other.is_spread
        for name, child in other.children.items():
            self.children.setdefault(name, Need(name)).take(child)


def needs(blocks: list[ast.stmt], parameters: tuple[str, ...], known: frozenset[str]) -> dict[str, Need]:
    """What ``blocks`` need from outside. ``known`` are names that the program has by itself."""
    return _Reading(blocks, parameters, known).found


class _Reading:
    def __init__(self, blocks: list[ast.stmt], parameters: tuple[str, ...], known: frozenset[str]) -> None:
        self.parents: dict[ast.AST, ast.AST] = {}
        for block in blocks:
            for node in ast.walk(block):
                for child in ast.iter_child_nodes(node):
                    self.parents[child] = node
        self.results = self._named_results()
        bound = _bound_names(blocks) - set(parameters)
        self.found: dict[str, Need] = {}
        for block in blocks:
            for node in ast.walk(block):
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store) and hasattr(node, "lineno"):
                    free = node.id not in bound and node.id not in known and node.id != STUBS
                    if free and (node.id in parameters or not is_builtin(node.id)):
                        self._read(node, self.found.setdefault(node.id, Need(node.id)))
        self._read_by_other_names(blocks)

    def _read_by_other_names(self, blocks: list[ast.stmt]) -> None:
        """What is done with another name for something is done with it."""
        stands_for = {name: need for name, path in aliases(blocks).items() if (need := self._of(path)) is not None}
        for node in self.parents:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in stands_for:
                self._read(node, stands_for[node.id])

    def _of(self, path: str) -> Need | None:
        name, *attributes = path.split(".")
        need = self.found.get(name)
        for each in attributes:
            need = need.children.get(each) if need is not None else None
        return need

    def _read(self, name: ast.Name, need: Need) -> None:
        node: ast.expr = name
        need.spans.append(span_of(node))
        while isinstance(above := self.parents.get(node), ast.Attribute):
            node = above
            need = need.children.setdefault(above.attr, Need(above.attr))
            need.spans.append(span_of(node))
        if isinstance(above, ast.Call) and above.func is node:
            need.calls.append(span_of(above))
            self._result(above, need)
        elif (isinstance(above, (ast.For, ast.comprehension)) and above.iter is node) or (
            isinstance(above, ast.Call) and _goes_over(above.func)
        ):
            need.is_iterated = True
        need.is_operand |= _is_operand(node, above)
        need.is_spread |= isinstance(above, ast.keyword) and above.arg is None

    def _result(self, call: ast.Call, need: Need) -> None:
        above = self.parents.get(call)
        if isinstance(above, ast.Attribute):
            need.fields.add(above.attr)
        elif (key := _key(above)) is not None:
            need.keys.add(key)
        elif isinstance(above, ast.Assign) and isinstance(above.targets[0], (ast.Tuple, ast.List)):
            need.parts = len(above.targets[0].elts)
        elif isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name):
            fields, keys = self.results.get(above.targets[0].id, (set(), set()))
            need.fields |= fields
            need.keys |= keys

    def _named_results(self) -> dict[str, tuple[set[str], set[str]]]:
        """The attributes and the keys that are read of each name."""
        found: dict[str, tuple[set[str], set[str]]] = {}
        for node in self.parents:
            if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Name):
                fields, keys = found.setdefault(node.value.id, (set(), set()))
                if isinstance(node, ast.Attribute):
                    fields.add(node.attr)
                elif (key := _key(node)) is not None:
                    keys.add(key)
        return found


def _key(node: ast.AST | None) -> str | None:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value if isinstance(node.slice.value, str) else None
    return None


def _goes_over(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id in ("zip", "enumerate")
    return isinstance(called, ast.Attribute) and path_of(called.value) == STUBS and called.attr in ("steps", "turns")


def _is_operand(node: ast.expr, above: ast.AST | None) -> bool:
    if isinstance(above, ast.Subscript):
        return above.value is node and not isinstance(above.slice, ast.Constant)
    if isinstance(above, (ast.UnaryOp, ast.Starred)):
        return isinstance(getattr(above, "op", None), ast.Invert)
    if isinstance(above, ast.Call) and (path_of(above.func) or "").endswith("TensorDataset"):
        return node in above.args
    if isinstance(above, ast.Call) and above.args and above.args[0] is node:
        row = load_ops().function(_spelled(path_of(above.func) or ""))
        return row is not None and row.parameter_names[:1] in _TENSOR_FIRST
    return False


def _spelled(called: str) -> str:
    """The name of a function as the table has it."""
    for short in ("F.", "nn.functional."):
        if called.startswith(short):
            return f"torch.nn.functional.{called.removeprefix(short)}"
    return called


def _bound_names(blocks: list[ast.stmt]) -> set[str]:
    found: set[str] = set()
    for block in blocks:
        for node in ast.walk(block):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.alias):
                found.add((node.asname or node.name).partition(".")[0])
    return found
