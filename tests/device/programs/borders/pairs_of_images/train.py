"""A script of Python 2's years: it ends where its data is missing, halves its pictures, and asks two loaders."""

import os
from glob import glob

import numpy as np
import torch
from PIL import Image
from torchvision import transforms

ROOT = "data/shoes"


def halves():
    for side in "AB":
        if not os.path.exists(os.path.join(ROOT, side)):
            os.makedirs(os.path.join(ROOT, side))
    for path in glob(os.path.join(ROOT, "train/*")):
        pixels = np.array(Image.open(path).convert("RGB"))
        width = pixels.shape[1]
        name = os.path.basename(path)
        if os.path.exists(os.path.join(ROOT, "A", name)):
            continue
        Image.fromarray(pixels[:, : width / 2]).save(os.path.join(ROOT, "A", name))
        Image.fromarray(pixels[:, width / 2 :]).save(os.path.join(ROOT, "B", name))


class Pictures(torch.utils.data.Dataset):
    def __init__(self, side):
        if not os.path.isdir(ROOT):
            raise Exception("%s is not there" % ROOT)
        halves()
        self.paths = glob(os.path.join(ROOT, side, "*"))
        self.shape = Image.open(self.paths[0]).size
        self.transform = transforms.Compose([transforms.Resize(16), transforms.ToTensor()])

    def __getitem__(self, index):
        return self.transform(Image.open(self.paths[index]).convert("RGB"))

    def __len__(self):
        return len(self.paths)


first, second = Pictures("A"), Pictures("B")
width, height = first.shape
firsts = iter(torch.utils.data.DataLoader(first, batch_size=4))
seconds = iter(torch.utils.data.DataLoader(second, batch_size=4))
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 16, 1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(1000):
    a, b = next(firsts), next(seconds)
    loss = (net(a.cuda()) - net(b.cuda())).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
