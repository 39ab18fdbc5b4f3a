"""The benchmarks import each other. Their folder comes last: other tests have modules of the same names."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
