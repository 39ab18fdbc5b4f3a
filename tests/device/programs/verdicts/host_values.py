"""What lies on the host, whatever it looks like."""

import torch
import torch_xla
from torch import nn


def fit_baseline(model, loader, opt, crit):
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = crit(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item()  # false: the caller in sight places nothing
        torch_xla.sync()
    return total


def baseline():
    model = nn.Linear(8, 4)
    data = [(torch.randn(8, 8), torch.randint(0, 4, (8,))) for _ in range(16)]
    return fit_baseline(model, data, torch.optim.SGD(model.parameters(), 0.1), nn.CrossEntropyLoss())


def fit_on(model, loader, device):
    model.to(device)
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        print(loss.item())  # false: the device is the host
        torch_xla.sync()


def on_the_host():
    fit_on(nn.Linear(8, 2), [torch.randn(4, 8) for _ in range(16)], torch.device("cpu"))


class Meter:
    def __init__(self):
        self.sum = 0.0

    def mean(self):
        return self.sum


def metered(loader, meter: Meter):
    device = torch_xla.device()
    for x in loader:
        y = x.to(device).sum()
        meter.sum += y.dim()
        print(float(meter.mean()))  # false: a Python number
        torch_xla.sync()


def gathered(model, loader, tracker):
    with torch.no_grad():
        for x in loader:
            out = model(x.to(torch_xla.device()))
            host = tracker.get(out)
            print(host.item())  # false: nobody knows what somebody else's helper gives
            torch_xla.sync()


def masked(x: torch.Tensor, lengths: list):
    x = x.to(torch_xla.device())
    rows = x
    for n in lengths:
        keep = torch.arange(8) < n
        rows = x.cpu()[keep]  # false: the index lies on the host, and so does what it is taken of
        torch_xla.sync()
    return rows


class Attention(nn.Module):
    def forward(self, query: torch.Tensor, key: torch.Tensor, x: torch.Tensor):
        if torch.equal(query, key):  # false: nobody says where they lie
            return query
        if x.mean() > 0:  # false: nor here
            return x
        return key


class Reporter:
    def __init__(self, model, verbose):
        self.model = model
        self.device = torch_xla.device()
        self.verbose = verbose

    def fit(self, loader):
        for x in loader:
            loss = self.model(x.to(self.device)).mean()
            loss.backward()
            if self.verbose:
                print(loss.item())  # false: whoever makes it says it
            torch_xla.sync()
