"""Where a program stands: its steps, and the flagged place as it is and without its cost."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
torch_xla: Any = import_module("torch_xla")
_parallel_loader: Any = import_module("torch_xla.distributed.parallel_loader")
_pytree: Any = import_module("torch.utils._pytree")
_map, _leaves = _pytree.tree_map, _pytree.tree_leaves


class NotReached(Exception):
    """The flagged line did not run."""


class NoSteps(Exception):
    """The step loop has nothing to iterate over."""


class Unavailable(Exception):
    """A part that could not be had is asked for a value."""


class NoValue(Exception):
    """What the flagged place gives comes of a part that could not be had: nothing was computed."""


class Ended(Exception):
    """The program's own loop ended before as many turns as were asked for."""


class _Enough(BaseException):
    """As many turns as were asked for."""


class Valueless:
    """What may be passed on and called, and has no value."""


class Run:
    """Where a program stands: the number of the step, what was answered in the first one, what ran."""

    step: int
    reached: bool
    """Whether the flagged place ran. No count of it: dynamo compiles anew what reads another number."""
    still: bool
    """Whether values are the same in each step."""
    doubted: bool
    """Whether what stands in lies on the host, unless the program itself moves it."""
    turn: dict[int, int]
    answers: dict[tuple[int, int], Any]
    parameters: list[Any]
    optimizers: list[Any]
    kept: list[Any]
    """What the flagged place gave in this step: a value that nobody holds is not computed."""
    modes: set[bool] | None
    """In which modes forwards ran since the flagged switch was met; None where none is flagged."""

    def __init__(self) -> None:
        self.step = 0
        self.reached = self.still = self.doubted = False
        self.modes = None
        self.turn, self.answers, self.parameters, self.optimizers, self.kept = {}, {}, [], [], []

    def occurrence(self, site: int) -> tuple[int, int]:
        """A place, and the how-manieth time in this step it is met."""
        self.turn[site] = self.turn.get(site, -1) + 1
        return (site, self.turn[site])


state = Run()
"""The one of this process."""


def begin() -> None:
    """Forget the program that ran before."""
    vars(state).update(vars(Run()))


def steps(items: Iterable[Any], count: int, boundary: bool = True) -> Iterator[Any]:
    """``count`` turns, each ended by a step boundary; ``items`` are taken again from the start where they end."""
    given = iter(items)
    for number in range(count):
        state.step, state.turn = number, {}
        item = next(given, state)
        if item is state:
            given = iter(items)
            item = next(given, state)
        if item is state:
            raise NoSteps("the step loop has nothing to iterate over")
        yield item
        if boundary:
            torch_xla.sync()
        state.kept.clear()
    _check_reached()


def doubt() -> None:
    """What stands in is to lie on the host, where the program does not move it."""
    state.doubted = True


def turns(items: Iterable[Any], count: int, boundary: bool = True) -> Iterator[Any]:
    """The turns that a loop of the program has, up to ``count`` in all, each ended by a step boundary."""
    given = iter(items)
    while True:
        if state.step == count:
            raise _Enough
        state.turn = {}
        item = next(given, state)
        if item is state:
            return
        try:
            yield item
        finally:
            state.step += 1
        if boundary:
            torch_xla.sync()
        state.kept.clear()


def while_(test: Callable[[], Any]) -> Iterator[None]:
    """The turns of a loop that goes on as long as a test holds."""
    while test():
        yield None


def followed(program: Callable[[], object], count: int) -> object:
    """Run a program up to so many turns of its loop; what its functions hold then."""
    try:
        program()
    except _Enough as enough:
        _check_reached()
        return [dict(frame.f_locals) for frame, _ in traceback.walk_tb(enough.__traceback__)]
    _check_reached()
    raise Ended(f"the loop ends after {state.step} turn{'s' * (state.step != 1)}")


def _check_reached() -> None:
    if not state.reached:
        raise NotReached("the flagged line did not run")
    if state.modes is not None and len(state.modes) < 2 and state.step > 0:
        raise NotReached("no forward runs in each of the two modes")


def switched(value: Any) -> Any:
    """A switch of the mode: from here on the modes of forwards are told."""
    if state.modes is None:
        state.modes = modes = set()
        torch.nn.modules.module.register_module_forward_pre_hook(lambda module, _: modes.add(module.training))
    return value


def left() -> None:
    """The program ends here."""
    raise Ended(f"the program ends in turn {state.step + 1}")


def once(items: Iterable[Any]) -> Iterator[Any]:
    """One turn of a loop around the step loop."""
    for item in items:
        yield item
        return


def still() -> None:
    """Values are to be the same in each step, so that lengths which depend on them are."""
    state.still = True


def step() -> int:
    """The number of this step: for what is another one in each."""
    return state.step


def ran(value: Any = None) -> Any:
    """The flagged place as it is."""
    if isinstance(value, Valueless):
        raise NoValue(f"{value!r} can't be had, and nothing is computed at the flagged place")
    state.reached = True
    state.kept.append(value)
    return value


def used(value: Any) -> Any:
    """A batch goes to the device, and something is done with it there."""
    state.kept.append(
        _map(lambda leaf: leaf.to(torch_xla.device()) * 2 if isinstance(leaf, torch.Tensor) else leaf, value)
    )
    return value


def loaded_ahead(batches: Iterable[Any]) -> Iterable[Any]:
    """The same batches, moved to the device by a loader of torch_xla's, which sets a boundary after each."""
    loader: Iterable[Any] = _parallel_loader.MpDeviceLoader(batches, torch_xla.device())
    return loader


def without_graph(value: Any) -> Any:
    """The same tensors, without what made them."""
    state.reached = True
    return _map(lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, value)


def learned(value: Any) -> Any:
    """A backward pass through it."""
    leaves = _leaves(value)
    losses = [leaf.sum() for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not losses:
        raise Unavailable("no gradients flow to the flagged place")
    sum(losses[1:], losses[0]).backward(retain_graph=True)
    return value


def replay(make: Callable[[], Any], site: int = 0) -> Any:
    """The flagged place without its cost: what it gave in the first step it gives again, without asking anew."""
    state.reached = True
    at = state.occurrence(site)
    if at not in state.answers:
        value = make()
        state.answers[at] = _map(held, value)
    else:
        value = state.answers[at]
    state.kept.append(value)
    return value


def truth(value: Any) -> bool:
    """The answer that a test gives, which waits for the device."""
    return bool(value)


def first(site: int = 0) -> bool:
    """Whether a flagged statement is to run: in the first step only."""
    state.reached = True
    at = state.occurrence(site)
    fresh = at not in state.answers
    state.answers[at] = True
    return fresh


def held(value: Any) -> Any:
    """A tensor cut from the graph of its step; a backward pass ends at it."""
    if not isinstance(value, torch.Tensor) or not value.requires_grad:
        return value
    return value.detach().requires_grad_()
