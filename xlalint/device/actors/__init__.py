"""What stands in for the parts of a program that a slice leaves out. For the worker's children, and by hand.

All sizes are one number, so that shapes agree wherever the program wants them to.
"""

from xlalint.device.actors.modules import (
    Layer,
    Learning,
    Loss,
    Model,
    Sizes,
    built,
    optimizer,
    scaler,
    scheduler,
    size_named,
)
from xlalint.device.actors.objects import Absent, Parts
from xlalint.device.actors.running import (
    NoSteps,
    NotReached,
    Unavailable,
    begin,
    first,
    learned,
    once,
    ran,
    replay,
    step,
    steps,
    still,
    truth,
    used,
    without_graph,
)
from xlalint.device.actors.values import Batches, Fields, device, rows, rows_by, tensor, varying

__all__ = [
    "Absent",
    "Batches",
    "Fields",
    "Layer",
    "Learning",
    "Loss",
    "Model",
    "NoSteps",
    "NotReached",
    "Parts",
    "Sizes",
    "Unavailable",
    "begin",
    "built",
    "device",
    "first",
    "learned",
    "once",
    "optimizer",
    "ran",
    "replay",
    "rows",
    "rows_by",
    "scaler",
    "scheduler",
    "size_named",
    "step",
    "steps",
    "still",
    "tensor",
    "truth",
    "used",
    "varying",
    "without_graph",
]
