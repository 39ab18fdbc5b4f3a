"""What names held after the arms of a test on a flag, for when the flag is asked again."""

from __future__ import annotations

from typing import TypeAlias

from xlalint.facts.domain.values import Value

Flag: TypeAlias = tuple[str, bool]
"""A name, and whether it is asked for None and not for its truth."""

MetArms: TypeAlias = dict[str, tuple[Value, Value, Value]]
"""Name → what it holds where the arms met, after the arm that runs where the flag holds, and after the other."""
