"""The evaluation of ``evaluation_loop_costly.py``, mended: figures add up on the device and come over once, at the end.

Run with ``PJRT_DEVICE=CPU python evaluation_loop_mended.py``.
"""

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCHES = 8
BATCH = 32


class AverageMeter:
    """The mean of what it was given, weighted; the sum stays on the device until it is asked for."""

    def __init__(self, device) -> None:
        self.total = torch.zeros((), device=device)
        self.count = 0

    def update(self, value, weight: int) -> None:
        self.total += value.detach() * weight
        self.count += weight

    @property
    def average(self) -> float:
        return self.total.item() / self.count


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    losses = AverageMeter(device)
    correct = torch.zeros((), dtype=torch.long, device=device)
    predictions = []
    confidences = []
    for features, labels in loader:
        features = features.to(device)
        labels = labels.to(device)
        logits = model(features)
        losses.update(F.cross_entropy(logits, labels), len(labels))
        chosen = logits.argmax(dim=1)
        correct += (chosen == labels).sum()
        predictions.append(chosen)
        confidences.append(logits.softmax(dim=1).amax(dim=1))
        torch_xla.sync()
    print(f"loss {losses.average:.3f}, accuracy {correct.item() / losses.count:.3f}")
    return torch.cat(predictions).cpu(), torch.cat(confidences).tolist()


def main() -> None:
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 5)).to(device)
    data = TensorDataset(torch.randn(BATCH * BATCHES, 32), torch.randint(5, (BATCH * BATCHES,)))
    predictions, confidences = evaluate(model, DataLoader(data, batch_size=BATCH), device)
    print(predictions.bincount().tolist(), f"{min(confidences):.3f}")


if __name__ == "__main__":
    main()
