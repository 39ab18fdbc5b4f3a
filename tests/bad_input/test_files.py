"""Files that can't be read: one clear line for each, and the rest of the run is unharmed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from outcome import Xlalint

GOOD = "def add(a, b):\n    return a + b\n"
TORCH = b"import torch\n"

REFUSED = [
    (TORCH + b"x = 1\0\n", "contains null bytes (first in line 2)"),
    (TORCH + b"x = '\xe9'\n", "is not valid UTF-8 (byte 0xe9 in line 2)"),
    (b"# coding: latin-99\n" + TORCH, "names the unknown encoding `latin-99`"),
    (b"# coding: ascii\n" + TORCH + "x = 'é'\n".encode(), "is not valid ASCII (byte 0xc3 in line 3)"),
    (b"# coding: hex\n" + TORCH, "names the unknown encoding `hex`"),
    (
        b"\xef\xbb\xbf# coding: latin-1\n" + TORCH,
        "has a UTF-8 byte order mark, but its encoding comment says `latin-1`",
    ),
]


@pytest.fixture(autouse=True)
def _good_neighbour(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD)


@pytest.mark.parametrize(("data", "reason"), REFUSED, ids=[reason[:24] for _, reason in REFUSED])
def test_what_is_no_text_is_one_line(xlalint: Xlalint, data: bytes, reason: str) -> None:
    Path("bad.py").write_bytes(data)
    outcome = xlalint(".")
    assert outcome.only_complaint() == f"xlalint: warning: bad.py: {reason}"
    assert outcome.code == 0
    assert "1 file checked, 1 skipped" in outcome.out


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-32"])
def test_wide_encodings_are_one_line(xlalint: Xlalint, codec: str) -> None:
    Path("bad.py").write_bytes("import torch\n".encode(codec))
    outcome = xlalint("bad.py")
    assert outcome.only_complaint().startswith("xlalint: warning: bad.py: ")
    assert outcome.code == 2


def test_skipped_files_are_listed_in_json(xlalint: Xlalint) -> None:
    Path("bad.py").write_bytes(TORCH + b"\0")
    report = json.loads(xlalint("--output-format", "json", ".").out)
    reason = "contains null bytes (first in line 2)"
    assert report["skipped"] == [{"path": "bad.py", "reason": reason, "internal": False}]
    assert report["summary"]["files"] == 1


def test_a_generated_file_of_ten_megabytes_is_one_line(xlalint: Xlalint) -> None:
    Path("big.py").write_bytes(TORCH + b"x = [1, 2, 3]  # generated\n" * 400_000)
    assert xlalint(".").only_complaint() == "xlalint: warning: big.py: is larger than 5 MB (`max-file-size`)"


def test_a_pipe_does_not_block(xlalint: Xlalint) -> None:
    os.mkfifo("pipe.py")
    assert xlalint(".").only_complaint() == "xlalint: warning: pipe.py: is not a regular file"
    named = xlalint("pipe.py")
    assert (named.code, named.only_complaint()) == (2, "xlalint: warning: pipe.py: is not a regular file")


def test_a_pipe_in_place_of_a_configuration_does_not_block(xlalint: Xlalint) -> None:
    os.mkfifo("xlalint.toml")
    os.mkfifo(".gitignore")
    assert xlalint(".").code == 0


def test_a_folder_called_like_a_module_is_walked(xlalint: Xlalint) -> None:
    Path("folder.py").mkdir()
    Path("folder.py/inner.py").write_text(GOOD)
    assert "2 files checked" in xlalint(".").out


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_one_line(xlalint: Xlalint) -> None:
    Path("secret.py").write_bytes(TORCH)
    Path("secret.py").chmod(0)
    assert xlalint(".").only_complaint() == "xlalint: warning: secret.py: permission denied"


def test_broken_links_and_circles_are_one_line_each(xlalint: Xlalint) -> None:
    os.symlink("nowhere.py", "broken.py")
    os.symlink("b.py", "a.py")
    os.symlink("a.py", "b.py")
    os.symlink(".", "again")
    outcome = xlalint(".")
    assert outcome.code == 0
    assert outcome.err.splitlines() == [
        "xlalint: warning: a.py: is a symbolic link that leads in a circle",
        "xlalint: warning: b.py: is a symbolic link that leads in a circle",
        "xlalint: warning: broken.py: is a broken symbolic link",
    ]
    for name in ("broken.py", "a.py"):
        named = xlalint(name)
        assert named.code == 2
        assert named.only_complaint().startswith(f"xlalint: error: {name}")


def test_folders_without_python_are_one_line(xlalint: Xlalint) -> None:
    Path("docs").mkdir()
    Path("docs/readme.md").write_text("# nothing\n")
    outcome = xlalint("docs")
    assert (outcome.code, outcome.only_complaint()) == (0, "xlalint: warning: no Python files found in `docs`")


@pytest.mark.parametrize(
    "text",
    [
        'select = "XLA1"',
        "select = [",
        'selct = ["XLA1"]',
        "mode = 3",
        "per-file-ignores = []",
        "[hints]\nloaders = {}",
        'plugins = ["nobody-has-this"]\nselect = ["XLA1"]',
        'severity = { XLA999 = "note" }',
        "\0",
    ],
)
def test_a_wrong_configuration_is_one_line(xlalint: Xlalint, text: str) -> None:
    Path("xlalint.toml").write_text(text)
    outcome = xlalint(".")
    assert outcome.code == 2
    assert outcome.only_complaint().startswith("xlalint: error: ")
    assert not outcome.out


def test_a_plugin_that_is_missing_is_one_line_however_many_processes_run(xlalint: Xlalint) -> None:
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "part.py").write_bytes(TORCH)
    Path("b/xlalint.toml").write_text('plugins = ["nobody-has-this"]')
    outcome = xlalint(".", "--jobs", "2")
    assert outcome.code == 2
    told = "xlalint: error: b/xlalint.toml: key `plugins`: no plugin `nobody-has-this` is installed"
    assert outcome.only_complaint() == told


NOTEBOOK = {
    "cells": [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": ["import torch"]}
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.mark.parametrize("data", [json.dumps(NOTEBOOK).encode(), b"x = 1\n", b"\xff\0", b"", b"x" * 6_000_000])
def test_a_notebook_is_refused_whatever_is_in_it(xlalint: Xlalint, data: bytes) -> None:
    Path("Train.ipynb").write_bytes(data)
    told = "xlalint: warning: Train.ipynb: is a notebook, which is not read yet"
    outcome = xlalint("Train.ipynb")
    assert (outcome.code, outcome.only_complaint()) == (2, told)
    assert "All clear" not in outcome.out
    beside = xlalint("Train.ipynb", "good.py", "--output-format", "json")
    assert (beside.code, beside.only_complaint()) == (0, told)
    assert [one["path"] for one in json.loads(beside.out)["skipped"]] == ["Train.ipynb"]
    assert xlalint("--strict", "Train.ipynb", "good.py").code == 2
    piped = xlalint("-", "--stdin-filename", "Train.ipynb", stdin=b"x = 1\n")
    assert (piped.code, piped.only_complaint()) == (2, told)
    shown = xlalint("--show-files", "Train.ipynb", "good.py")
    assert (shown.out, shown.only_complaint()) == ("good.py\n", told)


@pytest.mark.parametrize("indent", [None, 1])
def test_a_notebook_without_its_name_is_known_by_its_content(xlalint: Xlalint, indent: int | None) -> None:
    data = json.dumps(NOTEBOOK, indent=indent).encode()
    outcome = xlalint("-", stdin=b"\n" + data)
    assert (outcome.code, outcome.only_complaint()) == (2, "xlalint: warning: -: is a notebook, which is not read yet")
    Path("saved_as.py").write_bytes(b"\xef\xbb\xbf" + data)
    assert xlalint("saved_as.py").code == 2
    assert xlalint("explain", "saved_as.py:1").only_complaint().endswith("is a notebook, which is not read yet")


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("run", b"#!/usr/bin/env python3\nimport torch\n", 0),
        ("types.pyi", b"x: int\n", 0),
        ("README.md", b"# A title\n\nand some words\n", 2),
        ("weights.bin", b"\x80\x02\0\0", 2),
        ("photo.png", b"\x89PNG\r\n", 2),
    ],
)
def test_a_named_file_of_another_ending_is_read_as_python(xlalint: Xlalint, name: str, data: bytes, code: int) -> None:
    Path(name).write_bytes(data)
    outcome = xlalint(name)
    assert outcome.code == code
    if code:
        assert outcome.only_complaint().startswith(f"xlalint: warning: {name}: ")


@pytest.mark.parametrize("name", ["con fig.py", "é ü.py", "-dash.py", "a:b.py", "x'y\".py"])
def test_strange_names_are_shown_as_they_are(xlalint: Xlalint, name: str) -> None:
    Path(name).write_bytes(TORCH + b"\0")
    assert xlalint(".").only_complaint().startswith(f"xlalint: warning: {name}: contains null bytes")


@pytest.mark.parametrize("arguments", [("x\0y.py",), ("--config", "a\0b"), ("a" * 5000,), ("",)])
def test_paths_that_no_system_takes_are_one_line(xlalint: Xlalint, arguments: tuple[str, ...]) -> None:
    if any("\0" in argument for argument in arguments):
        pytest.skip("a process can't be given a null character")
    outcome = xlalint(*arguments)
    assert outcome.code == 2
    assert outcome.only_complaint().startswith("xlalint: error: ")
