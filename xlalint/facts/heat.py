"""How often each place runs: a fixpoint over the whole program's calls and loops.

Heat flows down the call graph, from the hottest caller. What makes a loop a step loop is what happens in it: an
optimizer's step, a boundary, ``backward()``, a loader that is iterated, a model that is called under a counter.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from xlalint.facts.events import Heat
from xlalint.facts.record import ROOT, CallEdge, FunctionKey, Region, RegionKey, Sign
from xlalint.knowledge.tables import frameworks
from xlalint.program.ir import unpack

STRONG = frozenset({"optimizer-step", "boundary", "backward"})
WEAK = frozenset({"model-call", "loader"})
EVIDENCE = STRONG | WEAK
DECODING = frozenset({"generate", "sample", "decode", "beam_search", "greedy_search", "greedy_decode", "inference"})
LEVELS = {"once": Heat.ONCE, "epoch": Heat.EPOCH, "amortised": Heat.AMORTISED, "step": Heat.STEP, "inner": Heat.INNER}


class FunctionFacts(msgspec.Struct, frozen=True, array_like=True):
    """One function as the fixpoint sees it. ``bases`` are the names of its class and the class's bases."""

    key: FunctionKey
    name: str
    owner: str
    bases: tuple[str, ...]
    is_module: bool
    in_script: bool
    regions: dict[RegionKey, Region]
    signs: tuple[Sign, ...]
    calls: tuple[CallEdge, ...]
    is_generator: bool
    without_grad: bool


class Pace(msgspec.Struct, frozen=True):
    """How often a region runs, and why: ``loop`` is the step loop that makes it hot, ``via`` the call that does."""

    heat: Heat
    loop: tuple[FunctionKey, RegionKey] | None = None
    evaluation: bool = False
    assumed: bool = False
    host: bool = False


COLD = Pace(Heat.ONCE)


