"""What the pages of XLA312 to XLA314 can't show: how a finding is worded."""

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
