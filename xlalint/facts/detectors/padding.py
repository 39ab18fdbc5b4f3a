"""Batch shapes that vary: padding to the longest row, short last batches, samplers of varying size."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlalint.facts.domain.lattice import join_all
from xlalint.facts.domain.row_lengths import longest_rows, most_of, number_of, width_among
from xlalint.facts.domain.values import (
    FALSE,
    NONE,
    ROUNDED,
    SHORTEST,
    TRUE,
    UNKNOWN,
    Function,
    Host,
    Instance,
    LoopKey,
    Sequence,
    Struct,
    Value,
    alternatives,
    constant,
)
from xlalint.facts.events import Effect
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.facts.state.call import Arguments, Call, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.def_use import assignments_of
from xlalint.program.first_turns import first_only
from xlalint.program.traversal import path_of, walk

TRAINING_NAMES = ("train", "trn")
EVALUATION_NAMES = ("val", "valid", "test", "eval", "dev", "predict", "infer")


def check_loader(frame: Frame, call: Call) -> None:
    """A training loader that hands out a short last batch."""
    if not call.name.endswith("DataLoader"):
        return
    frame.sign(SignKind.MAKES_LOADER, call.node.at)
    if "**" in call.keywords:
        return
    if "batch_sampler" in call.keywords:
        if batches_vary(call.keywords["batch_sampler"]):
            frame.emit(Effect.VARYING_BATCH, call.node.at, NONE, "DataLoader", None, certainty=1, form="constructor")
        return
    drop = call.keywords.get("drop_last")
    size = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("batch_size", constant(1))
    if drop is not None and drop is not FALSE:
        return
    if (type(size) is Host and size.constant == 1) or size is NONE:
        return
    if not for_training(call.arguments, call.keywords, call.node) or names_evaluation(frame, call.node):
        return
    if gives_first_batches(frame) or has_chosen_length(frame, call):
        return
    frame.emit(
        Effect.SHORT_LAST_BATCH,
        call.node.at,
        NONE,
        "DataLoader",
        call.node.arguments[0] if call.node.arguments else None,
    )


def has_chosen_length(frame: Frame, call: Call) -> bool:
    """Whether a program's own data set has the length that its maker was given: so many episodes, whatever there is to
    draw from, and mostly a multiple of the batch."""
    rows = call.arguments[0] if call.arguments else call.keywords.get("dataset", NONE)
    if not isinstance(rows, (Instance, Struct)):
        return False
    length = frame.engine.program.method(rows.ir, "__len__")
    init = frame.engine.program.method(rows.ir, "__init__")
    return length is not None and init is not None and returned_attribute(length) in given_attributes(init)


def returned_attribute(method: ir.FunctionIR) -> str:
    """``return self.size``, and nothing else."""
    last = method.body[-1] if method.body else None
    value = last.value if type(last) is ir.Return else None
    return value.name if type(value) is ir.Attribute and path_of(value) == f"self.{value.name}" else ""


def given_attributes(init: ir.FunctionIR) -> set[str]:
    """The attributes that a constructor gives the value of a parameter as it is."""
    parameters = {parameter.name for parameter in init.parameters}
    return {
        target.name
        for node in walk(init.body)
        if type(node) is ir.Assign and type(node.value) is ir.Name and node.value.name in parameters
        for target in node.targets
        if type(target) is ir.Attribute and path_of(target) == f"self.{target.name}"
    }


def batches_vary(sampler: Value) -> bool:
    """A list of batches, each a list of as many indices as a number says that changes."""
    batch = sampler.element if type(sampler) is Sequence else None
    if type(batch) is not Sequence or batch.elements is not None:
        return False
    return type(batch.element) is Host and batch.element.varies is not None


def run_collate(frame: Frame, call: Call) -> Value:
    """The function that makes the loader's batches runs in each step, on the host; gives what it makes."""
    collate = call.arguments[6] if len(call.arguments) > 6 else call.keywords.get("collate_fn", NONE)
    makers = [part for part in alternatives(collate) if type(part) in (Function, Instance, Struct)]
    with frame.inside(RegionKind.COLLATE, call.node.at):
        made = [frame.call(maker, call.given([UNKNOWN], {})) for maker in makers]
    return join_all(made)


def for_training(arguments: Arguments, keywords: Keywords, node: ir.Call) -> bool:
    """``shuffle=True`` is how training is done; a name that says evaluation is none."""
    dataset = node.arguments[0] if node.arguments else None
    text = dataset.name.lower() if isinstance(dataset, (ir.Name, ir.Attribute)) else ""
    if any(word in text for word in EVALUATION_NAMES):
        return False
    shuffle = keywords.get("shuffle", arguments[2] if len(arguments) > 2 else None)
    return shuffle is TRUE or any(text.startswith(word) for word in TRAINING_NAMES)


def names_evaluation(frame: Frame, node: ir.Call) -> bool:
    """``test_loader = DataLoader(Shapes(partition="test"))``: by its name, or by what it is to hold."""
    assigned = assignments_of(frame.function).get(frame.statement)
    targets = () if assigned is None else assigned.targets
    words = set(words_of((targets, node.arguments[:1])))
    return not words.isdisjoint(EVALUATION_NAMES) and words.isdisjoint(TRAINING_NAMES)


def gives_first_batches(frame: Frame) -> bool:
    """Whether of the loader that a statement makes only first batches are taken, which are full."""
    assigned = assignments_of(frame.function).get(frame.statement)
    target = assigned.targets[0] if assigned is not None and len(assigned.targets) == 1 else None
    return type(target) is ir.Name and target.name in first_only(frame.function)