class HeatMap:
    """The fixpoint. ``pace(function, region)`` answers; ``chain(function)`` tells the calls from the step loop."""

    def __init__(self, functions: Iterable[FunctionFacts]) -> None:
        self.functions = {f.key: f for f in sorted(functions, key=lambda f: f.key)}
        self.performs: dict[FunctionKey, frozenset[str]] = {}
        self.loops: dict[FunctionKey, dict[RegionKey, str]] = {}
        self.contains: set[FunctionKey] = set()
        self.callers: dict[FunctionKey, list[tuple[FunctionKey, CallEdge]]] = {}
        self.base: dict[FunctionKey, Pace] = {}
        self.via: dict[FunctionKey, tuple[FunctionKey, CallEdge]] = {}
        for function in self.functions.values():
            for edge in sorted(function.calls, key=lambda e: (e.at, e.callee)):
                if edge.callee in self.functions and edge.callee != function.key:
                    self.callers.setdefault(edge.callee, []).append((function.key, edge))
        self.with_device_loader = frozenset(
            f.key[0] for f in self.functions.values() if any(s.kind == "makes-device-loader" for s in f.signs)
        )
        """Files that make a device loader somewhere."""
        self.find_performers()
        self.classify_loops()
        self.step_loops = {
            (key[0], key[1], unpack(loop[1])[0])
            for key, loops in self.loops.items()
            for loop, kind in loops.items()
            if kind == "step"
        }
        self.spread()
        self.restarting = {
            (key[0], key[1], unpack(loop[1])[0])
            for key, loops in self.loops.items()
            for loop, kind in loops.items()
            if kind == "step" and self.starts_again(self.functions[key], loop)
        }

    def starts_again(self, function: FunctionFacts, loop: RegionKey) -> bool:
        """A ``range`` inside an outer loop: its numbers are the same each time."""
        region = function.regions[loop]
        if region.over != "counter":
            return False
        pace = self.of_region(function, region.parent)
        return loop_of(function, region.parent) is not None or (pace.heat >= Heat.EPOCH and not pace.assumed)

    # What a call of a function does

    def find_performers(self) -> None:
        """For each function, the signs of a step that a call of it gives, outside of its own loops."""
        self.performs = {key: self.own_signs(f) for key, f in self.functions.items()}
        pending = list(self.functions)
        while pending:
            key = pending.pop()
            for caller, edge in self.callers.get(key, ()):
                function = self.functions[caller]
                if loop_of(function, edge.region) is not None:
                    continue
                grown = self.performs[caller] | self.performs[key]
                if grown != self.performs[caller]:
                    self.performs[caller] = grown
                    pending.append(caller)

    def own_signs(self, function: FunctionFacts) -> frozenset[str]:
        return frozenset(
            sign.kind
            for sign in function.signs
            if sign.kind in EVIDENCE | {"framework", "moved"} and loop_of(function, sign.region) is None
        )

    def evidence(self, function: FunctionFacts, loop: RegionKey) -> frozenset[str]:
        """The signs of a step in a loop's own body, inner loops left out."""
        found = {s.kind for s in function.signs if s.kind in EVIDENCE and loop_of(function, s.region) == loop}
        for edge in function.calls:
            if loop_of(function, edge.region) == loop and edge.callee in self.performs:
                found |= self.performs[edge.callee] & EVIDENCE
        if function.regions[loop].over == "loader":
            found.add("loader")
        return frozenset(found)

    def all_signs(self, function: FunctionFacts, loop: RegionKey, depth: int = 3) -> frozenset[str]:
        """The signs of everything that a loop does, inner loops and calls included."""
        found = {s.kind for s in function.signs if within(function, s.region, loop)}
        for edge in function.calls:
            if within(function, edge.region, loop) or self.feeds(function, edge, loop):
                found |= self.everything(edge.callee, depth)
        return frozenset(found)

    def feeds(self, function: FunctionFacts, edge: CallEdge, loop: RegionKey) -> bool:
        """Whether a call makes what the loop iterates, by a generator that is a step loop itself."""
        callee = self.functions.get(edge.callee)
        if callee is None or not callee.is_generator or "step" not in self.loops.get(callee.key, {}).values():
            return False
        text = function.regions[loop].text
        return edge.at == loop[1] or (edge.region == function.regions[loop].parent and encloses(text, edge.at))

    def everything(self, key: FunctionKey, depth: int) -> frozenset[str]:
        function = self.functions.get(key)
        if function is None:
            return frozenset()
        found = {sign.kind for sign in function.signs}
        if depth > 0:
            for edge in function.calls:
                if edge.callee != key:
                    found |= self.everything(edge.callee, depth - 1)
        return frozenset(found)

    # Loops

    def classify_loops(self) -> None:
        """Each loop is "step", "epoch" or "" (neither); an epoch loop holds a step loop, in itself or by a call."""
        changed = True
        rounds = 0
        while changed and rounds < 12:
            changed = False
            rounds += 1
            for key, function in self.functions.items():
                found = self.loops_of(function)
                if found != self.loops.get(key):
                    self.loops[key] = found
                    changed = True
                holds = any(found.values()) or any(e.callee in self.contains for e in function.calls)
                if holds and key not in self.contains:
                    self.contains.add(key)
                    changed = True

    def loops_of(self, function: FunctionFacts) -> dict[RegionKey, str]:
        loops = [key for key in function.regions if key[0] in ("loop", "while")]
        evidence = {loop: self.evidence(function, loop) for loop in loops}
        kinds: dict[RegionKey, str] = {}
        for loop in sorted(loops, key=lambda key: -nesting(function, key)):
            inner = [k for k in loops if k != loop and within(function, k, loop)]
            holds = any(kinds.get(k) in ("step", "epoch") for k in inner) or self.calls_a_loop(function, loop)
            kinds[loop] = self.kind_of_loop(function, loop, evidence[loop], holds, inner, evidence)
        return kinds

    def calls_a_loop(self, function: FunctionFacts, loop: RegionKey) -> bool:
        return any(within(function, e.region, loop) and e.callee in self.contains for e in function.calls)

    def kind_of_loop(
        self,
        function: FunctionFacts,
        loop: RegionKey,
        own: frozenset[str],
        holds: bool,
        inner: list[RegionKey],
        evidence: dict[RegionKey, frozenset[str]],
    ) -> str:
        region = function.regions[loop]
        if region.over in WITHIN_A_STEP:
            return ""
        # A boundary beside a loop of steps ends an evaluation, or an epoch.
        if "optimizer-step" in own or ("boundary" in own and not holds):
            return "step"
        if "backward" in own:
            return "epoch" if any(e & {"optimizer-step"} for e in map(evidence.__getitem__, inner)) else "step"
        if "loader" in own and region.over == "loader":
            return "step"
        if loop[0] == "loop" and any(self.feeds(function, edge, loop) for edge in function.calls):
            return "step"
        if holds:
            return "epoch"
        counting = loop[0] == "while" or region.over in ("counter", "tensor", "data")
        if counting and "model-call" in own and self.may_decode(function):
            return "step"
        return "step" if counting and "loader" in own else ""

    def may_decode(self, function: FunctionFacts) -> bool:
        """A layer loop in a model's ``forward`` is none; a loop in ``generate`` or outside of modules is."""
        if sets_up(function):
            return False
        return not function.is_module or decodes(function)

    # Paces

    def spread(self) -> None:
        """Heat from callers to callees, until nothing changes."""
        for key, function in self.functions.items():
            self.base[key] = self.placed(function)
        pending = sorted(self.functions)
        while pending:
            key = pending.pop()
            function = self.functions[key]
            for edge in sorted(function.calls, key=lambda e: (e.at, e.callee)):
                if edge.callee == key or edge.callee not in self.functions:
                    continue
                given = self.pace(key, edge.region)
                mine = self.base[edge.callee]
                if self.is_fixed(self.functions[edge.callee]) and not called_in_sight(given, mine):
                    continue
                if hotter(given, mine):
                    self.base[edge.callee] = given
                    self.via[edge.callee] = (key, edge)
                    pending.append(edge.callee)

    def placed(self, function: FunctionFacts) -> Pace:
        """The heat that a function's name and place suggest."""
        row = self.row_of(function)
        if row is not None:
            words = row.split()
            heat = LEVELS.get(words[0], Heat.STEP)
            return Pace(heat, None, "evaluation" in words, False, "host" in words)
        if function.name == "<module>":
            return COLD
        if self.callers.get(function.key) or sets_up(function) or is_test(function):
            return COLD
        if feeds(function):
            return Pace(Heat.STEP, assumed=True, host=True)
        if function.owner and function.name in SUMMING_UP:
            return Pace(Heat.EPOCH, assumed=True, evaluation=True)
        if function.in_script or function.key in self.contains:
            return COLD if not (self.performs[function.key] & STRONG) else Pace(Heat.STEP, assumed=True)
        return Pace(Heat.STEP, assumed=True, evaluation=looks_like_evaluation(function.name))

    def is_fixed(self, function: FunctionFacts) -> bool:
        return self.row_of(function) is not None

    def row_of(self, function: FunctionFacts) -> str | None:
        if collates(function):
            return "step host"
        table = frameworks()
        if not function.owner and function.name not in PLAIN_ENTRIES:
            return None
        for base in function.bases:
            row = table.get("entry", f"{base.rpartition('.')[2]}.{function.name}")
            if row is not None:
                return row
        if function.name == "forward" and not function.owner:
            return None
        row = table.get("entry", function.name)
        if row is None or function.owner or function.name in PLAIN_ENTRIES:
            return row
        return None

    def pace(self, key: FunctionKey, region: RegionKey) -> Pace:
        function = self.functions[key]
        return self.of_region(function, region)

    def of_region(self, function: FunctionFacts, region: RegionKey) -> Pace:
        if region == ROOT:
            return self.base.get(function.key, COLD)
        known = function.regions.get(region)
        if known is None:
            return self.base.get(function.key, COLD)
        outer = self.of_region(function, known.parent)
        kind = region[0]
        if kind in ("loop", "while"):
            return self.in_loop(function, region, outer)
        if kind == "amortised":
            return msgspec.structs.replace(outer, heat=Heat.AMORTISED) if outer.heat >= Heat.STEP else outer
        if kind == "collate":
            return Pace(Heat.STEP, None, outer.evaluation, outer.assumed, True)
        if kind == "leaving":
            loop = loop_of(function, known.parent)
            return outer if loop is None else self.of_region(function, function.regions[loop].parent)
        if kind == "epoch":
            return msgspec.structs.replace(outer, heat=max(outer.heat, Heat.EPOCH))
        if kind in ("rare", "closure"):
            return msgspec.structs.replace(outer, heat=Heat.ONCE if kind == "rare" else Heat.AMORTISED, assumed=False)
        if kind == "evaluation" and (outer.loop is None or outer.evaluation):
            # Under ``no_grad`` in the step of a training loop stands a part of the training.
            return msgspec.structs.replace(outer, evaluation=True)
        return outer

    def in_loop(self, function: FunctionFacts, region: RegionKey, outer: Pace) -> Pace:
        kind = self.loops.get(function.key, {}).get(region, "")
        if kind == "step":
            if outer.heat >= Heat.STEP and outer.loop is not None:
                return msgspec.structs.replace(outer, heat=Heat.INNER)
            signs = self.all_signs(function, region)
            named = looks_like_evaluation(function.name) or (function.without_grad and not decodes(function))
            passes = outer.evaluation or named or function.regions[region].over == "loader"
            evaluation = passes and not (signs & {"backward", "optimizer-step"})
            return Pace(Heat.STEP, (function.key, region), evaluation, False, outer.host)
        if kind == "epoch":
            return msgspec.structs.replace(outer, heat=Heat.EPOCH) if outer.heat < Heat.EPOCH else outer
        if outer.heat >= Heat.STEP:
            return msgspec.structs.replace(outer, heat=Heat.INNER)
        return outer

    def chain(self, key: FunctionKey) -> list[tuple[FunctionKey, CallEdge]]:
        """The calls from the step loop down to the function, outermost first."""
        found: list[tuple[FunctionKey, CallEdge]] = []
        seen = {key}
        while key in self.via:
            caller, edge = self.via[key]
            found.append((caller, edge))
            if caller in seen:
                break
            seen.add(caller)
            pace = self.pace(caller, edge.region)
            if pace.loop is not None and pace.loop[0] == caller:
                break
            key = caller
        return found[::-1]


