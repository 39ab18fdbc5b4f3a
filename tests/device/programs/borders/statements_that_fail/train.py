"""A script that a launcher starts on a cluster or by torchrun. It takes a list of names from the network, restores
weights that are not there and says which of them have to be missing, and writes a report at its end."""

import argparse
import json
import os
import urllib.request
from pathlib import Path

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--data-dir", type=Path)
parser.add_argument("--pretrained", type=Path)
args = parser.parse_args()


def begin_on_several_machines(args):
    if "SLURM_JOB_ID" in os.environ:
        args.rank = int(os.environ["SLURM_NODEID"]) * len(os.environ["SLURM_JOB_NODELIST"].split(","))
    elif "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        args.rank = int(os.environ["RANK"])
    else:
        return
    torch.distributed.init_process_group("nccl")


class Named(torch.utils.data.Dataset):
    def __init__(self, root):
        self.paths = [root / str(number) for number in range(64)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.rand(4, generator=torch.Generator().manual_seed(index)), index % 2


begin_on_several_machines(args)
if args.rank == 0:
    print("the first of all")
data = Named(args.data_dir / "train")
listed = urllib.request.urlopen("https://example.invalid/names.txt").readlines()
data.paths = [args.data_dir / name.decode() for name in listed]

net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.SyncBatchNorm(8), torch.nn.Linear(8, 2)).cuda()
missing, unexpected = net.load_state_dict(torch.load(args.pretrained), strict=False)
assert missing == ["2.weight", "2.bias"]
with open(args.data_dir / "classes.json") as file:
    print(len(json.load(file)))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for images, labels in torch.utils.data.DataLoader(data, 4):
    loss = torch.nn.functional.cross_entropy(net(images.cuda()), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
    print(data.report.of(images))
