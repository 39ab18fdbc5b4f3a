"""Edits of expressions and calls, on code as people write it."""

from __future__ import annotations

import pytest
from editing import fixed

TORCH = "import torch\n"


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        ("total += loss.item()  # running\n", "loss.item()", "total += loss.detach()  # running\n"),
        ("f(a, ( loss\n   .item() ))\n", "loss\n   .item()", "f(a, ( loss\n   .detach() ))\n"),
        ("é = {'ß': model(x).item()}\n", "model(x).item()", "é = {'ß': model(x).detach()}\n"),
        ("while loss.item() > 1:\n    step()\n", "loss.item()", "while loss.detach() > 1:\n    step()\n"),
    ],
)
def test_a_method_is_replaced_where_it_is_called(text: str, piece: str, expected: str) -> None:
    assert fixed(text, piece, "replace-method", "detach") == expected


def test_a_call_without_a_receiver_has_no_method_to_replace() -> None:
    assert fixed("x = float(loss)\n", "float(loss)", "replace-method", "detach") is None


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        ("print(t)\n", "t", "print(t.shape)\n"),
        ("print('t', a + b, sep='')\n", "a + b", "print('t', (a + b).shape, sep='')\n"),
        ("print((a + b))\n", "a + b", "print((a + b).shape)\n"),
        ("print(-x)\n", "-x", "print((-x).shape)\n"),
        ("print(f'{x!r} and {t:>3}')\n", "t", "print(f'{x!r} and {t.shape}')\n"),
    ],
)
def test_an_attribute_follows_what_it_is_taken_of(text: str, piece: str, expected: str) -> None:
    assert fixed(text, piece, "append-attribute", "shape") == expected


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        ("h = cell(x, h)  # state\n", "h = cell(x, h)", "h = cell(x, h).detach()  # state\n"),
        ("self.mem = a * self.mem + b\n", "self.mem = a * self.mem + b", "self.mem = (a * self.mem + b).detach()\n"),
        ("total += loss\n", "total += loss", "total += loss.detach()\n"),
        ("h: Tensor = (\n    f(x)\n)\n", "h: Tensor = (\n    f(x)\n)", "h: Tensor = (\n    f(x)\n).detach()\n"),
        ("a = 1; h = f(x)\n", "h = f(x)", "a = 1; h = f(x).detach()\n"),
    ],
)
def test_a_call_follows_the_assigned_value(text: str, piece: str, expected: str) -> None:
    assert fixed(text, piece, "append-call", "detach") == expected


@pytest.mark.parametrize("text", ["out, h = cell(x, h)", "h = a, b", "return h"])
def test_a_call_does_not_follow_what_may_be_a_tuple(text: str) -> None:
    assert fixed(f"def f():\n    {text}\n", text, "append-call", "detach") is None


def test_a_builtin_becomes_the_operation() -> None:
    text = TORCH + "best = max(best, loss)  # so far\n"
    assert fixed(text, "max(best, loss)", "replace-callee", "torch.maximum", "2") == (
        TORCH + "best = torch.maximum(best, loss)  # so far\n"
    )


@pytest.mark.parametrize("call", ["max(best)", "max(a, b, c)", "max(a, key=b)", "max(*a, b)"])
def test_a_call_with_other_arguments_keeps_its_callee(call: str) -> None:
    assert fixed(f"{TORCH}x = {call}\n", call, "replace-callee", "torch.maximum", "2") is None


@pytest.mark.parametrize(
    ("imports", "spelling"),
    [
        ("import torch\n", "torch.stack"),
        ("import os, torch\n", "torch.stack"),
        ("import torch.nn.functional\n", "torch.stack"),
        ("try:\n    import torch\nexcept ImportError:\n    pass\n", "torch.stack"),
        ("import torch as th\n", "th.stack"),
        ("from torch import stack as pile, nn\n", "pile"),
        ("from torch import nn\n", None),
        ("import torch.nn as nn\n", None),
        ("import torchvision\n", None),
        ("if TYPE_CHECKING:\n    import torch\n", None),
        ("def setup():\n    import torch\n", None),
        ("# import torch\n", None),
    ],
)
def test_a_name_is_written_as_the_file_imports_it(imports: str, spelling: str | None) -> None:
    result = fixed(f"{imports}x = tensor([t, u])\n", "tensor([t, u])", "replace-callee", "torch.stack")
    assert result == (None if spelling is None else f"{imports}x = {spelling}([t, u])\n")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.tensor([t, u])", "torch.stack([t, u])"),
        ("torch.tensor([t, u], dtype=d, device=x.device)", "torch.stack([t, u])"),
        ("torch.tensor(\n    [t, u],\n    device=d,\n)", "torch.stack(\n    [t, u],\n)"),
        ("torch.tensor(device=d, data=[t, u])", None),
    ],
)
def test_keywords_that_the_new_callee_does_not_know_go(call: str, expected: str | None) -> None:
    result = fixed(f"{TORCH}x = {call}\n", call, "replace-callee", "torch.stack")
    assert result == (None if expected is None else f"{TORCH}x = {expected}\n")


