"""Edits that need the statement's neighbours: removal, additions to a loop, branches."""

from __future__ import annotations

import pytest
from editing import fixed

TORCH = "import torch\n"
BREAK = "breakpoint()"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a()\nbreakpoint()  # look\nb()\n", "a()\nb()\n"),
        ("if x:\n    breakpoint()  # look\nb()\n", "if x:\n    pass  # look\nb()\n"),
        ("if x: breakpoint()\n", "if x: pass\n"),
        ("def f():\n    a(); breakpoint()\n    b()\n", "def f():\n    a()\n    b()\n"),
        ("def f():\n    breakpoint(); a()\n    b()\n", "def f():\n    a()\n    b()\n"),
        ("a(); breakpoint(); b()\n", "a(); b()\n"),
        ("a()\nbreakpoint();\nb()\n", "a()\nb()\n"),
        ("a()\nbreakpoint()", "a()"),
        ("breakpoint()", ""),
        ("try:\n    a()\nexcept E:\n    breakpoint()\n    raise\n", "try:\n    a()\nexcept E:\n    raise\n"),
        ("match x:\n    case 1:\n        breakpoint()\n", "match x:\n    case 1:\n        pass\n"),
        ("@deco\nclass A:\n\tdef f(self):\n\t\tbreakpoint()\n\t\tb()\n", "@deco\nclass A:\n\tdef f(self):\n\t\tb()\n"),
        ("for x in y:\n    a()\nelse:\n    breakpoint()\n", "for x in y:\n    a()\nelse:\n    pass\n"),
    ],
)
def test_a_statement_is_removed_and_its_block_stays_a_block(text: str, expected: str) -> None:
    assert fixed(text, BREAK, "remove-statement") == expected


@pytest.mark.parametrize("text", ["x = breakpoint()\n", "f(breakpoint())\n", "if breakpoint(): pass\n"])
def test_a_call_whose_result_is_used_is_not_removed(text: str) -> None:
    assert fixed(text, BREAK, "remove-statement") is None


XLA = "import torch_xla\n"
SYNC = ("append-statement", "torch_xla.sync()")


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        (
            "    for x in y:\n        a()\n        if b:\n            c()  # last\n    d()\n",
            "    for x in y:\n        a()\n        if b:\n            c()  # last\n        torch_xla.sync()\n    d()\n",
        ),
        (
            "    for x in y:\n        s = '''\n'''\n    else:\n        e()\n",
            "    for x in y:\n        s = '''\n'''\n        torch_xla.sync()\n    else:\n        e()\n",
        ),
        ("    for x in y: a()\n", "    for x in y: a(); torch_xla.sync()\n"),
        (
            "    for x in y:\n        for z in x:\n            a()",
            "    for x in y:\n        for z in x:\n            a()\n        torch_xla.sync()",
        ),
    ],
)
def test_a_statement_is_added_at_the_end_of_the_loop(loop: str, expected: str) -> None:
    result = fixed(f"{XLA}def f():\n{loop}", "for x in y", *SYNC)
    assert result == f"{XLA}def f():\n{expected}"


def test_nothing_is_added_behind_a_statement_that_leaves() -> None:
    assert fixed(f"{XLA}for x in y:\n    a()\n    break\n", "for x in y", *SYNC) is None


def test_nothing_is_added_that_the_file_does_not_import() -> None:
    assert fixed("import torch_xla.core as core\nfor x in y:\n    a()\n", "for x in y", *SYNC) is None


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('"""Doc."""\n\nimport os\nfrom a import (\n    b,\n)\n\n', "from a import (\n    b,\n)\nimport torch_xla\n\n"),
        ("#!/usr/bin/env python\n# note\n", "# note\nimport torch_xla\n"),
        ("from __future__ import annotations\n", "annotations\nimport torch_xla\n"),
    ],
)
def test_the_import_that_a_statement_needs_is_added_with_it(head: str, expected: str) -> None:
    result = fixed(f"{head}for x in y:\n    a()\n", "for x in y", *SYNC, "import torch_xla")
    assert result is not None
    assert result.endswith(f"{expected}for x in y:\n    a()\n    torch_xla.sync()\n")


