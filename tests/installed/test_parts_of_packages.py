"""Files of real packages, named alone, have the findings of the run over the whole package; and what ``check`` says of
a line, ``explain`` says too."""

from __future__ import annotations

import importlib.util
import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import pytest

from xlalint.facts.explain.explanation import explanations
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic, Report
from xlalint.findings.settings import defaults
from xlalint.inputs import gather
from xlalint.linting import Followers, Options, lint, lint_one
from xlalint.sources.read import read

pytestmark = pytest.mark.slow

PACKAGES = ("torchmetrics", "torchvision", "torch.ao")
EACH = 15
LINES = 200


@cache
def folder_of(package: str) -> Path | None:
    """Where a package is installed; nothing of it is imported but what a part of torch needs to be found."""
    top, *inner = package.split(".")
    found = importlib.util.find_spec(top)
    return None if found is None or found.origin is None else Path(found.origin).parent.joinpath(*inner)


def everything() -> Configurations:
    found = defaults()
    return Configurations(
        fixed=msgspec.structs.replace(found, settings=msgspec.structs.replace(found.settings, min_certainty="possible"))
    )


@cache
def whole(package: str) -> dict[str, list[Diagnostic]]:
    """The findings of the run over a package, by absolute path."""
    folder = folder_of(package)
    assert folder is not None
    report: Report = lint([folder], everything(), Options(jobs=2))
    assert not report.skipped
    found: dict[str, list[Diagnostic]] = {}
    for one in report.diagnostics:
        found.setdefault(os.path.abspath(one.path), []).append(one)
    return found


@pytest.fixture(params=PACKAGES)
def package(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if folder_of(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def drawn(package: str) -> Iterator[str]:
    """Files whose findings have their callers elsewhere, and others."""
    found, folder = whole(package), folder_of(package)
    assert folder is not None
    elsewhere = sorted(
        path for path, all_of in found.items() if any(one.path != why.path for one in all_of for why in one.why)
    )
    others = sorted({str(path) for path in folder.rglob("*.py")} - set(elsewhere))
    draw = random.Random(14)
    yield from draw.sample(elsewhere, min(EACH, len(elsewhere)))
    yield from draw.sample(others, EACH)


def test_a_file_named_alone_has_the_findings_of_the_whole_run(package: str) -> None:
    project = str(folder_of(package))
    for path in drawn(package):
        report = lint([Path(path)], everything(), Options(jobs=1, project=project, alone=False))
        assert list(report.diagnostics) == whole(package).get(path, []), path


def test_check_and_explain_never_disagree(package: str) -> None:
    project = str(folder_of(package))
    given = gather([Path(project)], everything(), None, project)
    sources = {os.path.abspath(source.path): source for source in given.sources}
    for path in whole(package).keys() - sources.keys():
        sources[path] = read(Path(path), os.path.relpath(path))
    flagged = {(path, one.at.line) for path, all_of in whole(package).items() for one in all_of}
    lines = [(path, line) for path, source in sorted(sources.items()) for line in range(1, len(source.lines()) + 1)]
    others = random.Random(14).sample(sorted(set(lines) - flagged), 20 * LINES)
    places = [*sorted(flagged), *others]
    texts = explanations(
        [(sources[path], line) for path, line in places],
        Followers(everything()).assumptions,
        given.sources,
        given.around,
    )
    told = dict(zip(places, texts, strict=True))
    with_facts = [place for place in others if "values" in told[place]][:LINES]
    assert len(with_facts) == LINES
    for place in flagged:
        assert "no cost: " not in told[place], place
        assert "never: no expression" not in told[place], place
    for place in with_facts:
        assert "its rule decides" not in told[place] or "what happens" in told[place], place


def test_explain_names_the_findings_of_check(package: str) -> None:
    project = str(folder_of(package))
    for path in random.Random(4).sample(sorted(whole(package)), 5):
        given = gather([Path(path)], everything(), None, project)
        (judged,) = lint_one(read(Path(path), os.path.relpath(path)), given, everything())
        assert [(one.code, one.at, one.message) for one in judged.diagnostics] == [
            (one.code, one.at, one.message) for one in whole(package)[path]
        ]
