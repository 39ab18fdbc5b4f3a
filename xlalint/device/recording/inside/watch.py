"""Which line of the user's files is at work: told at each change, by sys.monitoring (3.12 on) or sys.settrace."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from .updates import is_update, may_be_update

Place = tuple[str, int, str]
"""Path, line, function."""
Left = Callable[["Place | None", "Place | None"], None]
"""Called when a line is left, by the thread that leaves it, with the line of the user's (None where that thread was in
no line of the user's) and the line of a library that was at work below it, where those are watched."""


class Listener:
    """Told of what else a program passes: an optimizer's step, and the line at which the user lets a step begin."""

    step_at: tuple[str, int] | None = None
    """Path and line."""

    def has_begun(self) -> bool:
        """Whether the device was used. Until then lines of libraries are not watched: imports have millions."""
        return True

    def updated(self, optimizer: object) -> None: ...

    def began(self) -> None: ...


class Watch:
    """Calls ``left`` for each line of the files that ``owned`` names. The innermost of them on the stack counts.

    Lines of the files that ``library`` names are told below it; they change nothing about whose line counts.
    """

    def __init__(
        self,
        owned: Callable[[str], bool],
        left: Left,
        library: Callable[[str], bool] | None = None,
        listener: Listener | None = None,
    ) -> None:
        self._owned, self._library = owned, library
        self._known: dict[str, int] = {}
        self._left = left
        self._thread = threading.local()
        self._ran: set[Place] = set()
        self._listener = listener or Listener()
        self._is_deep = False
        self._marked: dict[str, bool] = {}

    def start(self) -> None:
        """Watch from the next line on, in the frames that are already running too."""
        self._thread.place, self._thread.below = self._innermost(sys._getframe(1))

    def stop(self) -> None:
        self._move(None, None)

    def flush(self) -> Place | None:
        """Tell what the line at work has done until now, and which one it is."""
        place, below = self.at_work()
        self._left(place, below)
        return place

    def at_work(self) -> tuple[Place | None, Place | None]:
        return getattr(self._thread, "place", None), getattr(self._thread, "below", None)

    def is_owned(self, path: str) -> bool:
        return self._kind(path) == _OWNED

    def ran(self) -> dict[str, list[int]]:
        """The lines that have been at work, by path."""
        lines: dict[str, list[int]] = {}
        for path, line, _ in sorted(self._ran):
            lines.setdefault(path, []).append(line)
        return lines

    def _kind(self, path: str) -> int:
        known = self._known.get(path)
        if known is None:
            if self._owned(path):
                known = _OWNED
            elif self._is_marked(path) or (self._library is not None and self._library(path)):
                known = _LIBRARY
            else:
                known = _OTHER
            self._known[path] = known
        return known

    def _is_watched(self, code: CodeType) -> bool:
        """Module and class bodies of libraries run while they are imported, and cost nothing on the device."""
        kind = self._kind(code.co_filename)
        if kind != _LIBRARY or not code.co_flags & _IS_FUNCTION:
            return kind == _OWNED
        if not self._is_deep and self._listener.has_begun():
            self._is_deep = True
            self._go_deep(sys._getframe(1))
        return self._is_deep or self._is_marked(code.co_filename)

    def _go_deep(self, frame: FrameType | None) -> None:
        """Watch the libraries' frames that are running already."""
        while frame is not None:
            if self._kind(frame.f_code.co_filename) == _LIBRARY and frame.f_code.co_flags & _IS_FUNCTION:
                self._watch_frame(frame)
            frame = frame.f_back

    def _watch_frame(self, frame: FrameType) -> None:
        raise NotImplementedError

    def _move(self, place: Place | None, below: Place | None) -> None:
        self.flush()
        self._thread.place, self._thread.below = place, below
        if place is not None and below is None:
            self._ran.add(place)

    def _reached(self, code: CodeType, line: int | None) -> None:
        if self._kind(code.co_filename) == _OWNED:
            self._move(_place(code, line), None)
        else:
            self._move(getattr(self._thread, "place", None), _place(code, line))

    def _line(self, code: CodeType, line: int) -> None:
        self._reached(code, line)
        mark = self._listener.step_at
        if mark is not None and mark[1] == line and self._is_marked(code.co_filename):
            self._listener.began()

    def _returned(self, frame: FrameType) -> None:
        if may_be_update(frame.f_code) and is_update(frame):
            self.flush()
            self._listener.updated(frame.f_locals["self"])
        if self._is_watched(frame.f_code):
            self._move(*self._innermost(frame.f_back))

    def _innermost(self, frame: FrameType | None) -> tuple[Place | None, Place | None]:
        below = None
        while frame is not None:
            kind = self._kind(frame.f_code.co_filename)
            if kind == _OWNED:
                return _place(frame.f_code, frame.f_lineno), below
            if kind == _LIBRARY and below is None and self._is_deep and frame.f_code.co_flags & _IS_FUNCTION:
                below = _place(frame.f_code, frame.f_lineno)
            frame = frame.f_back
        return None, below

    def _is_marked(self, path: str) -> bool:
        if self._listener.step_at is None:
            return False
        known = self._marked.get(path)
        if known is None:
            known = self._marked[path] = os.path.realpath(path) == self._listener.step_at[0]
        return known


