"""Programs cut out of code of which little is known: stand-ins are looked for until they fit."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.validation.case import Settings
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Basis, Evidence, Mode, Verdict
from xlalint.linting import Options, lint
from xlalint.validating import validate

HEAD = "import torch\nimport torch_xla\nfrom torch import nn\n\n\n"


def module(forward: str, init: str = "pass", parameters: str = "x: torch.Tensor", placed: bool = True) -> str:
    """The text of a file with a module; ``forward`` and ``init`` are the statements of its two methods. Where it is not
    ``placed``, nobody says where its parameters lie."""
    names = [each.partition(":")[0] for each in parameters.split(", ")] if placed else []
    forward = "\n".join([*(f"{name} = {name}.to(torch_xla.device())" for name in names), forward])
    return (
        f"{HEAD}class M(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        f"{indent(init, ' ' * 8)}\n\n    def forward(self, {parameters}):\n{indent(forward, ' ' * 8)}\n"
    )


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
    forward = "z = torch.baddbmm(x, y, y).relu()\nreturn z[z > 0]"
    found = evidence_of("XLA302", program=module(forward, parameters="x: torch.Tensor, y: torch.Tensor"))
    assert (found.verdict, found.basis) == (Verdict.CONFIRMED, Basis.SLICE)


@pytest.mark.usefixtures("folder")
def test_the_size_of_a_dimension_is_read_from_what_went_wrong() -> None:
    forward = (
        "parts = x.sigmoid().split(1, dim=-1)\nleft, top, w, h = parts\n"
        "area = (w * h).squeeze(-1)\nreturn area[area > 0]"
    )
    assert evidence_of("XLA302", program=module(forward)).verdict is Verdict.CONFIRMED


@pytest.mark.usefixtures("folder")
def test_what_a_loop_goes_over_leads_to_what_does_not_fit() -> None:
    """The failing line names only what the loop binds."""
    forward = (
        "for row, keep in zip(x.sigmoid(), x.relu() > 0):\n    left, top, w, h = row\n    kept = x.relu()[x > w]\n"
        "return kept"
    )
    assert evidence_of("XLA302", program=module(forward)).verdict is Verdict.CONFIRMED


@pytest.mark.usefixtures("folder")
def test_a_text_is_one_that_it_is_compared_with() -> None:
    forward = (
        "if self.mode == 'soft':\n    kept = x > 0.5\nelif self.mode == 'hard':\n    kept = x > 0.9\nreturn x[kept]"
    )
    found = evidence_of("XLA302", program=module(forward, "self.mode: str = config.mode"))
    assert found.verdict is Verdict.CONFIRMED
    assert any("'soft'" in each for each in found.assumptions)


@pytest.mark.usefixtures("folder")
def test_what_a_method_of_the_class_reads_of_a_result_is_there() -> None:
    text = module("y = self.mixed(x) * self.net.factor\nreturn y[y > 0]", "self.net = config.net").rstrip() + (
        '\n\n    def mixed(self, x):\n        return x.relu() + self.net(x)["hidden"]\n'
    )
    assert evidence_of("XLA302", program=text).verdict is Verdict.CONFIRMED


@pytest.mark.usefixtures("folder")
def test_a_function_of_another_file_of_the_run_is_taken() -> None:
    text = module("kept = positive(x)\nreturn x[kept]").replace("nn\n", "nn\nfrom masks import positive\n", 1)
    masks = "import torch\n\n\ndef positive(x: torch.Tensor) -> torch.Tensor:\n    return x > 0\n"
    found = evidence_of("XLA302", masks=masks, program=text)
    assert found.verdict is Verdict.CONFIRMED
    assert "def positive(x)" in found.program


@pytest.mark.usefixtures("folder")
def test_what_is_only_another_name_for_a_stand_in_is_not_confirmed() -> None:
    found = evidence_of("XLA101", program=module("same = x\nreturn same.item()", placed=False))
    assert (found.verdict, found.basis) == (Verdict.NOT_RUN, Basis.ASSUMED)


@pytest.mark.usefixtures("folder")
def test_where_a_parameter_lies_is_assumed() -> None:
    found = evidence_of("XLA302", program=module("y = x.relu()\nreturn y[y > 0]", placed=False))
    assert (found.verdict, found.basis) == (Verdict.NOT_RUN, Basis.ASSUMED)
    assert found.reason.startswith("assumed: nothing in sight places `x` on the device; with it ")


@pytest.mark.usefixtures("folder")
def test_what_never_fits_says_so_and_rests_on_nothing() -> None:
    found = evidence_of("XLA302", program=module("y = x.relu().view(7, 11, 13)\nreturn y[y > 0]", placed=False))
    assert (found.verdict, found.basis) == (Verdict.NOT_RUN, None)
    assert found.reason.startswith("the stand-ins do not fit: RuntimeError: ")


@pytest.mark.usefixtures("folder")
def test_masks_of_one_statement_are_compared_on_the_same_values() -> None:
    """The lengths of both sides depend on the data, so that of one can't be kept from the first step."""
    forward = "kept = x.relu() > 0.5\nreturn x[kept] * y[kept]"
    found = evidence_of("XLA302", program=module(forward, parameters="x: torch.Tensor, y: torch.Tensor"))
    assert found.verdict is Verdict.CONFIRMED
    assert "values are the same in each step" in found.assumptions


