"""The free names of a slice, each with what is read off it and how: the ground for what stands in for it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from xlalint.edits.definitions import is_builtin
from xlalint.edits.neutral import ACTORS
from xlalint.edits.places import span_of
from xlalint.facts.events import Span


@dataclass
class Need:
    """One name, or one attribute of it. ``spans`` is where it is read, ``calls`` where it is called; ``fields`` and
    ``parts`` tell what is made of the results: attributes that are read, and into how many they are unpacked."""

    name: str
    spans: list[Span] = field(default_factory=list)
    calls: list[Span] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)
    parts: int = 0
    is_iterated: bool = False
    children: dict[str, Need] = field(default_factory=dict)


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
        bound = _bound(blocks) - set(parameters)
        self.found: dict[str, Need] = {}
        for block in blocks:
            for node in ast.walk(block):
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store) and hasattr(node, "lineno"):
                    free = node.id not in bound and node.id not in known and node.id != ACTORS
                    if free and (node.id in parameters or not is_builtin(node.id)):
                        self._read(node)

    def _read(self, name: ast.Name) -> None:
        need = self.found.setdefault(name.id, Need(name.id))
        node: ast.expr = name
        need.spans.append(span_of(node))
        while isinstance(above := self.parents.get(node), ast.Attribute):
            node = above
            need = need.children.setdefault(above.attr, Need(above.attr))
            need.spans.append(span_of(node))
        if isinstance(above, ast.Call) and above.func is node:
            need.calls.append(span_of(above))
            self._result(above, need)
        elif isinstance(above, (ast.For, ast.comprehension)) and above.iter is node:
            need.is_iterated = True

    def _result(self, call: ast.Call, need: Need) -> None:
        above = self.parents.get(call)
        if isinstance(above, ast.Attribute):
            need.fields.add(above.attr)
        elif isinstance(above, ast.Assign) and isinstance(above.targets[0], (ast.Tuple, ast.List)):
            need.parts = len(above.targets[0].elts)
        elif isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name):
            need.fields |= self.results.get(above.targets[0].id, set())

    def _named_results(self) -> dict[str, set[str]]:
        """The attributes that are read of each name."""
        found: dict[str, set[str]] = {}
        for node in self.parents:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found.setdefault(node.value.id, set()).add(node.attr)
        return found


def _bound(blocks: list[ast.stmt]) -> set[str]:
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
