"""What a file is for: a test, a copy that is kept, or code for GPUs alone, whose findings weigh less."""

from __future__ import annotations

import os

from xlalint.findings.settings import Configuration, TreatmentName

TEST_FOLDERS = frozenset({"test", "tests"})
FIXTURES = "conftest.py"
COPIES = frozenset({"archive", "archived", "backup", "backups", "bak", "deprecated", "log", "logs", "obsolete", "old"})
"""Folders of what ran once: scripts that others replaced, and the model's file beside the log of its training."""
OF_COPIES = ("_backup", "_bak", "_old")


def is_test(path: str, root: str) -> bool:
    """Whether a file is a test by its name, or by a folder between it and the configuration's."""
    folders, name, stem = parts(path, root)
    named = name == FIXTURES or stem.startswith("test_") or stem.endswith("_test")
    return named or not TEST_FOLDERS.isdisjoint(folders)


def is_copy(path: str, root: str) -> bool:
    """Whether a file is one that somebody keeps beside what took its place, in the same way."""
    folders, _, stem = parts(path, root)
    return stem.endswith(OF_COPIES) or not COPIES.isdisjoint(folders)


def parts(path: str, root: str) -> tuple[list[str], str, str]:
    """The folders below the configuration's, the name of a file, and that without its ending."""
    absolute = os.path.abspath(path)
    inside = os.path.relpath(absolute, root) if absolute.startswith(os.path.join(root, "")) else absolute
    *folders, name = inside.split(os.sep)
    return folders, name, name.removesuffix(".py")


def treatment(path: str, needs_cuda: str, configuration: Configuration) -> TreatmentName:
    """What becomes of the findings of a file."""
    settings = configuration.settings
    chosen: list[TreatmentName] = []
    if settings.tests != "same" and is_test(path, configuration.root):
        chosen.append(settings.tests)
    if settings.copies != "same" and is_copy(path, configuration.root):
        chosen.append(settings.copies)
    if settings.cuda_files != "same" and needs_cuda:
        chosen.append(settings.cuda_files)
    return max(chosen, default="same")
