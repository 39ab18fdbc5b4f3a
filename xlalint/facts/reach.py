"""Which files run with torch_xla: those that import it, and those that such a file imports."""

from __future__ import annotations

from collections.abc import Iterable

from xlalint.facts.evaluation import Index
from xlalint.program.link import dotted_name, source_root
from xlalint.sources.source import Source


def files_with_xla(indexes: Iterable[Index], by_path: dict[str, Source]) -> frozenset[str]:
    imports = {path: names for index in indexes for path, names in index.imports.items()}
    by_name: dict[tuple[str, str], str] = {}
    for path in by_path:
        root = source_root(path)
        by_name[root, dotted_name(path, root)[0]] = path
    reached = {path for path, names in imports.items() if any(is_xla(name) for name in names)}
    pending = sorted(reached)
    while pending:
        path = pending.pop()
        root = source_root(path)
        for name in imports.get(path, ()):
            target = by_name.get((root, name)) or by_name.get((root, name.rpartition(".")[0]))
            if target is not None and target not in reached:
                reached.add(target)
                pending.append(target)
    return frozenset(reached)


def is_xla(name: str) -> bool:
    return name == "torch_xla" or name.startswith("torch_xla.")
