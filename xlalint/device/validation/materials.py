"""Where a finding is cut out of its program, and what each of its programs is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TypeAlias

from xlalint.device.programs.synthesis import Material, NoProgram, material
from xlalint.device.validation.case import Case
from xlalint.findings.model import Neutral
from xlalint.slicing.backward_slice import Slice, cut
from xlalint.slicing.callers import Given, givens, rows_of_data_sets
from xlalint.slicing.definitions import Modules
from xlalint.slicing.instrumentation import flag, unflag
from xlalint.slicing.obeyed_slice import NotObeyed, cut_as_obeyed
from xlalint.slicing.syntax_tree import SyntaxTree


def materials(
    case: Case, tree: SyntaxTree, modules: Modules
) -> tuple[list[str], list[tuple[Material, list[Material]]]]:
    """What each slice is made of, with the same as its control stands; and why others are none."""
    reasons: list[str] = []
    found: list[tuple[Material, list[Material]]] = []
    for slice_, obeyed in _slices(case, tree):
        try:
            own = material(slice_, modules)
        except NoProgram as error:
            reasons.append(str(error))
            continue
        with_control: list[Material] = []
        for given in _sources(case, tree, obeyed) if obeyed is not None else ():
            with suppress(NoProgram):
                assert obeyed is not None
                with_control.append(material(obeyed, modules, given))
        found.append((own, with_control))
    return reasons, found


def _sources(case: Case, tree: SyntaxTree, cut: Slice) -> Sequence[Given | None]:
    """Where parameters may come from; None for what stands in for them. Rows are those of the file's own data."""
    if case.diagnostic.neutral is Neutral.REPLAY_BATCH and cut.loop is None:
        rows = rows_of_data_sets(tree, cut.scope)
        if rows:
            return rows
    return [*givens(tree, cut.scope), None]


_Pair: TypeAlias = tuple[Slice, Slice | None]
"""A slice, and the same as its control stands, where that can be told."""


def _cut(tree: SyntaxTree, node: ast.expr | ast.stmt, line: int | None, *how: bool) -> _Pair | None:
    favourable = cut(tree, node, line, *how)
    if favourable is None:
        return None
    try:
        return favourable, cut_as_obeyed(tree, node, line, *how)
    except NotObeyed:
        return favourable, None


def _slices(case: Case, tree: SyntaxTree) -> Iterator[_Pair]:
    """Where a finding may be cut out: at its step loop, be it in a caller; in its function; in one that calls it."""
    node = tree.at(case.diagnostic.at)
    if node is None:
        return
    boundary = case.diagnostic.neutral is not Neutral.BOUNDARY
    gradients = case.diagnostic.neutral is Neutral.REPLAY_UPDATE
    step = case.rule.whole_step
    if case.diagnostic.neutral is Neutral.FIRST_ONLY:
        node = tree.statement(node) or node
    line = node.lineno if isinstance(node, (ast.For, ast.While)) and not boundary else case.diagnostic.loop_line
    calls = [
        call
        for reason in case.diagnostic.why
        if reason.path == case.diagnostic.path and " calls " in reason.text
        for call in [tree.call_at(reason.line, reason.column)]
        if call is not None
    ]
    flag(node)
    try:
        if case.diagnostic.neutral is Neutral.ARGUMENT:
            yield from _at_its_use(tree, node)
            return
        looped = [call for call in calls if any(getattr(each, "lineno", 0) == line for each in tree.above(call))]
        for call in looped:
            found = _cut(tree, call, line, boundary, gradients, step)
            if found is not None and found[0].loop is not None:
                yield found
        own = _cut(tree, node, line or None, boundary, gradients, step)
        if own is not None and not (step and own[0].loop is None):
            yield own
        for call in calls if not step else ():
            found = _cut(tree, call, None, boundary, gradients) if call not in looped else None
            if found is not None:
                yield found
    finally:
        unflag(node)


def _at_its_use(tree: SyntaxTree, node: ast.expr | ast.stmt) -> Iterator[_Pair]:
    """Cut at the first loop behind the place that uses what it sets: there its cost shows."""
    statement = tree.statement(node)
    if not isinstance(statement, ast.Assign):
        return
    names = {each.id for each in statement.targets if isinstance(each, ast.Name)}
    loops = [each for each in ast.walk(tree.scope(statement)) if isinstance(each, (ast.For, ast.While))]
    for loop in loops:
        used = {each.id for each in ast.walk(loop) if isinstance(each, ast.Name)}
        if loop.lineno > statement.lineno and names & used:
            found = _cut(tree, loop, loop.lineno, True, False, True)
            if found is not None:
                yield found
            return
