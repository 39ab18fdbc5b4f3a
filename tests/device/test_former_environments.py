"""Environments that answer as gym did before 0.26."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.former_environments import FormerEnvironments

PACKAGE = """\
class Wrapper:
    def __init__(self, env):
        self.env = env


class ActionWrapper(Wrapper):
    def step(self, action):
        return self.env.step(self.action(action))

    def action(self, action):
        raise NotImplementedError


class Line:
    def reset(self, seed=None):
        return [0.0], {}

    def step(self, action):
        return [1.0], 0.5, False, True, {}


def make(name):
    if name != "Line-v1":
        raise ValueError(f"{name} is deprecated: use `Line-v1` instead")
    return Line()
"""
FORMER = "import gym\nstate, reward, done, info = env.step(0)"
TODAY = "import gym\nstate, reward, terminated, truncated, info = env.step(0)"


@pytest.fixture
def gym(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "gym.py").write_text(PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "gym", raising=False)
    return "Line-v0"


def test_a_program_that_takes_four_values_gets_four(gym: str) -> None:
    clock = Clock(boundary=True)
    FormerEnvironments(clock).read(ast.parse(FORMER))
    environment = __import__("gym").make(gym).unwrapped
    assert environment.reset() == [0.0]
    assert environment.step(0) == ([1.0], 0.5, True, {})
    assert environment.seed(3) == [3]
    assert "the environment `Line-v1` stands in for `Line-v0`, which can't be had" in clock.assumptions


def test_a_program_of_today_gets_what_there_is(gym: str) -> None:
    clock = Clock(boundary=True)
    FormerEnvironments(clock).read(ast.parse(TODAY))
    assert __import__("gym").make("Line-v1").reset() == ([0.0], {})
    assert not clock.assumptions


def test_methods_that_had_an_underscore_are_found(gym: str) -> None:
    FormerEnvironments(Clock(boundary=True)).read(ast.parse(FORMER))
    package = __import__("gym")
    package.undo_logger_setup()

    class Doubled(package.ActionWrapper):  # type: ignore[misc]
        def _action(self, action: int) -> int:
            return action * 2

    assert Doubled(package.make(gym)).action(2) == 4
