"""Methods of containers, host values, modules, the program's objects, and of what nobody knows."""

from __future__ import annotations

from xlalint.facts import domain as d
from xlalint.facts import objects, torch_modules
from xlalint.facts.bar_logging import LOGGING, call_inherited_logging
from xlalint.facts.differentiated import learn_loss
from xlalint.facts.events import Effect
from xlalint.facts.following import follow_made
from xlalint.facts.frame import Frame
from xlalint.facts.growing_modules import check_added, check_hooked
from xlalint.facts.kept_outputs import check_kept
from xlalint.facts.lengths import largest_item, row_length
from xlalint.facts.modes import switch_mode
from xlalint.facts.promises import promised_result
from xlalint.facts.store import keep
from xlalint.facts.textual import logged, shown_tensor
from xlalint.facts.training import READING_MAPS, READING_WRITERS, write
from xlalint.facts.training import call_module_method as module_method
from xlalint.facts.vocabulary import LEVELS, OPTIMIZER_NAMES
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import receiver_node

Arguments = list[d.Value]
Keywords = dict[str, d.Value]


def call_container(
    frame: Frame, receiver: d.Value, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    if type(receiver) is d.Sequence:
        return call_sequence(frame, receiver, name, arguments, node)
    assert type(receiver) is d.Mapping
    return call_mapping(frame, receiver, name, arguments, keywords, node)


def call_sequence(frame: Frame, receiver: d.Sequence, name: str, arguments: Arguments, node: ir.Call) -> d.Value:
    if name in ("append", "extend", "insert", "add", "appendleft"):
        added = arguments[-1] if arguments else d.UNKNOWN
        if name == "extend":
            added = objects.element_of(frame, added)
        elif node.arguments:
            added = row_length(added, node.arguments[-1], frame.evaluate)
            if name == "append":
                check_kept(frame, added, node)
        empty = receiver.elements == ()
        keep(frame, node, d.sequence(receiver.kind, None, added if empty else d.join(receiver.element, added)))
        return d.NONE
    if name in ("index", "count", "remove"):
        sought = d.tensor_of(arguments[0]) if arguments else None
        held = d.tensor_of(receiver.element) if receiver.elements != () else None
        known = sought if sought is not None else held
        sure = (sought is None or d.surely_tensor(arguments[0])) and (held is None or d.surely_tensor(receiver.element))
        if known is not None and known.live and sure:
            frame.emit(Effect.COMPARED_ON_HOST, node.at, known, name, receiver_node(node))
        return d.INT
    if name == "pop":
        return receiver.element
    if name == "copy":
        return receiver
    return d.UNKNOWN


def call_mapping(
    frame: Frame, receiver: d.Mapping, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    if name in ("get", "pop", "setdefault"):
        key = arguments[0] if arguments else d.UNKNOWN
        default = arguments[1] if len(arguments) > 1 else d.NONE
        if type(key) is d.Host and key.known:
            found = receiver.get(key.constant)
            if found is not None:
                return found
            if receiver.rest is None:
                return default
        return d.join(receiver.rest, default) if receiver.rest is not None else d.UNKNOWN
    everything = d.joins([*(v for _, v in receiver.items), *([receiver.rest] if receiver.rest is not None else [])])
    if name == "items":
        if receiver.rest is None and 0 < len(receiver.items) <= 6:
            return d.sequence("list", [d.sequence("tuple", (d.constant(k), v)) for k, v in receiver.items])
        return d.sequence("list", None, d.sequence("tuple", (d.STR, everything)))
    if name == "values":
        return d.sequence("list", None, everything)
    if name == "keys":
        return d.sequence("list", None, d.STR)
    if name == "copy":
        return receiver
    if name == "update":
        items = dict(receiver.items)
        items.update((k, v) for k, v in keywords.items() if k != "**")
        rest = receiver.rest
        if arguments and type(arguments[0]) is d.Mapping:
            items.update(arguments[0].items)
            rest = d.join_maybe(rest, arguments[0].rest)
        elif arguments:
            rest = d.UNKNOWN
        keep(frame, node, d.mapping(tuple(items.items()), rest))
        return d.NONE
    return d.UNKNOWN


def call_host_method(
    frame: Frame, receiver: d.Host, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    if receiver.type == "str":
        if name == "format":
            for value in [*arguments, *keywords.values()]:
                known = shown_tensor(value)
                if known is not None:
                    frame.emit(Effect.PRINTED, node.at, known, "format", None)
                    break
        if name in ("split", "rsplit", "splitlines"):
            return d.sequence("list", None, d.STR)
        return (
            d.BOOL
            if name.startswith(("is", "starts", "ends"))
            else d.INT
            if name in ("find", "index", "count")
            else d.STR
        )
    if receiver.type == "numpy":
        return d.UNKNOWN if name == "item" else d.sequence("list", None, d.ANY_HOST) if name == "tolist" else d.NUMPY
    if receiver is d.ANY_HOST:
        return call_unknown_method(frame, d.ANY_HOST, name, arguments, keywords, node)
    if receiver.type == "size":
        return d.INT
    return d.OBJECT if receiver.type == "object" else d.UNKNOWN


def call_module_method(
    frame: Frame, receiver: d.Module, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    found = module_method(frame, receiver, name, arguments, keywords, node)
    if found is None and name != "forward":
        found = follow_made(frame, receiver.given, name, arguments, keywords, node)
    if found is not None:
        return found
    if name == "forward" or (receiver.name == "?" and name in ("module", "generate", "encode", "decode", "sample")):
        if name == "generate":
            frame.emit(Effect.GENERATE, node.at, d.NONE, "generate", receiver_node(node), certainty=1)
            return d.tensor(dtype="int", dims=d.of_rank(2), certainty=1)
        return torch_modules.call_module(frame, receiver, arguments, keywords, node)
    check_added(frame, receiver, name, node)
    if name in ("append", "extend") and arguments:
        added = objects.element_of(frame, arguments[0]) if name == "extend" else arguments[0]
        elements = receiver.elements
        if type(elements) is d.Sequence and elements.elements != ():
            added = d.join(elements.element, added)
        keep(frame, node, d.module(receiver.name, d.sequence("list", None, added), receiver.costs))
        return d.NONE
    if name in ("items", "values", "keys") and type(receiver.elements) is d.Mapping:
        return call_mapping(frame, receiver.elements, name, arguments, keywords, node)
    if receiver.name == "?" and name == "step":
        frame.sign("optimizer-step", node.at)
    return d.UNKNOWN


def generates(frame: Frame, cls: ir.ClassIR) -> bool:
    """Whether a class has ``generate`` of transformers."""
    return any(
        base.startswith("transformers.") or base.endswith("GenerationMixin")
        for base in frame.engine.program.external_bases(cls)
    )


REGISTERING = ("register_buffer", "register_parameter", "add_module", "register_module")

REGISTERED = ("name", "tensor", "param", "module")


def call_object_method(
    frame: Frame, receiver: d.Value, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    """A method that the program's class inherits from outside."""
    if name in REGISTERING:
        given = [*arguments, *(value for key, value in keywords.items() if key in REGISTERED)]
        if len(given) > 1:
            register(frame, given[0], given[1], name)
        return d.NONE
    if name == "register_modules":
        for key, value in keywords.items():
            if key != "**":
                register(frame, d.constant(key), value, name)
        return d.NONE
    if name == "add_state":
        return add_state(frame, arguments, keywords)
    if name == "_gradient_checkpointing_func" and arguments:
        from xlalint.facts.calls import call

        return call(frame, arguments[0], arguments[1:], {}, node)
    if name == "generate" and generates(frame, receiver.ir):  # type: ignore[attr-defined]
        frame.emit(Effect.GENERATE, node.at, d.NONE, "generate", receiver_node(node))
    names = frame.engine.class_names(receiver.ir)  # type: ignore[attr-defined]
    if name in LOGGING and call_inherited_logging(frame, names, name, arguments, keywords, node):
        return d.NONE
    found = module_method(frame, receiver, name, arguments, keywords, node)
    if found is not None:
        return found
    if name in ("manual_backward", "backward"):
        frame.sign("backward", node.at)
        frame.sign("framework", node.at)
        return d.NONE
    promised = promised_result(names, name, keywords)
    if promised is not None:
        return promised
    if frameworks().get("iterates", f"*.{name}") is not None and arguments:
        return arguments[0]
    made = frameworks().get("factory", f"*.{name}")
    return d.module(made) if made is not None and made.startswith("torch.nn.") else d.UNKNOWN


def add_state(frame: Frame, arguments: Arguments, keywords: Keywords) -> d.Value:
    """A metric's state lives where the metric lives."""
    default = arguments[1] if len(arguments) > 1 else keywords.get("default", d.UNKNOWN)
    register(frame, arguments[0] if arguments else keywords.get("name", d.UNKNOWN), state(default), "add_state")
    return d.NONE


def register(frame: Frame, key: d.Value, value: d.Value, name: str) -> None:
    if type(key) is not d.Host or not isinstance(key.constant, str):
        return
    known = d.tensor_of(value)
    if known is not None:
        value = known.but(device=d.XLA, grad=name == "register_parameter" or known.grad)
    frame.writes[key.constant] = d.join_maybe(frame.writes.get(key.constant), value) or value
    frame.env[f"self.{key.constant}"] = value
    frame.registered.add(key.constant)


def state(default: d.Value) -> d.Value:
    """A metric's state: a tensor, or a list of them."""
    if type(default) is d.Sequence:
        return d.sequence("list", None, d.tensor(certainty=1))
    return default


def call_class_method(
    frame: Frame, receiver: d.Class, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    if name in ("from_pretrained", "_from_config", "from_config", "from_dict", "load_from_checkpoint"):
        return frame.engine.instance_of(receiver.ir)
    return d.UNKNOWN


def call_super(
    frame: Frame, receiver: d.Super, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    holder = receiver.receiver
    program = frame.engine.program
    cls = holder.ir if type(holder) in (d.Instance, d.Record, d.Class) else receiver.ir  # type: ignore[attr-defined]
    method = program.after(cls, receiver.ir, name)
    if method is None and name == "__call__" and objects.is_module_class(frame, cls):
        method = program.method(cls, "forward")
    if method is None:
        if name == "__init__" or type(holder) is d.Class:
            return d.UNKNOWN
        return call_object_method(frame, holder, name, arguments, keywords, node)
    answer = frame.engine.call(frame, d.function(method, holder), arguments, keywords, node.at)
    for key, value in answer.writes.items():
        frame.env[f"self.{key}"] = value
        frame.writes[key] = d.join_maybe(frame.writes.get(key), value) or value
    return answer.value


def call_unknown_method(
    frame: Frame, receiver: d.Value, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call
) -> d.Value:
    """A method of something unknown; a few names tell what it is all the same."""
    holder = receiver_node(node)
    text = holder.name if type(holder) in (ir.Name, ir.Attribute) else ""  # type: ignore[union-attr]
    if name in LEVELS and text in frameworks().names("logger-name"):
        logged(frame, name, arguments, node)
        return d.NONE
    if name in READING_WRITERS or (name in READING_MAPS and text in WRITER_NAMES):
        return write(frame, d.role("writer"), name, arguments, keywords, node)
    if name == "step" and ("optim" in text.lower() or text in ("opt", "solver")):
        frame.sign("optimizer-step", node.at)
        frame.sign("plain-step", node.at)
        return d.NONE
    if name == "backward":
        frame.sign("backward", node.at)
        if arguments:
            # ``fabric.backward(loss)``: who runs backward for others steps for them too.
            frame.sign("framework", node.at)
            learn_loss(frame, node)
        return d.NONE
    if receiver is d.ANY_HOST:
        return d.ANY_HOST
    check_hooked(frame, name, node)
    if name == "item" and not arguments and not host_spelling(holder):
        frame.emit(Effect.SCALAR_READ, node.at, d.tensor(certainty=0), "item", holder, certainty=0)
        return d.host("int", varies=d.LONGEST, paid=True) if largest_item(holder) else d.PAID
    if name == "cpu" and not arguments and not host_spelling(holder):
        frame.emit(Effect.COPY_TO_HOST, node.at, d.tensor(certainty=0), "cpu", holder, certainty=0)
        return d.tensor(d.HOST, certainty=0)
    if name.startswith("new") and (name in NEW_TENSORS or (name == "new" and are_sizes(arguments))):
        from xlalint.facts.torch_methods import new_factory

        return new_factory(frame, d.tensor(None, certainty=1), name, arguments, keywords, node)
    if name in ("train", "eval") and not keywords and len(arguments) < 2 and text and text not in OPTIMIZER_NAMES:
        switch_mode(frame, name, arguments, node, certainty=1)
        return receiver
    if text in frameworks().names("tokenizer-name") or text.endswith("tokenizer"):
        from xlalint.facts.bucketing import check_padding_call

        check_padding_call(frame, name, arguments, keywords, node)
        return d.UNKNOWN
    if name == "prepare" and "accelerator" in text:
        from xlalint.facts.drivers import call_driver

        return call_driver(frame, d.role("accelerator"), name, arguments, keywords, node)
    from xlalint.facts.unknown import call_unknown

    return call_unknown(frame, arguments, keywords, node)


NEW_TENSORS = frozenset({"new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"})


def are_sizes(arguments: Arguments) -> bool:
    return len(arguments) > 1 and all(type(v) is d.Host and v.type == "int" for v in arguments)


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
