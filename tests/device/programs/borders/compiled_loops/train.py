"""A model with loops of its own that dynamo compiles for XLA."""

import torch
import torch_xla


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        while x.dim() > 2:
            x = x.mean(0)
        return x


device = torch_xla.device()
net = torch.compile(Net().to(device), backend="openxla")
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.utils.data.DataLoader(torch.rand(64, 4), batch_size=4):
    optimizer.zero_grad()
    loss = net(x.to(device)).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    print(loss.item())  # read
