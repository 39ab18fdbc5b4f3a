"""The kinds of regions that a function has, and of signs that tell which of them are steps."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Kind(str, Enum):
    """A string, too: its order, and what is sent between processes, is that of its text."""

    def __str__(self) -> str:
        return str(self.value)


class RegionKind(Kind):
    BODY = "body"
    """The function's own."""
    LOOP = "loop"
    WHILE = "while"
    AMORTISED = "amortised"
    """Behind ``step % k == 0`` and the like."""
    RARE = "rare"
    """The first step, a handler of exceptions."""
    ONCE = "once"
    EPOCH = "epoch"
    EVALUATION = "evaluation"
    """Under ``no_grad``."""
    CLOSURE = "closure"
    """A step closure, which runs after the boundary."""
    COLLATE = "collate"
    """Where batches are made, on the host."""
    GIVEN = "given"
    """Behind a test of whether a parameter was given, which the call decides."""
    LEAVING = "leaving"
    """Before an exit of the loop: it runs as often as the loop does."""
    BOUNDARY_CONTEXT = "boundary-context"
    """A ``with`` that sets a step boundary at its end."""
    STEP_TRACE = "step-trace"
    """``with StepTrace(…)``: such a context, which a profiler takes for a step."""


LOOPS: Final = frozenset({RegionKind.LOOP, RegionKind.WHILE})
BOUNDARY_CONTEXTS: Final = frozenset({RegionKind.BOUNDARY_CONTEXT, RegionKind.STEP_TRACE})


class LoopKind(Kind):
    """What a loop goes through, where it is known."""

    STEP = "step"
    EPOCH = "epoch"


class SignKind(Kind):
    """Evidence of what a loop does."""

    BACKWARD = "backward"
    BATCH_MOVED = "batch-moved"
    BOUNDARY = "boundary"
    BOUNDARY_LOADER = "boundary-loader"
    CARRIES = "carries"
    """A loop hands to a call what its last turn gave."""
    COMPILED = "compiled"
    DEVICE_WAIT = "device-wait"
    ENVIRONMENT_STEP = "environment-step"
    """What an agent acts in goes on by one step."""
    EVAL = "eval"
    FRAMEWORK = "framework"
    GIVEN_NO_DATA = "given-no-data"
    GRADIENTS = "gradients"
    """Gradients are set to zero, or asked for."""
    HOST_LOSS = "host-loss"
    """A backward pass starts on the host, and so goes through what lies there."""
    HOST_READ = "host-read"
    """The host waits for the device: what was recorded so far is executed."""
    KEEPS = "keeps"
    """A turn of a ``while`` loop may leave something to the next."""
    LAYER_CALL = "layer-call"
    LOADER = "loader"
    MAKES_DEVICE_LOADER = "makes-device-loader"
    MAKES_LOADER = "makes-loader"
    MAKES_MODEL = "makes-model"
    """A model with parameters of its own is made, or an optimizer."""
    MANUAL_STEP = "manual-step"
    MODEL_CALL = "model-call"
    MOVED = "moved"
    OPTIMIZER_STEP = "optimizer-step"
    PASSED_CALL = "passed-call"
    """A call in an arm that does not run: the test before it is decided."""
    PLAIN_LOADER = "plain-loader"
    PLAIN_STEP = "plain-step"
    PROFILER_SERVER = "profiler-server"
    START_TRACE = "start-trace"
    STEP_WITHOUT_BARRIER = "step-without-barrier"
    SUMS = "sums"
    """Each turn of a loop adds to a tensor of the device, and none looks at it."""
    TRAIN = "train"
    UPLOADED = "uploaded"
    """What was made on the host, and not read from the device, is moved there."""


CALLS_OF_MODELS: Final = frozenset({SignKind.MODEL_CALL, SignKind.LAYER_CALL})
TRAINED: Final = frozenset({SignKind.BACKWARD, SignKind.OPTIMIZER_STEP})
"""The signs that a model is trained."""
LEARNS: Final = TRAINED | {SignKind.GRADIENTS}
"""The signs that what runs is no evaluation."""
