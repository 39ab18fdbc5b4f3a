"""The four parts of recorded truth: linted, scored by the scorers that lie beside them, and what they tell.

The scorers are programs of their own and decide what is right; here their counts are read, and the places that they
call wrong are put where ``xlalint explain`` can be asked about them.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from figures import Figure, share
from running import Failed, Run, run

LIBRARIES = ("transformers", "torchmetrics", "accelerate", "timm", "torchvision", "diffusers")
CALIBRATED = {"certain": 0.97, "likely": 0.85, "possible": 0.50}
"""By certainty: the least share of findings that are true."""
MISSES, FALSE_ALARMS, OTHERS = "== misses", "== false alarms", "=="


@dataclass(frozen=True)
class Material:
    """Where things lie; ``site`` and ``mirrors`` may not be given. ``show`` is how many wrong answers are wanted."""

    shared: Path
    site: Path | None
    mirrors: Path | None
    linter: str
    show: int = 0


@dataclass
class Measured:
    """What a part gave: figures, and the wrong answers as texts, explained."""

    figures: list[Figure] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


class Absent(Exception):
    """A part can't be scored. The message says what is missing."""


def truth(material: Material) -> Measured:
    """Lines of released libraries. Linted once with all certainties; the score is that of what is shown by default."""
    scorer = present(material.shared / "truth" / "score.py")
    site = given(material.site, "--site")
    libraries = [str(site / name) for name in LIBRARIES if (site / name).is_dir()]
    if not libraries:
        raise Absent(f"none of {', '.join(LIBRARIES)} in the folder given by --site")
    with tempfile.TemporaryDirectory() as scratch:
        findings = lint(material, Path(scratch) / "findings.json", "--min-certainty", "possible", *libraries)
        rows = scorer.with_name("truth.jsonl")

        lines = Lines.recorded(rows, site)

        def scored(*certainties: str, anywhere: bool = True) -> Run:
            chosen = Path(scratch) / "chosen.json"
            told = [one for one in findings if one["certainty"] in certainties]
            wanted = [one for one in told if anywhere or lines.ran_in(one, site)]
            chosen.write_text(json.dumps({"findings": wanted}), encoding="utf-8")
            command = [sys.executable, str(scorer), str(rows), str(chosen), "--root", str(site), "--json"]
            return run([*command, "--show", str(material.show)], allowed=(0,))

        ended = scored("certain", "likely")
        on_lines = counts_of(scored("certain", "likely", anywhere=False))["fp"]
        by_certainty = {name: counts_of(scored(name)) for name in CALIBRATED}
    measured = Measured([*truth_figures(counts_of(ended), by_certainty, on_lines, lines.quiet)])
    for kind, told in wrong_in(ended.output):
        measured.shown.append(explained(material, kind, told, site / place_in(told)))
    return measured


def counts_of(ended: Run) -> dict[str, Any]:
    """The JSON that the truth's scorer prints, before the list of what is wrong."""
    counts: dict[str, Any] = json.JSONDecoder().raw_decode(ended.output)[0]
    return counts


def truth_figures(
    counts: dict[str, Any], by_certainty: dict[str, dict[str, Any]], on_lines: int, quiet: int
) -> Iterator[Figure]:
    """``on_lines`` is how many false alarms stand on lines that ran. The scorer counts by statement, so of one in an
    arm of many lines it can't tell whether its line ran; the recorded lines can."""
    found, wrong, missing = counts["tp"], counts["fp"], counts["drifted_or_missing"]
    remark = f"{counts['files']} files" + (f", {missing} others differ or are missing" if missing else "")
    yield share("truth", "recall", found, counts["event_statements"], 0.97, remark)
    conditional = f"{counts['precision_without_conditional']:.3f} without conditional ones"
    yield share("truth", "precision", found, found + wrong, 0.96, conditional)
    if quiet:
        remark = f"{on_lines} on {quiet} lines that ran and caused nothing"
        yield Figure("truth", "false alarms in 10,000 lines", 1e4 * on_lines / quiet, quiet, 3, True, 10_000, remark)
        remark = f"{wrong}, with those on lines that did not run"
        yield Figure("truth", "(by statement)", 1e4 * wrong / quiet, quiet, None, True, 10_000, remark)
    for name, target in CALIBRATED.items():
        true, all_of_it = by_certainty[name]["tp"], by_certainty[name]["tp"] + by_certainty[name]["fp"]
        yield share("truth", f"{name} ones that are true", true, all_of_it, target, f"{true} of {all_of_it} statements")


