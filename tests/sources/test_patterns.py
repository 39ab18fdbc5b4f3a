"""Patterns that are compiled when they are used."""

from __future__ import annotations

import re

import pytest

from xlalint.sources.patterns import lazy_pattern


def test_it_finds_what_a_compiled_pattern_finds() -> None:
    words = lazy_pattern(r"(?P<word>[a-z]+)", re.IGNORECASE)
    found = words.search("1 One two")
    assert found is not None
    assert found["word"] == "One"
    assert [match[0] for match in words.finditer("One two")] == ["One", "two"]
    assert words.sub("-", "One two") == "- -"
    assert words.fullmatch("1") is None


def test_nothing_is_compiled_before() -> None:
    broken = lazy_pattern(rb"(")
    with pytest.raises(re.error):
        broken.search(b"")
