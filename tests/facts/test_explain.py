"""What ``explain`` tells of a line: values, how often it runs and why, what happens, why it is passed over."""

from __future__ import annotations

import pytest

from xlalint.facts.explain.explanation import Unexplained, explain
from xlalint.facts.options import Assumptions
from xlalint.sources.source import Source

PROGRAM = """\
import torch
import torch_xla


def report(loss, fast):
    if fast and loss > 3:
        print(loss.item())


def train(model, loader, optimizer, fast):
    device = torch_xla.device()
    seen = torch.zeros(3)
    for step, (batch, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(batch.to(device)), target.to(device))
        loss.backward()
        optimizer.step()
        report(loss, fast)
        if step % 10 == 0:
            print(loss.item())
        if loss.is_cuda:
            print("never")
        seen[0] += 1
        torch_xla.sync()
    return loss.item()
"""


def explained(text: str, code: str, assumptions: Assumptions | None = None) -> list[str]:
    """The explanation of the first line that holds ``code``, without its margins."""
    line = next(number for number, text in enumerate(text.splitlines(), 1) if code in text)
    told = explain(Source("train.py", text, "utf-8"), line, lambda _: assumptions or Assumptions())
    assert told.startswith(f"train.py:{line}: ")
    return [row.strip() for row in told.splitlines()[1:]]


def test_a_read_in_the_step_tells_value_loop_and_chain() -> None:
    told = explained(PROGRAM, "print(loss.item())")
    assert "in every step, by the loop over `enumerate(loader)` (line 13) (in `report`)" in told
    assert "train calls report at train.py:18" in told
    assert "loss: likely tensor xla float[]" in told
    assert "scalar-read: `loss.item()` of likely tensor xla float[]" in told
    assert told[-1] == "before the step boundary, in every step, likely: its rule decides"


def test_a_guard_is_told() -> None:
    told = explained(PROGRAM, "if fast and")
    assert "branch: `loss > 3` of likely tensor xla bool[]" in told
    assert "only where `fast`" in told


def test_an_amortised_read_tells_the_test_that_amortises_it() -> None:
    told = explained(PROGRAM.replace("print(loss.item())\n\n", "pass\n\n"), "print(loss.item())")
    assert "behind a guard that holds only in some steps (line 19)" in told
    assert told[-1].endswith("not flagged, because it does not run in every step")


def test_a_read_after_the_loop_runs_once() -> None:
    told = explained(PROGRAM, "return loss.item()")
    assert "once (in `train`)" in told
    assert told[-1] == "once, likely: not flagged, because it does not run in every step"


def test_what_is_dead_on_xla_is_never_reached() -> None:
    assert any(row.startswith("never: no expression of this line is reached") for row in explained(PROGRAM, "never"))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("seen[0] += 1", "no cost: the tensors here are on the host"),
        ("loss = torch", "no cost: all operations here stay on the device"),
        ("torch_xla.sync()", "a step boundary: pending operations are executed here"),
        ("optimizer.step()", "an optimizer step: its loop is a step loop"),
        ("device = torch_xla", "no cost: no device tensor is known here"),
    ],
)
def test_a_line_without_findings_tells_why(code: str, reason: str) -> None:
    assert explained(PROGRAM, code)[-1] == reason


def test_a_missing_boundary_is_told_at_the_loop() -> None:
    told = explained(PROGRAM.replace("        torch_xla.sync()\n", ""), "for step,")
    assert "no-boundary: the training loop sets no step boundary" in told


def test_an_assumption_is_told_as_one() -> None:
    told = explained("import torch\n\n\ndef f(x: torch.Tensor):\n    return x.item()\n", "x.item()")
    assert "in every step: assumed, because this function has no caller in the linted files (in `f`)" in told


def test_an_assumption_of_a_caller_names_the_caller() -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.item()\n\n\ndef g(x: torch.Tensor):\n    f(x)\n"
    told = explained(text, "x.item()")
    assert "in every step: assumed, because g has no caller in the linted files (in `f`)" in told


def test_what_is_only_possible_tells_how_it_is_shown() -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor, state):\n    return x + state.history.value.item()\n"
    assert any("`--min-certainty possible`" in row for row in explained(text, "history"))


def test_hints_are_heeded() -> None:
    text = "import torch\n\n\ndef f(batches, net):\n    for x in batches:\n        print(net(x).item())\n"
    plain = explained(text, "print")
    hinted = explained(text, "print", Assumptions(loaders=frozenset({"batches"})))
    assert "in the loop at line 5, a step loop" in hinted
    assert "in the loop at line 5, a step loop" not in plain


def test_an_empty_line_has_nothing_to_tell() -> None:
    told = explain(Source("train.py", PROGRAM, "utf-8"), 3, lambda _: Assumptions())
    assert "never: no expression of this line is reached" in told


def test_a_file_that_cannot_be_parsed_is_told_in_one_line() -> None:
    with pytest.raises(Unexplained) as told:
        explain(Source("train.py", "def f(:\n", "utf-8"), 1, lambda _: Assumptions())
    assert "\n" not in str(told.value)


def test_an_arm_that_no_call_comes_to_is_told_as_one() -> None:
    program = """
import torch_xla

def score(x, sample=False):
    if sample:
        return x.to("xla").sum().item()
    return x

def evaluate(loader, model):
    for x in loader:
        score(model(x), sample=False)
        torch_xla.sync()
"""
    told = explained(program, "item()")
    assert "no call in the linted files comes here: each decides a test before it otherwise" in told
