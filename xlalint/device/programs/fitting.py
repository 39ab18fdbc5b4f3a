"""The search for stand-ins that fit: a program that fails tells by its line how far it came."""

from __future__ import annotations

import ast
import math
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType

import msgspec

from xlalint.device.programs.stand_ins import WORLDS, ValueAt
from xlalint.device.programs.synthesis import Material, Program, program
from xlalint.device.stand_in_sizes import SIZE
from xlalint.device.worker.client import Worker
from xlalint.device.worker.protocol import Failure, Request
from xlalint.findings.model import Mode, Neutral
from xlalint.slicing.dependence import NESTED, heads, reads, touches, writes

_ROUND = 48
"""How many other stand-ins are tried in one go, each alone."""
_ROUNDS = 6
_SECONDS = 20.0
"""That one go may take, and after which no other one begins."""
_HOPELESS = frozenset(
    {
        *("TimedOut", "TooMuchTime", "TooMuchOutput", "TooMuchMemory", "TooManyProcesses", "TooManyFiles"),
        *("Died", "NotReached", "NoSteps", "NoValue", "Ended"),
    }
)
"""Failures that no other tensor mends."""
_ELSEWHERE = re.compile(r"XLA ?tensor|same device|xtensor|\bxla:\d", re.IGNORECASE)
"""What is said of tensors on two devices."""
_RAN_THROUGH = frozenset({"NotReached", "Ended"})
_TENSOR = re.compile(r"stand_in\.tensor\('(?P<kind>\w+)', (?P<rank>\d)(?:, dims=(?P<dims>\([^)]*\)))?(?P<rest>.*)\)")
_PARTS_WANTED = re.compile(r"unpack.*expected (\d+)")
_SHAPE_WANTED = re.compile(r"shape '\[([\d, ]+)\]' is invalid for input of size (\d+)")

_NOTHING: Mapping[str, str] = MappingProxyType({})
Accepts = Callable[[Program, Failure], bool]


class Fitted(msgspec.Struct, frozen=True):
    """A program, and why it does not run; None where it does."""

    made: Program
    failure: Failure | None


class Fitting:
    """Tries the worlds, and then single stand-ins of the program that came furthest. ``accepts`` are failures that
    are what the finding claims."""

    def __init__(
        self,
        parts: Material,
        value: ValueAt,
        neutral: Neutral,
        worker: Worker,
        accepts: Accepts,
        like: Choice | None = None,
        given: Mapping[str, str] = _NOTHING,
    ) -> None:
        """``like`` is what is tried first; ``given`` is what the user says of names."""
        self._parts, self._value, self._neutral, self._worker, self._accepts = parts, value, neutral, worker, accepts
        self._given = given
        self._first = [_on_host(like)] if like is not None else []
        self._tried: set[str] = set()

    def best(self) -> Fitted:
        """The first program that runs, or whose failure is accepted; else the one that came furthest.

        Raises ``NoProgram``.
        """
        worlds = (Choice(number, {}) for number in range(len(WORLDS)))
        states = self._run((*self._first, *worlds))
        tried: set[tuple[int, str]] = set()
        end = time.monotonic() + _SECONDS
        for _ in range(_ROUNDS):
            # Of those that fail alike one is enough to go on from.
            open_ = [each for each in states if _told(each.found) not in tried and _progress(each.found) >= 0]
            if any(self._is_good(each.found) for each in states) or not open_ or time.monotonic() > end:
                break
            start = max(open_, key=lambda each: _progress(each.found))
            tried.add(_told(start.found))
            states += self._run(islice(_others(start), _ROUND))
        best = max(states, key=lambda each: (self._is_good(each.found), _progress(each.found)))
        self.choice = best.choice
        return best.found

    def _run(self, choices: Iterable[Choice]) -> list[_State]:
        """Those of the programs that were not tried yet; all in one go, up to the first that runs."""
        made: dict[str, tuple[Choice, Program]] = {}
        for choice in choices:
            one = program(
                self._parts, self._value, WORLDS[choice.world], self._neutral, {**choice.chosen, **self._given}
            )
            if one.text not in self._tried:
                made.setdefault(one.text, (choice, one))
        if not made:
            return []
        self._tried |= made.keys()
        request = Request(text="", steps=1, mode=Mode.LAZY, seconds=_SECONDS, probes=tuple(made))
        if self._parts.cut.obeyed:
            # Whether a loop goes on is seen in its second turn; and what is the program's own is no small stand-in.
            request = msgspec.structs.replace(request, steps=2, ends=tuple(_RAN_THROUGH), probe_seconds=_SECONDS / 2)
        answer = self._worker.run(request)
        failures = answer.probed or (answer.failure,)
        pairs = zip(made.values(), failures, strict=False)
        return [_State(choice, Fitted(one, failure)) for (choice, one), failure in pairs]

    def _is_good(self, one: Fitted) -> bool:
        if one.failure is None or self._accepts(one.made, one.failure):
            return True
        # What runs through and does not come to the place says so: no other stand-in is looked for that does.
        return self._parts.cut.obeyed and one.failure.type in _RAN_THROUGH


