"""The files of a new rule, in a checkout of this project: a rule that works, on an effect that can be replaced.

The rule is off by default, so that it disturbs no other while it is being written. Its page claims what the device
shows for its programs; only the figures are missing, for they come from a run.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType

import msgspec

FAMILIES = MappingProxyType(
    {"1": "host-transfer", "2": "control-flow", "3": "dynamic-shape", "4": "step", "5": "debug", "6": "lowering"}
)
"""The family of a rule, by the first digit of its code."""
_CODE = re.compile(r"XLA(?P<family>\d)\d\d")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_UNRELEASED = re.compile(r"^## \[Unreleased\]\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ADDED = re.compile(r"^### Added\n.*?(?=^#|\Z)", re.MULTILINE | re.DOTALL)

MODULE = '''\
"""{code}: say in one line what is flagged."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Rule, Severity, how_often

RULE = Rule(
    code="{code}",
    name="{name}",
    family="{family}",
    severity=Severity.WARNING,
    modes=frozenset({{Mode.LAZY, Mode.EAGER}}),
    default=False,
)


def check(facts: Facts) -> Iterator[Finding]:
    for event in facts.hot(Effect.UPLOAD):
        yield Finding(
            rule=RULE,
            at=event,
            message=f"`{{event.spelling}}` is made on the host and goes to the device {{how_often(event)}}",
            help="make it once, before the loop",
        )
'''

PAGE = """\
# `{name}` ({code})

Say in one sentence what is flagged: a tensor that is made on the host goes to the device in every step.

## Why it costs

Say in two or three sentences what the device does, and what it would do without it: an upload is one more transfer.

## Bad

```py bad
import torch
import torch_xla


def run(steps: int) -> object:
    device = torch_xla.device()
    x = torch.ones(4, 8, device=device)
    for _ in range(steps):
        x = x * 0.9 + torch.arange(8).to(device)  # error: 23 [{name}]
        torch_xla.sync()
    return x
```

## Good

```py good
import torch
import torch_xla


def run(steps: int) -> object:
    device = torch_xla.device()
    x = torch.ones(4, 8, device=device)
    numbers = torch.arange(8).to(device)
    for _ in range(steps):
        x = x * 0.9 + numbers
        torch_xla.sync()
    return x
```

## Experiment

```toml experiment
modes = ["lazy", "eager"]
metric = "uploads"
bad = {{ per_step = 1 }}
good = {{ per_step = 0 }}
also = {{ compiles = {{ bad = 0, good = 0 }}, reads = {{ bad = 0, good = 0 }} }}
```

## Measured

Not yet: `python tools/measure_pages.py {code}` writes the figures.
"""

NEXT = """\
The rule works and flags uploads, off by default: put your effect, your words and your programs in their place. Then:

    pytest tests/rules -k {stem}
        form and findings
    python tools/measure_pages.py {code}
        runs the programs where torch_xla is installed (its CPU device will do) and writes the figures
    python tools/write_docs.py
        docs/rules.md and docs/rules/{stem}.md

The figures of the section Measured come from that run and from nowhere else: until then one test fails,
test_figures_name_their_versions_and_no_times. Take `default=False` away once the rule is to be on.
"""


class TemplateError(Exception):
    """A rule can't be begun here, or not under this name. One line."""


class Written(msgspec.Struct, frozen=True):
    """What was written, relative to the checkout, and what the author does next."""

    paths: tuple[str, ...]
    next_steps: str


def begin_rule(checkout: Path, code: str, name: str) -> Written:
    """Write the two files of a rule and its line in the change log. Raises ``TemplateError`` before it writes."""
    words = {"code": code, "name": name, "family": family_of(code), "stem": code.lower()}
    refuse_malformed_name(name)
    change_log = change_log_of(checkout)
    refuse_taken(checkout / "rules", code, name)
    file = f"{code.lower()}_{name.replace('-', '_')}"
    texts = {
        f"rules/{file}.py": MODULE.format_map(words),
        f"rules/{file}.md": PAGE.format_map(words),
        "CHANGELOG.md": with_entry(change_log, f"- {code}, off by default: say in one line what is flagged."),
    }
    for path, text in texts.items():
        (checkout / path).write_text(text, encoding="utf-8")
    return Written(tuple(texts), NEXT.format_map(words))


def family_of(code: str) -> str:
    match = _CODE.fullmatch(code)
    if match is None:
        raise TemplateError(f"`{code}` is no code: it is XLA and three digits, such as XLA605")
    if match["family"] not in FAMILIES:
        known = ", ".join(f"{digit} {family}" for digit, family in FAMILIES.items())
        raise TemplateError(f"`{code}` has no family: the first digit is one of {known}")
    return FAMILIES[match["family"]]


def refuse_malformed_name(name: str) -> None:
    if _NAME.fullmatch(name) is None:
        raise TemplateError(f"`{name}` is no name: it is words of a to z and 0 to 9 with hyphens between them")


def refuse_taken(rules: Path, code: str, name: str) -> None:
    for path in sorted(rules.iterdir()):
        taken_code, _, taken_name = path.stem.partition("_")
        if taken_code.upper() == code:
            raise TemplateError(f"{code} is taken by rules/{path.name}")
        if taken_code.startswith("xla") and taken_name == name.replace("-", "_"):
            raise TemplateError(f"the name `{name}` is taken by rules/{path.name}")


def change_log_of(checkout: Path) -> str:
    """The text of the change log. Raises ``TemplateError`` for a folder that is no checkout of the project."""
    for name in ("rules/__init__.py", "tools/measure_pages.py", "CHANGELOG.md"):
        if not (checkout / name).is_file():
            raise TemplateError(f"{checkout} is no checkout of xlalint: there is no {name}")
    text = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    if _UNRELEASED.search(text) is None:
        raise TemplateError("CHANGELOG.md has no part `## [Unreleased]`")
    return text


def with_entry(change_log: str, entry: str) -> str:
    """The change log with one more line at the end of what was added since the last release."""
    unreleased = _UNRELEASED.search(change_log)
    assert unreleased is not None
    added = _ADDED.search(unreleased[0])
    if added is None:
        head, rest = change_log[: unreleased.end()].rstrip("\n"), change_log[unreleased.end() :]
        return f"{head}\n\n### Added\n\n{entry}\n" + (f"\n{rest}" if rest else "")
    end = unreleased.start() + added.end()
    head, rest = change_log[:end].rstrip("\n"), change_log[end:]
    return f"{head}\n{entry}\n" + (f"\n{rest}" if rest else "")