def test_a_result_is_kept_under_a_free_name() -> None:
    call = "xp.start_server(9012)"
    text = f"def run():\n    {call}  # profile\n    train()\n"
    assert fixed(text, call, "assign-result", "server") == text.replace(call, f"server = {call}")
    assert fixed(text + "server = 1\n", call, "assign-result", "server") is None
    assert fixed(f"keep({call})\n", call, "assign-result", "server") is None


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        ("x = a if c > 0 else b", "c > 0", "x = torch.where(c > 0, a, b)"),
        ("f(a * 2 if c else -1.0, d)", "a * 2 if c else -1.0", "f(torch.where(c, a * 2, -1.0), d)"),
        ("x = a if not c.any() else b", "not c.any()", "x = torch.where(c.any(), b, a)"),
        ("x = (a  # one\n     if c else b)", "c", None),
        ("x = a if c else None", "c", None),
        ("x = a if c is None else b", "c is None", None),
        ("x = a if c and d else b", "c and d", None),
        ("x = a if c and d else b", "c", None),
        ("x = a if c.item() > 0 else b", "c.item() > 0", None),
        ("x = 'a' if c else 'b'", "c", None),
        ("x = f(a) if 0 < c < 1 else b", "0 < c < 1", None),
    ],
)
def test_a_conditional_expression_becomes_where(text: str, piece: str, expected: str | None) -> None:
    result = fixed(f"{TORCH}{text}\n", piece, "branch-to-where")
    assert result == (None if expected is None else f"{TORCH}{expected}\n")


@pytest.mark.parametrize("piece", ["loss > 1", "if loss > 1"])
def test_a_branch_of_two_assignments_becomes_where_and_keeps_its_comments(piece: str) -> None:
    text = (
        f"{TORCH}def f(self):\n    start()\n    if loss > 1:  # too big\n        # halve\n        self.s = a / 2\n"
        "    else:\n        self.s = (a  # same\n            * 1)  # end\n    return self.s\n"
    )
    assert fixed(text, piece, "branch-to-where") == (
        f"{TORCH}def f(self):\n    start()\n    # too big\n    # halve\n"
        "    self.s = torch.where(loss > 1, a / 2, (a  # same\n            * 1))  # end\n    return self.s\n"
    )


@pytest.mark.parametrize(
    "branch",
    [
        "if c:\n    x = a\n",
        "if c:\n    x = a\nelse:\n    y = b\n",
        "if c:\n    x = a\n    log()\nelse:\n    x = b\n",
        "if c:\n    x = a\nelif d:\n    x = b\nelse:\n    x = e\n",
        "if c:\n    x += a\nelse:\n    x += b\n",
        "if c:\n    x, y = a, b\nelse:\n    x, y = b, a\n",
        "if d:\n    x = e\nelif c:\n    x = a\nelse:\n    x = b\n",
        "if c:\n    for x in y:\n        x = a\nelse:\n    x = b\n",
        "while c:\n    x = a\nelse:\n    x = b\n",
    ],
)
def test_a_branch_of_another_form_stays(branch: str) -> None:
    assert fixed(TORCH + branch, "c", "branch-to-where") is None


def test_new_lines_are_written_as_the_file_writes_them() -> None:
    text = "import torch_xla\r\nfor x in y:\r\n    a()\r\n"
    assert fixed(text, "for x in y", *SYNC) == text + "    torch_xla.sync()\r\n"
    text = "import torch\r\nif c:  # hot\r\n    x = a\r\nelse:\r\n    x = b\r\n"
    assert fixed(text, "c", "branch-to-where") == "import torch\r\n# hot\r\nx = torch.where(c, a, b)\r\n"
