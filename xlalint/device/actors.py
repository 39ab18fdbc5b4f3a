"""What stands in for the parts of a program that a slice leaves out. For the worker's children, and by hand.

All sizes are one number, so that shapes agree wherever the program wants them to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
torch_xla: Any = import_module("torch_xla")
_pytree: Any = import_module("torch.utils._pytree")
_map, _leaves = _pytree.tree_map, _pytree.tree_leaves

SIZE = 8
WORDS = 8
"""How many values labels and token ids have."""


class NotReached(Exception):
    """The flagged line did not run."""


class NoSteps(Exception):
    """The step loop has nothing to iterate over."""


class Unavailable(Exception):
    """A part that could not be had is asked for a value."""


class _Run:
    """Where a program stands: the number of the step, what was answered in the first one, what ran."""

    step: int
    reached: int
    still: bool
    """Whether values are the same in each step."""
    turn: dict[int, int]
    answers: dict[tuple[int, int], Any]
    parameters: list[Any]
    optimizers: list[Any]
    kept: list[Any]
    """What the flagged place gave in this step: a value that nobody holds is not computed."""

    def __init__(self) -> None:
        self.step = self.reached = 0
        self.still = False
        self.turn, self.answers, self.parameters, self.optimizers, self.kept = {}, {}, [], [], []

    def occurrence(self, site: int) -> tuple[int, int]:
        """A place, and the how-manieth time in this step it is met."""
        self.turn[site] = self.turn.get(site, -1) + 1
        return (site, self.turn[site])


_run = _Run()


def begin() -> None:
    """Forget the program that ran before."""
    vars(_run).update(vars(_Run()))


# The step loop, and the flagged place


def steps(items: Iterable[Any], count: int, boundary: bool = True) -> Iterator[Any]:
    """``count`` turns, each ended by a step boundary; ``items`` are taken again from the start where they end."""
    given = iter(items)
    for number in range(count):
        _run.step, _run.turn = number, {}
        for turn in (given, iter(items)):
            given = turn
            item = next(given, _run)
            if item is not _run:
                break
        else:
            raise NoSteps("the step loop has nothing to iterate over")
        yield item
        if boundary:
            torch_xla.sync()
        _run.kept.clear()
    if not _run.reached:
        raise NotReached("the flagged line did not run")


def once(items: Iterable[Any]) -> Iterator[Any]:
    """One turn of a loop around the step loop."""
    for item in items:
        yield item
        return


def still() -> None:
    """Values are to be the same in each step, so that lengths which depend on them are."""
    _run.still = True


def step() -> int:
    """The number of this step: for what is another one in each."""
    return _run.step


def ran(value: Any = None) -> Any:
    """The flagged place as it is."""
    _run.reached += 1
    _run.kept.append(value)
    return value


def used(value: Any) -> Any:
    """A batch goes to the device, and something is done with it there."""
    _run.kept.append(_map(lambda leaf: leaf.to(device()) * 2 if isinstance(leaf, torch.Tensor) else leaf, value))
    return value


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
    _run.reached += 1
    at = _run.occurrence(site)
    if at not in _run.answers:
        value = make()
        _run.answers[at] = _map(_held, value)
    else:
        value = _run.answers[at]
    _run.kept.append(value)
    return value


def truth(value: Any) -> bool:
    """The answer that a test gives, which waits for the device."""
    return bool(value)


def first(site: int = 0) -> bool:
    """Whether a flagged statement is to run: in the first step only."""
    _run.reached += 1
    at = _run.occurrence(site)
    fresh = at not in _run.answers
    _run.answers[at] = True
    return fresh


def _held(value: Any) -> Any:
    """A tensor cut from the graph of its step; a backward pass ends at it."""
    if not isinstance(value, torch.Tensor) or not value.requires_grad:
        return value
    return value.detach().requires_grad_()


# Values


def device() -> Any:
    return torch_xla.device()


def tensor(kind: str, rank: int, dims: tuple[int | None, ...] = (), on: str = "xla", grad: bool = False) -> Any:
    """A tensor of ``kind``; ``dims`` where they are known. Values differ from step to step, shapes don't."""
    shape = tuple(SIZE if size is None else min(size, 64) for size in dims) or (SIZE,) * rank
    return _moved(_filled(kind, shape), on, grad)


