"""Recording a whole program, in its own process, from its import of torch_xla to its end."""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import modes
from .recorder import ENVIRONMENT, Recorder

FOLDER = "XLALINT_RECORD"
"""Where the logs go."""
ROOTS = "XLALINT_ROOTS"
"""The folders that hold the user's files."""
MODE = "XLALINT_MODE"

_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def prepare(folder: str) -> None:
    """Wait for the import of torch_xla."""
    os.environ.update(ENVIRONMENT)
    _name_the_files(folder)
    _After.importing("torch_xla", lambda: _Recording(folder).start())


def owner(roots: Sequence[str]) -> Callable[[str], bool]:
    """Whether a file is the user's: in one of ``roots``, and neither installed nor of Python itself."""
    inside = tuple(os.path.join(os.path.realpath(root), "") for root in roots)
    python = os.path.join(os.path.dirname(os.path.realpath(os.__file__)), "")

    def owned(path: str) -> bool:
        # `<string>`, `<frozen …>` and the like are no files.
        if path.startswith("<"):
            return False
        real = os.path.realpath(path)
        return real.startswith(inside) and not real.startswith(python) and not any(name in real for name in _INSTALLED)

    return owned


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

    def start(self) -> None:
        self._begin()
        os.register_at_fork(after_in_child=self._forked)
        atexit.register(self._finish)
        # Children of multiprocessing end without atexit.
        with suppress(ImportError):
            from multiprocessing.util import Finalize

            Finalize(None, self._finish, exitpriority=0)

    def _begin(self) -> None:
        modes.switch_to(os.environ.get(MODE, "lazy"))
        roots = os.environ.get(ROOTS, os.getcwd()).split(os.pathsep)
        self._recorder = Recorder(_log(self._folder), owner(roots), lambda: {"rank": _rank(), "argv": sys.argv})
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
            recorder.finish()


def _rank() -> int | None:
    for name in ("RANK", "PJRT_LOCAL_PROCESS_RANK"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return None


class _After(MetaPathFinder):
    """Calls back when a module has been imported."""

    @classmethod
    def importing(cls, name: str, then: Callable[[], None]) -> None:
        sys.meta_path.insert(0, cls(name, then))

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name, self._then = name, then

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenLoader(spec.loader, self._then)
        return spec


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
