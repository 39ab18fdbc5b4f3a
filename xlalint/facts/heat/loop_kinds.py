"""The kinds of loops: steps or epochs, by what happens in them and in the calls that they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from xlalint.facts.heat.entry_points import decodes, sets_up, tests_among
from xlalint.facts.kinds import LEARNS, LOOPS, TRAINED, LoopKind, RegionKind, SignKind
from xlalint.facts.records import CallEdge, FunctionKey, RegionKey, Sign
from xlalint.facts.regions import SELDOM, WITHIN_A_STEP, FunctionFacts, is_seldom, loop_of, nesting, within
from xlalint.program.ir import encloses, unpack

STRONG = frozenset({SignKind.OPTIMIZER_STEP, SignKind.BOUNDARY, SignKind.BACKWARD})
WEAK = frozenset({SignKind.MODEL_CALL, SignKind.LOADER})
EVIDENCE = STRONG | WEAK | {SignKind.MAKES_MODEL, SignKind.ENVIRONMENT_STEP}
PERFORMED = EVIDENCE | {SignKind.FRAMEWORK, SignKind.MOVED, SignKind.UPLOADED}


class Content(msgspec.Struct, frozen=True):
    """What a loop holds: the signs of a step in its own body, the loops in it, what is called in it, and the generators
    that may make what it iterates."""

    signs: frozenset[str]
    inner: list[RegionKey]
    callees: frozenset[FunctionKey]
    makers: list[FunctionKey]


class StepLoops:
    """The program's functions and calls, and the kind of each loop. ``files`` are those of
    the whole program."""

    def __init__(self, functions: Iterable[FunctionFacts], files: Iterable[str] = ()) -> None:
        self.functions = {f.key: f for f in sorted(functions, key=lambda f: f.key)}
        self.tests = tests_among(self.functions.values(), files)
        self.performs: dict[FunctionKey, frozenset[str]] = {}
        self.loops: dict[FunctionKey, dict[RegionKey, LoopKind | None]] = {}
        self.contains: set[FunctionKey] = set()
        self.callers: dict[FunctionKey, list[tuple[FunctionKey, CallEdge]]] = {}
        self.calls: dict[FunctionKey, list[CallEdge]] = {}
        """Each function's calls of others of the program, in the order of the text."""
        self._everything: dict[tuple[FunctionKey, int], frozenset[str]] = {}
        self._generations: dict[tuple[FunctionKey, RegionKey], bool] = {}
        for function in self.functions.values():
            known = [e for e in function.calls if e.callee in self.functions and e.callee != function.key]
            known.sort(key=lambda e: (e.at, e.callee, e.region, e.undecided, e.given))
            self.calls[function.key] = known
            for edge in known:
                self.callers.setdefault(edge.callee, []).append((function.key, edge))
        self.stand_ins = self.find_stand_ins()
        self.with_device_loader = frozenset(
            f.key[0] for f in self.functions.values() if any(s.kind == SignKind.MAKES_DEVICE_LOADER for s in f.signs)
        )
        """Files that make a device loader somewhere."""
        self.readers = self.find_readers()
        self.find_performers()
        self.classify_loops()
        self.step_loops = {
            (key[0], key[1], unpack(loop[1])[0]): (key, loop)
            for key, loops in self.loops.items()
            for loop, kind in loops.items()
            if kind is LoopKind.STEP
        }

    def find_stand_ins(self) -> dict[FunctionKey, list[FunctionKey]]:
        """Methods that only calls of what they override lead to, those of tests left out, by the overridden method."""
        found: dict[FunctionKey, list[FunctionKey]] = {}
        for key, function in self.functions.items():
            if function.overrides and self.tests.issuperset(self.callers_but_overriders(key)):
                for base in function.overrides:
                    found.setdefault(base, []).append(key)
        return found

    def leads_to(self, function: FunctionFacts) -> Iterator[tuple[CallEdge, bool]]:
        """The calls of other functions of the program, and whether that is what stands in for what is called: the call
        of a method may be one of what overrides it, but where that itself hands on to what it overrides."""
        for edge in self.calls[function.key]:
            yield edge, False
            if edge.callee in self.stand_ins and self.functions[edge.callee].name != function.name:
                for callee in self.stand_ins[edge.callee]:
                    yield CallEdge(callee, edge.region, edge.at), True

    def callers_but_overriders(self, key: FunctionKey) -> Iterator[FunctionKey]:
        """What calls a method, but for what overrides it and hands on."""
        name = self.functions[key].name if key in self.functions else ""
        return (caller for caller, _ in self.callers.get(key, ()) if self.functions[caller].name != name)

    def is_called_beside_steps(self, function: FunctionFacts) -> bool:
        """Whether calls of what a method overrides stand in functions that have step loops, and nowhere else: what runs
        in the steps is known there."""
        callers = {caller for base in function.overrides for caller in self.callers_but_overriders(base)}
        return bool(callers) and all(LoopKind.STEP in self.loops.get(caller, {}).values() for caller in callers)

    def find_readers(self) -> frozenset[FunctionKey]:
        """The functions that read the host each time that they run, themselves or by what they call."""
        pending = [key for key, function in self.functions.items() if any(map(function.reads_at, function.signs))]
        found = set(pending)
        while pending:
            for caller, edge in self.callers.get(pending.pop(), ()):
                if caller not in found and not is_seldom(self.functions[caller], edge.region):
                    found.add(caller)
                    pending.append(caller)
        return frozenset(found)

    def reads_each_turn(self, function: FunctionFacts, loop: RegionKey) -> bool:
        """Whether each turn of a loop waits for the device."""
        if any(
            sign.kind is SignKind.HOST_READ and runs_each_turn(function, sign.region, loop) for sign in function.signs
        ):
            return True
        return any(
            edge.callee in self.readers and runs_each_turn(function, edge.region, loop) for edge in function.calls
        )

    def find_performers(self) -> None:
        """For each function, the signs of a step that a call of it gives, outside of its own loops."""
        self.performs = {key: self.own_signs(f) for key, f in self.functions.items()}
        pending = [key for key, signs in self.performs.items() if signs]
        while pending:
            key = pending.pop()
            for caller, edge in self.callers.get(key, ()):
                function = self.functions[caller]
                if loop_of(function, edge.region) is not None:
                    continue
                grown = self.performs[caller] | self.given_by(function, edge)
                if grown != self.performs[caller]:
                    self.performs[caller] = grown
                    pending.append(caller)

    def given_by(self, function: FunctionFacts, edge: CallEdge) -> frozenset[str]:
        """The signs of a step that one call gives."""
        signs = self.performs.get(edge.callee, frozenset())
        if SignKind.MAKES_MODEL in signs and is_seldom(function, edge.region):
            return signs - {SignKind.MAKES_MODEL}
        return signs

    def own_signs(self, function: FunctionFacts) -> frozenset[str]:
        return frozenset(
            sign.kind
            for sign in function.signs
            if sign.kind in PERFORMED and loop_of(function, sign.region) is None and not made_seldom(function, sign)
        )

    def performed_beside_loops(self, function: FunctionFacts) -> frozenset[str]:
        """The signs of a step that a call of a function gives, but for those of calls that run whole trainings."""
        found = set(self.own_signs(function))
        for edge in function.calls:
            if loop_of(function, edge.region) is None and not self.trains(edge.callee):
                found |= self.given_by(function, edge)
        return frozenset(found)

    def trains(self, key: FunctionKey) -> bool:
        """Whether a call runs a loop of steps, and an optimizer in it."""
        return key in self.contains and SignKind.OPTIMIZER_STEP in self.everything(key, 3)

    def evidence(self, function: FunctionFacts, loop: RegionKey) -> frozenset[str]:
        """The signs of a step in a loop's own body, inner loops left out."""
        found: set[str] = {
            s.kind
            for s in function.signs
            if s.kind in EVIDENCE and loop_of(function, s.region) == loop and not made_seldom(function, s)
        }
        for edge in function.calls:
            if loop_of(function, edge.region) == loop and edge.callee in self.performs:
                found |= self.given_by(function, edge) & EVIDENCE
        if function.regions[loop].over == "loader":
            found.add(SignKind.LOADER)
        return frozenset(found)

    def all_signs(self, function: FunctionFacts, loop: RegionKey, depth: int = 3) -> frozenset[str]:
        """The signs of everything that a loop does, inner loops and calls included."""
        found = {s.label for s in function.signs if within(function, s.region, loop)}
        for edge in function.calls:
            if within(function, edge.region, loop) or self.feeds(function, edge, loop):
                found |= self.everything(edge.callee, depth)
        return frozenset(found)

    def signs_each_turn(self, function: FunctionFacts, loop: RegionKey) -> frozenset[str]:
        """The same of what each turn does, what a test lets run now and then left out."""
        found = {s.label for s in function.signs if runs_each_turn(function, s.region, loop)}
        for edge in function.calls:
            if runs_each_turn(function, edge.region, loop):
                found |= self.everything(edge.callee, 3)
        return frozenset(found)

    def feeds(self, function: FunctionFacts, edge: CallEdge, loop: RegionKey) -> bool:
        """Whether a call makes what the loop iterates, by a generator that is a step loop itself."""
        return self.may_feed(function, edge, loop) and LoopKind.STEP in self.loops.get(edge.callee, {}).values()

    def may_feed(self, function: FunctionFacts, edge: CallEdge, loop: RegionKey) -> bool:
        callee = self.functions.get(edge.callee)
        if callee is None or not callee.is_generator:
            return False
        text = function.regions[loop].text
        return edge.at == loop[1] or (edge.region == function.regions[loop].parent and encloses(text, edge.at))

    def everything(self, key: FunctionKey, depth: int) -> frozenset[str]:
        """The signs of a function and of what it calls, so many calls deep."""
        known = self._everything.get((key, depth))
        if known is None:
            known = self._everything[key, depth] = self.signs_below(key, depth)
        return known

    def signs_below(self, key: FunctionKey, depth: int) -> frozenset[str]:
        function = self.functions.get(key)
        if function is None:
            return frozenset()
        found = {sign.label for sign in function.signs}
        if depth > 0:
            for edge in function.calls:
                if edge.callee != key:
                    found |= self.everything(edge.callee, depth - 1)
        return frozenset(found)

    def classify_loops(self) -> None:
        """What each loop goes through, as far as known; an epoch loop holds a step loop, in itself or by a call."""
        content = {key: found for key, function in self.functions.items() if (found := self.content_of(function))}
        changed = True
        rounds = 0
        while changed and rounds < 12:
            changed = False
            rounds += 1
            for key, loops in content.items():
                kinds = self.loops_of(self.functions[key], loops)
                if kinds != self.loops.get(key):
                    self.loops[key] = kinds
                    changed = True
                if any(kinds.values()) and key not in self.contains:
                    self.mark(key)
                    changed = True

    def content_of(self, function: FunctionFacts) -> dict[RegionKey, Content]:
        """What each loop of a function holds, innermost loops first."""
        loops = [key for key in function.regions if key[0] in LOOPS]
        loops.sort(key=lambda key: -nesting(function, key))
        return {
            outer: Content(
                self.evidence(function, outer),
                [loop for loop in loops if loop != outer and within(function, loop, outer)],
                frozenset(e.callee for e in function.calls if within(function, e.region, outer)),
                [e.callee for e in function.calls if self.may_feed(function, e, outer)],
            )
            for outer in loops
        }

    def mark(self, key: FunctionKey) -> None:
        """A step or epoch loop runs in a call of this function, and so in a call of its callers."""
        pending = [key]
        while pending:
            key = pending.pop()
            if key not in self.contains:
                self.contains.add(key)
                pending.extend(caller for caller, _ in self.callers.get(key, ()))

    def loops_of(self, function: FunctionFacts, content: dict[RegionKey, Content]) -> dict[RegionKey, LoopKind | None]:
        kinds: dict[RegionKey, LoopKind | None] = {}
        for loop, held in content.items():
            holds = any(kinds.get(k) is not None for k in held.inner)
            holds = holds or not self.contains.isdisjoint(held.callees)
            kinds[loop] = self.kind_of_loop(function, loop, holds, content)
        return kinds

    def kind_of_loop(
        self, function: FunctionFacts, loop: RegionKey, holds: bool, content: dict[RegionKey, Content]
    ) -> LoopKind | None:
        held = content[loop]
        own = held.signs
        region = function.regions[loop]
        if region.over in WITHIN_A_STEP:
            return None
        if function.is_module and (function.name == "forward" or region.over == "tensor"):
            # What trains in there, such as a codebook, does so in each layer, or for each row: the step is around it.
            return None
        if region.over == "settings":
            # A program is run with one setting after the other, each as a whole.
            return LoopKind.EPOCH if holds or own else None
        if SignKind.MAKES_MODEL in own and SignKind.LOADER not in own and not own.isdisjoint(TRAINED):
            # Each turn trains a model of its own: a case, an experiment.
            return LoopKind.EPOCH
        # A boundary beside a loop of steps ends an evaluation, or an epoch.
        if SignKind.OPTIMIZER_STEP in own or (SignKind.BOUNDARY in own and not holds):
            return LoopKind.STEP
        if SignKind.ENVIRONMENT_STEP in own and all(
            function.regions[one].over != "loader" and SignKind.ENVIRONMENT_STEP not in content[one].signs
            for one in held.inner
        ):
            # An agent acts in each turn; how often it learns meanwhile is a number.
            return LoopKind.STEP
        if SignKind.BACKWARD in own:
            return (
                LoopKind.EPOCH
                if any(SignKind.OPTIMIZER_STEP in content[k].signs for k in held.inner)
                else LoopKind.STEP
            )
        if SignKind.LOADER in own and region.over == "loader":
            return LoopKind.STEP
        if loop[0] == RegionKind.LOOP and any(
            LoopKind.STEP in self.loops.get(maker, {}).values() for maker in held.makers
        ):
            return LoopKind.STEP
        if holds:
            return LoopKind.EPOCH
        counting = loop[0] == RegionKind.WHILE or region.over in ("counter", "tensor", "data")
        if (
            counting
            and (SignKind.MODEL_CALL in own or steps_by_layers(function, loop))
            and self.may_decode(function, loop)
        ):
            return None if self.is_unrolled(function, loop) else LoopKind.STEP
        return LoopKind.STEP if counting and SignKind.LOADER in own else None

    def goes_through_generations(self, function: FunctionFacts, loop: RegionKey) -> bool:
        """Whether each turn of a loop computes a result by a loop of steps of its own: ``for prompt in prompts`` around
        a loop over tokens."""
        known = self._generations.get((function.key, loop))
        if known is None:
            steps = [one for one, kind in self.loops[function.key].items() if kind is LoopKind.STEP]
            within_it = [one for one in steps if within(function, one, loop)]
            decoding = bool(within_it) and all(
                function.regions[one].over != "loader" and hangs_together(function, one) for one in within_it
            )
            known = decoding and self.all_signs(function, loop).isdisjoint(LEARNS)
            self._generations[function.key, loop] = known
        return known

    def is_unrolled(self, function: FunctionFacts, loop: RegionKey) -> bool:
        """Whether what is learned after a loop goes back through all its turns, of which none waits for the device:
        they are one step."""
        around = loop_of(function, function.regions[loop].parent)
        learned = (
            sign.kind is SignKind.BACKWARD and sign.at > loop[1] and loop_of(function, sign.region) == around
            for sign in function.signs
        )
        return any(learned) and not self.reads_each_turn(function, loop)

    def may_decode(self, function: FunctionFacts, loop: RegionKey) -> bool:
        """A layer loop in a model's ``forward`` is none, nor one over the cases of a test; a loop in ``generate`` or
        outside of modules is, and in a module's method one whose turns hang together and that learns nothing."""
        if sets_up(function) or function.key in self.tests:
            return False
        return not function.is_module or decodes(function) or (function.without_grad and hangs_together(function, loop))


def runs_each_turn(function: FunctionFacts, region: RegionKey, loop: RegionKey) -> bool:
    while region != loop:
        known = function.regions.get(region)
        if known is None or region[0] in SELDOM:
            return False
        region = known.parent
    return True


def steps_by_layers(function: FunctionFacts, loop: RegionKey) -> bool:
    """Whether a generation calls its layers itself until something is met: a recurrent decoder, word by word."""
    if loop[0] != RegionKind.WHILE or not decodes(function):
        return False
    return any(s.kind is SignKind.LAYER_CALL and loop_of(function, s.region) == loop for s in function.signs)


def hangs_together(function: FunctionFacts, loop: RegionKey) -> bool:
    """Whether a loop hands to a call what its last turn gave."""
    return any(sign.kind is SignKind.CARRIES and sign.region == loop for sign in function.signs)


def made_seldom(function: FunctionFacts, sign: Sign) -> bool:
    """A model that is made at first only, or now and then, says nothing of what each turn does."""
    return sign.kind is SignKind.MAKES_MODEL and is_seldom(function, sign.region)
