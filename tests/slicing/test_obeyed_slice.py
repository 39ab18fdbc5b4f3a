"""The slice in which nothing is taken to hold, and who calls its function."""

from __future__ import annotations

import ast

import pytest

from xlalint.findings.model import Neutral
from xlalint.slicing.backward_slice import STEPS, Slice
from xlalint.slicing.callers import givens, is_called_once, rows_of_data_sets
from xlalint.slicing.decisions import decides, origins_of
from xlalint.slicing.definitions import Modules, Taking
from xlalint.slicing.instrumentation import flag, neutralised
from xlalint.slicing.obeyed_slice import NotObeyed, cut_as_obeyed
from xlalint.slicing.syntax_tree import SyntaxTree
from xlalint.sources.source import Source

LOOP = """\
def train(model, loader, verbose):
    if not loader:
        return None
    if model is None:
        raise ValueError
    for number, x in enumerate(loader):
        loss = model(x).mean()
        if loss is None:
            raise Done
        if number % 100 == 0 and verbose:
            print(loss.item())
        if number > 3:
            break
        if number == 2:
            sys.exit()
        save(loss)
    return loss
"""
CALLED = """\
class Trainer:
    def __init__(self, width, rate=0.1):
        self.width = width

    def fit(self, loader, limit=3, *rest):
        for x in loader:
            print(x.item())


def build(path):
    return Trainer(8).fit(read(path), limit=2)


if __name__ == "__main__":
    build("data")
"""


def tree_of(text: str) -> SyntaxTree:
    return SyntaxTree(Source("program.py", text, "utf-8"))


def obeyed(text: str, flagged: str, loop_line: int | None = None) -> Slice:
    tree = tree_of(text)
    node = next(each for each in tree.parents if isinstance(each, ast.expr) and ast.unparse(each) == flagged)
    flag(node)
    found = cut_as_obeyed(tree, node, loop_line)
    assert found is not None
    return found


def text_of(block: list[ast.stmt]) -> str:
    return "\n".join(ast.unparse(each) for each in block)


def test_tests_and_exits_stand_as_they_stand() -> None:
    text = text_of(obeyed(LOOP, "loss.item()", 6).body)
    assert f"in stand_in.turns(enumerate(loader), {STEPS})" in text
    assert "if number > 3:\n        break" in text
    assert "if not loader:\n    return" in text
    assert "if loss is None:\n        stand_in.left()" in text
    assert "if number == 2:\n        stand_in.left()" in text


def test_what_fails_and_what_comes_after_are_left_out() -> None:
    text = text_of(obeyed(LOOP, "loss.item()", 6).body)
    assert "ValueError" not in text
    assert "save" not in text
    assert "return loss" not in text


def test_a_period_is_taken_to_hold_and_what_stands_beside_it_is_asked() -> None:
    found = obeyed(LOOP, "loss.item()", 6)
    assert "if verbose:\n        print(loss.item())" in text_of(found.body)
    assert found.assumed == ("`number % 100 == 0 and verbose` holds every so many steps",)
    assert "verbose" in [ast.unparse(each) for each in found.asked]


def test_a_loop_on_a_test_goes_on_as_long_as_it_holds() -> None:
    text = "def f(x):\n    while x.sum() > 0:\n        x = x - 1\n"
    found = text_of(obeyed(text, "x.sum()", 2).body).replace("lambda :", "lambda:")  # Python 3.10 writes a space.
    assert f"stand_in.turns(stand_in.while_(lambda: x.sum() > 0), {STEPS})" in found


def test_a_loop_whose_test_binds_a_name_is_not_told() -> None:
    text = "def f(x):\n    while (y := x.sum()) > 0:\n        x = x - y\n"
    with pytest.raises(NotObeyed):
        obeyed(text, "x.sum()", 2)


def test_what_is_given_leaves_where_it_is_given() -> None:
    found = obeyed("def f(x):\n    for _ in range(3):\n        return x.item()\n", "x.item()", 2)
    assert text_of(found.body).endswith("x.item()\n    return")


def test_a_decorator_that_may_keep_what_is_given_is_told() -> None:
    text = "@torch.no_grad()\n@lru_cache\ndef f(x):\n    return x.item()\n"
    assert obeyed(text, "x.item()").wrappers == ("lru_cache",)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f(x):\n    for _ in range(3):\n        try:\n            x = x + 1\n"
         "        except ValueError:\n            x.item()\n", 2),
        ("def f(x):\n    def inner():\n        return x.item()\n    return inner\n", None),
        ("def f(x):\n    for _ in range(3):\n        match x:\n            case 1:\n                x.item()\n", 2),
    ],
)  # fmt: skip
def test_what_can_t_be_asked_is_not_told(text: str, line: int | None) -> None:
    with pytest.raises(NotObeyed):
        obeyed(text, "x.item()", line)


