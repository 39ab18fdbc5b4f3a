"""Whatever is changed between two runs, the second says what it would say without a cache, to the byte."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from runs import FILES, LOSSES, STEPS, TRAIN, Lint, write

FORMATS = ("text", "concise", "json", "sarif", "github")
WHAT = ((".",), ("train.py",), ("parts",), ("parts/steps.py", "parts/losses.py"), (".", "--project", "."), ("none.py",))
SETTINGS = (
    "[tool.xlalint]\nfollow = false\nignore = ['XLA101']\n",
    "[tool.xlalint]\nfollow = false\nfail-on = 'error'\n",
    "[tool.xlalint]\nfollow = false\nexclude = ['parts']\n",
    "[tool.xlalint]\nfollow = false\nseverity = { XLA101 = 'note' }\n",
    "[tool.xlalint]\nfollow = false\nnothing = 1\n",
    "[project]\nname = 'program'\n",
)
Edit = Callable[[random.Random], None]


def programs(draw: random.Random) -> Path:
    return draw.choice(sorted(path for path in Path().rglob("*.py") if not path.is_symlink()) or [Path("train.py")])


def body(draw: random.Random) -> None:
    path = programs(draw)
    with path.open("a") as file:
        file.write(f"\n\ndef more_{draw.randrange(100)}(x: torch.Tensor):\n    return x.item()\n")


def one_word(draw: random.Random) -> None:
    """Another text of the same length, with the times of before."""
    path = draw.choice([path for path in (Path("train.py"), Path("parts/steps.py")) if path.exists()] or [Path(".")])
    if path.is_file():
        before = path.stat()
        text = path.read_text()
        old, new = (".item()", ".mean()") if ".item()" in text else (".mean()", ".item()")
        path.write_text(text.replace(old, new))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def touched(draw: random.Random) -> None:
    os.utime(programs(draw))


def new_file(draw: random.Random) -> None:
    folder = draw.choice(["", "parts/", "tests/", "build/", "more/inner/"])
    write({f"{folder}{draw.choice(['other', 'test_it', 'torch', 'losses'])}.py": draw.choice([TRAIN, LOSSES, STEPS])})


def removed(draw: random.Random) -> None:
    programs(draw).unlink(missing_ok=True)


def renamed(draw: random.Random) -> None:
    path = programs(draw)
    if path.exists():
        path.rename(path.with_name(f"renamed_{path.name}"))


def put_back(_: random.Random) -> None:
    write(FILES)


def configuration(draw: random.Random) -> None:
    name = draw.choice(["pyproject.toml", "parts/pyproject.toml"])
    write({name: draw.choice(SETTINGS)})


def own_configuration(draw: random.Random) -> None:
    name = draw.choice(["xlalint.toml", "parts/xlalint.toml", "../xlalint.toml"])
    if Path(name).exists():
        Path(name).unlink()
    else:
        write({name: draw.choice(["follow = false\nselect = ['XLA1']\n", "follow = false\nassume-xla = true\n"])})


def ignored(draw: random.Random) -> None:
    name = draw.choice([".gitignore", "parts/.gitignore", "../.gitignore"])
    if Path(name).exists():
        Path(name).unlink()
    else:
        write({name: draw.choice(["parts\n", "*.py\n!train.py\n", "losses.py\n"])})


def repository(_: random.Random) -> None:
    if Path("../.git").exists():
        shutil.rmtree("../.git")
    else:
        write({"../.git/info/exclude": "steps.py\n"})


def broken(draw: random.Random) -> None:
    programs(draw).write_bytes(draw.choice([b"def f(:\n", b"import torch\n\xff\n", b"import torch\n\0\n"]))


def linked(_: random.Random) -> None:
    link = Path("parts/linked.py")
    if link.is_symlink():
        link.unlink()
    else:
        link.symlink_to(Path("../train.py"))


def script_of_a_library(_: random.Random) -> None:
    write({"setup.py": ""})


EDITS: tuple[Edit, ...] = (
    body,
    one_word,
    touched,
    new_file,
    removed,
    renamed,
    put_back,
    configuration,
    own_configuration,
    ignored,
    repository,
    broken,
    linked,
    script_of_a_library,
)


def check_edits(lint: Lint, edits: list[Edit], draw: random.Random) -> None:
    here = Path.cwd()
    for path in (*here.parent.iterdir(), *here.iterdir()):
        if path.is_dir() and path != here:
            shutil.rmtree(path)
        elif path != here:
            path.unlink()
    write(FILES)
    what, by = draw.choice(WHAT), draw.choice(["time", "hash"])
    for edit in (put_back, *edits):
        edit(draw)
        arguments = (*what, "--output-format", draw.choice(FORMATS), "--cache-by", by)
        cold = lint(*arguments, "--no-cache")
        assert not cold.is_kept
        assert lint(*arguments).shown == cold.shown, edit.__name__
        again = lint(*arguments)
        assert again.shown == cold.shown
        # A wrong setting ends a run before there is a report.
        assert again.is_kept or "unknown key" in again.err


some_edits = st.lists(st.sampled_from(EDITS), min_size=1, max_size=5)
QUICK = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])


@settings(QUICK, max_examples=8)
@given(edits=some_edits, seed=st.integers(0, 2**32))
def test_a_run_after_some_edits_says_what_one_without_a_cache_says(lint: Lint, edits: list[Edit], seed: int) -> None:
    check_edits(lint, edits, random.Random(seed))


@pytest.mark.slow
@settings(QUICK, max_examples=500)
@given(edits=some_edits, seed=st.integers(0, 2**32))
def test_a_run_after_many_edits_says_what_one_without_a_cache_says(lint: Lint, edits: list[Edit], seed: int) -> None:
    check_edits(lint, edits, random.Random(seed))


@pytest.mark.parametrize("by", ["time", "hash"])
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_each_edit_is_seen(lint: Lint, edit: Edit, by: str) -> None:
    first = lint(".", "--cache-by", by)
    assert lint(".", "--cache-by", by).shown == first.shown
    for seed in range(2):
        edit(random.Random(seed))
        assert lint(".", "--cache-by", by).shown == lint(".", "--no-cache").shown
