"""Hostile programs behind the wall, with canaries outside: each mechanism of the system that runs these tests holds."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.wall.choice import MECHANISMS, build
from xlalint.device.wall.enclosure import enclosure
from xlalint.device.wall.errors import NoWall
from xlalint.device.worker.client import Worker
from xlalint.device.worker.protocol import Outcome, Request
from xlalint.findings.model import Mode

SECRET = f"secret-{uuid.uuid4().hex}"
MEGABYTE = 1 << 20
HEAD = "import ctypes, glob, mmap, os, shutil, signal, socket, subprocess, sys, threading, time\n"
HARMLESS = "import torch, torch_xla\ndef run(steps):\n    return torch.ones(2, device=torch_xla.device()) + 1\n"


class Behind(NamedTuple):
    """A worker behind a wall, and what is on both sides of it."""

    worker: Worker
    project: Path
    outside: Path

    def run(self, body: str, *, top: str = "", seconds: float = 30, **limits: int) -> Outcome:
        """``body`` may say PROJECT, OUTSIDE; what it prints is the outcome's output."""
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        places = f"PROJECT, OUTSIDE = {str(self.project)!r}, {str(self.outside)!r}\n"
        text = f"{HEAD}{places}{top}\ndef run(steps):\n{lines}\n"
        return self.worker.run(Request(text=text, steps=1, mode=Mode.LAZY, seconds=seconds, **limits))

    def works(self) -> bool:
        return self.worker.run(Request(text=HARMLESS, steps=1, mode=Mode.LAZY)).failure is None


@pytest.fixture(scope="module", params=list(MECHANISMS))
def behind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    project, outside = (tmp_path_factory.mktemp(name) for name in ("project", "outside"))
    for folder in (project, outside):
        (folder / "canary").write_text(SECRET, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_PASSWORD", SECRET)
        patch.setenv("XLA_API_TOKEN", SECRET)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(project / "socket"))
            listening.listen()
            try:
                wall = build(enclosure([str(project)], scratch_bytes=64 * MEGABYTE), [request.param])
            except NoWall as error:
                pytest.skip(str(error))
            with Worker({"PJRT_DEVICE": "CPU"}, wall=wall, patience=20) as worker:
                yield Behind(worker, project, outside)


def told(outcome: Outcome) -> str:
    assert outcome.failure is not None, outcome.output
    return f"{outcome.failure.type}: {outcome.failure.message}"


def raised(outcome: Outcome) -> str:
    """What went wrong by the program's own account: it was stopped by the system, and not by chance."""
    assert outcome.failure is None, told(outcome)
    return outcome.output


def attempt(*actions: str) -> str:
    """Code that tries each action alone and prints what became of it."""
    return "\n".join(
        f"try:\n    {action}\n    print('DONE', {action!r})\nexcept BaseException as error:\n    print(repr(error))"
        for action in actions
    )


def test_what_lies_outside_can_be_neither_removed_nor_seen(behind: Behind) -> None:
    body = attempt("shutil.rmtree(OUTSIDE)", "print(open(OUTSIDE + '/canary').read())", "os.listdir(OUTSIDE)")
    outcome = behind.run(body)
    assert "DONE" not in raised(outcome)
    assert (behind.outside / "canary").read_text(encoding="utf-8") == SECRET
    assert SECRET not in outcome.output


def test_the_project_can_be_read_and_not_written(behind: Behind) -> None:
    body = attempt(
        "shutil.rmtree(PROJECT)",
        "open(PROJECT + '/new', 'w')",
        "open(PROJECT + '/canary', 'a')",
        "os.chmod(PROJECT, 0o777)",
        "os.rename(PROJECT + '/canary', PROJECT + '/moved')",
        "os.utime(PROJECT + '/canary')",
    )
    output = raised(behind.run(body + "\nprint(open(PROJECT + '/canary').read())"))
    assert "DONE" not in output
    assert SECRET in output
    assert sorted(entry.name for entry in behind.project.iterdir()) == ["canary", "socket"]


def test_statements_of_the_module_are_behind_the_wall_too(behind: Behind) -> None:
    top = (
        "subprocess.run(['touch', OUTSIDE + '/made'], check=False)\n"
        "subprocess.run(['rm', '-rf', OUTSIDE, PROJECT], check=False)\n"
    )
    behind.run("return 1", top=top)
    assert [entry.name for entry in behind.outside.iterdir()] == ["canary"]
    assert (behind.project / "canary").exists()


