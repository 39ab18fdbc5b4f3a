"""Instances of torch's module classes: what making and calling them does."""

from __future__ import annotations

from xlalint.facts.detectors import fallbacks
from xlalint.facts.detectors.costly_calls import check_call
from xlalint.facts.domain import domain as d
from xlalint.facts.events import Effect
from xlalint.facts.guards.optional_arguments import holds_none
from xlalint.facts.libraries.installed.followed_calls import follow_made
from xlalint.facts.libraries.installed.pretrained import MADE_BY, made_by
from xlalint.facts.operations.placement import made_on_host
from xlalint.facts.state.call import Arguments, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.conditions import parse
from xlalint.knowledge.ops import OpRow
from xlalint.program import ir

CONTAINERS = frozenset({"Sequential", "ModuleList"})
RECURRENT = frozenset({"LSTM", "GRU", "RNN"})
LEARNED_LOSS = "torch.nn.Loss"
"""No class of torch: a loss that is known by its name and use alone."""
PARAMETRIZING = frozenset({"weight_norm", "spectral_norm"})


def make_module(frame: Frame, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call) -> d.Value:
    """``torch.nn.Linear(8, 4)`` and the like."""
    last = name.rpartition(".")[2]
    if last == "Parameter":
        known = d.tensor_of(arguments[0]) if arguments else None
        return d.tensor(dtype="float" if known is None else known.dtype or "float", dims=known.dims if known else None)
    if last == "Sequential":
        return d.module(name, sequential_elements(arguments))
    if last == "ModuleList":
        elements = arguments[0] if arguments else d.sequence("list", ())
        return d.module(name, elements if type(elements) is d.Sequence else d.sequence("list", None, d.UNKNOWN))
    if last == "ModuleDict":
        elements = arguments[0] if arguments else d.mapping()
        return d.module(name, elements if type(elements) is d.Mapping else d.mapping((), d.UNKNOWN))
    if last == "ParameterList" or last == "ParameterDict":
        return d.module(name, d.tensor(dtype="float"))
    if last in PARAMETRIZING and arguments:
        return parametrized(frame, name, arguments[0])
    return d.module(name, None, cost_of_class(frame, name, arguments, keywords))


def parametrized(frame: Frame, name: str, value: d.Value) -> d.Value:
    """``weight_norm(conv)``: each call of it costs."""
    row = fallbacks.row_of_function(frame, name)
    if type(value) is d.Module and name.endswith("weight_norm"):
        fallback = " ".join(f"aten::{f}" for f in row.fallback) if row is not None else ""
        return d.module(value.name, value.elements, f"{name} {fallback or 'aten::_weight_norm_interface'}")
    return value


def sequential_elements(arguments: Arguments) -> d.Value:
    if len(arguments) == 1 and type(arguments[0]) is d.Mapping:
        return d.sequence("tuple", [value for _, value in arguments[0].items])
    if len(arguments) == 1 and type(arguments[0]) is d.Sequence and arguments[0].kind == "list":
        return d.sequence("list", None, arguments[0].element)
    return d.sequence("tuple", arguments)


def cost_of_class(frame: Frame, name: str, arguments: Arguments, keywords: Keywords) -> str | None:
    """What the measured table says of a call of such a module: "forward …", "backward …" or None."""
    row = fallbacks.row_of_function(frame, name)
    if row is None or (row.costs == "never" and row.backward_costs == "never"):
        return None
    bound = fallbacks.bind(row, arguments, keywords)
    if settled(row, row.costs, row.condition) and row.costs_for(bound):
        return f"{row.name} {' '.join(f'aten::{f}' for f in row.fallback)}"
    if settled(row, row.backward_costs, row.backward_condition) and row.backward_costs_for(bound):
        return f"backward {row.name} {' '.join(f'aten::{f}' for f in row.backward_fallback)}"
    return None


def settled(row: OpRow, kind: str, condition: str) -> bool:
    """Whether the constructor's arguments alone decide it."""
    if kind == "always":
        return True
    if kind == "never" or condition in ("", "?"):
        return False
    return all(atom.kind in ("missing", "nondefault", "value") for group in parse(condition) for atom in group)


