"""What is cut out of a program for a flagged place, and what it needs from outside."""

from __future__ import annotations

import ast

import pytest

from xlalint.slicing.aliases import aliases, origins_of_parts
from xlalint.slicing.backward_slice import STEPS, Slice, cut
from xlalint.slicing.definitions import Modules, Taking
from xlalint.slicing.free_names import needs
from xlalint.slicing.instrumentation import flag
from xlalint.slicing.shape_hints import shape_hints
from xlalint.slicing.syntax_tree import SyntaxTree
from xlalint.sources.source import Source

LOOP = """\
def train(model, loader, optimizer, device, writer):
    seen = 0
    history = []
    for number, (x, y) in enumerate(loader):
        x = x.to(device)
        seen += len(x)
        optimizer.zero_grad()
        loss = model(x).mean()
        writer.add_scalar("seen", seen)
        if number > 3:
            history.append(loss.item())
        if loss is None:
            break
        save(history)
"""


def tree_of(text: str, path: str = "program.py") -> SyntaxTree:
    return SyntaxTree(Source(path, text, "utf-8"))


def slice_for(text: str, flagged: str, loop_line: int | None = None) -> Slice:
    """The slice of the first expression that reads ``flagged``."""
    found = tree_of(text)
    assert found.module is not None
    node = next(
        each
        for each in ast.walk(found.module)
        if isinstance(each, (ast.expr, ast.stmt)) and ast.unparse(each) == flagged
    )
    flag(node)
    made = cut(found, node, loop_line)
    assert made is not None
    return made


def text_of(made: Slice) -> str:
    return "\n".join(ast.unparse(each) for each in made.body)


def test_only_what_the_place_needs_is_kept() -> None:
    text = text_of(slice_for(LOOP, "loss.item()", 4))
    assert "loss = model(x).mean()" in text
    assert "x = x.to(device)" in text
    for left_out in ("seen", "zero_grad", "add_scalar", "save", "break"):
        assert left_out not in text


def test_the_step_loop_goes_on_for_as_many_steps_as_are_asked_for() -> None:
    made = slice_for(LOOP, "loss.item()", 4)
    assert f"in stand_in.steps(enumerate(loader), {STEPS})" in text_of(made)
    assert made.loop is not None


def test_tests_around_the_place_are_taken_to_hold_and_told() -> None:
    made = slice_for(LOOP, "loss.item()", 4)
    assert made.assumed == ("`number > 3` holds",)
    assert "if number > 3" not in text_of(made)


def test_a_name_of_the_user_cannot_be_the_count_of_steps() -> None:
    text = "def f(loader, steps):\n    for x in loader:\n        steps = steps + 1\n        y = (x * steps).item()\n"
    made = slice_for(text, "(x * steps).item()", 2)
    assert "steps = steps + 1" in text_of(made)
    assert STEPS not in made.parameters


@pytest.mark.parametrize(
    ("test", "flagged", "assumed"),
    [
        ("a and x.item()", "x.item()", "`a` holds"),
        ("a or x.item()", "x.item()", "`a` does not hold"),
    ],
)
def test_what_decides_within_the_statement_is_taken_to_lead_there(test: str, flagged: str, assumed: str) -> None:
    made = slice_for(f"def f(a, x):\n    return {test}\n", flagged)
    assert made.assumed == (assumed,)
    assert text_of(made) == flagged


def test_a_value_carried_from_step_to_step_keeps_what_sets_it() -> None:
    text = "def f(loader, total):\n    for x in loader:\n        y = total.item()\n        total = total + x.sum()\n"
    assert "total = total + x.sum()" in text_of(slice_for(text, "total.item()", 2))


def test_a_handler_holds_the_place_and_what_was_tried_before_it() -> None:
    text = "def f(x):\n    try:\n        y = x + 1\n    except ValueError:\n        y.item()\n"
    assert text_of(slice_for(text, "y.item()")) == "y = x + 1\ny.item()"


def test_a_loop_in_a_step_whose_end_is_not_in_sight_goes_round_once() -> None:
    text = "def f(x):\n    while True:\n        y = x + 1\n        y.item()\n        if done(y):\n            break\n"
    made = slice_for(text, "y.item()")
    assert text_of(made) == "for _ in range(1):\n    y = x + 1\n    y.item()"
    assert made.assumed == ("`while True` goes round once in a step",)


# Other names


def test_a_name_that_is_set_once_to_a_path_stands_for_it() -> None:
    block = ast.parse("logits, boxes = outputs.logits, outputs.boxes\nsame = logits\nn = logits.sum()").body
    assert aliases(block) == {"logits": "outputs.logits", "boxes": "outputs.boxes", "same": "outputs.logits"}


def test_a_name_that_is_set_twice_stands_for_nothing() -> None:
    assert aliases(ast.parse("a = x\na = y").body) == {}