PLAIN_ENTRIES = frozenset(
    {"train_step", "eval_step", "training_step", "validation_step", "collate_fn", "compute_metrics"}
)


def called_in_sight(given: Pace, mine: Pace) -> bool:
    """A name that promises seldom runs is overruled by a call in a step loop that can be seen."""
    return mine.heat < Heat.STEP and given.heat >= Heat.STEP and given.loop is not None


SETTING_UP = ("load_", "save_", "export_", "download_", "plot_", "visualize_", "register_", "set_", "init_", "parse_")
FUSING = frozenset({"fuse", "reparameterize", "switch_to_deploy"})
SUMMING_UP = frozenset({"compute", "summary", "summarize", "result", "results", "get_results", "finalize"})
"""Methods of a meter that are called when its updates are over."""


def is_test(function: FunctionFacts) -> bool:
    """A test, as unittest and pytest know it: it runs once."""
    if any(base.endswith("TestCase") for base in function.bases):
        return True
    file = os.path.basename(function.key[0])
    in_tests = file.startswith("test_") or file.endswith("_test.py")
    return in_tests and (function.name.startswith("test") or function.owner.startswith("Test"))


def sets_up(function: FunctionFacts) -> bool:
    """A function whose name says that it runs before, after or apart from the steps."""
    name = function.name.lstrip("_")
    return name.startswith(SETTING_UP) or name.rstrip("_") in FUSING or "checkpoint" in name or "onnx" in name


