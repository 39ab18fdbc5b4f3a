"""See the package's own description."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import tools.slow
from tools.slow.checks import CHECKS, Absent, Options
from tools.slow.results import commit_of, record

ROOT = Path(__file__).parent.parent.parent
RESULTS = Path(__file__).with_name("results.md")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.slow",
        description=tools.slow.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"of {', '.join(CHECKS)}; all without one")
    parser.add_argument("--site", type=Path, default=os.environ.get("XLALINT_SITE"), help="packages of the corpus")
    parser.add_argument("--mutants", type=int, default=300, help="fewer for a sample")
    parser.add_argument("--jobs", type=int, default=1, help="mutants that are tried at once")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the rows go")
    chosen = parser.parse_args()
    for name in chosen.checks:
        if name not in CHECKS:
            parser.error(f"no check `{name}`: there are {', '.join(CHECKS)}")
    site = Path(chosen.site).resolve() if chosen.site else None
    options = Options(site, chosen.mutants, chosen.jobs)
    passed = [run(name, options, chosen.results) for name in chosen.checks or CHECKS]
    return 0 if all(passed) else 1


def run(name: str, options: Options, results: Path) -> bool:
    """Run one check, show its output while it runs, and record what came of it."""
    check = CHECKS[name]
    try:
        command = check.command(options)
    except Absent as absent:
        print(f"{name}: left out, {absent}", flush=True)
        return False
    started, commit = time.monotonic(), commit_of(ROOT)
    lines = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            print(line, end="", flush=True)
    outcome = check.read(process.returncode, "".join(lines))
    record(results, commit, name, outcome, time.monotonic() - started)
    print(f"{name}: {'passed' if outcome.passed else 'failed'}: {outcome.text}", flush=True)
    return outcome.passed


if __name__ == "__main__":
    sys.exit(main())
