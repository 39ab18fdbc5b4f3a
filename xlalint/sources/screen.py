"""Screens files by their import lines, without parsing: only those that can hold tensors are analysed.

The word alone is not enough of a reason to analyse a file: comments and lists of package names hold it too.
"""

from __future__ import annotations

from xlalint.sources.patterns import lazy_pattern

TRAINERS = (
    r"(?:pytorch_)?lightning\w*",
    r"accelerate",
    r"ignite",
    r"deepspeed",
    r"fastai",
    r"fairseq\w*",
    r"trl",
    r"optimum",
    r"composer",
)
"""Packages that move a program's models and batches, and run its backward passes."""
PIPELINES = (r"transformers", r"diffusers", r"sentence_transformers")
"""Packages whose models may be put on a device by no word of the program."""
TENSOR_PACKAGES = (
    # torch itself and what is built on it by name: torch_xla, torchvision, torchmetrics, torch_geometric, ...
    r"torch\w*",
    r"functorch",
    *TRAINERS,
    *PIPELINES,
    # models and layers
    r"timm",
    r"peft",
    r"open_clip",
    r"segmentation_models_pytorch",
    r"monai",
    r"kornia",
    r"detectron2",
    r"mmcv",
    r"mmengine",
    r"xformers",
    r"einops",
    r"apex",
    r"allennlp",
    r"flair",
    r"dgl",
    r"pyro",
    r"gpytorch",
    r"botorch",
)
"""Top-level packages that hand tensors to those who import them, as regular expressions on the name."""

COSTLY_CALLS = frozenset(
    {"item", "cpu", "cuda", "tolist", "backward", "zero_grad", "mark_step", "breakpoint", "set_trace", "pad_sequence"}
)
"""Calls for which a file is read even if it imports no torch: a script may have it from a module of its own."""

_ROOTS = "(?:" + "|".join(TENSOR_PACKAGES) + r")\b"
# Each pattern has a literal beginning: `re` searches for a literal ten times as fast as for a choice.
_FROM = lazy_pattern(rf"from[ \t\\]+(?:\\\r?\n[ \t]*)?{_ROOTS}".encode())
_IMPORT = lazy_pattern(
    rf"import[ \t\\]+(?:\\\r?\n[ \t]*)?(?:[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*,[ \t\\\r\n]*)*{_ROOTS}".encode()
)
_DYNAMIC = tuple(lazy_pattern(rf"{name}\([ \t\r\n]*[\"']{_ROOTS}".encode()) for name in ("import_module", "__import__"))
# What may stand before an import on its line: nothing, or `try:`, `if x:`, `a = 1;`.
_BEFORE = lazy_pattern(rb"(?:^|[\r\n;:])[ \t\f]*\Z|\xef\xbb\xbf\Z")


_CALL = lazy_pattern(rb"\b(?:" + "|".join(sorted(COSTLY_CALLS)).encode() + rb")[ \t]*\(")


def calls_what_costs(data: bytes) -> bool:
    """Whether something is called that costs where it is done to a tensor."""
    return _CALL.search(data) is not None


def imports_torch(data: bytes) -> bool:
    """Whether an import of torch, or of a package that hands tensors on, stands in this Python source.

    An import line inside a docstring counts too: a false yes costs time, a false no costs findings.
    """
    for pattern in (_IMPORT, _FROM):
        for match in pattern.finditer(data):
            start = match.start()
            if _BEFORE.search(data, max(0, start - 200), start):
                return True
    return any(pattern.search(data) for pattern in _DYNAMIC)
