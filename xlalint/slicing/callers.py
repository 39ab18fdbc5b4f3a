"""Who calls a function in sight, and what it hands it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from xlalint.slicing.instrumentation import stub_call
from xlalint.slicing.obeyed_slice import NotObeyed, cut_up_to
from xlalint.slicing.syntax_tree import Definition, Scope, SyntaxTree

_MOST = 4
"""Callers that are looked at."""
_DEPTH = 3
"""How many callers of callers."""


@dataclass(frozen=True)
class Given:
    """Where parameters come from: ``body`` is that of a function that returns one value for each of ``names``, and
    ``outer`` tells where its own parameters come from."""

    names: tuple[str, ...]
    body: list[ast.stmt]
    parameters: tuple[str, ...]
    where: str
    outer: Given | None
    needed_in: list[ast.stmt]
    """What says of its parameters what they are."""

    anew: bool = False
    """Whether they are others in each step."""

    def told(self) -> list[ast.stmt]:
        """As if all stood in one function: what sets the names, and what that takes."""
        if self.needed_in is not self.body:
            return self.needed_in
        values = (node.value for node in ast.walk(ast.Module(self.body, [])) if isinstance(node, ast.Return))
        pairs = [
            ast.Assign([ast.Name(name, ast.Store())], value)
            for each in values
            if isinstance(each, ast.Tuple)
            for name, value in zip(self.names, each.elts, strict=False)
        ]
        return [*pairs, *self.body]


def givens(tree: SyntaxTree, scope: Scope, depth: int = _DEPTH) -> list[Given]:
    """What the callers in sight hand to a function, and how the object is made that it is a method of."""
    if isinstance(scope, ast.Module) or depth == 0 or not list(ast.iter_child_nodes(scope.args)):
        return []
    found: list[Given] = []
    for call in _calls(tree, scope):
        if len(found) == _MOST:
            break
        wanted = _arguments(tree, scope, call)
        try:
            cut = cut_up_to(tree, call, [each for _, each in wanted]) if wanted is not None else None
        except NotObeyed:
            continue
        if cut is None or wanted is None:
            continue
        names = tuple(name for name, _ in wanted)
        outer = givens(tree, cut.scope, depth - 1)
        where = "its file" if isinstance(cut.scope, ast.Module) else f"`{cut.scope.name}`"
        found += [Given(names, cut.body, cut.parameters, where, each, cut.body) for each in [*outer, None][:2]]
    made = _constructed(tree, scope)
    return [*found, made] if made is not None else found


def _calls(tree: SyntaxTree, scope: Definition) -> Iterator[ast.Call]:
    """Calls of a function of the file by its name, of a method by its name on any object."""
    is_method = tree.owner(scope) is not None
    if not is_method and not isinstance(tree.parents.get(scope), ast.Module):
        return
    for node in tree.parents:
        if isinstance(node, ast.Call) and scope not in tree.above(node):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == scope.name and isinstance(node.func, ast.Attribute) == is_method:
                yield node


def is_called_once(tree: SyntaxTree, scope: Scope, depth: int = _DEPTH) -> bool:
    """Whether all calls of a function in sight stand in no loop, and there are such."""
    calls = list(_calls(tree, scope)) if not isinstance(scope, ast.Module) else []
    if not calls or depth == 0:
        return isinstance(scope, ast.Module)
    return all(
        not any(isinstance(each, _LOOPS) for each in tree.above(call))
        and (is_called_once(tree, tree.scope(call), depth - 1) or not _is_called(tree, tree.scope(call)))
        for call in calls
    )


def _is_called(tree: SyntaxTree, scope: Scope) -> bool:
    return not isinstance(scope, ast.Module) and next(_calls(tree, scope), None) is not None


_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _arguments(tree: SyntaxTree, scope: Definition, call: ast.Call) -> list[tuple[str, ast.expr]] | None:
    """By parameter; None where it can't be told."""
    given = scope.args
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return None
    owner = tree.owner(scope)
    first: list[ast.expr] = []
    if owner is not None and isinstance(call.func, ast.Attribute):
        first = [stub_call("of_class", call.func.value, ast.Constant(owner.name))]
    values = [*first, *call.args]
    positional = [*given.posonlyargs, *given.args]
    if len(values) > len(positional):
        return None
    found = {name.arg: value for name, value in zip(positional, values, strict=False)}
    found |= {each.arg: each.value for each in call.keywords if each.arg is not None}
    defaults = {name.arg: value for name, value in zip(reversed(positional), reversed(given.defaults), strict=False)}
    defaults |= {name.arg: value for name, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value}
    names = [each.arg for each in (*positional, *given.kwonlyargs)]
    if not all(name in found or name in defaults for name in names):
        return None
    rest = [(each.arg, empty) for each, empty in ((given.vararg, _EMPTY), (given.kwarg, _NO_KEYS)) if each is not None]
    return [*((name, found.get(name) or defaults[name]) for name in names), *rest]


