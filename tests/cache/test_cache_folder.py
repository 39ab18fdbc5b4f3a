"""Nothing that happens to the folder of the cache changes what is found: it is told, and the run is made anew."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from runs import FILES, Lint, write

from xlalint.cache import folder as folders
from xlalint.cache.folder import CacheFolder, Unusable
from xlalint.cli import main
from xlalint.facts.engine.engine import Engine

LINT = [sys.executable, "-m", "xlalint", "."]


def kept(cache: Path) -> Path:
    (entry,) = (cache / "runs").glob("*.msgpack")
    return entry


def test_a_second_run_is_answered_from_the_cache_in_each_format(lint: Lint) -> None:
    first = lint()
    assert not first.is_kept
    for form in ("text", "concise", "json", "sarif", "github"):
        for more in ((), ("--statistics",), ("--ignore-suppressions",), ("--exit-zero", "--color", "always")):
            again = lint(".", "--output-format", form, *more)
            assert again.is_kept
            assert again.shown == lint(".", "--output-format", form, "--no-cache", *more).shown


def test_even_the_seconds_are_those_of_the_run_that_is_kept(lint: Lint) -> None:
    first = lint(".", "--output-format", "json")
    time.sleep(0.05)
    assert lint(".", "--output-format", "json").out == first.out


def test_another_question_is_another_run(lint: Lint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lint()
    for more in (("--mode", "eager"), ("--ignore", "XLA101"), ("--assume-xla",), ("--no-project",), ("--isolated",)):
        assert not lint(".", *more).is_kept
        assert lint(".", *more).is_kept
    assert not lint("train.py").is_kept
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert not lint().is_kept
    monkeypatch.delenv("VIRTUAL_ENV")
    assert lint().is_kept
    monkeypatch.chdir("parts")
    assert not lint().is_kept


def test_the_number_of_processes_is_no_part_of_the_question(lint: Lint) -> None:
    lint(".", "--jobs", "2")
    assert lint(".", "--jobs", "1").is_kept


def test_no_cache_reads_and_writes_none(lint: Lint, cache: Path) -> None:
    assert not lint(".", "--no-cache").is_kept
    assert not cache.exists()
    lint()
    assert not lint(".", "--no-cache").is_kept


def test_the_folder_is_chosen_by_option_before_variable(lint: Lint, cache: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    lint(".", "--cache-dir", str(other))
    assert not cache.exists()
    assert kept(other)
    assert lint(".", "--cache-dir", str(other)).is_kept


def test_a_cache_in_the_project_itself_is_no_change_of_it(lint: Lint) -> None:
    lint(".", "--cache-dir", "kept/here")
    assert lint(".", "--cache-dir", "kept/here").is_kept


def test_any_damage_is_told_once_and_mended(lint: Lint, cache: Path) -> None:
    lint()
    right = lint().shown
    data = kept(cache).read_bytes()
    draw = random.Random(18)
    damaged = [data[:length] for length in (0, 1, 15, 16, 17, len(data) // 2, len(data) - 1)]
    for _ in range(30):
        wrong = bytearray(data)
        wrong[draw.randrange(len(wrong))] ^= draw.randrange(1, 256)
        damaged.append(bytes(wrong))
    for wrong_data in damaged:
        kept(cache).write_bytes(wrong_data)
        told = lint()
        code, out, err = told.shown
        assert (code, out) == right[:2]
        assert err == f"xlalint: warning: {kept(cache)} in the cache is damaged, and made anew\n"
        assert lint().is_kept


def test_an_entry_of_another_form_is_made_anew(lint: Lint, cache: Path) -> None:
    right = lint()
    kept(cache).write_bytes(folders.sealed(b"\xc0"))
    told = lint()
    assert told.shown[:2] == right.shown[:2]
    assert "can't be read, and is made anew" in told.err
    assert lint().is_kept


def test_what_can_not_be_written_is_told_and_changes_nothing(
    lint: Lint, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = lint(".", "--no-cache")
    CacheFolder(str(cache))

    def full(path: str, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    monkeypatch.setattr(folders, "write_whole", full)
    for _ in range(2):
        told = lint()
        assert told.shown[:2] == right.shown[:2]
        told_of = f"the cache folder {cache} can't be written to: No space left on device"
        assert told.shown[2] == f"xlalint: warning: {told_of}\n"
    assert lint(".", "--quiet").shown[2] == ""


def test_a_disk_that_is_full_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CacheFolder(str(tmp_path / "cache"))

    def full(*_: str) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(Unusable):
        cache.write("runs", "x", b"text")
    assert list((tmp_path / "cache" / "runs").glob("x*")) == []


def test_a_kept_run_is_read_where_nothing_can_be_written(
    lint: Lint, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lint()

    def read_only(path: str, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    for name in ("mkdir", "replace", "utime"):
        monkeypatch.setattr(os, name, read_only)
    assert lint().is_kept


def test_a_folder_that_can_not_be_made_is_told(lint: Lint, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    right = lint(".", "--no-cache")
    for path in (tmp_path / "file", tmp_path / "file" / "inner"):
        told = lint(".", "--cache-dir", str(path) if path.name == "inner" else str(path / "x"))
        assert told.shown[:2] == right.shown[:2]
        assert "is not used: Not a directory" in told.err


@pytest.mark.parametrize("room", ["", "runs"])
@pytest.mark.parametrize("mode", [0o777, 0o757, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(lint: Lint, cache: Path, room: str, mode: int) -> None:
    right = lint()
    (cache / room).chmod(mode)
    told = lint()
    assert not told.is_kept
    assert told.shown[:2] == right.shown[:2]
    assert told.shown[2].count("\n") == 1
    assert "is not used: others may write to it" in told.err


def test_a_folder_of_another_user_is_not_used(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    lint()
    me = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: me + 1)
    told = lint()
    assert not told.is_kept
    assert "is not used: it belongs to another user" in told.err


def test_a_group_of_the_users_own_may_write(cache: Path) -> None:
    CacheFolder(str(cache))
    status = os.stat(cache)
    shared = os.stat_result((status.st_mode | 0o020, *status[1:4], 500, 501, *status[6:]))
    own = os.stat_result((status.st_mode | 0o020, *status[1:4], os.getuid(), os.getuid(), *status[6:]))
    assert folders.refusal(shared)
    assert folders.refusal(own) == ""


def test_what_failed_inside_is_not_kept(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise KeyError("inside")

    monkeypatch.setattr(Engine, "value_of", failing)
    assert "internal error" in lint().err
    assert not lint().is_kept


def test_where_a_bug_is_looked_for_nothing_comes_from_the_cache(lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
    lint()
    monkeypatch.setenv("XLALINT_TRACEBACK", "1")
    assert not lint().is_kept


def test_the_entries_used_longest_ago_go_first(tmp_path: Path) -> None:
    cache = CacheFolder(str(tmp_path / "cache"))
    for number in range(5):
        cache.write("runs", str(number), bytes(1000))
        os.utime(tmp_path / "cache" / "runs" / f"{number}.msgpack", (10_000 + number, 10_000 + number))
    abandoned, fresh = (tmp_path / "cache" / "runs" / f"{name}.msgpack.1.part" for name in "ab")
    for path in (abandoned, fresh):
        path.write_bytes(b"")
    os.utime(abandoned, (10_000, 10_000))
    assert cache.read("runs", "1") is not None  # it is used again
    cache.prune(most=3200)
    left = {path.name for path in (tmp_path / "cache" / "runs").glob("*.msgpack*")}
    assert left == {"1.msgpack", "3.msgpack", "4.msgpack", fresh.name}


def test_clean_removes_what_is_the_caches_and_nothing_else(
    lint: Lint, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lint()
    (cache / "notes.txt").write_text("mine")
    capfd.readouterr()
    assert main(["clean"]) == 0
    assert str(cache) in capfd.readouterr().out
    assert [path.name for path in cache.rglob("*")] == ["notes.txt"]
    assert main(["clean"]) == 0
    (cache / "notes.txt").unlink()
    assert not lint().is_kept
    assert main(["clean", "--cache-dir", str(cache)]) == 0
    assert not cache.exists()
    assert main(["clean"]) == 0


def test_clean_takes_no_project_for_a_cache(lint: Lint) -> None:
    write({"runs/x.py": "", "runs/y.msgpack": "", ".gitignore": "*\n"})
    assert main(["clean", "--cache-dir", "."]) == 0
    assert Path("runs/y.msgpack").exists()
    assert Path(".gitignore").exists()


def test_two_runs_at_once_are_two_right_ones(lint: Lint, cache: Path) -> None:
    right = lint(".", "--no-cache")
    running = [subprocess.Popen(LINT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for each in running:
        out, err = each.communicate(timeout=120)
        assert (each.returncode, out, err) == (right.code, right.out, "")
    assert lint().is_kept
    assert [path.suffix for path in (cache / "runs").glob("*.msgpack*")] == [".msgpack"]


@pytest.mark.parametrize("after", [0.05, 0.2, 0.4])
def test_a_run_that_is_killed_leaves_nothing_that_misleads(lint: Lint, after: float) -> None:
    right = lint(".", "--no-cache")
    running = subprocess.Popen(LINT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after)
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert lint().shown == right.shown
    assert lint().shown == right.shown


def test_standard_input_is_a_part_of_the_question(lint: Lint) -> None:
    texts = (FILES["train.py"], FILES["parts/steps.py"])
    command = [sys.executable, "-m", "xlalint", "-v", "-", "--stdin-filename", "parts/steps.py"]
    for text, is_kept in ((texts[0], False), (texts[1], False), (texts[0], True)):
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)
        assert ("nothing has changed" in done.stderr) == is_kept


def test_a_folder_with_something_else_is_no_cache(lint: Lint) -> None:
    write({"runs/mine.txt": ""})
    told = lint(".", "--cache-dir", ".")
    assert told.shown[:2] == lint(".", "--no-cache").shown[:2]
    assert "holds something else" in told.err
