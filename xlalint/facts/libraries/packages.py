"""Calls of Python's standard library and of other packages that are known by their first name: ``math``, ``numpy``,
``tqdm``."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.facts.detectors.environment import check_set
from xlalint.facts.detectors.joined_rows import check_joined
from xlalint.facts.detectors.padding import check_filled_array
from xlalint.facts.detectors.text_reads import logged
from xlalint.facts.domain.known_names import LEVELS
from xlalint.facts.domain.lattice import join_all, sequence
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.row_lengths import longest_of
from xlalint.facts.domain.values import (
    ANY_HOST,
    BOOL,
    FLOAT,
    INT,
    KNOWN,
    NONE,
    NUMPY,
    UNKNOWN,
    XLA,
    Class,
    Function,
    Host,
    KnownObject,
    Namespace,
    Partial,
    Sequence,
    Tensor,
    Value,
    function_value,
    host,
    known_object,
    mapping,
    namespace,
    partial_of,
    surely_tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.libraries.frameworks.metrics import make_metric
from xlalint.facts.libraries.python.draws import drawn
from xlalint.facts.libraries.python.files import array_like
from xlalint.facts.operations import members
from xlalint.facts.operations.placement import is_as_given
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import called_name, names_in, walk


def call_math(frame: Frame, call: Call) -> Value:
    for value, argument in zip(map(as_operand, call.arguments), call.node.arguments, strict=False):
        known = tensor_of(value)
        if known is not None and known.live and surely_tensor(value):
            frame.emit(Effect.SCALAR_READ, call.node.at, value, "math", argument)
            break
    varies = next((v.varies for v in call.arguments if type(v) is Host and v.varies), None)
    kind = "int" if call.name in ("math.ceil", "math.floor", "math.gcd", "math.isqrt", "math.prod") else "float"
    return BOOL if call.name.startswith("math.is") and call.name != "math.isqrt" else host(kind, varies=varies)


def call_numpy(frame: Frame, call: Call) -> Value:
    for value, argument in zip(call.arguments, call.node.arguments, strict=False):
        known = tensor_of(value)
        if known is None and type(value) is Sequence and value.elements != ():
            known = tensor_of(value.element)
        sure = known is not None and known.device == XLA and known.certainty == KNOWN
        # It raises on every accelerator, so what may lie on the host surely does.
        sure = sure and not is_as_given(frame, argument)
        held = value.element if type(value) is Sequence else value
        if known is not None and sure and surely_tensor(held):
            frame.emit(Effect.NUMPY_OF_DEVICE, call.node.at, known, call.name, argument)
            break
    if call.name.startswith("numpy.random."):
        return call_generator(frame, call) or NUMPY
    if call.arguments and all(type(value) is Host and value.type in NUMBERS for value in call.arguments):
        return of_numbers(call)
    last = call.name.rpartition(".")[2]
    if last in ("max", "amax") and call.arguments:
        return longest_of(call.arguments[0], call.node.arguments[0] if call.node.arguments else None) or NUMPY
    check_filled_array(frame, call)
    check_joined(frame, call)
    return array_like(call, call.arguments)


NUMBERS = frozenset({"int", "float"})


def of_numbers(call: Call) -> Value:
    """``numpy.clip(x, 0, width)``: an array of no dimensions, which is a number to all who take one."""
    given = [value for value in call.arguments if type(value) is Host]
    varies = next((value.varies for value in given if value.varies is not None), None)
    if varies is None:
        return NUMPY
    whole = call.last.startswith("int") or (call.last in SAME and all(value.type == "int" for value in given))
    return host("int" if whole else "float", varies=varies)


SAME = frozenset({"clip", "minimum", "maximum", "abs", "absolute"})


def call_statistics(frame: Frame, call: Call) -> Value:
    call_numpy(frame, call)
    return FLOAT


def call_generator(frame: Frame, call: Call) -> Value | None:
    """``numpy.random.default_rng()``: what it is asked is known by the functions of the same names."""
    made = frameworks().get("generator", call.name)
    return drawn(frame, call) if made is None else namespace(made)


def call_random(frame: Frame, call: Call) -> Value:
    found = call_generator(frame, call)
    if found is not None:
        return found
    if call.name in ("random.sample", "random.choices") and call.arguments:
        return sequence("list", None, members.element_of(frame, call.arguments[0]))
    return UNKNOWN


def call_copy(frame: Frame, call: Call) -> Value:
    return call.arguments[0] if call.arguments else UNKNOWN


def call_functools(frame: Frame, call: Call) -> Value:
    if call.name == "functools.partial" and call.arguments:
        target = call.arguments[0]
        if type(target) is Function:
            return function_value(
                target.ir,
                target.receiver,
                target.captured,
                (*target.bound, *call.arguments[1:]),
                (*target.bound_keywords, *((k, v) for k, v in call.keywords.items() if k != "**")),
            )
        return bound_beforehand(target, call)
    is_fold = call.name == "functools.reduce" and len(call.arguments) > 1
    return call.arguments[0] if call.arguments and not is_fold else UNKNOWN


def bound_beforehand(target: Value, call: Call) -> Value:
    """``partial(torch.compile, dynamic=True)``, also of what is a ``partial`` already."""
    given, keywords = tuple(call.arguments[1:]), call.keywords
    if type(target) is Partial:
        given, keywords = (*target.bound, *given), {**dict(target.bound_keywords), **keywords}
        target = target.target
    if type(target) is not Namespace or not (given or keywords):
        return target
    return partial_of(target, given, tuple(keywords.items()))


def call_logging(frame: Frame, call: Call) -> Value:
    last = call.name.rpartition(".")[2]
    if last in LEVELS:
        logged(frame, call)
        return NONE
    return known_object(Role.LOGGER) if last in ("getLogger", "get_logger") else UNKNOWN


def call_collections(frame: Frame, call: Call) -> Value:
    if call.name == "collections.OrderedDict" and call.arguments and type(call.arguments[0]) is Sequence:
        pairs = call.arguments[0].elements or ()
        items = [
            (p.elements[0].constant, p.elements[1])
            for p in pairs
            if type(p) is Sequence and p.elements and len(p.elements) == 2 and type(p.elements[0]) is Host
        ]
        return mapping(tuple(items), None if len(items) == len(pairs) and pairs else UNKNOWN)
    if call.name == "collections.deque":
        return sequence("list", None, members.element_of(frame, call.arguments[0]) if call.arguments else UNKNOWN)
    if call.name == "collections.defaultdict" and call.arguments and type(call.arguments[0]) is Class:
        return mapping((), frame.engine.instance_of(call.arguments[0].ir))
    if call.name == "collections.defaultdict" and call.arguments and type(call.arguments[0]) is Namespace:
        return mapping((), MADE_BY.get(call.arguments[0].name, UNKNOWN))
    return mapping((), UNKNOWN)


MADE_BY = {
    "builtins.list": sequence("list", ()),
    "builtins.dict": mapping(),
    "builtins.int": INT,
    "builtins.float": FLOAT,
}
"""What an entry of a ``defaultdict`` begins with."""


def call_itertools(frame: Frame, call: Call) -> Value:
    if call.name in ("itertools.islice", "itertools.cycle", "itertools.tee") and call.arguments:
        return call.arguments[0]
    if call.name == "itertools.count":
        return host("range")
    if call.name == "itertools.chain" and any(
        type(v) is KnownObject and v.role == Role.PARAMETERS for v in call.arguments
    ):
        return next(v for v in call.arguments if type(v) is KnownObject)
    return sequence("list", None, join_all([members.element_of(frame, v) for v in call.arguments]))


def call_typing(frame: Frame, call: Call) -> Value:
    if call.name == "typing.cast" and len(call.arguments) > 1:
        return cast_to(frame.engine.annotated(call.node.arguments[0], frame.path), call.arguments[1])
    return UNKNOWN


def cast_to(promised: Value | None, value: Value) -> Value:
    """What a cast promises; of what is a tensor anyway, more is known than that it is one."""
    if promised is None:
        return value
    known = tensor_of(value)
    if known is None or known.certainty == 0 or type(promised) is not Tensor:
        return promised
    return known.but(optional=promised.optional)


def call_einops(frame: Frame, call: Call) -> Value:
    known = tensor_of(call.arguments[0]) if call.arguments else None
    return known.but(dims=None, optional=False) if known is not None else UNKNOWN


def call_debugger(frame: Frame, call: Call) -> Value:
    if call.name.endswith(("set_trace", "breakpoint", "post_mortem")) and not handles_signal(frame):
        frame.emit(Effect.BREAKPOINT, call.node.at, NONE, call.name, None)
    return NONE


def handles_signal(frame: Frame) -> bool:
    """Whether the function is handed to ``signal.signal``: who sends the signal asks for the debugger."""
    module = frame.engine.program.module(frame.path)
    handed = (part for one in (module.everything if module is not None else ()) for part in walk(one.body))
    return any(
        type(part) is ir.Call and called_name(part) == "signal" and frame.function.name in names_in(part.arguments[1:])
        for part in handed
    )


def call_progress(frame: Frame, call: Call) -> Value:
    last = call.name.rpartition(".")[2]
    if last == "trange":
        return host("range")
    value = call.arguments[0] if call.arguments else call.keywords.get("iterable")
    return value if value is not None else known_object(Role.PROGRESS)


def call_host_package(frame: Frame, call: Call) -> Value:
    if call.name.startswith("os."):
        check_set(frame, call)
    return ANY_HOST


def call_collector(frame: Frame, call: Call) -> Value:
    if call.name == "gc.collect":
        frame.emit(Effect.GARBAGE_COLLECTION, call.node.at, NONE, call.name, None)
    return INT if call.name == "gc.collect" else UNKNOWN


Head = Callable[[Frame, Call], "Value | None"]
HEADS: dict[str, Head] = {
    "math": call_math,
    "numpy": call_numpy,
    "statistics": call_statistics,
    "random": call_random,
    "copy": call_copy,
    "functools": call_functools,
    "logging": call_logging,
    "warnings": call_logging,
    "loguru": call_logging,
    "collections": call_collections,
    "itertools": call_itertools,
    "typing": call_typing,
    "einops": call_einops,
    "gc": call_collector,
    "torchmetrics": make_metric,
    **dict.fromkeys(("pdb", "ipdb", "pudb", "celery"), call_debugger),
    "tqdm": call_progress,
    **dict.fromkeys(
        ("os", "sys", "time", "json", "re", "pathlib", "argparse", "glob", "shutil", "yaml"), call_host_package
    ),
}
