"""The screen: import lines count, the word alone does not."""

from __future__ import annotations

import pytest

from xlalint.sources.screen import imports_torch


@pytest.mark.parametrize(
    "text",
    [
        "import torch",
        "import os, torch",
        "import os as o, torch.nn as nn",
        "from torch import nn",
        "from torch.nn import functional as F",
        "import torch_xla.core.xla_model as xm",
        "import pytorch_lightning as pl",
        "from lightning.pytorch import Trainer",
        "from transformers import AutoModel",
        "import torchmetrics",
        "    import torch",
        "try: import torch\nexcept ImportError: torch = None",
        "import os; import torch",
        "if True:\r\n\timport timm\r\n",
        "x = 1\rimport torch\r",
        "\ufeffimport torch",
        "\x0cimport torch",
        "from \\\n    torch import nn",
        "import os, \\\n    torch",
        "torch = importlib.import_module('torch')",
        'xm = __import__("torch_xla")',
    ],
)
def test_an_import_is_seen(text: str) -> None:
    assert imports_torch(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# import torch",
        "x = 'torch'",
        "is_torch_available()",
        "from .torch_utils import x",
        "from .. import torch_helpers",
        "import os",
        "from mytorch import x",
        "import tensorflow as tf  # not torch",
        "important torch",
    ],
)
def test_the_word_alone_is_not_enough(text: str) -> None:
    assert not imports_torch(text.encode())
