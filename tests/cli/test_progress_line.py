"""What a terminal shows while files are linted: from the first second on how far it is, in one line which is gone at
the end."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from pseudo_terminal import TERMINAL, Drawn, Shown, Terminal, on_terminal

from xlalint.cli.progress import TimeLeft, fitting

LONG = ("check", "--no-cache", "--jobs", "1", "--output-format", "concise")
IN_TWO = (*LONG[:2], "--jobs", "2", *LONG[4:])
LEFT = re.compile(r"(?:(\d+):)?(\d+):(\d\d) left")
STEP = '''
def step_{n}(model, loader, optimizer, device, depth=0):
    """One epoch."""
    for x, y in loader:
        out = model(x.to(device))
        loss = torch.nn.functional.mse_loss(out, y.to(device))
        if depth < {n} and out.mean() > 0:
            loss = loss + step_{m}(model, loader, optimizer, device, depth + 1)
        loss.backward()
        optimizer.step()
        print(loss.item())
    return loss
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What takes a few seconds to lint."""
    folder = tmp_path_factory.mktemp("project")
    text = "import torch\nimport torch_xla\n" + "".join(STEP.format(n=n, m=n // 2) for n in range(1, 40))
    for number in range(15):
        (folder / f"part_{number}.py").write_text(text)
    (folder / "broken.py").write_text("import torch\ndef (:\n")
    return folder


def lines(shown: Shown) -> list[Drawn]:
    return [drawn for drawn in shown.drawn if "files" in drawn.text]


def seconds_left(drawn: Drawn) -> int | None:
    found = LEFT.search(drawn.text)
    return int(found[1] or 0) * 3600 + int(found[2]) * 60 + int(found[3]) if found else None


@pytest.mark.parametrize("arguments", [LONG, IN_TWO], ids=["one process", "two"])
def test_the_line_says_how_far_it_is_and_is_gone_at_the_end(project: Path, arguments: tuple[str, ...]) -> None:
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "xlalint", "--version"], check=True, capture_output=True)
    start = time.monotonic() - began
    shown = on_terminal(*arguments, ".", folder=project, environment={**TERMINAL, "NO_COLOR": "1"})
    drawn = lines(shown)
    assert drawn[0].after < 1 + start
    assert shown.drawn[-1].after > 2 * drawn[0].after, "too short a run to tell"
    left = [seconds for one in drawn if (seconds := seconds_left(one)) is not None]
    assert len(left) > 5
    assert all(before >= after for before, after in pairwise(left))
    text = "".join(one.text for one in drawn)
    assert re.search(r"evaluating: \d+/16 files, \d+/600 functions", text)
    assert all(len(one.rows) == 1 for one in drawn)
    assert not re.search(r"\x1b\[[\d;]*m", text), "NO_COLOR is set"
    # What is said at the end stands there by itself, and the findings are those of a run without a terminal.
    (warning,) = shown.left
    assert warning.startswith("xlalint: warning: broken.py: ")
    plain = subprocess.run(
        [sys.executable, "-m", "xlalint", *arguments, "."], cwd=project, capture_output=True, text=True, check=False
    )
    assert (shown.code, shown.out) == (plain.returncode, plain.stdout)
    assert plain.stderr.splitlines() == [warning]


def test_a_terminal_that_is_narrow_or_made_so_keeps_one_row(project: Path) -> None:
    def narrower(terminal: Terminal) -> None:
        if len(terminal.drawn) == 5:
            terminal.resize(20)

    shown = on_terminal(*LONG, ".", folder=project, columns=45, seen=narrower)
    assert all(len(row) < 45 for one in lines(shown) for row in one.rows)
    later = [one for one in shown.drawn[7:] if "left" in one.text]
    assert later
    assert all(len(one.rows) == 1 and len(one.rows[0]) < 20 for one in later)


def test_ctrl_c_leaves_nothing_of_it(project: Path) -> None:
    def stop(terminal: Terminal) -> None:
        if len(terminal.drawn) == 3:
            terminal.press_ctrl_c()

    shown = on_terminal(*IN_TWO, ".", folder=project, seen=stop)
    assert (shown.code, shown.out, shown.left) == (130, "", ())


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [(("--quiet",), TERMINAL), ((), {**TERMINAL, "TERM": "dumb"})],
    ids=["--quiet", "TERM=dumb"],
)
def test_no_line_where_it_is_not_wanted(project: Path, arguments: tuple[str, ...], environment: dict[str, str]) -> None:
    shown = on_terminal(*LONG, *arguments, ".", folder=project, environment=environment)
    assert not [one for one in shown.drawn if "left" in one.text or "\x1b" in one.text]


def test_a_short_run_shows_no_line(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\n")
    assert on_terminal(*LONG, ".", folder=tmp_path).drawn == ()


def test_an_estimate_never_rises(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 20.0, 90.0, 95.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    left = TimeLeft()
    estimates = [left.seconds(share) for share in (0.0, 0.2, 0.4, 0.41, 0.99)]
    assert estimates[0] is None
    assert estimates[1:] == sorted(estimates[1:], reverse=True)


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [("train.py:21", 8, "train.py"), ("日本語.py", 5, "日本"), ("a\x1b[2Jb\n.py", 20, "a\ufffd[2Jb\ufffd.py")],
)
def test_what_is_shown_fits_and_moves_no_cursor(text: str, columns: int, shown: str) -> None:
    assert fitting(text, columns) == shown