@dataclass(frozen=True)
class Lines:
    """What the recorder saw of the lines of each file: ``ran`` in steps; ``quiet`` counts those of them that belong to
    no statement with an event, of the files that are there."""

    ran: dict[str, set[int]]
    quiet: int

    @classmethod
    def recorded(cls, rows: Path, site: Path) -> Lines:
        ran: dict[str, set[int]] = {}
        loud: dict[str, set[int]] = {}
        with rows.open(encoding="utf-8") as file:
            for row in map(json.loads, file):
                if row.get("type") == "function":
                    ran.setdefault(row["file"], set()).update(row["executed_lines"])
                else:
                    first, last = row["stmt"]
                    loud.setdefault(row["file"], set()).update(range(first, last + 1))
        there = [name for name in ran if (site / name).is_file()]
        return cls(ran, sum(len(ran[name] - loud.get(name, set())) for name in there))

    def ran_in(self, finding: dict[str, Any], site: Path) -> bool:
        """Whether a line of the finding ran; of a file that was not recorded, nothing is known."""
        path = Path(finding["path"]).resolve()
        lines = self.ran.get(path.relative_to(site).as_posix()) if path.is_relative_to(site) else None
        return lines is None or not lines.isdisjoint(range(finding["line"], finding["end_line"] + 1))


def scripts(material: Material) -> Measured:
    """Training scripts, scored with all events, and again with those alone that the line's own call makes."""
    scorer = present(material.shared / "scripts" / "score.py")
    mirrors = given(material.mirrors, "--mirrors")
    with tempfile.TemporaryDirectory() as laid, tempfile.TemporaryDirectory() as scratch:
        run([sys.executable, str(scorer.with_name("rebuild.py")), str(mirrors), laid], allowed=(0,))
        findings = Path(scratch) / "findings.json"
        lint(material, findings, "--assume-xla", laid)
        command = [sys.executable, str(scorer), "--dir", laid, "--findings", str(findings)]
        ended = run([*command, "--show", str(material.show)])
        measured = Measured([*script_figures(ended, run([*command, "--direct"]))])
        for kind, told in wrong_in(ended.output):
            shown = explained(material, kind, told, Path(laid, place_in(told)), "--assume-xla")
            measured.shown.append(shown)
    return measured


def script_figures(ended: Run, direct: Run) -> Iterator[Figure]:
    for run_of, label, recall, precision in ((ended, "", 0.92, 0.94), (direct, " (direct)", None, None)):
        counted = r"hot statements (\d+)\s+found (\d+); flagged: hot (\d+)\s+cold (\d+)\s+clean (\d+)"
        hot, found, true, cold, clean = map(int, in_text(run_of, counted))
        yield share("scripts", f"recall{label}", found, hot, recall)
        yield share("scripts", f"precision{label}", true, true + cold + clean, precision, f"{cold} cold lines flagged")
    missing, seen, present_in, flagged = map(
        int, in_text(ended, r"missing in (\d+) scripts, found (\d+); present in (\d+), flagged all the same (\d+)")
    )
    yield share("scripts", "boundary", seen, missing, 19 / 21, f"{seen} of {missing}")
    yield share("scripts", "boundary not flagged where it is", present_in - flagged, present_in, 1.0)


