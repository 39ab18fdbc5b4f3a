"""Instances of torch's module classes: their construction and their calls."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.facts.detectors import fallbacks
from xlalint.facts.detectors.costly_calls import check_call
from xlalint.facts.domain.lattice import PERHAPS, sequence
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    DECLARED,
    FALSE,
    HOST,
    UNKNOWN,
    Host,
    Mapping,
    Module,
    Sequence,
    Tensor,
    Value,
    known_object,
    mapping,
    module_value,
    of_rank,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.guards.optional_arguments import holds_none
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries.installed.followed_calls import follow_made
from xlalint.facts.libraries.installed.pretrained import MADE_BY, made_by
from xlalint.facts.operations.placement import made_on_host
from xlalint.facts.records import RawRoot
from xlalint.facts.state.call import Arguments, Call, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.conditions import UNSETTLED, Argument, parse
from xlalint.program import ir
from xlalint.program.traversal import called_name, walk

CONTAINERS = frozenset({"Sequential", "ModuleList"})
RECURRENT = frozenset({"LSTM", "GRU", "RNN"})
PLAIN = frozenset(
    {
        "AdaptiveAvgPool", "AdaptiveMaxPool", "AlphaDropout", "AvgPool", "CELU", "ChannelShuffle", "CircularPad",
        "ConstantPad", "Dropout", "ELU", "FeatureAlphaDropout", "Flatten", "Fold", "FractionalMaxPool", "GELU", "GLU",
        "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Identity", "LPPool", "LeakyReLU", "LocalResponseNorm",
        "LogSigmoid", "LogSoftmax", "MaxPool", "MaxUnpool", "Mish", "PixelShuffle", "PixelUnshuffle", "RReLU", "ReLU",
        "ReLU6", "ReflectionPad", "ReplicationPad", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmin", "Softplus",
        "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold", "Unflatten", "Unfold", "Upsample",
        "UpsamplingBilinear", "UpsamplingNearest", "ZeroPad",
    }
)  # fmt: skip
"""Modules without parameters of their own, whatever many dimensions they are for."""
COMPARING = frozenset(
    {
        "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CosineSimilarity", "CrossEntropyLoss",
        "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss",
        "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "PairwiseDistance",
        "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
    }
)  # fmt: skip
"""Losses and distances: the weights that some are given are the only tensors that they hold."""
LEARNED_LOSS = "torch.nn.Loss"
"""No class of torch: a loss that is known by its name and use alone."""
PARAMETRIZING = frozenset({"weight_norm", "spectral_norm"})


def make_module(frame: Frame, call: Call) -> Value:
    """``torch.nn.Linear(8, 4)`` and the like."""
    last = call.name.rpartition(".")[2]
    if last == "Parameter":
        known = tensor_of(call.arguments[0]) if call.arguments else None
        return tensor(
            dtype="float" if known is None else known.dtype or "float",
            dims=known.dims if known else None,
            grad=call.keywords.get("requires_grad") is not FALSE,
        )
    if last == "Sequential":
        return module_value(call.name, sequential_elements(call.arguments))
    if last == "ModuleList":
        elements = call.arguments[0] if call.arguments else sequence("list", ())
        return module_value(call.name, elements if type(elements) is Sequence else sequence("list", None, UNKNOWN))
    if last == "ModuleDict":
        elements = call.arguments[0] if call.arguments else mapping()
        return module_value(call.name, elements if type(elements) is Mapping else mapping((), UNKNOWN))
    if last == "ParameterList" or last == "ParameterDict":
        return module_value(call.name, tensor(dtype="float"))
    if last in PARAMETRIZING and call.arguments:
        return parametrized(frame, call)
    return module_value(
        call.name, held_weights(last, call), cost_of_class(frame, call.name, call.arguments, call.keywords)
    )


def held_weights(last: str, call: Call) -> Value | None:
    """What a loss is given beside numbers and options: ``CrossEntropyLoss(weight)``."""
    if last not in COMPARING:
        return None
    given = (*call.arguments, *call.keywords.values())
    return next((value for value in given if type(value) is not Host), None)


def holds_no_tensors(module: Module) -> bool:
    """Whether to move a module moves nothing: ``torch.nn.CrossEntropyLoss().cuda()`` raises without a GPU no more than
    with one."""
    return is_tensorless(module.name) and (module.name.rpartition(".")[2] not in COMPARING or module.elements is None)


def is_tensorless(name: str) -> bool:
    """Whether a class of torch, by its dotted name, holds no tensor but those that it is given."""
    last = name.rpartition(".")[2]
    return name.startswith("torch.nn.") and (last in COMPARING or last.rstrip("123d") in PLAIN)


def parametrized(frame: Frame, call: Call) -> Value:
    """``weight_norm(conv)``: each call of it costs."""
    name, value = call.name, call.arguments[0]
    row = fallbacks.row_of_function(frame, name)
    if type(value) is Module and name.endswith("weight_norm"):
        fallback = " ".join(f"aten::{f}" for f in row.fallback) if row is not None else ""
        remark = f"{name} {fallback or 'aten::_weight_norm_interface'}"
        return module_value(
            value.name, value.elements, f"{remark}{PUT_ON}{frame.path}{PUT_ON}{first_like(frame, call.node)}"
        )
    return value


PUT_ON = "\t"
"""Before the file and the place where a module was given its cost."""


def first_like(frame: Frame, node: ir.Call) -> int:
    """Where a function first calls what it puts on: all its calls of that are one decision."""
    calls = (part for part in walk(frame.function.body) if type(part) is ir.Call)
    return min((call.at for call in calls if called_name(call) == called_name(node)), default=node.at)


def sequential_elements(arguments: Arguments) -> Value:
    if len(arguments) == 1 and type(arguments[0]) is Mapping:
        return sequence("tuple", [value for _, value in arguments[0].items])
    if len(arguments) == 1 and type(arguments[0]) is Sequence and arguments[0].kind == "list":
        return sequence("list", None, arguments[0].element)
    return sequence("tuple", arguments)


def cost_of_class(frame: Frame, name: str, arguments: Arguments, keywords: Keywords) -> str | None:
    """What the measured table says of a call of such a module: "forward …", "backward …" or None."""
    row = fallbacks.row_of_function(frame, name)
    if row is None or (row.costs == "never" and row.backward_costs == "never"):
        return None
    bound = fallbacks.bind(row, arguments, keywords)
    if is_settled(row.costs, row.condition, bound, row.costs_for):
        return f"{row.name} {fallbacks.fallback_names(row, row.fallback, arguments, keywords)}"
    if is_settled(row.backward_costs, row.backward_condition, bound, row.backward_costs_for):
        names = fallbacks.fallback_names(row, row.backward_fallback, arguments, keywords)
        return f"backward {row.name} {names}"
    return None


def is_settled(
    kind: str, condition: str, bound: dict[str, Argument], costs: Callable[[dict[str, Argument]], bool | None]
) -> bool:
    """Whether the constructor's arguments alone say that each call costs; of those of the call nothing is known."""
    if kind != "sometimes" or condition in ("", UNSETTLED):
        return kind == "always"
    of_call = {
        atom.argument: Argument()
        for group in parse(condition)
        for atom in group
        if atom.argument.startswith("call.") and atom.argument not in bound
    }
    return costs({**bound, **of_call}) is True