def test_the_user_s_home_and_keys_are_not_there(behind: Behind) -> None:
    home = Path.home()
    body = attempt(
        f"os.listdir({str(home / '.ssh')!r})", "open('/etc/shadow')", "os.listdir('/var')", "open('/dev/sda')"
    )
    listed = f"print('HOME', sorted(os.listdir({str(home)!r})) if os.path.exists({str(home)!r}) else [])"
    output = raised(behind.run(f"{body}\n{listed}"))
    assert "DONE" not in output
    # Only the way to the interpreter may lead through it.
    hidden = {entry.name for entry in home.iterdir()} - set(_ways(home))
    shown = output.split("HOME")[1]
    assert not [name for name in hidden if repr(name) in shown]


def _ways(home: Path) -> Iterator[str]:
    for place in enclosure().readable:
        if Path(place.name).is_relative_to(home):
            yield Path(place.name).relative_to(home).parts[0]


def test_secrets_in_the_environment_do_not_come_through(behind: Behind) -> None:
    body = "print(dict(os.environ))\nfor path in glob.glob('/proc/[0-9]*/environ'):\n    " + (
        "try:\n        print(open(path).read())\n    except OSError as error:\n        print(error)"
    )
    assert SECRET not in raised(behind.run(body))
    assert "PJRT_DEVICE" in behind.run(body).output


def test_no_socket_outside_is_reached(behind: Behind, tmp_path: Path) -> None:
    name = f"\0xlalint-{uuid.uuid4().hex}"
    path = str(tmp_path / "socket")
    with (
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.create_server(("127.0.0.1", 0)) as by_port,
    ):
        for one, address in ((abstract, name), (by_path, path)):
            one.bind(address)
            one.listen()
        body = attempt(
            f"socket.socket(socket.AF_UNIX).connect({name!r})",
            f"socket.socket(socket.AF_UNIX).connect({path!r})",
            "socket.socket(socket.AF_UNIX).connect(PROJECT + '/socket')",
            f"socket.create_connection(('127.0.0.1', {by_port.getsockname()[1]}), timeout=5)",
            "socket.create_connection(('192.0.2.1', 80), timeout=5)",
        )
        assert "DONE" not in raised(behind.run(body))


@pytest.mark.parametrize("folder", ["/dev/shm", "."])
def test_a_flood_of_files_ends_at_the_size_of_the_scratch_folder(behind: Behind, folder: str) -> None:
    body = f"for n in range(1000):\n    open({folder!r} + f'/f{{n}}', 'wb').write(bytes(1 << 20))"
    assert "No space left" in told(behind.run(body))
    # Nothing of it is left to the next one.
    assert raised(behind.run(f"print(len(os.listdir({folder!r})))")).strip() in ("0", "1", "2")


def test_a_flood_of_empty_files_is_stopped(behind: Behind) -> None:
    body = "for n in range(10**7):\n    open(f'f{n}', 'w').close()"
    assert told(behind.run(body, files=2000)) == "TooManyFiles: wrote more than 2000 files"
    assert behind.works()


@pytest.mark.parametrize(
    "flood",
    [
        "m = mmap.mmap(-1, 4 << 30)\nwhile m.tell() < 4 << 30:\n    m.write(bytes(1 << 26))\ntime.sleep(20)",
        "kept = [mmap.mmap(-1, 1 << 26) for _ in range(64)]\n"
        "for m in kept:\n    m.write(bytes(1 << 26))\ntime.sleep(20)",
        "for _ in range(8):\n    if os.fork() == 0:\n        kept = b'x' * (400 << 20)\n        time.sleep(20)\n"
        "time.sleep(20)",
    ],
    ids=["shared", "many-shared", "many-processes"],
)
def test_memory_is_counted_over_all_processes_and_with_shared_pages(behind: Behind, flood: str) -> None:
    found = told(behind.run(flood, data_bytes=2048 * MEGABYTE))
    assert found == "TooMuchMemory: used more than 2048 MB of memory"
    assert behind.works()


def test_memory_that_belongs_to_nobody_is_refused(behind: Behind) -> None:
    body = attempt(
        "os.memfd_create('x')",
        "print(ctypes.CDLL(None, use_errno=True).shmget(0, 1 << 30, 0o1600)); raise SystemError('refused')",
        "os.unshare(os.CLONE_NEWUSER)" if hasattr(os, "unshare") else "subprocess.run(['unshare', '-U'], check=True)",
        "subprocess.run(['mount', '-t', 'tmpfs', 'x', '.'], check=True)",
    )
    if os.uname().machine not in ("x86_64", "aarch64"):
        pytest.skip("the numbers of this machine's system calls are not known")
    output = raised(behind.run(body))
    assert "DONE" not in output
    assert "-1" in output


