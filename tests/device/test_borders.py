"""Scripts as they lie in repositories: their files are not there, their packages are of other years. The read of their
loss is confirmed all the same, and each says what had to be assumed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("torch_xla")

from proved_scripts import proved_files

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAMS = Path(__file__).parent / "programs" / "borders"


class Case(NamedTuple):
    program: str
    assumed: tuple[str, ...]
    """Patterns, each of an assumption that there is."""
    not_assumed: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    script: str = "train.py"


HUB = "`google/electra-small-discriminator` is not downloaded: a "
CASES = (
    Case("compiled_loops", ()),
    Case(
        "files_of_tokens",
        (
            r"`data/tokens/\*\.bin` names 64 made-up files, as nothing is there",
            r"`0\.bin` holds made-up numbers, as it is not there",
            "`verbose` of a scheduler says nothing, as it is gone",
        ),
    ),
    Case(
        "image_sides", ("images that are made up have 64 x 64 pixels", ".*binary cross entropy"), (), ("torchvision",)
    ),
    Case(
        "models_of_timm",
        (
            r"`data` is \.",
            "`small_net` is made, as timm knows no `Small_Net`",
            r"`\./train` has 64 made-up images, as there are none",
        ),
        ("`timm.data`",),
        ("timm",),
    ),
    Case(
        "objects_in_images",
        ("`instances_train2017.json` names 64 images with 2 objects each, as it is not there",),
        (),
        ("torchvision", "pycocotools"),
    ),
    Case(
        "pairs_of_images",
        (
            r"`os\.path\.isdir\(ROOT\)` is true: the program ends otherwise",
            "`/` of whole numbers gives a whole number, as in Python 2",
            "images that are made up have 512 x 256 pixels, which the program takes",
        ),
        (),
        ("torchvision",),
    ),
    Case(
        "scripts_of_packages",
        (r"`torchvision\.transforms\.functional` has no `_get_image_size_of_former_years` any more",),
        (),
        ("torchvision",),
        "trainer/train.py",
    ),
    Case(
        "sounds_of_files",
        ("sounds that are not there are made up: 2 s of 16000 samples each", "`Conv1d` takes images"),
        (".*made-up items",),
        ("scipy",),
    ),
    Case(
        "statements_that_fail",
        (
            r"`data_dir` is Path\('\.'\), where the program's default is None",
            "`RANK` is 0, as whoever launches it says",
            r"`listed = urllib\.request\.urlopen\(.*` \(train\.py:43\) is left out, as it fails: URLError",
            r"`data\.paths = .*` \(train\.py:44\) is left out, as it fails: Unavailable",
            r"`assert missing == .*` \(train\.py:48\) is left out, as it fails: AssertionError",
            r"`with open\(args\.data_dir / 'classes\.json'\) as file:` \(train\.py:49\) is left out",
            r"`print\(data\.report\.of\(images\)\)` \(train\.py:58\) is left out, as it fails: AttributeError",
        ),
        ("`SLURM",),
    ),
    Case(
        "texts_of_a_table",
        (
            "`reviews.csv` has made-up rows, as it is not there",
            f"{HUB}`ElectraForSequenceClassification` as it is made stands for it",
            f"{HUB}`PreTrainedTokenizerFast` as it is made stands for it",
        ),
        (".*item",),
        ("transformers", "pandas"),
    ),
    Case(
        "values_of_files",
        (
            r"what `graph\.pkl` holds is `\(torch\.",
            r"`x` of `train\.npz` is `torch\.rand\(",
            r"`torch\.__version__ == '1\.2\.0'` is true: the program ends otherwise",
            "`--model` is forecast",
            r"`--rate` is 0\.01",
        ),
        (r".*cache\.npy",),
    ),
    Case(
        "weights_of_a_former_run",
        (
            r"`weights` is '', where the program's default is 'former\.pt'",
            r"`cfg` is '\./cfg/small\.json', where the program's default is ''",
            "`git` is taken for done: it fails here",
        ),
    ),
)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.program)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    for package in found.packages:
        pytest.importorskip(package)
    return found


@pytest.fixture(scope="module")
def evidence(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    program = PROGRAMS / case.program
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(program.rglob("*")) if path.is_file()}
    files = {path.relative_to(program).as_posix(): text for path, text in texts.items()}
    return proved_files(tmp_path_factory.mktemp(case.program), files)[case.script, "read"]


def test_the_read_of_its_loss_is_confirmed_by_the_script(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT), evidence.reason


def test_what_is_made_up_or_answered_as_then_is_an_assumption(case: Case, evidence: Evidence) -> None:
    assumed = evidence.assumptions
    assert [each for each in case.assumed if not any(re.match(each, one) for one in assumed)] == []
    assert [one for one in assumed for each in case.not_assumed if re.match(each, one)] == []
