"""What the page of a new rule claims holds on the device, and the figures finish it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.calibration.page_figures import disagreements, measure_page, measured_section, with_figures
from xlalint.device.worker.experiment import Worker
from xlalint.findings.pages import parse_page
from xlalint.findings.rule_template import begin_rule


def test_the_device_confirms_the_page_of_a_new_rule(tmp_path: Path, worker: Worker) -> None:
    for name in ("rules/__init__.py", "tools/measure_pages.py", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("## [Unreleased]\n", encoding="utf-8")
    _, page_path, _ = begin_rule(tmp_path, "XLA699", "thing-in-step").paths
    text = (tmp_path / page_path).read_text(encoding="utf-8")
    results = measure_page(parse_page(text), worker)
    assert list(disagreements(results)) == []
    finished = parse_page(with_figures(text, measured_section(results, worker.versions)))
    assert "Not yet" not in finished.sections["Measured"]
    assert finished.sections["Measured"].endswith("device.")
