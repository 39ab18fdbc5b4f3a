"""Packages that are often asked for a value, and that do little: what stands in for them where they are not installed.

Imports torch.
"""

from __future__ import annotations

import collections
import itertools
import queue
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import MappingProxyType, SimpleNamespace
from typing import Any

torch: Any = import_module("torch")
_OPTIMIZERS = re.compile(
    r"(?:\w*(?:Adam|SGD)\w*|LARS|Lars|LAMB|Lamb|Ranger\w*|Lion\w*|AdaBound|AdaBelief|Adafactor|MADGRAD|Shampoo|Sophia\w*)"
)


class Settings(dict[str, Any]):
    """A dictionary whose entries are its attributes, also those of the dictionaries in it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, _as_settings(value))

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def update(self, *args: Any, **kwargs: Any) -> None:
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]


def _as_settings(value: Any) -> Any:
    if isinstance(value, Mapping) and not isinstance(value, Settings):
        return Settings(value)
    return [_as_settings(each) for each in value] if isinstance(value, list) else value


class Progress:
    """What is iterated over, with a bar that nobody sees."""

    def __init__(self, items: Iterable[Any] = (), *_: Any, **named: Any) -> None:
        self._items = items
        self.n, self.total = 0, named.get("total")

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        items: Any = self._items
        return len(items)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def update(self, count: int = 1) -> None:
        self.n += count

    def __getattr__(self, name: str) -> Any:
        """What is done to the bar."""
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *_, **__: None

    @staticmethod
    def write(*_: Any, **__: Any) -> None:
        """Beside the bar."""


class Logger:
    """What is told, and answers that all is well."""

    def __init__(self, *_: Any, **__: Any) -> None:
        return None

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        return None

    __setitem__ = __setattr__

    def __getitem__(self, name: Any) -> Any:
        return self

    def __enter__(self) -> Logger:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __str__(self) -> str:
        return "log"

    __fspath__ = __str__


def _counted(*args: Any, **_: Any) -> Progress:
    return Progress(range(*(each for each in args if isinstance(each, int))))


def _initialized(models: Any, optimizers: Any = None, *_: Any, **__: Any) -> Any:
    return models if optimizers is None else (models, optimizers)


@contextmanager
def _unscaled(loss: Any, *_: Any, **__: Any) -> Iterator[Any]:
    yield loss


def _parameters(optimizer: Any) -> Iterator[Any]:
    return itertools.chain.from_iterable(group["params"] for group in optimizer.param_groups)


def _optimizer(name: str) -> Callable[..., Any]:
    def made(parameters: Any, lr: float = 1e-3, **_: Any) -> Any:
        return getattr(torch.optim, name)(parameters, lr=lr)

    return made


def known_by_form(name: str) -> Any:
    """An optimizer of any package updates as Adam does; None for what is no optimizer by its name."""
    return _optimizer("Adam") if _OPTIMIZERS.fullmatch(name.rpartition(".")[2]) else None


def _around(optimizer: Any, *_: Any, **__: Any) -> Any:
    optimizer.optim = optimizer
    return optimizer


def _on_its_own(module: Any, *_: Any, **__: Any) -> Any:
    return torch.nn.parallel.DistributedDataParallel(module)


def _same(module: Any, *_: Any, **__: Any) -> Any:
    return module


_SIX = SimpleNamespace(
    urllib=SimpleNamespace(request=urllib.request, parse=urllib.parse, error=urllib.error),
    range=range,
    zip=zip,
    map=map,
    filter=filter,
    input=input,
    xrange=range,
    queue=queue,
    cPickle=import_module("pickle"),
    reduce=import_module("functools").reduce,
    zip_longest=itertools.zip_longest,
)
_SETTINGS = (
    "easydict.EasyDict",
    "addict.Dict",
    "munch.Munch",
    "box.Box",
    "ml_collections.ConfigDict",
    "attrdict.AttrDict",
)


def _words_of(*_: Any, **__: Any) -> Any:
    """A pipeline of spaCy, whose words are what blanks divide."""

    def read(text: str) -> list[Any]:
        return [SimpleNamespace(text=word, lemma_=word, orth_=word, lower_=word.lower()) for word in text.split()]

    return _Pipeline(read)


class _Pipeline:
    def __init__(self, read: Callable[[str], list[Any]]) -> None:
        self.tokenizer, self.__call = read, read

    def __call__(self, text: str) -> list[Any]:
        return self.__call(text)


KNOWN: Mapping[str, Any] = MappingProxyType(
    {
        **dict.fromkeys((*_SETTINGS, "dotmap.DotMap", "munch.munchify", "edict.EasyDict"), Settings),
        **dict.fromkeys(("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.tqdm_notebook"), Progress),
        **dict.fromkeys(("tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange"), _counted),
        **dict.fromkeys(("visdom.Visdom", "tensorboardX.SummaryWriter", "tensorboard_logger.Logger"), Logger),
        **dict.fromkeys(("tensorboard.SummaryWriter", "wandb.init", "wandb.config", "wandb.run"), Logger()),
        **dict.fromkeys(("comet_ml.Experiment", "torch.utils.tensorboard.SummaryWriter"), Logger),
        "apex.amp.initialize": _initialized,
        "apex.amp.scale_loss": _unscaled,
        "apex.amp.master_params": _parameters,
        "apex.amp.state_dict": dict,
        "apex.parallel.DistributedDataParallel": _on_its_own,
        "horovod.torch.size": lambda: 1,
        "horovod.torch.local_size": lambda: 1,
        **dict.fromkeys(("horovod.torch.rank", "horovod.torch.local_rank"), lambda: 0),
        **dict.fromkeys(("horovod.torch.DistributedOptimizer", "horovod.torch.allreduce"), _same),
        "horovod.torch.allgather": _same,
        "apex.parallel.convert_syncbn_model": _same,
        "apex.parallel.LARC.LARC": _around,
        "apex.normalization.FusedLayerNorm": torch.nn.LayerNorm,
        "apex.optimizers.FusedAdam": _optimizer("Adam"),
        "apex.optimizers.FusedSGD": _optimizer("SGD"),
        "six.moves": _SIX,
        "six.moves.urllib": _SIX.urllib,
        "six.iteritems": lambda each: iter(each.items()),
        "six.itervalues": lambda each: iter(each.values()),
        "six.iterkeys": lambda each: iter(each.keys()),
        "six.string_types": (str,),
        "six.integer_types": (int,),
        "six.text_type": str,
        "six.PY2": False,
        "six.PY3": True,
        "future.utils.iteritems": lambda each: iter(each.items()),
        "past.builtins.xrange": range,
        "ordered_set.OrderedSet": lambda items=(): list(collections.OrderedDict.fromkeys(items)),
        "spacy.load": _words_of,
        "typing_extensions.Literal": import_module("typing").Literal,
    }
)
"""By the name in its package: what it gives."""