@pytest.mark.usefixtures("folder")
def test_in_dynamo_the_model_of_a_loop_is_compiled() -> None:
    text = (
        "import torch\nimport torch_xla\n\n\ndef train(model, loader):\n    device = torch_xla.device()\n"
        "    for x in loader:\n"
        "        loss = model(x.to(device)).mean()\n        loss.backward()\n        print(loss.item())\n"
        "        torch_xla.sync()\n"
    )
    found = evidence_of("XLA101", (Mode.LAZY, Mode.DYNAMO), program=text)
    lazy, dynamo = found.modes[Mode.LAZY], found.modes[Mode.DYNAMO]
    assert (lazy.verdict, dynamo.verdict) == (Verdict.CONFIRMED, Verdict.CONFIRMED)
    assert dynamo.before["executions"] > lazy.before["executions"]


@pytest.mark.usefixtures("folder")
def test_a_broken_graph_is_told_with_its_reason() -> None:
    forward = "y = x.relu().sum()\nif y > 0:\n    return x\nreturn -x"
    found = evidence_of("XLA201", (Mode.DYNAMO,), program=module(forward))
    assert "graph break: " in found.modes[Mode.DYNAMO].reason


HEADED = (
    "width = config.hidden_size\n"
    "self.head = nn.Sequential(nn.Conv2d(width, width // 2, 1), nn.Upsample(scale_factor=2, mode='bicubic'))"
)


@pytest.mark.usefixtures("folder")
def test_a_module_whose_class_decides_is_built_with_small_sizes() -> None:
    found = evidence_of("XLA601", program=module("return self.head(x.relu())", HEADED))
    assert (found.verdict, found.basis) == (Verdict.CONFIRMED, Basis.SLICE)
    assert "nn.Conv2d(config.hidden_size, config.hidden_size // 2, 1)" in found.program


@pytest.mark.usefixtures("folder")
def test_a_module_that_can_not_be_built_is_not_run() -> None:
    text = module("return self.head(x.relu())", HEADED.replace("config.hidden_size", "lookup(config)"))
    found = evidence_of("XLA601", program=text.replace("nn\n", "nn\nfrom elsewhere import lookup\n", 1))
    assert (found.verdict, found.basis) == (Verdict.NOT_RUN, None)
    assert "could not be built with small sizes" in found.reason


TRAINING = """\
import torch
import torch_xla
from elsewhere import make_model


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(8, 8)

    def forward(self, images, scale=None):
        return self.head(images)


def train(loader, optimizer):
    model = {model}
    for batch in loader:
        loss = model(**batch).mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        print(loss.item())
"""


@pytest.mark.usefixtures("folder")
def test_what_is_handed_on_as_keywords_is_a_mapping_with_the_keys_that_are_asked_for() -> None:
    found = evidence_of("XLA102", program=TRAINING.format(model="Net().to(torch_xla.device())"))
    assert (found.verdict, found.basis) == (Verdict.CONFIRMED, Basis.SLICE)
    assert "stand_in.Fields({'images': " in found.program


@pytest.mark.usefixtures("folder")
def test_what_comes_of_a_part_that_can_not_be_had_is_not_refuted() -> None:
    found = evidence_of("XLA102", program=TRAINING.format(model="make_model()"))
    assert found.verdict is Verdict.NOT_RUN
    assert found.reason.startswith("`make_model()().mean().item()` can't be had")


@pytest.mark.usefixtures("folder")
def test_a_reason_holds_no_address() -> None:
    found = evidence_of("XLA302", program=module("limit = {}[object()]\ny = x.relu()\nreturn y[y > limit]"))
    assert found.reason == "the stand-ins do not fit: KeyError: <object object>"
