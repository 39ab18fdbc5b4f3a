"""``python -m xlalint``."""

from xlalint.cli import run

if __name__ == "__main__":
    run()
