"""The training loop of ``plain_loop_costly.py``, mended: sums stay on the device, and the host looks every few steps.

Run with ``PJRT_DEVICE=CPU python plain_loop_mended.py``.
"""

import torch
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 2
STEPS = 2  # random data: enough to see what a step costs
BATCH = 16
LOG_EVERY = 2


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
        running_loss = torch.zeros((), device=device)
        correct = torch.zeros((), dtype=torch.long, device=device)
        broken = torch.zeros((), dtype=torch.long, device=device)
        for step, (images, labels) in enumerate(loader):
            images = images.to(device)
            labels = labels.to(device)
            optimizer.zero_grad()
            logits = model(images)
            loss = criterion(logits, labels)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running_loss += loss.detach()
            correct += (logits.argmax(dim=1) == labels).sum()
            # A bad step is counted on the device and found at the next look, a few steps late.
            broken += ~torch.isfinite(norm)
            torch_xla.sync()
            if step % LOG_EVERY == LOG_EVERY - 1:
                if broken.item():
                    raise RuntimeError("a gradient is not finite")
                print(f"step {step}: loss {loss.item():.3f}")
        print(f"epoch {epoch}: loss {running_loss.item() / len(loader):.3f}, {correct.item()} right")


def main() -> None:
    torch.manual_seed(0)
    device = torch_xla.device()
    data = random_images(BATCH * STEPS)
    model = Classifier().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    train(model, DataLoader(data, batch_size=BATCH, shuffle=True, drop_last=True), optimizer, device)


if __name__ == "__main__":
    main()
