"""What the engine hands to rules: events, each with its heat, its certainty and the chain of reasons.

An event is one place in the source where something happens that can cost on XLA. Rules read events and
judge them; they see neither trees nor files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, IntEnum

import msgspec


class Heat(IntEnum):
    """How often a place runs; ordered, so that rules may compare."""

    ONCE = 0
    EPOCH = 1
    CALL = 2
    """Once in each call of what computes a result in a loop of its own: an image, a generation, a fit."""
    AMORTISED = 3
    """Inside a step, but behind ``step % k == 0`` or the like."""
    STEP = 4
    INNER = 5
    """Several times a step."""


class Certainty(IntEnum):
    POSSIBLE = 0
    LIKELY = 1
    CERTAIN = 2


class Place(Enum):
    """Where in its step an event stands, as far as a step boundary is in sight."""

    BEFORE_BOUNDARY = "before-boundary"
    AFTER_BOUNDARY = "after-boundary"
    """Nothing is pending on the device: a read here is a transfer and no more."""
    UNKNOWN = "unknown"


class Effect(Enum):
    """What an event does. The names are those of the rules' subjects, one effect one subject."""

    # host transfers
    SCALAR_READ = "scalar-read"
    COPY_TO_HOST = "copy-to-host"
    VALUES_TO_LIST = "values-to-list"
    NUMPY_OF_DEVICE = "numpy-of-device"
    PRINTED = "printed"
    LOGGED = "logged"
    COMPARED_ON_HOST = "compared-on-host"
    BUILTIN_OVER_TENSORS = "builtin-over-tensors"
    TENSOR_AS_NUMBER = "tensor-as-number"
    ZERO_DIM_INDEX = "zero-dim-index"
    SCHEDULER_READ = "scheduler-read"
    METRIC_READ = "metric-read"
    STATE_SAVED = "state-saved"
    GRADIENT_CLIPPING = "gradient-clipping"
    GRAD_SCALER = "grad-scaler"
    DISTRIBUTION_CHECK = "distribution-check"
    COLLECTIVE = "collective"
    MASK_ASKED = "mask-asked"
    OPTIMIZER_READ = "optimizer-read"
    HOST_GENERATOR = "host-generator"
    MODEL_TO_HOST = "model-to-host"
    UPLOAD = "upload"
    COST_IN_LIBRARY = "cost-in-library"
    # control flow
    BRANCH = "branch"
    LOOP_TEST = "loop-test"
    BOOLEAN_OPERATOR = "boolean-operator"
    ASSERTION = "assertion"
    FILTER = "filter"
    CONDITIONAL_CALL = "conditional-call"
    VARYING_TRIPS = "varying-trips"
    RANDOM_STRUCTURE = "random-structure"
    # shapes
    NONZERO = "nonzero"
    STATIC_NONZERO = "static-nonzero"
    BOOLEAN_INDEX = "boolean-index"
    BOOLEAN_ASSIGN = "boolean-assign"
    UNIQUE = "unique"
    BINCOUNT = "bincount"
    ONE_HOT = "one-hot"
    REPEAT_INTERLEAVE = "repeat-interleave"
    DATA_SIZED = "data-sized"
    GROWING = "growing"
    BAKED_NUMBER = "baked-number"
    GRAPH_THROUGH_STEPS = "graph-through-steps"
    # bucketing
    PADDED_TO_LONGEST = "padded-to-longest"
    VARYING_BATCH = "varying-batch"
    SHORT_LAST_BATCH = "short-last-batch"
    COLD_SIZES = "cold-sizes"
    # mode and step
    MODE_SWITCH = "mode-switch"
    GROWING_MODULE = "growing-module"
    KEPT_OUTPUT = "kept-output"
    PLAIN_LOADER = "plain-loader"
    NO_BOUNDARY = "no-boundary"
    BOUNDARY = "boundary"
    UNSUPPORTED = "unsupported"
    COLLECTIVE_BY_RANK = "collective-by-rank"
    GRAPH_BY_RANK = "graph-by-rank"
    # debugging and profiling
    BREAKPOINT = "breakpoint"
    PROFILER_SERVER = "profiler-server"
    TRACE_MISUSE = "trace-misuse"
    CUDA_HABIT = "cuda-habit"
    ANOMALY_DETECTION = "anomaly-detection"
    EAGER_MODE = "eager-mode"
    UNSYNCED_TIMER = "unsynced-timer"
    GARBAGE_COLLECTION = "garbage-collection"
    LOW_PRECISION = "low-precision"
    # lowering
    CPU_FALLBACK = "cpu-fallback"
    GRAPH_BREAK = "graph-break"
    COMPILED_PART = "compiled-part"
    GENERATE = "generate"