_EMPTY: ast.expr = ast.Tuple([], ast.Load())
_NO_KEYS: ast.expr = ast.Dict([], [])


def _constructed(tree: SyntaxTree, scope: Definition) -> Given | None:
    """The object itself, made by its own class."""
    owner = tree.owner(scope)
    names = [each.arg for each in (*scope.args.posonlyargs, *scope.args.args)]
    if owner is None or not names or not isinstance(tree.parents.get(owner), ast.Module):
        return None
    own = (each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
    made_in = next(own, None)
    wanted = [each.arg for each in made_in.args.args[1:]] if made_in is not None else []
    keys = [ast.keyword(name, ast.Name(name, ast.Load())) for name in wanted]
    call = ast.Call(ast.Name(owner.name, ast.Load()), [], keys)
    body: list[ast.stmt] = [ast.copy_location(ast.Return(ast.Tuple([call], ast.Load())), scope)]
    said = copy.deepcopy(made_in.body) if made_in is not None else []
    return Given((names[0],), body, tuple(wanted), f"`{owner.name}`", None, said)


def rows_of_data_sets(tree: SyntaxTree, scope: Scope) -> list[Given]:
    """Rows of the data sets of a file, for a function of it that makes a batch of them."""
    if isinstance(scope, ast.Module) or len(scope.args.args) != 1 or tree.module is None:
        return []
    classes = (each for each in tree.module.body if isinstance(each, ast.ClassDef))
    return [_rows(each, scope) for each in classes if {getattr(one, "name", "") for one in each.body} >= _ROWS]


_ROWS = frozenset({"__getitem__", "__len__"})
_COUNTS = ("count", "num", "size", "length", "samples")
_MANY = 64
_TAKEN = "[data[(8 * stand_in.step() + row) % len(data)] for row in range(8)]"


def _rows(data_set: ast.ClassDef, scope: Definition) -> Given:
    own = (each for each in data_set.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
    made_in = next(own, None)
    given = made_in.args.args[1:] if made_in is not None else []
    required = given[: len(given) - len(made_in.args.defaults)] if made_in is not None else []
    named = [each for each in required if not _is_count(each)]
    values = [ast.Name(each.arg, ast.Load()) if each in named else ast.Constant(_MANY) for each in required]
    call = ast.Call(ast.Name(data_set.name, ast.Load()), list(values), [])
    body = [
        ast.copy_location(ast.Assign([ast.Name("data", ast.Store())], call), scope),
        ast.copy_location(ast.Return(ast.Tuple([ast.parse(_TAKEN, mode="eval").body], ast.Load())), scope),
    ]
    said = copy.deepcopy(made_in.body) if made_in is not None else []
    names = tuple(each.arg for each in named)
    return Given((scope.args.args[0].arg,), body, names, f"`{data_set.name}`", None, said, anew=True)


def _is_count(parameter: ast.arg) -> bool:
    annotated = parameter.annotation is not None and ast.unparse(parameter.annotation) == "int"
    return annotated or parameter.arg == "n" or any(word in parameter.arg.lower() for word in _COUNTS)
