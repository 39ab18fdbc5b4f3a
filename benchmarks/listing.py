"""The list of findings in the corpus: how it is written, read and compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("corpus-requirements.txt")
TRACKED = Path(__file__).with_name("corpus.txt")
HEAD = "# Written by `python benchmarks/corpus.py --write`: what is found in the packages of corpus-requirements.txt."


@dataclass(frozen=True, order=True)
class Entry:
    """One finding. ``path`` is relative to the site folder; path and fingerprint are what it is known by."""

    path: str
    line: int
    code: str
    certainty: str
    fingerprint: str
    message: str = field(default="", compare=False)
    why: tuple[str, ...] = field(default=(), compare=False)

    @property
    def key(self) -> tuple[str, str]:
        return self.path, self.fingerprint

    @property
    def text(self) -> str:
        return f"{self.code} {self.path}:{self.line} ({self.certainty})"


def pinned(path: Path = REQUIREMENTS) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE))


def written(entries: Mapping[str, Sequence[Entry]], versions: Mapping[str, str]) -> str:
    lines = [HEAD]
    for name in sorted(entries):
        lines.append(f"== {name} {versions[name]}, {len(entries[name])} findings")
        path = ""
        for one in sorted(entries[name]):
            if one.path != path:
                path = one.path
                lines.append(path)
            lines.append(f" {one.code} {one.certainty[0]} {one.line} {one.fingerprint}")
    return "\n".join(lines) + "\n"


def read(text: str) -> dict[str, list[Entry]]:
    """What ``written`` wrote, by package."""
    certainties = {word[0]: word for word in ("certain", "likely", "possible")}
    found: dict[str, list[Entry]] = {}
    name = path = ""
    for line in text.splitlines():
        if line.startswith("== "):
            name = line.split()[1]
            found[name] = []
        elif line.startswith(" "):
            code, letter, number, print_of_it = line.split()
            found[name].append(Entry(path, int(number), code, certainties[letter], print_of_it))
        elif not line.startswith("#"):
            path = line
    return found


def differences(before: Iterable[Entry], after: Iterable[Entry]) -> Iterator[str]:
    old, new = ({one.key: one for one in entries} for entries in (before, after))
    for key in sorted({*old, *new}, key=lambda key: ((new.get(key) or old[key]), key)):
        if key not in old:
            yield f"new   {new[key].text}: {new[key].message}"
        elif key not in new:
            yield f"gone  {old[key].text}"
        elif old[key].certainty != new[key].certainty:
            yield f"other {new[key].text}, was {old[key].certainty}"
