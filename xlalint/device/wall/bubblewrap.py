"""The wall by bubblewrap, https://github.com/containers/bubblewrap, 0.8 or later: earlier ones can't forbid the
program namespaces of its own, and in such it could mount memory of any size."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from xlalint.device.wall.enclosure import KERNELS_OWN, SCRATCH, SHARED_MEMORY, Enclosure

NAME = "bubblewrap"
_EXECUTABLE = "bwrap"
_NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


def bubblewrap_command(inside: Enclosure) -> list[str] | None:
    """What to put before a command; None where it is not installed."""
    executable = shutil.which(_EXECUTABLE)
    return None if executable is None else [executable, *_options(inside), "--"]


def _options(inside: Enclosure) -> Iterator[str]:
    yield from (*_NAMESPACES, "--disable-userns", "--cap-drop", "ALL")
    if not inside.network:
        yield "--unshare-net"
    # The first process gets no signal from those it starts, and ends them all when it ends.
    yield from ("--die-with-parent", "--new-session", "--as-pid-1", "--proc", "/proc", "--dev", "/dev")
    # Of root's these are writable even without a power, and bubblewrap leaves some of them so.
    for name in KERNELS_OWN:
        yield from ("--ro-bind-try", name, name)
    for place in (SCRATCH, SHARED_MEMORY):
        yield from ("--size", str(inside.scratch_bytes), "--tmpfs", place)
    for name, target in inside.links:
        yield from ("--symlink", target, name)
    for each in inside.readable:
        yield from ("--ro-bind", each.source, each.name)
    for path in inside.covered:
        yield from ("--ro-bind", "/dev/null", path)
    for path in inside.devices:
        yield from ("--dev-bind", path, path)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", SCRATCH)
