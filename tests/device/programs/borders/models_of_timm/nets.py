import torch
from timm.models.registry import register_model


class Net(torch.nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.head = torch.nn.Linear(3, num_classes)

    def forward(self, x):
        return self.head(x.mean((2, 3)))


@register_model
def small_net(pretrained=False, **kwargs):
    return Net(**kwargs)
