"""Lowered files that processes lend each other."""

from __future__ import annotations

from pathlib import Path

from xlalint.facts.driver.ir_exchange import pack_module, unpack_module, wanted
from xlalint.program.lower import lower
from xlalint.sources.source import Source

TEXT = """\
import torch
from pkg.base import Base

FACTOR = 2.5


class Net(Base):
    size: int = 3

    def forward(self, x, *, scale=FACTOR, **rest):
        def inner(y):
            return [part for part in (x, y, ...) if part is not None]

        self.kept = f"{x[..., 1:]:>3}"
        return inner(lambda z: z + 1j)
"""


def test_a_lent_file_is_the_same_and_keeps_what_is_one() -> None:
    module = lower(Source("/pkg/net.py", TEXT, "utf-8"), "pkg.net", "pkg")
    data = pack_module(module)
    assert data is not None
    lent = unpack_module(data)
    assert repr(lent) == repr(module)
    assert lent.classes["Net"].methods["forward"] is lent.everything[1]


def test_what_is_nested_too_deeply_is_not_lent() -> None:
    module = lower(Source("/deep.py", "x = " + "-" * 80 + "1\n", "utf-8"), "deep", "")
    for _ in range(20_000):
        module.globals["x"] = (module.globals["x"],)  # type: ignore[assignment]
    assert pack_module(module) is None


def test_what_a_share_leads_to_in_others_is_wanted(tmp_path: Path) -> None:
    for name in ("__init__", "a", "b", "c", "lone"):
        (tmp_path / "pkg").mkdir(exist_ok=True)
        (tmp_path / "pkg" / f"{name}.py").touch()
    a, b, c, lone = (str(tmp_path / "pkg" / f"{name}.py") for name in ("a", "b", "c", "lone"))
    imports = {a: ("pkg.b.Base", "torch"), b: ("pkg.c",), c: (), lone: ("pkg.lone",)}
    assert wanted(imports, [[a], [b, c, lone]]) == [frozenset({b, c}), frozenset()]
    assert wanted(imports, [[a, c], [b], [lone]]) == [frozenset({b}), frozenset({c}), frozenset()]
