"""Runs a program on several virtual devices of the CPU, as torch_xla's launcher does there: a thread for each.

The CPU runtime knows a collective by the compiled graph and by nothing else, and loses it where two ranks compile the
same graph at once or arrive together. So the ranks end their steps in turns, and each waits for the device before it
goes on: then the ranks meet in a collective if, and only if, they run the same graphs. A rank that is alone in one is
killed by the runtime, with all others, after some seconds.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from importlib import import_module

_TURN = 0.3
"""Seconds between two ranks that end a step: more than the compile of a small program takes."""
_PAUSE = 0.1
"""Seconds after a step, for all ranks to leave its collectives."""


def run_on_each(run: Callable[[int], object], steps: int, devices: int) -> object:
    """What the program returns on each rank. Before this no device may have been used."""
    os.environ["CPU_NUM_DEVICES"] = str(devices)
    launcher = import_module("torch_xla._internal.pjrt")
    _take_turns()
    return launcher._run_thread_per_device(
        local_rank=0, local_world_size=1, fn=lambda: run(steps), initializer_fn=launcher.initialize_multiprocess
    )


def _take_turns() -> None:
    runtime = import_module("torch_xla")._XLAC
    wait = import_module("torch_xla.core.xla_model").wait_device_ops
    end_step, turn = runtime._xla_step_marker, threading.Lock()

    def end_in_turn(*arguments: object, **keywords: object) -> None:
        with turn:
            end_step(*arguments, **keywords)
            time.sleep(_TURN)
        wait()
        time.sleep(_PAUSE)

    runtime._xla_step_marker = end_in_turn
