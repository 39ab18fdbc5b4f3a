"""What a hub would give, where nobody can reach it: models as they are made, with two layers, and tokenizers of words.

Imports transformers or timm, where they are there.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from xlalint.device.borders.clock import Clock

_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")
"""Who asks the network in vain asks again, and waits."""
_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers")
_NUM_DECODER_LAYERS = "num_decoder_layers"
_WITH_REST = "return_unused_kwargs"
_FEW = 2
_GENERAL = "bert"
"""The kind of model where a name says nothing."""
_SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
    "bos_token": "[BOS]",
    "eos_token": "[EOS]",
}
_WORDS = ("the", "model", "reads", "a", "line", "of", "words", "that", "nobody", "wrote", ".", ",")
_LONGEST = 512
_IMAGES = 64


def ask_no_network() -> None:
    """Before anything is imported that would."""
    for name in _OFFLINE:
        os.environ[name] = "1"


def stand_in_for_weights(clock: Clock) -> None:
    """Of timm: weights stay as they were made."""
    try:
        builder: Any = import_module("timm.models._builder")
    except ImportError:
        return

    def load_pretrained(model: Any, *_: Any, **__: Any) -> None:
        clock.assume(f"`{type(model).__name__}` of timm is not downloaded: weights are as they were made")

    builder.load_pretrained = load_pretrained


class _Images:
    """A reader of timm's, of made-up images' names and of two classes."""

    def __len__(self) -> int:
        return _IMAGES

    def __getitem__(self, index: int) -> tuple[str, int]:
        return self.filename(index), index % 2

    def filename(self, index: int, basename: bool = False, absolute: bool = False) -> str:
        return f"made-up-{index}.png"


def stand_in_for_readers(clock: Clock) -> None:
    """Of timm: folders and archives of images that are not there."""
    try:
        data_sets: Any = import_module("timm.data.dataset")
    except ImportError:
        return
    create_reader = data_sets.create_reader

    @functools.wraps(create_reader)
    def made(name: str, root: Any = None, *args: Any, **kwargs: Any) -> Any:
        try:
            return create_reader(name, root, *args, **kwargs)
        except Exception:  # each kind of reader has its own way to miss its files
            clock.assume(f"`{root}` has {_IMAGES} made-up images, as there are none")
            return _Images()

    data_sets.create_reader = made


def stand_in_for_transformers(clock: Clock) -> None:
    """Configurations, models and tokenizers that are not in the cache."""
    try:
        library: Any = import_module("transformers")
    except ImportError:
        return
    library.PretrainedConfig.from_pretrained = _or_else(
        library.PretrainedConfig.from_pretrained, _made_configuration, clock
    )
    library.PreTrainedModel.from_pretrained = _or_else(library.PreTrainedModel.from_pretrained, _model, clock)
    base = import_module("transformers.models.auto.auto_factory")._BaseAutoModelClass
    base.from_pretrained = _or_else(base.from_pretrained, _chosen_model, clock)
    library.AutoConfig.from_pretrained = _or_else(library.AutoConfig.from_pretrained, _made_configuration, clock)
    for kind in (library.PreTrainedTokenizerBase, library.AutoTokenizer):
        kind.from_pretrained = _or_else(kind.from_pretrained, _tokenizer, clock)


def _or_else(
    original: Callable[..., Any], make: Callable[[type, str, dict[str, Any]], Any], clock: Clock
) -> classmethod[Any, Any, Any]:
    """The class method, and what is made where the hub would have to be asked."""
    function = original.__func__  # type: ignore[attr-defined]

    @functools.wraps(function)
    def from_pretrained(cls: type, name: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(cls, name, *args, **kwargs)
        except Exception:  # what is not there is missed in many ways
            if Path(str(name)).exists():
                raise
        made = make(cls, str(name), kwargs)
        clock.assume(f"`{name}` is not downloaded: a `{type(made).__name__}` as it is made stands for it")
        unused = {
            option: value for option, value in kwargs.items() if option != _WITH_REST and not hasattr(made, option)
        }
        return (made, unused) if kwargs.get(_WITH_REST) else made

    return classmethod(from_pretrained)


def _made_configuration(cls: type, name: str, options: dict[str, Any]) -> Any:
    """Of the class; of the model that the name says where the class is to be chosen. It has two layers."""
    if hasattr(cls, "model_type") and cls.model_type:
        found = cls()
    else:
        known: Any = import_module("transformers.models.auto.configuration_auto").CONFIG_MAPPING
        plain = re.sub(r"[^a-z0-9]", "", name.lower())
        kinds = [each for each in known if re.sub(r"[^a-z0-9]", "", each) in plain]
        found = known[max(kinds, key=len, default=_GENERAL)]()
    return _with_options(_of_few_layers(found), options)


def _of_few_layers(configuration: Any) -> Any:
    for part in (configuration, *vars(configuration).values()):
        if hasattr(part, "model_type"):
            for name in (*_LAYERS, _NUM_DECODER_LAYERS):
                if isinstance(getattr(part, name, None), int):
                    setattr(part, name, _FEW)
            if isinstance(getattr(part, "layer_types", None), list):
                part.layer_types = part.layer_types[:_FEW]
    return configuration


def _with_options(configuration: Any, options: dict[str, Any]) -> Any:
    for name, value in options.items():
        if hasattr(configuration, name):
            setattr(configuration, name, value)
    return configuration


def _model(cls: Any, name: str, options: dict[str, Any]) -> Any:
    given = options.get("config")
    configuration = given if hasattr(given, "model_type") else _made_configuration(cls.config_class, name, options)
    return cls(_with_options(configuration, options)).eval()


def _chosen_model(cls: Any, name: str, options: dict[str, Any]) -> Any:
    automatic = import_module("transformers").AutoConfig
    given = options.get("config")
    configuration = given if hasattr(given, "model_type") else _made_configuration(automatic, name, options)
    return cls.from_config(configuration).eval()


def _tokenizer(cls: type, name: str, options: dict[str, Any]) -> Any:
    """Of words that are told apart by spaces; what it does not know is unknown."""
    library, tokenizers = import_module("transformers"), import_module("tokenizers")
    vocabulary = {word: number for number, word in enumerate((*_SPECIAL.values(), *_WORDS))}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token=_SPECIAL["unk_token"]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    first, last = _SPECIAL["cls_token"], _SPECIAL["sep_token"]
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(word, vocabulary[word]) for word in (first, last)],
    )
    return library.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=_LONGEST, **_SPECIAL)
