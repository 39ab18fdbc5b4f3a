"""A plain training loop, as it often comes from a GPU: the host waits for the device several times in every step.

Its twin is ``plain_loop_mended.py``. Run with ``PJRT_DEVICE=CPU python plain_loop_costly.py``.
"""

import math

import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 2
STEPS = 2  # random data: enough to see what a step costs
BATCH = 16


class Classifier(nn.Module):
    def __init__(self, width: int = 32, classes: int = 10) -> None:
        super().__init__()
        self.hidden = nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Dropout(0.1))
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        return self.head(self.hidden(images))


def random_images(count: int) -> TensorDataset:
    return TensorDataset(torch.rand(count, 1, 8, 8), torch.randint(10, (count,)))


def train(model, loader, optimizer, device):
    criterion = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(EPOCHS):
        running_loss = 0.0
        correct = 0
        for step, (images, labels) in enumerate(loader):  # costs: XLA402
            images = images.to(device)
            labels = labels.to(device)
            optimizer.zero_grad()
            logits = model(images)
            loss = criterion(logits, labels)
            if torch.isnan(loss):  # costs: XLA201
                raise RuntimeError("the loss is not a number")
            loss.backward()
            norm = float(nn.utils.clip_grad_norm_(model.parameters(), 1.0))  # costs: XLA101
            optimizer.step()
            running_loss += loss.item()  # costs: XLA101
            correct += (logits.argmax(dim=1) == labels).sum().item()  # costs: XLA101
            print("step", step, "loss", loss)  # costs: XLA106
            if math.isinf(norm):
                print("a gradient is infinite")
        print(f"epoch {epoch}: loss {running_loss / len(loader):.3f}, {correct} right")


def main() -> None:
    torch.manual_seed(0)
    device = torch_xla.device()
    data = random_images(BATCH * STEPS)
    model = Classifier().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    train(model, DataLoader(data, batch_size=BATCH, shuffle=True, drop_last=True), optimizer, device)


if __name__ == "__main__":
    main()
