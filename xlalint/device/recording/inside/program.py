"""Recording a whole program, in its own process, from its import of torch_xla to its end."""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import modes
from .breaks import REGISTRY, GraphBreaks
from .files import is_library, owner
from .recorder import ENVIRONMENT, Recorder, Wanted

FOLDER = "XLALINT_RECORD"
"""Where the logs go."""
ROOTS = "XLALINT_ROOTS"
"""The folders that hold the user's files."""
MODE = "XLALINT_MODE"
INCLUDED = "XLALINT_INCLUDED"
"""Packages whose files are taken for the user's, by comma."""
LIBRARY = "XLALINT_LIBRARY"
"""Set where lines of libraries are told."""
STEP_AT = "XLALINT_STEP_AT"
"""``FILE:LINE`` at which a step begins."""
TIMES = "XLALINT_TIMES"
"""Set where times are told."""


def prepare(folder: str) -> None:
    """Wait for the import of torch_xla."""
    os.environ.update(ENVIRONMENT)
    if os.environ.get(TIMES):
        os.environ["XLA_METRICS_SAMPLES"] = "256"
    _name_the_files(folder)
    _After.importing("torch_xla", lambda: _Recording(folder).start())


def _name_the_files(folder: str) -> None:
    """Of this process: the log, and the folder where the compiler writes the graphs that it is given."""
    os.environ["PT_XLA_DEBUG_FILE"] = _log(folder)
    flags = os.environ.get("XLA_FLAGS", "")
    ours = os.path.join(folder, "")
    if ("--xla_dump_to=" in flags and ours not in flags) or os.environ.get(MODE) == "eager":
        # The program dumps its graphs itself, to a place of its own; or each op is a graph, of which there are many.
        return
    kept = [flag for flag in flags.split() if not flag.startswith("--xla_dump_")]
    dump = [f"--xla_dump_to={ours}{os.getpid()}", "--xla_dump_hlo_as_text", "--xla_dump_max_hlo_modules=1000"]
    os.environ["XLA_FLAGS"] = " ".join([*kept, *dump])


def _log(folder: str) -> str:
    return os.path.join(folder, f"{os.getpid()}.log")


class _Recording:
    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._recorder: Recorder | None = None
        self._owned = owner(
            os.environ.get(ROOTS, os.getcwd()).split(os.pathsep), os.environ.get(INCLUDED, "").split(",")
        )
        self._breaks = GraphBreaks(self._owned)

    def start(self) -> None:
        self._begin()
        if REGISTRY in sys.modules:
            self._breaks.listen()
        else:
            _After.importing(REGISTRY, self._breaks.listen)
        os.register_at_fork(after_in_child=self._forked)
        atexit.register(self._finish)
        # Children of multiprocessing end without atexit.
        with suppress(ImportError):
            from multiprocessing.util import Finalize

            Finalize(None, self._finish, exitpriority=0)

    def _begin(self) -> None:
        modes.switch_to(os.environ.get(MODE, "lazy"))
        self._recorder = Recorder(_log(self._folder), self._owned, _head, _wanted())
        self._recorder.start()

    def _forked(self) -> None:
        """A worker of a loader, or a process of its own: that is recorded only if the device was not used before."""
        parent, self._recorder = self._recorder, None
        if parent is None:
            return
        parent.abandon()
        if not parent.has_begun():
            _name_the_files(self._folder)
            self._begin()

    def _finish(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.finish(self._breaks.told())


def _head() -> dict[str, Any]:
    """Who this is, and what it runs on."""
    told: dict[str, Any] = {"rank": _rank(), "argv": sys.argv}
    with suppress(Exception):
        runtime: Any = importlib.import_module("torch_xla.runtime")
        told["device"] = runtime.device_type()
        told["devices"] = runtime.global_runtime_device_count()
    return told


def _wanted() -> Wanted:
    path, _, line = os.environ.get(STEP_AT, "").rpartition(":")
    return Wanted(
        library=is_library if os.environ.get(LIBRARY) else None,
        step_at=(os.path.realpath(path), int(line)) if path else None,
        times=bool(os.environ.get(TIMES)),
    )


def _rank() -> int | None:
    for name in ("RANK", "PJRT_LOCAL_PROCESS_RANK"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return None


class _After(MetaPathFinder):
    """Calls back when a module has been imported; to be asked where it lies is no import."""

    @classmethod
    def importing(cls, name: str, then: Callable[[], None]) -> None:
        sys.meta_path.insert(0, cls(name, then))

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name, self._then = name, then
        self._is_asking = False

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self._name or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._is_asking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenLoader(spec.loader, self._imported)
        return spec

    def _imported(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            self._then()


class _ThenLoader(Loader):
    def __init__(self, loader: Loader, then: Callable[[], None]) -> None:
        self._loader, self._then = loader, then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._then()
