"""The checks themselves: tiers are as the papers say, tests are shared out, checks by hand keep their results."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# As the command `pytest`: `python -m` would import the checkout's `xlalint`, which has no rules beside it.
PYTEST = ("-c", "import sys, pytest; sys.path.remove(''); sys.exit(pytest.console_main())")
RESULTS_OF_ANOTHER_DAY = "| 2026-01-01 | abc | corpus |"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Python at the top of the checkout, as for two cores."""
    environment = {**os.environ, "PYTEST_XDIST_AUTO_NUM_WORKERS": "2", "PYTEST_ADDOPTS": ""}
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, env=environment)


def test_the_mutants_are_tried_by_the_fast_tier() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = ast.parse((ROOT / "tools" / "mutation" / "running.py").read_text(encoding="utf-8"))
    (fast,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FAST"
    )
    assert f'pytest -m "{fast}"' in contributing
    for command in (".ci/run", "python -m tools.slow"):
        assert f"`{command}`" in contributing


def test_mutants_of_code_are_made_wherever_the_modules_stand() -> None:
    made = "{(one.kind, one.path) for one in mutants(Path())}"
    code = f"from pathlib import Path\nfrom tools.mutation.code import mutants\nprint(*sorted({made}), sep='\\n')"
    told = run("-c", code).stdout.splitlines()
    assert len([line for line in told if line.startswith("('lattice', 'xlalint/facts/")]) == 1
    assert len([line for line in told if line.startswith("('conditions', 'xlalint/facts/")]) > 50


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "shared_out"),
    [
        ((), True),
        (("-n", "0"), False),
        (("-p", "no:xdist"), False),
        (("-k", "figures"), False),
        (("-s", "--pdb"), False),
    ],
    ids=["plain", "no workers", "no xdist", "by name", "watched"],
)
def test_folders_are_shared_out_among_the_cores_unless_something_says_otherwise(
    arguments: tuple[str, ...], shared_out: bool
) -> None:
    pytest.importorskip("xdist")
    outcome = run(*PYTEST, "-p", "no:cacheprovider", "tests/benchmarks", *arguments)
    assert outcome.returncode == 0, outcome.stdout
    assert ("bringing up nodes" in outcome.stdout) == shared_out


@pytest.mark.slow
def test_a_file_is_run_in_one_process() -> None:
    outcome = run(*PYTEST, "-p", "no:cacheprovider", "tests/benchmarks/test_figures.py")
    assert outcome.returncode == 0, outcome.stdout
    assert "bringing up nodes" not in outcome.stdout


@pytest.mark.slow
def test_the_fast_tier_does_not_import_torch() -> None:
    command = ["--collect-only", "-p", "no:cacheprovider", "-m", "not device and not slow", "tests"]
    outcome = run("-c", f"import pytest, sys; pytest.main({command}); sys.exit('torch' in sys.modules)")
    assert outcome.returncode == 0
    assert "tests/spec/test_spec.py" in outcome.stdout


def test_a_slow_check_adds_a_dated_row_with_versions(tmp_path: Path) -> None:
    results = tmp_path / "results.md"
    results.write_text(f"{RESULTS_OF_ANOTHER_DAY}\n", encoding="utf-8")
    outcome = run("-m", "tools.slow", "corpus", "--site", str(tmp_path), "--results", str(results))
    assert outcome.returncode == 1
    before, row = results.read_text(encoding="utf-8").splitlines()
    assert before == RESULTS_OF_ANOTHER_DAY
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", cells[0])
    assert cells[2:4] == ["corpus", "failed"]
    assert cells[4] == "0 findings in 0 packages, 0 not as in corpus.txt, 10 packages passed over"
    assert cells[6].startswith(f"Python {sys.version.split()[0]}")


def test_a_slow_check_that_can_not_be_run_is_told_and_leaves_no_row(tmp_path: Path) -> None:
    results = tmp_path / "results.md"
    outcome = run("-m", "tools.slow", "corpus", "--site", str(tmp_path / "gone"), "--results", str(results))
    assert (outcome.returncode, outcome.stdout) == (1, "corpus: left out, no folder of packages: give --site\n")
    assert not results.exists()


def test_a_check_that_is_none_is_told() -> None:
    outcome = run("-m", "tools.slow", "corpse")
    assert outcome.returncode == 2
    assert "no check `corpse`: there are corpus, mutation, programs, traced, environments" in outcome.stderr
