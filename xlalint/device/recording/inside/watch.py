"""Which line of the user's files is at work: told at each change, by sys.monitoring (3.12 on) or sys.settrace."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

Place = tuple[str, int, str]
"""Path, line, function."""
Left = Callable[["Place | None"], None]
"""Called when a line is left, by the thread that leaves it: None where that thread was in no line of the user's."""


class Watch:
    """Calls ``left`` for each line of the files that ``owned`` names. The innermost of them on the stack counts."""

    def __init__(self, owned: Callable[[str], bool], left: Left) -> None:
        self._owned = owned
        self._known: dict[str, bool] = {}
        self._left = left
        self._thread = threading.local()
        self._ran: set[Place] = set()

    def start(self) -> None:
        """Watch from the next line on, in the frames that are already running too."""
        self._thread.place = self._innermost(sys._getframe(1))

    def stop(self) -> None:
        self._move(None)

    def flush(self) -> Place | None:
        """Tell what the line at work has done until now, and which one it is."""
        place: Place | None = getattr(self._thread, "place", None)
        self._left(place)
        return place

    def is_owned(self, path: str) -> bool:
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._owned(path)
        return known

    def ran(self) -> dict[str, list[int]]:
        """The lines that have been at work, by path."""
        lines: dict[str, list[int]] = {}
        for path, line, _ in sorted(self._ran):
            lines.setdefault(path, []).append(line)
        return lines

    def _move(self, place: Place | None) -> None:
        self.flush()
        self._thread.place = place
        if place is not None:
            self._ran.add(place)

    def _innermost(self, frame: FrameType | None) -> Place | None:
        while frame is not None and not self.is_owned(frame.f_code.co_filename):
            frame = frame.f_back
        return _place(frame.f_code, frame.f_lineno) if frame is not None else None


class SettraceWatch(Watch):
    def start(self) -> None:
        super().start()
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if self.is_owned(frame.f_code.co_filename):
                frame.f_trace = self._within
            frame = frame.f_back
        threading.settrace(self._called)
        sys.settrace(self._called)

    def stop(self) -> None:
        sys.settrace(None)
        threading.settrace(None)
        super().stop()

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not self.is_owned(frame.f_code.co_filename):
            return None
        self._move(_place(frame.f_code, frame.f_lineno))
        return self._within

    def _within(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._move(_place(frame.f_code, frame.f_lineno))
        elif event == "return":
            self._move(self._innermost(frame.f_back))
        return self._within


class MonitoringWatch(Watch):
    """Costs nothing in code that is not the user's: its events are switched off at the first call."""

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
                self._watch_lines(frame.f_code)
            frame = frame.f_back

    def stop(self) -> None:
        self._monitoring.set_events(self._tool, 0)
        self._monitoring.free_tool_id(self._tool)
        super().stop()

    def _watch_lines(self, code: CodeType) -> None:
        events = self._monitoring.events
        self._monitoring.set_local_events(self._tool, code, events.LINE | events.PY_RETURN | events.PY_YIELD)

    def _started(self, code: CodeType, offset: int) -> Any:
        if not self.is_owned(code.co_filename):
            return self._monitoring.DISABLE
        self._watch_lines(code)
        self._move(self._innermost(sys._getframe(1)))
        return None

    def _thrown(self, code: CodeType, offset: int, error: BaseException) -> None:
        if self.is_owned(code.co_filename):
            self._started(code, offset)

    def _line(self, code: CodeType, line: int) -> None:
        self._move(_place(code, line))

    def _ended(self, code: CodeType, offset: int, result: object) -> None:
        if self.is_owned(code.co_filename):
            self._move(self._innermost(sys._getframe(1).f_back))


def watch_of_this_python() -> type[Watch]:
    return MonitoringWatch if sys.version_info >= (3, 12) else SettraceWatch


def _place(code: CodeType, line: int | None) -> Place:
    return (code.co_filename, line or code.co_firstlineno, code.co_name)
