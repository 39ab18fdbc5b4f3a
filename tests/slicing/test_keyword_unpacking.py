"""Mappings that are handed on as keywords: whom they are given to tells their keys."""

from __future__ import annotations

import ast

import pytest

from xlalint.slicing.keyword_unpacking import spread
from xlalint.slicing.structures import KEYS, SPREAD, structures

DEFINED = """\
class Net(Module):
    def __init__(self, width, depth=2):
        self.width = width

    def forward(self, ids, /, mask, kind=None, *, scale):
        return ids

    def encode(self, ids):
        return ids


class Loose(Module):
    def forward(self, ids=None, labels=None):
        return ids


def mixed(x, y, weight=1.0, **rest):
    return x


def forward(self, own):
    return own


def score(self, images, labels):
    return images
"""


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Net(3)(**batch)", ("ids", "mask", "scale")),
        ("net = Net(3).to(device)\nnet(**batch)", ("ids", "mask", "scale")),
        ("net = Net(3)\nnet(ids, scale=2, **batch)", ("mask",)),
        ("net = wrapped(Net(3))\nnet.encode(**batch)", ("ids",)),
        ("Net(**batch)", ("width",)),
        ("Loose()(**batch)", ("ids", "labels")),
        ("Loose()(ids, **batch)", ()),
        ("mixed(x, **batch)", ("y",)),
        ("mixed(x, y, **batch)", ()),
        ("mixed(*rows, **batch)", ()),
        ("self(**batch)", ("own",)),
        ("self.score(**batch)", ("images", "labels")),
        ("self.score(images, **batch)\nself(**batch)", ("labels", "own")),
        # Of whom nothing is known, who is given nothing else is given something.
        ("self.net(**batch)", ("first",)),
        ("other(**batch)", ("first",)),
        ("other(x, **batch)", ()),
    ],
)
def test_the_keys_are_those_that_are_asked_for(text: str, keys: tuple[str, ...]) -> None:
    assert spread(ast.parse(text).body, ast.parse(DEFINED).body) == {"batch": keys}


def test_a_loader_gives_the_mappings_that_are_handed_on() -> None:
    as_they_are = ast.parse("for batch in loader:\n    net(**batch)\n    print(batch['name'])").body
    assert structures(as_they_are, {"batch": ("ids",)})["loader"] == (SPREAD, "ids", "name")
    moved = ast.parse("for batch in loader:\n    batch = move(batch)\n    net(**batch)").body
    assert structures(moved, {"batch": ("ids",)})["loader"] == (KEYS, "ids")
