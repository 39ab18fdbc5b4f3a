"""Reachability of torch_xla: the files that import it, and those that such a file imports.

A library that serves several kinds of devices imports torch_xla behind a test, or in the functions that are for XLA
alone. That tells nothing of its other files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xlalint.facts.driver.file_index import Index
from xlalint.knowledge.tables import cuda_packages
from xlalint.program import ir
from xlalint.program.import_graph import ModulePaths


def reaches_xla(module: ir.ModuleIR) -> bool | None:
    """None where the file says nothing of XLA; else whether what it imports runs with torch_xla as the file does."""
    sure = [at_top for name, at_top in module.sure_imports.items() if is_xla(name)]
    if sure:
        return module.is_script or any(sure)
    return False if module.is_script and any(map(is_xla, module.imports.values())) else None


def needed_for_cuda(module: ir.ModuleIR) -> str:
    """The package for GPUs without which a file can't be imported; empty where there is none, or it names torch_xla."""
    if any(map(is_xla, module.imports.values())):
        return ""
    sure = (name.partition(".")[0] for name, at_top in module.sure_imports.items() if at_top)
    return min((name for name in sure if name in cuda_packages()), default="")


def files_with_xla(indexes: Sequence[Index], paths: Iterable[str]) -> frozenset[str]:
    imports = {path: names for index in indexes for path, names in index.imports.items()}
    modules = ModulePaths(paths)
    reached = {path for index in indexes for path in index.xla}
    pending = sorted(path for index in indexes for path, spreads in index.xla.items() if spreads)
    spreading = set(pending)
    while pending:
        path = pending.pop()
        root = modules.roots.get(path, "")
        for name in imports.get(path, ()):
            target = modules.target(name, root) or (modules.within(name, path) if root else None)
            if target is not None and target not in spreading:
                spreading.add(target)
                pending.append(target)
    return frozenset(reached | spreading)


def is_xla(name: str) -> bool:
    return name == "torch_xla" or name.startswith("torch_xla.")
