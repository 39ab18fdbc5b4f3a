"""The module of ``lightning_module_costly.py``, mended: what the hooks keep stays on the device until the epoch ends.

To run it, install ``lightning`` beside torch_xla; linting needs neither.
"""

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LitAutoEncoder(L.LightningModule):
    def __init__(self, width: int = 16, learning_rate: float = 1e-3) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.encoder = nn.Sequential(nn.Linear(64, width), nn.ReLU())
        self.decoder = nn.Linear(width, 64)
        self.errors = []

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        loss = F.mse_loss(self(x), x)
        # The log keeps the tensor; Lightning reads it every `log_every_n_steps`.
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        (x,) = batch
        error = F.l1_loss(self(x), x, reduction="none").mean(dim=1)
        self.errors.append(error)
        self.log("worst", error.max(), reduce_fx="max")

    def on_validation_epoch_end(self) -> None:
        print(f"mean error {torch.cat(self.errors).mean().item():.3f}")
        self.errors.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.learning_rate)


def main() -> None:
    L.seed_everything(0)
    train = DataLoader(TensorDataset(torch.rand(128, 64)), batch_size=16, shuffle=True, drop_last=True)
    validation = DataLoader(TensorDataset(torch.rand(64, 64)), batch_size=16)
    trainer = L.Trainer(max_epochs=2, accelerator="tpu", devices=1, logger=False, enable_checkpointing=False)
    trainer.fit(LitAutoEncoder(), train, validation)


if __name__ == "__main__":
    main()
