"""Runs a user's command, unchanged, under the recorder. No torch here: the program brings its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from xlalint.device.recording import inside
from xlalint.device.recording.inside.program import FOLDER, INCLUDED, LIBRARY, MODE, ROOTS, STEP_AT, TIMES
from xlalint.findings.model import Mode

INSIDE = Path(inside.__file__).parent


class NotStarted(Exception):
    """The command can't be run."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the user wants to see of a run beside the counts by line."""

    included: tuple[str, ...] = ()
    """Packages whose lines are shown as the user's own."""
    library: bool = False
    """Whether lines of libraries are told below the user's lines that called them."""
    step_at: tuple[str, int] | None = None
    times: bool = False


def launch(
    command: Sequence[str],
    mode: Mode,
    folder: Path,
    roots: Sequence[str],
    output: IO[bytes] | int,
    asked: Asked = Asked(),  # noqa: B008 (it is frozen)
) -> int:
    """Run ``command`` to its end; its logs go to ``folder``. Gives its exit code, as shells have it.

    Ctrl-C goes to the program, and what was recorded until then is kept; a second one kills it. The device is the
    user's choice, or torch_xla's, which takes the CPU where there is nothing else.
    """
    environment = {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **os.environ,
        FOLDER: str(folder),
        ROOTS: os.pathsep.join(roots),
        MODE: mode.value,
        INCLUDED: ",".join(asked.included),
        LIBRARY: "1" if asked.library else "",
        STEP_AT: ":".join(map(str, asked.step_at)) if asked.step_at else "",
        TIMES: "1" if asked.times else "",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(INSIDE), os.environ.get("PYTHONPATH")))),
    }
    try:
        program = subprocess.Popen(list(command), env=environment, stdout=output)
    except OSError as error:
        raise NotStarted(f"{command[0]}: {error.strerror or error}") from None
    with _signals_are_the_programs(program):
        status = program.wait()
    return status if status >= 0 else 128 - status


def roots_of(command: Sequence[str]) -> tuple[str, ...]:
    """Where the user's files are: the working directory, and the folders of the scripts that the command names."""
    scripts = [word for word in command if word.endswith(".py") and os.path.isfile(word)]
    folders = [os.getcwd(), *(os.path.dirname(os.path.abspath(script)) for script in scripts)]
    return tuple(dict.fromkeys(os.path.realpath(folder) for folder in folders))


@contextmanager
def _signals_are_the_programs(program: subprocess.Popen[bytes]) -> Iterator[None]:
    interrupts = 0

    def interrupted(number: int, frame: object) -> None:
        # A terminal sends it to the program, too.
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            program.kill()

    def ended(number: int, frame: object) -> None:
        program.terminate()

    before = signal.signal(signal.SIGINT, interrupted), signal.signal(signal.SIGTERM, ended)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