def call_module(frame: Frame, module: d.Module, arguments: Arguments, keywords: Keywords, node: ir.Call) -> d.Value:
    """What is given a tensor that surely lies on the host lies there itself, for torch mixes no devices."""
    value = module_result(frame, module, arguments, keywords, node)
    known = d.tensor_of(arguments[0]) if arguments else None
    return made_on_host(value) if known is not None and known.device == d.HOST and known.certainty == 2 else value


def module_result(frame: Frame, module: d.Module, arguments: Arguments, keywords: Keywords, node: ir.Call) -> d.Value:
    last = module.name.rpartition(".")[2]
    if last == "?" and is_method(node.function) and all(map(holds_none, (*arguments, *keywords.values()))):
        return d.UNKNOWN
    if module.given is not None:
        frame.sign("layer-call" if last.endswith("Loss") else "model-call", node.at)
        followed = follow_made(frame, module.given, "", arguments, keywords, node)
        return followed if followed is not None else d.role("output", d.tensor(certainty=1))
    given = arguments[0] if arguments else keywords.get("input", d.UNKNOWN)
    known = d.tensor_of(given)
    frame.pending()
    if not last.endswith("Loss"):
        frame.sign(
            "model-call" if module.name == "?" or last in ("Sequential", "DataParallel") else "layer-call", node.at
        )
    note_cost(frame, module, known, node)
    check_call(frame, f"{made_by(module)}.forward", arguments, keywords, node)
    if module.name == "?":
        return d.role("output", d.tensor(certainty=1))
    if last == "Sequential":
        return call_sequential(frame, module, given, node)
    if last == "MultiheadAttention":
        ranked = d.tensor(dtype="float", dims=d.of_rank(known.rank) if known else None)
        return d.sequence("tuple", (ranked, d.tensor(dtype="float")))
    if last in RECURRENT:
        return d.sequence("tuple", (d.tensor(dtype="float", dims=d.of_rank(known.rank) if known else None), d.UNKNOWN))
    if last == "LSTMCell":
        value = d.tensor(dtype="float", dims=d.of_rank(2))
        return d.sequence("tuple", (value, value))
    if last.endswith("Loss"):
        dims = () if "none" not in (module.costs or "") else None
        return d.tensor(dtype="float", dims=dims, certainty=1 if module.name == LEARNED_LOSS else 2)
    if last == "Identity":
        return given
    if last == "Embedding":
        rank = None if known is None or known.rank is None else known.rank + 1
        return d.tensor(dtype="float", dims=d.of_rank(rank))
    if last in ("ModuleList", "ModuleDict", "Module"):
        return d.UNKNOWN if last != "Module" else d.role("output", d.tensor(certainty=1))
    if last in ("DataParallel", "DistributedDataParallel"):
        return call_wrapped(frame, module, arguments, keywords, node)
    rank = known.rank if known is not None and last not in ("Flatten", "Unflatten", "Fold", "Unfold") else None
    return d.tensor(dtype="float", dims=d.of_rank(rank), varies=known.varies if known else None)


def is_method(function: ir.Expr) -> bool:
    """``model.name(…)`` may be a part of the model that is called, or a method; ``self.model(…)`` is a model."""
    return type(function) is ir.Attribute and not (type(function.value) is ir.Name and function.value.name == "self")


def call_wrapped(frame: Frame, module: d.Module, arguments: Arguments, keywords: Keywords, node: ir.Call) -> d.Value:

    if module.elements is not None:
        return frame.call(module.elements, arguments, keywords, node)
    return d.role("output", d.tensor(certainty=1))


def call_sequential(frame: Frame, module: d.Module, given: d.Value, node: ir.Call) -> d.Value:

    elements = module.elements
    if type(elements) is d.Sequence and elements.elements is not None:
        value = given
        for part in elements.elements:
            value = frame.call(part, [value], {}, node)
        return value
    return d.tensor(dtype="float", certainty=1)


def note_cost(frame: Frame, module: d.Module, known: d.Tensor | None, node: ir.Call) -> None:
    if module.costs is None or module.costs.startswith(MADE_BY) or (known is not None and not known.live):
        return
    remark = module.costs
    backward = remark.startswith("backward ")
    if backward and frame.no_grad:
        return
    name, _, detail = remark.removeprefix("backward ").partition(" ")
    value = known or d.tensor(certainty=1)
    frame.emit(Effect.CPU_FALLBACK, node.at, value, name, node.function, detail=detail, backward_only=backward)
