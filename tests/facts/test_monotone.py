"""Who knows less of what goes in knows no more of what comes out: else a fixpoint would depend on its way there."""

from __future__ import annotations

import itertools

import pytest
from covering import covers
from test_domain import VALUES

from xlalint.facts.domain.display import show
from xlalint.facts.domain.lattice import join, join_dims
from xlalint.facts.domain.refinement import as_operand, at_most, without_gradient, without_none
from xlalint.facts.domain.values import NONE, Host, alternatives
from xlalint.facts.operations.arithmetic import broadcast, promoted
from xlalint.testing import revealed_values

UNARY = {
    "as_operand": as_operand,
    "without_gradient": without_gradient,
    "at_most": lambda value: at_most(value, 1),
    "without_none": without_none,
}


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_value_is_monotone(name: str) -> None:
    function = UNARY[name]
    broken = [
        (a, b)
        for a, b in itertools.product(VALUES, VALUES)
        if a is not NONE and not covers(function(join(a, b)), function(a))
    ]
    told = (f"{show(function(a))} of {show(a)}, {show(function(join(a, b)))} with {show(b)}" for a, b in broken[:5])
    assert not broken, "; ".join(told)


def test_minus_one_of_two_numbers_is_neither_of_them() -> None:
    text = "def f(flag):\n    x = 3\n    if flag:\n        x = None\n    reveal(-x)\n"
    (value,) = revealed_values({"main.py": text}).values()
    assert not any(isinstance(part, Host) and part.known and part.constant == 3 for part in alternatives(value))


def test_shapes_of_two_operands_are_monotone() -> None:
    sizes = (1, 4, None)
    shapes = [None, *(dims for rank in range(3) for dims in itertools.product(sizes, repeat=rank))]
    for less, more in itertools.product(shapes, shapes):
        if join_dims(less, more) == more:
            for other in shapes:
                known, wider = broadcast(less, other), broadcast(more, other)
                assert join_dims(known, wider) == wider, (less, more, other)


def test_dtypes_of_two_operands_commute_and_are_idempotent() -> None:
    dtypes = [None, "bool", "uint8", "int", "float", "complex", "other"]
    for a, b in itertools.product(dtypes, dtypes):
        assert promoted(a, b) == promoted(b, a)
        assert promoted(a, a) == a


ANYTHING = (
    "x",
    "x == 1",
    "[x, 1]",
    "{'a': x}",
    "x if x is not None else 1",
    "x or 1",
    "same(x)",
    "str(x)",
    "(x, flag)[0]",
)
ARITHMETIC = ("x + 1", "2 * x", "x / 2", "-x", "x ** 2", "x > 1", "float(x)", "x % 2", "not x")
OF_TENSORS = (
    *(
        "x[0]",
        "x[:2]",
        "x[..., None]",
        "x.sum()",
        "x.item()",
        "x.shape",
        "x.shape[0]",
        "x.T",
        "x.to('cpu')",
        "x.detach()",
    ),
    *("x.float()", "x.long()", "x.mean(1)", "torch.relu(x)", "torch.cat([x, x])", "len(x)", "[part for part in x]"),
    *("x.to(device)", "x.size()", "x.numel()", "torch.zeros_like(x)", "x.view(-1)", "x.unsqueeze(0)", "x @ x"),
)
KINDS = (
    (
        (
            "torch.ones(4, 8, device=device)",
            "torch.ones(4, 8, device=device) > 0",
            "torch.ones(3, device=device).long()",
            "torch.ones(4)",
            "torch.ones(4, device=device).sum()",
        ),
        (*ANYTHING, *ARITHMETIC, *OF_TENSORS),
    ),
    (("3", "2.5", "True", "len(flag)", "0"), (*ANYTHING, *ARITHMETIC, "torch.ones(4, device=device) * x")),
    (
        ("[torch.ones(4, device=device), 1]", "(1, 2)", "[torch.ones(4, device=device)]", "(2, 3)"),
        (*ANYTHING, "x[0]", "x[-1]", "x[:1]", "len(x)", "x + x", "[part for part in x]", "tuple(x)", "list(x)"),
    ),
    (("{'a': torch.ones(4, device=device)}", "{'b': 1}", "{'a': 2}"), (*ANYTHING, "x['a']", "len(x)", "x.get('a')")),
)
"""Values of one kind, and what is done to them. Of several kinds the likeliest is taken, by design: what may be a
tensor is one in a sum."""


RAISES = {("x.shape[0]", "torch.ones(4, device=device).sum()"), ("x['a']", "{'b': 1}")}
TOO_SURE = {
    "x.get('a')": "that an entry may be missing is remembered nowhere, so None is forgotten",
    "x.item()": "a number of unknown kind is taken for a float, and may be a bool",
}
"""Known mistakes, by use."""


def program() -> tuple[str, dict[int, tuple[str, tuple[str, ...]]]]:
    """A function for each use of each start, and of each two of them on two branches; by line, what is revealed."""
    text = "import torch\nimport torch_xla\n\ndevice = torch_xla.device()\n\n\ndef same(value):\n    return value\n"
    places = {}
    cases = [
        (chosen, use)
        for starts, uses in KINDS
        for chosen in (*itertools.permutations(starts, 1), *itertools.permutations(starts, 2))
        for use in uses
    ]
    for number, (chosen, use) in enumerate(cases):
        text += f"\n\ndef f{number}(flag):\n    x = {chosen[0]}\n"
        text += f"    if flag:\n        x = {chosen[1]}\n" if len(chosen) > 1 else ""
        text += f"    reveal({use})\n"
        places[text.count("\n")] = (use, chosen)
    return text, places


def test_what_is_known_of_two_branches_is_known_of_each() -> None:
    text, places = program()
    found = {place[1]: value for place, value in revealed_values({"main.py": text}).items()}
    values = {places[line]: value for line, value in found.items()}
    broken: dict[str, list[str]] = {}
    for (use, chosen), value in values.items():
        for start in chosen:
            single = values.get((use, (start,)))
            if single is not None and (use, start) not in RAISES and not covers(value, single):
                told = f"{use} of {start}: {show(single)}, and with {' or '.join(chosen)}: {show(value)}"
                broken.setdefault(use, []).append(told)
    wrong = [text for use, texts in broken.items() if use not in TOO_SURE for text in texts]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:40])
    assert broken.keys() == TOO_SURE.keys(), "no longer so: take the use from the list"
