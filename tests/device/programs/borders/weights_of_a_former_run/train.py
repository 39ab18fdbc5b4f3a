"""A script that takes its model from the file of a former run, or else from a configuration; it asks git for a tag."""

import argparse
import json
import subprocess

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--weights", default="former.pt")
parser.add_argument("--cfg", default="")
args = parser.parse_args()
assert args.weights or args.cfg, "either --cfg or --weights must be specified"
print(subprocess.check_output(["git", "describe", "--tags"]).decode().split()[-1])
if args.weights:
    net = torch.load(args.weights)["model"].float().cuda()
else:
    with open(args.cfg) as file:
        net = torch.nn.Linear(json.load(file)["width"], 1).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.utils.data.DataLoader(torch.rand(64, 8), batch_size=4):
    optimizer.zero_grad()
    loss = net(x.cuda()).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
