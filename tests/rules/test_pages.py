"""Every rule's page is well formed and agrees with the rule."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from xlalint.findings.model import Mode, Rule
from xlalint.findings.pages import Page, PageError, fixed_text, parse_page, without_marks

RULES = Path(__file__).resolve().parents[2] / "rules"
PAGES = sorted(RULES.glob("xla[0-9]*.md"))
FAMILIES_BY_DIGIT = {
    "1": {"host-transfer"},
    "2": {"control-flow"},
    "3": {"dynamic-shape", "bucketing"},
    "4": {"mode", "step", "lowering"},
    "5": {"debug", "profiler", "lowering"},
    "6": {"lowering"},
}

each_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


def page_of(path: Path) -> Page:
    return parse_page(path.read_text(encoding="utf-8"))


def rule_of(path: Path) -> Rule:
    rule = importlib.import_module(f"xlalint.rules.{path.stem}").RULE
    assert isinstance(rule, Rule)
    return rule


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    assert PAGES
    assert [path.stem for path in PAGES] == [path.stem for path in sorted(RULES.glob("xla[0-9]*.py"))]


@each_page
def test_the_page_names_its_rule(path: Path) -> None:
    page, rule = page_of(path), rule_of(path)
    assert (page.code, page.name) == (rule.code, rule.name)
    assert path.stem == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert rule.family in FAMILIES_BY_DIGIT[rule.code[3]]


@each_page
def test_the_page_says_what_a_reader_needs(path: Path) -> None:
    page = page_of(path)
    assert page.definition
    assert {"Why it costs", "Bad", "Good", "Experiment"} <= set(page.sections)
    assert all(page.sections.values())
    assert ("Fix" in page.sections) == bool(page.of_kind("fixed"))
    assert page.of_kind("bad")
    assert page.of_kind("good")
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 120


@each_page
def test_blocks_are_programs_that_the_device_can_run(path: Path) -> None:
    page = page_of(path)
    for block in page.blocks:
        text = fixed_text(page.bad_of(block), block) if block.kind == "fixed" else block.text
        functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        (run,) = (function for function in functions if function.name == "run")
        assert [argument.arg for argument in run.args.args] == ["steps"]


@each_page
def test_marks_stand_in_bad_blocks_and_name_the_rule(path: Path) -> None:
    page = page_of(path)
    for block in page.blocks:
        own = [mark for mark in block.marks if mark.kind in ("error", "missed") and mark.name == page.name]
        assert bool(own) == (block.kind == "bad"), f"the {block.kind} block at line {block.line}"


@each_page
def test_every_block_belongs_to_an_experiment_in_modes_of_the_rule(path: Path) -> None:
    page, rule = page_of(path), rule_of(path)
    assert page.experiments
    for block in page.blocks:
        assert page.experiment_of(block), f"the {block.kind} block at line {block.line}"
    for experiment in page.experiments:
        assert experiment.modes
        assert set(experiment.modes) <= rule.modes


@each_page
def test_an_experiment_tells_bad_from_good(path: Path) -> None:
    for experiment in page_of(path).experiments:
        if experiment.metric == "raises":
            continue
        for mode in experiment.modes:
            claims = experiment.claims(mode)
            assert claims.bad is not None
            assert claims.bad != claims.good or (claims.once and claims.once.bad != claims.once.good)


@each_page
def test_figures_name_their_versions_and_no_times(path: Path) -> None:
    page = page_of(path)
    measured = page.sections.get("Measured", "")
    assert re.search(r"torch \d+\.\d+\.\d+, torch_xla \d+\.\d+\.\d+, \w+ device\.$", measured), (
        f"{path.name} has no figures: `python tools/measure_pages.py {page.code}` runs its programs where torch_xla is "
        "installed (the CPU device will do) and writes them"
    )
    assert not re.search(r"\d ?(ms|s)\b|\b20\d\d\b", measured)
    assert list(page.sections)[-1] == "Measured"


@each_page
def test_the_rule_is_short_and_sees_the_api_only(path: Path) -> None:
    text = path.with_suffix(".py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    modules = {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    assert {module for module in modules if module and module.startswith(("xlalint", "rules", "torch"))} == {
        "xlalint.api"
    }


def test_codes_and_names_are_given_once() -> None:
    rules = [rule_of(path) for path in PAGES]
    assert len({rule.code for rule in rules}) == len(rules)
    assert len({rule.name for rule in rules}) == len(rules)


PAGE = """# `thing-in-step` (XLA199)

What it is.

Not the definition.

## Bad

```py bad
def run(steps: int) -> float:
    total = 0.0
    for _ in range(steps):
        total += a.item() + b.item()  # error: 18 [thing-in-step] error: 29 [thing-in-step]
        # missed: [other-thing]
        c = (
            other()
        )
    return total
```

## Experiment

```toml experiment
modes = ["lazy", "eager"]
metric = "reads"
bad = { per_step = 2 }
eager = { bad = { per_step = 3 }, also = { executions = { bad = 4 } } }
```

## Fix

```py fixed
total += a.detach() + b.detach()
again()
```
"""


def test_parse_page_reads_marks_sections_and_claims() -> None:
    page = parse_page(PAGE)
    assert (page.code, page.name, page.definition) == ("XLA199", "thing-in-step", "What it is.")
    assert list(page.sections) == ["Bad", "Experiment", "Fix"]
    (bad,) = page.of_kind("bad")
    assert [(mark.line, mark.column, mark.kind, mark.name) for mark in bad.marks] == [
        (4, 18, "error", "thing-in-step"),
        (4, 29, "error", "thing-in-step"),
        (6, None, "missed", "other-thing"),
    ]
    experiment = page.experiment_of(bad)
    assert experiment is not None
    assert experiment.claims(Mode.LAZY).bad == experiment.bad
    eager = experiment.claims(Mode.EAGER)
    assert (eager.bad and eager.bad.per_step, eager.also["executions"].bad) == (3, 4)


def test_a_fragment_takes_the_place_of_the_marked_statement() -> None:
    page = parse_page(PAGE)
    (bad,), (fixed,) = page.of_kind("bad"), page.of_kind("fixed")
    text = fixed_text(bad, fixed)
    assert "        total += a.detach() + b.detach()\n        again()\n" in text
    assert "a.item()" not in text
    assert "error:" not in without_marks(bad.text)
    assert "a.item() + b.item()\n" in without_marks(bad.text)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("# `thing-in-step` (XLA199)", "# thing (XLA199)", "line 1"),
        ("```py bad", "```py worse", "bad, good or fixed"),
        ("error: 18 [", "error: [", "needs a column"),
        ('metric = "reads"', 'metric = "looks"', "no metric is called 'looks'"),
        ('metric = "reads"', 'metric = "raises"', "go together"),
        ("bad = { per_step = 2 }", "worse = 1", "unknown field"),
        ("again()\n```", "again()", "not closed"),
        ("## Fix", "## Bad", "stands twice"),
    ],
)
def test_a_page_that_is_not_well_formed_is_refused(old: str, new: str, said: str) -> None:
    assert old in PAGE
    with pytest.raises(PageError, match=re.escape(said)):
        parse_page(PAGE.replace(old, new))
