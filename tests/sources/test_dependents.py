"""What leads to a file of a project is found by its text, whatever else stands in it."""

from __future__ import annotations

import pytest

from xlalint.sources.dependents import File, Index

UTILS = b"import torch\n\n\ndef number(x):\n    return x.item()\n"
MOST = 10_000_000


def dependents(text: bytes) -> frozenset[str]:
    """The top-level names of ``text`` that lead to the function ``number`` of ``utils.py``."""
    files = {"/p/utils.py": File("/p/utils.py", UTILS), "/p/train.py": File("/p/train.py", text)}
    found = Index(files).dependents(["/p/utils.py"], MOST)
    assert found is not None
    return found.get("/p/train.py", frozenset())


CALLER = b"\n\ndef train(x):\n    return number(x)\n"


@pytest.mark.parametrize(
    "imported",
    [
        b"from utils import number",
        b"from .utils import (\n    other,  # a comment, (\n    number,\n)",
        b"from utils import other, \\\n    number",
        b"from utils import *",
        b"try:\n    from utils import number\nexcept ImportError:\n    number = None",
    ],
)
def test_who_imports_a_name_and_mentions_it_leads_to_it(imported: bytes) -> None:
    assert dependents(imported + CALLER) >= {"train"}
    assert "train" not in dependents(imported + b"\n\ndef train(x):\n    return x\n")


def test_names_may_be_given_anew_or_be_reached_through_the_module() -> None:
    assert dependents(b"from utils import number as n\n\ndef train(x):\n    return n(x)\n") == {"train"}
    assert dependents(b"import utils as u\n\ndef train(x):\n    return u.number(x)\n") == {"train"}
    assert dependents(b"from numbers import number" + CALLER) == frozenset()


def test_who_leads_to_what_leads_there_is_found_too() -> None:
    text = (
        b"from utils import number" + CALLER + b"\n\nclass Net:\n    def run(self, x):\n        train(x)\n\n\nNet()\n"
    )
    assert dependents(text) == {"train", "Net", ""}


@pytest.mark.parametrize("before", [b'x = \'"""\'', b"x = \"'''\"", b'# it\'s """ here', b'x = """\ndef other():\n"""'])
def test_quotes_in_texts_and_comments_hide_no_code(before: bytes) -> None:
    assert dependents(before + b"\nfrom utils import number" + CALLER) == {"train"}


def test_what_documentation_mentions_leads_nowhere() -> None:
    text = b'from utils import number\n\n\ndef train(x):\n    """Like number(x)."""\n    return x\n'
    assert dependents(text) == frozenset()


def test_a_decorator_belongs_to_what_it_decorates() -> None:
    assert dependents(b"from utils import number\n\n\n@number\n@other\ndef train(x):\n    return x\n") == {"train"}


def test_too_much_is_given_up() -> None:
    files = {
        "/p/utils.py": File("/p/utils.py", UTILS),
        "/p/train.py": File("/p/train.py", b"from utils import number" + CALLER),
    }
    assert Index(files).dependents(["/p/utils.py"], 10) is None
