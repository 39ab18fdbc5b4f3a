"""Logical lines and comments: the same as the standard tokenizer's, wherever that has an answer."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

import pytest

import xlalint
from xlalint.sources.layout import Layout
from xlalint.sources.read import read

LIBRARY = Path(tokenize.__file__).parent
FILES = [
    *sorted(Path(xlalint.__file__).parent.rglob("*.py")),
    *(LIBRARY / name for name in ("argparse.py", "ast.py", "inspect.py", "tokenize.py", "textwrap.py", "typing.py")),
]
_NOT_IN_A_STATEMENT = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_real_files_are_cut_as_the_tokenizer_cuts_them(path: Path) -> None:
    text = "\n".join(read(path).lines())
    layout = Layout(text)
    comments, statements, first = [], [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.append((token.start[0], token.start[1] + 1, token.string))
        if token.type in _NOT_IN_A_STATEMENT:
            continue
        first = first or token.start[0]
        if token.type == tokenize.NEWLINE:
            statements.append((first, token.start[0]))
            first = 0
    assert [(one.line, one.column, one.text) for one in layout.comments] == comments
    for first, last in statements:
        for line in {first, last}:
            found = layout.statement_at(line)
            assert (found.first, found.last) == (first, last)


def test_a_header_over_three_lines_is_one_statement() -> None:
    layout = Layout("x = 1\nif (\n    a\n):  # here\n    pass\n")
    assert [(layout.statement_at(line).first, layout.statement_at(line).last) for line in (2, 3, 4)] == [(2, 4)] * 3
    assert layout.statement_at(3).text == "if (\n    a\n):  # here"


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("    x = 1  # one\n", 1, "x = 1"),
        ("if x:  # one\n    y = 2", 1, "if x"),
        ("if x:  # one\n    y = 2", 2, "y = 2"),
        ("while (\n    é\n):\n    pass\n", 2, "while (\n    é\n)"),
        ("x = d[1:]\n", 1, "x = d[1:]"),
        ("é = f(\n    'é: #',\n    é)  # é\n", 3, "é = f(\n    'é: #',\n    é)"),
    ],
)
def test_the_code_of_a_statement_is_told_in_bytes(text: str, line: int, code: str) -> None:
    found = Layout(text).code_at(line)
    lines = text.encode().split(b"\n")[found.line - 1 : found.end_line]
    lines[-1] = lines[-1][: found.end_column]
    lines[0] = lines[0][found.column :]
    assert b"\n".join(lines).decode() == code


def test_hashes_and_brackets_in_strings_mean_nothing() -> None:
    layout = Layout("a = '# no ('\nb = f\"{x['#']}\"  # yes\nc = '''\n# no\n'''\n")
    assert [comment.text for comment in layout.comments] == ["# yes"]
    assert (layout.statement_at(4).first, layout.statement_at(4).last) == (3, 5)


def test_a_comment_alone_on_its_line_is_told_apart() -> None:
    assert [comment.alone for comment in Layout("# a\nx = 1  # b\n    # c\n").comments] == [True, False, True]


@pytest.mark.parametrize("text", ["x = '", 'y = """', "((((\nz\n", ")))\n", "\\", "'\\", '"""\\', "\n" * 5, ""])
def test_broken_code_is_scanned_to_its_end(text: str) -> None:
    layout = Layout(text)
    for line in range(1, text.count("\n") + 2):
        found = layout.statement_at(line)
        assert found.first <= line <= found.last


def test_a_string_of_a_megabyte_is_no_trouble() -> None:
    layout = Layout('x = """' + "ab\\n\"'" * 200_000 + '"""  # end\n')
    assert [comment.text for comment in layout.comments] == ["# end"]
