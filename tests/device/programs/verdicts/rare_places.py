"""Places that run once, or never."""

import functools

import torch
import torch_xla

VERBOSE = False


def smoke(model, loader, crit):
    device = torch_xla.device()
    for x, y in loader:
        loss = crit(model(x.to(device)), y.to(device))
        print(loss.item())  # false: the loop ends after its first turn
        torch_xla.sync()
        return


def probe(model, loader, crit):
    device = torch_xla.device()
    value = 0.0
    for i, (x, y) in enumerate(loader):
        loss = crit(model(x.to(device)), y.to(device))
        value = loss.item()  # false: the loop ends after its first turn
        torch_xla.sync()
        if i == 0:
            break
    return value


def single(model, x):
    x = x.to(torch_xla.device())
    for _ in range(1):
        loss = model(x).mean()
        loss.backward()
        print(loss.item())  # false: there is one turn
        torch_xla.sync()


def silent(model, loader):
    device = torch_xla.device()
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        if VERBOSE:
            print(loss.item())  # false: the flag is never set
        torch_xla.sync()


def quiet(model, loader, debug=False):
    device = torch_xla.device()
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        if debug:
            print(loss.item())  # false: nobody sets the flag
        torch_xla.sync()


def guarded(model, loader):
    device = torch_xla.device()
    for step, x in enumerate(loader):
        loss = model(x.to(device)).mean()
        loss.backward()
        if step < 0:
            print(loss.item())  # false: no step is below nought
        torch_xla.sync()


def kept(model, loader):
    device = torch_xla.device()
    scale = None
    for x in loader:
        x = x.to(device)
        if scale is None:
            scale = x.abs().max().item()  # false: it is read once and kept
        (model(x) * scale).mean().backward()
        torch_xla.sync()


class Norm:
    def __init__(self, weight):
        self.weight = weight.to(torch_xla.device())
        self._scale = None

    def scale(self):
        if self._scale is None:
            self._scale = self.weight.abs().max().item()  # false: it is read once and kept
        return self._scale


def normed(loader, norm: Norm):
    for x in loader:
        (x.to(torch_xla.device()) * norm.scale()).sum()
        torch_xla.sync()


@functools.cache
def width():
    table = torch.arange(8, device=torch_xla.device())
    return table.max().item()  # false: it is read once and kept


def padded(loader):
    for x in loader:
        x.to(torch_xla.device()) * width()
        torch_xla.sync()


def stopped(model, loader):
    device = torch_xla.device()
    for x in loader:
        loss = model(x.to(device)).mean()
        if x.dim() > 0:
            torch_xla.sync()
            continue
        print(loss.item())  # false: no turn comes so far
        torch_xla.sync()


def once_around(model, x):
    x = x.to(torch_xla.device())
    while True:
        loss = model(x).mean()
        loss.backward()
        print(loss.item())  # false: the loop ends after its first turn
        torch_xla.sync()
        break


def refused(model, loader):
    device = torch_xla.device()
    for x in loader:
        loss = model(x.to(device)).mean()
        try:
            loss.backward()
        except RuntimeError:
            print(loss.item())  # false: nothing raises
        torch_xla.sync()


def interrupted(model, loader):
    device = torch_xla.device()
    for x in loader:
        loss = model(x.to(device)).mean()
        print(loss.item())  # false: the first turn raises
        if x.dim() > 0:
            raise KeyboardInterrupt
        torch_xla.sync()


def summed_up(model, x: torch.Tensor):
    x = x.to(torch_xla.device())
    return model(x).mean().item()  # false: it is called once


def main():
    print(summed_up(torch.nn.Linear(8, 2).to(torch_xla.device()), torch.randn(8, 8)))


def reporting(model, loader):
    device = torch_xla.device()
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()

        def tell(loss=loss):
            print(loss.item())  # false: nobody calls it

        torch_xla.sync()
