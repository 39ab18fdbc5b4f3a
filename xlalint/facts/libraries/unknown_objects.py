"""Methods of objects of which nothing is known but their names."""

from __future__ import annotations

from xlalint.facts.detectors.growing_modules import check_hooked
from xlalint.facts.detectors.loss import learn_loss
from xlalint.facts.detectors.mode_switches import switch_mode
from xlalint.facts.detectors.padding import check_padding_call
from xlalint.facts.detectors.text_reads import logged
from xlalint.facts.domain.known_names import LEVELS, OPTIMIZER_NAMES
from xlalint.facts.domain.row_lengths import largest_item
from xlalint.facts.domain.values import (
    ANY_HOST,
    HOST,
    LONGEST,
    NONE,
    PAID,
    UNKNOWN,
    Host,
    Value,
    host,
    known_object,
    tensor,
)
from xlalint.facts.events import Effect
from xlalint.facts.libraries.frameworks.accelerate import call_driver
from xlalint.facts.libraries.frameworks.training import READING_MAPS, READING_WRITERS, write
from xlalint.facts.libraries.torch.tensor_methods import new_factory
from xlalint.facts.operations.unknown_callee import call_unknown
from xlalint.facts.state.call import Arguments, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import receiver_node


def call_unknown_method(
    frame: Frame, receiver: Value, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> Value:
    """A method of something unknown; a few names tell what it is all the same."""
    holder = receiver_node(node)
    text = holder.name if type(holder) in (ir.Name, ir.Attribute) else ""  # type: ignore[union-attr]
    if name in LEVELS and text in frameworks().names("logger-name"):
        logged(frame, name, arguments, node)
        return NONE
    if name in READING_WRITERS or (name in READING_MAPS and text in WRITER_NAMES):
        return write(frame, known_object("writer"), name, arguments, keywords, node)
    if name == "step" and ("optim" in text.lower() or text in ("opt", "solver")):
        frame.sign("optimizer-step", node.at)
        frame.sign("plain-step", node.at)
        return NONE
    if name == "backward":
        frame.sign("backward", node.at)
        if arguments:
            # ``fabric.backward(loss)``: who runs backward for others steps for them too.
            frame.sign("framework", node.at)
            learn_loss(frame, node)
        return NONE
    if receiver is ANY_HOST:
        return ANY_HOST
    check_hooked(frame, name, node)
    if name == "item" and not arguments and not host_spelling(holder):
        frame.emit(Effect.SCALAR_READ, node.at, tensor(certainty=0), "item", holder, certainty=0)
        return host("int", varies=LONGEST, paid=True) if largest_item(holder) else PAID
    if name == "cpu" and not arguments and not host_spelling(holder):
        frame.emit(Effect.COPY_TO_HOST, node.at, tensor(certainty=0), "cpu", holder, certainty=0)
        return tensor(HOST, certainty=0)
    if name.startswith("new") and (name in NEW_TENSORS or (name == "new" and are_sizes(arguments))):
        return new_factory(frame, tensor(None, certainty=1), name, arguments, keywords, node)
    if name in ("train", "eval") and not keywords and len(arguments) < 2 and text and text not in OPTIMIZER_NAMES:
        switch_mode(frame, name, arguments, node, certainty=1)
        return receiver
    if text in frameworks().names("tokenizer-name") or text.endswith("tokenizer"):
        check_padding_call(frame, name, arguments, keywords, node)
        return UNKNOWN
    if name == "prepare" and "accelerator" in text:
        return call_driver(frame, known_object("accelerator"), name, arguments, keywords, node)
    return call_unknown(frame, arguments, keywords, node)


NEW_TENSORS = frozenset({"new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"})


def are_sizes(arguments: Arguments) -> bool:
    return len(arguments) > 1 and all(type(v) is Host and v.type == "int" for v in arguments)


WRITER_NAMES = frozenset(
    {"writer", "pbar", "bar", "progress_bar", "wandb", "run", "tb_writer", "progress", "summary_writer"}
)


HOST_ROOTS = frozenset({"np", "numpy", "psutil", "os", "jnp", "tf", "mx", "pd", "xm"})


def host_spelling(node: ir.Expr | None) -> bool:
    """Whether the expression starts at a host library's name."""
    while node is not None:
        if type(node) is ir.Call:
            node = node.function
        elif type(node) in (ir.Attribute, ir.Subscript):
            node = node.value  # type: ignore[union-attr]
        else:
            break
    return type(node) is ir.Name and node.name in HOST_ROOTS
