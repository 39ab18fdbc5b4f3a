"""The command line: options and calls only. Imports little; each command imports what it needs when it runs."""

from xlalint.cli.entry import main, run

__all__ = ["main", "run"]
