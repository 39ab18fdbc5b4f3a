"""Images that are not there have the size that the program takes."""

import sys

import torch
from torchvision import datasets, transforms

faces = datasets.ImageFolder("faces", transforms.ToTensor())
if faces[0][0].size(1) != 64:
    sys.exit(1)
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 64 * 64, 1), torch.nn.Sigmoid()).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for images, _ in torch.utils.data.DataLoader(faces, batch_size=32):
    real = torch.ones(len(images)).cuda()
    loss = torch.nn.BCELoss()(net(images.cuda()), real)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