def fixes(material: Material) -> Measured:
    """Lines that people mended, before and after; the scorer's `sure` cases count."""
    scorer = present(material.shared / "fixes" / "run.py")
    mirrors = given(material.mirrors, "--mirrors")
    with tempfile.TemporaryDirectory() as trees, tempfile.TemporaryDirectory() as scratch:
        laid = run([sys.executable, str(scorer.with_name("rebuild.py")), str(mirrors), trees])
        verdicts = Path(scratch) / "verdicts.json"
        command = [sys.executable, str(scorer), material.linter, "--trees", trees, "--json", str(verdicts)]
        ended = run(command)
        if not verdicts.exists():
            raise Failed(f"no figures from the scorer: {(ended.errors or ended.output)[-500:].strip()}")
        cases = [json.loads(line) for line in scorer.with_name("cases.jsonl").read_text("utf-8").splitlines()]
        others = [json.loads(line) for line in scorer.with_name("noncases.jsonl").read_text("utf-8").splitlines()]
        told = {(one["id"], "noncase" in one): one for one in json.loads(verdicts.read_text("utf-8"))}
        measured = Measured([*fix_figures(cases, others, told, laid.output.strip())])
        wrong = sorted(wrong_fixes(cases, others, told, ended.output), key=lambda one: one[0])
        for kind, text, place in of_each_kind(wrong, material.show):
            measured.shown.append(explained(material, kind, text, Path(trees, place)))
    return measured


def apps(material: Material) -> Measured:
    """Findings on applications that were read line by line, as their owners would judge them, and as they come by
    default, where nothing that is not ported is told."""
    scorer = present(material.shared / "apps" / "score.py")
    mirrors = given(material.mirrors, "--mirrors")
    command = [sys.executable, str(scorer), shlex.quote(material.linter), "--mirrors", str(mirrors), "--show"]
    ended = run(command, allowed=(0,))
    measured = Measured([*app_figures(ended, run([*command, "--default"], allowed=(0,)))])
    for _, text, _ in of_each_kind(wrong_rows(ended.output), material.show):
        measured.shown.append(text)
    return measured


def app_figures(ended: Run, default: Run) -> Iterator[Figure]:
    """The scorer's shares, and the counts they are of. By default only what was seen by default is judged: of the
    lines that cost in each step, none."""
    counted = r"told: TRUE (\d+)/(\d+)  FALSE (\d+)/\d+  TRUE-NW (\d+)/\d+  FOUND (\d+)/(\d+)  MISSED (\d+)/(\d+)"
    for run_of, label, useful, right in ((ended, "", 0.88, 0.96), (default, " (default)", 0.80, 0.95)):
        true, wanted, false, unwanted, *costly = map(int, in_text(run_of, counted))
        told = true + false + unwanted
        yield share("apps", f"useful{label}", true, told, useful, f"{unwanted} right, but not welcome")
        yield share("apps", f"right{label}", true + unwanted, told, right)
        yield share("apps", f"kept{label}", true, wanted, 0.93)
        if run_of is ended:
            found, of_found, missed, of_missed = costly
            yield share("apps", "recall", found + missed, of_found + of_missed, 0.92)
            yield from right_by_certainty(ended)


def right_by_certainty(ended: Run) -> Iterator[Figure]:
    for name, right, told in re.findall(r"(certain|likely|possible) (\d+)/(\d+)", ended.output):
        target = CALIBRATED[name] if name == "certain" else None
        yield share("apps", f"{name} ones that are right", int(right), int(told), target, f"{right} of {told}")


def wrong_rows(output: str) -> Iterator[tuple[str, str, str]]:
    """What the scorer shows: a judged row is missed where it should have been told, and a false alarm elsewhere."""
    for line in output.splitlines():
        row = re.match(r"  (\S+) +(not told|told)  (\S+) (.*)", line)
        if row:
            kind = "miss" if row[2] == "not told" else "false alarm"
            yield kind, f"{kind}: {row[3]} ({row[1]}) {row[4]}", row[3]


Verdicts = dict[tuple[str, bool], dict[str, Any]]
Cases = list[dict[str, Any]]