def call_module(frame: Frame, module: Module, call: Call) -> Value:
    """What is given a tensor that surely lies on the host lies there itself, for torch mixes no devices."""
    value = module_result(frame, module, call)
    known = tensor_of(call.arguments[0]) if call.arguments else None
    return made_on_host(value) if known is not None and known.device == HOST and known.certainty >= DECLARED else value


def call_inherited(frame: Frame, base: str, call: Call) -> Value:
    """``super().forward(x)`` in a class that inherits from a layer: how that was made is not known."""
    unknown: Keywords = {}
    row = fallbacks.row_of_function(frame, base)
    if row is not None:
        unknown = {name: UNKNOWN for name in row.parameter_names if name != "*"}
    return call_module(frame, module_value(base, None, cost_of_class(frame, base, [], unknown)), call)


def module_result(frame: Frame, module: Module, call: Call) -> Value:
    last = module.name.rpartition(".")[2]
    if (
        last == "?"
        and is_method(call.node.function)
        and all(map(holds_none, (*call.arguments, *call.keywords.values())))
    ):
        return UNKNOWN
    if module.given is not None:
        frame.sign(SignKind.LAYER_CALL if last.endswith("Loss") else SignKind.MODEL_CALL, call.node.at)
        followed = follow_made(frame, module.given, call.named(""))
        return followed if followed is not None else known_object(Role.OUTPUT, tensor(certainty=1))
    given = call.arguments[0] if call.arguments else call.keywords.get("input", UNKNOWN)
    if given is UNKNOWN:
        given = learn_operand(frame, last, call.node)
    known = tensor_of(given)
    frame.pending()
    if not last.endswith("Loss"):
        frame.sign(
            SignKind.MODEL_CALL
            if module.name == "?" or last in ("Sequential", "DataParallel")
            else SignKind.LAYER_CALL,
            call.node.at,
        )
    note_cost(frame, module, known, call.node)
    check_call(frame, call.named(f"{made_by(module)}.forward"))
    if module.name == "?":
        return known_object(Role.OUTPUT, tensor(certainty=1))
    if last == "Sequential":
        return call_sequential(frame, module, given, call.node)
    if last == "MultiheadAttention":
        ranked = tensor(dtype="float", dims=of_rank(known.rank) if known else None)
        return sequence("tuple", (ranked, tensor(dtype="float")))
    if last in RECURRENT:
        given_rank = of_rank(known.rank) if known else None
        return sequence("tuple", (tensor(dtype="float", dims=given_rank), hidden_state(last, given_rank)))
    if last == "LSTMCell":
        return hidden_state(last, of_rank(2))
    if last.endswith("Loss"):
        dims = () if "none" not in (module.costs or "") else None
        return tensor(dtype="float", dims=dims, certainty=1 if module.name == LEARNED_LOSS else 2)
    if last == "Identity":
        return given
    if last == "Embedding":
        rank = None if known is None or known.rank is None else known.rank + 1
        return tensor(dtype="float", dims=of_rank(rank))
    if last in ("ModuleList", "ModuleDict", "Module"):
        return UNKNOWN if last != "Module" else known_object(Role.OUTPUT, tensor(certainty=1))
    if last in ("DataParallel", "DistributedDataParallel"):
        return call_wrapped(frame, module, call)
    rank = known.rank if known is not None and last not in ("Flatten", "Unflatten", "Fold", "Unfold") else None
    return tensor(dtype="float", dims=of_rank(rank), grad=flows(module, known), varies=known.varies if known else None)


