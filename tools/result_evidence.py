"""What torch gives, beside what the linter says of it: writes ``tests/knowledge/result_evidence.csv``.

    python -m tools.result_evidence        # a minute; needs torch, runs on its CPU

For each op of ``results.csv`` some ways to call it are tried, and the first three that torch takes are kept: the
expression, the dtype and shape that came out of it, and what ``reveal`` prints. Read the difference before you commit.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xlalint.knowledge.tables import results
from xlalint.testing import revealed

OUTPUT = Path(__file__).parent.parent / "tests" / "knowledge" / "result_evidence.csv"
OPERANDS = OUTPUT.with_name("result_operands.txt")
EACH = 3
WAYS = (
    "x.{0}()|torch.{0}(x)|F.{0}(x)|torch.{0}(x, y)|x.{0}(y)|F.{0}(x, y)|torch.{0}(b)|b.{0}()|torch.{0}(b, b)"
    "|torch.{0}(k)|torch.{0}([x, y])|torch.{0}((4, 6))|torch.{0}(6)|x.{0}(1)|torch.{0}(x, 1)|torch.{0}(x, dim=1)"
    "|x.{0}(dim=1)|torch.{0}(x, 0, 1)|x.{0}(0, 1)|x.{0}(2, 12)|torch.{0}(x, (2, 12))|torch.{0}(x, z)|x.{0}(z)"
    "|torch.{0}(x, i)|F.{0}(x, t)|F.{0}(t, x)|torch.{0}(x, 1, i)|x.{0}(1, i)|x.{0}(1, i, x)|x.{0}(m, 0.5)"
    "|torch.{0}(x, m)|x.{0}(m)|torch.{0}(m, x, y)|torch.{0}(c, c)|torch.{0}(v, v)|x.{0}(4, 6)|x.{0}((2, 1))"
    "|F.{0}(x, (1, 2))|F.{0}(y, x)|torch.{0}(x, 2)|F.{0}(x, 3)|F.{0}(i)|torch.{0}(i)|i.{0}()|x.{0}(2, 1)"
    "|F.{0}(img, 2)|F.{0}(img)|F.{0}(x, w)|F.{0}(img, kernel)|torch.{0}(v)|x.{0}(0)|F.{0}(i, w)|torch.{0}(0, 6)"
    "|torch.{0}(0, 6, 3)|F.{0}(x, (6,))|torch.{0}(x, 0.5)|x.{0}(0.5)|x.{0}(x)|F.{0}(x, y, t)|F.{0}(q, q, q)"
    "|x.{0}(1, 2)|torch.{0}(c, c, c)|torch.{0}(x, x, z)|torch.{0}(z, v)|z.{0}(0, k)|x.{0}(0, t)|x.{0}(0, 1, 2)"
    "|torch.{0}(x, (1, 0))"
)
"""Parted by a bar; ``{0}`` is the op."""
PLAIN_LOSSES = ("binary_cross_entropy_with_logits", "kl_div")
"""Under ``torch.`` these take a number for the reduction, and nobody calls them so."""


def measured() -> Iterator[tuple[str, str]]:
    """Expressions that run, each with what it gives."""
    import torch
    import torch.nn.functional as functional

    for name in results():
        found = 0
        for way in WAYS.split("|"):
            expression = way.format(name)
            names: dict[str, Any] = {"torch": torch, "F": functional, "device": "cpu"}
            if expression.startswith("torch.") and (name.endswith("_loss") or name in PLAIN_LOSSES):
                continue
            try:
                exec(OPERANDS.read_text(encoding="utf-8"), names)
                text = described(eval(expression, names))
            except Exception:  # most ways to call an op are wrong
                continue
            if text and found < EACH:
                found += 1
                yield expression, text


def described(value: Any) -> str:
    import torch

    if isinstance(value, torch.Tensor):
        return f"{kind(value.dtype)}{list(value.shape)}"
    if isinstance(value, tuple) and all(isinstance(part, torch.Tensor) for part in value):
        return f"tuple[{', '.join(map(described, value))}]"
    return ""


def kind(dtype: Any) -> str:
    name = str(dtype).removeprefix("torch.")
    return next((word for word in ("bool", "uint8", "float", "complex", "int") if word in name), name)


def told(expressions: list[str]) -> list[str]:
    """What the linter says of each, in a function of its own."""
    operands = "".join(f"    {line}\n" for line in OPERANDS.read_text(encoding="utf-8").splitlines())
    text = "import torch\nimport torch.nn.functional as F\nimport torch_xla\n"
    for number, expression in enumerate(expressions):
        text += f"\n\ndef f{number}():\n    device = torch_xla.device()\n{operands}    reveal({expression})\n"
    known = revealed({"main.py": text})
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.startswith("    reveal(")]
    return [known.get(("main.py", line), "") for line in lines]


def main() -> int:
    found = list(measured())
    with OUTPUT.open("w", encoding="utf-8", newline="") as file:
        file.write(
            "# Written by `python -m tools.result_evidence`, torch 2.9.1: given by torch, and told by the linter.\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("expression", "given", "told"))
        writer.writerows(
            (expression, given, text)
            for (expression, given), text in zip(found, told([e for e, _ in found]), strict=True)
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