PROFILER = "torch_xla.debug.profiler"


@pytest.mark.parametrize(
    ("imports", "more", "spelling"),
    [
        (f"import {PROFILER} as xp\n", "", "xp.Trace"),
        ("from torch_xla.debug import profiler\n", "", "profiler.Trace"),
        (f"from {PROFILER} import StepTrace, Trace\n", "", "Trace"),
        (f"import {PROFILER}\n", "", f"{PROFILER}.Trace"),
        ('"""Doc."""\n\nimport os\nimport torch_xla\n', f"import {PROFILER}\n", f"{PROFILER}.Trace"),
        ("import torch_xla.core.xla_model as xm\n", f"import {PROFILER}\n", f"{PROFILER}.Trace"),
    ],
)
def test_a_module_below_the_package_is_imported_where_it_is_not(imports: str, more: str, spelling: str) -> None:
    text = f"{imports}\nwith StepTrace('f'):\n    step()\n"
    result = fixed(text, "StepTrace('f')", "replace-callee", f"{PROFILER}.Trace")
    assert result == f"{imports}{more}\nwith {spelling}('f'):\n    step()\n"


def test_the_part_that_an_argument_names_is_found_in_the_target() -> None:
    for call, expected in (
        ("print(a.x, x.sum(), f(x=1), x, sep='')", "print(a.x, x.sum(), f(x=1), x.shape, sep='')"),
        ("print(f'{x.max()} {x:.3} {y:.3}')", "print(f'{x.max()} {x.shape} {y:.3}')"),
        ("f'{x!r:>9}'", "f'{x.shape!r}'"),
        ("str(x)", "str(x.shape)"),
    ):
        assert fixed(f"s = {call}\n", call, "append-attribute", "shape", "x") == f"s = {expected}\n"
    for call in ("'%s %.3f' % (n, x)", "'x %s' % x", "'{:.3f}'.format(x)", "print(*x)", "print(x.sum())"):
        assert fixed(f"s = {call}\n", call, "append-attribute", "shape", "x") is None
    assert fixed("b = x[s.argmax()]\n", "x[s.argmax()]", "add-keyword", "keepdim", "True", "s.argmax()") == (
        "b = x[s.argmax(keepdim=True)]\n"
    )
    assert fixed("print(x)\n", "print(x)", "append-attribute", "shape", "y") is None


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('cast("cuda", dtype=d)', 'cast("xla", dtype=d)'),
        ('cast(dtype=d, device_type="cuda")', 'cast(dtype=d, device_type="xla")'),
        ("cast(dtype=d)", 'cast(dtype=d, device_type="xla")'),
        ('cast(*parts, device_type=("cuda"))', 'cast(*parts, device_type="xla")'),
        ('cast("xla")', None),
        ("cast(**options)", None),
    ],
)
def test_an_argument_is_set_at_its_place_or_by_its_name(call: str, expected: str | None) -> None:
    result = fixed(f"with {call}:\n    f()\n", call, "set-argument", "0", "device_type", '"xla"')
    assert result == (None if expected is None else f"with {expected}:\n    f()\n")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("load(data)", "load(data, drop_last=True)"),
        ("load()", "load(drop_last=True)"),
        ("load(data, )", "load(data, drop_last=True )"),
        ("load(\n    data,\n    batch_size=4,\n)", "load(\n    data,\n    batch_size=4,\n    drop_last=True,\n)"),
        ("load(\n    data,\n    size=4  # big\n)", "load(\n    data,\n    size=4,  # big\n    drop_last=True\n)"),
        ("load(\n    data,  # all\n)", "load(\n    data,  # all\n    drop_last=True,\n)"),
        ("load(\n    (a + b))", "load(\n    (a + b), drop_last=True)"),
        ("load(\n    a\n)", "load(\n    a,\n    drop_last=True\n)"),
        ("load(*parts)", "load(*parts, drop_last=True)"),
        ("load(drop_last=False)", None),
        ("load(**options)", None),
        ("load(x for x in y)", None),
    ],
)
def test_a_keyword_is_added_in_the_manner_of_the_call(call: str, expected: str | None) -> None:
    result = fixed(f"loader = {call}\n", call, "add-keyword", "drop_last", "True")
    assert result == (None if expected is None else f"loader = {expected}\n")


