"""What all tests share: the device they run on, the mark of those that need it, and the processes they are shared out
among."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ON_DEVICE = Path(__file__).parent / "device"
MOST_PROCESSES = 8
"""A process of tests on the device takes up to 3 GB."""

# torch_xla reads it when it is imported, in this process or in a worker. A real device may be named from outside.
os.environ.setdefault("PJRT_DEVICE", "CPU")


@pytest.fixture(scope="session", autouse=True)
def _nothing_kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What runs keep for others goes into a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLALINT_CACHE_DIR", str(tmp_path_factory.mktemp("kept")))
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Share whole folders of tests out among the cores where pytest-xdist is installed; ``-n`` says otherwise.

    Tests are stolen one by one and not by file, so that no long file holds one process while the others wait.
    """
    in_a_worker = hasattr(config, "workerinput")
    if in_a_worker or not config.pluginmanager.hasplugin("xdist") or not wants_whole_folders(config):
        return
    options = config.option
    if options.numprocesses is None and not options.tx:
        options.numprocesses = "auto"
        options.maxprocesses = options.maxprocesses or MOST_PROCESSES
    if options.numprocesses and options.dist == "no":
        options.dist = "worksteal"


def wants_whole_folders(config: pytest.Config) -> bool:
    """Whether no test is chosen by file or name, and none is to be watched while it runs."""
    watched = config.option.usepdb or config.option.trace or config.option.capture == "no"
    started_in = config.invocation_params.dir
    return not (watched or config.option.keyword) and all((started_in / name).is_dir() for name in config.args)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the device tests alone where they aren't wanted: only to import them would take torch."""
    if collection_path == ON_DEVICE and "not device" in config.getoption("markexpr").split(" and "):
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(ON_DEVICE):
            item.add_marker(pytest.mark.device)
