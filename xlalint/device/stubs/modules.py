"""Networks, losses, and what trains them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

from xlalint.device.stand_in_sizes import SIZE, WORDS
from xlalint.device.stubs.objects import Parts
from xlalint.device.stubs.progress import Unavailable, state
from xlalint.device.stubs.values import Fields, device, on_host, tensor

torch: Any = import_module("torch")
_leaves: Any = import_module("torch.utils._pytree").tree_leaves


def _follow(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """A network that nobody has placed lies where what it is given lies: else the program would not run."""
    given = [leaf for leaf in _leaves([args, kwargs]) if isinstance(leaf, torch.Tensor)]
    own = next(module.parameters(), None)
    if not given or own is None or given[0].device.type != "xla" or own.device.type == "xla":
        return
    before = list(module.parameters())
    module.to(given[0].device)
    moved = {id(old): new for old, new in zip(before, module.parameters(), strict=True)}
    for each in state.optimizers:
        for group in each.param_groups:
            group["params"] = [moved.get(id(one), one) for one in group["params"]]
    state.parameters = [moved.get(id(one), one) for one in state.parameters]


class Elsewhere(torch.nn.Module):  # type: ignore[misc]
    """A function of somebody else's: what it gives lies on the host, for nobody says otherwise."""

    def __init__(self, made: Any) -> None:
        super().__init__()
        self.made = made

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return on_host(self.made(*args, **kwargs))


def elsewhere(made: Any) -> Any:
    return Elsewhere(made)


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
        _doubted(self)
        own = list(self.parameters())
        state.parameters.extend(own)
        for each in state.optimizers:
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
        x = next(iter((*args, *kwargs.values())), None)
        if not isinstance(x, torch.Tensor) or not x.is_floating_point():
            return super().forward(*args, **kwargs)
        return self._given(x * self.scale + self.bias)


class Sizes:
    """A configuration of small sizes: each attribute is what its name asks for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return size_named(name)

    def get(self, name: str, default: Any = None) -> Any:
        return size_named(name)


def size_named(name: str) -> Any:
    """A small value for a number or a text of a configuration, by its name."""
    name = name.lower()
    for words, value in _BY_NAME:
        if any(word in name for word in words):
            return value
    return SIZE


_BY_NAME: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("drop", "prob"), 0.0),
    (("eps",), 1e-5),
    (("activation", "act_fn", "hidden_act"), "gelu"),
    (("bias", "use_", "is_"), True),
    (("num_layers", "num_hidden_layers", "depth", "kernel", "stride", "patch", "scale", "factor"), 2),
    (("num_heads", "num_attention_heads", "head_dim", "groups", "padding"), 2),
)
"""All else is the size of a dimension."""


def built(make: Callable[..., Any], **given: Any) -> Any:
    """A module as its class makes it, on the device."""
    try:
        module = make(**given).to(device())
    except Exception as error:
        raise Unavailable(f"a module could not be built with small sizes: {type(error).__name__}: {error}") from error
    _doubted(module)
    state.parameters.extend(module.parameters())
    return module


def _doubted(module: Any) -> None:
    if state.doubted:
        module.register_forward_pre_hook(_follow, with_kwargs=True)


class Loss(torch.nn.Module):  # type: ignore[misc]
    """A loss that takes tensors of any shapes."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        means = [each.to(torch.float32).mean() for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
        return sum(means[1:], means[0]) ** 2


def optimizer(kind: str = "torch.optim.SGD") -> Any:
    """One for all that the stand-ins have to learn, those made later too; plain gradient descent where its class is
    not known."""
    made = _named(kind)(state.parameters or [torch.nn.Parameter(torch.ones((), device=device()))], lr=0.01)
    state.optimizers.append(made)
    return made


def scheduler(kind: str = "") -> Any:
    of = optimizer()
    return torch.optim.lr_scheduler.LambdaLR(of, lambda _: 1.0) if not kind else _named(kind)(of)


def scaler(kind: str) -> Any:
    return _named(kind)()


def _named(path: str) -> Any:
    return functools.reduce(getattr, path.split(".")[1:], torch)


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
