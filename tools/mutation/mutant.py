"""What a mutant is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One change of one file: ``after`` stands where ``before`` stood, ``start`` characters into the text."""

    kind: str
    path: str
    """Relative to the root of the project, with ``/``."""
    start: int
    before: str
    after: str
    label: str
    """What is changed, in words that do not depend on the line."""

    def applied(self, text: str) -> str:
        assert text.startswith(self.before, self.start)
        return text[: self.start] + self.after + text[self.start + len(self.before) :]
