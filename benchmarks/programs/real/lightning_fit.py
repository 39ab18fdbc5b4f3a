"""A Lightning module: two epochs of eight steps, with validation. The CPU device stands in for a TPU."""

# mypy: ignore-errors

import lightning
import lightning.fabric.accelerators.xla as of_fabric
import lightning.pytorch.accelerators.xla as of_pytorch
import torch
from torch.utils.data import DataLoader, TensorDataset

PRESENT = {"is_available": lambda: True, "auto_device_count": lambda: 1, "get_parallel_devices": lambda devices: [0]}


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))

    def training_step(self, batch, _):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        out = self.net(x)
        self.log("val_loss", torch.nn.functional.cross_entropy(out, y))
        self.log("acc", (out.argmax(-1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    for accelerator in (of_fabric.XLAAccelerator, of_pytorch.XLAAccelerator):
        for name, function in PRESENT.items():
            setattr(accelerator, name, staticmethod(function))
    data = TensorDataset(torch.randn(64, 16), torch.randint(0, 4, (64,)))
    trainer = lightning.Trainer(
        accelerator="tpu", devices=1, max_epochs=2, log_every_n_steps=2, logger=False, enable_checkpointing=False
    )
    trainer.fit(Net(), DataLoader(data, batch_size=8), DataLoader(data, batch_size=16))


if __name__ == "__main__":
    main()
