"""Which line is at work, by each of the two ways Python offers; and what is charged where."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import xlalint
from xlalint.device.recording.attribution import attribute
from xlalint.device.recording.counts import Counts
from xlalint.device.recording.debug_log import Boundary, Charge, Frame, Graph, Totals
from xlalint.device.recording.inside.files import owner
from xlalint.device.recording.inside.watch import Listener, MonitoringWatch, Place, SettraceWatch, Watch
from xlalint.device.trace.graph_difference import difference, instructions

WAYS = [
    pytest.param(SettraceWatch, id="settrace"),
    pytest.param(
        MonitoringWatch,
        id="monitoring",
        marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12"),
    ),
]
USERS = """\
def plain(cost, apply):
    cost()
    for _ in range(2):
        cost()

def inner(cost, apply):
    cost()

def outer(cost, apply):
    inner(cost, apply); cost()
    apply(inner, cost, apply)
    apply(cost)

def raising(cost, apply):
    try:
        failing(cost)
    except ValueError:
        cost()

def failing(cost):
    cost()
    raise ValueError

def yielding(cost, apply):
    for _ in numbers(cost):
        cost()

def numbers(cost):
    for number in range(2):
        cost()
        yield number
"""


def charged(way: type[Watch], path: Path, name: str) -> Counter[int | None]:
    """How many units of cost each line of the function's file was charged."""
    path.write_text(USERS, encoding="utf-8")
    module = ModuleType("users")
    exec(compile(USERS, str(path), "exec"), vars(module))
    pending = 0
    charges: Counter[int | None] = Counter()

    def cost() -> None:
        nonlocal pending
        pending += 1

    def left(place: Place | None, below: Place | None) -> None:
        nonlocal pending
        if pending:
            charges[place[1] if place else None] += pending
        pending = 0

    def library(function: Callable[..., object], *arguments: object) -> object:
        return function(*arguments)

    watch = way(str(path).__eq__, left)
    before = sys.gettrace()
    watch.start()
    try:
        vars(module)[name](cost, library)
        cost()
    finally:
        watch.stop()
        threading.settrace(before)  # type: ignore[arg-type]
        sys.settrace(before)
    return charges


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", {2: 1, 4: 2}),
        ("outer", {7: 2, 10: 1, 12: 1}),
        ("raising", {21: 1, 18: 1}),
        ("yielding", {26: 2, 30: 2}),
    ],
)
def test_the_innermost_line_of_the_users_files_is_charged(
    way: type[Watch], name: str, expected: dict[int, int], tmp_path: Path
) -> None:
    assert charged(way, tmp_path / "users.py", name) == {**expected, None: 1}


def test_the_users_files_are_those_in_the_folder_that_are_not_installed(tmp_path: Path) -> None:
    owned = owner([str(tmp_path)])
    assert owned(str(tmp_path / "train.py"))
    assert not owned(str(tmp_path / ".venv" / "lib" / "python3.11" / "site-packages" / "torch" / "nn.py"))
    assert not owned("<string>")
    assert not owned(threading.__file__)


def test_what_of_the_linter_runs_beside_a_program_is_not_the_users(tmp_path: Path) -> None:
    package = Path(xlalint.__file__).parent
    owned = owner([str(package.parent), str(tmp_path)])
    assert not owned(str(package / "device" / "borders" / "clock.py"))
    assert owned(str(tmp_path / "xlalint" / "train.py"))


LIBRARY = """\
class Optimizer:
    def __init__(self, cost, inner=None):
        self.cost, self.inner = cost, inner

    def step(self):
        self.cost()
        if self.inner is not None:
            self.inner.step()
        return None

def costly(cost):
    cost()
    cost()
"""
USER = """\
def main(library, cost):
    library.costly(cost)
    cost()
    for _ in range(2):
        library.Optimizer(cost, library.Optimizer(cost)).step()
"""


class Heard(Listener):
    def __init__(self) -> None:
        self.updates = self.begun = 0

    def updated(self, optimizer: object) -> None:
        self.updates += 1

    def began(self) -> None:
        self.begun += 1


