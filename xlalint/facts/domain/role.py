"""Roles: what an object of a library is for, where that is all that is known of it."""

from __future__ import annotations

from enum import Enum


class Role(str, Enum):
    """A string, too: rows of tables name roles, and the order of values is that of their text."""

    ACCELERATOR = "accelerator"
    ATTACHABLE = "attachable"
    BATCH = "batch"
    BOUNDARY_CONTEXT = "boundary-context"
    CONTEXT = "context"
    DERIVED = "derived"
    DISTRIBUTION = "distribution"
    ENGINE = "engine"
    GENERATOR = "generator"
    HOST_METRIC = "host-metric"
    INSTALLED = "installed"
    ITERATOR = "iterator"
    LOADER = "loader"
    LOGGER = "logger"
    MAKER = "maker"
    METRIC = "metric"
    MIXER = "mixer"
    OPTIMIZER = "optimizer"
    OPTIMIZER_STATE = "optimizer-state"
    OUTPUT = "output"
    PACKED = "packed"
    PARAMETER_GROUPS = "parameter-groups"
    PARAMETERS = "parameters"
    PIPELINE = "pipeline"
    PRINTER = "printer"
    PROGRESS = "progress"
    SCALER = "scaler"
    SCHEDULER = "scheduler"
    TIMING_EVENT = "timing-event"
    TOKENIZER = "tokenizer"
    WRITER = "writer"

    def __str__(self) -> str:
        return self.value
