"""Suppression comments for findings, written where they silence them and nothing else changes.

A comment goes to the end of the line that is shown. Where that line ends inside of a string or with a backslash it goes
to the last line of the statement, or to the first.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from xlalint.findings.directives import directives_in
from xlalint.findings.model import Diagnostic
from xlalint.sources.layout import Layout
from xlalint.sources.patterns import lazy_pattern
from xlalint.sources.source import Source

# A form feed ends no line for Python, and neither does what else `str.splitlines` takes for an end.
_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_OWN = lazy_pattern(r"#\s*xlalint:\s*ignore\[(?P<codes>[^\]#]*)\]", re.IGNORECASE)


class Silenced(msgspec.Struct, frozen=True):
    """The text with its new comments, and the findings for which there is no place."""

    text: str
    added: int
    left: tuple[Diagnostic, ...]


def with_ignores(source: Source, findings: Sequence[Diagnostic], reason: str) -> Silenced:
    """Comments for all ``findings``, which stand in ``source``."""
    lines = [match.group() for match in _LINE.finditer(source.text)]
    layout = Layout("\n".join(source.lines()))
    codes: dict[int, set[str]] = {}
    left = []
    for one in findings:
        line = next((line for line in _places(one, layout) if _takes_comment(lines, line)), None)
        if line is None:
            left.append(one)
        else:
            codes.setdefault(line, set()).add(one.code)
    for line, names in codes.items():
        lines[line - 1] = _commented(lines[line - 1], names, reason)
    text = "".join(lines)
    if codes and not _is_same_program(source.text, text):
        return Silenced(source.text, 0, tuple(findings))
    return Silenced(text, len(findings) - len(left), tuple(left))


def write_source(path: str, source: Source, text: str) -> None:
    """Put ``text`` in place of ``source``, in its encoding and as a whole or not at all. Raises ``OSError`` and
    ``UnicodeEncodeError``."""
    data = text.encode(source.encoding)
    target = os.path.realpath(path)
    descriptor, name = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".xlalint-")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        shutil.copymode(target, name)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _places(one: Diagnostic, layout: Layout) -> Iterator[int]:
    """The lines on which a comment silences it, the best first."""
    statement = layout.statement_at(one.at.line)
    yield one.at.line
    yield from range(one.at.line + 1, min(one.at.end_line, statement.last) + 1)
    yield statement.last
    yield statement.first


def _takes_comment(lines: Sequence[str], line: int) -> bool:
    """Whether a comment at the end of this line would be one, tried out."""
    if not 1 <= line <= len(lines) or lines[line - 1].rstrip("\r\n").endswith("\\"):
        return False
    trial = [one.rstrip("\r\n") for one in lines]
    trial[line - 1] += "  # xlalint: ignore[XLA000]"
    met: Iterable[str] = (
        found.text
        for comment in Layout("\n".join(trial)).comments
        if comment.line == line and not comment.alone
        for found in directives_in(comment)
    )
    return any(text.endswith("[XLA000]") for text in met)


def _commented(line: str, codes: set[str], reason: str) -> str:
    """The line with a comment for ``codes``, added to that of ours if it has one; other comments stay."""
    code = line.rstrip("\r\n")
    end = line[len(code) :]
    owns = list(_OWN.finditer(code))
    if owns:
        own = owns[-1]
        named = list(dict.fromkeys([*re.findall(r"[^,\s]+", own["codes"]), *sorted(codes)]))
        return f"{code[: own.start('codes')]}{', '.join(named)}{code[own.end('codes') :]}{end}"
    return f"{code.rstrip()}  # xlalint: ignore[{', '.join(sorted(codes))}] {reason}".rstrip() + end


def _is_same_program(before: str, after: str) -> bool:
    try:
        return ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
