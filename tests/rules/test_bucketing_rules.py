"""What the pages of XLA312 to XLA316 can't show: how a finding is worded."""

import pytest

from xlalint.testing import findings_in

PROGRAM = """\
import torch

def train(model, loader, device):
    for ids, lengths in loader:
        ids = ids.to(device)
        longest = int(lengths.max())
        ids = {site}
        model(ids).sum().backward()
"""


@pytest.mark.parametrize(
    ("site", "does"),
    [
        ("ids[:, :longest]", "`ids[:, :longest]` is cut to the longest row"),
        ("ids.new_zeros(8, longest)", "`ids.new_zeros(8, longest)` pads to the longest row"),
    ],
)
def test_a_message_tells_what_is_cut_from_what_is_padded(site: str, does: str) -> None:
    found = findings_in({"main.py": PROGRAM.format(site=site)}, assume_xla=True)
    (one,) = [one for one in found if one.code == "XLA312"]
    assert one.message.startswith(does)


TOKENIZED = """\
from torch.utils.data import DataLoader
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def collate(rows):
    return tokenizer(rows, padding=True{arguments})

def loader(rows):
    return DataLoader(rows, collate_fn=collate)
"""


@pytest.mark.parametrize(
    ("arguments", "level", "says"),
    [
        (", truncation=True, max_length=512", "warning", "a new graph, up to 512 of them"),
        (', truncation="longest_first", max_length=512', "warning", "a new graph, up to 512 of them"),
        (", truncation=True, max_length=512, pad_to_multiple_of=1", "warning", "a new graph, up to 512 of them"),
        (", truncation=True, max_length=24", "note", "a new graph, up to 24 of them"),
        (", truncation=True, max_length=512, pad_to_multiple_of=8", "note", "one of 512 / 8 = 64 lengths: 64 graphs"),
        # Nothing is cut, so that nobody knows how long a row may be.
        (", max_length=512", "warning", "compiles a new graph"),
        (", truncation=False, max_length=512", "warning", "compiles a new graph"),
        (", truncation=cut, max_length=512", "warning", "compiles a new graph"),
        (", truncation=True", "warning", "compiles a new graph"),
    ],
)
def test_as_many_graphs_as_constants_allow_are_told(arguments: str, level: str, says: str) -> None:
    found = findings_in({"main.py": TOKENIZED.format(arguments=arguments)}, assume_xla=True)
    (one,) = [one for one in found if one.family == "bucketing"]
    assert one.code == ("XLA316" if "graphs" in says else "XLA312")
    assert one.severity.name.lower() == level
    assert says in one.message
    assert ("up to" in one.message) == ("up to" in says)


COLLATED = """\
import torch
from torch.utils.data import DataLoader

def collate(rows):
    longest = {longest}
    return torch.zeros(len(rows), longest)

def loader(rows):
    return DataLoader(rows, collate_fn=collate)
"""


@pytest.mark.parametrize(
    ("longest", "level", "says"),
    [
        ("max(len(row) for row in rows)", "warning", "compiles a new graph"),
        ("min(max(len(row) for row in rows), 512)", "warning", "a new graph, up to 512 of them"),
        ("max(min(len(row), 512) for row in rows)", "warning", "a new graph, up to 512 of them"),
        ("min(max(len(row) for row in rows), 512) + 2", "warning", "a new graph, up to 512 of them"),
        ("min(max(len(row) for row in rows), 512) + len(rows)", "warning", "compiles a new graph"),
        ("min(max(len(row) for row in rows), 128 if len(rows) > 3 else 256)", "warning", "compiles a new graph"),
        ("max(min(max(len(row) for row in rows), 512), 4)", "warning", "a new graph, up to 512 of them"),
        ("(min(max(len(row) for row in rows), 512) + 7) // 8 * 8", "note", "one of 64 lengths: 64 graphs"),
    ],
)
def test_a_length_that_is_capped_by_hand_is_told_with_its_bound(longest: str, level: str, says: str) -> None:
    found = findings_in({"main.py": COLLATED.format(longest=longest)}, assume_xla=True)
    (one,) = [one for one in found if one.family == "bucketing"]
    assert one.code == ("XLA316" if "graphs" in says else "XLA312")
    assert one.severity.name.lower() == level
    assert says in one.message
    assert ("up to" in one.message) == ("up to" in says)


SHARED = """\
import torch
from torch.utils.data import DataLoader

def filled(rows, longest):
    return torch.zeros(len(rows), longest)

def collate_a(rows):
    return filled(rows, {a})

def collate_b(rows):
    return filled(rows, {b})

def loaders(rows):
    return DataLoader(rows, collate_fn=collate_a), DataLoader(rows, collate_fn=collate_b)
"""
CAPPED = "min(max(len(row) for row in rows), {})"


@pytest.mark.parametrize(
    ("caps", "says"), [((512, 64), "up to 512"), ((64, 512), "up to 512"), ((64, None), ""), ((None, 64), "")]
)
def test_of_two_callers_the_one_with_the_wider_bound_counts(caps: tuple[int | None, int | None], says: str) -> None:
    a, b = ("max(len(row) for row in rows)" if cap is None else CAPPED.format(cap) for cap in caps)
    found = findings_in({"main.py": SHARED.format(a=a, b=b)}, assume_xla=True)
    (one,) = [one for one in found if one.code == "XLA312"]
    assert says in one.message
    assert ("up to" in one.message) == bool(says)
