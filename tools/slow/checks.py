"""The checks that are run by hand: what each runs, and what it makes of the output."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True)
class Options:
    """``site``: a folder with the packages of the corpus, or None."""

    site: Path | None
    mutants: int
    jobs: int


class Absent(Exception):
    """What a check needs is not there. One line."""


@dataclass(frozen=True)
class Outcome:
    passed: bool
    text: str


@dataclass(frozen=True)
class Check:
    """``command`` raises ``Absent``; ``read`` is given the exit code and the output."""

    command: Callable[[Options], list[str]]
    read: Callable[[int, str], Outcome]


def corpus_command(options: Options) -> list[str]:
    if options.site is None or not options.site.is_dir():
        raise Absent("no folder of packages: give --site")
    return [sys.executable, "benchmarks/corpus.py", "--site", str(options.site)]


def read_corpus(status: int, output: str) -> Outcome:
    counts = [int(count) for count in re.findall(r"^[\w.-]+: (\d+) findings, ", output, re.MULTILINE)]
    differing = len(re.findall(r"^(?:new|gone|other) ", output, re.MULTILINE))
    passed_over = len(re.findall(r"^[\w.-]+: passed over, ", output, re.MULTILINE))
    text = f"{sum(counts)} findings in {len(counts)} packages, {differing} not as in corpus.txt"
    if passed_over:
        text += f", {passed_over} packages passed over"
    return Outcome(status == 0 and bool(counts) and not passed_over, text)


def mutation_command(options: Options) -> list[str]:
    command = [sys.executable, "-m", "tools.mutation", "--jobs", str(options.jobs), "--count", str(options.mutants)]
    return [*command, "--write"] if options.mutants == 300 else command


def read_mutation(status: int, output: str) -> Outcome:
    match = re.search(r"^\| together.*?\| (\d+) \| (\d+) \|", output, re.MULTILINE)
    if match is None:
        return Outcome(False, "the tests fail without a mutant, or the run was cut short")
    return Outcome(status == 0, f"{match[2]} of {match[1]} mutants killed by the fast tests")


def programs_command(options: Options) -> list[str]:
    if missing := [name for name in ("torch_xla", "timm", "torchvision", "transformers") if find_spec(name) is None]:
        raise Absent(f"not installed: {', '.join(missing)}; `pip install '.[bench]'` has them")
    return [sys.executable, "benchmarks/modes.py"]


def read_programs(status: int, output: str) -> Outcome:
    rows = [line for line in output.splitlines() if line.startswith("| ")]
    failed = sum("failed with exit code" in row for row in rows)
    return Outcome(status == 0 and bool(rows) and not failed, f"{len(rows)} runs of models, {failed} failed")


def traced_command(options: Options) -> list[str]:
    if find_spec("torch_xla") is None:
        raise Absent("not installed: torch_xla")
    mirrors = os.environ.get("XLALINT_MIRRORS")
    return [sys.executable, "benchmarks/traced.py", *(["--mirrors", mirrors] if mirrors else [])]


def read_traced(status: int, output: str) -> Outcome:
    rows = [line.strip("| ").split(" | ") for line in output.splitlines() if line.startswith("| ")]
    told = sum(row[1] == row[2] for row in rows)
    passed_over = output.count(": passed over, ")
    text = f"{len(rows)} programs traced, {told} with the steps that their owner would count, {passed_over} passed over"
    return Outcome(status == 0 and bool(rows) and told == len(rows), text)


def environments_command(options: Options) -> list[str]:
    return [".ci/other-pythons"]


def read_environments(status: int, output: str) -> Outcome:
    """A line of pytest's figures stands below the heading of its Python."""
    found: dict[str, str] = {}
    version = ""
    for line in output.splitlines():
        if heading := re.fullmatch(r"== the linter's own tests on Python (\S+)", line):
            version = heading[1]
            found[version] = "did not end"
        elif version and (figures := re.search(r"(?:\d+ \w+, )*\d+ (?:passed|failed)[^=]*?(?= in [\d.]+s)", line)):
            found[version] = figures[0]
    text = "; ".join(f"Python {version}: {figures}" for version, figures in found.items())
    return Outcome(status == 0 and bool(found), text or "no other Python on this machine")


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "corpus": Check(corpus_command, read_corpus),
        "mutation": Check(mutation_command, read_mutation),
        "programs": Check(programs_command, read_programs),
        "traced": Check(traced_command, read_traced),
        "environments": Check(environments_command, read_environments),
    }
)
