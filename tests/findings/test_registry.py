"""Rules are found by being in the folder, and wrong ones are refused."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from xlalint.findings import registry
from xlalint.findings.errors import ConfigurationError
from xlalint.findings.registry import RegistryError, find, listed, load_rules, page_of

RULES = Path(importlib.import_module("xlalint.rules").__file__ or "").parent

GOOD = """\
from xlalint.api import Rule, Severity
RULE = Rule(code="{code}", name="{name}", family="ours", severity=Severity.NOTE)
def check(facts):
    return iter(())
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed distribution ``ours`` with an entry point and an empty package."""
    package = tmp_path / "ours_rules"
    package.mkdir()
    (package / "__init__.py").write_text("")
    info = tmp_path / "ours-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[xlalint.rules]\nours = ours_rules\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield package  # type: ignore[misc]
    for name in [name for name in sys.modules if name.partition(".")[0] == "ours_rules"]:
        del sys.modules[name]


def add(package: Path, module: str, text: str) -> None:
    (package / f"{module}.py").write_text(text)
    importlib.invalidate_caches()


def test_each_file_in_the_folder_is_a_rule_and_loads() -> None:
    modules = sorted(path.stem for path in RULES.glob("xla*.py"))
    assert [one.module.rpartition(".")[2] for one in listed()] == modules
    for one in load_rules():
        assert one.rule.code.lower() == one.origin.module.rpartition(".")[2].partition("_")[0]
        assert f"({one.rule.code})" in page_of(one.origin)


def test_listing_imports_no_rule(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom xlalint.findings.registry import listed\nassert listed()\n"
        "print([name for name in sys.modules if name.startswith('xlalint.rules.')])"
    )
    # From elsewhere: in the checkout, `-c` would find it before the installed package, which alone has the rules.
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_a_rule_is_found_by_code_or_name() -> None:
    one = listed()[0]
    assert find(one.code.lower(), listed()) == find(one.name, listed()) == one
    assert find("XLA999", listed()) is None


def test_a_plugin_is_loaded_only_when_it_is_named(plugin: Path) -> None:
    add(plugin, "ours100_slow_thing", GOOD.format(code="OURS100", name="slow-thing"))
    (plugin / "ours100_slow_thing.md").write_text("# `slow-thing` (OURS100)\n")
    assert "OURS100" not in {one.code for one in listed()}
    assert "ours_rules" not in sys.modules
    (found,) = [one for one in load_rules(("ours",)) if one.rule.code == "OURS100"]
    assert page_of(found.origin).startswith("# `slow-thing`")


def test_a_plugin_that_is_not_installed_is_told(plugin: Path) -> None:
    with pytest.raises(ConfigurationError, match="no plugin `our` is installed; did you mean `ours`"):
        listed(("our",))


@pytest.mark.parametrize(
    ("module", "text", "told"),
    [
        ("ours1000_x", GOOD.format(code="OURS1001", name="x"), "named otherwise"),
        ("ours1000_x", "def check(facts): ...\n", "no `RULE`"),
        ("ours1000_x", GOOD.format(code="OURS1000", name="x").replace("check", "chek"), "no function `check`"),
        ("ours1000_x", "import nowhere_to_be_found\n", "ModuleNotFoundError"),
        ("ours1000_x", "def (\n", "SyntaxError"),
    ],
)
def test_a_wrong_module_is_refused_in_one_line(plugin: Path, module: str, text: str, told: str) -> None:
    add(plugin, module, text)
    with pytest.raises(RegistryError, match=told) as caught:
        load_rules(("ours",))
    assert "\n" not in str(caught.value)


def test_a_code_or_a_name_given_twice_is_refused(plugin: Path) -> None:
    first = registry.listed()[0]
    add(plugin, f"{first.code.lower()}_other", GOOD.format(code=first.code, name="other"))
    with pytest.raises(RegistryError, match=f"the code `{first.code}` is given by"):
        listed(("ours",))
    (plugin / f"{first.code.lower()}_other.py").unlink()
    add(plugin, f"ours1000_{first.name.replace('-', '_')}", GOOD.format(code="OURS1000", name=first.name))
    with pytest.raises(RegistryError, match=f"the name `{first.name}` is given by"):
        listed(("ours",))
