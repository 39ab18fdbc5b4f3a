"""What all tests share: the device they run on, and the mark of those that need it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ON_DEVICE = Path(__file__).parent / "device"

# torch_xla reads it when it is imported, in this process or in a worker. A real device may be named from outside.
os.environ.setdefault("PJRT_DEVICE", "CPU")


@pytest.fixture(scope="session", autouse=True)
def _nothing_kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What runs keep for others goes into a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLALINT_CACHE_DIR", str(tmp_path_factory.mktemp("kept")))
        yield


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the device tests alone where they aren't wanted: only to import them would take torch."""
    if collection_path == ON_DEVICE and config.getoption("markexpr") == "not device":
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(ON_DEVICE):
            item.add_marker(pytest.mark.device)
