"""The chain of reasons as text tells it: calls that an earlier finding has told are not told again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from xlalint.findings.model import Diagnostic, Reason

Chains: TypeAlias = dict[tuple[Reason, ...], str]
"""By the beginning of a chain, the finding that told it first, as ``file.py:12``."""
SHORTEST: Final = 2
"""So many links are worth the line that stands for them."""


def shortened_chain(diagnostic: Diagnostic, told: Chains) -> Iterator[str]:
    """The chain of a finding, one line a link; the longest beginning that was told before is one line. Adds to
    ``told``."""
    chain = diagnostic.why
    known = next((n for n in range(len(chain), SHORTEST - 1, -1) if chain[:n] in told), 0)
    if known:
        yield f"{chain[0].path}:{chain[0].line}: {chain[0].text}, and from there as at {told[chain[:known]]}"
    for reason in chain[known:]:
        yield f"{reason.path}:{reason.line}: {reason.text}"
    for length in range(SHORTEST, len(chain) + 1):
        told.setdefault(chain[:length], f"{diagnostic.path}:{diagnostic.at.line}")
