"""Comments that silence findings, and those that silence nothing.

``# xlalint: ignore[XLA101] the reason`` on the first or last line of the statement, ``# xlalint: ignore-file[XLA101]``
for a file; both without brackets mean every rule. ``# noqa`` and ``# noqa: XLA101`` are honoured too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import cached_property

import msgspec

from xlalint.findings.model import Rule, Severity
from xlalint.findings.selection import covers
from xlalint.sources.layout import Comment, Layout

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

It is off by default; select it by its code or its name. Comments `# noqa` are left alone, as they may be meant
for another tool, unless all that they name are rules of xlalint.

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
_OURS = re.compile(
    r"#\s*xlalint:\s*ignore(?P<file>-file)?(?![\w-])\s*(?P<named>\[(?P<codes>[^\]#]*)\])?", re.IGNORECASE
)
_NOQA = re.compile(
    r"#\s*noqa(?![\w-])(?P<named>\s*:\s*(?P<codes>[A-Z][A-Z]*\d+(?:\s*,\s*[A-Z]+\d+|\s+[A-Z]+\d+)*))?", re.IGNORECASE
)


class Reach(Enum):
    STATEMENT = "statement"
    FILE = "file"


class Directive(msgspec.Struct, frozen=True):
    """One comment. ``codes`` is None where every rule is meant; ``own`` is False for ``noqa``."""

    line: int
    column: int
    text: str
    reach: Reach
    codes: tuple[str, ...] | None
    own: bool

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

        A ``noqa`` counts only where all that it names are rules of ours, for it may be meant for another tool.
        """
        met = set(used)
        return [
            one
            for one in self.directives
            if one not in met and _was_judged(one, rules, active) and (one.own or _names_ours_only(one, rules))
        ]


def directives_in(comment: Comment) -> Iterable[Directive]:
    """The directives in one comment; one that stands alone reaches no statement, only the file."""
    if not _is_marked(comment.text):
        return
    for pattern, own in ((_OURS, True), (_NOQA, False)):
        for match in pattern.finditer(comment.text):
            reach = Reach.FILE if own and match["file"] else Reach.STATEMENT
            if comment.alone and reach is Reach.STATEMENT:
                continue
            text = comment.text[match.start() :].rstrip()
            yield Directive(comment.line, comment.column + match.start(), text, reach, _codes(match), own)


def _is_marked(text: str) -> bool:
    folded = text.lower()  # over ten times as fast as a pattern that ignores case
    return any(marker in folded for marker in MARKERS)


def _codes(match: re.Match[str]) -> tuple[str, ...] | None:
    if match["named"] is None:
        return None
    return tuple(word for word in re.split(r"[,\s]+", match["codes"]) if word)


def _names_ours_only(directive: Directive, rules: Sequence[Rule]) -> bool:
    codes = directive.codes
    return bool(codes) and all(any(covers((code,), rule) for rule in rules) for code in codes or ())


def _was_judged(directive: Directive, rules: Sequence[Rule], active: Sequence[Rule]) -> bool:
    """Whether something that it could silence was looked for; what names no rule at all is wrong in any case."""
    named = [rule for rule in rules if directive.silences(rule)]
    ran = {rule.code for rule in active}
    return not named or any(rule.code in ran for rule in named)
