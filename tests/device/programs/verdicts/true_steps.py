"""What costs in each step."""

import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, crit, opt):
    device = torch_xla.device()
    for x, y in loader:
        loss = crit(model(x.to(device)), y.to(device))
        loss.backward()
        opt.step()
        opt.zero_grad()
        print(loss.item())  # confirmed
        torch_xla.sync()


def own(loader):
    device = torch_xla.device()
    model = nn.Linear(8, 2).to(device)
    crit = nn.CrossEntropyLoss()
    for x, y in loader:
        loss = crit(model(x.to(device)), y.to(device))
        loss.backward()
        print(loss.item())  # confirmed
        torch_xla.sync()


def placed_elsewhere(model, loader, opt):
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item()  # confirmed: the caller in sight places it
        torch_xla.sync()
    return total


def placing():
    device = torch_xla.device()
    model = nn.Linear(8, 4).to(device)
    data = [(torch.randn(8, 8).to(device), torch.randint(0, 4, (8,)).to(device)) for _ in range(16)]
    return placed_elsewhere(model, data, torch.optim.SGD(model.parameters(), 0.1))


def paced(model, loader):
    device = torch_xla.device()
    for step, x in enumerate(loader):
        loss = model(x.to(device)).mean()
        loss.backward()
        if step % 4 == 0:
            print(loss.item())  # true
        torch_xla.sync()


def solve(a: torch.Tensor, b: torch.Tensor, tol: float = 1e-4):
    device = torch_xla.device()
    a, b = a.to(device), b.to(device)
    x = torch.zeros_like(b)
    r = b - a @ x
    while r.norm() > tol:  # true: stand-ins may converge at once
        x = x + 0.1 * r
        r = b - a @ x
        torch_xla.sync()
    return x


def scaled(model, opt, crit, data, targets):
    device = torch_xla.device()
    loader = DataLoader(TensorDataset(data, targets), batch_size=64, shuffle=True)  # true
    for _ in range(10):
        for step, (x, y) in enumerate(loader):
            x, y = x.to(device), y.to(device)
            scale = 1.0 / (step + 1)
            loss = crit(model(x), y) * scale  # true: a number in the graph
            loss.backward()
            opt.step()
            opt.zero_grad()
            torch_xla.sync()


def grow(model, ids, steps):
    ids = ids.to(torch_xla.device())
    for _ in range(steps):
        following = model(ids)[:, -1:].argmax(-1)
        ids = torch.cat((ids, following), 1)  # true
        if (following == 2).all():  # true
            break
        torch_xla.sync()
    return ids


def alternate(loader):
    checks = []
    device = torch_xla.device()
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).to(device)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for x in loader:
        model.train()  # true
        model(x.to(device)).sum().backward()
        opt.step()
        opt.zero_grad()
        torch_xla.sync()
        model.eval()  # true
        with torch.no_grad():
            checks.append(model(x.to(device)))
        torch_xla.sync()
    return checks


def evaluate(model, loader):
    model.eval()  # true
    with torch.no_grad():
        for x in loader:
            model(x)
            torch_xla.sync()


def fit(loader, val):
    device = torch_xla.device()
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).to(device)
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(10):
        for x in loader:
            model.train()  # true
            model(x.to(device)).sum().backward()
            opt.step()
            opt.zero_grad()
            torch_xla.sync()
        evaluate(model, val)


def kept_rows(x: torch.Tensor):
    x = x.to(torch_xla.device())
    return x[x > 0]  # confirmed


def run(model, x, steps):
    x = x.to(torch_xla.device())
    for _ in range(steps):
        loss = model(x).mean()
        loss.backward()
        print(loss.item())  # confirmed
        torch_xla.sync()


def best(model, loader):
    device = torch_xla.device()
    least = float("inf")
    for x in loader:
        loss = model(x.to(device)).mean()
        if loss < least:  # confirmed
            least = loss.detach()
        torch_xla.sync()
    return least


class Trainer:
    def __init__(self, width):
        self.device = torch_xla.device()
        self.model = nn.Linear(width, width).to(self.device)
        self.verbose = True

    def fit(self, loader):
        for x in loader:
            loss = self.model(x.to(self.device)).mean()
            loss.backward()
            if self.verbose:
                print(loss.item())  # confirmed
            torch_xla.sync()


def collate(batch):
    rows = [torch.tensor(row) for row in batch]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True)  # true


def padded(texts):
    device = torch_xla.device()
    for batch in DataLoader(texts, batch_size=4, collate_fn=collate):
        batch.to(device).sum()
        torch_xla.sync()


def move(x: torch.Tensor):
    return x.cuda() + 1  # confirmed
