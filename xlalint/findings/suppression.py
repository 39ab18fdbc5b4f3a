"""Suppression comments, and the detection of those that silence nothing.

``# xlalint: ignore[XLA101] the reason`` on the first or last line of the statement, ``# xlalint: ignore-file[XLA101]``
for a file; both without brackets mean every rule. ``# noqa: XLA101`` counts too, alone and beside codes of other
tools; a bare ``# noqa`` was written for another tool, and means nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property

import msgspec

from xlalint.findings.model import Rule, Severity
from xlalint.findings.selection import covers
from xlalint.sources.layout import Comment, Layout
from xlalint.sources.patterns import lazy_pattern

UNUSED = Rule(
    code="XLA001",
    name="unused-suppression",
    family="suppression",
    severity=Severity.NOTE,
    default=False,
)
"""Not a rule over facts: it judges the comments, when all other rules have spoken."""

UNUSED_PAGE = """\
# `unused-suppression` (XLA001)

A comment `# xlalint: ignore[…]` that silences nothing: the line was mended, or the code in brackets is wrong.

It is off by default; select it by its code or its name. A comment `# noqa: XLA101` is one of ours, too; one that
names codes of other tools beside ours is left alone, as they may need it.

## Bad

```py
size = tensor.shape[0]  # xlalint: ignore[XLA101] a shape is no read
```

## Good

```py
size = tensor.shape[0]
```
"""

MARKERS = ("xlalint:", "noqa")
_OURS = lazy_pattern(
    r"#\s*xlalint:\s*ignore(?P<file>-file)?(?![\w-])\s*(?P<named>\[(?P<codes>[^\]#]*)\])?", re.IGNORECASE
)
_NOQA = lazy_pattern(
    r"#\s*noqa\s*:\s*(?P<codes>{code}(?:[,\s]+{code})*)".format(code=r"(?:XLA\d*|[A-Z]+\d+)\b"), re.IGNORECASE
)
_OUR_CODES = "XLA"


class Reach(Enum):
    STATEMENT = "statement"
    FILE = "file"


class Directive(msgspec.Struct, frozen=True):
    """One comment. ``codes`` is None where every rule is meant; ``shared`` says that other tools are meant, too."""

    line: int
    column: int
    text: str
    reach: Reach
    codes: tuple[str, ...] | None
    shared: bool = False

    def silences(self, rule: Rule) -> bool:
        return self.codes is None or covers(self.codes, rule)


class Suppressions:
    """The directives of one file. Nothing is scanned in a file without a marker."""

    def __init__(self, text: str, layout: Layout) -> None:
        self._marked = _is_marked(text)
        self._layout = layout

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        if not self._marked:
            return ()
        return tuple(found for comment in self._layout.comments for found in directives_in(comment))

    def covering(self, rule: Rule, first: int, last: int) -> Directive | None:
        """The first directive that silences ``rule`` in the statement from line ``first`` to line ``last``."""
        for directive in self.directives:
            in_reach = directive.reach is Reach.FILE or directive.line in (first, last)
            if in_reach and directive.silences(rule):
                return directive
        return None

    def unused(self, used: Iterable[Directive], rules: Sequence[Rule], active: Sequence[Rule]) -> list[Directive]:
        """Those that silenced nothing, of what was looked for: ``active`` are the rules that ran.

        What another tool may need is left alone.
        """
        met = set(used)
        return [one for one in self.directives if one not in met and not one.shared and _was_judged(one, rules, active)]


def directives_in(comment: Comment) -> Iterator[Directive]:
    """The directives in one comment; one that stands alone reaches no statement, only the file."""
    if not _is_marked(comment.text):
        return
    for match in _OURS.finditer(comment.text):
        reach = Reach.FILE if match["file"] else Reach.STATEMENT
        if reach is Reach.FILE or not comment.alone:
            codes = _words(match["codes"]) if match["named"] is not None else None
            yield Directive(*_place(comment, match), reach, codes)
    for match in _NOQA.finditer(comment.text):
        named = _words(match["codes"])
        ours = tuple(word for word in named if word.upper().startswith(_OUR_CODES))
        if ours and not comment.alone:
            yield Directive(*_place(comment, match), Reach.STATEMENT, ours, shared=ours != named)


def _place(comment: Comment, match: re.Match[str]) -> tuple[int, int, str]:
    """Line, column and text of a directive, with the reason that follows it."""
    return comment.line, comment.column + match.start(), comment.text[match.start() :].rstrip()


def _is_marked(text: str) -> bool:
    folded = text.lower()  # over ten times as fast as a pattern that ignores case
    return any(marker in folded for marker in MARKERS)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[,\s]+", text) if word)


def _was_judged(directive: Directive, rules: Sequence[Rule], active: Sequence[Rule]) -> bool:
    """Whether something that it could silence was looked for; what names no rule at all is wrong in any case."""
    named = [rule for rule in rules if directive.silences(rule)]
    ran = {rule.code for rule in active}
    return not named or any(rule.code in ran for rule in named)
