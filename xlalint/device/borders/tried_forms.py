"""Forms of what could not be read: one for each class or place that asks, which a rehearsal finds by trying."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.item_forms import ItemForm


class TriedForms:
    """Of one run of a script."""

    def __init__(self, clock: Clock, given: Mapping[str, ItemForm]) -> None:
        """``given`` are the forms that a rehearsal has found. Another one begins with them: what was found for one of
        them may have been wrong for want of the others."""
        self._clock, self._given = clock, given
        self.found: dict[str, ItemForm] = {}
        """Of all that was asked for."""

    def of(self, key: str, what: str, first: Callable[[], ItemForm]) -> ItemForm:
        """The form of ``key``; ``what`` names it to people, and ``first`` is tried before others."""
        if key not in self.found:
            form = self._given.get(key) or first()
            rehearsal = self._clock.rehearsal
            if rehearsal is not None and not rehearsal.is_trial:
                form = rehearsal.best(form)
            self.found[key] = form
            self._clock.assume(f"{what} is `{form.text}`")
        return self.found[key]
