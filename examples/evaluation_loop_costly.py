"""An evaluation loop that takes its figures from the device batch by batch.

Its twin is ``evaluation_loop_mended.py``. Run with ``PJRT_DEVICE=CPU python evaluation_loop_costly.py``.
"""

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCHES = 8
BATCH = 32


class AverageMeter:
    """The mean of what it was given, weighted."""

    def __init__(self) -> None:
        self.total = 0.0
        self.count = 0

    def update(self, value, weight: int) -> None:
        self.total += value.item() * weight  # costs: XLA101
        self.count += weight

    @property
    def average(self) -> float:
        return self.total / self.count


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    losses = AverageMeter()
    correct = 0
    predictions = []
    confidences = []
    for features, labels in loader:
        features = features.to(device)
        labels = labels.to(device)
        logits = model(features)
        losses.update(F.cross_entropy(logits, labels), len(labels))
        chosen = logits.argmax(dim=1)
        correct += int((chosen == labels).sum())  # costs: XLA101
        predictions.append(chosen.cpu())  # costs: XLA103
        confidences.extend(logits.softmax(dim=1).amax(dim=1).tolist())  # costs: XLA104
    print(f"loss {losses.average:.3f}, accuracy {correct / losses.count:.3f}")
    return torch.cat(predictions), confidences


def main() -> None:
    torch.manual_seed(0)
    device = torch_xla.device()
    model = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 5)).to(device)
    data = TensorDataset(torch.randn(BATCH * BATCHES, 32), torch.randint(5, (BATCH * BATCHES,)))
    predictions, confidences = evaluate(model, DataLoader(data, batch_size=BATCH), device)
    print(predictions.bincount().tolist(), f"{min(confidences):.3f}")


if __name__ == "__main__":
    main()
