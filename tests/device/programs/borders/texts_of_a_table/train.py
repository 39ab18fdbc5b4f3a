"""A script that reads texts from a table that is not there, and asks a hub for its tokenizer and its model."""

import pandas as pd
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

table = pd.read_csv("data/reviews.csv").dropna()
tokenizer = AutoTokenizer.from_pretrained("google/electra-small-discriminator")
net = AutoModelForSequenceClassification.from_pretrained("google/electra-small-discriminator", num_labels=2).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.01)


class Reviews(torch.utils.data.Dataset):
    def __len__(self):
        return len(table)

    def __getitem__(self, index):
        row = table.iloc[index]
        words = tokenizer(row["review"], padding="max_length", max_length=16, truncation=True)
        return torch.tensor(words["input_ids"]), table["label"].values[index]


for words, labels in torch.utils.data.DataLoader(Reviews(), batch_size=4):
    optimizer.zero_grad()
    loss = net(input_ids=words.cuda(), labels=labels.cuda()).loss
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
