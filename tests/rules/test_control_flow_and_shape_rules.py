"""What the pages of XLA201 to XLA311, and of XLA320, can't show, on facts made by hand."""

import importlib

import pytest

from xlalint.edits.fixes import KINDS
from xlalint.facts.events import Certainty, Effect, Event, Facts, Heat, Place, Span
from xlalint.findings.model import Check, Edit, Finding, Safety

RULES = {
    Effect.BRANCH: "xla201_branch_on_tensor",
    Effect.LOOP_TEST: "xla202_loop_on_tensor",
    Effect.BOOLEAN_OPERATOR: "xla203_boolean_operator_on_tensor",
    Effect.ASSERTION: "xla204_assert_on_tensor",
    Effect.FILTER: "xla205_filter_on_tensor",
    Effect.NONZERO: "xla301_nonzero",
    Effect.BOOLEAN_INDEX: "xla302_boolean_index",
    Effect.BOOLEAN_ASSIGN: "xla303_boolean_assign",
    Effect.UNIQUE: "xla304_unique",
    Effect.BINCOUNT: "xla305_bincount",
    Effect.ONE_HOT: "xla306_one_hot_inferred",
    Effect.REPEAT_INTERLEAVE: "xla307_repeat_interleave_tensor",
    Effect.DATA_SIZED: "xla308_data_sized_op",
    Effect.GROWING: "xla309_growing_tensor",
    Effect.BAKED_NUMBER: "xla310_baked_number",
    Effect.GRAPH_THROUGH_STEPS: "xla311_graph_through_steps",
    Effect.STATIC_NONZERO: "xla320_static_nonzero",
}


def event(effect: Effect, subject: str = "", *, heat: Heat = Heat.STEP, form: str = "", guard: str = "") -> Event:
    return Event(
        effect=effect,
        span=Span(4, 8, 4, 20),
        scope="train",
        subject=subject,
        spelling="the_site(score)",
        operand="score",
        value="",
        heat=heat,
        certainty=Certainty.CERTAIN,
        place=Place.UNKNOWN,
        loop="the loop over `loader`",
        evaluation=False,
        assumed_hot=False,
        guards=(guard,) if guard else (),
        why=(),
        detail="",
        form=form,
        backward_only=False,
        uses_xla=True,
    )


def findings(*events: Event) -> list[Finding]:
    check: Check = importlib.import_module(f"xlalint.rules.{RULES[events[0].effect]}").check
    return list(check(Facts("train.py", events)))


each_effect = pytest.mark.parametrize("effect", RULES, ids=lambda effect: effect.value)


@each_effect
def test_a_message_names_the_loop_and_what_it_is_about(effect: Effect) -> None:
    (found,) = findings(event(effect))
    assert "the loop over `loader`" in found.message
    assert "`score`" in found.message or "`the_site(score)`" in found.message
    assert found.help


@each_effect
@pytest.mark.parametrize("heat", [Heat.ONCE, Heat.EPOCH, Heat.AMORTISED], ids=lambda heat: heat.name)
def test_what_does_not_run_in_every_step_is_not_reported(effect: Effect, heat: Heat) -> None:
    assert not findings(event(effect, heat=heat))


@each_effect
def test_there_is_no_fix_without_the_form_that_it_needs(effect: Effect) -> None:
    (found,) = findings(event(effect))
    assert found.fix is None


@pytest.mark.parametrize(
    ("effect", "form", "kind", "safety"),
    [
        (Effect.BRANCH, "both-arms-assign", "branch-to-where", Safety.UNSAFE),
        (Effect.BOOLEAN_OPERATOR, "two-bool-tensors", "boolean-to-logical", Safety.UNSAFE),
        (Effect.BOOLEAN_INDEX, "summed", "mask-sum-to-where", Safety.UNSAFE),
        (Effect.BOOLEAN_ASSIGN, "scalar-value-same-shape", "mask-assign-to-fill", Safety.SAFE),
        (Effect.BOOLEAN_ASSIGN, "scalar-value", "mask-assign-to-fill", Safety.UNSAFE),
        (Effect.BAKED_NUMBER, "scalar-index", "index-to-tensor", Safety.UNSAFE),
        (Effect.GRAPH_THROUGH_STEPS, "carried-name", "append-call", Safety.UNSAFE),
    ],
)
def test_a_fix_is_one_of_the_closed_set_and_says_how_safe_it_is(
    effect: Effect, form: str, kind: str, safety: Safety
) -> None:
    (found,) = findings(event(effect, "and", form=form))
    assert isinstance(found.fix, Edit)
    assert (found.fix.kind, found.fix.safety) == (kind, safety)
    assert found.fix.span == found.at.span
    assert KINDS[kind].least <= len(found.fix.arguments) <= KINDS[kind].most


@pytest.mark.parametrize("effect", [Effect.BRANCH, Effect.BOOLEAN_OPERATOR], ids=lambda effect: effect.value)
def test_a_test_behind_a_guard_names_the_guard(effect: Effect) -> None:
    (found,) = findings(event(effect, guard="mask is not None"))
    assert "`mask is not None`" in found.message


@pytest.mark.parametrize(
    ("operator", "instead"),
    [("and", "logical_and"), ("or", "logical_or"), ("not", "logical_not"), ("chained comparison", "logical_and")],
)
def test_each_boolean_operator_is_told_its_own_replacement(operator: str, instead: str) -> None:
    (found,) = findings(event(Effect.BOOLEAN_OPERATOR, operator))
    assert instead in found.help
    assert operator in found.message


def test_an_operator_in_a_test_is_not_told_to_become_a_tensor() -> None:
    (found,) = findings(event(Effect.BOOLEAN_OPERATOR, "and", form="in-test"))
    assert "logical" not in found.help
    assert "test host values first" in found.help
