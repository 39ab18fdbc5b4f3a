"""Suppression comments, and the detection of those that silence nothing.

``# xlalint: ignore[XLA101] the reason`` on a line that is shown, or on the first or last line of the statement;
``# xlalint: ignore-file[XLA101]`` for a file; both without codes mean every rule. ``# noqa: XLA101`` counts too, alone
and beside codes of other tools; a bare ``# noqa`` was written for another tool, and means nothing here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

import msgspec

from xlalint.findings.directives import Directive, Reach, directives_in, is_marked
from xlalint.findings.model import Rule, Severity
from xlalint.findings.selection import covers
from xlalint.sources.layout import Layout

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

A comment `# xlalint: ignore[…]` that silences nothing: the line was mended, the code in brackets is wrong, the comment
stands on a line of its own, or it has another word, such as `disable=`. The finding says what to write, and where.

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


class Useless(msgspec.Struct, frozen=True):
    """A comment that silences nothing, with what a reader is told of it."""

    directive: Directive
    message: str
    help: str


class Suppressions:
    """The directives of one file. Nothing is scanned in a file without a marker."""

    def __init__(self, text: str, layout: Layout) -> None:
        self._marked = is_marked(text)
        self._layout = layout

    @cached_property
    def directives(self) -> tuple[Directive, ...]:
        if not self._marked:
            return ()
        return tuple(found for comment in self._layout.comments for found in directives_in(comment))

    def covering(self, rule: Rule, lines: Collection[int]) -> Directive | None:
        """The first directive on one of ``lines``, or for all of the file, that silences ``rule``."""
        for directive in self.directives:
            in_reach = directive.reach is Reach.FILE or (directive.reach is Reach.STATEMENT and directive.line in lines)
            if in_reach and directive.silences(rule):
                return directive
        return None

    def useless(self, used: Iterable[Directive], rules: Sequence[Rule], active: Sequence[Rule]) -> list[Useless]:
        """Those that silenced nothing, of what was looked for: ``active`` are the rules that ran.

        What another tool may need is left alone.
        """
        met = set(used)
        found = []
        for one in self.directives:
            if one in met or one.shared:
                continue
            if one.reach is Reach.NOTHING:
                found.append(self._misplaced(one))
            elif _was_judged(one, rules, active):
                found.append(_unused(one, rules))
        return found

    def _misplaced(self, directive: Directive) -> Useless:
        following = self._layout.code_after(directive.line) if directive.alone else None
        where = f" at the end of line {following}" if following is not None else ""
        if directive.wrong_word:
            told = f"`{directive.wrong_word}` is no word of xlalint: this comment silences nothing"
            return Useless(directive, told, f"write `{directive.right_text}`{where}")
        told = "this comment stands on a line of its own, and silences nothing"
        return Useless(directive, told, f"put it{where}" if where else "remove it")


def _unused(directive: Directive, rules: Sequence[Rule]) -> Useless:
    unknown = [code for code in directive.codes or () if not any(covers([code], rule) for rule in rules)]
    if unknown:
        names = ", ".join(f"`{code}`" for code in unknown)
        return Useless(directive, f"this comment silences nothing: no rule {names}", "correct the code, or remove it")
    return Useless(directive, "this comment silences nothing", "remove it")


def _was_judged(directive: Directive, rules: Sequence[Rule], active: Sequence[Rule]) -> bool:
    """Whether something that it could silence was looked for; what names no rule at all is wrong in any case."""
    named = [rule for rule in rules if directive.silences(rule)]
    ran = {rule.code for rule in active}
    return not named or any(rule.code in ran for rule in named)
