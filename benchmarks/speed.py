"""How fast xlalint is, side by side with others in one run, and whether it always says the same.

    python benchmarks/speed.py --site SITE_PACKAGES [--exe xlalint] [--package transformers] [--repeat 3]

What is compared: the bare parse of the same files by the standard library, TorchFix and ruff where they are installed
(``--torchfix none`` leaves out the slowest part). Seconds on a busy machine mean little, so ratios to what ran beside
them are shown, and CPU seconds beside the wall's. Nothing is cached but where it says so; a
first run that isn't counted warms the disk.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from running import Failed, Run, best, executable, run, table

SAMPLE = 200
SEED = 20_251_121
LINES = 100

PARSE = """
import ast, gc, sys
gc.disable()
for path in open(sys.argv[1], encoding="utf-8").read().split("\\n"):
    with open(path, "rb") as file:
        ast.parse(file.read())
"""

HEAD = "import torch\nimport torch_xla\n\n\n"
QUIET = """\
def step_{n}(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    y = model(x).relu()
    return y * 0.5 + y.mean()


"""
COSTLY = """\
def train(model, loader, optimizer, device):
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        print(loss.item())
        torch_xla.sync()
"""


@dataclass(frozen=True)
class Row:
    """One line of the table. ``target`` holds the bound of ``figure``, or None where there is none to reach."""

    what: str
    run: Run | None
    figure: float | None = None
    unit: str = ""
    target: float | None = None
    at_least: bool = False

    @property
    def reached(self) -> bool | None:
        if self.figure is None or self.target is None:
            return None
        return self.figure >= self.target if self.at_least else self.figure <= self.target

    def cells(self) -> tuple[str, ...]:
        times = ("", "", "")
        if self.run is not None:
            times = (f"{self.run.wall:.2f}", f"{self.run.cpu:.2f}", f"{self.run.peak:.0f}")
        figure = "" if self.figure is None else f"{self.figure:.3g} {self.unit}"
        bound = "" if self.target is None else f"{'≥' if self.at_least else '≤'} {self.target:g}"
        verdict = {None: "", True: "reached", False: "missed"}[self.reached]
        return (self.what, *times, figure.strip(), bound, verdict)


@dataclass(frozen=True)
class Tools:
    """The commands; None where one isn't installed."""

    linter: str
    torchfix: str | None
    ruff: str | None
    repeat: int


def whole_package(tools: Tools, package: Path) -> Iterator[Row]:
    """All of a package, cold, in two processes, against its bare parse in one."""
    files = python_files(package)
    parsed = parse(files, tools.repeat)
    yield Row(f"ast.parse, {package.name}, {len(files)} files, 1 process", parsed)
    linted = best([*cold(tools, 2), str(package)], repeat=tools.repeat)
    yield Row(f"xlalint, {package.name}, 2 processes", linted, linted.wall / parsed.wall, "x wall", 2.5)
    yield Row("  peak of any process", None, linted.peak, "MB", 600)


def sample(tools: Tools, files: Sequence[Path]) -> Iterator[Row]:
    """The same random files for everybody, in CPU time."""
    names = [str(path) for path in files]
    parsed = parse(files, tools.repeat)
    yield Row(f"ast.parse, {len(files)} files", parsed)
    linted = best([*cold(tools, 1), *names], repeat=tools.repeat)
    yield Row(f"xlalint, {len(files)} files", linted, linted.cpu / parsed.cpu, "x ast.parse, CPU")
    if tools.ruff is not None:
        ruff = best([tools.ruff, "check", "--isolated", "--no-cache", "--select", "ALL", *names], repeat=tools.repeat)
        yield Row("ruff, all rules, same files", ruff, linted.cpu / ruff.cpu, "x its CPU for xlalint")
    if tools.torchfix is not None:
        # Once: it takes minutes, and the ratio is far from its bound.
        torchfix = run([tools.torchfix, "--select", "ALL", *names])
        yield Row("torchfix, all rules, same files", torchfix, torchfix.cpu / linted.cpu, "x CPU of xlalint", 60, True)


def one_file(tools: Tools) -> Iterator[Row]:
    """What a user waits for in an editor or a hook, mostly imports."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        path = folder / "program.py"
        for name, head, status, bound in (
            ("without findings", HEAD, 0, 0.10),
            ("with one finding", HEAD + COSTLY, 1, 0.25),
        ):
            path.write_text(program(head), encoding="utf-8")
            # What does not parse is not linted, and is soon done.
            command = [*cold(tools, 1), "--strict", path.name]
            linted = best(command, repeat=max(10, tools.repeat), cwd=folder, allowed=(status,))
            yield Row(f"xlalint, one file of {LINES} lines {name}", linted, linted.wall, "s wall", bound)


def program(head: str) -> str:
    """A text of whole functions, of ``LINES`` lines at most."""
    text = head.rstrip() + "\n"
    for number in range(LINES):
        longer = text + "\n\n" + QUIET.format(n=number).rstrip() + "\n"
        if longer.count("\n") > LINES:
            break
        text = longer
    return text


def unchanged_package(tools: Tools, package: Path) -> Iterator[Row]:
    """A second run over a package of which nothing has changed, against the one that was kept."""
    with tempfile.TemporaryDirectory() as folder:
        command = [tools.linter, "check", "--cache-dir", folder, str(package)]
        first = run(command)
        again = best(command, repeat=max(5, tools.repeat))
        if again.output != first.output:
            raise Failed("the report from the cache is another one")
        yield Row(f"xlalint, {package.name}, kept in the cache", again, again.wall, "s wall", 0.35)
        yield Row("  against the run that was kept", None, first.wall / again.wall, "x", 30, at_least=True)


def same_findings(tools: Tools, files: Sequence[Path]) -> Iterator[Row]:
    """The same input in another order, in more processes, from another directory: how many findings differ."""
    names = [str(path) for path in files]
    shuffled = random.Random(SEED + 1).sample(names, len(names))
    reference = findings(tools, names, 1, Path.cwd())
    with tempfile.TemporaryDirectory() as elsewhere:
        ways = (
            ("shuffled", findings(tools, shuffled, 1, Path.cwd())),
            ("2 processes", findings(tools, names, 2, Path.cwd())),
            ("4 processes, shuffled", findings(tools, shuffled, 4, Path.cwd())),
            ("from another directory", findings(tools, names, 2, Path(elsewhere))),
        )
    for way, found in ways:
        differing = 0 if found == reference else max(1, len(set(found) ^ set(reference)))
        yield Row(f"{len(reference)} findings in {len(files)} files, {way}", None, differing, "differ", 0)


def findings(tools: Tools, names: Sequence[str], processes: int, cwd: Path) -> list[str]:
    """Each finding as one text, in the order of the report, its paths absolute: they are shown relative to ``cwd``."""
    command = [tools.linter, "check", "--no-cache", "--jobs", str(processes), "--output-format", "json", *names]
    report = json.loads(run(command, cwd=cwd).output)

    def absolute(value: object) -> object:
        if isinstance(value, dict):
            return {
                key: str((cwd / str(item)).resolve()) if key == "path" else absolute(item)
                for key, item in value.items()
            }
        return [absolute(item) for item in value] if isinstance(value, list) else value

    found = [absolute(finding) for finding in report["findings"]]
    # The report is sorted by path, and a path relative to another directory may sort elsewhere.
    return sorted(json.dumps(finding, sort_keys=True) for finding in found)


def cold(tools: Tools, processes: int) -> list[str]:
    return [tools.linter, "check", "--no-cache", "--jobs", str(processes)]


def parse(files: Sequence[Path], repeat: int) -> Run:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as listed:
        listed.write("\n".join(map(str, files)))
        listed.flush()
        return best([sys.executable, "-c", PARSE, listed.name], repeat=repeat, allowed=(0,))


def python_files(package: Path) -> list[Path]:
    return sorted(path for path in package.rglob("*.py") if path.is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path, required=True, help="a site-packages folder with the package")
    parser.add_argument("--package", default="transformers")
    parser.add_argument("--exe", default="xlalint")
    parser.add_argument("--torchfix", default="torchfix", help="its command, or none")
    parser.add_argument("--ruff", default="ruff", help="its command, or none")
    parser.add_argument("--repeat", type=int, default=3, help="the fastest of so many runs counts")
    options = parser.parse_args()
    linter = executable(options.exe)
    package = options.site.resolve() / options.package
    if linter is None or not package.is_dir():
        parser.error(f"no command {options.exe}" if linter is None else f"no package {options.package} in --site")
    tools = Tools(linter, executable(options.torchfix), executable(options.ruff), options.repeat)
    files = python_files(package)
    chosen = sorted(random.Random(SEED).sample(files, min(SAMPLE, len(files))))
    for name, command in (("torchfix", tools.torchfix), ("ruff", tools.ruff)):
        if command is None:
            print(f"{name}: left out, not installed")
    rows: list[Row] = []
    whole = True
    try:
        run([linter, "--version"], allowed=(0,))
        for part in (
            whole_package(tools, package),
            sample(tools, chosen),
            one_file(tools),
            unchanged_package(tools, package),
            same_findings(tools, chosen),
        ):
            for row in part:
                rows.append(row)
                print(".", end="", file=sys.stderr, flush=True)
    except Failed as failure:
        whole = False
        print(f"stopped: {failure}")
    print(file=sys.stderr)
    print(table(("what", "wall s", "CPU s", "MB", "figure", "bound", ""), [row.cells() for row in rows]))
    return 0 if whole and all(row.reached is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
