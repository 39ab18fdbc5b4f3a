"""Environments to learn in, as gym answered before 0.26: one value of a reset, four of a step. Imports gym."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from xlalint.device.borders.clock import Clock

_NAMES = frozenset({"gym", "gymnasium"})
_FOUR = 4
_SAID_NOTHING = ("undo_logger_setup",)
"""Functions that are gone, and gave nothing."""
_RENAMED = (
    *(("Env", name) for name in ("step", "reset", "render", "seed", "close")),
    *(("Wrapper", name) for name in ("step", "reset", "render", "seed", "close")),
    ("ActionWrapper", "action"),
    ("ObservationWrapper", "observation"),
    ("RewardWrapper", "reward"),
)
"""Methods that a class of the program's overrides: their names had an underscore before gym 0.9.6."""
_INSTEAD = re.compile(r"use `([\w/.-]+)` instead")
_STEPS = 1000
"""Of an episode that nothing else ends."""
_OF_BODIES = "Pendulum-v1"
"""Takes real numbers and gives them, as those of MuJoCo do."""
_BODIES = re.compile(r"Ant|Cheetah|Hopper|Humanoid|Pendulum|Reacher|Swimmer|Walker|Pusher|Striker|Thrower")


class FormerEnvironments:
    """Made as the program unpacks what a step gives: it says for which version it was written."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed: set[str] = set()

    def read(self, tree: ast.Module) -> None:
        """Before a file of the program's runs."""
        wanted = {name for node in ast.walk(tree) for name in _packages(node)} & _NAMES
        if wanted and any(_takes_four(node) for node in ast.walk(tree)):
            for name in wanted - self._changed:
                self._changed.add(name)
                self._change(name)

    def _change(self, name: str) -> None:
        try:
            package: Any = import_module(name)
        except ImportError:
            return
        for gone in _SAID_NOTHING:
            if not hasattr(package, gone):
                setattr(package, gone, _no_answer)
        for kind, method in _RENAMED:
            if hasattr(package, kind):
                _take_former_method(getattr(package, kind), method)
        make, told = package.make, self._clock.assume

        def made(key: Any, *args: Any, **kwargs: Any) -> Any:
            return _former(package)(_environment(make, key, args, kwargs, told))

        package.make = made
        told(f"environments of `{name}` answer as before its version 0.26")


def _take_former_method(kind: Any, method: str) -> None:
    original, former = getattr(kind, method, _no_answer), f"_{method}"

    @functools.wraps(original)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = vars(type(self)).get(former)
        return original(self, *args, **kwargs) if own is None else own(self, *args, **kwargs)

    setattr(kind, method, called)


def _no_answer(*_: Any, **__: Any) -> None:
    return None


def _environment(make: Any, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], told: Any) -> Any:
    try:
        return make(key, *args, **kwargs)
    except Exception as error:  # of the package, or of what it needs
        instead = _INSTEAD.search(str(error))
        present = instead[1] if instead else _OF_BODIES if _BODIES.search(str(key)) else None
        if present is None:
            raise
        told(f"the environment `{present}` stands in for `{key}`, which can't be had")
        return make(present)


def _former(package: Any) -> Any:
    class Former(package.Wrapper):  # type: ignore[misc]
        @property
        def unwrapped(self) -> Any:
            # What is below answers as today.
            return self

        @property
        def _max_episode_steps(self) -> int:
            return getattr(self.env.spec, "max_episode_steps", None) or _STEPS

        def reset(self, **kwargs: Any) -> Any:
            return self.env.reset(**kwargs)[0]

        def step(self, action: Any) -> Any:
            state, reward, terminated, truncated, info = self.env.step(action)
            return state, reward, terminated or truncated, info

        def seed(self, seed: int | None = None) -> list[int | None]:
            self.env.reset(seed=seed)
            return [seed]

        def render(self, *_: Any, **__: Any) -> None:
            return None

    return Former


def _packages(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module.partition(".")[0]


def _takes_four(node: ast.AST) -> bool:
    """`state, reward, done, info = env.step(action)`"""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return False
    called, target = node.value.func, node.targets[0]
    return (
        isinstance(called, ast.Attribute)
        and called.attr == "step"
        and isinstance(target, ast.Tuple)
        and len(target.elts) == _FOUR
    )
