"""A rule's page: its documentation, its test and its experiment on the device, read from one Markdown text.

A page starts with ``# `name` (CODE)``; the first paragraph below is the definition; ``## Heading`` starts a section.
Code stands in fences: ``py bad``, ``py good``, ``py fixed`` and ``toml experiment``, each with an optional label
(``py bad accumulated``). A labelled block belongs to the experiment of the same label, else to the one without.
``py installed NAME.py`` is a module that the other blocks import from where packages are installed.
"""

from __future__ import annotations

import ast
import re
import textwrap

import msgspec

from xlalint.findings.model import Mode

METRICS = (
    "compiles",
    "executions",
    "reads",
    "uploads",
    "fallbacks",
    "graph_breaks",
    "pending_ops",
    "live_tensors",
    "port_open",
    "host_seconds",
    "raises",
)

_TITLE = re.compile(r"# `(?P<name>[a-z0-9-]+)` \((?P<code>XLA\d{3})\)")
_FENCE = re.compile(r"(?P<ticks>`{3,})(?P<info>.*)")
_INSTALLED = "py installed "
_MARK = re.compile(r"(?P<kind>error|missed|false-alarm):(?: (?P<column>\d+))? \[(?P<name>[a-z0-9-]+)\]")
_MARK_COMMENT = re.compile(r"[ \t]*# (?:error|missed|false-alarm): .*$", re.MULTILINE)


_MADE = """\
import sys as _sys, types as _types
_sys.modules["{name}"] = _types.ModuleType("{name}")
exec({text!r}, vars(_sys.modules["{name}"]))
"""


class PageError(Exception):
    """A malformed page. The message is one line and names the line of the page where it can."""


class Mark(msgspec.Struct, frozen=True, order=True):
    """What a comment in a block says of its line: ``line`` and ``column`` are 1-based, in the block's own text."""

    line: int
    column: int | None
    kind: str
    """``error``: found here. ``missed``: ought to be found, is not. ``false-alarm``: found, ought not to be."""
    name: str


class Block(msgspec.Struct, frozen=True):
    """One fence with Python in it. ``line`` is that of its first line of code in the page, 1-based."""

    kind: str
    label: str
    text: str
    line: int
    marks: tuple[Mark, ...]


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one side of an experiment must show in the metric: growth a step, or at least so much (for ratios)."""

    per_step: float | None = None
    once: float | None = None
    at_least: float | None = None


class Sides(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bad: float | None = None
    good: float | None = None


class ModeClaims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What holds in one mode where it differs from the rest; ``also`` stands in for that of the experiment."""

    bad: Claim | None = None
    good: Claim | None = None
    also: dict[str, Sides] = {}
    once: Sides | None = None


class Experiment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the device must show. Figures are per step, from N to 2N steps; ``once`` is the part that does not grow."""

    modes: tuple[Mode, ...]
    metric: str
    bad: Claim = Claim()
    good: Claim = Claim()
    also: dict[str, Sides] = {}
    once: Sides = Sides()
    raises: str | None = None
    """The type of the exception that every bad block raises; for the metric ``raises``."""
    steps: int = 6
    env: dict[str, str] = {}
    """Set before torch_xla is imported: such a program runs in a new interpreter, which takes seconds."""
    devices: int = 1
    """Of the CPU's virtual devices: the program runs on each, as after a launch. Other devices are left out."""
    dynamo: ModeClaims | None = None
    eager: ModeClaims | None = None
    label: str = ""

    def claims(self, mode: Mode) -> ModeClaims:
        """What must hold in ``mode``."""
        own = {Mode.DYNAMO: self.dynamo, Mode.EAGER: self.eager}.get(mode)
        if own is None:
            return ModeClaims(bad=self.bad, good=self.good, also=self.also, once=self.once)
        return ModeClaims(bad=own.bad or self.bad, good=own.good or self.good, also=own.also, once=own.once or Sides())


