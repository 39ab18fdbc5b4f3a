"""The wall around programs, as the command line wants it: ``--no-sandbox``, what may be read, limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from xlalint.cli.console import complain
from xlalint.cli.options import GivenPath

if TYPE_CHECKING:
    from xlalint.device.worker.guard import Guard

Command = TypeVar("Command", bound=Callable[..., Any])

_MEGABYTE = 1 << 20


class Sandbox(NamedTuple):
    """The options of ``SANDBOX``."""

    no_sandbox: bool
    data: tuple[str, ...]
    max_memory: int | None
    max_scratch: int
    max_file: int | None
    max_files: int | None
    max_cpu: int | None
    max_processes: int | None


def _limit(name: str, least: int, unit: str, text: str, default: int | None = None) -> Callable[[Command], Command]:
    kind = click.IntRange(least, 1 << 30)
    shown = default is not None
    return click.option(name, type=kind, metavar=unit, default=default, show_default=shown, help=text)


SANDBOX = (
    click.option(
        "--no-sandbox",
        is_flag=True,
        envvar="XLALINT_NO_SANDBOX",
        help="Run programs without a wall around them: they can do what you can. [env: XLALINT_NO_SANDBOX]",
    ),
    click.option(
        "--data",
        type=GivenPath(exists=True),
        multiple=True,
        metavar="PATH",
        help="File or folder that programs may read beside the project and the packages.",
    ),
    _limit(
        "--max-memory",
        64,
        "MB",
        "Memory of one program with all its processes. [default: 4096, for scripts up to a third of all]",
    ),
    _limit("--max-scratch", 16, "MB", "Size of the scratch folder, and of shared memory.", 1024),
    _limit("--max-file", 1, "MB", "Size of a file that a program writes. [default: 64]"),
    _limit("--max-files", 100, "N", "Files in the scratch folder. [default: 100000]"),
    _limit("--max-cpu", 1, "SECONDS", "Processor time of one process. [default: 300, or four times --timeout]"),
    _limit("--max-processes", 64, "N", "Processes and threads of one program. [default: 1024, or 16 a core]"),
)


def sandbox_options(command: Command) -> Command:
    """The options of ``SANDBOX``; the command makes a ``Sandbox`` of them by ``wanted``."""
    for option in reversed(SANDBOX):
        command = option(command)
    return command


def wanted(chosen: dict[str, Any]) -> Sandbox:
    return Sandbox(*(chosen.pop(name) for name in Sandbox._fields))


def guard(sandbox: Sandbox, folders: Iterable[str], *, own: bool) -> Guard:
    """``folders`` are what is linted. Programs of the package's ``own`` run where no wall can be had, too, and the user
    is told; for others it raises ``ClickException``."""
    from xlalint.device.wall.choice import build
    from xlalint.device.wall.enclosure import CPU, enclosure
    from xlalint.device.wall.errors import NoWall
    from xlalint.device.worker.guard import Guard

    limits = _limits(sandbox)
    if sandbox.no_sandbox:
        return Guard(limits=limits)
    device = os.environ.get("PJRT_DEVICE", CPU)
    inside = enclosure([*folders, *sandbox.data], device, sandbox.max_scratch * _MEGABYTE)
    try:
        return Guard(wall=build(inside), limits=limits)
    except NoWall as error:
        if not own:
            raise click.ClickException(f"{error}; --no-sandbox runs the programs without one") from error
        complain("note", f"the package's own programs are run without a wall: {error}")
        return Guard(limits=limits)


def _limits(sandbox: Sandbox) -> Any:
    from xlalint.device.worker.limits import Limits

    def in_bytes(megabytes: int | None) -> int | None:
        return None if megabytes is None else megabytes * _MEGABYTE

    return Limits(
        data_bytes=in_bytes(sandbox.max_memory),
        cpu_seconds=sandbox.max_cpu,
        file_bytes=in_bytes(sandbox.max_file),
        tasks=sandbox.max_processes,
        files=sandbox.max_files,
    )
