"""What a program behind the wall is told of the environment: what torch and the device need, and nothing else."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from xlalint.device.wall.enclosure import SCRATCH

_KEPT = re.compile(
    r"LANG|LANGUAGE|LC_\w+|TZ|LD_LIBRARY_PATH|CPU_NUM_DEVICES"
    r"|(?:PJRT|XLA|TPU|LIBTPU|NEURON|CUDA|NVIDIA|TORCH|TORCHINDUCTOR|PYTORCH|PTXLA|TF_CPP|OMP|MKL|KMP|OPENBLAS)_\w+"
)
_SECRET = re.compile(r"(?i)token|secret|passw|credential|api_?key|private")


def clean(environ: Mapping[str, str]) -> dict[str, str]:
    """A name that sounds like a secret is none of the device's, whatever it begins with."""
    kept = {name: value for name, value in environ.items() if _KEPT.fullmatch(name) and not _SECRET.search(name)}
    folders = dict.fromkeys([os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"])
    return {**kept, "PATH": os.pathsep.join(folders), "HOME": SCRATCH, "TMPDIR": SCRATCH}
