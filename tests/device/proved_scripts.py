"""Proves what is found in scripts: the evidence of each finding, by the file and the comment on its line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from xlalint.device.validation.trials import Settings
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Evidence
from xlalint.linting import Options, lint
from xlalint.validating import validate

SCRIPT, BESIDE = "train.py", "beside.py"
USES_XLA = "import torch_xla\n\ntorch_xla.sync()\n"
"""Somebody in the project uses XLA."""


def proved(folder: Path, text: str) -> dict[str, Evidence]:
    """By the comments of one script; a file beside it uses XLA."""
    found = proved_files(folder, {SCRIPT: text, BESIDE: USES_XLA})
    return {comment: evidence for (path, comment), evidence in found.items() if path == SCRIPT}


def proved_files(
    folder: Path, files: Mapping[str, str], packages: Path | None = None
) -> dict[tuple[str, str], Evidence]:
    """By the names and the comments of files; ``packages`` has further installed ones."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        report = lint([Path()], Configurations(), Options(jobs=1))
        found = validate(
            report,
            Configurations(),
            Settings(steps=4),
            folders=[str(folder)],
            packages=[] if packages is None else [str(packages)],
        )
    return {
        (one.path, comment): one.evidence
        for one in found.diagnostics
        if one.evidence is not None and (comment := files[one.path].splitlines()[one.at.line - 1].partition("# ")[2])
    }
