"""A script that reads texts from a table that is not there, and asks a hub for its tokenizer and its model."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("transformers")
pytest.importorskip("pandas")

from proved_scripts import proved

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import pandas as pd
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

table = pd.read_csv("data/reviews.csv").dropna()
tokenizer = AutoTokenizer.from_pretrained("google/electra-small-discriminator")
net = AutoModelForSequenceClassification.from_pretrained("google/electra-small-discriminator", num_labels=2).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.01)


class Reviews(torch.utils.data.Dataset):
    def __len__(self):
        return len(table)

    def __getitem__(self, index):
        row = table.iloc[index]
        words = tokenizer(row["review"], padding="max_length", max_length=16, truncation=True)
        return torch.tensor(words["input_ids"]), table["label"].values[index]


for words, labels in torch.utils.data.DataLoader(Reviews(), batch_size=4):
    optimizer.zero_grad()
    loss = net(input_ids=words.cuda(), labels=labels.cuda()).loss
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return proved(tmp_path_factory.mktemp("table"), PROGRAM)["read"]


def test_the_read_of_its_loss_is_confirmed_by_the_script(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT), evidence.reason


def test_rows_and_what_is_not_downloaded_are_assumptions(evidence: Evidence) -> None:
    assert "`reviews.csv` has made-up rows, as it is not there" in evidence.assumptions
    hub = "`google/electra-small-discriminator` is not downloaded"
    assert f"{hub}: a `ElectraForSequenceClassification` as it is made stands for it" in evidence.assumptions
    assert f"{hub}: a `PreTrainedTokenizerFast` as it is made stands for it" in evidence.assumptions
    assert not any("item" in each for each in evidence.assumptions)
