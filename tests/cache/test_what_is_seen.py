"""All that a run reads or looks for in a project is noted, so that a later run knows what it depends on."""

from __future__ import annotations

import builtins
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runs import FILES, write

from xlalint.cli.options import configurations
from xlalint.linting import Options, lint
from xlalint.sources import observed
from xlalint.sources.observations import Observations

_LOOKING = (
    (os, "stat"),
    (os, "lstat"),
    (os, "open"),
    (os, "scandir"),
    (os, "listdir"),
    (os, "readlink"),
    (builtins, "open"),
)
"""All by which Python asks the system for what stands at a path."""
GIVEN = {
    "config": None,
    "isolated": False,
    **dict.fromkeys(("select", "extend_select", "ignore", "exclude", "extend_exclude", "profile", "python")),
}


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> set[str]:
    """The paths below the test's folder that anybody asks for."""
    found: set[str] = set()

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any = ".", *arguments: Any, **keywords: Any) -> Any:
            if isinstance(path, (str, os.PathLike)):
                full = os.path.abspath(os.fspath(path))
                if full.startswith(str(tmp_path) + os.sep):
                    found.add(full)
            return function(path, *arguments, **keywords)

        return call

    for module, name in _LOOKING:
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    return found


def noted(seen: Observations) -> set[str]:
    """With the folders above what is a link or may be one: they are asked for, one by one, to find where it leads."""
    links = {
        str(above) for path in (*seen.targets, *seen.targets.values()) for above in (Path(path), *Path(path).parents)
    }
    return {*seen.files, *seen.kinds, *(one.folder for one in seen.listings), *links}


LIBRARY = {
    "meters.py": "def mean_of(x):\n    return x.mean().item()\n",
    "meters-1.0.dist-info/top_level.txt": "meters\n",
    "others/__init__.py": "from .inner import kept\n",
    "others/inner.py": "def kept(x):\n    return x.cpu()\n",
}
USER = """\
import meters
import others
import torch


def step(x: torch.Tensor):
    others.kept(x)
    return meters.mean_of(x)
"""


@pytest.mark.parametrize("what", ["project", "project/train.py", "project/parts", "project/user.py"])
@pytest.mark.parametrize("above", ["", ".git/info/exclude", "setup.py", "xlalint.toml"])
def test_whatever_is_looked_for_is_noted(
    touched: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, above: str
) -> None:
    write({**FILES, "user.py": USER, "notebook.ipynb": "{}", ".gitignore": "*.txt\n"}, tmp_path / "project")
    write({f"env/lib/python3.11/site-packages/{name}": text for name, text in LIBRARY.items()}, tmp_path)
    write({above: ""} if above else {}, tmp_path)
    (tmp_path / "project" / "linked.py").symlink_to(tmp_path / "project" / "train.py")
    (tmp_path / "project" / "nowhere.py").symlink_to(tmp_path / "missing.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "env"))
    (tmp_path / "project" / "pyproject.toml").write_text("[tool.xlalint]\nmin-certainty = 'possible'\n")
    touched.clear()
    with observed.observing() as seen:
        report = lint([Path(what)], configurations(dict(GIVEN)), Options(jobs=1, alone=False))
    assert report.files
    assert touched - noted(seen) == set()
    if not what.endswith("parts"):
        assert any("meters.py" in path for path in touched) == (what != "project/train.py")


def test_what_several_processes_see_is_noted_as_what_one_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        write({f"part{number}/{name}": text * 60 for name, text in FILES.items() if name.endswith(".py")}, tmp_path)
    monkeypatch.chdir(tmp_path)
    named = sorted(Path().glob("*/train.py"))
    found = []
    for jobs in (1, 2):
        with observed.observing() as seen:
            lint(named, configurations(dict(GIVEN)), Options(jobs=jobs))
        found.append(seen)
    one, two = ({path: each.digest for path, each in seen.files.items()} for seen in found)
    # What only imports lead to is read where they are followed.
    assert str(tmp_path / "part7" / "parts" / "steps.py") in one
    assert one == two
    assert found[0].kinds.items() <= found[1].kinds.items()
    assert not found[1].is_torn


def test_a_run_in_which_a_file_changed_is_no_state_of_the_project(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    with observed.observing() as seen:
        path.write_text("a")
        observed.content(str(path))
        path.write_text("b")
        observed.content(str(path))
    assert seen.is_torn


LOOKS = re.compile(
    r"\bos\.path\.(?:exists|lexists|isfile|isdir|islink|realpath|getmtime)\b|\bos\.(?:scandir|listdir|walk)\b|\bopen\("
)
LINTING = ("sources", "program", "facts", "installed", "findings")
MAY_LOOK = {
    "sources/observations.py": "it is what looks",
    "sources/observed.py": "it notes",
    "sources/seen_state.py": "it looks again",
    "sources/read.py": "it notes what it read",
    "sources/discover.py": "whether an entry is a link stands in the listing",
    "sources/git_changes.py": "after the run, of a report that is finished",
    "findings/baseline.py": "after the run, of a report that is finished",
    "findings/hiding.py": "after the run, of a report that is finished",
}


def test_linting_looks_at_the_file_system_where_it_is_noted() -> None:
    package = Path(observed.__file__).parents[1]
    files = [package / "inputs.py", *(path for room in LINTING for path in (package / room).rglob("*.py"))]
    looking = {path.relative_to(package).as_posix() for path in files if LOOKS.search(path.read_text(encoding="utf-8"))}
    assert looking == MAY_LOOK.keys()
