"""What weighs less (tests, kept copies, code for GPUs), what a run without torch_xla holds back, and the summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Xlalint

READS = """\
import torch


def check(loader, model, optimizer):
    for batch in loader:
        loss = model(batch).sum()
        loss.backward()
        optimizer.step()
        print(loss.item())
"""
HABITS = READS.replace("loader, model, optimizer):\n", "loader, model, optimizer):\n    model.cuda()\n")


def report(xlalint: Xlalint, *arguments: str) -> Any:
    return json.loads(xlalint("--output-format", "json", "--no-cache", *arguments).out)


def levels(xlalint: Xlalint, *arguments: str) -> set[str]:
    return {one["severity"] for one in report(xlalint, *arguments)["findings"]}


@pytest.mark.parametrize(
    ("path", "level"),
    [
        ("test_model.py", "note"),
        ("model_test.py", "note"),
        ("conftest.py", "note"),
        ("tests/helpers.py", "note"),
        ("pkg/test/deep/helpers.py", "note"),
        ("testing.py", "warning"),
        ("latest.py", "warning"),
        ("contest.py", "warning"),
        ("attest/model.py", "warning"),
    ],
)
def test_a_test_is_known_by_its_name_or_folder(xlalint: Xlalint, path: str, level: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(READS)
    assert levels(xlalint, ".") == {level}
    assert levels(xlalint, path) == {level}
    assert levels(xlalint, str(Path(path).absolute())) == {level}


@pytest.mark.parametrize(
    ("path", "level"),
    [
        ("backup/train.py", "note"),
        ("log/part_seg/model.py", "note"),
        ("pkg/old/train.py", "note"),
        ("glow_old.py", "note"),
        ("logger/train.py", "warning"),
        ("threshold.py", "warning"),
    ],
)
def test_a_copy_that_is_kept_weighs_less(xlalint: Xlalint, path: str, level: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(READS)
    assert levels(xlalint, ".") == {level}
    Path("xlalint.toml").write_text('copies = "same"\n')
    assert levels(xlalint, ".") == {"warning"}


def test_what_becomes_of_tests_is_a_setting(xlalint: Xlalint) -> None:
    Path("test_model.py").write_text(READS)
    assert xlalint(".").code == 0
    Path("xlalint.toml").write_text('tests = "same"\n')
    assert levels(xlalint, ".") == {"warning"}
    assert xlalint(".").code == 1
    Path("xlalint.toml").write_text('tests = "skip"\n')
    assert not report(xlalint, ".")["findings"]
    assert 'tests = "skip"\n' in xlalint("--show-settings").out
    Path("xlalint.toml").write_text('tests = "quiet"\n')
    refused = xlalint(".")
    assert refused.code == 2
    assert "`tests`" in refused.err


@pytest.mark.parametrize(
    ("imports", "level"),
    [
        ("import triton\nimport triton.language as tl\n", "note"),
        ("from flash_attn import flash_attn_func\n", "note"),
        ("from xformers.ops import fmha\n", "note"),
        ("try:\n    import triton\nexcept ImportError:\n    triton = None\n", "warning"),
        ("def fast(x):\n    from flash_attn import flash_attn_func\n    return flash_attn_func(x)\n", "warning"),
        ("import triton\nimport torch_xla\n", "warning"),
    ],
)
def test_a_file_that_needs_a_gpu_weighs_less(xlalint: Xlalint, imports: str, level: str) -> None:
    Path("model.py").write_text(imports + READS)
    found = report(xlalint, "--select", "XLA1", ".")["findings"]
    assert {one["severity"] for one in found} == {level}
    told = any("only where there is a GPU" in why["text"] for one in found for why in one["why"])
    assert told == (level == "note")


def test_what_becomes_of_files_for_gpus_is_a_setting(xlalint: Xlalint) -> None:
    Path("model.py").write_text("import triton\n" + READS)
    Path("xlalint.toml").write_text('cuda-files = "same"\n')
    assert levels(xlalint, ".") == {"warning"}
    Path("xlalint.toml").write_text('cuda-files = "skip"\n')
    assert not report(xlalint, ".")["findings"]


def test_a_run_without_torch_xla_tells_what_was_held_back(xlalint: Xlalint) -> None:
    Path("train.py").write_text(HABITS)
    without, assumed = report(xlalint, "."), report(xlalint, "--assume-xla", ".")
    held = without["summary"]["held_back"]
    assert held["findings"] == len(assumed["findings"]) - len(without["findings"]) > 0
    assert {"XLA402", "XLA506"} <= set(held["rules"])
    line = f"held back; --assume-xla gives {held['findings']} more findings.\n"
    assert "Nothing here imports torch_xla: XLA" in xlalint(".").out
    assert line in xlalint(".").out
    assert "held back" not in xlalint("--quiet", ".").out
    assert "held_back" not in assumed["summary"]


def test_what_a_comment_silences_is_not_counted(xlalint: Xlalint) -> None:
    Path("train.py").write_text(HABITS)
    before = report(xlalint, ".")["summary"]["held_back"]["findings"]
    Path("train.py").write_text(HABITS.replace("model.cuda()", "model.cuda()  # xlalint: ignore[XLA506]"))
    assert report(xlalint, ".")["summary"]["held_back"]["findings"] == before - 1


@pytest.mark.parametrize("name", ["import torch_xla\n", "import torch_xla.core.xla_model as xm\n"])
def test_where_a_file_imports_torch_xla_nothing_is_said(xlalint: Xlalint, name: str) -> None:
    Path("train.py").write_text(HABITS)
    Path("main.py").write_text(f"import torch\n{name}print(torch.ones(3))\n")
    assert "held_back" not in report(xlalint, ".")["summary"]
    Path("xlalint.toml").write_text("assume-xla = false\n")
    Path("main.py").unlink()
    assert "held_back" not in report(xlalint, ".")["summary"]


MANY = """\
import torch
import torch_xla


