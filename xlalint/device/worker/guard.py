"""What stands between the programs of a run and the system: a wall, or none, and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from xlalint.device.wall.choice import Wall
from xlalint.device.worker.client import Worker
from xlalint.device.worker.limits import Limits


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """The same for all workers of a run."""

    wall: Wall | None = None
    """None: programs are limited, and can do what the user can."""
    limits: Limits = Limits()

    def worker(self, env: Mapping[str, str] | None = None, given_up: Callable[[], bool] = lambda: False) -> Worker:
        """Raises ``WorkerError``, also where it is ``given_up`` while it starts."""
        return Worker(env, wall=self.wall, limits=self.limits, given_up=given_up)
