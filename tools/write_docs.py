"""Write the pages that follow from rules and tables, so that none is older than what it tells.

python tools/write_docs.py            # docs/rules.md, docs/rules/*.md, docs/ops.md, docs/coverage.md
python tools/write_docs.py --check    # exit code 1 where one of them is out of date, missing or left over
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from xlalint.findings.model import Mode, Rule
from xlalint.findings.pages import parse_blocks, parse_page
from xlalint.findings.registry import Loaded, load_rules, page_of
from xlalint.knowledge.ops import OpRow, load_ops

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
TABLES = DOCS / "knowledge"
_NOTE = "<!-- Written by tools/write_docs.py; not to be edited. -->\n"
_MARKS = re.compile(r"  # ((?:error|missed|false-alarm): .*)$", re.MULTILINE)
_NAMES = re.compile(r"(?:error|false-alarm): \d+ \[([a-z0-9-]+)\]")
_FENCE = re.compile(r"^```py (bad|good|fixed).*$", re.MULTILINE)
_EXPERIMENT = re.compile(r"```toml experiment.*?\n```\n\n?", re.DOTALL)
_NO_PROSE = re.compile(r"(^```.*?^```$|^[#|<].*?$|`[^`\n]*`|\[[^\]\n]*\]\([^)\n]*\))", re.DOTALL | re.MULTILINE)
TERMS = {
    "step-boundary": re.compile(r"step(?:'s)? boundar(?:y|ies)"),
    "step-loop": re.compile(r"step loops?"),
    "certainty": re.compile(r"\bcertainty\b"),
    "heat": re.compile(r"\bheat\b"),
    "trip-count": re.compile(r"\btrip counts?"),
    "graph-break": re.compile(r"\bgraph breaks?"),
    "host-read": re.compile(r"\b(?:a|one) host read\b"),
    "bucketing": re.compile(r"\bbuckets?\b"),
    "fallback": re.compile(r"\b(?:falls? back|fallbacks?)\b"),
}
"""The words of pages that the glossary explains, by their anchor there."""


class DocsError(Exception):
    """A table does not fit the rules. The message is one line."""


def pages() -> dict[Path, str]:
    """Path → text of every generated page."""
    rules = sorted(load_rules(), key=lambda one: one.rule.code)
    found = {DOCS / "rules.md": index(rules), DOCS / "ops.md": ops_page(), DOCS / "coverage.md": coverage(rules)}
    for one in rules:
        found[DOCS / "rules" / f"{one.rule.code.lower()}.md"] = rule_page(one)
    return found


# Rules


def index(rules: list[Loaded]) -> str:
    lines = [
        _NOTE,
        "# The rules\n",
        f"{len(rules)} rules. What a rule claims was measured on the device; its page has the programs and the "
        "figures. Rules that are off by default are on where their code is selected. The [glossary](glossary.md) "
        "explains the terms, such as [step boundary](glossary.md#step-boundary).\n",
        "| code | name | family | level | what |",
        "| --- | --- | --- | --- | --- |",
    ]
    for one in rules:
        rule = one.rule
        what = parse_page(page_of(one.origin)).definition.replace("\n", " ").replace("|", "\\|")
        code = f"[{rule.code}](rules/{rule.code.lower()}.md)"
        lines.append(f"| {code} | `{rule.name}` | {rule.family} | {level(rule)} | {what} |")
    return "\n".join(lines) + "\n"


def level(rule: Rule) -> str:
    return rule.severity.name.lower() if rule.default else f"{rule.severity.name.lower()}, off by default"


def rule_page(one: Loaded) -> str:
    """The rule's own page for readers: marks say what is flagged, and the experiment's claims are left out."""
    rule = one.rule
    title, _, rest = page_of(one.origin).partition("\n")
    modes = ", ".join(mode.value for mode in Mode if mode in rule.modes)
    needs = " Only where torch_xla is in use." if rule.needs_xla else ""
    facts = f"Family *{rule.family}*, level *{level(rule)}*, measured in the modes {modes}.{needs}\n"
    text = _MARKS.sub(lambda mark: shown(mark[1], rule), rest)
    text = _EXPERIMENT.sub("", _FENCE.sub("```python", text))
    text = re.sub(r"## Experiment\n\n(?=## )", "", text)
    return f"{_NOTE}\n{title}\n\n{facts}{linked(text)}"


def linked(text: str) -> str:
    """``text`` with a link to the glossary where its prose first has one of its words."""
    parts = _NO_PROSE.split(text)
    for anchor, word in TERMS.items():
        for at in range(0, len(parts), 2):
            part, links = word.subn(lambda found, a=anchor: f"[{found[0]}](../glossary.md#{a})", parts[at], count=1)
            if links:
                # A link is no prose: no other word is looked for in it.
                parts[at : at + 1] = _NO_PROSE.split(part)
                break
    return "".join(parts)


def shown(mark: str, rule: Rule) -> str:
    names = dict.fromkeys(_NAMES.findall(mark))
    return f"  # {', '.join(rule.code if name == rule.name else name for name in names)}" if names else ""


# Ops


def ops_page() -> str:
    table = load_ops()
    rows = sorted(table.rows, key=lambda row: row.name.lower())
    costly = [row for row in rows if row.costs != "never" or row.backward_costs != "never"]
    sometimes = sum(row.costs == "sometimes" for row in costly)
    made = ", ".join(f"{key} {value}" for key, value in table.header.items() if key != "sha256")
    lines = [
        _NOTE,
        "# What ops cost\n",
        f"{len(rows)} ops were run on the device ({made}); {len(rows) - len(costly)} stay there, forward and backward, "
        f"with all the arguments that were tried. The others read the host or fall back to it, {sometimes} of them "
        "only with some arguments. A condition speaks of the op's arguments by name.\n",
        "| op | forward | falls back | backward | shape depends on data | under openxla |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [op_line(row) for row in costly]
    return "\n".join(lines) + "\n"


def op_line(row: OpRow) -> str:
    forward = cost_cell(row.costs, row.condition)
    backward = cost_cell(row.backward_costs, row.backward_condition)
    fallback = " ".join(f"`{name}`" for name in row.fallback)
    return f"| `{row.name}` | {forward} | {fallback} | {backward} | {'yes' if row.data_shape else ''} | {row.openxla} |"


def cost_cell(cost: str, condition: str) -> str:
    if cost == "never":
        return ""
    if condition in ("", "?"):
        return cost
    return f"{cost}: `{condition}`".replace("|", "\\|")


# Coverage


def coverage(rules: list[Loaded]) -> str:
    """Every row of the catalogue of measured patterns, and where it went."""
    catalogue = read("catalogue.csv")
    by_code = {one.rule.code: one.rule for one in rules}
    refuse_unknown(catalogue, by_code)
    free = parse_blocks((ROOT / "tests" / "rules" / "free.md").read_text(encoding="utf-8"))
    good = sum(len(parse_page(page_of(one.origin)).of_kind("good")) for one in rules)
    ruled = [row for row in catalogue if row["rules"]]
    lines = [
        _NOTE,
        "# Where each measured pattern went\n",
        f"Before the first rule was written, {len(catalogue)} patterns that cost were measured on the device. "
        f"{len(ruled)} of them are flagged, by {len(of_rules(catalogue))} rules; of the other "
        f"{len(catalogue) - len(ruled)} the table says why not. What turned out to be free, or to be compiled once and "
        f"never again, must not be flagged: {len(free)} programs of tests/rules/free.md and {good} good programs of "
        "the rules' pages hold us to that, on the device, too.\n",
        "| pattern | name | flagged by | remark |",
        "| --- | --- | --- | --- |",
        *(coverage_line(row, by_code) for row in catalogue),
    ]
    return "\n".join(lines) + "\n"


def coverage_line(row: dict[str, str], rules: dict[str, Rule]) -> str:
    codes = [f"[{code}](rules/{code.lower()}.md)" for code in row["rules"].split()]
    codes = [
        f"{link} (off)" if not rules[code].default else link
        for link, code in zip(codes, row["rules"].split(), strict=True)
    ]
    return f"| {row['row']} | {row['name']} | {', '.join(codes) or 'nothing'} | {row['remark']} |"


def of_rules(catalogue: Iterable[dict[str, str]]) -> Counter[str]:
    return Counter(code for row in catalogue for code in row["rules"].split())


def refuse_unknown(catalogue: list[dict[str, str]], rules: dict[str, Rule]) -> None:
    """Raises ``DocsError`` where a row leads nowhere, or stands twice."""
    seen: set[str] = set()
    for row in catalogue:
        unknown = [code for code in row["rules"].split() if code not in rules]
        if unknown or row["row"] in seen or not (row["rules"] or row["remark"]):
            raise DocsError(f"catalogue.csv: {row['row']} stands twice, says nothing, or names {unknown}")
        seen.add(row["row"])


def read(name: str) -> list[dict[str, str]]:
    with (TABLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# Writing


def stale(wanted: dict[Path, str]) -> Iterator[str]:
    """One line for each page that is not what it should be."""
    for path, text in wanted.items():
        if not path.exists():
            yield f"{path.relative_to(ROOT)} is missing"
        elif path.read_text(encoding="utf-8") != text:
            yield f"{path.relative_to(ROOT)} is out of date"
    for path in sorted((DOCS / "rules").glob("*.md")):
        if path not in wanted:
            yield f"{path.relative_to(ROOT)} is left over"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Write the pages that follow from rules and tables.")
    parser.add_argument("--check", action="store_true", help="write nothing, and tell what is out of date")
    check = parser.parse_args(arguments).check
    try:
        wanted = pages()
    except DocsError as error:
        print(error, file=sys.stderr)
        return 1
    wrong = list(stale(wanted))
    if check:
        print("".join(f"{line}: run tools/write_docs.py\n" for line in wrong), end="", file=sys.stderr)
        return 1 if wrong else 0
    (DOCS / "rules").mkdir(exist_ok=True)
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    for path in (DOCS / "rules").glob("*.md"):
        if path not in wanted:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
