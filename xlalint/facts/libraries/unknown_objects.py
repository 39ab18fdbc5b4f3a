"""Methods of unknown objects: only the names of the method and of its holder say anything."""

from __future__ import annotations

from xlalint.facts.detectors.growing_modules import check_hooked
from xlalint.facts.detectors.loss import learn_loss
from xlalint.facts.detectors.mode_switches import switch_mode
from xlalint.facts.detectors.padding import check_padding_call
from xlalint.facts.detectors.text_reads import logged
from xlalint.facts.domain.known_names import LEVELS, OPTIMIZER_NAMES
from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.row_lengths import largest_item
from xlalint.facts.domain.values import (
    ANY_HOST,
    HOST,
    LONGEST,
    NONE,
    READ_NUMBER,
    STR,
    UNKNOWN,
    Host,
    Value,
    host,
    known_object,
    tensor,
)
from xlalint.facts.events import Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries.frameworks.accelerate import call_driver
from xlalint.facts.libraries.frameworks.scalers import SCALING, scaler, scaler_method
from xlalint.facts.libraries.frameworks.training import READING_MAPS, READING_WRITERS, write
from xlalint.facts.libraries.torch.tensor_methods import new_factory
from xlalint.facts.operations.placement import MOVING
from xlalint.facts.operations.unknown_callee import call_unknown
from xlalint.facts.state.call import Arguments, Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import holders, last_name, receiver_node


def key_name(node: ir.Expr | None) -> str:
    """``optimizer`` of ``state["optimizer"]``."""
    key = node.index if type(node) is ir.Subscript else None
    return key.value if type(key) is ir.Constant and isinstance(key.value, str) else ""


def call_unknown_method(frame: Frame, receiver: Value, call: Call) -> Value:
    """A method of something unknown; a few names tell what it is all the same."""
    holder = receiver_node(call.node)
    text = last_name(holder) or key_name(holder)
    if call.name in LEVELS and text in frameworks().names("logger-name"):
        logged(frame, call)
        return NONE
    if call.name in READING_WRITERS or (call.name in READING_MAPS and text in WRITER_NAMES):
        return write(frame, known_object(Role.WRITER), call)
    if call.name == "step" and ("optim" in text.lower() or text in ("opt", "solver")):
        frame.sign(SignKind.OPTIMIZER_STEP, call.node.at)
        frame.sign(SignKind.PLAIN_STEP, call.node.at)
        return NONE
    if call.name in frameworks().names("trains-batch"):
        frame.sign(SignKind.BACKWARD, call.node.at)
        frame.sign(SignKind.OPTIMIZER_STEP, call.node.at)
        frame.sign(SignKind.PLAIN_STEP, call.node.at)
        return UNKNOWN
    if call.name in SCALING and text.lower().endswith("scaler"):
        return scaler_method(frame, scaler(), call) or UNKNOWN
    if call.name == "backward":
        frame.sign(SignKind.BACKWARD, call.node.at)
        if call.arguments:
            learn_loss(frame, call.node)
            if text.endswith(tuple(frameworks().names("driver-name"))):
                # ``fabric.backward(loss)``: who runs backward for others steps for them too.
                frame.sign(SignKind.FRAMEWORK, call.node.at)
        return NONE
    if receiver is ANY_HOST:
        # What is moved is a tensor or a module.
        return UNKNOWN if call.name in MOVING else ANY_HOST
    if frame.engine.computes_elsewhere(frame.path):
        return UNKNOWN
    check_hooked(frame, call.name, call.node)
    if call.name == "item" and not call.arguments and not host_spelling(holder):
        frame.emit(Effect.SCALAR_READ, call.node.at, tensor(certainty=0), "item", holder, certainty=0)
        return host("int", varies=LONGEST, read_from_device=True) if largest_item(holder) else READ_NUMBER
    if call.name == "cpu" and not call.arguments and not host_spelling(holder):
        frame.emit(Effect.COPY_TO_HOST, call.node.at, tensor(certainty=0), "cpu", holder, certainty=0)
        return tensor(HOST, certainty=0)
    if call.name.startswith("new") and (call.name in NEW_TENSORS or (call.name == "new" and are_sizes(call.arguments))):
        return new_factory(frame, tensor(None, certainty=1), call)
    if (
        call.name in ("train", "eval")
        and not call.keywords
        and len(call.arguments) < 2
        and text
        and text not in OPTIMIZER_NAMES
    ):
        switch_mode(frame, call, certainty=1)
        return receiver
    if text in frameworks().names("tokenizer-name") or text.endswith("tokenizer"):
        check_padding_call(frame, call)
        return UNKNOWN
    if call.name in TENSORS_OF_MODULES and not call.arguments:
        return TENSORS_OF_MODULES[call.name]
    if call.name == "prepare" and "accelerator" in text:
        return call_driver(frame, known_object(Role.ACCELERATOR), call)
    return call_unknown(frame, call)


WEIGHT = tensor(dtype="float", certainty=1)
BUFFER = tensor(certainty=1, grad=False)
TENSORS_OF_MODULES: dict[str, Value] = {
    "parameters": known_object(Role.PARAMETERS, WEIGHT),
    "named_parameters": known_object(Role.PARAMETERS, sequence("tuple", (STR, WEIGHT))),
    "buffers": known_object(Role.PARAMETERS, BUFFER),
    "named_buffers": known_object(Role.PARAMETERS, sequence("tuple", (STR, BUFFER))),
}
"""Methods that modules alone have."""
NEW_TENSORS = frozenset({"new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"})


def are_sizes(arguments: Arguments) -> bool:
    return len(arguments) > 1 and all(type(v) is Host and v.type == "int" for v in arguments)


WRITER_NAMES = frozenset(
    {"writer", "pbar", "bar", "progress_bar", "wandb", "run", "tb_writer", "progress", "summary_writer"}
)


HOST_ROOTS = frozenset({"np", "numpy", "psutil", "os", "jnp", "tf", "mx", "pd", "xm"})


def host_spelling(node: ir.Expr | None) -> bool:
    """Whether the expression starts at a host library's name."""
    if node is None:
        return False
    *_, start = holders(node)
    return type(start) is ir.Name and start.name in HOST_ROOTS
