"""A script whose data lies in an archive of arrays and in a pickle, neither of which is there."""

import argparse
import pickle

import numpy as np
import torch

assert torch.__version__ == "1.2.0"


class Forecast(torch.nn.Module):
    def __init__(self, graph):
        super().__init__()
        self.graph = torch.tensor(graph, dtype=torch.float32).cuda()
        self.mixed = torch.nn.Conv2d(3, 1, kernel_size=1)

    def forward(self, x):
        return self.mixed(x.transpose(1, 3)) * torch.mm(self.graph, self.graph).mean()


def read(path):
    with open(path, "rb") as file:
        return pickle.load(file)


MODELS = {"forecast": Forecast}
parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True)
parser.add_argument("--rate", type=float, required=True, default=0.01)
args = parser.parse_args()

try:
    cached = np.load("data/cache.npy")
except FileNotFoundError:
    cached = None
assert cached is None
names, graph = read("data/graph.pkl")
data = np.load("data/train.npz")
x, y = data["x"], data["y"]
net = MODELS[args.model](graph).cuda()
optimizer = torch.optim.SGD(net.parameters(), args.rate)
for first in range(0, len(x), 4):
    rows = torch.Tensor(x[first : first + 4]).cuda()
    found = net(rows)
    optimizer.zero_grad()
    loss = (found.mean() - torch.Tensor(y[first : first + 4]).cuda().mean()) ** 2
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
