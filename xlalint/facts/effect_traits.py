"""The traits of each effect: one row for each. A new effect gets its row here, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from xlalint.facts.events import Effect, RootKind

READS: Final = "reads the host"
SIZES: Final = "creates a shape that depends on the data"
FALLS_BACK: Final = "falls back to the CPU"


class EffectTraits(msgspec.Struct, frozen=True, kw_only=True):
    """All is false of a plain cost: it stands alone in its place, in code that runs on the device."""

    coexists: bool = False
    """It may stand beside another event in one place; of the others the first that is certain is kept."""
    on_host: bool = False
    """It counts in code that runs on the host: data sets and collators."""
    carried: bool = False
    """It costs only where a loop of steps carries the change from step to step."""
    by_value: bool = False
    """Each value compiles a graph, so a range that starts again compiles as many as it is long, and no more."""
    conversion: bool = False
    """A function that nothing calls may be there for it: it takes to the host what it was given."""
    conditional: bool = False
    """It is recorded for the case that the rest of the program makes a cost of it."""
    by_position: bool = False
    """It matters only by where it stands in its loop."""
    root: RootKind = RootKind.PLACE
    """What several of them may have in common: that is what one would change."""
    transfer: bool = False
    """It takes a value to the host for something, which may be the root."""
    in_package: str = ""
    """What a call does that leads to it in an installed package; empty where that is not reported to the caller."""


OTHER_READS: Final = frozenset(
    {Effect.COST_IN_LIBRARY, Effect.GRAD_SCALER, Effect.MASK_ASKED, Effect.SCHEDULER_READ, Effect.STATE_SAVED}
)
"""Effects that execute what is pending, and are told of the program's own code only."""

AT_ANY_HEAT: Final = frozenset(
    {
        Effect.ANOMALY_DETECTION,
        Effect.BREAKPOINT,
        Effect.COMPILED_PART,
        Effect.CUDA_HABIT,
        Effect.EAGER_MODE,
        Effect.GENERATE,
        Effect.LOW_PRECISION,
        Effect.NUMPY_OF_DEVICE,
        Effect.PROFILER_SERVER,
        Effect.UNSUPPORTED,
    }
)
"""Effects that are told however seldom they run."""