class SettraceWatch(Watch):
    def start(self) -> None:
        super().start()
        self._before: Any = sys.gettrace()
        self._taken: list[tuple[FrameType, Any]] = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if self.is_owned(frame.f_code.co_filename):
                self._watch_frame(frame)
            frame = frame.f_back
        threading.settrace(self._called)
        sys.settrace(self._called)

    def stop(self) -> None:
        sys.settrace(self._before)
        threading.settrace(self._before)
        for frame, before in self._taken:
            frame.f_trace = before
        super().stop()

    def _watch_frame(self, frame: FrameType) -> None:
        # A frame that is kept keeps its tensors, so none is, unless a debugger or a coverage wants it back.
        if self._before is not None:
            self._taken.append((frame, frame.f_trace))
        frame.f_trace = self._within

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not self._is_watched(frame.f_code):
            return self._awaited if may_be_update(frame.f_code) else None
        self._reached(frame.f_code, frame.f_lineno)
        return self._within

    def _within(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._line(frame.f_code, frame.f_lineno)
        elif event == "return":
            self._returned(frame)
        return self._within

    def _awaited(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "return":
            self._returned(frame)
        return self._awaited


class MonitoringWatch(Watch):
    """Costs nothing in code that is not watched: its events are switched off at the first call."""

    def start(self) -> None:
        super().start()
        monitoring: Any = vars(sys)["monitoring"]
        self._monitoring, self._tool, events = monitoring, monitoring.PROFILER_ID, monitoring.events
        monitoring.use_tool_id(self._tool, "xlalint")
        monitoring.register_callback(self._tool, events.PY_START, self._started)
        monitoring.register_callback(self._tool, events.PY_RESUME, self._started)
        monitoring.register_callback(self._tool, events.PY_THROW, self._thrown)
        monitoring.register_callback(self._tool, events.LINE, self._line)
        for ending in (events.PY_RETURN, events.PY_YIELD, events.PY_UNWIND):
            monitoring.register_callback(self._tool, ending, self._ended)
        # Unwinding and throwing can only be watched everywhere.
        monitoring.set_events(self._tool, events.PY_START | events.PY_RESUME | events.PY_UNWIND | events.PY_THROW)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if self.is_owned(frame.f_code.co_filename):
                self._watch_frame(frame)
            frame = frame.f_back

    def stop(self) -> None:
        self._monitoring.set_events(self._tool, 0)
        self._monitoring.free_tool_id(self._tool)
        super().stop()

    def _watch_frame(self, frame: FrameType) -> None:
        self._watch_lines(frame.f_code)

    def _go_deep(self, frame: FrameType | None) -> None:
        super()._go_deep(frame)
        # Those that were passed over until now.
        self._monitoring.restart_events()

    def _watch_lines(self, code: CodeType) -> None:
        events = self._monitoring.events
        self._monitoring.set_local_events(self._tool, code, events.LINE | events.PY_RETURN | events.PY_YIELD)

    def _started(self, code: CodeType, offset: int) -> Any:
        if not self._is_watched(code):
            if may_be_update(code):
                self._monitoring.set_local_events(self._tool, code, self._monitoring.events.PY_RETURN)
            return self._monitoring.DISABLE
        self._watch_lines(code)
        self._move(*self._innermost(sys._getframe(1)))
        return None

    def _thrown(self, code: CodeType, offset: int, error: BaseException) -> None:
        if self._is_watched(code):
            self._started(code, offset)

    def _ended(self, code: CodeType, offset: int, result: object) -> None:
        if self._is_watched(code) or may_be_update(code):
            self._returned(sys._getframe(1))


def watch_of_this_python() -> type[Watch]:
    return MonitoringWatch if sys.version_info >= (3, 12) else SettraceWatch


_OTHER, _LIBRARY, _OWNED = 0, 1, 2
_IS_FUNCTION = 2
"""CO_NEWLOCALS, which module and class bodies lack."""


def _place(code: CodeType, line: int | None) -> Place:
    return (code.co_filename, line or code.co_firstlineno, code.co_name)
