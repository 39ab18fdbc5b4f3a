"""Whatever fails inside is told, costs no more than what it failed on, and shows in the exit code."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Xlalint

from xlalint import testing
from xlalint.facts.driver import partition
from xlalint.program import ir
from xlalint.sources.source import Source

STEP = """\
import torch


def {name}(loader, model):
    for x in loader:
        loss = model(x).sum()
        loss.backward()
        print(loss.item())
"""
PROCESSES = pytest.mark.parametrize("jobs", ["1", "2"])


def nested(name: str, depth: int, chain: int) -> str:
    """A function whose loops hand a value on from name to name: each name is another round of the fixpoint."""
    indent = "    " * (depth + 1)
    lines = [f"def {name}(x: torch.Tensor, n: int):", *(f"    v{number} = {number}" for number in range(chain))]
    lines += [f"{'    ' * (level + 1)}for i{level} in range(n):" for level in range(depth)]
    lines += [*(f"{indent}v{number - 1} = v{number}" for number in range(1, chain)), f"{indent}v{chain - 1} = x"]
    return "\n".join([*lines, "    return v0", "", "", ""])


@PROCESSES
@pytest.mark.usefixtures("unlucky")
def test_an_error_in_the_middle_of_the_analysis_is_told_and_the_rest_is_linted(xlalint: Xlalint, jobs: str) -> None:
    for name in ("a", "b"):
        Path(f"{name}.py").write_text(STEP.format(name="train") + "\n\n" + STEP.format(name="unlucky")[13:])
    outcome = xlalint(".", "--jobs", jobs, "--output-format", "json")
    assert outcome.code == 1
    document = json.loads(outcome.out)
    reason = "internal error: KeyError: 'in the\\nmiddle'"
    part = {"reason": reason, "internal": True, "line": 13, "function": "unlucky"}
    assert document["skipped"] == [{"path": path, **part} for path in ("a.py", "b.py")]
    assert {(one["path"], one["line"]) for one in document["findings"]} >= {("a.py", 8), ("b.py", 8)}
    assert outcome.errors == [f"xlalint: warning: {path}:13: in unlucky: {reason}" for path in ("a.py", "b.py")]
    assert xlalint(".", "--jobs", jobs, "--strict").code == 2


@PROCESSES
@pytest.mark.usefixtures("unlucky")
def test_a_failure_with_nothing_found_beside_it_is_not_all_clear(xlalint: Xlalint, jobs: str) -> None:
    Path("a.py").write_text("import torch\n\n\ndef unlucky(x):\n    return x\n")
    Path("b.py").write_text("import torch\n")
    outcome = xlalint(".", "--jobs", jobs)
    assert outcome.code == 2
    assert outcome.out == "Found nothing in what was linted: 2 files checked, 1 part of files not linted.\n"


@pytest.mark.usefixtures("unlucky")
def test_what_tests_of_rules_use_raises() -> None:
    text = STEP.format(name="unlucky")
    for ask in (testing.facts_of, testing.findings_of):
        with pytest.raises(ValueError, match="line 4, unlucky: internal error: KeyError"):
            ask(text)
    with pytest.raises(ValueError, match=r"a\.py: line 4, unlucky: internal error: KeyError"):
        testing.findings_in({"a.py": text})
    with pytest.raises(ValueError, match="line 4, unlucky: internal error: KeyError"):
        testing.revealed({"a.py": text})


def test_check_tells_of_what_is_nested_too_deeply_as_explain_does(xlalint: Xlalint) -> None:
    Path("deep.py").write_text(STEP.format(name="train") + "        z = x" + ".abs()" * 2_500 + "\n")
    outcome = xlalint("deep.py")
    assert outcome.code == 2
    # From 3.12 on, Python's own parser refuses it.
    where = "deep.py: " if "No files checked" in outcome.out else "deep.py:4: in train: "
    assert outcome.errors == [f"xlalint: warning: {where}nested too deeply"]
    assert "All clear" not in outcome.out
    explained = xlalint("explain", "deep.py:8")
    assert "nested too deeply" in explained.out + explained.err


@PROCESSES
def test_a_function_may_have_any_number_of_optional_parameters(xlalint: Xlalint, jobs: str) -> None:
    names = [f"p{number}" for number in range(130)]
    asked = "".join(f"    if {name} is not None:\n        x = x + {name}.item()\n" for name in names)
    given = ", ".join(f"{name}=x" for name in names[64:])
    text = (
        f"import torch\n\n\ndef many(x: torch.Tensor, {', '.join(f'{name}=None' for name in names)}):\n{asked}"
        f"    return x\n\n\ndef train(loader, model):\n    for x in loader:\n        model(x).backward()\n"
        f"        many(x, {given})\n"
    )
    for name in ("a", "b"):
        Path(f"{name}.py").write_text(text)
    outcome = xlalint(".", "--jobs", jobs, "--select", "XLA101", "--output-format", "json")
    assert outcome.code == 1
    assert not outcome.err
    found = [one["line"] for one in json.loads(outcome.out)["findings"] if one["path"] == "a.py"]
    assert found == [6 + 2 * number for number in range(64, 130)]


@pytest.fixture
def killer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever process but the leading one reads a file called killer.py, dies of it."""
    lower = partition.lower

    def dying(source: Source, module: str, package: str) -> ir.ModuleIR:
        if Path(source.path).name.startswith("killer") and multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        return lower(source, module, package)

    monkeypatch.setattr(partition, "lower", dying)