def test_what_is_taken_out_of_something_has_its_origin_there() -> None:
    block = ast.parse("for n, (x, y) in enumerate(loader):\n    first = x[0]\n    z = first * 2").body
    found = origins_of_parts(block)
    assert found["first"] == "loader"
    assert "z" not in found


# What is needed from outside


def test_what_is_done_with_another_name_is_done_with_the_attribute() -> None:
    block = ast.parse("logits = outputs.logits\np = logits.softmax(-1)\nq = F.relu(outputs.boxes)").body
    found = needs(block, ("outputs",), frozenset({"F"}))["outputs"].children
    assert set(found["logits"].children) == {"softmax"}
    assert found["boxes"].is_operand
    assert not found["logits"].is_operand


def test_what_is_read_of_a_result_is_known() -> None:
    block = ast.parse("out = model(x)\na = out['hidden']\nb = out.loss\nu, v = net(x)").body
    found = needs(block, ("model", "net", "x"), frozenset())
    assert (found["model"].fields, found["model"].keys, found["net"].parts) == ({"loss"}, {"hidden"}, 2)


@pytest.mark.parametrize(
    ("text", "path", "field", "value"),
    [
        ("b, n, c = x.shape", "x", "rank", 3),
        ("n = x.shape[2]", "x", "least", 3),
        ("w, h = sizes.unbind(-1)", "sizes", "last", 2),
        ("y = x[:count]", "count", "is_number", True),
        ("t = o.logits\nb, n = t.shape", "o.logits", "rank", 2),
        ("if mode == 'sum':\n    pass", "mode", "texts", ("sum",)),
        ("if kind in ('a', 'b'):\n    pass", "kind", "texts", ("a", "b")),
        ("if 'rows' in directions:\n    pass", "directions", "texts", ("rows",)),
    ],
)
def test_shapes_and_texts_follow_from_use(text: str, path: str, field: str, value: object) -> None:
    assert getattr(shape_hints(ast.parse(text).body)[path], field) == value


# Definitions of this file and of others


def taken(wanted: set[str], own: str, **others: str) -> tuple[str, dict[str, str]]:
    """The text of all definitions; ``others`` are files by module name, from which ``own`` imports."""
    files = {f"/{name}.py": tree_of(text, f"/{name}.py") for name, text in others.items()}
    here = tree_of(own, "/own.py")
    files["/own.py"] = here

    def resolve(path: str, name: str) -> tuple[str, str] | None:
        tree = files[path].module
        assert tree is not None
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module in others:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return f"/{node.module}.py", alias.name
        return None

    found = Taking(Modules(resolve, files.get), here).of(wanted)
    every = [*found.imports, *found.elsewhere, *found.block]
    return "\n".join(ast.unparse(each) for each in every), found.absent


def test_a_function_comes_with_what_it_needs_and_nothing_else() -> None:
    text, _ = taken({"f"}, "import torch\nK = 2\nL = 3\ndef f(x):\n    return torch.relu(x) * K\n")
    assert "K = 2" in text
    assert "import torch" in text
    assert "L = 3" not in text


def test_a_definition_of_another_file_of_the_run_is_taken() -> None:
    text, absent = taken({"f"}, "from a import g as f\n", a="S = 2\ndef g(x: int) -> int:\n    return x * S\n")
    assert absent == {}
    assert text.index("S = 2") < text.index("def g(x):") < text.index("f = g")


def test_what_comes_from_no_file_of_the_run_is_absent() -> None:
    text, absent = taken({"f"}, "from elsewhere import f\n")
    assert absent == {"f": "elsewhere"}
    assert text == "f = stand_in.Absent('f')"


def test_two_definitions_of_one_name_do_not_stand_side_by_side() -> None:
    own = "from a import g\ndef scale(x):\n    return x\ndef f(x):\n    return g(scale(x))\n"
    text, absent = taken({"f", "scale"}, own, a="def scale(x):\n    return 2 * x\ndef g(x):\n    return scale(x)\n")
    assert text.count("def scale") == 1
    assert "return 2 * x" not in text or absent


def test_whether_a_package_is_there_is_known() -> None:
    text, _ = taken(
        {"is_torch_available", "is_pesq_available"}, "from a import is_torch_available, is_pesq_available\n"
    )
    assert "is_torch_available = lambda *_, **__: True" in text
    assert "is_pesq_available = lambda *_, **__: False" in text


def test_a_file_comes_after_those_that_it_imports_from() -> None:
    text, absent = taken(
        {"f", "g"},
        "from b import g\nfrom a import f\n",
        a="from b import g\nNEWER = g(2)\ndef f(x):\n    return NEWER\n",
        b="def g(x):\n    return x\n",
    )
    assert absent == {}
    assert text.index("def g(x)") < text.index("NEWER = g(2)")
