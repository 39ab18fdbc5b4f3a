"""Which files a path stands for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from xlalint.sources.discover import Discovered, discover
from xlalint.sources.ignored import DEFAULT_EXCLUDES, Excludes, Globs


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(*names: str, text: str = "x = 1\n") -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def look(
    *paths: str, patterns: tuple[str, ...] = DEFAULT_EXCLUDES, force: bool = False, gitignore: bool = True
) -> Discovered:
    excludes = Excludes((Globs(os.getcwd(), patterns),), force, gitignore)
    return discover([Path(path) for path in paths], lambda folder: excludes)


def files(*paths: str, **how: object) -> list[str]:
    return [found.shown for found in look(*paths, **how).files]  # type: ignore[arg-type]


def test_folders_are_walked_and_only_python_is_taken() -> None:
    write("b/z.py", "b/a.py", "a.py", "b/notes.txt", "b/stub.pyi", "b/data.json")
    assert files(".") == ["a.py", "b/a.py", "b/z.py"]


def test_a_named_file_is_taken_whatever_its_suffix() -> None:
    write("script", "stub.pyi")
    found = look("script", "stub.pyi")
    assert [(one.shown, one.named) for one in found.files] == [("script", True), ("stub.pyi", True)]


def test_a_file_that_is_named_twice_or_below_a_named_folder_is_taken_once() -> None:
    write("b/a.py")
    assert files("b", "b/a.py", "./b/../b/a.py") == ["b/a.py"]


def test_order_of_paths_does_not_matter() -> None:
    write("a/x.py", "b/y.py", "c.py")
    assert files("c.py", "b", "a") == files("a", "b", "c.py") == ["a/x.py", "b/y.py", "c.py"]


@pytest.mark.parametrize("folder", [".git", ".venv", "venv", "node_modules", "__pycache__", "build", "dist", ".tox"])
def test_default_excludes_hold_below_the_named_path_only(folder: str) -> None:
    write(f"{folder}/x.py", "y.py")
    assert files(".") == ["y.py"]
    assert files(folder) == [f"{folder}/x.py"]


def test_site_packages_can_be_named() -> None:
    write("lib/site-packages/pkg/x.py")
    assert files("lib") == []
    assert files("lib/site-packages/pkg") == ["lib/site-packages/pkg/x.py"]


def test_patterns_are_those_of_gitignore() -> None:
    write("gen/a.py", "src/gen/b.py", "src/model_pb2.py", "src/keep.py")
    assert files(".", patterns=("*_pb2.py", "/gen")) == ["src/gen/b.py", "src/keep.py"]
    assert files(".", patterns=("src/*", "!src/keep.py")) == ["gen/a.py", "src/keep.py"]


def test_excludes_hold_for_named_files_only_if_forced() -> None:
    write("gen/a.py", "src/b.py")
    assert files("gen/a.py", "src/b.py", patterns=("gen",)) == ["gen/a.py", "src/b.py"]
    assert files("gen/a.py", "src/b.py", patterns=("gen",), force=True) == ["src/b.py"]


def test_gitignore_files_are_honoured_where_they_stand() -> None:
    write("a.py", "out/b.py", "pkg/c.py", "pkg/tmp_d.py", "pkg/sub/tmp_e.py")
    Path(".gitignore").write_text("out/\ntmp_*\n")
    Path("pkg/sub/.gitignore").write_text("!tmp_e.py\n")
    assert files(".") == ["a.py", "pkg/c.py", "pkg/sub/tmp_e.py"]
    assert len(files(".", gitignore=False)) == 5


def test_gitignore_above_counts_up_to_the_top_of_the_repository() -> None:
    write("repo/pkg/a.py", "repo/pkg/skip.py")
    Path(".gitignore").write_text("a.py\n")
    Path("repo/.gitignore").write_text("skip.py\n")
    assert files("repo/pkg") == ["repo/pkg/a.py", "repo/pkg/skip.py"]
    Path("repo/.git/info").mkdir(parents=True)
    assert files("repo/pkg") == ["repo/pkg/a.py"]
    Path("repo/.git/info/exclude").write_text("/pkg/a.py\n")
    assert files("repo/pkg") == []


def test_who_names_an_ignored_folder_gets_what_is_in_it() -> None:
    write("repo/out/a.py")
    Path("repo/.git").mkdir()
    Path("repo/.gitignore").write_text("out/\n")
    assert files("repo") == []
    assert files("repo/out") == ["repo/out/a.py"]


def test_a_gitignore_with_a_wrong_line_is_read_all_the_same() -> None:
    write("a.py", "b.py")
    Path(".gitignore").write_bytes(b"\xff\xfe\n!\n/\n\\\na.py\n")
    assert files(".") == ["b.py"]


def test_a_missing_path_is_reported_and_the_others_are_found() -> None:
    write("a.py")
    found = look("a.py", "nope.py", "a.py/b.py")
    assert [one.shown for one in found.files] == ["a.py"]
    assert found.missing == ("nope.py", "a.py/b.py")


def test_broken_and_circular_links_are_refused_in_one_line_each() -> None:
    write("a.py")
    os.symlink("nowhere.py", "broken.py")
    os.symlink("two.py", "one.py")
    os.symlink("one.py", "two.py")
    found = look(".")
    assert [one.shown for one in found.files] == ["a.py"]
    assert {one.shown: one.reason for one in found.refused} == {
        "broken.py": "is a broken symbolic link",
        "one.py": "is a symbolic link that leads in a circle",
        "two.py": "is a symbolic link that leads in a circle",
    }
    named = look("broken.py", "one.py")
    assert [name.split(" ")[0] for name in named.missing] == ["broken.py", "one.py"]


def test_a_folder_that_holds_a_link_to_itself_is_walked_once() -> None:
    write("pkg/a.py")
    os.symlink("..", "pkg/up")
    os.symlink(".", "pkg/self.py")
    found = look(".")
    assert [one.shown for one in found.files] == ["pkg/a.py"]
    assert not found.refused


def test_a_link_and_its_target_are_one_file() -> None:
    write("z/real.py")
    os.symlink("z/real.py", "a_link.py")
    assert files(".") == ["z/real.py"]
    assert files("a_link.py") == ["a_link.py"]


def test_a_folder_called_like_a_module_is_walked_and_a_pipe_is_refused() -> None:
    write("x.py/inner.py")
    os.mkfifo("pipe.py")
    found = look(".")
    assert [one.shown for one in found.files] == ["x.py/inner.py"]
    assert [(one.shown, one.reason) for one in found.refused] == [("pipe.py", "is not a regular file")]


def test_paths_are_shown_from_the_working_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    write("project/src/a.py", "other/b.py")
    monkeypatch.chdir("project/src")
    assert files(".", "../../other") == ["../../other/b.py", "a.py"]


def test_a_name_that_is_no_text_is_shown_all_the_same() -> None:
    try:
        Path(os.fsdecode(b"caf\xe9.py")).write_text("x = 1\n")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert files(".") == ["caf\\xe9.py"]
