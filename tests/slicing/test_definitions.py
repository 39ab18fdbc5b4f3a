"""What a slice takes from other files of the run."""

from __future__ import annotations

import ast

from xlalint.slicing.definitions import Modules, Taking
from xlalint.slicing.syntax_tree import SyntaxTree
from xlalint.sources.read import decode

OWN = "from nets import *\n\nnet = Net()\n"
OTHER = "class Net:\n    width = WIDTH\n\n\nWIDTH = 8\n"


def tree(path: str, text: str) -> SyntaxTree:
    return SyntaxTree(decode(text.encode(), path))


def test_a_name_that_an_import_of_all_names_brings_is_taken_from_its_file() -> None:
    files = {"/run/nets.py": tree("/run/nets.py", OTHER)}
    modules = Modules(lambda _, name: ("/run/nets.py", name) if name == "Net" else None, files.get)
    taken = Taking(modules, tree("/run/own.py", OWN)).of({"net"})
    assert [ast.unparse(node).partition("\n")[0] for node in taken.elsewhere] == ["class Net:", "WIDTH = 8"]
    assert [ast.unparse(node) for node in taken.block] == ["net = Net()"]
    assert not taken.absent


def test_a_name_that_no_file_of_the_run_has_is_not_taken() -> None:
    modules = Modules(lambda *_: None, lambda _: None)
    taken = Taking(modules, tree("/run/own.py", OWN)).of({"net"})
    assert not taken.elsewhere
    assert "Net" not in taken.given
