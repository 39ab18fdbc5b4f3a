"""The binding of parameters: from the arguments of a call, or, without a call in sight, from signature and use."""

from __future__ import annotations

import functools

from xlalint.facts.domain.declared import promised_parameter
from xlalint.facts.domain.known_names import (
    DRIVER_NAMES,
    DRIVER_USES,
    HOST_NAMES,
    HOST_PREFIXES,
    LOSS_NAMES,
    MODEL_USES,
    OPTIMIZER_NAMES,
    SCALER_NAMES,
    TENSOR_NAMES,
    TENSOR_ONLY,
    TENSOR_SUFFIXES,
    is_model_name,
    is_without_gradient,
)
from xlalint.facts.domain.lattice import sequence, union
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    DECLARED,
    KNOWN,
    NONE,
    STR,
    UNKNOWN,
    XLA,
    Bound,
    Class,
    Function,
    Host,
    Instance,
    Sequence,
    Struct,
    Tensor,
    Union,
    Value,
    batch_on,
    class_object,
    host,
    is_guess,
    known_object,
    mapping,
    module_value,
    tensor,
)
from xlalint.facts.libraries.frameworks.scalers import scaler
from xlalint.facts.operations.numpy_uses import given_as_used
from xlalint.facts.operations.placement import lies_on_host, made_on_host
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Evaluator, Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.link import Program
from xlalint.program.traversal import names_in

Binding = tuple[Environment, "Value | None"]
STEP_METHODS = frozenset(
    {"training_step", "validation_step", "test_step", "predict_step", "train_step", "eval_step", "shared_step"}
)
BATCH_NAMES = frozenset({"batch", "data", "samples", "sample", "batch_data", "minibatch"})


def receiver_of(engine: Evaluator, function: ir.FunctionIR) -> Value | None:
    if not function.owner or not function.parameters:
        return None
    cls = engine.program.owner(function)
    if cls is None:
        return None
    decorators = {x.name for x in function.decorators if isinstance(x, (ir.Name, ir.Attribute))}
    if "staticmethod" in decorators:
        return None
    return class_object(cls) if "classmethod" in decorators else engine.instance_of(cls)


# By signature


def bind_signature(
    engine: Evaluator, function: ir.FunctionIR, closure: Function | None, of: ir.ClassIR | None = None
) -> Binding:
    """The environment of a function that is evaluated for its own sake; ``of`` is the class of its receiver where it
    is not the method's own."""
    environment = Environment(closure.captured if closure is not None else ())
    receiver = receiver_of(engine, function) if of is None else engine.instance_of(of)
    on_host = takes_image_of_host(function) or runs_traced(engine, function)
    for position, parameter in enumerate(function.parameters):
        if position == 0 and receiver is not None:
            environment[parameter.name] = receiver
        elif parameter.kind == "args":
            environment[parameter.name] = sequence("tuple", None, UNKNOWN)
        elif parameter.kind == "kwargs":
            environment[parameter.name] = mapping((), UNKNOWN)
        else:
            value = given_as_used(function, parameter.name, by_signature(engine, function, parameter))
            environment[parameter.name] = made_on_host(value) if on_host else value
    return environment, receiver


def runs_traced(engine: Evaluator, function: ir.FunctionIR) -> bool:
    """A method of a class that runs models which were traced for Neuron: these are given tensors of the host, and give
    such. What is traced itself is another class."""
    cls = engine.program.owner(function) if function.owner else None
    bases = () if cls is None else engine.program.mro(cls)
    return any(isinstance(base, ir.ClassIR) and traces_models(base, engine.program) for base in bases)


@functools.lru_cache(maxsize=8192)
def traces_models(cls: ir.ClassIR, program: Program) -> bool:
    module = program.module(cls.module)
    imported = {} if module is None else module.imports
    rows = frameworks().names("traces-model")
    tracing = {name for name, dotted in imported.items() if dotted in rows or f"{dotted}.trace" in rows}
    if not tracing:
        return False
    called = frozenset().union(*(method.called for method in cls.methods.values()))
    return any(name in called or (f"{imported[name]}.trace" in rows and "trace" in called) for name in tracing)


