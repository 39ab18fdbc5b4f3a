"""Methods that the program's classes inherit from outside, and those that ``super()`` leads to."""

from __future__ import annotations

from xlalint.facts.domain.declared import promised_result
from xlalint.facts.domain.lattice import join_maybe, sequence
from xlalint.facts.domain.refinement import with_gradient
from xlalint.facts.domain.values import (
    NONE,
    UNKNOWN,
    XLA,
    Class,
    Host,
    Instance,
    Sequence,
    Struct,
    Super,
    Value,
    constant,
    function_value,
    module_value,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries.frameworks.lightning import LOGGING, call_inherited_logging
from xlalint.facts.libraries.frameworks.scalers import inherited_scaler, scaler_method
from xlalint.facts.libraries.module_methods import call_module_method
from xlalint.facts.libraries.python.named_attributes import leading_text
from xlalint.facts.libraries.torch import modules
from xlalint.facts.operations import members
from xlalint.facts.operations.placement import lies_on_host
from xlalint.facts.records import function_key
from xlalint.facts.state.call import Arguments, Call, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import receiver_node


def generates(frame: Frame, cls: ir.ClassIR) -> bool:
    """Whether a class has ``generate`` of transformers."""
    return any(
        base.startswith("transformers.") or base.endswith("GenerationMixin")
        for base in frame.engine.program.external_bases(cls)
    )


REGISTERING = ("register_buffer", "register_parameter", "add_module", "register_module")


REGISTERED = ("name", "tensor", "param", "module")


def call_object_method(frame: Frame, receiver: Instance | Struct, call: Call) -> Value:
    """A method that the program's class inherits from outside."""
    if call.name in REGISTERING:
        given = [*call.arguments, *(value for key, value in call.keywords.items() if key in REGISTERED)]
        if len(given) > 1:
            start = leading_text(call.node.arguments[0]) if call.node.arguments else ""
            numbered = start and not (type(given[0]) is Host and given[0].known)
            register(frame, constant(f"{start}*") if numbered else given[0], given[1], call.name)
        return NONE
    if call.name == "register_modules":
        for key, value in call.keywords.items():
            if key != "**":
                register(frame, constant(key), value, call.name)
        return NONE
    if call.name == "add_state":
        return add_state(frame, call.arguments, call.keywords)
    if call.name == "_gradient_checkpointing_func" and call.arguments:
        return frame.call(call.arguments[0], call.given(call.arguments[1:], {}))
    operands = (*call.arguments, *call.keywords.values())
    if call.name == "generate" and generates(frame, receiver.ir) and not lies_on_host(operands):
        frame.emit(Effect.GENERATE, call.node.at, NONE, "generate", receiver_node(call.node))
    names = frame.engine.class_names(receiver.ir)
    if call.name in LOGGING and call_inherited_logging(frame, names, call):
        return NONE
    found = call_module_method(frame, receiver, call)
    if found is not None:
        return found
    scaler = inherited_scaler(frame.engine.program.external_bases(receiver.ir))
    if scaler is not None:
        return scaler_method(frame, scaler, call) or UNKNOWN
    if call.name in ("manual_backward", "backward"):
        frame.sign(SignKind.BACKWARD, call.node.at)
        frame.sign(SignKind.FRAMEWORK, call.node.at)
        return NONE
    promised = promised_result(names, call.name, call.keywords)
    if promised is not None:
        return promised
    if frameworks().get("iterates", f"*.{call.name}") is not None and call.arguments:
        return call.arguments[0]
    made = frameworks().get("factory", f"*.{call.name}")
    return module_value(made) if made is not None and made.startswith("torch.nn.") else UNKNOWN


def layer_class(frame: Frame, cls: ir.ClassIR) -> str | None:
    """The layer of torch that a class of the program descends from, whose ``forward`` it inherits."""
    bases = frame.engine.program.external_bases(cls)
    return next((base for base in bases if base.startswith("torch.nn.") and base != "torch.nn.Module"), None)


def add_state(frame: Frame, arguments: Arguments, keywords: Keywords) -> Value:
    """A metric's state lives where the metric lives."""
    default = arguments[1] if len(arguments) > 1 else keywords.get("default", UNKNOWN)
    register(frame, arguments[0] if arguments else keywords.get("name", UNKNOWN), state(default), "add_state")
    return NONE


def register(frame: Frame, key: Value, value: Value, name: str) -> None:
    if type(key) is not Host or not isinstance(key.constant, str):
        return
    known = tensor_of(value)
    if known is not None:
        value = known.but(device=XLA, grad=name == "register_parameter" or known.grad)
    frame.writes[key.constant] = join_maybe(frame.writes.get(key.constant), value) or value
    frame.env[f"self.{key.constant}"] = value
    frame.registered.add(key.constant)


def state(default: Value) -> Value:
    """A metric's state: a tensor, or a list of them."""
    if type(default) is Sequence:
        return sequence("list", None, tensor(certainty=1))
    return default


def call_class_method(frame: Frame, receiver: Class, call: Call) -> Value:
    if call.name in ("from_pretrained", "_from_config", "from_config", "from_dict", "load_from_checkpoint"):
        return frame.engine.instance_of(receiver.ir)
    if call.name == "apply" and AUTOGRAD_FUNCTION in frame.engine.class_names(receiver.ir):
        return apply_autograd(frame, receiver.ir, call)
    return UNKNOWN


AUTOGRAD_FUNCTION = "torch.autograd.Function"


def apply_autograd(frame: Frame, cls: ir.ClassIR, call: Call) -> Value:
    """``Function.apply(x)`` is ``forward(ctx, x)``; ``backward`` runs as often, with gradients that the step gives."""
    engine = frame.engine
    forward, backward = engine.program.method(cls, "forward"), engine.program.method(cls, "backward")
    if forward is None:
        return UNKNOWN
    context = () if engine.program.method(cls, "setup_context") is not None else (UNKNOWN,)
    answer = engine.call(frame, function_value(forward), [*context, *call.arguments], call.keywords, call.node.at)
    frame.after_call(answer)
    flows = not frame.no_grad and any(part.grad for value in call.arguments if (part := tensor_of(value)))
    if flows and backward is not None:
        frame.edge(function_key(backward), call.node.at)
    return with_gradient(answer.value) if flows else answer.value


def call_super(frame: Frame, receiver: Super, call: Call) -> Value:
    holder = receiver.receiver
    program = frame.engine.program
    cls = holder.ir if isinstance(holder, (Instance, Struct, Class)) else receiver.ir
    method = program.after(cls, receiver.ir, call.name)
    if method is None and call.name == "__call__" and members.is_module_class(frame, cls):
        method = program.method(cls, "forward")
    if method is None:
        if call.name == "__init__" or not isinstance(holder, (Instance, Struct)):
            return UNKNOWN
        base = next((base for base in program.external_bases(cls) if base.startswith("torch.nn.")), None)
        if call.name == "forward" and base is not None and base != "torch.nn.Module":
            return modules.call_inherited(frame, base, call)
        layer = layer_class(frame, holder.ir) if call.name in ("forward", "__call__") else None
        if layer is not None:
            return modules.call_module(frame, module_value(layer), call)
        return call_object_method(frame, holder, call)
    answer = frame.engine.call(frame, function_value(method, holder), call.arguments, call.keywords, call.node.at)
    for key, value in answer.writes.items():
        frame.env[f"self.{key}"] = value
        frame.writes[key] = join_maybe(frame.writes.get(key), value) or value
    return answer.value
