"""Rounding of numbers to one of a few: ``math.ceil(n / 64) * 64``, ``n + (-n) % 64``, ``1 << n.bit_length()``.

A length that follows the step or the batch is bucketed so, by hand. It is told by its spelling: the number that is
divided is multiplied by the same number again, or is filled up by what is left over.
"""

from __future__ import annotations

from typing import NamedTuple

from xlalint.facts.domain.row_lengths import bounded, is_mark, most_of, number_of
from xlalint.facts.domain.values import ROUNDED, Host, LoopKey, Value, host
from xlalint.facts.domain.variation import is_drawn, rounded_draw
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.reaching import assignment_of
from xlalint.program import ir
from xlalint.program.def_use import as_binary, bound_in, same
from xlalint.program.traversal import called_name, walk

SMALLEST = 8
"""A counter that is rounded to less is another number in nearly each step."""
WHOLE_NUMBERS = frozenset({"ceil", "floor", "int", "round", "trunc"})


class Rounding(NamedTuple):
    """``number`` is what is rounded, to a multiple of ``multiple``, or to a power of two where that is None."""

    number: ir.Expr
    multiple: ir.Expr | None = None


def rounded(frame: Frame, node: ir.Binary, value: Value) -> Value:
    """What an operator gave: one of a few numbers, where it rounds."""
    if type(value) is not Host or value.known or value.type == "str":
        return value
    found = rounding_of(frame, node, value)
    if found is None:
        return value
    frame.quiet += 1
    multiple = None if found.multiple is None else number_of(frame.evaluate(found.multiple))
    number = frame.evaluate(found.number)
    frame.quiet -= 1
    if multiple is not None and multiple < (2 if value.varies is None or is_mark(value.varies) else SMALLEST):
        return value
    drawn = rounded_draw(value.varies) if value.varies is not None and is_drawn(value.varies) else None
    return host(value.type, varies=drawn or mark_of(number, multiple), read_from_device=value.read_from_device)


def mark_of(number: Value, multiple: int | None) -> LoopKey | None:
    """The mark of a longest row that was rounded, where it is known how many lengths that makes."""
    if multiple is None or type(number) is not Host or number.varies is None or not is_mark(number.varies):
        return None
    most = most_of(number.varies)
    if most is None or number.varies[1] == ROUNDED[1]:
        return None
    return bounded(ROUNDED, -(-most // multiple))


def rounding_of(frame: Frame, node: ir.Binary, value: Host) -> Rounding | None:
    operator, left, right = node.operator, node.left, node.right
    if operator == "mul":
        return quotient(frame, left, right, value) or quotient(frame, right, left, value)
    if operator in ("add", "sub"):
        return filled_up(frame, node, value) if holds_modulo(left) or holds_modulo(right) or value.varies else None
    if operator == "and":
        # ``(n + 63) & ~63``
        return Rounding(left) if type(right) is ir.Unary and right.operator in ("invert", "neg") else None
    if operator == "shl":
        if type(left) is ir.Binary and left.operator == "shr" and same(left.right, right):
            return Rounding(left.left)
        return Rounding(right) if is_whole(right) else None
    if operator == "pow" and type(left) is ir.Constant and left.value == 2 and is_whole(right):
        return Rounding(right)
    return None


def holds_modulo(node: ir.Expr) -> bool:
    """``-n % 64``, ``64 - n % 64``."""
    return type(node) is ir.Binary and (node.operator == "mod" or holds_modulo(node.left) or holds_modulo(node.right))


def quotient(frame: Frame, node: ir.Expr, multiple: ir.Expr, value: Host) -> Rounding | None:
    """``math.ceil(n / 64)``, ``(n + 63) // 64`` or ``-(-n // 64)``, which is to be multiplied by 64."""
    node = meant(frame, node, value)
    whole = False
    while type(node) is ir.Call and called_name(node) in WHOLE_NUMBERS and len(node.arguments) == 1:
        whole, node = True, node.arguments[0]
    if type(node) is ir.Call and "div" in called_name(node) and len(node.arguments) == 2:
        return Rounding(node.arguments[0], multiple) if same(node.arguments[1], multiple) else None
    if type(node) is ir.Unary and node.operator == "neg":
        node = node.operand
    if type(node) is not ir.Binary or node.operator not in (("floordiv", "div") if whole else ("floordiv",)):
        return None
    return Rounding(node.left, multiple) if same(node.right, multiple) else None


def filled_up(frame: Frame, node: ir.Binary, value: Host) -> Rounding | None:
    """``n + (-n) % 64``, ``n + 64 - n % 64``, ``n - n % 64``."""
    pairs = [(node.left, node.right)]
    if node.operator == "add":
        pairs.append((node.right, node.left))
    for number, rest in pairs:
        rest = meant(frame, rest, value)
        if type(rest) is not ir.Binary:
            continue
        summed = (number.left, number.right) if type(number) is ir.Binary and number.operator == "add" else ()
        for part in (number, *summed):
            multiple = left_over(rest, part, node.operator)
            if multiple is not None:
                return Rounding(part, multiple)
    return None


def left_over(node: ir.Binary, number: ir.Expr, operator: str) -> ir.Expr | None:
    """The number of which what is left over of ``number`` is added, or taken away."""
    for part in walk(node):
        if type(part) is not ir.Binary or part.operator != "mod":
            continue
        divided = part.left
        if same(divided, number):
            return part.right if operator == "sub" or part is not node else None
        if type(divided) is ir.Unary and divided.operator == "neg" and same(divided.operand, number):
            return part.right
        if type(divided) is ir.Binary and divided.operator == "sub" and same(divided.right, number):
            return part.right
    return None


def is_whole(node: ir.Expr) -> bool:
    """``math.ceil(math.log2(n))``, ``(n - 1).bit_length()``: an exponent of two that a number was made to."""
    logarithms = [part for part in walk(node) if type(part) is ir.Call and called_name(part).startswith("log")]
    lengths = [part for part in walk(node) if type(part) is ir.Call and called_name(part) == "bit_length"]
    return bool(lengths) or (bool(logarithms) and type(node) is ir.Call and called_name(node) in WHOLE_NUMBERS)


def meant(frame: Frame, node: ir.Expr, value: Host) -> ir.Expr:
    """What a name was last assigned. It is only looked for where the result would vary."""
    if type(node) is not ir.Name or value.varies is None:
        return node
    assignment = assignment_of(frame, node.name)
    if assignment is None or len(assignment.targets) != 1 or type(assignment.targets[0]) is not ir.Name:
        return node
    return assignment.value


# Statements


def rounded_in_place(frame: Frame, node: ir.Augmented, value: Value) -> Value | None:
    """``n += -n % 64``; None where it does not round."""
    spelled = as_binary(node)
    if type(value) is not Host or value.known or rounding_of(frame, spelled, value) is None:
        return None
    return rounded(frame, spelled, value)


def settle(frame: Frame, node: ir.If, after: Environment | None, other: Environment | None) -> None:
    """``if n % 64: n += 64 - n % 64``: where the number is not rounded, it was a multiple already."""
    if after is None or other is None or node.orelse or len(node.body) != 1:
        return
    test = node.test.left if type(node.test) is ir.Compare else node.test
    if type(test) is not ir.Binary or test.operator != "mod" or type(test.left) is not ir.Name:
        return
    name, spelled = test.left.name, bound_in(node.body[0], test.left.name)
    value = after.get(name)
    if spelled is not None and type(value) is Host and rounding_of(frame, spelled, value) is not None:
        other[name] = value
