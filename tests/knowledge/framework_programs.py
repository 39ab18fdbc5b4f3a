"""Small programs that show what a row of ``frameworks.csv`` does, and what the linter says of them.

Each kind of rows has some ways to write one: which of them a row takes stands in ``framework_evidence.csv``. The tool
that writes that file and the test that reads it share this module, so that both ask the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import Template

import msgspec
from framework_ways import ways

from xlalint.findings.model import Diagnostic
from xlalint.testing import findings_in, revealed

SILENT = "nothing"
"""What is told of a program in which nothing is known and nothing found; a row may be there to have it so."""
OFF_BY_DEFAULT = ("XLA130", "XLA208", "XLA315", "XLA406", "XLA407", "XLA507", "XLA508", "XLA603")
CLASSES = {
    "*ightningModule": "lightning.LightningModule",
    "*ightning*": "lightning.Callback",
    "Dataset": "torch.utils.data.Dataset",
    "Function": "torch.autograd.Function",
    "IterableDataset": "torch.utils.data.IterableDataset",
    "LRScheduler": "torch.optim.lr_scheduler.LRScheduler",
    "Metric": "torchmetrics.Metric",
    "Module": "torch.nn.Module",
    "Optimizer": "torch.optim.Optimizer",
}
"""The classes that a program inherits from where a row has a pattern, or a last name that counts in one package."""
SIGNATURE = re.compile(r"(?P<called>.*)\((?P<parameter>.*)\)")


class Case(msgspec.Struct, frozen=True):
    """A row of the table, by one of its kind's ways to show it."""

    kind: str
    name: str
    way: int

    def text(self) -> str:
        return Template(ways(self.kind)[self.way]).substitute(fields(self.name))


def fields(name: str) -> dict[str, str]:
    """What a template may ask for: ``callee`` is an expression for a function or for a method of a new object, ``base``
    and ``method`` are parts of the row's name."""
    signature = SIGNATURE.fullmatch(name)
    called, parameter = (signature["called"], signature["parameter"]) if signature else (name, "given")
    owner, _, last = called.rpartition(".")
    base = CLASSES.get(owner) or spelled(owner or "Thing")
    plain = spelled(called.removeprefix("builtins."))
    by_position = parameter.startswith("#")
    position = int(parameter[1:]) if by_position else 1
    parameters = [f"p{number}" for number in range(1, position + 1)] if by_position else [parameter.strip("*")]
    return {
        "name": name,
        "plain": plain,
        "callee": re.sub(r"(?<=\.)([A-Z]\w*)\.", r"\1().", plain),
        "base": base if "." in base else f"library.{base}",
        "method": "work" if last == "*" else last,
        "last": plain.rpartition(".")[2],
        "word": name.replace("*", "some"),
        "parameter": parameters[-1],
        "parameters": ", ".join(parameters),
        "imports": "\n".join(f"import {head}" for head in sorted({"library", base.split(".")[0], plain.split(".")[0]})),
    }


def spelled(pattern: str) -> str:
    """A name that the first of some patterns, parted by bars, is for."""
    first = pattern.split("|")[0]
    return re.sub(r"^\*\.", "thing.", first.replace("[!e]", "X")).replace("*", "Some")


def told(cases: Iterable[Case]) -> dict[Case, str]:
    """What the linter says of each: its lines with what ``reveal`` prints there, and with what is found there. Those of
    one kind and way are linted as files of one program."""
    together: dict[tuple[str, int], list[Case]] = {}
    for case in cases:
        together.setdefault((case.kind, case.way), []).append(case)
    found: dict[Case, str] = {}
    for batch in together.values():
        texts = {f"p{number}.py": case.text() for number, case in enumerate(batch)}
        lines = dict.fromkeys(texts, "")
        told = [(path, line, text) for (path, line), text in revealed(texts).items()]
        told += [
            (one.path, one.at.line, described(one))
            for one in findings_in(texts, assume_xla=True, select=OFF_BY_DEFAULT)
        ]
        for path, line, text in sorted(told):
            lines[path] += f"{'; ' if lines[path] else ''}{line} {text}"
        found.update((case, lines[path] or SILENT) for path, case in zip(texts, batch, strict=True))
    return found


def described(one: Diagnostic) -> str:
    fixed = " fixed" if one.fix is not None else ""
    return f"{one.code} {one.heat.name} {one.certainty.name} {one.severity.name}{fixed}".lower()
