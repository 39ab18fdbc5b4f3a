"""Mutants of code: a test that is turned round; in the joins of the lattice also other small weakenings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tools.mutation.mutant import Mutant

JOINS = ("join", "merge", "union", "add_alternative")
CONDITIONS = ("xlalint/facts/**/*.py", "rules/*.py", "xlalint/knowledge/conditions.py")
TELLING = frozenset({"display", "explain"})
"""Modules and folders that say what is known and decide nothing."""
SWAPPED = {ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"}
OTHER = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Text:
    """A module's text, with the places of nodes in it."""

    def __init__(self, root: Path, path: str) -> None:
        self.path = path
        self.text = (root / path).read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self._starts = [0]
        for line in self.text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._lines = self.text.splitlines(keepends=True)

    def offset(self, line: int, column: int) -> int:
        """``column`` is in bytes, as ``ast`` counts."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def mutant(self, kind: str, node: ast.expr, after: str, scope: str) -> Mutant:
        start = self.offset(node.lineno, node.col_offset)
        before = self.text[start : self.offset(node.end_lineno or 0, node.end_col_offset or 0)]
        label = f"{self.path}, {scope}: {after}, not {before}"
        return Mutant(kind, self.path, start, before, after, " ".join(label.split()))

    def of(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.text, node) or ""


def lattice_of(root: Path) -> Path:
    """The module that defines how values join, wherever in ``facts`` it stands. Raises ``LookupError``."""
    found = [path for path in (root / "xlalint" / "facts").rglob("*.py") if "\ndef join(" in path.read_text("utf-8")]
    if len(found) != 1:
        raise LookupError(f"`join` of the lattice is defined in {len(found)} modules of xlalint/facts")
    return found[0]


def tells(path: Path) -> bool:
    return path.stem.startswith("__") or not TELLING.isdisjoint({path.stem, path.parent.name})


def mutants(root: Path) -> Iterator[Mutant]:
    lattice_path = lattice_of(root)
    lattice = Text(root, lattice_path.relative_to(root).as_posix())
    for function in functions(lattice.tree):
        if function.name.lstrip("_").startswith(JOINS):
            for node in ast.walk(function):
                yield from weakened(lattice, node, function.name)
    for pattern in CONDITIONS:
        for path in sorted(root.glob(pattern)):
            # The lattice has a kind of its own.
            if path != lattice_path and not tells(path):
                yield from turned_round(Text(root, path.relative_to(root).as_posix()))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def turned_round(text: Text) -> Iterator[Mutant]:
    for function in functions(text.tree):
        for node in ast.walk(function):
            if isinstance(node, ast.If | ast.IfExp):
                yield text.mutant("conditions", node.test, f"not ({text.of(node.test)})", function.name)


def weakened(text: Text, node: ast.AST, scope: str) -> Iterator[Mutant]:
    def mutant(of: ast.expr, after: str) -> Mutant:
        return text.mutant("lattice", of, after, scope)

    if isinstance(node, ast.If | ast.IfExp):
        yield mutant(node.test, f"not ({text.of(node.test)})")
    if isinstance(node, ast.IfExp):
        yield mutant(node, f"({text.of(node.body)})")
        yield mutant(node, f"({text.of(node.orelse)})")
    elif isinstance(node, ast.BoolOp):
        other = " or " if isinstance(node.op, ast.And) else " and "
        yield mutant(node, f"({other.join(text.of(value) for value in node.values)})")
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
        yield mutant(node, f"{text.of(node.left)} {SWAPPED[type(node.ops[0])]} {text.of(node.comparators[0])}")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in OTHER:
            yield mutant(node.func, OTHER[node.func.id])
        elif node.func.id.startswith("join") and len(node.args) == 2:
            yield mutant(node, text.of(node.args[0]))
