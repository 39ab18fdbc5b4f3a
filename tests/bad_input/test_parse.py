"""Text that is no program, or a hard one: it is read end to end, and never ends the run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from outcome import Xlalint

HEAD = "import torch\n"

UNPARSABLE = {
    "unclosed": "x = (1,\n",
    "half a function": "def f(:\n    pass\n",
    "wrong indentation": "if True:\npass\n",
    "tabs and spaces": "if True:\n        x = 1\n\ty = 2\n",
    "python 2": "print 'hello'\n",
    "merge conflict": "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n",
    "unterminated string": "x = '''\n",
    "lone return type": "->\n",
    "bad number": "x = 0777\n",
    "bad escape": "x = '\\N{no such name}'\n",
}

READABLE = {
    "empty": "",
    "only a comment": "# nothing\n",
    "only a newline": "\n",
    "no newline at the end": "x = 1",
    "form feeds": HEAD + "\x0c\ndef f():\n\x0c    return 1\n",
    "crlf": HEAD.replace("\n", "\r\n") + "x = 1\r\n",
    "old mac": "import torch\rx = 1\r",
    "mixed line ends": "import torch\r\nx = 1\ry = 2\n",
    "a mark": "\ufeff" + HEAD + "x = 1\n",
    "one class is its own base": HEAD + "class A(A):\n    pass\n",
    "bases in a circle": HEAD + "class A(B): pass\nclass B(A): pass\nclass C(C, A, B): pass\nC().forward(1)\n",
    "a function calls itself": HEAD + "def f(x):\n    return f(f(x)).item()\nf(torch.ones(1))\n",
    "two functions call each other": HEAD + "def f(x): return g(x)\ndef g(x): return f(x)\nfor i in range(9): f(i)\n",
    "a name is itself": HEAD + "x = x\nx = (lambda: x)()\ny: y = y\n",
    "class values in a circle": HEAD + "class A:\n    x = A.x\n    y = A().x\n    z: 'A.z' = A.z.q\nA().y.item()\n",
    "a default that its own calls make": HEAD + "def f(a=X, b=f(), c=Y): return a\nX = f()\nX = f(X)\nY = [f(), X]\n",
    "a default of a lambda in a circle": HEAD + "for x in f():\n    g = lambda a=x: a\n    x = g\ng()\n",
    "annotations of nothing": HEAD + "def f(a: tuple[()], b: list[()], c: Optional[()] = None) -> dict[()]: return a\n",
    "a container holds itself": HEAD + "a = []\na.append(a)\nfor b in a: a = [a, b]\n",
    "star imports of itself": HEAD + "from strange import *\nfrom . import *\nfrom .... import x\n",
    "a line of a megabyte": HEAD + "x = [" + "1, " * 300_000 + "]\n",
    "50,000 statements": HEAD + "x = torch.ones(1)\n" * 50_000,
    "a class 1,000 deep": HEAD
    + "class C0(torch.nn.Module):\n    def forward(self, x): return x.item()\n"
    + "".join(f"class C{n}(C{n - 1}):\n    def forward(self, x): return super().forward(x)\n" for n in range(1, 1000))
    + "C999()(torch.ones(1))\n",
    "a chain of 2,000 functions": HEAD
    + "def f0(x): return x\n"
    + "".join(f"def f{n}(x): return f{n - 1}(x)\n" for n in range(1, 2000))
    + "f1999(torch.ones(1))\n",
    "20,000 functions": HEAD + "".join(f"def f{n}(x): return x\n" for n in range(20_000)),
}

TOO_DEEP_OR_READ = {
    "1,000 elif": HEAD + "if x == 0: pass\n" + "".join(f"elif x == {n}: pass\n" for n in range(1, 1000)),
    "huge integer": HEAD + f"x = {'9' * 5000}\n",
    "5,000 parentheses": HEAD + "x = " + "(" * 5000 + "1" + ")" * 5000 + "\n",
    "a sum of 20,000 terms": HEAD + "x = " + " + ".join(["y"] * 20_000) + "\n",
    "a sum of 300,000 terms": HEAD + "x = " + " + ".join(["y"] * 300_000) + "\n",
    "a chain of 300,000 calls": HEAD + "x = y" + ".f()" * 300_000 + "\n",
    "200,000 and": HEAD + "x = " + " and ".join(["y"] * 200_000) + "\n",
    "5,000 brackets": HEAD + "x = " + "[" * 5000 + "]" * 5000 + "\n",
    "a chain of 5,000 calls": HEAD + "x = y" + ".f()" * 5000 + "\n",
    "5,000 attributes": HEAD + "x = y" + ".a" * 5000 + "\n",
    "5,000 unary operators": HEAD + "x = " + "-" * 5000 + "1\n",
    "20,000 and": HEAD + "x = " + " and ".join(["y"] * 20_000) + "\n",
    "blocks 90 deep": HEAD + "".join("    " * n + "if x:\n" for n in range(90)) + "    " * 90 + "pass\n",
    "1,000 lambdas": HEAD + "x = " + "lambda: " * 1000 + "1\n",
}


@pytest.fixture(autouse=True)
def _good_neighbour(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("import torch\n\nx = torch.ones(1)\n")


def write(text: str) -> None:
    Path("strange.py").write_bytes(text.encode())


@pytest.mark.parametrize("text", UNPARSABLE.values(), ids=UNPARSABLE)
def test_a_syntax_error_is_one_line(xlalint: Xlalint, text: str) -> None:
    write(HEAD + text)
    outcome = xlalint(".")
    assert outcome.only_complaint().startswith("xlalint: warning: strange.py: ")
    assert outcome.code == 0
    assert "1 file checked, 1 skipped" in outcome.out
    assert xlalint("strange.py").code == 2
    assert xlalint("--strict", ".").code == 2


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_strange_but_right_text_is_read(xlalint: Xlalint, text: str) -> None:
    write(text)
    outcome = xlalint("strange.py", "good.py")
    assert not outcome.err
    assert "2 files checked" in outcome.out


@pytest.mark.parametrize("text", TOO_DEEP_OR_READ.values(), ids=TOO_DEEP_OR_READ)
def test_what_is_too_deep_is_read_or_skipped_in_one_line(xlalint: Xlalint, text: str) -> None:
    write(text)
    outcome = xlalint(".")
    if "not linted" in outcome.out:
        assert outcome.only_complaint().startswith("xlalint: warning: strange.py:1: in <module>: nested too deeply")
        assert outcome.code == 2
    elif outcome.err:
        assert outcome.only_complaint().startswith("xlalint: warning: strange.py: ")
        assert "1 file checked, 1 skipped" in outcome.out
        assert outcome.code in (0, 2)
    else:
        assert "2 files checked" in outcome.out
        assert outcome.code == 0


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python reads all that is tried here")
@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("type X = int\n", (3, 12)),
        ("def f[T](x: T) -> T:\n    return x\n", (3, 12)),
        ("try:\n    pass\nexcept* ValueError:\n    pass\n", (3, 11)),
        ("def f[T = int](x: T) -> T:\n    return x\n", (3, 13)),
        ("try:\n    pass\nexcept ValueError, TypeError:\n    pass\n", (3, 14)),
        ("x = 1\ny = t'{x}'\n", (3, 14)),
        ("x = f'{\"a\" + f\"{'b'}\"}'\n", (3, 12)),
    ],
)
def test_syntax_of_a_newer_python_is_told_as_such(xlalint: Xlalint, text: str, since: tuple[int, int]) -> None:
    write(HEAD + text)
    outcome = xlalint(".")
    if sys.version_info >= since:
        assert not outcome.err
    else:
        needed = f"needs Python {since[0]}.{since[1]} to read"
        assert needed in outcome.only_complaint()


def test_files_that_import_each_other_are_read(xlalint: Xlalint) -> None:
    Path("pkg").mkdir()
    Path("pkg/__init__.py").write_text("from .a import A\nfrom .b import B\n")
    Path("pkg/a.py").write_text("import torch\nfrom pkg.b import B\nclass A(B): pass\n")
    Path("pkg/b.py").write_text(
        "import torch\nfrom pkg.a import A\nclass B(A): pass\nB().forward(torch.ones(1)).item()\n"
    )
    outcome = xlalint("pkg")
    assert not outcome.err
    assert "3 files checked" in outcome.out


def test_a_file_that_shadows_torch_is_read(xlalint: Xlalint) -> None:
    Path("torch.py").write_text("import torch\n\ndef ones(*size):\n    return [1]\n")
    Path("torch_xla").mkdir()
    Path("torch_xla/__init__.py").write_text("import torch_xla\n")
    outcome = xlalint(".")
    assert not outcome.err
    assert "3 files checked" in outcome.out


def test_standard_input_is_linted_under_its_name(xlalint: Xlalint) -> None:
    outcome = xlalint("-", "--stdin-filename", "pkg/x.py", stdin=b"import torch\nx = (\n")
    assert outcome.code == 2
    assert outcome.only_complaint().startswith("xlalint: warning: pkg/x.py: ")
    assert xlalint("-", stdin=b"").code == 0


def test_explaining_a_line_that_is_not_there_is_one_line(xlalint: Xlalint) -> None:
    outcome = xlalint("explain", "good.py:99")
    assert outcome.code == 2
    assert outcome.only_complaint() == "xlalint: error: good.py: there is no line 99, only 4"
