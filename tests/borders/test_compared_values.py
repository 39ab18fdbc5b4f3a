"""Values of arguments that a program itself names."""

from __future__ import annotations

import ast

from xlalint.device.borders.compared_values import ComparedValues

PROGRAM = """\
if opt.kind in ["folder", "lfw"]:
    data = folder()
elif opt.kind == "cifar10":
    data = cifar()
if args.width == 3:
    narrow()
"""


def test_the_first_value_that_is_compared_is_taken() -> None:
    compared = ComparedValues()
    compared.read(ast.parse(PROGRAM))
    assert compared.of("kind", None) == "folder"


def test_numbers_and_names_that_nobody_compares_say_nothing() -> None:
    compared = ComparedValues()
    compared.read(ast.parse(PROGRAM))
    assert compared.of("width", None) is None
    assert compared.of("height", "how high") is None


def test_a_help_lists_values() -> None:
    assert ComparedValues().of("dataset", "cifar10 | lsun | folder") == "cifar10"
    assert ComparedValues().of("data", "path/to/data set") is None
