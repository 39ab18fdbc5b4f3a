"""What a file is for: a test, or code for GPUs alone, whose findings weigh less."""

from __future__ import annotations

import os

from xlalint.findings.settings import Configuration, TreatmentName

TEST_FOLDERS = frozenset({"test", "tests"})
FIXTURES = "conftest.py"


def is_test(path: str, root: str) -> bool:
    """Whether a file is a test by its name, or by a folder between it and the configuration's."""
    absolute = os.path.abspath(path)
    inside = os.path.relpath(absolute, root) if absolute.startswith(os.path.join(root, "")) else absolute
    *folders, name = inside.split(os.sep)
    stem = name.removesuffix(".py")
    named = name == FIXTURES or stem.startswith("test_") or stem.endswith("_test")
    return named or not TEST_FOLDERS.isdisjoint(folders)


def treatment(path: str, needs_cuda: str, configuration: Configuration) -> TreatmentName:
    """What becomes of the findings of a file."""
    settings = configuration.settings
    chosen: list[TreatmentName] = []
    if settings.tests != "same" and is_test(path, configuration.root):
        chosen.append(settings.tests)
    if settings.cuda_files != "same" and needs_cuda:
        chosen.append(settings.cuda_files)
    return max(chosen, default="same")
