"""The exchange of lowered files between worker processes: packing and unpacking one takes a quarter of the time of
reading it.

Which of them another process will ask for is foreseen by what its files import, and what those import in turn. What
is lent for nothing costs little, and what isn't foreseen is read again: no result depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xlalint.program import ir
from xlalint.program.import_graph import ModulePaths


def wanted(imports: Mapping[str, Sequence[str]], shares: Sequence[Sequence[str]]) -> list[frozenset[str]]:
    """For each share, the files of the others that it leads to; ``imports`` are the dotted names that each file has."""
    files = Named(imports)
    return [files.reached_from(share) - frozenset(share) for share in shares]


class Named:
    """The linted files by the names that others import them by."""

    def __init__(self, imports: Mapping[str, Sequence[str]]) -> None:
        self.imports = imports
        self.modules = ModulePaths(imports)

    def reached_from(self, share: Iterable[str]) -> frozenset[str]:
        reached: set[str] = set()
        pending = list(share)
        while pending:
            path = pending.pop()
            if path not in reached:
                reached.add(path)
                pending.extend(self.imported_by(path))
        return frozenset(reached)

    def imported_by(self, path: str) -> Iterable[str]:
        root = self.modules.roots.get(path, "")
        for name in self.imports.get(path, ()):
            target = self.modules.target(name, root)
            if target is not None:
                yield target


def pack_module(module: ir.ModuleIR) -> bytes | None:
    """None for what is nested too deeply: who needs it reads it."""
    try:
        import pickle  # for several processes only

        return pickle.dumps(module, protocol=5)
    except RecursionError:
        return None


def unpack_module(data: bytes) -> ir.ModuleIR:
    import pickle

    module: ir.ModuleIR = pickle.loads(data)
    return module
