"""A run over a part of a project finds there what a run over all of it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Outcome, Xlalint

UTILS = "import torch\n\n\ndef number(value):\n    return value.item()\n"
HELPER = "def number(value):\n    return value.item()\n"
TRAIN = """\
import torch

from {module} import number


def train(loader, model, optimizer):
    for x in loader:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        number(loss)
"""


def found(outcome: Outcome) -> list[tuple[str, int, str]]:
    return [(one["path"], one["line"], one["code"]) for one in json.loads(outcome.out)["findings"]]


def asked(xlalint: Xlalint, *arguments: str) -> list[tuple[str, int, str]]:
    outcome = xlalint(*arguments, "--output-format", "json", "--select", "XLA101")
    assert not outcome.err
    return found(outcome)


@pytest.fixture
def project(xlalint: Xlalint) -> Xlalint:
    Path("pkg").mkdir()
    Path("pkg/__init__.py").touch()
    Path("pkg/utils.py").write_text(UTILS)
    Path("train.py").write_text(TRAIN.format(module="pkg.utils"))
    Path("pyproject.toml").touch()
    return xlalint


READ = [("pkg/utils.py", 5, "XLA101")]


def test_a_file_that_is_named_alone_has_the_findings_of_the_whole_run(project: Xlalint) -> None:
    assert asked(project, ".") == READ
    assert asked(project, "pkg/utils.py") == READ
    assert asked(project, "pkg") == READ
    assert asked(project, "train.py") == []
    assert asked(project, "pkg/utils.py", "--jobs", "2") == READ


def test_the_project_may_be_left_out_or_named(project: Xlalint) -> None:
    why = "this public function has no caller in the linted files"
    alone = project("pkg/utils.py", "--no-project", "--select", "XLA101", "--min-certainty", "possible")
    assert why in alone.out
    assert why not in project("pkg/utils.py", "--select", "XLA101").out
    Path("pyproject.toml").unlink()
    assert why not in project("pkg/utils.py", "--project", ".", "--select", "XLA101").out
    outcome = project("pkg/utils.py", "--project", "nowhere")
    assert outcome.code == 2
    assert "nowhere" in outcome.err


@pytest.mark.parametrize("mark", ["xlalint.toml", "pyproject.toml", ".git", ".hg"])
def test_a_project_is_found_by_what_stands_at_its_top(project: Xlalint, mark: str) -> None:
    Path("pyproject.toml").unlink()
    folder = Path(mark)
    folder.mkdir() if mark.startswith(".") else folder.touch()
    assert "the step loop" in project("pkg/utils.py", "--select", "XLA101").out


def test_the_nearest_configuration_says_where_a_project_begins(project: Xlalint) -> None:
    Path("pkg/xlalint.toml").touch()
    assert "the step loop" not in project("pkg/utils.py", "--min-certainty", "possible").out


def test_standard_input_knows_its_project(project: Xlalint) -> None:
    outcome = project(
        "-", "--stdin-filename", "pkg/utils.py", "--output-format", "json", stdin=UTILS.replace("value", "x").encode()
    )
    assert found(outcome) == READ


def test_explain_tells_what_check_finds(project: Xlalint) -> None:
    told = project("explain", "pkg/utils.py:5").out
    assert "train.py:11" in told
    assert "XLA101" in told
    assert "train.py:11" not in project("explain", "pkg/utils.py:5", "--no-project").out


def test_a_project_that_is_too_large_is_told(project: Xlalint) -> None:
    Path("xlalint.toml").write_text("project-max-files = 2\n")
    outcome = project("pkg/utils.py", "--output-format", "json")
    told = (
        "the project . has more than 2 Python files (`project-max-files`): only what is named is read, and not what "
        "leads to it"
    )
    assert outcome.errors == [f"xlalint: warning: {told}"]
    assert json.loads(outcome.out)["remarks"] == [told]
    Path("xlalint.toml").write_text("project-max-files = 3\n")
    assert not project("pkg/utils.py").err


def test_a_broken_configuration_beside_it_stops_no_part(project: Xlalint) -> None:
    Path("other").mkdir()
    Path("other/xlalint.toml").write_text("jobs = many\n")
    outcome = project("pkg/utils.py")
    (told,) = outcome.errors
    assert told.startswith("xlalint: warning: the project . is not read, only what is named: other/xlalint.toml: ")
    assert outcome.code in (0, 1)
    assert project(".").code == 2


def test_a_broken_file_of_the_project_is_told_to_who_names_it(project: Xlalint) -> None:
    Path("broken.py").write_text("import torch\nfrom pkg.utils import number\nx = number(\n")
    assert asked(project, "pkg/utils.py") == READ
    assert "broken.py: syntax error" in project(".").err


@pytest.mark.usefixtures("unlucky")
def test_a_failure_in_what_leads_to_the_named_file_is_told(project: Xlalint) -> None:
    broken = "\n\ndef unlucky(x: torch.Tensor):\n    return number(x)\n"
    Path("train.py").write_text(TRAIN.format(module="pkg.utils") + broken)
    outcome = project("pkg/utils.py", "--select", "XLA101")
    (told,) = outcome.errors
    assert told.startswith("xlalint: warning: train.py:14: in unlucky: internal error: KeyError: ")
    assert outcome.code == 1


@pytest.mark.parametrize("named", [["u"], ["u/train.py", "u/helpers.py"], ["u/helpers.py", "u/train.py"]])
def test_a_file_without_torch_that_is_handed_tensors_is_linted(xlalint: Xlalint, named: list[str]) -> None:
    Path("u").mkdir()
    Path("u/helpers.py").write_text(HELPER)
    Path("u/train.py").write_text(TRAIN.format(module="helpers"))
    for jobs in ("1", "2"):
        assert asked(xlalint, *named, "--no-project", "--jobs", jobs) == [("u/helpers.py", 2, "XLA101")]


@pytest.mark.parametrize("named", [["u"], ["u/train.py", "u/engine.py", "u/parts.py"]])
def test_a_script_without_torch_that_a_module_gives_tensors_is_linted(xlalint: Xlalint, named: list[str]) -> None:
    Path("u").mkdir()
    Path("u/engine.py").write_text('import torch\n\n\ndef loss_of(x):\n    return torch.mean(x.to("xla"))\n')
    Path("u/parts.py").write_text("from engine import loss_of\n")
    loop = "for x in loader:\n    loss = loss_of(x)\n    loss.backward()\n    print(loss.item())\n"
    Path("u/train.py").write_text(f"from parts import loss_of\n\n{loop}")
    assert asked(xlalint, *named, "--no-project") == [("u/train.py", 6, "XLA101")]


@pytest.mark.parametrize("named", [["u"], ["u/table.py", "u/train.py"]])
def test_a_file_that_has_nothing_to_do_with_torch_is_passed_over(xlalint: Xlalint, named: list[str]) -> None:
    Path("u").mkdir()
    Path("u/table.py").write_text("def first(loss):\n    for row in loss:\n        print(row.item())\n")
    Path("u/train.py").write_text("import torch\n")
    outcome = xlalint(*named, "--no-project", "--min-certainty", "possible")
    assert outcome.out == "All clear: 2 files checked.\n"


def test_a_script_without_torch_tells_how_often_it_calls(xlalint: Xlalint) -> None:
    build = (
        "import torch\n\n\ndef build(rank, x: torch.Tensor):\n    torch.cuda.set_device(rank)\n    print(x.item())\n"
    )
    Path("net.py").write_text(build)
    Path("main.py").write_text('from net import build\n\nif __name__ == "__main__":\n    build(0, None)\n')
    outcome = xlalint(".", "--assume-xla", "--output-format", "json")
    assert [(one["code"], one["heat"]) for one in json.loads(outcome.out)["findings"]] == [("XLA506", "once")]


def test_of_a_part_of_a_project_nothing_is_taken_for_unused(xlalint: Xlalint) -> None:
    Path("pkg").mkdir()
    Path("pkg/loss.py").write_text("import torch\n\n\nclass Loss(torch.nn.Module):\n    def forward(self, x):\n")
    with Path("pkg/loss.py").open("a") as file:
        file.write("        return x / x.sum().item()\n")
    Path("pkg/train.py").write_text("def run():\n    pass\n")
    main = "import torch\nfrom pkg.train import run\n{rest}\nif __name__ == '__main__':\n    run()\n"
    Path("main.py").write_text(main.format(rest=""))
    assert asked(xlalint, ".", "--assume-xla") == []
    Path("main.py").write_text(main.format(rest="from pkg.data import rows\n"))
    assert asked(xlalint, ".", "--assume-xla") == [("pkg/loss.py", 6, "XLA101")]
