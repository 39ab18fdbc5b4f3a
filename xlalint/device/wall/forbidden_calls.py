"""Calls of the kernel that a program behind the wall has no use for, refused by a seccomp filter: memory that belongs
to no process and no folder (nobody could count it), the user's keys, and looking into other processes."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

_NO_NEW_PRIVILEGES, _SET_FILTER, _BY_FILTER = 38, 22, 2
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.ENOSYS, 0x80000000
_NUMBER, _ARCHITECTURE = 0, 4
_OTHER_NUMBERING = 0x40000000
"""x86's x32, by which the same calls have other numbers."""

_CALLS: tuple[tuple[str, int, int], ...] = (
    # name, on x86_64, on aarch64
    ("memfd_create", 319, 279),
    ("memfd_secret", 447, 447),
    ("shmget", 29, 194),
    ("msgget", 68, 186),
    ("add_key", 248, 217),
    ("request_key", 249, 218),
    ("keyctl", 250, 219),
    ("ptrace", 101, 117),
    ("process_vm_readv", 310, 270),
    ("process_vm_writev", 311, 271),
    ("pidfd_getfd", 438, 438),
    ("bpf", 321, 280),
    ("perf_event_open", 298, 241),
    ("userfaultfd", 323, 282),
    ("io_uring_setup", 425, 425),
)
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def refuse_calls() -> bool:
    """For this process and all that it starts. False where the system has no filters, or their numbers aren't known."""
    known = _ARCHITECTURES.get(os.uname().machine) if sys.platform.startswith("linux") else None
    if known is None:
        return False
    architecture, column = known
    steps = _steps(architecture, [(x86_64, aarch64)[column] for _, x86_64, aarch64 in _CALLS])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    program = _Filter(len(steps) // 8, steps)
    return bool(libc.prctl(_SET_FILTER, _BY_FILTER, ctypes.byref(program), 0, 0) == 0)


def _steps(architecture: int, numbers: list[int]) -> bytes:
    """The filter: other architectures are killed, the numbers are refused, all else is allowed."""
    steps = [
        _step(_LOAD, 0, 0, _ARCHITECTURE),
        _step(_JUMP_IF_EQUAL, 1, 0, architecture),
        _step(_RETURN, 0, 0, _KILL),
        _step(_LOAD, 0, 0, _NUMBER),
        _step(_JUMP_IF_AT_LEAST, len(numbers) + 1, 0, _OTHER_NUMBERING),
        *(_step(_JUMP_IF_EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)),
        _step(_RETURN, 0, 0, _ALLOW),
        _step(_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(steps)


def _step(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
