"""Which scripts of a project lead to a file."""

from __future__ import annotations

from pathlib import Path

from xlalint.slicing.scripts import Scripts

GUARD = "if __name__ == '__main__':\n    pass\n"


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def names(folder: Path, path: str) -> list[str]:
    return [
        str(Path(each).relative_to(folder.resolve())) for each in Scripts([str(folder)]).leading_to(str(folder / path))
    ]


def test_a_file_is_led_to_by_what_imports_it_through_others(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "train.py": f"from nets import build\n{GUARD}",
            "nets/__init__.py": "from .model import build\n",
            "nets/model.py": "def build(): ...\n",
            "alone.py": GUARD,
        },
    )
    assert names(tmp_path, "nets/model.py") == ["train.py"]


def test_scripts_that_train_come_before_tests(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "test_model.py": f"import model\n{GUARD}",
            "evaluate.py": f"import model\n{GUARD}",
            "train.py": f"import model\n{GUARD}",
            "model.py": "class Net: ...\n",
        },
    )
    assert names(tmp_path, "model.py") == ["train.py", "evaluate.py", "test_model.py"]


def test_a_file_that_calls_its_own_function_is_a_script(tmp_path: Path) -> None:
    written(tmp_path, {"program.py": "def main(): ...\n\nmain()\n", "library.py": "def main(): ...\n"})
    assert names(tmp_path, "program.py") == ["program.py"]
    assert names(tmp_path, "library.py") == []


def test_what_does_not_parse_is_no_script(tmp_path: Path) -> None:
    written(tmp_path, {"broken.py": f"def (:\n{GUARD}", "model.py": "", "train.py": f"import model, broken\n{GUARD}"})
    assert names(tmp_path, "model.py") == ["train.py"]


def test_a_script_uses_torch_xla_where_a_file_that_it_imports_does(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "train.py": f"import steps\n{GUARD}",
            "steps.py": "from torch_xla.core import xla_model\n",
            "plain.py": f"import torch\n{GUARD}",
        },
    )
    scripts = Scripts([str(tmp_path)])
    assert scripts.use_xla(str(tmp_path / "train.py"))
    assert not scripts.use_xla(str(tmp_path / "plain.py"))
