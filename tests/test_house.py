"""The house itself: what is shipped, what is imported when, and that its papers agree with it."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.resources
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# The parser of Python 3.10 is a dependency there, and not installed elsewhere.
PROJECT = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads(
    (ROOT / "pyproject.toml").read_text(encoding="utf-8")
)
README = (ROOT / "README.md").read_text(encoding="utf-8")
RULES = sorted((ROOT / "rules").glob("xla*.py"))
PAPERS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

COSTLY = """\
import torch_xla

def train(model, loader, optimizer, criterion, device):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        total += loss.item()
        torch_xla.sync()
    return total
"""
QUIET = "import torch\n\n\ndef double(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"


def loaded_after(code: str, where: Path) -> set[str]:
    """Top-level modules that a fresh interpreter holds once ``code`` has run."""
    return {name.partition(".")[0] for name in modules_after(code, where)}


def modules_after(code: str, where: Path) -> set[str]:
    """All of them."""
    report = """
import sys
sys.stderr.write("MODULES" + " ".join(sys.modules))
"""
    command = [sys.executable, "-c", f"{code}\n{report}"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=where)
    assert "MODULES" in run.stderr, run.stderr
    return set(run.stderr.rpartition("MODULES")[2].split())


def lint(*arguments: str, exit_code: int) -> str:
    """Code that runs the command in the same process, without processes of its own."""
    call = f"main({['check', '--jobs', '1', *arguments]!r})"
    return f"from xlalint.cli import main\nassert {call} == {exit_code}"


def test_every_package_is_installed() -> None:
    """A folder that the list forgets is there in a checkout, and missing for who installs."""
    folders = {file.parent.relative_to(ROOT) for file in (ROOT / "xlalint").rglob("__init__.py")}
    named = set(PROJECT["tool"]["setuptools"]["packages"])
    assert named - {"xlalint.rules"} == {".".join(folder.parts) for folder in folders}


def test_the_command_is_imported_without_the_heavy_parts(tmp_path: Path) -> None:
    loaded = loaded_after("import xlalint.cli", tmp_path)
    assert "xlalint" in loaded
    assert loaded & {"torch", "torch_xla", "numpy", "libcst", "sarif_om"} == set()


def test_a_file_without_findings_never_pays_for_libcst(tmp_path: Path) -> None:
    (tmp_path / "quiet.py").write_text(QUIET, encoding="utf-8")
    loaded = loaded_after(lint("--no-cache", "quiet.py", exit_code=0), tmp_path)
    assert loaded & {"torch", "torch_xla", "numpy", "libcst", "sarif_om"} == set()
    # What a package's metadata, several processes and wrong settings take.
    assert loaded & {"email", "pickle", "difflib"} == set()


def test_a_file_without_findings_never_pays_for_rules(tmp_path: Path) -> None:
    (tmp_path / "quiet.py").write_text("import torch_xla\n" + QUIET, encoding="utf-8")
    run = lint("--no-cache", "quiet.py", exit_code=0)
    loaded = modules_after(run, tmp_path)
    assert "xlalint.facts.engine.engine" in loaded
    assert not [name for name in loaded if name.startswith("xlalint.rules.")]
    # What is noted for a cache is compared by digests.
    assert "_hashlib" not in loaded


def test_unused_comments_are_told_of_where_nothing_costs(tmp_path: Path) -> None:
    silenced = "import torch_xla\n" + QUIET.replace("x * 2", "x * 2  # xlalint: ignore[XLA101]")
    (tmp_path / "quiet.py").write_text(silenced, encoding="utf-8")
    shown = [sys.executable, "-m", "xlalint", "check", "--no-cache", "--extend-select", "XLA001", "quiet.py"]
    run = subprocess.run(shown, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "XLA001" in run.stdout


def test_a_run_from_the_cache_pays_for_no_analysis(tmp_path: Path) -> None:
    (tmp_path / "costly.py").write_text(COSTLY, encoding="utf-8")
    run = lint("costly.py", exit_code=1)
    report = "import sys; print([name for name in sys.modules if name.startswith(('xlalint.', 'libcst'))])"
    for _ in range(2):
        command = [sys.executable, "-c", f"{run}\n{report}"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    loaded = set(re.findall(r"'([\w.]+)'", shown.splitlines()[-1]))
    assert "xlalint.unchanged" in loaded
    assert not [
        name for name in loaded if re.match(r"xlalint\.(?:facts\.(?!events)|program|knowledge|rules\.|edits)", name)
    ]
    assert loaded & {"xlalint.linting", "xlalint.inputs", "libcst"} == set()


def test_a_file_with_findings_is_linted_without_torch_and_sarif(tmp_path: Path) -> None:
    (tmp_path / "costly.py").write_text(COSTLY, encoding="utf-8")
    loaded = loaded_after(lint("--output-format", "json", "costly.py", exit_code=1), tmp_path)
    assert "libcst" in loaded
    assert loaded & {"torch", "torch_xla", "numpy", "sarif_om"} == set()


def test_what_runs_programs_of_the_users_imports_no_torch_beside_its_worker(tmp_path: Path) -> None:
    loaded = loaded_after("import xlalint.cli.validate, xlalint.validating", tmp_path)
    assert loaded & {"torch", "torch_xla", "numpy"} == set()


def test_every_package_is_shipped() -> None:
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "xlalint").rglob("*.py")}
    packages = {".".join(folder.parts) for folder in folders} | {"xlalint.rules"}
    assert packages == set(PROJECT["tool"]["setuptools"]["packages"])


def test_every_data_file_is_shipped() -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    folders = {"rules": "xlalint.rules"}
    for path in [*(ROOT / "xlalint").rglob("*"), *(ROOT / "rules").glob("*")]:
        if path.is_dir() or path.suffix in (".py", ".pyc"):
            continue
        folder = ".".join(path.parent.relative_to(ROOT).parts)
        patterns = data.get(folders.get(folder, folder), [])
        assert any(path.match(pattern) for pattern in patterns), f"{path.relative_to(ROOT)} would be left out"


def test_the_installed_rules_are_those_of_the_folder() -> None:
    installed = {entry.name for entry in importlib.resources.files("xlalint.rules").iterdir()}
    assert RULES
    assert {path.name for path in RULES} | {path.with_suffix(".md").name for path in RULES} <= installed


def test_the_version_is_the_same_everywhere() -> None:
    assert importlib.metadata.version("xlalint") == PROJECT["project"]["version"]


def test_ci_runs_the_commands_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "pip install '.[device]' && xlalint validate examples" in README
    assert "pip install . && xlalint examples" in README
    assert "pip install '.[dev]' && pytest" in README
    assert re.search(r"^pip install -q '\.\[dev\]'$", script, re.MULTILINE)
    assert re.search(r"^pytest$", script, re.MULTILINE)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_papers_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8"))
    inner = [link for link in links if "://" not in link]
    assert [link for link in inner if not (path.parent / link).exists()] == []


def test_the_changelog_names_what_comes_next_and_what_was() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"


def test_the_sample_in_the_readme_is_what_the_command_says() -> None:
    command = [sys.executable, str(ROOT / "tools" / "readme_sample.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_generated_pages_are_what_rules_and_tables_say() -> None:
    command = [sys.executable, str(ROOT / "tools" / "write_docs.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