TRAITS: Final[Mapping[Effect, EffectTraits]] = MappingProxyType(
    {
        # host transfers
        Effect.SCALAR_READ: EffectTraits(root=RootKind.VALUE, transfer=True, in_package=READS),
        Effect.COPY_TO_HOST: EffectTraits(conversion=True, root=RootKind.VALUE, transfer=True, in_package=READS),
        Effect.VALUES_TO_LIST: EffectTraits(conversion=True, root=RootKind.VALUE, transfer=True, in_package=READS),
        Effect.NUMPY_OF_DEVICE: EffectTraits(root=RootKind.VALUE, transfer=True, in_package=READS),
        Effect.PRINTED: EffectTraits(root=RootKind.VALUE, transfer=True, in_package=READS),
        Effect.LOGGED: EffectTraits(root=RootKind.VALUE, transfer=True, in_package=READS),
        Effect.COMPARED_ON_HOST: EffectTraits(root=RootKind.VALUE, transfer=True, in_package=READS),
        Effect.BUILTIN_OVER_TENSORS: EffectTraits(root=RootKind.VALUE, transfer=True, in_package=READS),
        Effect.TENSOR_AS_NUMBER: EffectTraits(root=RootKind.VALUE, in_package=READS),
        Effect.ZERO_DIM_INDEX: EffectTraits(root=RootKind.VALUE, in_package=READS),
        Effect.SCHEDULER_READ: EffectTraits(),
        Effect.METRIC_READ: EffectTraits(in_package=READS),
        Effect.STATE_SAVED: EffectTraits(),
        Effect.GRADIENT_CLIPPING: EffectTraits(in_package=READS),
        Effect.GRAD_SCALER: EffectTraits(root=RootKind.VALUE, in_package=READS),
        Effect.DISTRIBUTION_CHECK: EffectTraits(in_package=READS),
        Effect.COLLECTIVE: EffectTraits(in_package=READS),
        Effect.MASK_ASKED: EffectTraits(root=RootKind.VALUE),
        Effect.OPTIMIZER_READ: EffectTraits(in_package=READS),
        Effect.HOST_GENERATOR: EffectTraits(root=RootKind.VALUE),
        Effect.MODEL_TO_HOST: EffectTraits(),
        Effect.UPLOAD: EffectTraits(coexists=True, root=RootKind.VALUE),
        Effect.COST_IN_LIBRARY: EffectTraits(),
        # control flow
        Effect.BRANCH: EffectTraits(root=RootKind.TEST, in_package=READS),
        Effect.LOOP_TEST: EffectTraits(root=RootKind.TEST, in_package=READS),
        Effect.BOOLEAN_OPERATOR: EffectTraits(root=RootKind.TEST, in_package=READS),
        Effect.ASSERTION: EffectTraits(root=RootKind.TEST, in_package=READS),
        Effect.FILTER: EffectTraits(root=RootKind.TEST, in_package=READS),
        Effect.CONDITIONAL_CALL: EffectTraits(root=RootKind.TEST),
        Effect.VARYING_TRIPS: EffectTraits(coexists=True, carried=True, by_value=True, root=RootKind.VALUE),
        Effect.RANDOM_STRUCTURE: EffectTraits(coexists=True),
        # shapes
        Effect.NONZERO: EffectTraits(root=RootKind.VALUE, in_package=SIZES),
        Effect.STATIC_NONZERO: EffectTraits(in_package=FALLS_BACK),
        Effect.BOOLEAN_INDEX: EffectTraits(root=RootKind.VALUE, in_package=SIZES),
        Effect.BOOLEAN_ASSIGN: EffectTraits(root=RootKind.VALUE, in_package=SIZES),
        Effect.UNIQUE: EffectTraits(in_package=SIZES),
        Effect.BINCOUNT: EffectTraits(in_package=SIZES),
        Effect.ONE_HOT: EffectTraits(root=RootKind.VALUE, in_package=SIZES),
        Effect.REPEAT_INTERLEAVE: EffectTraits(root=RootKind.VALUE, in_package=SIZES),
        Effect.DATA_SIZED: EffectTraits(in_package=SIZES),
        Effect.GROWING: EffectTraits(coexists=True, carried=True),
        Effect.BAKED_NUMBER: EffectTraits(coexists=True, carried=True, by_value=True, root=RootKind.VALUE),
        Effect.GRAPH_THROUGH_STEPS: EffectTraits(coexists=True, carried=True),
        # bucketing
        Effect.PADDED_TO_LONGEST: EffectTraits(coexists=True, on_host=True, root=RootKind.FUNCTION),
        Effect.VARYING_BATCH: EffectTraits(coexists=True, on_host=True),
        Effect.SHORT_LAST_BATCH: EffectTraits(coexists=True, on_host=True),
        Effect.COLD_SIZES: EffectTraits(coexists=True),
        # mode and step
        Effect.MODE_SWITCH: EffectTraits(coexists=True, by_position=True),
        Effect.GROWING_MODULE: EffectTraits(coexists=True, carried=True),
        Effect.KEPT_OUTPUT: EffectTraits(coexists=True, conditional=True),
        Effect.PLAIN_LOADER: EffectTraits(coexists=True),
        Effect.NO_BOUNDARY: EffectTraits(coexists=True),
        Effect.BOUNDARY: EffectTraits(coexists=True, by_position=True),
        Effect.UNSUPPORTED: EffectTraits(coexists=True, root=RootKind.HABIT),
        Effect.COLLECTIVE_BY_RANK: EffectTraits(coexists=True),
        Effect.GRAPH_BY_RANK: EffectTraits(coexists=True),
        # debugging and profiling
        Effect.BREAKPOINT: EffectTraits(on_host=True),
        Effect.PROFILER_SERVER: EffectTraits(),
        Effect.TRACE_MISUSE: EffectTraits(),
        Effect.CUDA_HABIT: EffectTraits(coexists=True, root=RootKind.HABIT),
        Effect.ANOMALY_DETECTION: EffectTraits(),
        Effect.EAGER_MODE: EffectTraits(),
        Effect.UNSYNCED_TIMER: EffectTraits(coexists=True),
        Effect.GARBAGE_COLLECTION: EffectTraits(),
        Effect.LOW_PRECISION: EffectTraits(root=RootKind.HABIT),
        # lowering
        Effect.CPU_FALLBACK: EffectTraits(root=RootKind.CALL, in_package=FALLS_BACK),
        Effect.GRAPH_BREAK: EffectTraits(coexists=True, conditional=True),
        Effect.COMPILED_PART: EffectTraits(coexists=True, conditional=True),
        Effect.GENERATE: EffectTraits(coexists=True),
    }
)


def executes(effect: Effect) -> bool:
    """Whether what is pending on the device is executed for it."""
    return bool(TRAITS[effect].in_package) or effect in OTHER_READS
