"""Bytes are decoded as Python decodes them, and what can't be is refused in one line."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from xlalint.sources.read import decode, read, read_bytes
from xlalint.sources.source import Unreadable


def refusal(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        decode(data, "x.py")
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"x = '\xc3\xa9'\n", "x = 'é'\n", "utf-8"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n", "utf-8-sig"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n", "latin-1"),
        (b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\n'\x80'\n", None, "cp1252"),
        (b"\xef\xbb\xbf# coding: utf_8\nx = 1\n", "# coding: utf_8\nx = 1\n", "utf-8-sig"),
        (b"x = 1\r\ny = 2\r", "x = 1\r\ny = 2\r", "utf-8"),
        (b"", "", "utf-8"),
    ],
)
def test_text_and_encoding(data: bytes, text: str | None, encoding: str) -> None:
    source = decode(data, "x.py")
    assert source.encoding == encoding
    if text is not None:
        assert source.text == text
    ast.parse(source.text)


def test_a_cookie_after_code_or_in_the_third_line_is_a_comment() -> None:
    # PEP 263: the second line counts only if the first holds no code.
    assert decode(b"x = 1\n# coding: latin-1\n", "x.py").encoding == "utf-8"
    assert decode(b"\n\n# coding: latin-1\n", "x.py").encoding == "utf-8"


@pytest.mark.parametrize("name", ["latin-1", "cp1252", "utf-8", "koi8-r", "shift_jis"])
def test_the_text_is_what_the_interpreter_reads(name: str) -> None:
    data = f"# coding: {name}\nx = 'é'\n".encode(name) if name not in ("koi8-r", "shift_jis") else None
    if data is None:
        data = f"# coding: {name}\nx = 'ж'\n".encode(name)
    (assignment,) = ast.parse(data).body
    assert isinstance(assignment, ast.Assign)
    assert ast.literal_eval(assignment.value) in decode(data, "x.py").text


def test_null_bytes_are_refused_with_their_line() -> None:
    assert "null bytes" in refusal(b"x = 1\ny = '\0'\n")
    assert "line 2" in refusal(b"x = 1\ny = '\0'\n")


@pytest.mark.parametrize("codec", ["utf-16", "utf-32"])
def test_wide_encodings_are_named(codec: str) -> None:
    assert codec.upper() in refusal("x = 1\n".encode(codec))


def test_undecodable_bytes_are_refused_with_their_line() -> None:
    message = refusal(b"x = 1\ny = '\xe9'\n")
    assert "UTF-8" in message
    assert "0xe9 in line 2" in message


@pytest.mark.parametrize("name", [b"no-such-thing", b"hex", b"rot13", b"idna"])
def test_unknown_and_strange_codecs_are_refused(name: bytes) -> None:
    assert name.decode() in refusal(b"# coding: " + name + b"\nx = 'abc\xff'\n").lower()


def test_a_mark_that_contradicts_the_cookie_is_refused() -> None:
    assert "byte order mark" in refusal(b"\xef\xbb\xbf# coding: latin-1\n")


def test_lone_surrogates_never_get_through() -> None:
    assert "can't be decoded" in refusal(b"# coding: raw_unicode_escape\nx = '\\ud800'\n")


def test_lines_are_those_of_the_tokenizer() -> None:
    # A form feed and a line separator are no ends of lines, though str.splitlines takes them for some.
    source = decode("a = 1\x0c\r\nb = '\u2028'\rc = 3\n".encode(), "x.py")
    assert source.lines() == ["a = 1\x0c", "b = '\u2028'", "c = 3", ""]


def test_a_file_of_four_megabytes_is_read_and_one_of_ten_is_not(tmp_path: Path) -> None:
    four, ten = tmp_path / "four.py", tmp_path / "ten.py"
    four.write_bytes(b"x = 1  # generated\n" * (4_000_000 // 19))
    ten.write_bytes(b"x = 1  # generated\n" * (10_000_000 // 19))
    assert len(read(four).text) > 3_900_000
    with pytest.raises(Unreadable, match="larger than 5 MB"):
        read(ten)
    assert len(read(ten, limit_mb=20).text) > 9_900_000


def test_what_is_no_regular_file_is_refused_and_does_not_block(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    with pytest.raises(Unreadable, match="not a regular file"):
        read_bytes(pipe)
    folder = tmp_path / "folder.py"
    folder.mkdir()
    with pytest.raises(Unreadable, match=r"directory|not a regular file"):
        read_bytes(folder)
    with pytest.raises(Unreadable, match="not a regular file"):
        read_bytes(Path("/dev/zero"))
