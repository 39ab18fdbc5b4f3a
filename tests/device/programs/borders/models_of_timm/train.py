"""A script of timm's first years: a second parser reads what a first one has left, its model is registered by itself
and called by a name in capitals, and timm reads its images."""

import argparse

import nets
import torch
from timm.data import Dataset, FastCollateMixup, create_loader
from timm.models import create_model

config_parser = argparse.ArgumentParser(add_help=False)
config_parser.add_argument("--config", default="", metavar="FILE")
parser = argparse.ArgumentParser()
parser.add_argument("data", metavar="DIR")
parser.add_argument("--model", default="Small_Net")
parser.add_argument("--bn-tf", action="store_true")


def main():
    _, remaining = config_parser.parse_known_args()
    args = parser.parse_args(remaining)
    net = create_model(args.model, num_classes=8, bn_tf=args.bn_tf).cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    loader = create_loader(
        Dataset(args.data + "/train"),
        input_size=(3, 32, 32),
        batch_size=4,
        is_training=True,
        use_prefetcher=True,
        collate_fn=FastCollateMixup(num_classes=8),
    )
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        print(loss.item())  # read


if __name__ == "__main__":
    main()
