"""What a program compares an argument with, or looks up by it: values that it knows. Imports nothing heavy."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_LISTED = re.compile(r"\s*\|\s*")


class ComparedValues:
    """Texts by the name of an attribute, in the order in which the files that were read compare it with them, or have
    them as keys of what is looked up by it."""

    def __init__(self) -> None:
        self._by_name: dict[str, dict[str, None]] = {}
        self._tables: dict[str, list[str]] = {}
        """The keys of displays, by the last name that one is bound to."""
        self._looked_up: dict[str, str] = {}
        """By the name of an attribute, that of the table."""
        self.bounds: set[str] = set()
        """Names of attributes that a count is compared with: `if step < args.start_steps`."""

    def read(self, tree: ast.Module) -> None:
        """What one file compares: `args.dataset == "mnist"`, `args.dataset in ["mnist", "usps"]`."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], _ORDERED):
                sides = (node.left, *node.comparators)
                self.bounds.update(each.attr for each in sides if isinstance(each, ast.Attribute))
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.In)):
                left, right = node.left, node.comparators[0]
                if isinstance(left, ast.Attribute):
                    self._by_name.setdefault(left.attr, {}).update(dict.fromkeys(_values_of(right)))
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
                keys = [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
                self._tables[_last_name(node.targets[0])] = [key for key in keys if isinstance(key, str)]
            elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Attribute):
                self._looked_up.setdefault(node.slice.attr, _last_name(node.value))

    def all_of(self, name: str) -> tuple[str, ...]:
        """All values of an argument."""
        keys = self._tables.get(self._looked_up.get(name, ""), ())
        return tuple(dict.fromkeys((*self._by_name.get(name, ()), *keys)))

    def of(self, name: str, told: str | None) -> str | None:
        """The first value of an argument, or the first that its help lists: `mnist | usps`."""
        for value in self.all_of(name):
            return value
        listed = _LISTED.split((told or "").strip())
        return listed[0] if len(listed) > 1 and listed[0].isidentifier() else None


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _values_of(node: ast.expr) -> Iterator[str]:
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else [node]
    return (each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str))
