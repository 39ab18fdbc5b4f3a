"""Runs a program on several virtual devices of the CPU, as torch_xla's launcher does there: a thread for each.

The CPU runtime knows a collective by the compiled graph and by nothing else. So one rank after the other ends its step,
for two that compile the same graph at once have two graphs, and each waits for its own device before it goes on: then
the ranks meet in a collective if, and only if, they run the same graphs. A rank that waited for all devices would hold
those that come before its own, and who is to meet it there could not start. A rank that is alone in a collective is
killed by the runtime, with all others, after some seconds.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from importlib import import_module


def run_on_each(run: Callable[[int], object], steps: int, devices: int) -> object:
    """What the program returns on each rank. Before this no device may have been used."""
    os.environ["CPU_NUM_DEVICES"] = str(devices)
    launcher = import_module("torch_xla._internal.pjrt")
    _take_turns()
    return launcher._run_thread_per_device(
        local_rank=0, local_world_size=1, fn=lambda: run(steps), initializer_fn=launcher.initialize_multiprocess
    )


def _take_turns() -> None:
    package = import_module("torch_xla")
    model = import_module("torch_xla.core.xla_model")
    runtime, end_step, turn = package._XLAC, package._XLAC._xla_step_marker, threading.Lock()

    def end_in_turn(*arguments: object, **keywords: object) -> None:
        with turn:
            end_step(*arguments, **keywords)
        model.wait_device_ops(model.xla_real_devices([str(package.device())]))

    runtime._xla_step_marker = end_in_turn
