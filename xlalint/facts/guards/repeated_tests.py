"""Tests that are asked again: what an arm of the first gave, the same arm of the second still has.

``if logprobs: rows = rows.tolist()`` and later ``if logprobs: rows[0]``: nobody knows the flag, but it is the same.
"""

from __future__ import annotations

from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.met_arms import Flag
from xlalint.program import ir
from xlalint.program.traversal import none_tested


def flag_of(test: ir.Expr) -> tuple[Flag, bool] | None:
    """The flag that a test asks for, and the outcome for which it holds; None for other tests."""
    if type(test) is ir.Unary and test.operator == "not":
        inner = flag_of(test.operand)
        return None if inner is None else (inner[0], not inner[1])
    if type(test) is ir.Name:
        return (test.name, False), True
    asked = none_tested(test)
    return None if asked is None else ((asked[0], True), asked[1])


def remember_arms(frame: Frame, test: ir.Expr, yes: Environment | None, no: Environment | None) -> None:
    """Note what the arms of a test gave, where both end."""
    asked, joined = flag_of(test), frame.environment
    if asked is None or yes is None or no is None or joined is None:
        return
    flag, outcome = asked
    held, other = (yes, no) if outcome else (no, yes)
    frame.met_arms[flag] = {
        name: (joined[name], value, other[name])
        for name, value in held.items()
        if name in other and other[name] is not value and name != flag[0]
    }


def recall_arm(frame: Frame, test: ir.Expr, outcome: bool) -> None:
    """What names hold in an arm of a test that was asked before, as long as neither they nor the flag were bound
    anew."""
    asked = flag_of(test) if frame.met_arms else None
    if asked is None:
        return
    flag, holding = asked
    for name, (joined, held, other) in frame.met_arms.get(flag, {}).items():
        if frame.env.get(name) is joined:
            frame.env[name] = held if holding == outcome else other
