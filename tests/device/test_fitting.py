"""Programs cut out of code of which little is known: stand-ins are looked for until they fit."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.validation import Settings
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Basis, Evidence, Mode, Verdict
from xlalint.linting import Options, lint
from xlalint.validating import validate

HEAD = "import torch\nfrom torch import nn\n\n\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PJRT_DEVICE", "CPU")
    return tmp_path


def evidence_of(code: str, modes: tuple[Mode, ...] = (Mode.LAZY,), **files: str) -> Evidence:
    """That of the first finding of ``code``; ``files`` by module name."""
    for name, text in files.items():
        Path(f"{name}.py").write_text(text, encoding="utf-8")
    report = lint([Path(f"{name}.py") for name in files], Configurations(), Options(jobs=1))
    found = validate(report, Configurations(), Settings(steps=3, modes=modes), only=frozenset({code}))
    evidence = found.diagnostics[0].evidence
    assert evidence is not None
    return evidence


@pytest.mark.usefixtures("folder")
def test_the_rank_of_a_tensor_is_found_by_trying() -> None:
    """Nothing but the failing `baddbmm` tells that there are three dimensions."""
    text = HEAD + (
        "class M(nn.Module):\n    def forward(self, x: torch.Tensor, y: torch.Tensor):\n"
        "        z = torch.baddbmm(x, y, y).relu()\n        return z[z > 0]\n"
    )
    found = evidence_of("XLA302", program=text)
    assert (found.verdict, found.basis) == (Verdict.CONFIRMED, Basis.SLICE)


@pytest.mark.usefixtures("folder")
def test_the_size_of_a_dimension_is_read_from_what_went_wrong() -> None:
    text = HEAD + (
        "class M(nn.Module):\n    def forward(self, boxes: torch.Tensor):\n"
        "        parts = boxes.sigmoid().split(1, dim=-1)\n        x, y, w, h = parts\n"
        "        area = (w * h).squeeze(-1)\n        return area[area > 0]\n"
    )
    assert evidence_of("XLA302", program=text).verdict is Verdict.CONFIRMED


@pytest.mark.usefixtures("folder")
def test_a_text_is_one_that_it_is_compared_with() -> None:
    text = HEAD + (
        "class M(nn.Module):\n    def __init__(self, mode: str):\n        super().__init__()\n"
        "        self.mode = mode\n\n"
        "    def forward(self, x: torch.Tensor):\n"
        "        if self.mode == 'soft':\n            kept = x > 0.5\n"
        "        elif self.mode == 'hard':\n            kept = x > 0.9\n"
        "        return x[kept]\n"
    )
    found = evidence_of("XLA302", program=text)
    assert found.verdict is Verdict.CONFIRMED
    assert any("'soft'" in each for each in found.assumptions)


@pytest.mark.usefixtures("folder")
def test_a_function_of_another_file_of_the_run_is_taken() -> None:
    found = evidence_of(
        "XLA302",
        masks="import torch\n\n\ndef positive(x: torch.Tensor) -> torch.Tensor:\n    return x > 0\n",
        program=HEAD
        + "from masks import positive\n\n\nclass M(nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        + "        kept = positive(x)\n        return x[kept]\n",
    )
    assert found.verdict is Verdict.CONFIRMED
    assert "def positive(x)" in found.program


@pytest.mark.usefixtures("folder")
def test_what_is_only_another_name_for_a_stand_in_is_not_confirmed() -> None:
    text = HEAD + (
        "class M(nn.Module):\n    def forward(self, x: torch.Tensor):\n        same = x\n        return same.item()\n"
    )
    found = evidence_of("XLA101", program=text)
    assert (found.verdict, found.basis) == (Verdict.NOT_RUN, Basis.ASSUMED)


@pytest.mark.usefixtures("folder")
def test_what_never_fits_says_so_and_rests_on_nothing() -> None:
    text = HEAD + (
        "class M(nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        "        y = x.relu().view(7, 11, 13)\n        return y[y > 0]\n"
    )
    found = evidence_of("XLA302", program=text)
    assert (found.verdict, found.basis) == (Verdict.NOT_RUN, None)
    assert found.reason.startswith("the stand-ins do not fit: RuntimeError: ")


@pytest.mark.usefixtures("folder")
def test_masks_of_one_statement_are_compared_on_the_same_values() -> None:
    """The lengths of both sides depend on the data, so that of one can't be kept from the first step."""
    text = HEAD + (
        "class M(nn.Module):\n    def forward(self, x: torch.Tensor, y: torch.Tensor):\n"
        "        kept = x.relu() > 0.5\n        return x[kept] * y[kept]\n"
    )
    found = evidence_of("XLA302", program=text)
    assert found.verdict is Verdict.CONFIRMED
    assert "values are the same in each step" in found.assumptions


@pytest.mark.usefixtures("folder")
def test_in_dynamo_the_model_of_a_loop_is_compiled() -> None:
    text = (
        "import torch\nimport torch_xla\n\n\ndef train(model, loader, device):\n    for x in loader:\n"
        "        loss = model(x.to(device)).mean()\n        loss.backward()\n        print(loss.item())\n"
        "        torch_xla.sync()\n"
    )
    found = evidence_of("XLA101", (Mode.LAZY, Mode.DYNAMO), program=text)
    lazy, dynamo = found.modes[Mode.LAZY], found.modes[Mode.DYNAMO]
    assert (lazy.verdict, dynamo.verdict) == (Verdict.CONFIRMED, Verdict.CONFIRMED)
    assert dynamo.before["executions"] > lazy.before["executions"]


@pytest.mark.usefixtures("folder")
def test_a_broken_graph_is_told_with_its_reason() -> None:
    text = HEAD + (
        "class M(nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        "        y = x.relu().sum()\n        if y > 0:\n            return x\n        return -x\n"
    )
    found = evidence_of("XLA201", (Mode.DYNAMO,), program=text)
    assert "graph break: " in found.modes[Mode.DYNAMO].reason


HEADED = HEAD + (
    "class M(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
    "        width = config.hidden_size\n"
    "        self.head = nn.Sequential(nn.Conv2d(width, width // 2, 1), nn.Upsample(scale_factor=2, mode='{mode}'))\n\n"
    "    def forward(self, x: torch.Tensor):\n        return self.head(x.relu())\n"
)


@pytest.mark.usefixtures("folder")
def test_a_module_whose_class_decides_is_built_with_small_sizes() -> None:
    found = evidence_of("XLA601", program=HEADED.format(mode="bicubic"))
    assert (found.verdict, found.basis) == (Verdict.CONFIRMED, Basis.SLICE)
    assert "nn.Conv2d(config.hidden_size, config.hidden_size // 2, 1)" in found.program


@pytest.mark.usefixtures("folder")
def test_a_module_that_can_not_be_built_is_not_run() -> None:
    text = HEADED.format(mode="bicubic").replace("config.hidden_size", "lookup(config)")
    found = evidence_of(
        "XLA601", program=text.replace("from torch import nn", "from torch import nn\nfrom a import lookup")
    )
    assert (found.verdict, found.basis) == (Verdict.NOT_RUN, None)
    assert "could not be built with small sizes" in found.reason
