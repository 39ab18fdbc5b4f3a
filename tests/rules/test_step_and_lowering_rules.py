"""What the pages of XLA312 to XLA601 can't show, on facts made by hand."""

import importlib

import pytest

from xlalint.facts.events import Certainty, Effect, Event, Facts, Heat, Place, Span
from xlalint.findings.model import Check, Finding, Safety, Severity

SPAN = Span(4, 8, 4, 20)


def event(
    effect: Effect,
    subject: str = "",
    *,
    heat: Heat = Heat.STEP,
    spelling: str = "call()",
    detail: str = "",
    form: str = "",
    evaluation: bool = False,
    backward_only: bool = False,
) -> Event:
    return Event(
        effect=effect,
        span=SPAN,
        scope="train",
        subject=subject,
        spelling=spelling,
        operand="",
        value="",
        heat=heat,
        certainty=Certainty.CERTAIN,
        place=Place.UNKNOWN,
        loop="the loop over `loader`",
        evaluation=evaluation,
        assumed_hot=False,
        guards=(),
        why=(),
        detail=detail,
        form=form,
        backward_only=backward_only,
        uses_xla=True,
    )


def findings(rule: str, *events: Event) -> list[Finding]:
    check: Check = importlib.import_module(f"xlalint.rules.{rule}").check
    return list(check(Facts("train.py", events)))


def test_a_collator_is_judged_where_it_is_made_a_cold_call_is_not() -> None:
    cold = event(Effect.PADDED_TO_LONGEST, "collator", heat=Heat.ONCE, spelling="DataCollatorWithPadding(tokenizer)")
    assert not findings("xla312_padded_to_longest", cold)
    made = event(
        Effect.PADDED_TO_LONGEST,
        "collator",
        heat=Heat.ONCE,
        spelling="DataCollatorWithPadding(tokenizer)",
        form="constructor",
    )
    (found,) = findings("xla312_padded_to_longest", made)
    assert found.fix is not None
    assert (found.fix.kind, found.fix.arguments) == ("add-keyword", ("padding", '"max_length"'))


def test_a_tokenizer_s_padding_is_replaced_and_pad_sequence_has_no_fix() -> None:
    tokenizer = event(Effect.PADDED_TO_LONGEST, "tokenizer", spelling="tokenizer(texts, padding=True)")
    sequence = event(Effect.PADDED_TO_LONGEST, "pad_sequence", spelling="pad_sequence(rows)")
    first, second = findings("xla312_padded_to_longest", tokenizer, sequence)
    assert first.fix is not None
    assert (first.fix.kind, first.fix.safety) == ("set-keyword", Safety.UNSAFE)
    assert second.fix is None


def test_one_of_many_lengths_is_told_by_one_rule_and_one_of_a_few_by_none() -> None:
    def rounded(detail: str, heat: Heat = Heat.STEP, subject: str = "zeros") -> Event:
        spelled = "x[:, :length]" if subject == "slice" else "zeros(length)"
        return event(Effect.PADDED_TO_LONGEST, subject, heat=heat, spelling=spelled, detail=detail, form="buckets")

    told = [rounded("264 / 8 = 33"), rounded("33", subject="slice")]
    untold = [rounded("32"), rounded("33", Heat.ONCE)]
    padded, cut = findings("xla316_too_many_buckets", *told, *untold)
    assert padded.message.startswith("`zeros(length)` pads to one of 264 / 8 = 33 lengths: 33 graphs")
    assert cut.message.startswith("`x[:, :length]` is cut to one of 33 lengths")
    assert not findings("xla312_padded_to_longest", *told, *untold)


def test_an_evaluation_may_have_a_short_last_batch() -> None:
    assert not findings("xla314_short_last_batch", event(Effect.SHORT_LAST_BATCH, evaluation=True))
    written = event(Effect.SHORT_LAST_BATCH, spelling="DataLoader(rows, 4, drop_last=False)")
    (found,) = findings("xla314_short_last_batch", written)
    assert found.fix is not None
    assert found.fix.kind == "set-keyword"


@pytest.mark.parametrize(
    ("heat", "severities"),
    [(Heat.ONCE, []), (Heat.EPOCH, [Severity.NOTE]), (Heat.AMORTISED, [Severity.NOTE]), (Heat.STEP, [None])],
)
def test_a_mode_switch_between_steps_is_a_note(heat: Heat, severities: list[Severity | None]) -> None:
    found = findings("xla401_mode_alternation", event(Effect.MODE_SWITCH, "eval", heat=heat))
    assert [finding.severity for finding in found] == severities


@pytest.mark.parametrize("subject", ["", "micro-batch"])
def test_a_boundary_that_is_well_placed_or_a_fair_trade_is_no_finding(subject: str) -> None:
    assert not findings("xla403_boundary_inside_step", event(Effect.BOUNDARY, subject))


def test_a_nested_boundary_has_a_body_to_keep() -> None:
    nested, inner = findings(
        "xla403_boundary_inside_step", event(Effect.BOUNDARY, "nested"), event(Effect.BOUNDARY, "after-forward")
    )
    assert nested.fix is None
    assert inner.fix is not None
    assert inner.fix.kind == "remove-statement"


def test_what_raises_is_an_error_what_does_nothing_a_warning() -> None:
    raises = event(Effect.UNSUPPORTED, "torch.optim.Adam", detail="raises RuntimeError: x", form="drop-keyword fused")
    silent = event(Effect.UNSUPPORTED, "torch.autocast", detail="casts nothing")
    first, second = findings("xla405_unsupported_on_xla", raises, silent)
    assert (first.severity, second.severity) == (None, Severity.WARNING)
    assert first.fix is not None
    assert (first.fix.kind, first.fix.arguments, first.fix.safety) == ("drop-keyword", ("fused",), Safety.SAFE)
    assert second.fix is None


def test_a_server_is_kept_by_a_fix_only_where_the_name_lives_on() -> None:
    lives = event(Effect.PROFILER_SERVER, "dropped", form="trains-here")
    returns = event(Effect.PROFILER_SERVER, "dropped")
    local = event(Effect.PROFILER_SERVER, "local", form="trains-here")
    fixes = [found.fix for found in findings("xla503_profiler_server_dropped", lives, returns, local)]
    assert [fix.kind if fix else None for fix in fixes] == ["assign-result", None, None]


def test_a_step_trace_around_a_part_becomes_a_trace() -> None:
    part, loop = findings(
        "xla504_trace_misuse", event(Effect.TRACE_MISUSE, "partial-step"), event(Effect.TRACE_MISUSE, "in-loop")
    )
    assert part.fix is not None
    assert part.fix.arguments == ("torch_xla.debug.profiler.Trace",)
    assert loop.fix is None
    assert "the loop over `loader`" in loop.message


def test_a_program_that_runs_on_the_host_in_silence_is_a_warning() -> None:
    raises, silent = findings(
        "xla506_cuda_habit", event(Effect.CUDA_HABIT, "raises"), event(Effect.CUDA_HABIT, "silent-host")
    )
    assert (raises.severity, silent.severity) == (None, Severity.WARNING)


def test_an_op_that_falls_back_in_its_backward_pass_says_so() -> None:
    backward = event(Effect.CPU_FALLBACK, "glu", detail="aten::glu_backward", backward_only=True)
    cold = event(Effect.CPU_FALLBACK, "median", heat=Heat.AMORTISED)
    (found,) = findings("xla601_unlowered_op", backward, cold)
    assert "backward pass" in found.message
    assert "aten::glu_backward" in found.message
