"""Builds a wall out of namespaces around a command and runs it there. A script: it needs the standard library only.

``python -I -S namespaces_inside.py PLAN COMMAND…``, PLAN is an ``Enclosure`` as JSON, with sizes. The way is that of
bubblewrap: a new root in memory, on which only what may be seen is mounted, read-only; then all capabilities go.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from contextlib import suppress
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)

_NEW_USER, _NEW_MOUNTS, _NEW_PROCESSES, _NEW_NETWORK = 0x10000000, 0x00020000, 0x20000000, 0x40000000
_NEW_IPC, _NEW_NAMES, _NEW_CGROUPS = 0x08000000, 0x04000000, 0x02000000
_NOSUID, _NODEV, _NOEXEC, _RDONLY, _REMOUNT, _BIND = 2, 4, 8, 1, 32, 4096
_RECURSIVE, _SLAVE, _DETACH = 16384, 1 << 19, 2
_PARENT_DEATH, _NO_NEW_PRIVILEGES, _DROP_FROM_BOUNDS, _AMBIENT, _CLEAR_ALL = 1, 38, 24, 47, 4
# The same number on every architecture but one that torch does not know.
_SET_MOUNT_ATTRIBUTES, _HERE, _ALL_BELOW = 442, -100, 0x8000
_PIVOT = {"x86_64": 155, "aarch64": 41}
_SET_INTERFACE_FLAGS, _UP = 0x8914, 0x1
_CAPABILITIES_3 = 0x20080522
_OLD, _NEW = "/old", "/new"
_PLAIN_DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS_IN_DEV = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}


def main(arguments: list[str]) -> int:
    plan, command = json.loads(arguments[0]), arguments[1:]
    _do("prctl", _PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
    _leave(plan["network"])
    first = os.fork()
    if first == 0:
        _do("prctl", _PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
        _build(plan)
        _give_up_all_powers()
        os.setsid()
        os.execv(command[0], command)
    # The command alone holds the pipes: their end is its end.
    for descriptor in (0, 1):
        os.close(descriptor)
    return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])


def _leave(network: bool) -> None:
    """Into namespaces of our own; the next child is the first process of them."""
    user, group = os.geteuid(), os.getegid()
    kinds = _NEW_USER | _NEW_MOUNTS | _NEW_PROCESSES | _NEW_IPC | _NEW_NAMES | _NEW_CGROUPS
    _do("unshare", kinds if network else kinds | _NEW_NETWORK)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _build(plan: dict[str, Any]) -> None:
    os.umask(0o022)
    _mount(None, "/", None, _RECURSIVE | _SLAVE)
    _mount("tmpfs", "/tmp", "tmpfs", _NOSUID | _NODEV, "mode=0755")
    os.mkdir(f"/tmp{_OLD}")
    _pivot("/tmp", f"/tmp{_OLD}")
    os.chdir("/")
    os.mkdir(_NEW)
    _mount("tmpfs", _NEW, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=16m")
    _fill_dev(plan)
    for name, target in plan["links"]:
        os.symlink(target, _NEW + name)
    for place in plan["readable"]:
        _bind(place["source"], place["name"], _RDONLY | _NOSUID | _NODEV)
    for path in plan["covered"]:
        with suppress(OSError):  # it is gone by now
            _bind("/dev/null", path, _RDONLY | _NOSUID)
    if not plan["network"]:
        _bring_up_this_machines_own_address()
    _fill_proc(plan["kernels_own"])
    for path, size in plan["sizes"].items():
        os.makedirs(_NEW + path, exist_ok=True)
        _mount("tmpfs", _NEW + path, "tmpfs", _NOSUID | _NODEV, f"mode=1777,size={size}")
    for path in ("/dev", "/"):
        _mount(None, _NEW + path, None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV)
    os.chdir(_NEW)
    # The old root comes to lie on the new one, and is taken off.
    _pivot(".", ".")
    _do("umount2", b".", _DETACH)
    os.chdir(next(iter(plan["sizes"])))


def _fill_dev(plan: dict[str, Any]) -> None:
    os.mkdir(f"{_NEW}/dev")
    _mount("tmpfs", f"{_NEW}/dev", "tmpfs", _NOSUID | _NODEV, "mode=0755,size=1m")
    for path in (*(f"/dev/{name}" for name in _PLAIN_DEVICES), *plan["devices"]):
        _bind(path, path, _NOSUID)
    for name, target in _LINKS_IN_DEV.items():
        os.symlink(target, f"{_NEW}/dev/{name}")
    os.mkdir(f"{_NEW}/dev/shm")


def _fill_proc(kernels_own: list[str]) -> None:
    """The processes of this namespace, and none of the kernel's settings: for an administrator they could be written
    even without a power."""
    proc = f"{_NEW}/proc"
    os.mkdir(proc)
    _mount("proc", proc, "proc", _NOSUID | _NODEV | _NOEXEC)
    # In namespaces of its own a program could mount memory that nobody counts.
    _write(f"{proc}/sys/user/max_user_namespaces", "0")
    for path in (_NEW + name for name in kernels_own):
        if os.path.exists(path):
            _mount(path, path, None, _BIND | _RECURSIVE)
            _mount(None, path, None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV | _NOEXEC)


def _bind(source: str, name: str, attributes: int) -> None:
    """Show the file or folder ``source`` of the old root as ``name`` in the new one."""
    old, new = _OLD + source, _NEW + name
    if os.path.isdir(old):
        os.makedirs(new, exist_ok=True)
    elif not os.path.exists(new):
        os.makedirs(os.path.dirname(new), exist_ok=True)
        os.close(os.open(new, os.O_CREAT | os.O_WRONLY, 0o600))
    _mount(old, new, None, _BIND | _RECURSIVE)
    # What is mounted below it, too: an ordinary remount would leave that as it is. The numbers are the same there.
    told = struct.pack("QQQQ", attributes, 0, 0, 0)
    _do("syscall", _SET_MOUNT_ATTRIBUTES, _HERE, os.fsencode(new), _ALL_BELOW, told, len(told))


def _bring_up_this_machines_own_address() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, _SET_INTERFACE_FLAGS, struct.pack("16sh14x", b"lo", _UP))


def _give_up_all_powers() -> None:
    _do("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    with suppress(OSError):
        _do("prctl", _AMBIENT, _CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        try:
            _do("prctl", _DROP_FROM_BOUNDS, capability, 0, 0, 0)
        except OSError:  # the kernel knows no more of them
            break
    _do("capset", struct.pack("Ii", _CAPABILITIES_3, 0), bytes(24))


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    _do("mount", *encoded, ctypes.c_ulong(flags), options.encode() if options is not None else None)


def _pivot(new: str, old: str) -> None:
    _do("syscall", _PIVOT[os.uname().machine], os.fsencode(new), os.fsencode(old))


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _do(name: str, *arguments: Any) -> None:
    """A call of the system. Raises ``OSError`` with its name."""
    if getattr(_LIBC, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, KeyError) as error:
        sys.exit(str(error))