@pytest.mark.parametrize("name", ["SIGSTOP", "SIGKILL", "SIGTERM", "SIGINT", "SIGSEGV"])
def test_signals_to_the_worker_and_to_everybody_change_nothing(behind: Behind, name: str) -> None:
    body = attempt(f"os.kill(os.getppid(), signal.{name})", f"os.kill(1, signal.{name})")
    began = time.monotonic()
    outcome = behind.run(f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{body}\nprint('went on')")
    assert "went on" in raised(outcome)
    assert time.monotonic() - began < 20
    assert behind.works()


def test_the_worker_can_be_neither_traced_nor_read(behind: Behind) -> None:
    attach = "ctypes.CDLL(None, use_errno=True).ptrace(16, os.getppid(), 0, 0)"
    body = attempt(
        "open('/proc/1/mem', 'rb')",
        "open('/proc/1/environ', 'rb').read()",
        "open('/proc/1/fd/0', 'rb')",
        f"if {attach} != 0: raise SystemError('refused')",
        "open('/proc/sys/kernel/core_pattern', 'w')",
        "open('/proc/sys/user/max_user_namespaces', 'w')",
    )
    assert "DONE" not in raised(behind.run(body))


def test_a_fork_bomb_is_ended(behind: Behind) -> None:
    """It doubles five times a second, in a small process, so as not to take the machine from the other tests."""
    bomb = "import os, time\nwhile True:\n    os.fork()\n    time.sleep(0.2)"
    found = told(behind.run(f"subprocess.run([sys.executable, '-I', '-S', '-c', {bomb!r}])", tasks=100))
    assert found == "TooManyProcesses: had more than 100 processes and threads"
    assert behind.works()


def test_a_thread_bomb_is_ended(behind: Behind) -> None:
    start = "threading.Thread(target=time.sleep, args=(100,)).start()"
    body = f"while True:\n    try:\n        {start}\n    except RuntimeError:\n        pass"
    assert told(behind.run(body, tasks=100)).startswith("TooManyProcesses")
    assert behind.works()


def test_what_a_program_writes_and_says_is_bounded(behind: Behind) -> None:
    assert told(behind.run("print('x' * (1 << 30))", file_bytes=MEGABYTE)).startswith("TooMuchOutput")
    # In place of the outcome: it knows its own pipes.
    body = "for n in range(3, 64):\n    try:\n        os.write(n, b'\\xff' * 8)\n    except OSError:\n        pass"
    assert behind.run(f"{body}\nprint(1)", seconds=5).failure is not None
    assert behind.works()


def test_a_crash_costs_only_its_own_verdict(behind: Behind) -> None:
    assert told(behind.run("ctypes.string_at(0)")) == "Died: the process was killed by SIGSEGV"
    assert told(behind.run("os.kill(os.getpid(), signal.SIGKILL)")) == "Died: the process was killed by SIGKILL"
    assert told(behind.run("os._exit(0)")).startswith("Died: the process ended with exit code 0")
    assert behind.works()


def test_a_program_that_stops_itself_is_ended_by_the_clock(behind: Behind) -> None:
    assert told(behind.run("os.kill(os.getpid(), signal.SIGSTOP)", seconds=2)) == "TimedOut: still running after 2 s"
    assert behind.works()


def test_no_daemon_outlives_it(behind: Behind) -> None:
    mark = uuid.uuid4().int % 10**9 + 10**9
    daemons = (
        f"subprocess.Popen(['setsid', 'nohup', 'sleep', '{mark}'], start_new_session=True)\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        f"        os.execvp('sleep', ['sleep', '{mark}'])\n    os._exit(0)\ntime.sleep(0.3)"
    )
    assert behind.run(daemons).failure is None
    assert not _running(str(mark))


def test_what_it_leaves_is_gone_for_the_next(behind: Behind) -> None:
    deep = (
        "for _ in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\nopen('/dev/shm/left', 'w')\n"
        "os.mkfifo(os.environ['HOME'] + '/left.txt')\nos.unlink(os.environ['HOME'] + '/output')\n"
        "os.mkfifo(os.environ['HOME'] + '/output')"
    )
    began = time.monotonic()
    behind.run(deep)
    assert time.monotonic() - began < 60
    output = raised(behind.run("print(os.listdir('/dev/shm'), len(os.listdir('/run/xlalint')))"))
    # Its own folder, and one that torch makes when it is imported.
    assert output.split() in (["[]", "1"], ["[]", "2"])


def test_a_worker_that_is_stopped_from_outside_is_ended_by_the_client(tmp_path: Path) -> None:
    try:
        wall = build(enclosure())
    except NoWall as error:
        pytest.skip(str(error))
    with Worker({"PJRT_DEVICE": "CPU"}, wall=wall, patience=1) as worker:
        for pid in worker._tree.pids():
            os.kill(pid, signal.SIGSTOP)
        request = Request(text="#" * MEGABYTE + f"\n{HARMLESS}", steps=1, mode=Mode.LAZY, seconds=1)
        assert told(worker.run(request)) == "TimedOut: still running after 1 s"
        assert worker.run(Request(text=HARMLESS, steps=1, mode=Mode.LAZY)).failure is None


HANGS = """\
import time
import torch
import torch_xla


def pause():
    time.sleep({mark})
    return 1


def train(model: torch.nn.Module, loader):
    for x in loader:
        y = model(x).sum() * pause()
        print(y.item())
        torch_xla.sync()
"""


def test_nothing_is_left_when_the_command_is_killed(tmp_path: Path) -> None:
    """Its processes end, and nothing lies in the folder for temporary files."""
    mark = f"XLA_MARK_{uuid.uuid4().hex}"
    (tmp_path / "train.py").write_text(HANGS.format(mark=1000), encoding="utf-8")
    before = set(Path("/tmp").glob("xlalint-*"))
    command = [sys.executable, "-m", "xlalint", "validate", "train.py", "--timeout", "600"]
    run = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, mark: "1"}, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    # The command, what builds the wall, the worker and its child.
    while len(_marked(mark)) < 4 and time.monotonic() < deadline and run.poll() is None:
        time.sleep(0.2)
    if run.poll() is not None:
        assert run.stderr is not None
        words = run.stderr.read()
        if "allows no wall" in words:
            pytest.skip(words)
        pytest.fail(words)
    assert len(_marked(mark)) >= 4
    run.kill()
    run.wait()
    deadline = time.monotonic() + 10
    while _marked(mark) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _marked(mark) == []
    assert set(Path("/tmp").glob("xlalint-*")) <= before


