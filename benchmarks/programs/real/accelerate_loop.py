"""accelerate's loop: two epochs of eight updates, each of two batches, and an evaluation."""

# mypy: ignore-errors

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


def main():
    accelerator = Accelerator(gradient_accumulation_steps=2)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(64, 16), torch.randint(0, 4, (64,)))
    loader = DataLoader(data, batch_size=4)
    evaluation = DataLoader(data, batch_size=16)
    model, optimizer, loader, evaluation = accelerator.prepare(model, optimizer, loader, evaluation)
    for epoch in range(2):
        model.train()
        for step, (x, y) in enumerate(loader):
            with accelerator.accumulate(model):
                loss = torch.nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            if step % 5 == 0:
                accelerator.print(epoch, step, loss.item())
        model.eval()
        right = 0
        for x, y in evaluation:
            with torch.no_grad():
                out = model(x)
            predictions = accelerator.gather_for_metrics(out.argmax(-1))
            right += (predictions == y).sum().item()
        accelerator.print("accuracy", right / 64)


if __name__ == "__main__":
    main()