class Span(msgspec.Struct, frozen=True, order=True):
    """A range of source text: lines 1-based, columns 0-based in UTF-8 bytes, end exclusive (as in ``ast``)."""

    line: int
    column: int
    end_line: int
    end_column: int


class Step(msgspec.Struct, frozen=True):
    """One link of the chain of reasons, from the source of the value through the calls to the site."""

    path: str
    span: Span
    text: str


class RootKind(Enum):
    """What one decision is, that causes the events of several places."""

    PLACE = "place"
    """None but the place itself."""
    VALUE = "value"
    """A value that several places read: a mask, a number, a tensor."""
    STATEMENT = "statement"
    TEST = "test"
    USE = "use"
    """What several values are taken to the host for: a logger, a figure."""
    FUNCTION = "function"
    """A function that makes batches, whatever it pads."""
    CALL = "call"
    """A call elsewhere that made what costs: ``weight_norm``."""
    HABIT = "habit"
    """What a file does throughout: ``.cuda()``, a mode of autocast."""
    MODE = "mode"
    """The change between training and evaluation, in all of a program."""


class Root(msgspec.Struct, frozen=True, kw_only=True):
    """What an event is caused by. Events with the same ``kind`` and ``key`` are caused by the same.

    ``text`` names it in a message. Without a ``span`` it stands where the first of its events does.
    """

    kind: RootKind
    key: str
    text: str
    path: str = ""
    span: Span | None = None


FEW_SHAPES = 32
"""So many shapes are soon seen, and then nothing is compiled any more."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One costly place.

    ``spelling`` is the text of the site, ``operand`` that of the tensor it works on (both one line, shortened),
    ``value`` the abstract value of the operand as ``reveal`` prints it, ``loop`` the loop that makes it hot
    ("the loop over `loader`") or an empty string, ``guards`` the conditions it stands behind.
    ``subject`` tells variants of one effect apart ("item", "float", "math", "format"; the op's name; the API's
    name); ``detail`` is a remark from the knowledge table for the message.
    """

    effect: Effect
    span: Span
    scope: str
    subject: str
    spelling: str
    operand: str
    value: str
    heat: Heat
    certainty: Certainty
    place: Place
    loop: str
    evaluation: bool
    assumed_hot: bool
    """That this runs in each step is an assumption: no caller is in sight of the function it stands in, or of
    ``assumed_of``, which leads here."""
    guards: tuple[str, ...]
    why: tuple[Step, ...]
    detail: str
    form: str
    """Syntactic surroundings that a fix depends on, e.g. "accumulated", "both-arms-assign", "summed"."""
    backward_only: bool
    uses_xla: bool
    """torch_xla is used by the file, an importer or its entry point, or the configuration says so."""
    by_rank: bool = False
    """It stands behind a test of the rank: some processes get there, and others don't."""
    explained: bool = False
    """A comment at a step boundary says why it stands there."""
    assumed_of: str = ""
    loop_line: int = 0
    """Where the loop that makes it hot begins, if that is in this file."""
    repeats: int = 1
    """How often it runs in one step, as far as the bounds of the loops around it are known; a loop of an unknown
    bound counts as two."""
    root: Root | None = None
    """What causes it, where that may cause other events, too."""
    behind_root: bool = False
    """It stands behind the test that is its root, and reads what that has read."""

    @property
    def shapes(self) -> int | None:
        """How many shapes a padding makes at most, where its detail tells: ``512``, or ``512 / 8 = 64``."""
        return int(self.detail.rpartition(" ")[2]) if self.detail else None


class Facts:
    """All events of one file, and nothing else."""

    def __init__(self, path: str, events: Iterable[Event]) -> None:
        self.path = path
        self._by_effect: dict[Effect, list[Event]] = {}
        for event in events:
            self._by_effect.setdefault(event.effect, []).append(event)

    def __bool__(self) -> bool:
        return bool(self._by_effect)

    def events(self, *effects: Effect) -> Iterator[Event]:
        """All events with one of ``effects``, however seldom they run."""
        for effect in effects:
            yield from self._by_effect.get(effect, ())

    def hot(self, *effects: Effect) -> Iterator[Event]:
        """The events with one of ``effects`` that run in every step, or once in each call of a result."""
        return (event for event in self.events(*effects) if event.heat >= Heat.STEP or event.heat is Heat.CALL)
