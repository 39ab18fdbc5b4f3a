"""The kernel's Landlock: whoever enters, and all that it starts, writes below some folders only, sends no signal out of
the domain and reaches no abstract socket. Needs no privilege. https://docs.kernel.org/userspace-api/landlock.html"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable

_CREATE, _ADD, _ENTER = 444, 445, 446
_ASK_VERSION, _BELOW_A_PATH = 1, 1
_NO_NEW_PRIVILEGES = 38
_OPENED_FOR_ITS_PLACE = 0o10000000
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
"""Make and remove files of any kind."""
_MOVE = 1 << 13
_SCOPES = 0b11
"""Abstract sockets and signals."""


def restrict_writing(folders: Iterable[str]) -> bool:
    """Enter a domain that writes in ``folders`` only. False where the kernel has no Landlock."""
    if not sys.platform.startswith("linux"):
        return False
    system = ctypes.CDLL(None, use_errno=True).syscall
    version = system(_CREATE, None, 0, _ASK_VERSION)
    if version < 1:
        return False
    writes = _WRITE_FILE | _CHANGE_FOLDERS | (_MOVE if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    # Later kernels know more fields, earlier ones refuse them.
    told = struct.pack("QQQ", writes, 0, _SCOPES if version >= 6 else 0)[: 24 if version >= 6 else 8]
    rules = system(_CREATE, told, len(told), 0)
    if rules < 0:
        return False
    try:
        for folder in folders:
            _allow(system, rules, folder, writes)
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        entered: int = system(_ENTER, rules, 0)
        return entered == 0
    finally:
        os.close(rules)


def _allow(system: ctypes._NamedFuncPointer, rules: int, folder: str, writes: int) -> None:
    place = os.open(folder, _OPENED_FOR_ITS_PLACE | os.O_CLOEXEC)
    try:
        system(_ADD, rules, _BELOW_A_PATH, struct.pack("=Qi", writes, place), 0)
    finally:
        os.close(place)
