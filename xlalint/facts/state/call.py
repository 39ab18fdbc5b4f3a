"""A call as those who answer for it see it: who is called by which name, and what it is given."""

from __future__ import annotations

from typing import TypeAlias

from xlalint.facts.domain.values import Value

Arguments: TypeAlias = list[Value]
Keywords: TypeAlias = dict[str, Value]
"""By name; ``**`` stands for those whose names are not known."""
