"""A script that reads sounds which are not there, and whose layers take more dimensions than torch's do today."""

import json

import torch
from scipy.io.wavfile import read

with open("config.json") as file:
    settings = json.load(file)


class Sounds(torch.utils.data.Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        rate, samples = read(self.paths[index])
        if rate != settings["rate"]:
            raise ValueError(f"{self.paths[index]} has {rate} samples a second")
        return torch.from_numpy(samples)[: 2 * 512].float().view(1, 2, 512) / 32768


net = torch.nn.Conv1d(1, 1, kernel_size=(1, 4)).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
data = Sounds([f"wavs/{number}.wav" for number in range(64)])
for x in torch.utils.data.DataLoader(data, batch_size=4):
    optimizer.zero_grad()
    loss = net(x.cuda()).square().mean()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