def feeds(function: FunctionFacts) -> bool:
    """A method of a data set or of its sampler: it runs on the host, and what it handles lies there."""
    return any(base.startswith("torch.utils.data.") or base.endswith("Dataset") for base in function.bases)


def collates(function: FunctionFacts) -> bool:
    """A function that makes batches, by its name or by that of its class."""
    if function.name in ("__call__", "torch_call") and function.owner:
        return "Collat" in function.owner
    return function.name.lstrip("_").startswith("collat")


def hotter(a: Pace, b: Pace) -> bool:
    return rank(a) > rank(b)


def rank(pace: Pace) -> tuple[object, ...]:
    loop = pace.loop
    return (
        pace.heat,
        not pace.evaluation,
        not pace.assumed,
        loop is not None,
        (loop[0], loop[1]) if loop is not None else (("", "", 0), ("", 0)),
        not pace.host,
    )


def decodes(function: FunctionFacts) -> bool:
    """A function that is there to make samples: for it, that is the work, and no evaluation of it."""
    return function.name in DECODING or function.name.startswith("generate")


def looks_like_evaluation(name: str) -> bool:
    return name.startswith(("eval", "valid", "test", "predict"))


def loop_of(function: FunctionFacts, region: RegionKey) -> RegionKey | None:
    """The innermost loop around a region, the region included."""
    while region != ROOT:
        known = function.regions.get(region)
        if region[0] in ("loop", "while") and (known is None or known.over not in WITHIN_A_STEP):
            return region
        if known is None:
            return None
        region = known.parent
    return None


WITHIN_A_STEP = frozenset({"parameters", "optimizers"})
"""What loops over these do is done once a step."""


def within(function: FunctionFacts, region: RegionKey, outer: RegionKey) -> bool:
    while region != outer:
        known = function.regions.get(region)
        if known is None:
            return False
        region = known.parent
    return True


def encloses(outer: int, inner: int) -> bool:
    """Whether one packed span lies in another."""
    a, b = unpack(outer), unpack(inner)
    return (a[0], a[1]) <= (b[0], b[1]) and (b[2], b[3]) <= (a[2], a[3])


def nesting(function: FunctionFacts, region: RegionKey) -> int:
    depth = 0
    while region != ROOT and region in function.regions:
        region = function.regions[region].parent
        depth += 1
    return depth
