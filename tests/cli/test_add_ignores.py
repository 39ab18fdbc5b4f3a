"""`--add-ignores` writes comments that silence what is found, and changes nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Xlalint
from test_findings_end_to_end import PROGRAM

READ = "total += loss.item()"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (READ, "total += loss.item()  # xlalint: ignore[XLA101] once"),
        (f"{READ} # why", "total += loss.item() # why  # xlalint: ignore[XLA101] once"),
        (
            f"{READ}  # xlalint: ignore[XLA201] so",
            "total += loss.item()  # xlalint: ignore[XLA201, XLA101] so",
        ),
        (f"{READ}  # noqa: E501", "total += loss.item()  # noqa: E501  # xlalint: ignore[XLA101] once"),
        (
            "total += \\\n            loss.item()",
            "total += \\\n            loss.item()  # xlalint: ignore[XLA101] once",
        ),
        (
            "total = (\n            loss.item() \\\n            + 1\n        )",
            "total = (\n            loss.item() \\\n            + 1\n        )  # xlalint: ignore[XLA101] once",
        ),
        (
            'print(f"""{loss.item()}\n""")',
            'print(f"""{loss.item()}\n""")  # xlalint: ignore[XLA101] once',
        ),
        (
            "row = {\n            'loss': loss.item(),\n            'n': 1,\n        }",
            "row = {\n            'loss': loss.item(),  # xlalint: ignore[XLA101] once\n            'n': 1,\n        }",
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_comment_silences_and_all_else_stays(xlalint: Xlalint, line: str, expected: str, newline: str) -> None:
    text = PROGRAM.replace(READ, line)
    path = Path("train.py")
    path.write_bytes(text.replace("\n", newline).encode())
    outcome = xlalint("--select", "XLA101", "--add-ignores", "--reason", "once", ".")
    assert (outcome.code, outcome.out) == (0, "1 finding silenced in 1 file.\n")
    assert path.read_bytes() == PROGRAM.replace(READ, expected).replace("\n", newline).encode()
    assert xlalint("--select", "XLA101", "--extend-select", "XLA001", ".").code == 0


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig"])
def test_the_encoding_stays(xlalint: Xlalint, encoding: str) -> None:
    cookie = "# coding: latin-1\n" if encoding == "latin-1" else ""
    text = f"{cookie}# é\n{PROGRAM}"
    path = Path("train.py")
    path.write_bytes(text.encode(encoding))
    path.chmod(0o755)
    assert xlalint("--add-ignores", ".").code == 0
    after = path.read_bytes().decode(encoding)
    assert after == text.replace(READ, f"{READ}  # xlalint: ignore[XLA101] accepted for now")
    assert path.stat().st_mode & 0o777 == 0o755
    assert xlalint(".").code == 0


def test_what_the_encoding_lacks_is_told_and_nothing_written(xlalint: Xlalint) -> None:
    path = Path("train.py")
    path.write_bytes(f"# coding: latin-1\n{PROGRAM}".encode("latin-1"))
    before = path.read_bytes()
    outcome = xlalint("--add-ignores", "--reason", "später, vielleicht €", ".")
    assert outcome.code == 2
    assert outcome.errors == ["xlalint: error: train.py: the reason can't be written in the encoding of the file"]
    assert path.read_bytes() == before


def test_what_a_baseline_accepts_gets_none(xlalint: Xlalint) -> None:
    Path("train.py").write_text(PROGRAM)
    xlalint("baseline")
    assert xlalint("--add-ignores", ".").out == "0 findings silenced in 0 files.\n"
    assert Path("train.py").read_text() == PROGRAM


def test_standard_input_and_reasons_of_two_lines_are_refused(xlalint: Xlalint) -> None:
    assert xlalint("--add-ignores", "-", stdin=b"x = 1\n").code == 2
    assert xlalint("--add-ignores", "--reason", "a\nb", ".").code == 2