@pytest.mark.parametrize("way", WAYS)
def test_lines_of_libraries_optimizers_and_the_users_mark_are_told(
    way: type[Watch], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, user = ModuleType("library"), ModuleType("user")
    paths = {name: str(tmp_path / f"{name}.py") for name in ("library", "user")}
    exec(compile(LIBRARY, paths["library"], "exec"), vars(library))
    exec(compile(USER, paths["user"], "exec"), vars(user))
    optim = ModuleType("torch.optim")
    vars(optim)["Optimizer"] = vars(library)["Optimizer"]
    monkeypatch.setitem(sys.modules, "torch.optim", optim)
    pending = 0
    charges: Counter[tuple[int | None, int | None]] = Counter()

    def cost() -> None:
        nonlocal pending
        pending += 1

    def left(place: Place | None, below: Place | None) -> None:
        nonlocal pending
        if pending:
            charges[place[1] if place else None, below[1] if below else None] += pending
        pending = 0

    heard = Heard()
    heard.step_at = (os.path.realpath(paths["user"]), 5)
    watch = way(paths["user"].__eq__, left, paths["library"].__eq__, heard)
    before = sys.gettrace()
    watch.start()
    try:
        vars(user)["main"](library, cost)
    finally:
        watch.stop()
    assert sys.gettrace() == before
    assert charges == {(2, 12): 1, (2, 13): 1, (3, None): 1, (5, 6): 4}
    # The outer one wraps another, which makes the step.
    assert (heard.updates, heard.begun) == (2, 2)


LINE, OTHER = Frame("step", "a.py", 3), Frame("step", "a.py", 5)


def graph(kind: str, at: Frame, cause: str = "user torch_xla.sync") -> Graph:
    return Graph(kind=kind, cause=cause, frames=(Frame("sync", "/lib/torch_xla.py", 1), at))


def test_what_the_log_tells_is_not_counted_again_and_what_it_lacks_is_charged_by_the_counters() -> None:
    log = [
        graph("Compilation", LINE),
        graph("Execution", LINE),
        Charge(LINE, Counts(compiles=1, executions=1, reads=2)),
        Charge(OTHER, Counts(executions=3)),
        Totals(Counts(compiles=1, executions=5, reads=2)),
    ]
    found = attribute(log, "a.py".__eq__)
    assert {line.line: (line.compiles, line.executions, line.reads) for line in found.lines} == {
        3: (1, 1, 2),
        5: (0, 3, 0),
    }
    assert found.unattributed == Counts(executions=1)


def test_a_boundary_that_is_passed_once_ends_no_step_of_a_loop() -> None:
    step = [graph("Execution", LINE), Charge(LINE, Counts(executions=1)), Boundary(LINE)]
    end = [graph("Execution", OTHER), Charge(OTHER, Counts(executions=1)), Boundary(OTHER)]
    recording = attribute([*step, Boundary(LINE), *step, *end, Totals(Counts(executions=3))], "a.py".__eq__)
    assert [one.counts.executions for one in recording.steps] == [1, 1]
    assert recording.rest.counts.executions == 1


GRAPH = """\
ENTRY main {
  %p0 = f32[4,8]{1,0} parameter(0), metadata={op_name="x"}
  %c = f32[] constant(2)
  ROOT %m = f32[4,8]{1,0} multiply(%p0, %c)
}
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[4,8]{1,0}", "[5,8]{1,0}", "shape: an input was f32[4,8] and is f32[5,8]"),
        ("constant(2)", "constant(3)", "constant: 2 became 3"),
        (" multiply(", " add(", "ops: 1 more `add`, 1 fewer `multiply`"),
        ("", "", "the same ops, shapes and constants"),
    ],
)
def test_what_differs_between_two_graphs_is_told_in_words(old: str, new: str, words: str) -> None:
    assert difference(instructions(GRAPH), instructions(GRAPH.replace(old, new) if old else GRAPH)) == words
