"""Where a running script stands: its steps, its boundaries, what was assumed. Imports torch."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import Any

from xlalint.device.borders.rehearsal import Rehearsal
from xlalint.device.recording.surplus import Surplus
from xlalint.device.stubs.progress import state

torch: Any = import_module("torch")
torch_xla: Any = import_module("torch_xla")
_boundaries: Any = import_module("torch_xla.core.xla_model")
_optimizers: Any = import_module("torch.optim.optimizer")


class Enough(BaseException):
    """The program has run as far as was asked for. No `except Exception` of its own holds it."""


class Clock:
    """Counts what the program does; a step that the program ends by nothing is ended here."""

    def __init__(self, boundary: bool, surplus: Surplus | None = None) -> None:
        self._boundary, self.surplus = boundary, surplus
        self.draws = self.updates = self.boundaries = self.steps = 0
        """Batches that loaders gave, steps of optimizers, boundaries of the program, steps begun."""
        self.steps_in_half = 0
        self.key: object = None
        """What began the present step: a loop, or a loader."""
        self.assumptions: dict[str, None] = {}
        self.modes: set[bool] = set()
        self.held: list[Any] = []
        self.rehearsal: Rehearsal | None = None
        self._ended_at = 0
        self._own = False
        self._around_boundaries()
        _optimizers.register_optimizer_step_post_hook(self._updated)
        torch.nn.modules.module.register_module_forward_pre_hook(self._forwarded)
        torch.nn.modules.module.register_module_forward_hook(self._came_back)

    def assume(self, text: str) -> None:
        self.assumptions[text] = None

    def begin_step(self, key: object) -> None:
        self.end_step()
        self.key = key
        self.steps += 1
        self.steps_in_half += self.is_in_half
        state.step, state.turn = self.steps, {}

    @property
    def is_in_half(self) -> bool:
        """Whether a run of half the steps would have done this too."""
        return self.surplus is None or not self.surplus.is_open

    def end_step(self) -> None:
        """A boundary, where the program has set none since the last step ended."""
        state.kept.clear()
        if self.rehearsal is not None:
            self.rehearsal.step_ended()
        if self._boundary and self.boundaries == self._ended_at and self._device_was_used():
            self._own = True
            try:
                torch_xla.sync()
            finally:
                self._own = False
            self.assume("each step ends by a boundary, which the program does not set")
        self._ended_at = self.boundaries

    def _device_was_used(self) -> bool:
        return bool(torch_xla._XLAC._xla_counter_value("CreateXlaTensor"))

    def _updated(self, *_: object) -> None:
        self.updates += 1
        if self.rehearsal is not None:
            self.rehearsal.updates += 1

    def hold_what_lives(self) -> None:
        """Tensors that the program holds at this point: what waits for a boundary is counted through them."""
        tensors = (each for each in gc.get_objects() if issubclass(type(each), torch.Tensor))
        self.held = [each for each in tensors if each.device.type == "xla"]

    def _forwarded(self, module: Any, _: object) -> None:
        if _transforms(module):
            return
        if self.rehearsal is not None:
            self.rehearsal.forwards += 1
        if len(self.modes) < 2 and not list(module.children()):
            self.modes.add(module.training)

    def _came_back(self, module: Any, *_: object) -> None:
        if self.rehearsal is not None and not _transforms(module):
            self.rehearsal.forwards += 1

    def _around_boundaries(self) -> None:
        original = _boundaries._run_step_closures

        def run_step_closures() -> Any:
            if not self._own:
                self.boundaries += 1
            return original()

        run_step_closures._torchdynamo_disable = True  # type: ignore[attr-defined]
        _boundaries._run_step_closures = run_step_closures


def _transforms(module: Any) -> bool:
    """Whether it makes the items of a data set: torchvision's transforms are modules too, and no model's part."""
    return type(module).__module__.startswith("torchvision.transforms")
