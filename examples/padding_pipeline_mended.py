"""The pipeline of ``padding_pipeline_costly.py``, mended: batches are padded to three lengths, so three graphs do.

Run with ``PJRT_DEVICE=CPU python padding_pipeline_mended.py``.
"""

import torch
import torch.nn.functional as F
import torch_xla
from torch import nn
from torch.utils.data import DataLoader, Dataset

STEPS = 12
BATCH = 8
PAD = 0
BUCKETS = (16, 32, 64)


class RandomTexts(Dataset):
    """Token ids from 1 to 99, five to sixty a text, with a class each."""

    def __init__(self, count: int) -> None:
        generator = torch.Generator().manual_seed(0)
        lengths = torch.randint(5, 61, (count,), generator=generator).tolist()
        self.texts = [torch.randint(1, 100, (length,), generator=generator) for length in lengths]
        self.labels = torch.randint(4, (count,), generator=generator).tolist()

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, index: int):
        return self.texts[index], self.labels[index]


def collate(rows):
    texts, labels = zip(*rows, strict=True)
    longest = max(len(text) for text in texts)
    bucket = next(size for size in BUCKETS if size >= longest)
    tokens = torch.stack([F.pad(text, (0, bucket - len(text)), value=PAD) for text in texts])
    return tokens, torch.tensor(labels)


class TextClassifier(nn.Module):
    def __init__(self, words: int = 100, width: int = 32, classes: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=PAD)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        present = (tokens != PAD).unsqueeze(-1)
        mean = (self.embedding(tokens) * present).sum(dim=1) / present.sum(dim=1)
        return self.head(mean)


def train(model, loader, optimizer, device):
    model.train()
    total = torch.zeros((), device=device)
    for tokens, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(tokens.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        total += loss.detach()
        torch_xla.sync()
    print(f"loss {total.item() / len(loader):.3f}")


def main() -> None:
    torch.manual_seed(0)
    device = torch_xla.device()
    model = TextClassifier().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    loader = DataLoader(RandomTexts(BATCH * STEPS), batch_size=BATCH, shuffle=True, collate_fn=collate, drop_last=True)
    train(model, loader, optimizer, device)


if __name__ == "__main__":
    main()
