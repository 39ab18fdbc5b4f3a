"""Write into the README what the linter says of an example, so that the sample is never older than the tool.

python tools/readme_sample.py            # rewrite the block between the two markers
python tools/readme_sample.py --check    # exit code 1 where it is out of date
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PROGRAM = "examples/plain_loop_costly.py"
BEGIN, END = "<!-- sample: begin -->\n", "<!-- sample: end -->\n"
SHOWN = 3
"""Findings; the rest is only counted, for the README is to be short."""


class SampleError(Exception):
    """No sample can be made. The message is one line."""


def sample() -> str:
    """The fenced text: the command, its first findings, and its summary."""
    command = ["check", "--isolated", "--color", "never", "--output-format", "text", PROGRAM]
    linter = str(Path(sys.executable).with_name("xlalint"))
    run = subprocess.run([linter, *command], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    # Findings are told by an empty line between them; the last block is the summary.
    *findings, summary = run.stdout.rstrip("\n").split("\n\n")
    if run.returncode != 1 or len(findings) < SHOWN:
        raise SampleError(f"xlalint found too little (exit code {run.returncode}): {(run.stderr or run.stdout)[-300:]}")
    more = len(findings) - SHOWN
    shown = [*findings[:SHOWN], *([f"(and {more} more)"] if more else []), summary]
    return f"```console\n$ xlalint {PROGRAM}\n" + "\n\n".join(shown) + "\n```\n"


def with_sample(readme: str, text: str) -> str:
    """``readme`` with ``text`` between the markers."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SampleError("the README lacks the markers of the sample")
    return f"{before}{begin}{text}{end}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing")
    check = parser.parse_args().check
    old = README.read_text(encoding="utf-8")
    try:
        new = with_sample(old, sample())
    except SampleError as error:
        print(error, file=sys.stderr)
        return 2
    if check:
        print("up to date" if new == old else "the sample is out of date: run tools/readme_sample.py")
        return int(new != old)
    README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
