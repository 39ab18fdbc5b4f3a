"""Tensors, batches and loaders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from xlalint.device.stand_in_sizes import BATCHES, SIZE, WORDS
from xlalint.device.stubs.objects import Absent
from xlalint.device.stubs.progress import state

torch: Any = import_module("torch")
torch_xla: Any = import_module("torch_xla")
_pytree: Any = import_module("torch.utils._pytree")


def device(placed: bool = False) -> Any:
    return torch.device("cpu") if state.doubted and not placed else torch_xla.device()


def on_host(value: Any) -> Any:
    """The same, with its tensors on the host."""
    return _pytree.tree_map(lambda leaf: leaf.cpu() if isinstance(leaf, torch.Tensor) else leaf, value)


def tensor(kind: str, rank: int, dims: tuple[int | None, ...] = (), on: str = "xla", grad: bool = False) -> Any:
    """A tensor of ``kind``; ``dims`` where they are known. Values differ from step to step, shapes don't."""
    shape = tuple(SIZE if size is None else min(size, 64) for size in dims) or (SIZE,) * rank
    return _moved(_filled(kind, shape), on, grad)


def varying(kind: str, rank: int, on: str = "xla", grad: bool = False) -> Any:
    """A tensor whose last dimension is another one in each step."""
    shape = ((SIZE,) * (rank - 1) + (SIZE + state.step,)) if rank else ()
    return _moved(_filled(kind, shape), on, grad)


def rows(kinds: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Rows of a batch before they are one: the first part of each has a length of its own, the rest are numbers."""
    lengths = [3 + (5 * row + 7 * state.step) % (SIZE + state.step) for row in range(SIZE)]
    return [(torch.arange(1, length + 1), *(row % WORDS for _ in kinds[1:])) for row, length in enumerate(lengths)]


def rows_by(keys: tuple[str, ...]) -> list[Any]:
    """As ``rows``, each a mapping; all parts of a row have its length."""
    return [Fields(dict.fromkeys(keys, row[0])) for row in rows(("int",))]


def _filled(kind: str, shape: tuple[int, ...]) -> Any:
    count = 1
    for size in shape:
        count *= size
    numbers = torch.arange(count).add(0 if state.still else state.step).reshape(shape)
    if kind in ("bool", "uint8"):
        return (numbers % 2 == 0).to(getattr(torch, kind))
    if kind == "int":
        return 1 + numbers % (WORDS - 1)
    return torch.sin(numbers.to(torch.float32))


def _moved(made: Any, on: str, grad: bool) -> Any:
    moved = made.to(torch_xla.device()) if on == "xla" else made
    return moved.requires_grad_() if grad and moved.is_floating_point() else moved


class Batches:
    """A loader."""

    batch_size = SIZE
    drop_last = True
    num_workers = 0

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self.dataset = range(SIZE * BATCHES)
        self.sampler = self.batch_sampler = Absent("sampler")

    def __iter__(self) -> Iterator[Any]:
        for _ in range(BATCHES):
            yield self._make()

    def __len__(self) -> int:
        return BATCHES


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