def test_a_keyword_is_set_and_added_where_it_is_missing() -> None:
    with_it, without = "tok(text, padding=(True), n=3)", "tok(text)"
    arguments = ("set-keyword", "padding", '"max_length"')
    assert fixed(f"{with_it}\n", with_it, *arguments) == 'tok(text, padding="max_length", n=3)\n'
    assert fixed(f"{without}\n", without, *arguments) == 'tok(text, padding="max_length")\n'
    assert fixed('tok(padding="max_length")\n', 'tok(padding="max_length")', *arguments) is None


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("clip(ps, 1.0, foreach=True)", "clip(ps, 1.0)"),
        ("clip(foreach=True)", "clip()"),
        ("clip(foreach=True, norm=2)", "clip(norm=2)"),
        ("clip(ps, foreach=(True), norm=2,)", "clip(ps, norm=2,)"),
        ("clip(\n    ps,\n    foreach=True,\n)", "clip(\n    ps,\n)"),
        ("clip(\n    ps,  # all\n    foreach=True,\n)", "clip(\n    ps,  # all\n    \n)"),
        ("clip(ps, norm=2)", None),
    ],
)
def test_a_keyword_is_dropped_with_its_comma(call: str, expected: str | None) -> None:
    result = fixed(f"{call}\n", call, "drop-keyword", "foreach")
    assert result == (None if expected is None else f"{expected}\n")


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        ("m = a and b", "a and b", "m = torch.logical_and(a, b)"),
        ("m = a and b", "b", "m = torch.logical_and(a, b)"),
        ("m = a or b or (c)", "a or b or (c)", "m = torch.logical_or(torch.logical_or(a, b), (c))"),
        ("m = (a or b) and c", "(a or b) and c", "m = torch.logical_and((a or b), c)"),
        ("m = (a or b) and c", "a or b", "m = (torch.logical_or(a, b)) and c"),
        ("m = (a  # one\n     and b)", "a  # one\n     and b", "m = (torch.logical_and(a  # one\n     , b))"),
        ("m = (a\n     and b)", "a\n     and b", "m = (torch.logical_and(a,\n     b))"),
        ("m = a and \\\n  b", "a and \\\n  b", "m = torch.logical_and(a,\n  b)"),
        ("m = not a", "not a", "m = torch.logical_not(a)"),
        ("m = not (a > b)", "not (a > b)", "m = torch.logical_not(a > b)"),
        ("m = [not(a)for a in b]", "not(a)", "m = [torch.logical_not(a)for a in b]"),
        ("m = x if(a)and b else y", "(a)and b", "m = x if torch.logical_and((a), b) else y"),
    ],
)
def test_a_boolean_operator_becomes_the_operation(text: str, piece: str, expected: str) -> None:
    assert fixed(f"{TORCH}{text}\n", piece, "boolean-to-logical") == f"{TORCH}{expected}\n"


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        ("s = x[m].sum()", "x[m]", "s = torch.where(m, x, 0).sum()"),
        ("s = x[m].sum()", "x[m].sum()", "s = torch.where(m, x, 0).sum()"),
        ("s = (a * b)[m > 0].sum() / n", "(a * b)[m > 0]", "s = torch.where(m > 0, (a * b), 0).sum() / n"),
        ("s = torch.sum(x[m])", "x[m]", "s = torch.sum(torch.where(m, x, 0))"),
        ("s = x[m].mean()", "x[m]", None),
        ("s = x[m].sum(0)", "x[m]", None),
        ("s = x[m, 1].sum()", "x[m, 1]", None),
        ("s = x[:n].sum()", "x[:n]", None),
        ("s = x[m].sum", "x[m]", None),
    ],
)
def test_a_masked_sum_becomes_where(text: str, piece: str, expected: str | None) -> None:
    result = fixed(f"{TORCH}{text}\n", piece, "mask-sum-to-where")
    assert result == (None if expected is None else f"{TORCH}{expected}\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x[m] = 0.0  # padding", "x.masked_fill_(m, 0.0)  # padding"),
        ("labels[labels == pad] = -100", "labels.masked_fill_(labels == pad, -100)"),
        ("self.x[i][~m] = float('-inf')", "self.x[i].masked_fill_(~m, float('-inf'))"),
        ("x[m] = y[m]", None),
        ("x[m, 0] = 1", None),
        ("x[a:b] = 1", None),
        ("conf['m'] = 1", None),
        ("x[m] = y[n] = 1", None),
        ("x[m] += 1", None),
        ("x[m] = (  # why\n  1)", None),
    ],
)
def test_a_masked_assignment_becomes_a_fill(text: str, expected: str | None) -> None:
    statement = text.partition("  # p")[0]
    result = fixed(f"{text}\n", statement, "mask-assign-to-fill")
    assert result == (None if expected is None else f"{expected}\n")