class Choice(msgspec.Struct, frozen=True):
    """A world, and what stands in for single paths in place of what it has for them."""

    world: int
    chosen: dict[str, str]


class _State(msgspec.Struct, frozen=True):
    choice: Choice
    found: Fitted


def _progress(one: Fitted) -> int:
    """The line of the step, or of the run where it has no step, at which it failed; -1 if it ended without a word."""
    if one.failure is None or not one.failure.lines or one.failure.type in _HOPELESS:
        return -1
    lines = one.failure.lines
    inner = any(each in one.made.text for each in ("\ndef step(", "stand_in.followed("))
    return lines[1] if inner and len(lines) > 1 else lines[0]


def _told(one: Fitted) -> tuple[int, str]:
    return _progress(one), f"{one.failure.type} {one.failure.message}" if one.failure is not None else ""


def _others(start: _State) -> Iterator[Choice]:
    """One stand-in replaced: first all others for what the failing line is made of, then the likeliest of the rest."""
    failure, made = start.found.failure, start.found.made
    if failure is None:
        return

    def choice(path: str, text: str) -> Choice:
        return Choice(start.choice.world, {**start.choice.chosen, path: text})

    near = _named(made.text, failure.lines, made.given)
    if _ELSEWHERE.search(failure.message):
        # It runs with both on one device only, and the other is moved by the program itself.
        yield from (choice(path, _on_device(made.given[path])) for path in near if _on_device(made.given[path]))
    for path in near:
        yield from (choice(path, text) for text in _resized(made.given[path], failure.message))
    is_type = failure.type in ("TypeError", "AttributeError", "ValueError")
    for path in near:
        # Where a type is wrong, no other number helps.
        texts = sorted(made.others.get(path, ()), key=lambda text: is_type and text[:1].isdigit())
        yield from (choice(path, text) for text in texts)
    far = [path for path in made.others if path not in near]
    for number in range(max((len(made.others[path]) for path in far), default=0)):
        yield from (choice(path, made.others[path][number]) for path in far if number < len(made.others[path]))


def _on_device(text: str) -> str:
    """The same stand-in on the device; nothing where it says no place."""
    moved = text.replace("on='host'", "on='xla'").replace("torch.device('cpu')", "stand_in.device(placed=True)")
    return moved if moved != text else ""


def _on_host(choice: Choice) -> Choice:
    chosen = {
        path: text.replace("on='xla'", "on='host'").replace("stand_in.device()", "torch.device('cpu')")
        for path, text in choice.chosen.items()
    }
    return Choice(choice.world, chosen)


def _resized(text: str, message: str) -> Iterator[str]:
    """A tensor with the size of one dimension as the message asks for it: so many parts, or elements for a shape."""
    tensor = _TENSOR.fullmatch(text)
    if tensor is None:
        return
    rank = int(tensor["rank"])
    dims = ast.literal_eval(tensor["dims"]) if tensor["dims"] else (None,) * rank
    parts, wanted = _PARTS_WANTED.search(message), _SHAPE_WANTED.search(message)
    size = 0
    if parts is not None:
        size = int(parts[1])
    elif wanted is not None:
        missing = math.prod(int(each) for each in wanted[1].split(",")) - int(wanted[2])
        size = SIZE + missing // SIZE if missing % SIZE == 0 else 0
    for axis in reversed(range(rank)) if size > 0 else ():
        if dims[axis] is None:
            new = (*dims[:axis], size, *dims[axis + 1 :])
            yield f"stand_in.tensor('{tensor['kind']}', {rank}, dims={new!r}{tensor['rest']})"


def _named(text: str, lines: tuple[int, ...], paths: Collection[str]) -> list[str]:
    """The paths that the statements at ``lines`` are made of, also by what sets their names; the nearest first."""
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    waiting = [node for node in statements if not isinstance(node, NESTED) and _at_work(node, lines)]
    seen: set[ast.stmt] = set()
    found: dict[str, None] = {}
    while waiting:
        seen.update(waiting)
        needed = {path for node in waiting for path in reads(heads(node))}
        found.update(dict.fromkeys(path for path in paths if touches(path, needed)))
        waiting = [
            node
            for node in statements
            if node not in seen and not isinstance(node, NESTED) and any(touches(each, needed) for each in writes(node))
        ]
    return list(found)


def _at_work(node: ast.stmt, lines: tuple[int, ...]) -> bool:
    """Whether one of ``lines`` is of the statement itself, and not of its blocks."""
    ends = [getattr(head, "end_lineno", None) or node.lineno for head in heads(node)]
    return any(node.lineno <= line <= max(ends, default=node.lineno) for line in lines)
