"""Run the experiments of the rules' pages on the device and write the figures at the end of each page.

    python tools/measure_pages.py            # all pages
    python tools/measure_pages.py XLA101 XLA3

Exit code 1 where the device does not confirm what a page claims: that page is left as it is, its figures are shown.
"""

from __future__ import annotations

import sys
from pathlib import Path

from xlalint.device.calibration.page_figures import disagreements, measure_page, measured_section, with_figures
from xlalint.device.worker.experiment import Worker
from xlalint.findings.pages import PageError, parse_page

RULES = Path(__file__).resolve().parent.parent / "rules"


def main(prefixes: list[str]) -> int:
    wrong = 0
    with Worker() as worker:
        for path in sorted(RULES.glob("xla[0-9]*.md")):
            if not path.name.upper().startswith(tuple(prefixes) or "XLA"):
                continue
            text = path.read_text(encoding="utf-8")
            try:
                results = measure_page(parse_page(text), worker)
            except PageError as error:
                print(f"{path.name}: {error}")
                wrong += 1
                continue
            section = measured_section(results, worker.versions)
            if lines := list(disagreements(results)):
                wrong += len(lines)
                print("\n".join(f"{path.name}: {line}" for line in lines), section, sep="\n")
            else:
                path.write_text(with_figures(text, section), encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