class Page(msgspec.Struct, frozen=True):
    code: str
    name: str
    definition: str
    sections: dict[str, str]
    """Heading to text, in the order of the page, fences included."""
    blocks: tuple[Block, ...]
    experiments: tuple[Experiment, ...]
    installed: dict[str, str] = {}
    """Text of the modules that the blocks import, by file name."""

    def of_kind(self, kind: str) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.kind == kind)

    def experiment_of(self, block: Block) -> Experiment | None:
        """The experiment of the block's label, else the one without a label."""
        by_label = {experiment.label: experiment for experiment in self.experiments}
        return by_label.get(block.label) or by_label.get("")

    def program_of(self, block: Block) -> str:
        """The text that the device runs for a block, with what it imports."""
        text = fixed_text(self.bad_of(block), block) if block.kind == "fixed" else block.text
        made = [_MADE.format(name=name.removesuffix(".py"), text=body) for name, body in self.installed.items()]
        return "".join([*made, text])

    def bad_of(self, fixed: Block) -> Block:
        """The bad block that ``fixed`` is the mended text of: that of the same label."""
        for block in self.of_kind("bad"):
            if block.label == fixed.label:
                return block
        raise PageError(f"line {fixed.line}: no bad block is labelled {fixed.label!r}")


class _Fence(msgspec.Struct, frozen=True):
    info: str
    text: str
    line: int


def parse_page(text: str) -> Page:
    """Read a rule's page.

    Raises PageError where the page is not well formed.
    """
    lines = text.splitlines()
    title = _TITLE.fullmatch(lines[0]) if lines else None
    if title is None:
        raise PageError("line 1: want a title like # `scalar-read-in-step` (XLA101)")
    fences, prose = _split(lines)
    definition, sections = _sections(prose)
    installed = [fence for fence in fences if fence.info.startswith(_INSTALLED)]
    programs = [fence for fence in fences if fence.info.startswith("py ") and fence not in installed]
    return Page(
        code=title["code"],
        name=title["name"],
        definition=definition,
        sections=sections,
        blocks=tuple(map(_block, programs)),
        experiments=tuple(_experiment(fence) for fence in fences if fence.info.startswith("toml experiment")),
        installed={fence.info.removeprefix(_INSTALLED): fence.text for fence in installed},
    )


def growth(page: Page) -> dict[str, float]:
    """What the first experiment of a page shows that a step has more of than the mended program's, by metric."""
    if not page.experiments:
        return {}
    experiment = page.experiments[0]
    own = Sides(experiment.bad.per_step, experiment.good.per_step)
    sides = {experiment.metric: own, **experiment.also}
    return {metric: (each.bad or 0.0) - (each.good or 0.0) for metric, each in sides.items()}


def parse_blocks(text: str) -> tuple[Block, ...]:
    """The Python blocks of a text that is no rule's page, such as the list of what is free."""
    fences, _ = _split(text.splitlines())
    return tuple(_block(fence) for fence in fences if fence.info.startswith("py "))


def fixed_text(bad: Block, fixed: Block) -> str:
    """The module after the fix.

    A fixed block is a whole module if it defines ``run`` at its top level. Otherwise it is a fragment: its
    statements take, in order, the places of the statements of ``bad`` that hold an error mark; where only one is
    marked, all of the fragment takes its place. Raises PageError where the numbers don't agree.
    """
    if re.search(r"^def run\(", fixed.text, re.MULTILINE):
        return fixed.text
    marked = _marked_statements(bad)
    fragment = textwrap.dedent(fixed.text).rstrip("\n")
    parts = [fragment] if len(marked) == 1 else _statement_texts(fragment)
    if len(parts) != len(marked):
        raise PageError(f"line {fixed.line}: {len(parts)} statements for {len(marked)} marked ones")
    lines = bad.text.splitlines()
    for statement, part in sorted(zip(marked, parts, strict=True), key=lambda pair: -pair[0].lineno):
        end = statement.end_lineno or statement.lineno
        lines[statement.lineno - 1 : end] = textwrap.indent(part, " " * statement.col_offset).splitlines()
    return "\n".join(lines) + "\n"


