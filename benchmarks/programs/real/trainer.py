"""A transformers Trainer with a tiny BERT: six steps, a log after each second."""

# mypy: ignore-errors

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Rows(torch.utils.data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        ids = torch.randint(0, 100, (16,), generator=g)
        return {"input_ids": ids, "attention_mask": torch.ones(16, dtype=torch.long), "labels": torch.tensor(i % 2)}


def main():
    config = BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    model = BertForSequenceClassification(config)
    arguments = TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=4,
        max_steps=6,
        logging_steps=2,
        report_to=[],
        optim="adamw_torch",
        save_strategy="no",
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=Rows(64))
    trainer.train()


if __name__ == "__main__":
    main()
