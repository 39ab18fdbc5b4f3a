"""What is said of a setting that can't be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

# The words of TOML for those of the validator.
_TYPES = {
    "`object`": "a table",
    "`array`": "an array",
    "`str`": "a string",
    "`int`": "an integer",
    "`float`": "a float",
    "`bool | str`": 'a boolean or "auto"',
    "`bool`": "a boolean",
    "`str | null`": "a string",
    "`null`": "nothing",
}
_NO_CHOICES: Mapping[str, Sequence[str]] = MappingProxyType({})


class ConfigurationError(Exception):
    """A setting that can't be used. The message is one line and names the file and the key."""


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean `x`?``, or, where nothing is like it, ``; the nearest is `x```."""
    import difflib

    names = list(known) if name else []
    close = difflib.get_close_matches(name, names, 1, 0.6)
    if close:
        return f"; did you mean `{close[0]}`?"
    far = difflib.get_close_matches(name, names, 1, 0.0)
    return f"; the nearest is `{far[0]}`" if far else ""


def validation_message(message: str, choices_of: Mapping[str, Sequence[str]] = _NO_CHOICES) -> str:
    """In our words: msgspec says "Expected `array`, got `int` - at `$.select`". ``choices_of`` a key are its words."""
    what, _, where = message.partition(" - at `$.")
    key = where.rstrip("`")
    choices = choices_of.get(key.removesuffix("[...]"))
    if choices is not None and what.startswith("Invalid enum value"):
        what = f"Expected one of {', '.join(choices)}, got {what.removeprefix('Invalid enum value ')}"
    for word, replacement in _TYPES.items():
        what = what.replace(word, replacement)
    text = what[:1].lower() + what[1:]
    return f"key `{key}`: {text}" if key else text