def test_a_mask_of_lower_rank_is_unsqueezed() -> None:
    assert fixed("x[m] = 0\n", "x[m]", "mask-assign-to-fill", "1") == "x.masked_fill_(m[..., None], 0)\n"
    assert fixed("x[~m] = 0\n", "x[~m]", "mask-assign-to-fill", "2") == "x.masked_fill_((~m)[..., None, None], 0)\n"


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        (
            "y = self.buf[step % n] * 2",
            "self.buf[step % n]",
            "y = self.buf[torch.tensor([step % n], device=self.buf.device)].squeeze(0) * 2",
        ),
        ("buf[i] = y", "buf[i]", None),
        ("buf[i].copy_(y)", "buf[i]", None),
        ("buf[i][j] = y", "buf[i]", None),
        ("a, buf[i] = y", "buf[i]", None),
        ("buf[i] += y", "buf[i]", None),
        ("y = make()[i]", "make()[i]", None),
        ("y = buf[i, j]", "buf[i, j]", None),
        ("y = buf[-1]", "buf[-1]", None),
        ("y = conf['i']", "conf['i']", None),
    ],
)
def test_an_index_goes_to_the_device_where_nothing_is_written(text: str, piece: str, expected: str | None) -> None:
    result = fixed(f"{TORCH}{text}\n", piece, "index-to-tensor")
    assert result == (None if expected is None else f"{TORCH}{expected}\n")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('log.debug(f"loss {loss}")', 'log.debug("loss %s", loss)'),
        ('log.debug(f"{a!r} {b:.3f} {c:04d} 100%")', 'log.debug("%r %.3f %04d 100%%", a, b, c)'),
        ("log.info(rf'{{x}}\\d {x}', exc_info=True)", "log.info(r'{x}\\d %s', x, exc_info=True)"),
        ('log.log(10, f"{x=} {a + b = }")', 'log.log(10, "x=%r a + b = %r", x, a + b)'),
        (
            'log.debug(\n    f"loss {loss} "  # first\n    "at 5% "\n    f"{x[0], y}"\n)',
            'log.debug(\n    "loss %s "  # first\n    "at 5%% "\n    "%s", loss, (x[0], y)\n)',
        ),
        ('log.debug((f"{x}"))', 'log.debug(("%s"), x)'),
        ('log.debug(f"{x:>10}")', None),
        ('log.debug(f"{x:{width}}")', None),
        ('log.debug(f"{x:,}")', None),
        ('log.debug(f"no values")', None),
        ('log.debug("loss %s", loss)', None),
        ('log.debug(f"{x} %s", y)', None),
        ('log.scalar(f"{x}")', None),
        ('print(f"{x}")', None),
    ],
)
def test_a_log_message_is_formatted_only_when_it_is_written(call: str, expected: str | None) -> None:
    result = fixed(f"{call}  # to the log\n", call, "lazy-logging")
    assert result == (None if expected is None else f"{expected}  # to the log\n")


def test_a_value_in_the_message_leads_to_its_logging_call() -> None:
    text = 'if debug: log.debug(f"loss {loss.mean()}")\n'
    assert fixed(text, "loss.mean()", "lazy-logging") == 'if debug: log.debug("loss %s", loss.mean())\n'


def test_an_unknown_edit_or_wrong_arguments_give_no_fix() -> None:
    assert fixed("x.item()\n", "x.item()", "rewrite-everything") is None
    assert fixed("x.item()\n", "x.item()", "replace-method") is None
