"""Found by the interpreter of a traced program through PYTHONPATH: records it from its import of torch_xla on.

Nothing happens in processes that never import torch_xla, and each process that does writes a log of its own.
"""

import contextlib
import importlib.util
import os
import sys
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load_the_recorder() -> Any:
    """This folder as a package under a name of its own, for xlalint need not be installed where the program runs."""
    start = os.path.join(_HERE, "__init__.py")
    spec = importlib.util.spec_from_file_location("_xlalint_inside", start, submodule_search_locations=[_HERE])
    if spec is None or spec.loader is None:
        raise ImportError(f"no recorder in {_HERE}")
    package = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = package
    spec.loader.exec_module(package)
    return importlib.import_module("_xlalint_inside.program")


def _give_way() -> None:
    """Off the path, and then what would have been found in this file's place."""
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != _HERE]
    this = sys.modules.pop("sitecustomize", None)
    with contextlib.suppress(ImportError):
        importlib.import_module("sitecustomize")
    if this is not None:
        sys.modules.setdefault("sitecustomize", this)


_give_way()
if os.environ.get("XLALINT_RECORD"):
    _load_the_recorder().prepare(os.environ["XLALINT_RECORD"])
