"""A detector's script: neither its annotations nor its images are there."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("torchvision")
pytest.importorskip("pycocotools")

from proved_scripts import proved

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import torch
from torchvision import datasets, transforms


def collate(rows):
    images = torch.stack([image for image, _ in rows])
    boxes = torch.tensor([[each["bbox"] for each in objects] for _, objects in rows], dtype=torch.float32)
    return images, boxes, torch.tensor([[each["category_id"] for each in objects] for _, objects in rows])


both = transforms.Compose([transforms.Resize((16, 16)), transforms.ToTensor()])
data = datasets.CocoDetection("coco/train2017", "coco/annotations/instances_train2017.json", transform=both)
kinds = max(data.coco.getCatIds()) + 1
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 16, 2 * (4 + kinds))).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.001)
for images, boxes, labels in torch.utils.data.DataLoader(data, batch_size=4, collate_fn=collate):
    found = net(images.cuda()).view(-1, 2, 4 + kinds)
    optimizer.zero_grad()
    loss = (found[..., :4] - boxes.cuda()).abs().mean()
    loss = loss + torch.nn.functional.cross_entropy(found[..., 4:].flatten(0, 1), labels.cuda().flatten())
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return proved(tmp_path_factory.mktemp("objects"), PROGRAM)["read"]


def test_the_read_of_its_loss_is_confirmed_by_the_script(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT), evidence.reason


def test_its_annotations_are_an_assumption(evidence: Evidence) -> None:
    name = "instances_train2017.json"
    assert f"`{name}` names 64 images with 2 objects each, as it is not there" in evidence.assumptions