@pytest.mark.usefixtures("killer")
def test_a_process_that_dies_costs_its_file_and_not_the_run(xlalint: Xlalint) -> None:
    for name in ("a", "b", "killer", "killer2"):
        Path(f"{name}.py").write_text(STEP.format(name="train"))
    outcome = xlalint(".", "--jobs", "2", "--output-format", "json")
    assert outcome.code == 1
    reason = "the process that analysed it died by SIGKILL"
    assert outcome.errors == [f"xlalint: warning: {path}: {reason}" for path in ("killer.py", "killer2.py")]
    assert {one["path"] for one in json.loads(outcome.out)["findings"]} == {"a.py", "b.py"}


@PROCESSES
def test_a_failure_in_a_file_that_is_only_imported_is_told(
    xlalint: Xlalint, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    lower = partition.lower

    def failing(source: Source, module: str, package: str) -> ir.ModuleIR:
        if Path(source.path).name == "helpers.py":
            raise KeyError("while it is lowered")
        return lower(source, module, package)

    monkeypatch.setattr(partition, "lower", failing)
    Path("helpers.py").write_text("import torch\n\n\ndef number(x):\n    return x.item()\n")
    for name in ("a", "b"):
        Path(f"{name}.py").write_text(f"from helpers import number\n{STEP.format(name='train')}        number(loss)\n")
    outcome = xlalint("a.py", "b.py", "--no-project", "--jobs", jobs)
    assert outcome.code == 1
    assert outcome.errors == ["xlalint: warning: helpers.py: internal error: KeyError: 'while it is lowered'"]


def test_no_file_holds_up_a_run(xlalint: Xlalint) -> None:
    Path("slow.py").write_text(f"import torch\n\n\n{nested('slow', 12, 1_000)}{STEP.format(name='after')[14:]}")
    Path("train.py").write_text(STEP.format(name="train"))
    outcome = xlalint(".", "--jobs", "1")
    assert outcome.code == 1
    (told,) = outcome.errors
    assert told.startswith("xlalint: warning: slow.py:4: in slow: the bound on the work for one file was reached")
    assert "train.py:8:" in outcome.out


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run of two processes that both have much to do, in a session of its own."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(
            "import torch\n" + "".join(nested(f"busy{number}", 8, 40) for number in range(60))
        )
    command = [sys.executable, "-m", "xlalint", "--isolated", "--jobs", "2", "."]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    yield process
    process.kill()
    process.communicate()


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(child) for child in children.read_text().split()] if children.exists() else []


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def waited_for(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.05)


LINUX = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are looked at in /proc")


@LINUX
def test_a_worker_ends_with_its_leader(busy: subprocess.Popen[str]) -> None:
    for _ in waited_for(30):
        if workers_of(busy):
            break
    (worker,) = workers_of(busy)
    busy.kill()
    busy.wait()
    for _ in waited_for(10):
        if not is_alive(worker):
            break
    assert not is_alive(worker)


@LINUX
@pytest.mark.parametrize("delay", [0.0, 0.02, 0.2, 0.7])
def test_ctrl_c_is_silent_and_ends_all(busy: subprocess.Popen[str], delay: float) -> None:
    for _ in waited_for(30):
        if workers_of(busy):
            break
    workers = workers_of(busy)
    time.sleep(delay)
    os.killpg(busy.pid, signal.SIGINT)
    out, err = busy.communicate(timeout=30)
    assert (busy.returncode, out, err.strip()) == (130, "", "")
    assert not any(map(is_alive, workers))
