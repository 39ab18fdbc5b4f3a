"""Mappings that are handed on as keywords (``model(**batch)``): the keys that whom they are given to asks for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from xlalint.slicing.dependence import path_of

_SOME = ("first",)
"""Who is given nothing else, and of whom nothing is known, is a model: it takes what it is given."""
_CALLED = ("forward", "__call__")
_Own: TypeAlias = Mapping[str, "ast.FunctionDef | ast.ClassDef"]
_Made: TypeAlias = Mapping[str, ast.ClassDef]


def spread(blocks: list[ast.stmt], definitions: list[ast.stmt]) -> dict[str, tuple[str, ...]]:
    """By path of a mapping, the keys. ``definitions`` are the functions and classes that ``blocks`` can call, and the
    methods of their own class."""
    own = {node.name: node for node in definitions if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    made = dict(_made([*definitions, *blocks], own))
    found: dict[str, dict[str, None]] = {}
    for call in (node for block in blocks for node in ast.walk(block) if isinstance(node, ast.Call)):
        for mapping in (each.value for each in call.keywords if each.arg is None):
            if isinstance(mapping, (ast.Name, ast.Attribute)):
                found.setdefault(ast.unparse(mapping), {}).update(dict.fromkeys(_keys(call, own, made)))
    return {path: tuple(keys) for path, keys in found.items()}


def _made(blocks: list[ast.stmt], own: _Own) -> Iterator[tuple[str, ast.ClassDef]]:
    """``model = Net().to(device)``: names of objects, with their classes."""
    for node in (node for block in blocks for node in ast.walk(block)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            for part in ast.walk(node.value):
                if (maker := _class_of(part, own)) is not None:
                    yield node.targets[0].id, maker


def _class_of(node: ast.AST, own: _Own) -> ast.ClassDef | None:
    """``Net()``."""
    found = own.get(path_of(node.func) or "") if isinstance(node, ast.Call) else None
    return found if isinstance(found, ast.ClassDef) else None


def _keys(call: ast.Call, own: _Own, made: _Made) -> tuple[str, ...]:
    alone = not call.args and len(call.keywords) == 1
    function, bound = _called(call.func, own, made)
    if function is None or any(isinstance(each, ast.Starred) for each in call.args):
        return _SOME if alone else ()
    arguments = function.args
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    given = {*positional[: bound + len(call.args)], *(each.arg for each in call.keywords)}
    needed = positional[: len(positional) - len(arguments.defaults)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    needed += [each.arg for each, default in named if default is None]
    # Where all can be left out, a model still wants something.
    for names in (needed, positional if alone and function.name in _CALLED else []):
        if asked := tuple(name for name in names if name not in given):
            return asked
    return ()


def _called(function: ast.expr, own: _Own, made: _Made) -> tuple[ast.FunctionDef | None, int]:
    """What is called, where it is in sight; and how many of its parameters are bound already."""
    if isinstance(function, ast.Name) and isinstance(found := own.get(function.id), ast.FunctionDef):
        return found, 0
    name, _, method = (path_of(function) or "").partition(".")
    names = (method,) if method else _CALLED
    if name == "self":
        return _first(own, names), 1
    cls = _class_of(function, own) or made.get(name)
    if cls is None and isinstance(found := own.get(name), ast.ClassDef):
        cls, names = found, (method or "__init__",)
    methods = {each.name: each for each in (cls.body if cls else ()) if isinstance(each, ast.FunctionDef)}
    return _first(methods, names), 1


def _first(methods: _Own, names: tuple[str, ...]) -> ast.FunctionDef | None:
    return next((each for name in names if isinstance(each := methods.get(name), ast.FunctionDef)), None)