def varying(kind: str, rank: int, on: str = "xla", grad: bool = False) -> Any:
    """A tensor whose last dimension is another one in each step."""
    shape = ((SIZE,) * (rank - 1) + (SIZE + _run.step,)) if rank else ()
    return _moved(_filled(kind, shape), on, grad)


def rows(kinds: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Rows of a batch before they are one: the first part of each has a length of its own, the rest are numbers."""
    lengths = [3 + (5 * row + 7 * _run.step) % (SIZE + _run.step) for row in range(SIZE)]
    return [(torch.arange(1, length + 1), *(row % WORDS for _ in kinds[1:])) for row, length in enumerate(lengths)]


def rows_by(keys: tuple[str, ...]) -> list[Any]:
    """As ``rows``, each a mapping; all parts of a row have its length."""
    return [Fields(dict.fromkeys(keys, row[0])) for row in rows(("int",))]


def _filled(kind: str, shape: tuple[int, ...]) -> Any:
    count = 1
    for size in shape:
        count *= size
    numbers = torch.arange(count).add(0 if _run.still else _run.step).reshape(shape)
    if kind in ("bool", "uint8"):
        return (numbers % 2 == 0).to(getattr(torch, kind))
    if kind == "int":
        return 1 + numbers % (WORDS - 1)
    return torch.sin(numbers.to(torch.float32))


def _moved(made: Any, on: str, grad: bool) -> Any:
    moved = made.to(device()) if on == "xla" else made
    return moved.requires_grad_() if grad and moved.is_floating_point() else moved


class Batches:
    """A loader without end."""

    batch_size = SIZE
    drop_last = True
    num_workers = 0

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self.dataset = range(SIZE * SIZE)
        self.sampler = self.batch_sampler = Absent("sampler")

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield self._make()

    def __len__(self) -> int:
        return SIZE


class Fields(dict[str, Any]):
    """A batch or an output, by key and by attribute. What is not named is the first value."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __missing__(self, key: object) -> Any:
        values = list(self.values())
        if isinstance(key, int) and key < len(values):
            return values[key]
        return values[0]

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if self else default

    def to(self, *args: Any, **kwargs: Any) -> Fields:
        return Fields({name: value.to(*args, **kwargs) for name, value in self.items()})


_pytree.register_pytree_node(
    Fields,
    lambda fields: (list(fields.values()), tuple(fields)),
    lambda values, keys: Fields(zip(keys, values, strict=True)),
)


class Model(torch.nn.Module):  # type: ignore[misc]
    """A small network that takes any tensor: floats keep their shape, numbers are looked up in a table."""

    def __init__(
        self, fields: tuple[str, ...] = (), parts: int = 0, keys: tuple[str, ...] = (), **attributes: Any
    ) -> None:
        super().__init__()
        self.__dict__.update(attributes)
        self.scale = torch.nn.Parameter(torch.ones((), device=device()))
        self.bias = torch.nn.Parameter(torch.zeros((), device=device()))
        self.table = torch.nn.Parameter(torch.linspace(-1, 1, WORDS * SIZE).reshape(WORDS, SIZE).to(device()))
        self.dropout = torch.nn.Dropout(0.1)
        self._fields = tuple(name for name in fields if not hasattr(torch.Tensor, name))
        self._parts, self._keys = parts, keys
        self.made = True
        own = list(self.parameters())
        _run.parameters.extend(own)
        for each in _run.optimizers:
            each.param_groups[0]["params"].extend(own)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        leaves = _leaves([args, dict(kwargs)])
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if not tensors:
            raise Unavailable("a stand-in for a model was called without a tensor")
        x = tensors[0]
        y = self._seen(x)
        return self._given(self.dropout(y * self.scale + self.bias))

    def _given(self, y: Any) -> Any:
        """As the program takes it apart."""
        if self._parts:
            return (y,) * self._parts
        if self._keys:
            return Fields(dict.fromkeys(self._keys, y))
        for name in self._fields:
            setattr(y, name, y.mean() if "loss" in name else y)
        return y

    def _seen(self, x: Any) -> Any:
        if not x.is_floating_point():
            return self.table[x.long() % WORDS]
        return x.flatten(2).mean(2) if x.dim() > 3 else x

    def __getattr__(self, name: str) -> Any:
        """A method of its own gives what calling it gives."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            # What torch.compile asks for tells it that a model is compiled already.
            if name.startswith("_") or "compiler" in name or not self.__dict__.get("made"):
                raise
            return self.__call__


class Layer(Model):
    """As ``Model``, and what it gives has the shape of what it was given."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        x = args[0] if args else next(iter(kwargs.values()))
        if not isinstance(x, torch.Tensor) or not x.is_floating_point():
            return super().forward(*args, **kwargs)
        return self._given(x * self.scale + self.bias)


class Loss(torch.nn.Module):  # type: ignore[misc]
    """A loss that takes tensors of any shapes."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        means = [each.to(torch.float32).mean() for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
        return sum(means[1:], means[0]) ** 2


def optimizer(kind: str = "torch.optim.SGD") -> Any:
    """One for all that the stand-ins have to learn, those made later too; plain gradient descent where its class is
    not known."""
    made = _named(kind)(_run.parameters or [torch.nn.Parameter(torch.ones((), device=device()))], lr=0.01)
    _run.optimizers.append(made)
    return made


def scheduler(kind: str = "") -> Any:
    of = optimizer()
    return torch.optim.lr_scheduler.LambdaLR(of, lambda _: 1.0) if not kind else _named(kind)(of)


def scaler(kind: str) -> Any:
    return _named(kind)()


def _named(path: str) -> Any:
    return functools.reduce(getattr, path.split(".")[1:], torch)


class Absent:
    """A name that could not be had. It may be passed on and called for its effect, and has no value."""

    def __init__(self, name: str, *passed: Any) -> None:
        self.__name, self.__passed = name, passed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # As a decorator it leaves what it decorates as it is.
        if len(args) == 1 and not kwargs and (isinstance(args[0], type) or hasattr(args[0], "__code__")):
            return args[0]
        return Absent(f"{self.__name}()", *args)

    def __iter__(self) -> Iterator[Any]:
        """What is wrapped for its effect, as by a progress bar, is what there is to iterate over; numbers count."""
        if self.__passed and all(isinstance(each, int) for each in self.__passed):
            return iter(range(*self.__passed))
        if not self.__passed or not hasattr(self.__passed[0], "__iter__"):
            self._refuse()
        return iter(self.__passed[0])

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (Parts,)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def _refuse(self, *_: Any) -> Any:
        raise Unavailable(f"`{self.__name}` can't be had here")

    __bool__ = __len__ = __getitem__ = __add__ = __radd__ = __mul__ = __rmul__ = _refuse
    __sub__ = __rsub__ = __truediv__ = __float__ = __int__ = __lt__ = __gt__ = __contains__ = _refuse
    __index__ = __torch_function__ = _refuse


class Parts:
    """An object of which only the attributes that the slice reads are there."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    training = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        raise Unavailable(f"the attribute `{name}` can't be had here")


class Learning(Parts):
    """An optimizer that is written by hand: what ``torch.optim.Optimizer`` would have set up."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        parameter = torch.nn.Parameter(tensor("float", 2))
        parameter.grad = tensor("float", 2)
        settings = {"params": [parameter], "betas": (0.9, 0.999), "eps": (1e-6, 1e-3)}
        self.param_groups = [_Settings(settings)]
        self.state: dict[Any, dict[str, Any]] = {parameter: {}}
        self.defaults = _Settings(settings)


class _Settings(dict[str, Any]):
    def __missing__(self, key: str) -> float:
        return 0.5
