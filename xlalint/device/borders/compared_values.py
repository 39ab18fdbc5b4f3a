"""What a program compares an argument with: values that it knows. Imports nothing heavy."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_LISTED = re.compile(r"\s*\|\s*")


class ComparedValues:
    """Texts by the name of an attribute, in the order in which the files that were read compare it with them."""

    def __init__(self) -> None:
        self._by_name: dict[str, dict[str, None]] = {}

    def read(self, tree: ast.Module) -> None:
        """What one file compares: `args.dataset == "mnist"`, `args.dataset in ["mnist", "usps"]`."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.In)):
                left, right = node.left, node.comparators[0]
                if isinstance(left, ast.Attribute):
                    self._by_name.setdefault(left.attr, {}).update(dict.fromkeys(_values_of(right)))

    def all_of(self, name: str) -> tuple[str, ...]:
        """All values of an argument."""
        return tuple(self._by_name.get(name, ()))

    def of(self, name: str, told: str | None) -> str | None:
        """The first value of an argument, or the first that its help lists: `mnist | usps`."""
        for value in self._by_name.get(name, ()):
            return value
        listed = _LISTED.split((told or "").strip())
        return listed[0] if len(listed) > 1 and listed[0].isidentifier() else None


def _values_of(node: ast.expr) -> Iterator[str]:
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else [node]
    return (each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str))
