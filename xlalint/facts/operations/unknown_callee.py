"""Unknown callees: their result is guessed from their arguments alone."""

from __future__ import annotations

from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    HOST,
    UNKNOWN,
    KnownObject,
    Sequence,
    Tensor,
    Value,
    known_object,
    tensor,
    tensor_of,
)
from xlalint.facts.kinds import SignKind
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks


def call_unknown(frame: Frame, call: Call) -> Value:
    """Something unknown that is fed a batch in a step loop is taken for a model; what is made of tensors, for one."""
    if any(type(a) is KnownObject and a.role == Role.BATCH for a in call.arguments) or (
        type(call.keywords.get("**")) is Tensor and "**" in call.keywords
    ):
        frame.sign(SignKind.MODEL_CALL, call.node.at)
        return known_object(Role.OUTPUT, tensor(certainty=1))
    if call.name in frameworks().names("runs-model"):
        frame.sign(SignKind.MODEL_CALL, call.node.at)
    if any(holds_live_tensor(value) for value in (*call.arguments, *call.keywords.values())):
        return DERIVED
    return UNKNOWN


ROWS_OF_HOST = known_object(Role.BATCH, tensor(HOST, grad=False, certainty=1))
"""What tokenizers and processors give."""
DERIVED = known_object(Role.DERIVED, tensor(certainty=0))


def holds_live_tensor(value: Value) -> bool:
    if type(value) is Sequence:
        value = value.element
    known = tensor_of(as_operand(value))
    return known is not None and known.live