COSTLY = """\
import torch
import torch_xla


def train(model, loader):
    for x in loader:
        loss = model(x.to("xla")).sum()
        loss.backward()
        print(loss.item())
        torch_xla.sync()
"""
WITHOUT = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'


def xlalint_without_walls(where: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """The command where no namespaces can be had."""
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", WITHOUT, "sh", sys.executable, "-m", "xlalint"]
    run = subprocess.run(
        [*command, *arguments], cwd=where, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    if "unshare failed" in run.stderr or "Permission denied" in run.stderr:
        pytest.skip(run.stderr)
    return run


def test_without_a_wall_nothing_is_run_unless_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(COSTLY, encoding="utf-8")
    refused = xlalint_without_walls(tmp_path, "validate", "train.py")
    assert refused.returncode == 2, refused.stdout
    (line,) = [one for one in refused.stderr.splitlines() if one.startswith("xlalint: error")]
    assert "this system allows no wall around a program" in line
    assert "--no-sandbox runs the programs without one" in line
    asked = xlalint_without_walls(tmp_path, "validate", "--no-sandbox", "train.py", "--output-format", "concise")
    assert "(confirmed" in asked.stdout, asked.stderr
    by_variable = xlalint_without_walls(tmp_path, "validate", "train.py", "-q", XLALINT_NO_SANDBOX="1")
    assert by_variable.returncode == 1, by_variable.stderr


def test_the_linted_project_can_not_take_the_wall_away(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(COSTLY, encoding="utf-8")
    (tmp_path / "xlalint.toml").write_text("no-sandbox = true\n", encoding="utf-8")
    refused = xlalint_without_walls(tmp_path, "validate", "train.py")
    assert refused.returncode == 2
    assert "unknown key `no-sandbox`" in refused.stderr


def test_the_package_s_own_programs_run_without_a_wall(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"
    run = xlalint_without_walls(
        tmp_path, "validate", "--only", "XLA106", str(examples / "plain_loop_costly.py"), "--output-format", "concise"
    )
    assert "(confirmed" in run.stdout, run.stderr
    assert "the package's own programs are run without a wall" in run.stderr


def _running(word: str) -> list[int]:
    """Processes with ``word`` among their arguments."""
    return [int(path.parts[2]) for path in Path("/proc").glob("[0-9]*/cmdline") if word.encode() in _bytes(path)]


def _marked(name: str) -> list[int]:
    """Processes with a variable of this name, zombies not counted."""
    return [int(path.parts[2]) for path in Path("/proc").glob("[0-9]*/environ") if name.encode() in _bytes(path)]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
