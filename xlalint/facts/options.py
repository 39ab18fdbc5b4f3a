"""Options of the analysis: the user's own loaders, steps, boundaries and host-only functions; the costs of ops on the
device."""

from __future__ import annotations

import msgspec

from xlalint.facts.external import Follower
from xlalint.knowledge.ops import OpTable


class Assumptions(msgspec.Struct, frozen=True):
    """``assume_xla`` None means: by the evidence of the files. Names are last names or dotted names."""

    assume_xla: bool | None = None
    loaders: frozenset[str] = frozenset()
    step_functions: frozenset[str] = frozenset()
    boundaries: frozenset[str] = frozenset()
    host_functions: frozenset[str] = frozenset()
    ops: OpTable | None = None
    """What ops cost; None: as the table says that comes with the linter."""
    ops_by_file: dict[str, OpTable] = {}
    """The same of single files, by absolute path, where those of a run differ."""
    torch_version: str | None = None
    """The version of torch and torch_xla; None: the one that ops were measured with."""
    follower: Follower | None = None
    """Who follows calls into installed packages, if someone does."""
    follower_by_file: dict[str, Follower] = {}
    """The same of single files, by absolute path, where those of a run differ."""
