"""A small BERT, trained for a few steps, with reads planted in it: each stands on a line that ends in `# read`.

At its end it prints what the runtime itself has counted.
"""

import json

import torch
import torch_xla
import torch_xla.debug.metrics as metrics
from torch import nn

VOCABULARY, WIDTH, HEADS, LAYERS, LENGTH, BATCH, STEPS = 50, 16, 2, 2, 8, 4, 6


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids):
        positions = torch.arange(LENGTH, device=ids.device)
        return self.norm(self.words(ids) + self.positions(positions))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.first, self.second = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))

    def forward(self, x, mask):
        attended, _ = self.attention(x, x, x, key_padding_mask=mask, need_weights=False)
        x = self.norms[0](x + attended)
        return self.norms[1](x + self.second(nn.functional.gelu(self.first(x))))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Embeddings()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids, mask):
        x = self.embeddings(ids)
        for layer in self.layers:
            x = layer(x, mask)
            if x.isnan().any():  # read
                raise ValueError("not a number")
        return self.head(x)


def batches(count):
    for _ in range(count):
        ids = torch.randint(VOCABULARY, (BATCH, LENGTH))
        yield ids, torch.zeros(BATCH, LENGTH, dtype=torch.bool)


def train():
    device = torch_xla.device()
    model = Bert().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    total = 0.0
    for ids, mask in batches(STEPS):
        ids, mask = ids.to(device), mask.to(device)
        optimizer.zero_grad()
        logits = model(ids, mask)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten())
        loss.backward()
        total += loss.item()  # read
        optimizer.step()
        torch_xla.sync()
        print(loss)  # read
        predicted = logits.argmax(-1).cpu()  # read
        norm = float(model.head.weight.norm())  # read
    return total, predicted, norm


def counted():
    def samples(*names):
        return sum((metrics.metric_data(name) or (0,))[0] for name in names)

    torch_xla.sync(wait=True)
    fallbacks = [n for n in metrics.counter_names() if n.startswith("aten::") and n != "aten::_local_scalar_dense"]
    return {
        "compiles": samples("CompileTime", "EagerOpCompileTime"),
        "executions": samples("ExecuteTime", "ExecuteReplicatedTime", "EagerOpExecuteTime"),
        "reads": samples("TransferFromDeviceTime"),
        "uploads": samples("TransferToDeviceTime"),
        "fallbacks": sum(metrics.counter_value(name) for name in fallbacks),
    }


if __name__ == "__main__":
    train()
    print("METRICS" + json.dumps(counted()))