@functools.cache
def takes_image_of_host(function: ir.FunctionIR) -> bool:
    """``image: PIL.Image.Image``: what else it is given lies on the host, too."""
    return any("PIL" in names_in(p.annotation) for p in function.parameters if type(p.annotation) is ir.Attribute)


def by_signature(engine: Evaluator, function: ir.FunctionIR, parameter: ir.Parameter) -> Value:
    """What is known of a parameter that no call tells of. Masks, ids and labels have no gradients."""
    value = engine.promised.get(parameter)
    if value is None:
        value = told_of(engine, function, parameter)
        if type(value) is Tensor and is_without_gradient(parameter.name):
            value = value.but(grad=False)
        engine.promised[parameter] = value
    return value


def told_of(engine: Evaluator, function: ir.FunctionIR, parameter: ir.Parameter) -> Value:
    """What annotation, default, framework, name and use tell of a parameter, the surest first."""
    if engine.computes_elsewhere(function.module):
        return engine.annotated(parameter.annotation, function.module) or UNKNOWN
    given = by_framework(engine, function, parameter)
    if given is not None:
        return given
    if parameter.annotation is not None:
        return by_annotation(engine, function, parameter)
    if parameter.name in HOST_NAMES and "step" not in function.uses.get(parameter.name, ()):
        return ANY_HOST
    learned = by_use(engine, function, parameter)
    default = parameter.default
    if default is not None and not (isinstance(default, ir.Constant) and default.value is None):
        value = engine.default(default, function)
        if type(value) is Host:
            return host(value.type) if value is not NONE else UNKNOWN
        return UNKNOWN if type(value) is Tensor else value
    if learned is not None:
        return union((learned, NONE)) if default is not None and type(learned) is Tensor else learned
    if parameter.name.startswith(HOST_PREFIXES):
        return ANY_HOST
    return by_name(engine, function, parameter)


def by_annotation(engine: Evaluator, function: ir.FunctionIR, parameter: ir.Parameter) -> Value:
    value = engine.annotated(parameter.annotation, function.module)
    if value is None:
        return by_use(engine, function, parameter) or UNKNOWN
    if type(value) is Tensor:
        if value.dtype is None and (parameter.name.endswith("_ids") or parameter.name == "labels"):
            value = value.but(dtype="int")
        if is_model_input(parameter.name):
            value = value.but(grad=False)
        if is_forward(function):
            # A model runs where its parameters lie.
            value = value.but(certainty=max(value.certainty, KNOWN))
        default = parameter.default
        if isinstance(default, ir.Constant) and default.value is None:
            value = value.but(optional=True)
    return value


def is_model_input(name: str) -> bool:
    """Inputs of a model, as their names tell: no gradient flows into them."""
    return is_without_gradient(name) or name in ("pixel_values", "input_features", "images")


def by_framework(engine: Evaluator, function: ir.FunctionIR, parameter: ir.Parameter) -> Value | None:
    """Frameworks that hand on what their annotations do not say (``SchedulerMixin.step(timestep)``)."""
    cls = engine.program.owner(function) if function.owner else None
    names = engine.class_names(cls) if cls is not None else ()
    promised = promised_parameter(names, function.name, parameter.name, position_of(function, parameter))
    if promised is not None:
        annotated = engine.annotated(parameter.annotation, function.module)
        if cls is not None and type(annotated) is Host and is_part_of(cls, function):
            # Whoever calls it from outside may not heed the annotation; the class itself does, or it is seen.
            return annotated
        return confirmed(promised, annotated)
    if parameter.name in BATCH_NAMES:
        subscripted = "[]" in function.uses.get(parameter.name, ())
        framework = function.name in STEP_METHODS and not (cls is not None and runs_itself(engine, cls, function.name))
        if framework or (subscripted and function.name in ("forward", "compute_loss")):
            return batch_on(XLA)
    return None


