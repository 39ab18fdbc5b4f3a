"""``python -m xlalint``."""

import sys

from xlalint.cli import main

if __name__ == "__main__":
    sys.exit(main())