@pytest.mark.parametrize(
    ("calls", "once"),
    [
        ("f(1)", True),
        ("for x in rows:\n    f(x)", False),
        ("[f(x) for x in rows]", False),
        ("def g():\n    f(1)", True),
        ("def g():\n    f(1)\n\n\nfor _ in range(3):\n    g()", False),
        ("", False),
    ],
)
def test_a_function_that_no_loop_calls_is_called_once(calls: str, once: bool) -> None:
    tree = tree_of(f"def f(x):\n    return x\n\n\n{calls}\n")
    assert is_called_once(tree, scope_of(tree, "f")) is once


def scope_of(tree: SyntaxTree, name: str) -> ast.FunctionDef:
    return next(each for each in tree.parents if isinstance(each, ast.FunctionDef) and each.name == name)


def test_a_caller_gives_what_it_hands_on() -> None:
    tree = tree_of(CALLED)
    called, alone, made = givens(tree, scope_of(tree, "fit"))
    assert called.names == ("self", "loader", "limit", "rest")
    assert text_of(called.body) == "return (stand_in.of_class(Trainer(8), 'Trainer'), read(path), 2, ())"
    assert called.outer is not None
    assert text_of(called.outer.body) == "return ('data',)"
    assert alone.outer is None
    assert (made.names, text_of(made.body)) == (("self",), "return (Trainer(width=width, rate=rate),)")


@pytest.mark.parametrize("call", ["f(*rows)", "f(**keys)", "f(1, 2, 3)", "f()"])
def test_a_call_whose_arguments_are_not_told_gives_nothing(call: str) -> None:
    tree = tree_of(f"def f(x, y=1):\n    return x\n\n\n{call}\n")
    assert givens(tree, scope_of(tree, "f")) == []


def test_rows_of_a_file_s_own_data_set_are_taken() -> None:
    text = (
        "class Texts:\n    def __init__(self, count, path, pad=0):\n        pass\n\n    def __len__(self):\n"
        "        return 3\n\n    def __getitem__(self, index):\n        return index\n\n\ndef collate(rows):\n"
        "    return rows\n"
    )
    tree = tree_of(text)
    (found,) = rows_of_data_sets(tree, scope_of(tree, "collate"))
    assert (found.names, found.parameters, found.anew) == (("rows",), ("path",), True)
    assert "data = Texts(64, path)" in text_of(found.body)
    assert rows_of_data_sets(tree, scope_of(tree, "__init__")) == []


def test_what_a_test_comes_of_is_followed() -> None:
    body = ast.parse("flag = options.debug\nstop = flag and limit\n").body
    test = ast.parse("stop", mode="eval").body
    assert origins_of(test, body, ["options.debug", "limit", "other"]) == ["options.debug", "limit"]


@pytest.mark.parametrize(
    ("text", "test", "decided"),
    [
        ("True", "flag", True),
        ("'text'", "mode == 'a'", True),
        ("2", "step", True),
        ("2", "step > most", False),
        ("stand_in.tensor('float', 2)", "x", False),
    ],
)
def test_what_is_made_up_decides_a_test(text: str, test: str, decided: bool) -> None:
    assert decides(text, ast.parse(test, mode="eval").body) is decided


def test_what_is_done_to_a_name_of_the_file_is_taken_with_it() -> None:
    text = (
        "net = build()\nnet = net.to(place)\nnet.eval()\nnet.forward = fast\nnet.fit()\nif hard:\n    net = None\n\n\n"
        "def f(x):\n    return net(x)\n"
    )
    tree = tree_of(text)
    modules = Modules(lambda _, __: None, lambda _: None)
    taken = text_of(Taking(modules, tree).of({"net"}).block)
    assert "item" not in taken
    assert taken == "net = build()\nnet = net.to(place)\nnet.eval()\nnet.forward = fast"
    assert text_of(Taking(modules, tree, changed=False).of({"net"}).block) == "net = build()"


def test_with_a_switch_of_the_mode_goes_what_runs_in_it() -> None:
    body = ast.parse("model.train()\na = model(x)\nmodel.eval()\nb = model(x)\n").body
    switch = body[2]
    assert isinstance(switch, ast.Expr)
    flag(switch.value)
    assert text_of(neutralised(body, Neutral.MODE_LEFT_OUT)) == "model.train()\na = model(x)\nstand_in.ran()"


def test_what_is_done_to_torch_is_taken_by_who_does_not_name_it() -> None:
    tree = tree_of("import torch\n\ntorch.Tensor.item = fast\n\n\ndef f(x):\n    return x.item()\n")
    modules = Modules(lambda _, __: None, lambda _: None)
    assert text_of(Taking(modules, tree).of({"x"}).block) == "torch.Tensor.item = fast"
