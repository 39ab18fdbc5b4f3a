"""The wall by the kernel's namespaces, without any other program than Python. ``namespaces_inside`` builds it."""

from __future__ import annotations

import os
import sys

import msgspec

from xlalint.device.wall.enclosure import KERNELS_OWN, SCRATCH, SHARED_MEMORY, Enclosure

NAME = "namespaces"


def namespaces_command(inside: Enclosure) -> list[str] | None:
    """What to put before a command; None where there are none."""
    if not sys.platform.startswith("linux"):
        return None
    plan = {
        **msgspec.to_builtins(inside),
        "kernels_own": KERNELS_OWN,
        "sizes": {SCRATCH: inside.scratch_bytes, SHARED_MEMORY: inside.scratch_bytes},
    }
    script = os.path.join(os.path.dirname(__file__), "namespaces_inside.py")
    # Not that of a virtual environment, which may lie in the linted project: this part runs outside.
    interpreter = getattr(sys, "_base_executable", sys.executable)
    return [interpreter, "-I", "-S", script, msgspec.json.encode(plan).decode()]
