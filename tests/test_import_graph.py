"""The graph of imports and the names in it: no circle of modules, no name that a layer gives twice."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

ROOT = Path(__file__).parent.parent
TOPS = ("xlalint", "rules")

CHOSEN_BY_NAME = {
    # Each command is a module, each format of a report is one: they are loaded by name and have one entry each.
    "xlalint.cli": {"command"},
    "xlalint.reports": {"render"},
}

Graph: TypeAlias = Mapping[str, frozenset[str]]


def read_modules() -> dict[str, ast.Module]:
    """By dotted name, every module that is shipped."""
    found = {}
    for path in sorted(path for top in TOPS for path in (ROOT / top).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def package_of(module: str) -> str:
    return module.rpartition(".")[0]


def import_graph(modules: Mapping[str, ast.Module]) -> Graph:
    """Module → the modules that it names in imports: at its top, in functions and for types alone.

    A package stands in it as ``package.__init__``. That a module's import runs the packages above it is no edge.
    """
    return {name: frozenset(_imported(name, tree, modules)) - {name} for name, tree in modules.items()}


def _imported(importer: str, tree: ast.Module, modules: Iterable[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _base(importer, node)
            named = [f"{base}.{alias.name}" for alias in node.names]
            # Where the name is no module, the import asks the module or package for it.
            named = [name if _module(name, modules) else base for name in named]
        else:
            continue
        yield from filter(None, (_module(name, modules) for name in named))


def _base(importer: str, node: ast.ImportFrom) -> str:
    """The absolute name of what an import takes from."""
    if not node.level:
        return node.module or ""
    above = importer.split(".")[: -node.level]
    return ".".join([*above, *filter(None, [node.module])])


def _module(name: str, modules: Iterable[str]) -> str | None:
    return next((known for known in (name, f"{name}.__init__") if known in modules), None)


def circles(graph: Graph) -> list[list[str]]:
    """The strongly connected components of more than one module."""
    reached = {module: _reachable(module, graph) for module in graph}
    components = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in graph
        if module in reached[module]
    }
    return [list(component) for component in sorted(components)]


def _reachable(start: str, graph: Graph) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for module in graph[waiting.pop()] - found:
            found.add(module)
            waiting.append(module)
    return found


MODULES = read_modules()


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = import_graph(MODULES)
    edges = [
        f"{importer} imports {imported}"
        for circle in circles(graph)
        for importer in circle
        for imported in sorted(graph[importer] & set(circle))
    ]
    assert not edges, "\n".join(edges)


def test_no_layer_gives_a_name_twice() -> None:
    """A layer is an innermost package: to who reads it, one name means one function or class.

    The rules are left out: each is a module of the same form, and none sees another.
    """
    places: dict[tuple[str, str], list[str]] = {}
    for module, tree in MODULES.items():
        layer = package_of(module)
        if layer == "rules":
            continue
        allowed = CHOSEN_BY_NAME.get(layer, set())
        for name in dict.fromkeys(_defined(tree)):
            if name not in allowed and name != "main" and not name.startswith("__"):
                places.setdefault((layer, name), []).append(module.removeprefix(f"{layer}."))
    twice = [f"{layer}: {name} in {', '.join(found)}" for (layer, name), found in places.items() if len(found) > 1]
    assert not twice, "\n".join(twice)


def _defined(tree: ast.Module) -> Iterator[str]:
    return (node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from p.b import f", "from p.a import g"),
        ("from p import b", "def f():\n    import p.a"),
        ("from . import b", "if TYPE_CHECKING:\n    from .a import g"),
        ("from p.c import f", "import p.a"),
    ],
    ids=["at the top", "in a function", "for types, relative", "through a third"],
)
def test_a_circle_is_seen(one: str, other: str) -> None:
    texts = {"p.__init__": "", "p.a": one, "p.b": other, "p.c": "from p import b"}
    graph = import_graph({name: ast.parse(text) for name, text in texts.items()})
    (circle,) = circles(graph)
    assert {"p.a", "p.b"} <= set(circle)


def test_modules_without_a_circle_are_let_be() -> None:
    texts = {"p.__init__": "from p.a import f", "p.a": "from .b import f\nimport os", "p.b": "from ast import walk"}
    graph = import_graph({name: ast.parse(text) for name, text in texts.items()})
    assert graph["p.__init__"] == {"p.a"}
    assert graph["p.a"] == {"p.b"}
    assert circles(graph) == []
