"""Forms of a data set's items, by the text of `__getitem__` and by what a failure asks for."""

from __future__ import annotations

import ast
import textwrap

import pytest

from xlalint.device.borders.item_forms import ItemForm, other_forms, told_form

IMAGE = "torch.rand(3, 64, 64)"


def form_of(body: str) -> str:
    function = ast.parse("def __getitem__(self, index):\n" + textwrap.indent(textwrap.dedent(body), "    ")).body[0]
    assert isinstance(function, ast.FunctionDef)
    return told_form(function).text


@pytest.mark.parametrize(
    ("body", "form"),
    [
        ("return img, target", f"({IMAGE}, index % 2, )"),
        ("return self.transform(image), int(k), path", f"({IMAGE}, index % 2, str(index), )"),
        ("return {'image': a, 'mask': b}", f"{{'image': {IMAGE}, 'mask': torch.randint(0, 2, (64, 64))}}"),
        ("sample = {'lr': a, 'hr': b}\nreturn self.transform(sample)", f"{{'lr': {IMAGE}, 'hr': {IMAGE}}}"),
        ("if a:\n    return None\nreturn (a, b), label", f"(({IMAGE}, {IMAGE}, ), index % 2, )"),
        ("return self.rows[index]", f"({IMAGE}, index % 2, )"),
        ("y = torch.LongTensor([1])\nreturn x, y.long()", f"({IMAGE}, index % 2, )"),
    ],
)
def test_an_item_is_what_its_text_says(body: str, form: str) -> None:
    assert form_of(body) == form


@pytest.mark.parametrize(
    ("part", "message", "wanted"),
    [
        (IMAGE, "expected input[4, 3, 64, 64] to have 1 channels, but got 3 channels instead", "torch.rand(1, 64, 64)"),
        (IMAGE, "mat1 and mat2 shapes cannot be multiplied (4x12288 and 784x400)", "torch.rand(1, 28, 28)"),
        (IMAGE, "mat1 and mat2 shapes cannot be multiplied (4x4096 and 50176x10)", "torch.rand(3, 224, 224)"),
        (
            "torch.randint(0, 2, (64, 64))",
            "Expected input batch_size (256) to match target batch_size (16384).",
            "torch.randint(0, 2, (64,))",
        ),
        ("torch.rand(16)", "mat1 and mat2 shapes cannot be multiplied (4x16 and 33x64)", "torch.rand(33)"),
        (IMAGE, "shape '[-1, 784]' is invalid for input of size 49152", "torch.rand(1, 28, 28)"),
        ("index % 2", "size ([4]) must be the same as input size torch.Size([4, 10])", "torch.rand(10)"),
        ("index % 2", "Found dtype Long but expected Float", "float(index % 2)"),
        (IMAGE, "Kernel size can't be greater than actual input size", "torch.rand(3, 299, 299)"),
        (
            IMAGE,
            "The size of tensor a (256) must match the size of tensor b (64) at non-singleton dimension 3",
            "torch.rand(3, 256, 256)",
        ),
    ],
)
def test_what_a_failure_asks_for_comes_first(part: str, message: str, wanted: str) -> None:
    first = [each.parts[0] for each in other_forms(ItemForm("({})", (part,)), message)][:9]
    assert wanted in first


def test_the_number_of_parts_is_that_which_the_loop_unpacks() -> None:
    found = next(other_forms(ItemForm("({}, {}, )", (IMAGE, "index % 2")), "too many values to unpack (expected 3)"))
    assert len(found.parts) == 3
    assert found.parts[:2] == (IMAGE, "index % 2")


def test_what_is_made_of_known_dimensions_has_them() -> None:
    function = ast.parse(
        "def __getitem__(self, index):\n"
        "    shots = torch.FloatTensor(self.count, 3, 8, 8)\n"
        "    marks = torch.LongTensor(self.count)\n"
        "    return shots, marks, torch.zeros((2, self.unknown))\n"
    ).body[0]
    assert isinstance(function, ast.FunctionDef)
    form = told_form(function, {"self.count": 5})
    assert form.parts[:2] == ("torch.rand(5, 3, 8, 8)", "torch.randint(0, 2, (5,))")
    assert "unknown" not in form.text


def test_a_tensor_of_too_few_dimensions_gets_more() -> None:
    form = ItemForm("({}, {}, )", ("torch.rand(3, 64, 64)", "index % 2"))
    others = list(other_forms(form, "not enough values to unpack (expected 5, got 4)"))
    assert any(each.parts[0] == "torch.rand(2, 3, 64, 64)" for each in others)
