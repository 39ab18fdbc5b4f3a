"""Every page's experiment on the device: bad, good and fixed against what the page claims. Counts, not times."""

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.calibration.page_figures import HEADING, disagreements, measure_page, measured_section
from xlalint.device.worker.experiment import Worker, measure
from xlalint.findings.pages import Block, parse_blocks, parse_page

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "rules").glob("xla[0-9]*.md"))
FREE = parse_blocks((ROOT / "tests" / "rules" / "free.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_device_confirms_the_page_and_its_figures(path: Path, worker: Worker) -> None:
    text = path.read_text(encoding="utf-8")
    page = parse_page(text)
    results = measure_page(page, worker)
    assert list(disagreements(results)) == []
    written = HEADING + text.partition(HEADING)[2]
    assert written == measured_section(results, worker.versions), "run tools/measure_pages.py"


@pytest.mark.parametrize("block", [pytest.param(block, id=f"{block.label}-{block.line}") for block in FREE])
def test_what_is_free_costs_nothing_on_the_device(block: Block, worker: Worker) -> None:
    figures = measure(worker, block.text)
    assert figures.failure is None, figures.failure
    cost = {name: figures.per_step[name] for name in ("compiles", "reads", "fallbacks")}
    assert cost == {"compiles": 0, "reads": 0, "fallbacks": 0}
    assert figures.per_step["executions"] <= 1
