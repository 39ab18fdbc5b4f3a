"""What a program may do to the worker: it is told as the reason, and the next program runs as if nothing had been."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.worker.client import Worker
from xlalint.device.worker.protocol import Outcome, Request
from xlalint.findings.model import Mode

HARMLESS = "import torch, torch_xla\ndef run(steps):\n    return torch.ones(2, device=torch_xla.device()) + 1\n"


def request(body: str, seconds: float = 30, cpu_seconds: int = 60, record: bool = False) -> Request:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    text = f"import ctypes, os, signal, subprocess, sys, time\ndef run(steps):\n{lines}\n"
    return Request(text=text, steps=1, mode=Mode.LAZY, seconds=seconds, cpu_seconds=cpu_seconds, record=record)


def reason(outcome: Outcome) -> str:
    assert outcome.failure is not None
    return f"{outcome.failure.type}: {outcome.failure.message}"


def works(worker: Worker) -> bool:
    return worker.run(Request(text=HARMLESS, steps=1, mode=Mode.LAZY)).failure is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("ctypes.string_at(0)", "Died: the process was killed by SIGSEGV"),
        ("os._exit(0)", "Died: the process ended with exit code 0 before it was done"),
        ("os._exit(3)", "Died: the process ended with exit code 3 before it was done"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "Died: the process was killed by SIGKILL"),
        ("os.killpg(0, signal.SIGTERM)", "Died: the process was killed by SIGTERM"),
        ("print('x' * (1 << 30))", "TooMuchOutput: wrote more than 64 MB to one file"),
        ("subprocess.run(['yes'])\nraise SystemError('end')", "SystemError: end"),
        ("return [bytearray(1 << 28) for _ in range(100)]", "MemoryError"),
        ("os.closerange(3, 256)", "Died: the process ended with exit code 1"),
        ("sys.stdout.close()\nraise KeyError('k')", "KeyError: 'k'"),
    ],
)
def test_what_it_does_is_told_as_the_reason(worker: Worker, body: str, words: str) -> None:
    assert reason(worker.run(request(body))).startswith(words)
    assert works(worker)


def test_a_program_that_hangs_is_ended_by_the_clock_or_by_its_use_of_the_processor(worker: Worker) -> None:
    assert reason(worker.run(request("time.sleep(100)", seconds=1))) == "TimedOut: still running after 1 s"
    ignoring = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass"
    spinning = worker.run(request(ignoring, cpu_seconds=2))
    assert reason(spinning) == "TooMuchTime: used more than 2 s of processor time"
    assert works(worker)


@pytest.mark.parametrize("session", ["", "os.setsid()\n"])
def test_what_it_forks_does_not_outlive_it(worker: Worker, tmp_path: Path, session: str) -> None:
    alive = tmp_path / "alive"
    alive.write_text("", encoding="utf-8")
    lines = f"{session}while True:\n    os.utime({str(alive)!r})\n    time.sleep(0.05)".replace("\n", "\n    ")
    outcome = worker.run(request(f"if os.fork() == 0:\n    {lines}\ntime.sleep(0.5)", seconds=10))
    assert outcome.failure is None
    after = alive.stat().st_mtime
    time.sleep(0.3)
    assert alive.stat().st_mtime == after
    assert works(worker)


def test_a_fork_that_comes_back_tells_no_second_outcome(worker: Worker) -> None:
    outcome = worker.run(request("if os.fork() == 0:\n    return 1\nos.wait()\nraise KeyError('the first')"))
    assert reason(outcome) == "KeyError: 'the first'"
    assert works(worker)


def test_a_program_that_ends_the_worker_itself_costs_only_its_own_verdict() -> None:
    with Worker() as worker:
        outcome = worker.run(request("os.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(5)", seconds=10))
        assert reason(outcome).startswith("Died: the worker died while it ran this")
        assert works(worker)


def test_it_works_in_a_folder_of_its_own_that_is_its_home_too(worker: Worker) -> None:
    outcome = worker.run(request("print(os.getcwd(), os.environ['HOME'])\nopen(os.path.expanduser('~/left'), 'w')"))
    assert outcome.failure is None
    folder, home = outcome.output.split()
    assert folder == home
    assert not Path(folder).exists()
    assert os.environ.get("HOME") != home


def test_no_program_reaches_the_network_where_the_system_allows_to_forbid_it(worker: Worker) -> None:
    if not worker.versions.network_off:
        pytest.skip("this system allows no network of its own for a process")
    connect = "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=5)"
    assert "Network is unreachable" in reason(worker.run(request(connect)))
    here = "import socket\none = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(one.getsockname())"
    assert worker.run(request(here)).failure is None


def test_without_fork_each_program_has_an_interpreter_of_its_own() -> None:
    with Worker(forks=False) as worker:
        assert worker.versions.torch_xla
        outcome = worker.run(request("print('here')\nraise KeyError('k')"))
        assert (reason(outcome), outcome.output.splitlines()[0]) == ("KeyError: 'k'", "here")
        assert reason(worker.run(request("os._exit(3)"))).startswith("Died: the process ended with exit code 3")