def step(x: torch.Tensor, rows):
    mask = x > 0
    for _ in range(7):
        rows.append(x[mask].sum() + x[~mask].sum())
    return x.median(dim=1).values


def train(loader, optimizer):
    for x in loader:
        {reads}
        step(x, []).sum().backward()
        optimizer.step()
        torch_xla.sync()
"""


def many(reads: int) -> str:
    return MANY.format(reads="\n        ".join(f"a{n} += x[{n}].sum().item()" for n in range(reads)))


def test_a_long_list_ends_with_the_five_roots_that_cost_most(xlalint: Xlalint) -> None:
    Path("train.py").write_text(many(12))
    lines = xlalint(".").out.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("What costs most, of "))
    assert lines[head + 1] == ("  1. train.py:8 XLA302 boolean-index, 2 places by `mask`: 14 compiles in every step")
    assert lines[head + 2].startswith("  2. train.py:9 XLA601 unlowered-op: 1 fallback in every step")
    assert len(lines) == head + 6
    assert "What costs most" not in xlalint("--quiet", ".").out


def test_a_short_list_needs_no_summary_of_roots(xlalint: Xlalint) -> None:
    Path("train.py").write_text(many(1))
    assert "What costs most" not in xlalint(".").out
    summary = report(xlalint, ".")["summary"]
    assert summary["roots"] < summary["findings"]
    first = summary["most_costly"][0]
    assert (first["line"], first["places"], first["metric"], first["amount"]) == (8, 2, "compiles", 14)
    assert first["root"] in {one["root"]["id"] for one in report(xlalint, ".")["findings"]}


def test_notes_come_after_all_else(xlalint: Xlalint) -> None:
    Path("tests").mkdir()
    Path("tests/train.py").write_text(many(1))
    Path("train.py").write_text(READS)
    ranked = report(xlalint, "--assume-xla", ".")["summary"]["most_costly"]
    assert ranked[0]["path"] == "train.py"
    assert {one["path"] for one in ranked[2:]} == {"tests/train.py"}


POSSIBLE = """\
import torch
import torch_xla


def train(loader, optimizer, rows):
    for x, y in loader:
        hot = torch.nn.functional.one_hot(y.to("xla"), num_classes=rows)
        loss = (x.to("xla") * hot).sum()
        loss.backward()
        optimizer.step()
        print(loss.item())
        torch_xla.sync()
"""


def test_what_is_only_possible_comes_after_what_is_likely(xlalint: Xlalint) -> None:
    Path("train.py").write_text(POSSIBLE)
    told = report(xlalint, "--min-certainty", "possible", ".")
    certainty = {one["line"]: one["certainty"] for one in told["findings"]}
    ranked = [(one["metric"], certainty[one["line"]]) for one in told["summary"]["most_costly"]]
    assert ranked[-1] == ("compiles", "possible")
    assert len(ranked) > 1
    assert "possible" not in [each for _, each in ranked[:-1]]
