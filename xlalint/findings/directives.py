"""Comments that silence findings, as they are written: what each names, what it reaches, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

import msgspec

from xlalint.findings.model import Rule
from xlalint.findings.selection import covers
from xlalint.sources.layout import Comment
from xlalint.sources.patterns import lazy_pattern

MARKERS = ("xlalint:", "noqa")
# Without brackets only codes are names: `ignore XLA201 once an hour` has a reason, and `ignore once an hour` has no
# code at all.
_OURS = lazy_pattern(
    r"#\s*xlalint:\s*ignore(?P<file>-file)?(?![\w-])\s*"
    r"(?P<named>\[(?P<codes>[^\]#]*)\]|(?<!\s)\((?P<rounded>[^)#]*)\)|[:=]?\s*(?P<bare>{code}(?:(?:\s*,\s*|\s+){code})*))?".format(
        code=r"(?:XLA\d*|[A-Z]{2,}\d{3})\b"
    ),
    re.IGNORECASE,
)
_NOQA = lazy_pattern(
    r"#\s*noqa\s*:\s*(?P<codes>{code}(?:[,\s]+{code})*)".format(code=r"(?:XLA\d*|[A-Z]+\d+)\b"), re.IGNORECASE
)
# As other tools have it, or with a word that is none of ours.
_OTHER_WORDS = lazy_pattern(
    r"#\s*xlalint:\s*(?P<word>(?:disable|enable|skip|noqa|nolint|off)[\w-]*|ignore-(?!file(?![\w-]))[\w-]+|ignore[a-z]+)"
    r"(?P<rest>[^#]*)",
    re.IGNORECASE,
)
_CODE = lazy_pattern(r"\b[A-Z]{2,}\d{1,3}\b")
_OUR_CODES = "XLA"


class Reach(Enum):
    STATEMENT = "statement"
    FILE = "file"
    NOTHING = "nothing"
    """On a line of its own, or of words that are not known."""


class Directive(msgspec.Struct, frozen=True):
    """One comment. ``codes`` is None where every rule is meant; ``shared`` says that other tools are meant, too."""

    line: int
    column: int
    text: str
    reach: Reach
    codes: tuple[str, ...] | None
    shared: bool = False
    wrong_word: str = ""
    """The word in place of ``ignore``."""
    alone: bool = False
    """Whether no code stands on its line."""

    def silences(self, rule: Rule) -> bool:
        return self.codes is None or covers(self.codes, rule)

    @property
    def right_text(self) -> str:
        """What to write in its place."""
        kind = "ignore-file" if "file" in self.wrong_word else "ignore"
        return f"# xlalint: {kind}[{', '.join(self.codes)}]" if self.codes is not None else f"# xlalint: {kind}"


def directives_in(comment: Comment) -> Iterator[Directive]:
    """The directives in one comment; one that stands alone reaches no statement, only the file."""
    if not is_marked(comment.text):
        return
    for match in _OURS.finditer(comment.text):
        reach = Reach.FILE if match["file"] else _reach(comment)
        listed = next((match[form] for form in ("codes", "rounded", "bare") if match[form] is not None), None)
        codes = _words(listed) if listed is not None else None
        yield Directive(*_place(comment, match), reach, codes, alone=comment.alone)
    for match in _NOQA.finditer(comment.text):
        named = _words(match["codes"])
        ours = tuple(word for word in named if word.upper().startswith(_OUR_CODES))
        if ours:
            place = _place(comment, match)
            yield Directive(*place, _reach(comment), ours, shared=ours != named, alone=comment.alone)
    for match in _OTHER_WORDS.finditer(comment.text):
        codes = tuple(_CODE.findall(match["rest"])) or None
        place = _place(comment, match)
        yield Directive(*place, Reach.NOTHING, codes, wrong_word=match["word"], alone=comment.alone)


def is_marked(text: str) -> bool:
    folded = text.lower()  # over ten times as fast as a pattern that ignores case
    return any(marker in folded for marker in MARKERS)


def _reach(comment: Comment) -> Reach:
    return Reach.NOTHING if comment.alone else Reach.STATEMENT


def _place(comment: Comment, match: re.Match[str]) -> tuple[int, int, str]:
    """Line, column and text of a directive, with the reason that follows it."""
    return comment.line, comment.column + match.start(), comment.text[match.start() :].rstrip()


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[,\s]+", text) if word)
