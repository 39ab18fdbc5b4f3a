"""Each waiting file is taken once, whoever asks."""

from __future__ import annotations

from itertools import chain, islice

import pytest

from xlalint.facts.driver.work_queue import WorkQueue, taken_by


@pytest.mark.parametrize("counts", [(0, 3), (1, 0), (4, 7), (2_500, 3)])
def test_each_file_is_taken_once_its_own_share_first(counts: tuple[int, int]) -> None:
    shares = [
        WorkQueue([f"{name}{number}" for number in range(count)]) for name, count in zip("ab", counts, strict=True)
    ]
    first, second = taken_by(0, shares), taken_by(1, shares)
    begun = list(islice(first, 2))
    rest = list(chain(second, first))
    for share in shares:
        share.close()
    assert sorted(begun + rest) == sorted(path for share in shares for path in share.paths)
    assert begun == list(chain(*(share.paths for share in shares)))[:2]


def test_who_has_finished_takes_what_the_other_has_not_come_to() -> None:
    shares = [WorkQueue(["a"]), WorkQueue(["b", "c", "d"])]
    second = taken_by(1, shares)
    assert next(second) == "b"
    assert list(taken_by(0, shares)) == ["a", "c", "d"]
    assert list(second) == []
    for share in shares:
        share.close()