def runs_itself(engine: Evaluator, cls: ir.ClassIR, name: str) -> bool:
    """Whether the program's own base classes call a method of this name: then no framework hands it a batch."""
    bases = (base for base in engine.program.mro(cls) if isinstance(base, ir.ClassIR))
    return any(name in method.called for base in bases for method in base.methods.values() if method.name != name)


def is_part_of(cls: ir.ClassIR, function: ir.FunctionIR) -> bool:
    """Whether another method of the class calls it."""
    return any(function.name in method.called for method in cls.methods.values() if method is not function)


def position_of(function: ir.FunctionIR, parameter: ir.Parameter) -> int:
    """Where a parameter stands after ``self``; in a class method of an autograd function, after the context."""
    position = function.parameters.index(parameter)
    return position - (len(function.parameters) > 1 and function.parameters[1].name == CONTEXT)


CONTEXT = "ctx"
"""What an autograd function keeps its tensors in, and any attributes."""


def holds_text(value: Value) -> bool:
    """A text, or several, and nothing else."""
    if type(value) is Union:
        return all(map(holds_text, value.alternatives))
    if type(value) is Sequence:
        return all(map(holds_text, value.elements or (value.element,)))
    return type(value) is Host and value.type == "str"


def confirmed(promised: Value, annotated: Value | None) -> Value:
    """A promise beside an annotation: where both tell of a tensor, it is sure, and the promise knows more. What is
    annotated as text is none of the tensors that a framework hands on for the most part."""
    if annotated is not None and holds_text(annotated):
        return annotated
    if type(promised) is not Tensor or type(annotated) is not Tensor:
        return promised
    return annotated.but(certainty=KNOWN, dtype=promised.dtype or annotated.dtype, dims=promised.dims or annotated.dims)


def by_use(engine: Evaluator, function: ir.FunctionIR, parameter: ir.Parameter) -> Value | None:
    """The part that a parameter plays, by what is done to it."""
    uses = function.uses.get(parameter.name, frozenset())
    name = parameter.name
    if ("zero_grad" in uses and "step" in uses) or (
        (name in OPTIMIZER_NAMES or name.endswith("optimizer")) and "step" in uses
    ):
        return known_object(Role.OPTIMIZER)
    if "step" in uses and "sched" in name:
        return known_object(Role.SCHEDULER)
    if {"scale", "update", "step"} <= uses or ("()" in uses and name in SCALER_NAMES):
        return scaler()
    if "backward" in uses and (name in DRIVER_NAMES or not uses.isdisjoint(DRIVER_USES)):
        return known_object(Role.ACCELERATOR)
    if not uses.isdisjoint(MODEL_USES):
        return module_value("?")
    if "backward" in uses:
        return tensor(dtype="float", certainty=1)
    samples = "dataset" in uses or ("for" in uses and not uses.isdisjoint(("batch_sampler", "sampler")))
    if samples or is_loader_name(engine, name):
        return known_object(Role.LOADER, batch_on(None))
    if "()" in uses and is_model_name(name):
        return module_value("?")
    if "()" in uses and (name in LOSS_NAMES or name.endswith(("criterion", "_loss", "loss_fn"))):
        return module_value("torch.nn.Loss")
    return None


def is_loader_name(engine: Evaluator, name: str) -> bool:
    return (
        name in frameworks().names("loader-name")
        or name in engine.assumptions.loaders
        or name.endswith(("_loader", "dataloader", "data_loader"))
    )


def is_forward(function: ir.FunctionIR) -> bool:
    return function.name == "forward" and bool(function.owner)


def by_name(engine: Evaluator, function: ir.FunctionIR, parameter: ir.Parameter) -> Value:
    name = parameter.name
    optional = parameter.default is not None
    named = (name in TENSOR_NAMES or name.endswith(TENSOR_SUFFIXES)) and not is_lone_letter(function, name)
    used = name != CONTEXT and not TENSOR_ONLY.isdisjoint(function.uses.get(name, ()))
    if is_forward(function) and (named or used):
        dtype = "int" if name.endswith("_ids") or name == "labels" else None
        return tensor(dtype=dtype, grad=not is_model_input(name), certainty=1, optional=optional)
    if used and not is_called_anywhere(engine, function):
        return tensor(certainty=1, optional=optional)
    return UNKNOWN


