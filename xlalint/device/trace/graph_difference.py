"""What differs between two compiled graphs, as far as their text (HLO, as the compiler dumps it) tells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?[\w.\-]+ = (\(.*?\)|\S+) ([a-z][\w\-]*)\((.*)")
_LAYOUT = re.compile(r"\{[\d,]*\}")
_NUMBER = re.compile(r"module_(\d+)\.")
_DUMP = "*before_optimizations.txt"


class Instruction(msgspec.Struct, frozen=True):
    shape: str
    op: str
    constant: str = ""


def dumped(folder: Path) -> tuple[tuple[Instruction, ...], ...]:
    """The graphs that one process compiled, in their order."""
    numbered = [(int(found[1]), path) for path in folder.glob(_DUMP) if (found := _NUMBER.match(path.name))]
    return tuple(instructions(path.read_text(errors="replace")) for _, path in sorted(numbered))


def instructions(text: str) -> tuple[Instruction, ...]:
    found = (_INSTRUCTION.match(line) for line in text.splitlines())
    return tuple(_instruction(match) for match in found if match)


def difference(before: Sequence[Instruction], after: Sequence[Instruction]) -> str:
    """In words: a shape, a constant or the ops."""
    if [one.op for one in before] != [one.op for one in after]:
        return _other_ops(before, after)
    pairs = list(zip(before, after, strict=True))
    # An input that changed its shape explains what follows from it.
    for old, new in sorted(pairs, key=lambda pair: pair[0].op != "parameter"):
        if old.shape != new.shape:
            what = "an input" if old.op == "parameter" else f"the result of `{old.op}`"
            return f"shape: {what} was {old.shape} and is {new.shape}"
    for old, new in pairs:
        if old.constant != new.constant:
            return f"constant: {old.constant} became {new.constant}"
    return "the same ops, shapes and constants"


def _other_ops(before: Sequence[Instruction], after: Sequence[Instruction]) -> str:
    old, new = Counter(one.op for one in before), Counter(one.op for one in after)
    more, less = new - old, old - new
    parts = [f"{count} more `{op}`" for op, count in sorted(more.items())]
    parts += [f"{count} fewer `{op}`" for op, count in sorted(less.items())]
    return f"ops: {', '.join(parts[:4]) or 'another order'}{', …' if len(parts) > 4 else ''}"


def _instruction(match: re.Match[str]) -> Instruction:
    shape, op, rest = match.groups()
    constant = rest.partition(")")[0] if op == "constant" else ""
    return Instruction(_LAYOUT.sub("", shape), op, constant)
