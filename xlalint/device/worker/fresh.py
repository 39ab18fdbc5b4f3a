"""A program in an interpreter of its own: what tells a forked process from any other is not taken for its doing."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

from xlalint.device.wall.choice import python
from xlalint.device.worker import protocol
from xlalint.device.worker.protocol import Failure, Outcome, Request, Versions

ONCE = "--once"
SERVE = "from xlalint.device.worker.server import main; sys.exit(main(sys.argv[1:]))"


def in_fresh_process(request: Request, scratch: Path) -> Outcome:
    """Run in the process of a program, behind its wall and within its limits; who asked ends it where it is late."""
    process = subprocess.Popen(
        python(SERVE, [ONCE, str(scratch)]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)
    )
    told, _ = process.communicate(protocol.framed(request))
    answers = io.BytesIO(told)
    outcome = protocol.read(answers, Outcome) if protocol.read(answers, Versions) is not None else None
    sys.stdout.flush()
    return outcome or Outcome(failure=Failure("Died", f"a fresh process ended with exit code {process.returncode}"))