def fix_figures(cases: Cases, others: Cases, told: Verdicts, remark: str) -> Iterator[Figure]:
    for judged, target in (("sure", 0.85), ("likely", None)):
        hits = [told[case["id"], False]["hit"] for case in cases if case["judged"] == judged]
        what = "recall" if judged == "sure" else "recall (likely cases)"
        yield share("fixes", what, sum(hits), len(hits), target, remark if judged == "sure" else "")
    after = [case for case in cases if case["judged"] == "sure" and case["after_clean_lines"]]
    dirty = sum(told[case["id"], False]["after_violation"] for case in after)
    dirty += sum(told[case["id"], True]["violation"] for case in others)
    total = len(after) + len(others)
    yield share("fixes", "clean", total - dirty, total, 0.97)


def wrong_fixes(cases: Cases, others: Cases, told: Verdicts, output: str) -> Iterator[tuple[str, str, str]]:
    """What is wrong, as kind, text and place below the trees: sure cases first, each with the note of its case."""
    for case in sorted(cases, key=lambda case: case["judged"] != "sure"):
        text = f"{case['id']} ({case['judged']}, {case['family']}): {case['note']}"
        if not told[case["id"], False]["hit"]:
            yield "miss", text, f"cases/{case['id']}/before/{case['path']}:{case['before_lines'][0]}"
        elif told[case["id"], False]["after_violation"]:
            line = flagged_line(output, case["id"]) or case["after_clean_lines"][0]
            yield "false alarm", text, f"cases/{case['id']}/after/{case['path']}:{line}"
    for case in others:
        if told[case["id"], True]["violation"]:
            line = flagged_line(output, case["id"]) or case["lines"][0]
            yield "false alarm", f"{case['id']}: {case['why']}", f"noncases/{case['id']}/{case['path']}:{line}"


def flagged_line(output: str, name: str) -> str:
    match = re.search(rf"VIOLATION {re.escape(name)} XLA\d+:(\d+)", output)
    return match[1] if match else ""


def of_each_kind(wrong: Iterable[tuple[str, str, str]], most: int) -> Iterator[tuple[str, str, str]]:
    left = {"miss": most, "false alarm": most}
    for one in wrong:
        left[one[0]] -= 1
        if left[one[0]] >= 0:
            yield one


def wrong_in(output: str) -> Iterator[tuple[str, str]]:
    """The lines below a scorer's headings of misses and of false alarms, with their kind."""
    kind = ""
    for line in output.splitlines():
        if line.startswith(OTHERS):
            kind = "miss" if line.startswith(MISSES) else "false alarm" if line.startswith(FALSE_ALARMS) else ""
        elif kind and line.startswith("  "):
            yield kind, line.strip()


def place_in(told: str) -> str:
    return told.split(" ", 1)[0]


def explained(material: Material, kind: str, told: str, place: Path, *options: str) -> str:
    """What the scorer says of a place, and below it what the linter knows there."""
    ended = run([material.linter, "explain", *options, str(place)], allowed=(0, 1, 2))
    facts = ended.output if ended.status == 0 else ended.errors
    return f"{kind}: {told}\n" + "".join(f"    {line}\n" for line in facts.splitlines())


def lint(material: Material, output: Path, *arguments: str) -> list[dict[str, Any]]:
    command = [material.linter, "check", "--no-cache", "--output-format", "json", "--output", str(output), *arguments]
    linted = run(command)
    if not output.exists():
        raise Failed(f"no findings from the linter: {linted.errors[-500:].strip()}")
    findings: list[dict[str, Any]] = json.loads(output.read_text("utf-8"))["findings"]
    return findings


def present(path: Path) -> Path:
    if not path.exists():
        raise Absent(f"no {path.parent.name}/{path.name} in the folder given by --shared")
    return path.resolve()


def given(folder: Path | None, option: str) -> Path:
    if folder is None or not folder.is_dir():
        raise Absent(f"no folder given by {option}")
    return folder.resolve()


def in_text(ended: Run, pattern: str) -> tuple[str, ...]:
    """The figures in what a scorer printed; ``Failed`` where it printed something else."""
    match = re.search(pattern, ended.output)
    if match is None:
        raise Failed(f"no figures from the scorer: {(ended.errors or ended.output)[-500:].strip()}")
    return match.groups()