def is_lone_letter(function: ir.FunctionIR, name: str) -> bool:
    """``k`` is a key beside ``q`` or ``v``, and otherwise as often how many."""
    return name in ATTENTION and len(ATTENTION & {parameter.name for parameter in function.parameters}) == 1


ATTENTION = frozenset("qkv")


def used_as_tensor(engine: Evaluator, function: ir.FunctionIR, parameter: ir.Parameter) -> Value:
    """What the caller does not know, the function's own use of it tells; not whether it may be None, nor whether
    gradients flow into it."""
    plain = parameter.annotation is None and parameter.name != CONTEXT
    if not plain or TENSOR_ONLY.isdisjoint(function.uses.get(parameter.name, ())):
        return UNKNOWN
    if engine.computes_elsewhere(function.module):
        return UNKNOWN
    return tensor(grad=False, certainty=1, optional=True)


def is_called_anywhere(engine: Evaluator, function: ir.FunctionIR) -> bool:
    """Whether some linted file calls something of this name: then its arguments are known from there."""
    return engine.program.is_called(function)


# By call


def bind_call(
    engine: Evaluator,
    frame: Frame,
    callee: Function,
    arguments: list[Value],
    keywords: dict[str, Value],
) -> Binding:
    """The environment of a call. What stays unknown is taken from the signature."""
    function = callee.ir
    rest = [*callee.bound, *arguments]
    given = {**dict(callee.bound_keywords), **keywords} if callee.bound_keywords else keywords
    environment = Environment()
    receiver = callee.receiver
    beside_host = lies_on_host((*rest, *given.values()))
    if receiver is not None:
        rest.insert(0, receiver)
    elif function.owner and receiver_of(engine, function) is not None and (not rest or not is_receiver(rest[0])):
        receiver = receiver_of(engine, function)
        assert receiver is not None
        rest.insert(0, receiver)
    for parameter in function.parameters:
        if parameter.kind == "args":
            environment[parameter.name] = sequence("tuple", rest)
            rest = []
        elif parameter.kind == "kwargs":
            names = {p.name for p in function.parameters}
            extra = tuple(sorted((k, v) for k, v in given.items() if k not in names and k != "**"))
            environment[parameter.name] = mapping(extra, given.get("**", UNKNOWN if not extra else None))
        else:
            value = rest.pop(0) if rest and parameter.kind == "positional" else given.get(parameter.name)
            bound = bound_value(engine, function, parameter, value, "**" in given)
            bound = made_on_host(bound) if beside_host and bound is not value else bound
            environment[parameter.name] = given_as_used(function, parameter.name, bound)
    if function.owner and function.parameters:
        receiver = environment[function.parameters[0].name]
    environment.update(callee.captured)
    return environment, receiver


def is_receiver(value: Value) -> bool:
    return type(value) in (Instance, Struct, Class)


def bound_value(
    engine: Evaluator,
    function: ir.FunctionIR,
    parameter: ir.Parameter,
    value: Value | None,
    spread: bool,
) -> Value:
    if value is None:
        if spread:
            return by_signature(engine, function, parameter)
        return engine.default(parameter.default, function) if parameter.default is not None else UNKNOWN
    if value is UNKNOWN or type(value) is Bound:
        learned = by_signature(engine, function, parameter)
        return used_as_tensor(engine, function, parameter) if learned is UNKNOWN else learned
    if is_guess(value):
        learned = by_signature(engine, function, parameter)
        return value if learned is UNKNOWN else learned
    if type(value) is Tensor and value.certainty < DECLARED and parameter.annotation is not None:
        learned = by_signature(engine, function, parameter)
        # What is only likely a tensor may be of the program's own class that the signature names.
        return learned if type(learned) in (Instance, Struct) else value
    if type(value) is Host and value.type == "str" and value.known and len(value.constant) > 40:
        return STR
    if type(value) is Tensor and value.dims is None and "H" in function.uses.get(parameter.name, ()):
        # Only matrices have a Hermitian transpose.
        return value.but(dims=(None, None))
    return value
