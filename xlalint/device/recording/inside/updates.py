"""Which call is an optimizer's step: seen from outside, so neither torch nor the optimizer is touched."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any


def may_be_update(code: CodeType) -> bool:
    return code.co_name == "step"


def is_update(frame: FrameType) -> bool:
    """Whether it is the method of an optimizer that changes weights, and not that of one that wraps another.

    Wrappers (accelerate's, say) return without a change while gradients are accumulated; the one inside never does.
    """
    optim: Any = sys.modules.get("torch.optim")
    optimizer = frame.f_locals.get("self")
    if optim is None or not isinstance(optimizer, optim.Optimizer):
        return False
    return not any(isinstance(value, optim.Optimizer) for value in vars(optimizer).values())