def without_marks(text: str) -> str:
    """The text without its mark comments, to compare it with a fixed text."""
    return _MARK_COMMENT.sub("", text)


def _split(lines: list[str]) -> tuple[list[_Fence], list[str]]:
    """Fences, and all lines (those inside fences indented by a NUL, so that no heading is seen in them)."""
    fences: list[_Fence] = []
    prose: list[str] = []
    opened: tuple[str, str, int] | None = None
    for number, line in enumerate(lines, 1):
        fence = _FENCE.fullmatch(line)
        if opened is None and fence:
            opened = (fence["ticks"], fence["info"].strip(), number)
        elif opened is not None and line == opened[0]:
            body = lines[opened[2] : number - 1]
            fences.append(_Fence(opened[1], "".join(f"{part}\n" for part in body), opened[2] + 1))
            opened = None
        elif opened is not None:
            prose.append("\0" + line)
            continue
        prose.append(line)
    if opened is not None:
        raise PageError(f"line {opened[2]}: the fence is not closed")
    return fences, prose


def _sections(prose: list[str]) -> tuple[str, dict[str, str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    head = current
    for line in prose[1:]:
        if line.startswith("## "):
            heading = line[3:].strip()
            if heading in sections:
                raise PageError(f"the section {heading!r} stands twice")
            current = sections[heading] = []
        else:
            current.append(line.removeprefix("\0"))
    definition = "\n".join(head).strip().split("\n\n")[0]
    return definition, {heading: "\n".join(body).strip() for heading, body in sections.items()}


def _block(fence: _Fence) -> Block:
    _, kind, *label = fence.info.split(maxsplit=2)
    if kind not in ("bad", "good", "fixed"):
        raise PageError(f"line {fence.line - 1}: a block is bad, good or fixed, not {kind!r}")
    return Block(kind, label[0] if label else "", fence.text, fence.line, _marks(fence.text))


def _marks(text: str) -> tuple[Mark, ...]:
    """Marks at a line's end are for that line; a comment that has a line to itself is for the line below."""
    marks: list[Mark] = []
    for number, line in enumerate(text.splitlines(), 1):
        code, hash_sign, comment = line.partition("# ")
        if not hash_sign:
            continue
        at = number if code.strip() else number + 1
        for mark in _MARK.finditer(comment):
            column = int(mark["column"]) if mark["column"] else None
            if column is None and mark["kind"] == "error":
                raise PageError(f"an error mark needs a column: {line.strip()}")
            marks.append(Mark(at, column, mark["kind"], mark["name"]))
    return tuple(marks)


def _experiment(fence: _Fence) -> Experiment:
    try:
        experiment = msgspec.toml.decode(fence.text, type=Experiment)
    except msgspec.MsgspecError as error:
        raise PageError(f"line {fence.line}: experiment: {error}") from error
    for metric in (experiment.metric, *experiment.also):
        if metric not in METRICS:
            raise PageError(f"line {fence.line}: no metric is called {metric!r}")
    if (experiment.metric == "raises") != (experiment.raises is not None):
        raise PageError(f"line {fence.line}: the metric `raises` and the exception's name go together")
    label = fence.info.removeprefix("toml experiment").strip()
    return msgspec.structs.replace(experiment, label=label)


def _marked_statements(block: Block) -> list[ast.stmt]:
    """The innermost statements that the error marks stand in, in the order of the text, each once."""
    statements = [node for node in ast.walk(ast.parse(block.text)) if isinstance(node, ast.stmt)]
    found: dict[int, ast.stmt] = {}
    for mark in block.marks:
        if mark.kind != "error":
            continue
        around = [node for node in statements if node.lineno <= mark.line <= (node.end_lineno or node.lineno)]
        if not around:
            raise PageError(f"line {block.line + mark.line - 1}: no statement stands here")
        innermost = max(around, key=lambda node: (node.lineno, node.col_offset))
        found[innermost.lineno] = innermost
    return [found[line] for line in sorted(found)]


def _statement_texts(fragment: str) -> list[str]:
    lines = fragment.splitlines()
    return ["\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in ast.parse(fragment).body]