def words_of(nodes: object) -> Iterator[str]:
    for part in walk(nodes):
        text = part.name if isinstance(part, (ir.Name, ir.Attribute)) else getattr(part, "value", None)
        if type(text) is str:
            yield from re.split(r"[\W_]+", text.lower())


def check_padding(frame: Frame, call: Call) -> None:
    """``pad_sequence`` pads to the longest row, and can do no other."""
    if call.name == "pad_sequence":
        frame.emit(
            Effect.PADDED_TO_LONGEST,
            call.node.at,
            NONE,
            "pad_sequence",
            call.node.arguments[0] if call.node.arguments else None,
        )


BUCKETS = "buckets"
"""The form of a padding that is rounded to one of as many lengths as its detail says."""


def tell_width(frame: Frame, at: int, subject: str, width: LoopKey | None, operand: ir.Expr | None = None) -> None:
    """What is made as wide as the longest row, or cut to it, by the mark of its width. The detail says how many widths
    there may be at most, where that is known."""
    if width is None:
        return
    most = most_of(width)
    subject = f"{subject} to the shortest" if width[1] == SHORTEST[1] else subject
    detail, form = "" if most is None else str(most), BUCKETS if width[1] == ROUNDED[1] else ""
    frame.emit(Effect.PADDED_TO_LONGEST, at, NONE, subject, operand, certainty=1, detail=detail, form=form)


ARRAYS = {"zeros": 0, "ones": 0, "empty": 0, "full": 0, "pad": 1}
"""numpy's makers of a batch, by the position of the size that decides its length."""


def check_filled_array(frame: Frame, call: Call) -> None:
    """A batch made by numpy, as long as its longest row."""
    position = ARRAYS.get(call.last)
    width = longest_rows(call.arguments[0]) if call.last in ("array", "asarray", "stack") and call.arguments else None
    if width is None and position is not None:
        width = width_among(call.arguments[position : position + 1])
    if makes_batches(frame):
        tell_width(frame, call.node.at, f"numpy.{call.last}", width)


def makes_batches(frame: Frame) -> bool:
    """Whether arrays are batches there: where torch is out of sight, and nothing says that it collates, nobody knows
    what becomes of them."""
    module = frame.engine.program.module(frame.path)
    heads = () if module is None else (*module.imports.values(), *module.star_imports)
    return "collat" in frame.function.qualname.lower() or any(head.startswith("torch") for head in heads)


def pads_to_longest(keywords: Keywords, implicit: bool) -> bool:
    """Whether a tokenizer's or collator's arguments say so; ``implicit`` where padding is the default."""
    if "**" in keywords:
        return False
    padding = keywords.get("padding")
    if padding is None:
        return implicit
    return type(padding) is Host and padding.constant in (True, "longest") and padding.known


def check_padding_call(frame: Frame, call: Call) -> None:
    """A call of a tokenizer, or of its ``pad``, which cuts nothing."""
    single = call.arguments and type(call.arguments[0]) is Host and call.arguments[0].type == "str"
    if not pads_to_longest(call.keywords, call.name == "pad") or single:
        return
    most = None if call.name == "pad" else cut_to(call.keywords)
    detail, form = "" if most is None else str(most), ""
    if is_rounded(call.keywords):
        multiple = number_of(call.keywords["pad_to_multiple_of"])
        if most is None or multiple is None:
            return
        detail, form = f"{most} / {multiple} = {-(-most // multiple)}", BUCKETS
    operand = call.node.arguments[0] if call.node.arguments else None
    frame.emit(Effect.PADDED_TO_LONGEST, call.node.at, NONE, "tokenizer", operand, detail=detail, form=form)


def is_rounded(keywords: Keywords) -> bool:
    """Whether the longest row is rounded up to a multiple, of however many."""
    multiple = keywords.get("pad_to_multiple_of", NONE)
    return multiple is not NONE and number_of(multiple) not in (0, 1)


UNCUT = (False, "do_not_truncate")


def cut_to(keywords: Keywords) -> int | None:
    """How many tokens a row has at most. Measured: without ``truncation``, ``max_length`` cuts nothing where rows are
    padded to the longest, and a collator's never does."""
    truncation, most = keywords.get("truncation", FALSE), number_of(keywords.get("max_length", NONE))
    if type(truncation) is not Host or not truncation.known or truncation.constant in UNCUT:
        return None
    return most if most is not None and most > 0 else None


LIMITS = ("max_length", "pad_to_multiple_of", "max_seq_length", "pad_to_length")


def check_collator(frame: Frame, call: Call, takes_padding: bool, certainty: int) -> None:
    """The constructor of a collator that pads. Its argument ``padding`` is the first flag or word among them."""
    keywords = call.keywords
    given = next((v for v in call.arguments[1:] if type(v) is Host and v.type in ("bool", "str")), None)
    if takes_padding and given is not None:
        keywords = {"padding": given, **keywords}
    limited = certainty < 2 and any(keywords.get(name, NONE) is not NONE for name in LIMITS)
    if pads_to_longest(keywords, True) and not is_rounded(keywords) and not limited:
        operand = call.node.arguments[0] if call.node.arguments else None
        frame.emit(
            Effect.PADDED_TO_LONGEST, call.node.at, NONE, "collator", operand, certainty=certainty, form="constructor"
        )
