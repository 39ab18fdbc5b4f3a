"""What a name tells of what stands in for it, where nothing else is known."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xlalint.device.stand_in_sizes import SIZE

KINDS: Mapping[str, str] = MappingProxyType(
    {"bool": "bool", "uint8": "uint8", "int": "int", "float": "float", "complex": "float"}
)
BY_NAME: tuple[tuple[str, str, int], ...] = (
    ("label", "int", -1),
    ("target", "int", -1),
    ("mask", "bool", 0),
    ("_ids", "int", 0),
    ("tokens", "int", 0),
    ("index", "int", -1),
    ("indices", "int", -1),
)
"""What a part of a batch is taken for where nothing but its name is known: kind, and rank beside that of the rest."""
TENSOR_ATTRIBUTES = frozenset(("shape", "size", "dim", "numel", "cpu", "to", "device", "dtype", "ndim", "T", "mT"))
ONLY_OF_TENSORS = frozenset(("shape", "ndim", "dim", "numel"))
OF_OTHERS_TOO = frozenset(("add", "sort", "split"))
"""Methods of tensors that lists, sets and texts have too."""
MODULE_METHODS = frozenset(
    ["train", "eval", "parameters", "named_parameters", "state_dict", "zero_grad", "modules", "requires_grad_"]
)
SIZES = ("size", "dim", "width", "channels", "features", "embed", "classes", "labels")
"""Numbers that are a tensor's dimension, by name; other numbers count heads, groups or layers."""
NETWORKS = ("model", "net", "backbone", "encoder", "decoder")
MAPPING_METHODS = frozenset({"items", "keys", "values"})
LOSSES = ("loss", "crit")
ACTIONS = frozenset({"writer", "logger", "progress", "scaler", "accelerator", "engine", "tokenizer"})
HOSTS: Mapping[str, str] = MappingProxyType(
    {
        "int": "2",
        "float": "0.5",
        "bool": "True",
        "str": "'text'",
        "none": "None",
        "dtype": "torch.float32",
        "size": f"torch.Size(({SIZE}, {SIZE}))",
        "bytes": "b'text'",
        "numpy": f"torch.ones({SIZE}, {SIZE}).numpy()",
        "list": "[]",
        "dict": "{}",
        "tuple": "()",
    }
)
PAIRS = (f"({SIZE}, {SIZE})", f"[({SIZE}, {SIZE})] * {SIZE}")
RANKS = (2, 3, 4, 1, 0)
NUMBERS = ("2", str(SIZE), "4", "1")

ELSEWHERE = "stand_in.elsewhere("
"""What somebody else's function gives."""
_PLACES = ("stand_in.tensor(", "stand_in.device(", "torch.device(", "stand_in.Model(", "stand_in.Batches(")


def last_name(path: str) -> str:
    """The last part of a path, without whose parameter it is."""
    return path.rpartition(".")[2].rpartition(":")[2].lower()


def is_network(path: str) -> bool:
    """Whether something is taken for a network or a loss, which leave what they give where they were given it."""
    last = last_name(path)
    return any(word in last for word in (*NETWORKS, *LOSSES))


def lies_somewhere(text: str) -> bool:
    """Whether a stand-in lies on some device."""
    return text.startswith(_PLACES)
