"""Checks that take too long for a gate, run by hand: after a larger step, and before a release.

    python -m tools.slow --site SITE               # all of them, hours on two cores
    python -m tools.slow mutation environments     # these

corpus        findings on ten pinned packages, against benchmarks/corpus.txt (--site: a folder with the packages)
mutation      300 small wrong changes; at least 95 % must make the fast tests fail
programs      real models in lazy, dynamo and eager mode; needs torch_xla and writes docs/modes.md
environments  the linter's own tests on each other Python of this machine, without torch

Each adds a row to ``results.md`` beside this file, which is tracked: date, commit, outcome, versions. Exit code 1 where
a check failed or could not be run.
"""
