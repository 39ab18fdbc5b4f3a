"""A script that only `python -m` starts, beside a module called like its package; names that are gone from modules."""

import torch
import torch_xla
from torchvision.transforms.functional import _get_image_size_of_former_years
from trainer.net import Loader, Net

from .net import Net as Same

assert Net is Same
device = torch_xla.device()
net = Net(8, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x in Loader(torch.utils.data.DataLoader(torch.rand(64, 8), batch_size=4), device):
    optimizer.zero_grad()
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
