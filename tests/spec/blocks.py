"""Spec blocks: small programs in Markdown, with marks that say what is known, what happens and what is flagged.

A comment at the end of a line is a mark:

``# revealed: TEXT``  the ``reveal(x)`` of this line prints TEXT
``# flagged: CODE [heat step] [certainty likely] [level note] [why TEXT] [root NAME]``  these codes and no others are
    flagged here; what stands in brackets must hold too, ``why`` as a part of one of the reasons; commas part several
    codes; findings of one ``root`` are one group, and those of another are not in it
``# event: EFFECT [heat step] [certainty likely]``  an event of each of these effects begins on this line, whether or
    not a rule judges it; names are those of ``Effect``, and what stands in brackets must hold of it
``# no-event: EFFECT``  none of these begins here
``# missed: CODE because …``  known to be wrong: ought to be flagged, is not; the test fails when it becomes right
``# false-alarm: CODE because …``  known to be wrong: is flagged, ought not to be

``# file: name.py`` starts a file of its own; what stands before the first one is ``main.py``. A fence ``py XLA130``
turns rules on that are off by default.
"""

from __future__ import annotations

import re

import msgspec

from xlalint.api import Certainty, Effect, Heat

_HEADING = re.compile(r"#+ (?P<title>.+)")
_FENCE = re.compile(r"```py(?P<select>(?: XLA\d{3})*)")
_FILE = re.compile(r"# file: (?P<name>\S+)$")
_KINDS = "revealed|event|no-event|flagged|missed|false-alarm"
_MARK = re.compile(rf"# (?P<kind>{_KINDS}): (?P<text>.*?)(?=\s+# (?:{_KINDS}): |$)")
_DETAIL = re.compile(r"\[(?P<key>heat|certainty|level|why|root) (?P<text>[^\]]+)\]")
_CODE = re.compile(r"XLA\d{3}")
_EVENT = re.compile(r"(?P<names>[^\[\]]+)(?P<details>(?: \[\w+ [^\[\]]+\])*)")
_EVENT_DETAIL = re.compile(r"\[(?P<key>\w+) (?P<text>[^\]]+)\]")


class Mark(msgspec.Struct, frozen=True):
    """One mark; ``line`` is 1-based in its own file. ``codes`` are for what is flagged, ``effects`` for events."""

    path: str
    line: int
    kind: str
    text: str
    codes: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    details: tuple[tuple[str, str], ...] = ()


class Spec(msgspec.Struct, frozen=True):
    """One block: its title (the heading above it), the line of its fence, its files and marks, and the rules that it
    turns on."""

    title: str
    line: int
    files: dict[str, str]
    marks: tuple[Mark, ...]
    select: tuple[str, ...] = ()


class SpecError(Exception):
    """A block that is not well formed; one line."""


def specs_in(text: str) -> list[Spec]:
    found: list[Spec] = []
    title, start, select = "", 0, ""
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if start:
            if line.startswith("```"):
                found.append(spec_of(title, start, lines, tuple(select.split())))
                start = 0
            else:
                lines.append(line)
        elif (fence := _FENCE.fullmatch(line)) is not None:
            start, lines, select = number, [], fence["select"]
        elif (heading := _HEADING.match(line)) is not None:
            title = heading["title"]
    if start:
        raise SpecError(f"line {start}: the block has no end")
    return found


def spec_of(title: str, line: int, lines: list[str], select: tuple[str, ...]) -> Spec:
    files: dict[str, list[str]] = {}
    name = "main.py"
    for text in lines:
        start = _FILE.match(text)
        if start is not None:
            name = start["name"]
            files[name] = []
        else:
            files.setdefault(name, []).append(text)
    marks = [mark for path, texts in files.items() for mark in marks_of(path, texts)]
    return Spec(title, line, {path: "\n".join(texts) + "\n" for path, texts in files.items()}, tuple(marks), select)


def marks_of(path: str, lines: list[str]) -> list[Mark]:
    found = []
    for number, line in enumerate(lines, 1):
        for match in _MARK.finditer(line):
            kind, text = match["kind"], match["text"].strip()
            if kind == "revealed":
                found.append(Mark(path, number, kind, text))
            elif kind in ("event", "no-event"):
                found.append(event_mark(path, number, kind, text))
            else:
                found.append(finding_mark(path, number, kind, text))
    return found


def finding_mark(path: str, number: int, kind: str, text: str) -> Mark:
    codes = tuple(_CODE.findall(text.split("[")[0].split(" because ")[0]))
    if not codes:
        raise SpecError(f"a mark names no rule: # {kind}: {text}")
    if kind != "flagged" and " because " not in text:
        raise SpecError(f"a known mistake says why: # {kind}: {text}")
    details = tuple((detail["key"], detail["text"]) for detail in _DETAIL.finditer(text))
    return Mark(path, number, kind, text, codes, details=details)


def event_mark(path: str, number: int, kind: str, text: str) -> Mark:
    match = _EVENT.fullmatch(text)
    if match is None or (kind == "no-event" and match["details"]):
        raise SpecError(f"a mark of an event is a name, and what holds of it in brackets: # {kind}: {text}")
    effects = tuple(known_effect(name.strip()) for name in match["names"].split(","))
    details = tuple((detail["key"], detail["text"]) for detail in _EVENT_DETAIL.finditer(match["details"]))
    for key, word in details:
        refuse_unknown_detail(key, word)
    return Mark(path, number, kind, text, effects=effects, details=details)


def known_effect(name: str) -> Effect:
    try:
        return Effect(name)
    except ValueError:
        raise SpecError(f"no effect is called {name!r}") from None


def refuse_unknown_detail(key: str, word: str) -> None:
    words = {"heat": Heat.__members__, "certainty": Certainty.__members__}.get(key)
    if words is None:
        raise SpecError(f"a mark of an event says its heat and its certainty, and no {key!r}")
    if word.upper() not in words or word != word.lower():
        raise SpecError(f"no {key} is called {word!r}")
