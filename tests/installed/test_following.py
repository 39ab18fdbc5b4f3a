"""Calls into installed packages: what they cost stands on the line that calls, and nowhere else."""

import pytest

from xlalint.testing import findings_in

LOOP = """\
import {package}
import torch
import torch_xla


def train(model, loader, optimizer, crit={default}):
    {before}
    for x, y in loader:
        out = model(x)
        loss = out.sum()
        {line}
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""


def found(
    package: dict[str, str], line: str, before: str = "pass", default: str = "None"
) -> list[tuple[str, int, str]]:
    """The findings of a step loop in which ``line`` stands, with what is installed."""
    name = next(iter(package)).split("/")[0].removesuffix(".py")
    text = LOOP.format(package=name, line=line, before=before, default=default)
    return [(one.code, one.at.line, one.message) for one in findings_in({"main.py": text}, installed=package)]


def costs(package: dict[str, str], line: str, before: str = "pass") -> bool:
    codes = [code for code, at, _ in found(package, line, before) if at == 11]
    assert set(codes) <= {"XLA131"}
    return bool(codes)


READ = "import torch\ndef mean_of(x):\n    return number(x.mean())\ndef number(x):\n    return x.item()\n"


def test_a_finding_names_the_place_in_the_library() -> None:
    ((code, line, message),) = found(
        {"meters/__init__.py": "from .reads import mean_of\n", "meters/reads.py": READ}, "meters.mean_of(loss)"
    )
    assert (code, line) == ("XLA131", 11)
    assert "meters/reads.py:5" in message
    assert "reads the host" in message


def test_what_the_call_gives_is_known_afterwards() -> None:
    package = {"meters.py": READ}
    assert found(package, "print(meters.mean_of(loss) > 0.5)")[0][0] == "XLA131"
    assert len(found(package, "print(meters.mean_of(loss) > 0.5)")) == 1, "the number lies on the host"


def test_a_call_without_tensors_costs_nothing() -> None:
    assert not costs({"meters.py": READ}, "meters.number(torch.tensor(3.0))")


@pytest.mark.parametrize(
    ("body", "costly"),
    [
        ("return x[x > 0]", True),
        ("return torch.nonzero(x)", True),
        ("return torch.where(x > 0, x, 0)", False),
        ("assert x.min() >= 0\n    return x", True),
        ("if x.dim() == 7:\n        print(x)\n    return x", False),
        ("if k % 10 == 0:\n        print(x)\n    return x", False),
        ("if verbose:\n        print(x)\n    return x", False),
        ("raise ValueError(f'{x}')", False),
        ("return int(x.max()) + 1 if x.numel() > 0 else 0", True),
        ("if isinstance(x, torch.Tensor):\n        return x.tolist()\n    return x", True),
        ("for _ in range(k):\n        if isinstance(x, torch.Tensor):\n            return x.tolist()", False),
    ],
)
def test_only_what_each_call_comes_to_is_told(body: str, costly: bool) -> None:
    package = {"ops.py": f"import torch\ndef op(x, k=3, verbose=False):\n    {body}\n"}
    assert costs(package, "ops.op(out)") == costly


def test_a_method_of_an_accelerator_is_followed() -> None:
    package = {
        "accelerate/__init__.py": "from .accelerator import Accelerator\n",
        "accelerate/accelerator.py": "from .ops import pad\nclass Accelerator:\n"
        "    def __init__(self, cpu=False):\n        self.cpu = cpu\n"
        "    def pad_across_processes(self, tensor, dim=0):\n        return pad(tensor, dim)\n",
        "accelerate/ops.py": "def pad(tensor, dim):\n    return tensor[: int(tensor.max())]\n",
    }
    before = "accelerator = accelerate.Accelerator()"
    ((code, line, message),) = found(package, "accelerator.pad_across_processes(out)", before)
    assert (code, line) == ("XLA131", 11)
    assert message.endswith("at accelerate/ops.py:2")


LOSS = """\
import torch


class Loss(torch.nn.Module):
    def __init__(self, weight=None, checked=False):
        super().__init__()
        self.weight = weight
        self.checked = checked

    def forward(self, x, y):
        if self.checked:
            assert (x > 0).all()
        if self.weight is not None:
            self.weight = self.weight.to(x)
            if self.weight.min() < 0:
                raise ValueError("negative")
        return (x - y).pow(2).mean()
"""


@pytest.mark.parametrize(
    ("made", "costly"),
    [("losses.Loss()", False), ("losses.Loss(checked=True)", True), ("losses.Loss(torch.ones(3))", True)],
)
def test_an_object_is_known_by_how_it_was_made(made: str, costly: bool) -> None:
    assert costs({"losses.py": LOSS}, "loss = crit(out, y)", f"crit = {made}") == costly


def test_a_layer_in_an_attribute_is_followed() -> None:
    text = """\
import losses
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = losses.Loss(checked=True)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.loss(x, y)
"""
    found = findings_in({"main.py": text}, installed={"losses.py": LOSS})
    assert [(one.code, one.at.line) for one in found] == [("XLA131", 11)]


METER = """\
class Meter:
    def __init__(self):
        self.best = None

    def update(self, x):
        if self.best is None or x > self.best:
            self.best = x
"""


def test_what_a_method_leaves_in_its_object_the_next_call_finds() -> None:
    assert costs({"meters.py": METER}, "meter.update(loss)", "meter = meters.Meter()")


def test_a_boundary_in_a_library_is_one() -> None:
    text = """\
import stepping
import torch_xla


def train(model, loader, optimizer):
    for x in loader.to(torch_xla.device()):
        model(x).sum().backward()
        {line}
"""
    package = {
        "stepping.py": "import torch_xla\ndef finish(x, optimizer):\n    optimizer.step()\n    torch_xla.sync()\n"
    }
    codes = [
        [one.code for one in findings_in({"main.py": text.format(line=line)}, installed=package)]
        for line in ("stepping.finish(x, optimizer)", "optimizer.step()")
    ]
    assert codes == [[], ["XLA402"]]


@pytest.mark.parametrize(
    "text",
    [
        "def op(x:\n",
        "\0",
        "def op(x):\n    return op(x)\n",
        "from broken import op\n",
        "op = 3\n",
        "class op(op): pass\n",
    ],
)
def test_a_library_that_cannot_be_read_tells_nothing(text: str) -> None:
    assert not costs({"broken.py": text}, "broken.op(out)")


def test_nothing_is_followed_into_torch() -> None:
    assert not costs({"torch/__init__.py": "def relu(x):\n    return x.item()\n"}, "torch.relu(out)")
