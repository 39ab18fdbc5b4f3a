"""A Lightning module whose hooks read the device in every step. Its twin is ``lightning_module_mended.py``.

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
        self.history = []
        self.errors = []

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        loss = F.mse_loss(self(x), x)
        if not torch.isfinite(loss):  # costs: XLA201
            return None
        self.history.append(loss.item())  # costs: XLA101
        print(f"batch {batch_idx}: loss {loss}")  # costs: XLA106
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        (x,) = batch
        error = F.l1_loss(self(x), x, reduction="none").mean(dim=1)
        self.errors.append(error.cpu())  # costs: XLA103
        worst = error.max()
        if worst > 1.0:  # costs: XLA201
            self.log("worst", worst)

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
