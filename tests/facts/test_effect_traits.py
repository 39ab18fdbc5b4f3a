"""What the engine knows of each effect stands in one table."""

from __future__ import annotations

from xlalint.facts.effect_traits import TRAITS
from xlalint.facts.events import Effect


def test_each_effect_has_a_row() -> None:
    missing = [effect.name for effect in Effect if effect not in TRAITS]
    assert not missing, f"no row in xlalint/facts/effect_traits.py: {missing}"


def test_the_rows_stand_in_the_order_of_the_effects() -> None:
    assert list(TRAITS) == list(Effect)
