"""Rewrites of a program that change nothing in what it does: other layout, other names, code in other places.

Each gives texts, and where lines are kept, a map from each old line to its new one.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterator, Sequence

import msgspec

MAIN, APART = "main.py", "apart.py"


class NotHere(Exception):
    """There is nothing in this program that the rewrite could be tried on."""


# Comments and layout


def between(text: str) -> list[int]:
    """Lines (from 1) above which a line of its own may stand: the first ones of statements."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    starts, fresh = [], True
    for token in tokens:
        if token.type == tokenize.NEWLINE:
            fresh = True
        elif fresh and token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            if token.type != tokenize.ENDMARKER:
                starts.append(token.start[0])
            fresh = False
    return starts


def with_comments(text: str, above: Sequence[int]) -> tuple[str, dict[int, int]]:
    """A comment above each of these lines; the map of lines."""
    lines, places = [], {}
    for number, line in enumerate(text.splitlines(), 1):
        if number in above:
            indent = len(line) - len(line.lstrip())
            lines.append(f"{' ' * indent}# Why it is done like this: a word (or two), and `x.item()`.")
        lines.append(line)
        places[number] = len(lines)
    return "\n".join(lines) + "\n", places


def spread_out(text: str) -> str:
    """A line break after each comma and bracket that opens, where one may stand."""
    depth = inside = 0
    breaks: list[tuple[int, int]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        # From Python 3.12 the parts of an f-string are tokens of their own.
        inside += (name == "FSTRING_START") - (name == "FSTRING_END")
        if token.type == tokenize.OP and not inside:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string in "([{" or (token.string == "," and depth):
                breaks.append(token.end)
    lines = text.splitlines()
    for row, column in reversed(breaks):
        line = lines[row - 1]
        if line[column:].strip() and not line[column:].lstrip().startswith("#"):
            lines[row - 1 : row] = [line[:column], " " * 8 + line[column:].lstrip()]
    return "\n".join(lines) + "\n"


def written_anew(text: str) -> str:
    """As Python itself writes the tree: no comments, no needless parentheses, one kind of quotes."""
    return ast.unparse(ast.parse(text)) + "\n"


# Names


def locals_of(function: ast.FunctionDef) -> set[str]:
    """Names that a function binds itself, but for its parameters, and that no function inside it sees."""
    inner = [node for node in ast.walk(function) if isinstance(node, Scope) and node is not function]
    seen_inside = {name.id for node in inner for name in ast.walk(node) if isinstance(name, ast.Name)}
    bound = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    declared = {
        name for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    parameters = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
    return bound - declared - parameters - seen_inside


Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def renamed(text: str, fresh: Callable[[str], str]) -> str:
    """All locals of all functions under the names that ``fresh`` gives; lines stay, columns don't."""
    places: list[tuple[int, int, str]] = []
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            names = locals_of(function)
            places += [
                (node.lineno, node.col_offset, node.id)
                for node in ast.walk(function)
                if isinstance(node, ast.Name) and node.id in names and not in_string(text, node)
            ]
    # Names inside an f-string have no places of their own before Python 3.12: such names stay as they are.
    kept = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and in_string(text, node)}
    lines = [line.encode() for line in text.splitlines()]
    for row, column, name in sorted(set(places), reverse=True):
        if name not in kept:
            line = lines[row - 1]
            lines[row - 1] = line[:column] + fresh(name).encode() + line[column + len(name.encode()) :]
    return b"\n".join(lines).decode() + "\n"


def in_string(text: str, node: ast.Name) -> bool:
    return inside_f_string(text, node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0, node.id)


def inside_f_string(text: str, row: int, column: int, end_row: int, end: int, name: str) -> bool:
    line = text.splitlines()[row - 1].encode()
    if row != end_row or line[column:end].decode(errors="replace") != name:
        return True
    return any(
        (part.lineno, part.col_offset) <= (row, column) < (part.end_lineno or 0, part.end_col_offset or 0)
        for part in ast.walk(ast.parse(text))
        if isinstance(part, ast.JoinedStr)
    )


# Code in other places


class Parts(msgspec.Struct, frozen=True):
    """A program's text in parts: what it imports and what it defines at the top, and the rest."""

    imports: str
    definitions: tuple[ast.stmt, ...]
    rest: tuple[ast.stmt, ...]


def parts_of(text: str) -> Parts:
    tree = ast.parse(text)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    definitions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    rest = [node for node in tree.body if node not in imports and node not in definitions]
    return Parts("\n".join(map(ast.unparse, imports)), tuple(definitions), tuple(rest))


def moved_apart(text: str, wanted: Callable[[ast.stmt], bool]) -> dict[str, str]:
    """The chosen definitions in a file of their own, from which the main one imports them."""
    parts = parts_of(text)
    if parts.rest:
        raise NotHere
    moved = [node for node in parts.definitions if wanted(node)]
    names = [node.name for node in moved if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    stays = [node for node in parts.definitions if not wanted(node)]
    needed = {name.id for node in moved for name in ast.walk(node) if isinstance(name, ast.Name)}
    if not names or needed & {node.name for node in stays if isinstance(node, ast.FunctionDef | ast.ClassDef)}:
        raise NotHere
    apart = [parts.imports, *map(ast.unparse, moved)]
    main = [parts.imports, f"from apart import {', '.join(names)}", *map(ast.unparse, stays)]
    return {MAIN: "\n\n".join(main) + "\n", APART: "\n\n".join(apart) + "\n"}


def extracted(text: str, line: int) -> str:
    """The expression of the statement at ``line`` in a function of its own, which is called in its place."""
    tree = ast.parse(text)
    for function in tree.body:
        for statement in ast.walk(function):
            if (
                isinstance(function, ast.FunctionDef)
                and isinstance(statement, ast.Expr | ast.Assign)
                and statement.lineno <= line <= (statement.end_lineno or 0)
            ):
                return with_helper(tree, function, statement)
    raise NotHere


def with_helper(tree: ast.Module, function: ast.FunctionDef, statement: ast.Expr | ast.Assign) -> str:
    value = statement.value
    unfit = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda, *COMPREHENSIONS)
    if any(isinstance(node, unfit) for node in ast.walk(value)) or isinstance(value, ast.Name | ast.Constant):
        raise NotHere
    bound = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)} | {
        node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    used = list(dict.fromkeys(names_in(value, bound)))
    helper = ast.parse(f"def extracted({', '.join(used)}):\n    pass").body[0]
    assert isinstance(helper, ast.FunctionDef)
    helper.body = [ast.Return(value)]
    statement.value = ast.Call(ast.Name("extracted"), [ast.Name(name) for name in used], [])
    tree.body.insert(tree.body.index(function), helper)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def names_in(node: ast.AST, bound: set[str]) -> Iterator[str]:
    return (name.id for name in ast.walk(node) if isinstance(name, ast.Name) and name.id in bound)
