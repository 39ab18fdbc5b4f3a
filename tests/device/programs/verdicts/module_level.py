"""Names of the file that are bound more than once, or changed; rows of the file's own data."""

import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, Dataset

place = torch_xla.device()
place = torch.device("cpu")

net = nn.Linear(8, 2)
net = net.to(torch_xla.device())


def report(loss):
    print(loss.item())  # confirmed: it is called in each step


def on_the_host(loader):
    head = nn.Linear(8, 2).to(place)
    for x in loader:
        loss = head(x.to(place)).mean()
        loss.backward()
        print(loss.item())  # false: the place was changed
        torch_xla.sync()


def on_the_device(loader):
    for x in loader:
        loss = net(x.to(torch_xla.device())).mean()
        loss.backward()
        print(f"loss {loss}")  # confirmed
        torch_xla.sync()


def reporting(loader):
    for x in loader:
        loss = net(x.to(torch_xla.device())).mean()
        loss.backward()
        report(loss)
        torch_xla.sync()


def in_context(steps: int):
    with torch.device(torch_xla.device()):
        x = torch.ones(4, 8)
    for _ in range(steps):
        x = x * 0.5
        print(x.sum().item())  # true
        torch_xla.sync()


def until_done(loader):
    done = False
    while not done:
        for x in loader[:1]:
            loss = net(x.to(torch_xla.device())).mean()
            loss.backward()
            print(loss.item())  # false: one turn of a loop of one turn
            torch_xla.sync()
        done = True


class Squares(Dataset):
    def __init__(self, count: int):
        self.rows = [torch.ones(8) * number for number in range(count)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def collate(batch):
    return nn.utils.rnn.pad_sequence([torch.as_tensor(row) for row in batch], batch_first=True)  # false: all are alike


def padded():
    for batch in DataLoader(Squares(64), batch_size=4, collate_fn=collate):
        batch.to(torch_xla.device()).sum()
        torch_xla.sync()
