"""Runs the fast tests on each mutant, in a fork of a process that has already imported what does not change."""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tools.mutation.mutant import Mutant

COPIED = ("xlalint", "rules", "tests", "benchmarks", "docs", "pyproject.toml")
FAST = "not device and not slow"
"""The marks that choose the fast tier of CONTRIBUTING.md."""
TESTS = (
    "tests/knowledge",
    "tests/facts",
    "tests/rules",
    "tests/spec",
    "tests/findings",
)
"""Folders of the fast tier; the others mostly start processes, which would test what is installed."""
FIRST = {
    "ops": ("tests/knowledge/test_op_evidence.py",),
    "guards": ("tests/knowledge/test_known_guards.py",),
    "lattice": ("tests/facts/test_domain.py",),
    "other tables": ("tests/knowledge",),
}
"""Tests that are likeliest to fail, by kind of mutant: they are tried alone before all others."""
PASSED_OVER = ("--deselect=tests/facts/test_order.py", "--deselect=tests/knowledge/test_ops.py::test_loading_the_table")
"""What starts processes of its own, and so tests what is installed."""
PRELOADED = (
    "click",
    "hypothesis",
    "jsonschema",
    "libcst",
    "msgspec",
    "pathspec",
    "pytest",
    "_pytest.assertion.rewrite",
)
SECONDS = 180
"""After so long a mutant counts as killed: something never ends."""


@dataclass(frozen=True)
class Verdict:
    """``by`` is the first test that failed; empty where none did."""

    mutant: Mutant
    by: str


class Broken(Exception):
    """The tests fail without a mutant. The message is the end of their output."""


class Tree:
    """A copy of the project in which one mutant at a time is put."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._original: tuple[Path, bytes, os.stat_result] | None = None

    @classmethod
    def of(cls, root: Path, folder: Path) -> Tree:
        for name in COPIED:
            if (root / name).is_dir():
                shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "device"))
            elif (root / name).exists():
                shutil.copy2(root / name, folder / name)
        # The engine's own part named device stays; only the tests of that name are left out.
        shutil.copytree(root / "xlalint" / "device", folder / "xlalint" / "device", dirs_exist_ok=True)
        (folder / "xlalint" / "rules").symlink_to(folder / "rules", target_is_directory=True)
        return cls(folder)

    def another(self, folder: Path) -> Tree:
        """A copy with all that was compiled: the times of files are kept."""
        shutil.copytree(self.folder, folder, symlinks=True)
        (folder / "xlalint" / "rules").unlink()
        (folder / "xlalint" / "rules").symlink_to(folder / "rules", target_is_directory=True)
        return Tree(folder)

    def put(self, mutant: Mutant) -> None:
        path = self.folder / mutant.path
        stat = path.stat()
        self._original = (path, path.read_bytes(), stat)
        text = mutant.applied(path.read_text(encoding="utf-8"))
        path.write_text(resealed(text) if path.name == "ops.csv" else text, encoding="utf-8")
        # Compiled files are told by the time: never the same one.
        os.utime(path, (stat.st_atime, stat.st_mtime + 1000))

    def restore(self) -> None:
        if self._original is not None:
            path, content, stat = self._original
            path.write_bytes(content)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def resealed(text: str) -> str:
    """The table with a checksum that fits: what is asked is whether a wrong measurement would be seen."""
    body = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    return re.sub(r"# sha256: \w+", f"# sha256: {hashlib.sha256(body.encode()).hexdigest()}", text)


def verdicts(root: Path, mutants: Sequence[Mutant], jobs: int) -> Iterator[Verdict]:
    """One for each mutant, in the order in which they are done. Raises ``Broken``."""
    for name in PRELOADED:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as scratch:
        tree = Tree.of(root, Path(scratch, "0"))
        _, status = os.waitpid(forked(tree, (TESTS,), compiling=True), 0)
        if status:
            raise Broken(output(tree)[-3000:])
        trees = [tree, *(tree.another(Path(scratch, str(number))) for number in range(1, jobs))]
        yield from shared_out(trees, list(mutants))


def shared_out(trees: list[Tree], waiting: list[Mutant]) -> Iterator[Verdict]:
    waiting.reverse()
    running: dict[int, tuple[Tree, Mutant]] = {}
    idle = list(trees)
    try:
        while waiting or running:
            while waiting and idle:
                tree, mutant = idle.pop(), waiting.pop()
                tree.put(mutant)
                first = FIRST.get(mutant.kind)
                running[forked(tree, (first, TESTS) if first else (TESTS,))] = (tree, mutant)
            pid, status = os.wait()
            tree, mutant = running.pop(pid)
            tree.restore()
            idle.append(tree)
            yield Verdict(mutant, killer(output(tree), status) if status else "")
    finally:
        for pid in running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def killer(text: str, status: int) -> str:
    if os.WIFSIGNALED(status):
        return "it never ended" if os.WTERMSIG(status) == signal.SIGALRM else f"signal {os.WTERMSIG(status)}"
    match = re.search(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    return match[1] if match else "the tests could not be run"


def output(tree: Tree) -> str:
    return (tree.folder / "output.txt").read_text(encoding="utf-8", errors="replace")


def forked(tree: Tree, stages: Sequence[Sequence[str]], compiling: bool = False) -> int:
    """A child that runs the tests in the tree, each stage after the one before; it ends with the first bad code."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            inside(tree, stages, compiling)
        finally:
            os._exit(99)
    return pid


def inside(tree: Tree, stages: Sequence[Sequence[str]], compiling: bool) -> None:
    signal.alarm(SECONDS)
    file = os.open(tree.folder / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.chdir(tree.folder)
    sys.dont_write_bytecode = not compiling
    for name in [name for name in sys.modules if name.partition(".")[0] in ("xlalint", "rules", "tools")]:
        del sys.modules[name]
    sys.path.insert(0, str(tree.folder))
    run: Callable[[list[str]], int] = importlib.import_module("pytest").main
    alone = ["-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={tree.folder}"]
    options = ["-x", "-q", "--tb=no", "-m", FAST, *alone, *PASSED_OVER]
    for tests in stages:
        code = int(run([*options, *(test for test in tests if (tree.folder / test).exists())]))
        if code:
            os._exit(code)
    os._exit(0)
