"""Launches of further processes: one is enough, and it is this one. Imports torch."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.placement import Placement

torch: Any = import_module("torch")
_processes: Any = import_module("torch.multiprocessing")
_distributed: Any = import_module("torch.distributed")
_tree: Any = import_module("torch.utils._pytree")
_parallel: Any = import_module("torch.nn.parallel")
_launchers = ("torch_xla", "torch_xla.distributed.xla_multiprocessing")
_OF_LAUNCHERS = {
    **dict.fromkeys(("RANK", "LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "SLURM_PROCID", "SLURM_LOCALID"), "0"),
    **dict.fromkeys(("WORLD_SIZE", "LOCAL_WORLD_SIZE", "SLURM_NTASKS", "SLURM_NNODES", "SLURM_NPROCS"), "1"),
    **dict.fromkeys(("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"), "0"),
    **dict.fromkeys(("MASTER_ADDR", "SLURM_NODELIST", "SLURM_STEP_NODELIST"), "localhost"),
    "OMPI_COMM_WORLD_SIZE": "1",
    "SLURM_JOB_ID": "1",
    "SLURM_JOBID": "1",
    "MASTER_PORT": "29500",
}
"""What they set in the environment."""
_OF_CLUSTERS = ("SLURM", "OMPI")
_ASKING = ("_collections_abc", "collections.abc")
"""Where `get` and `in` ask; the module goes by both names."""
_COLLECTIVES = ("all_reduce", "broadcast", "reduce", "barrier", "monitored_barrier")


class Launch:
    """Whether a launcher is said to have started the program, to who asks whether it has."""

    def __init__(self, is_told: bool | None) -> None:
        """None: nobody has asked."""
        self.is_told = is_told

    def tells(self, name: str) -> bool:
        self.is_told = bool(self.is_told)
        return self.is_told and not name.startswith(_OF_CLUSTERS)


def run_in_this_process(clock: Clock, placement: Placement, launch: Launch) -> None:
    """Spawned functions are called with rank 0; a group of processes has this one alone."""

    def spawn(fn: Callable[..., Any], args: tuple[Any, ...] = (), *_: Any, **__: Any) -> Any:
        clock.assume("one process runs it, with rank 0")
        return fn(0, *args)

    _processes.spawn = spawn
    torch_xla, launcher = (import_module(name) for name in _launchers)
    torch_xla.launch = launcher.spawn = spawn  # type: ignore[attr-defined]
    alone = _alone(clock, placement)
    for name in ("DataParallel", "DistributedDataParallel"):
        setattr(torch.nn, name, alone)
        setattr(_parallel, name, alone)
    # Of one process it is that of its own batches; the original takes no tensor of the host, nor one of XLA.
    torch.nn.SyncBatchNorm.forward = torch.nn.modules.batchnorm._BatchNorm.forward
    _stand_alone(clock)
    _tell_of_the_launch(clock, launch)


def _tell_of_the_launch(clock: Clock, launch: Launch) -> None:
    """What a launcher would have set is there for who can't do without it; who asks for it is told as is known to be
    needed."""
    get = os._Environ.__getitem__

    def asked(self: Any, name: Any) -> Any:
        try:
            return get(self, name)
        except KeyError:
            is_asked = sys._getframe(1).f_globals.get("__name__") in _ASKING
            if name not in _OF_LAUNCHERS or (is_asked and not launch.tells(name)):
                raise
        clock.assume(f"`{name}` is {_OF_LAUNCHERS[name]}, as whoever launches it says")
        return _OF_LAUNCHERS[name]

    vars(os)["_Environ"].__getitem__ = asked


def _stand_alone(clock: Clock) -> None:
    begin = _distributed.init_process_group

    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> None:
        if backend == "xla":
            begin(backend, *args, **kwargs)
            return
        clock.assume("the group of processes has one member")
        begin("gloo", store=_distributed.HashStore(), rank=0, world_size=1)
        for name in _COLLECTIVES:
            setattr(_distributed, name, lambda *_, **__: None)
        _distributed.all_gather = _gather

    _distributed.init_process_group = init_process_group


def _gather(parts: list[Any], own: Any, *_: Any, **__: Any) -> None:
    for each in parts:
        each.copy_(own)


def _alone(clock: Clock, placement: Placement) -> type:
    class Alone(torch.nn.Module):  # type: ignore[misc]
        """A model on all of its devices, of which there is one. On GPUs what it is given is moved to it."""

        def __init__(self, module: Any, *_: Any, **__: Any) -> None:
            super().__init__()
            self.module = module

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            first = next(self.module.parameters(), None)
            if first is not None and placement.of_program:
                clock.assume("a model on several devices has one, to which it moves what it is given")
                args, kwargs = _tree.tree_map_only(torch.Tensor, lambda one: one.to(first.device), (args, kwargs))
            return self.module(*args, **kwargs)

        def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any], dict[str, bool]]:
            return _alone_again, (self.module,), {"training": self.training}

    return Alone


def _alone_again(module: Any) -> Any:
    """Of a checkpoint that holds the whole of it."""
    return torch.nn.DataParallel(module)
