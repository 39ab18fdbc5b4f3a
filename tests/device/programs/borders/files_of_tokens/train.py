"""A language model's script: its tokens lie in files that are mapped, a generator hands on what a loader gives, an
evaluation of many turns comes before the first step, and a checkpoint goes to a file that the script opens itself."""

import glob
import os

import numpy as np
import torch

EVALUATED = 4000


class Tokens(torch.utils.data.IterableDataset):
    def __iter__(self):
        names = sorted(glob.glob(os.path.join("data", "tokens", "*.bin")))
        assert len(names) > 0, "no files of tokens"
        while True:
            for name in names:
                tokens = np.memmap(name, dtype=np.uint16, mode="r")
                for start in range(0, len(tokens) - 17, 16):
                    chunk = torch.from_numpy(tokens[start : start + 17].astype(np.int64))
                    yield chunk[:-1], chunk[1:]


class Rate(torch.optim.lr_scheduler.LRScheduler):
    def __init__(self, optimizer, last_epoch=-1, verbose=False):
        super().__init__(optimizer, last_epoch, verbose)

    def get_lr(self):
        return list(self.base_lrs)


def batches():
    for x, y in torch.utils.data.DataLoader(Tokens(), batch_size=8):
        yield x.cuda(), y.cuda()


net = torch.nn.Sequential(torch.nn.Embedding(256, 16), torch.nn.Linear(16, 256)).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
rate = Rate(optimizer)


def loss_of(x, y):
    return torch.nn.functional.cross_entropy(net(x).flatten(0, 1), y.flatten())


@torch.no_grad()
def estimate():
    found = {}
    for split in ("train", "val"):
        given, losses = batches(), torch.zeros(EVALUATED)
        for turn in range(EVALUATED):
            losses[turn] = loss_of(*next(given)).item()
        found[split] = losses.mean()
    return found


given = batches()
step = 0
while True:
    if step % 1000 == 0:
        found = estimate()
        print(found["train"], found["val"])
    for _ in range(2):
        loss = loss_of(*next(given)) / 2
        loss.backward()
        print(loss.item())  # read
    optimizer.step()
    optimizer.zero_grad()
    rate.step()
    step += 1
    if step > 100000:
        break
with open("last.pt", "wb") as file:
    torch.save(net.state_dict(), file)