def hidden_state(last: str, dims: tuple[int | None, ...] | None) -> Value:
    """What a recurrent layer hands to its next call: of an LSTM, a cell beside it."""
    value = tensor(dtype="float", dims=dims)
    return sequence("tuple", (value, value)) if last.startswith("LSTM") else value


def flows(module: Module, given: Tensor | None) -> bool:
    """Whether gradients flow through what a module gives: to its own parameters, or to what it is given."""
    last = module.name.rpartition(".")[2]
    return given is None or given.grad or last.rstrip("123d") not in PLAIN


def learn_operand(frame: Frame, last: str, node: ir.Call) -> Value:
    """What a layer is given is a tensor: a parameter of ``forward`` of which nothing else is known."""
    operand = node.arguments[0] if node.arguments else None
    if last not in ONLY_TENSORS or frame.function.name != "forward" or type(operand) is not ir.Name:
        return UNKNOWN
    if all(parameter.name != operand.name for parameter in frame.function.parameters):
        return UNKNOWN
    is_index = last == "Embedding"
    learned = tensor(dtype="int" if is_index else None, grad=not is_index, certainty=1)
    frame.env[operand.name] = learned
    return learned


ONLY_TENSORS = frozenset({"Embedding", "Linear", "Conv1d", "Conv2d", "Conv3d", "LayerNorm"})


def is_method(function: ir.Expr) -> bool:
    """``model.name(…)`` may be a part of the model that is called, or a method; ``self.model(…)`` is a model."""
    return type(function) is ir.Attribute and not (type(function.value) is ir.Name and function.value.name == "self")


def call_wrapped(frame: Frame, module: Module, call: Call) -> Value:

    if module.elements is not None:
        return frame.call(module.elements, call)
    return known_object(Role.OUTPUT, tensor(certainty=1))


def call_sequential(frame: Frame, module: Module, given: Value, node: ir.Call) -> Value:

    elements = module.elements
    if type(elements) is Sequence and elements.elements is not None:
        value = given
        for part in elements.elements:
            value = frame.call(part, Call("", [value], {}, node))
        return value
    return tensor(dtype="float", certainty=1)


def may_be_taken_off(frame: Frame, name: str) -> bool:
    """``weight_norm`` in a class that has a ``remove_weight_norm``, which who only computes with it calls first."""
    owner = frame.engine.program.owner(frame.function)
    return owner is not None and frame.engine.program.method(owner, f"remove_{name.rpartition('.')[2]}") is not None


def note_cost(frame: Frame, module: Module, known: Tensor | None, node: ir.Call) -> None:
    if module.costs is None or MADE_BY in module.costs or (known is not None and not known.live):
        return
    costs = module.costs.removeprefix(PERHAPS)
    remark, _, put_on = costs.partition(PUT_ON)
    backward = remark.startswith("backward ")
    if backward and (fallbacks.is_without_gradients(frame) or not flows(module, known)):
        return
    name, _, detail = remark.removeprefix("backward ").partition(" ")
    path, _, at = put_on.partition(PUT_ON)
    frame.emit(
        Effect.CPU_FALLBACK,
        node.at,
        known or tensor(certainty=1),
        name,
        node.function,
        certainty=2 if costs == module.costs and not may_be_taken_off(frame, name) else 1,
        detail=detail,
        backward_only=backward,
        root=RawRoot(at=int(at), path=path) if put_on else None,
    )
