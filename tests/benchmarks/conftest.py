"""The benchmarks are scripts that import each other. Their folder comes last: other tests have modules of such names."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
