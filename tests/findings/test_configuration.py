"""Where settings come from, and what is said of wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.findings.configuration import Configurations, load_configuration
from xlalint.findings.errors import ConfigurationError
from xlalint.findings.settings import CommandLine, settings_from


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> Path:
    path = Path(name).absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def selected(path: str) -> tuple[str, ...]:
    return Configurations().of_file(path).settings.select


def test_the_nearest_file_says_all() -> None:
    write("pyproject.toml", '[tool.xlalint]\nselect = ["XLA1"]\nmode = "all"\n')
    write("pkg/xlalint.toml", 'select = ["XLA2"]\n')
    write("pkg/deep/pyproject.toml", '[project]\nname = "deep"\n')
    assert selected("x.py") == ("XLA1",)
    assert selected("pkg/x.py") == ("XLA2",)
    # A pyproject.toml without our table is not a configuration of ours.
    assert selected("pkg/deep/er/x.py") == ("XLA2",)
    # Files are not merged.
    assert Configurations().of_file("pkg/x.py").settings.mode == "lazy"


def test_our_own_file_beats_pyproject_beside_it() -> None:
    write("pyproject.toml", '[tool.xlalint]\nselect = ["XLA1"]\n')
    write("xlalint.toml", 'select = ["XLA2"]\n')
    assert selected("x.py") == ("XLA2",)


def test_an_empty_table_of_ours_ends_the_search() -> None:
    write("xlalint.toml", 'select = ["XLA2"]\n')
    write("pkg/pyproject.toml", "[tool.xlalint]\n")
    assert selected("pkg/x.py") == ("ALL",)


def test_the_command_line_is_laid_over_each_file() -> None:
    write("xlalint.toml", 'mode = "all"\nfail-on = "note"\n')
    configurations = Configurations(lambda found: found.with_command_line({"mode": "eager"}, CommandLine()))
    settings = configurations.of_file("x.py").settings
    assert (settings.mode, settings.fail_on) == ("eager", "note")


def test_every_key_is_read() -> None:
    path = write(
        "xlalint.toml",
        """\
select = ["XLA1"]
extend-select = ["XLA130"]
ignore = ["XLA101"]
per-file-ignores = { "tests/*" = ["ALL"] }
severity = { XLA402 = "note" }
min-certainty = "possible"
fail-on = "error"
mode = "dynamo"
assume-xla = true
torch-xla-version = "2.9"
plugins = ["ours"]
exclude = ["gen"]
extend-exclude = ["more"]
force-exclude = true
respect-gitignore = false
max-file-size = 7
jobs = 3

[hints]
loaders = ["pkg.Batches"]
step-functions = ["one_step"]
boundaries = ["flush"]
host-functions = ["report"]
""",
    )
    settings = load_configuration(str(path)).settings
    assert settings.per_file_ignores == {"tests/*": ("ALL",)}
    assert (settings.assume_xla, settings.torch_xla_version, settings.jobs) == (True, "2.9", 3)
    assert settings.hints.step_functions == ("one_step",)
    assert settings.hints.host_functions == ("report",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('select = "XLA1"', "key `select`: expected an array, got a string"),
        ("select = [1]", "key `select[0]`: expected a string, got an integer"),
        ('selct = ["XLA1"]', "unknown key `selct`; did you mean `select`?"),
        ('extend_select = ["XLA1"]', "unknown key `extend_select`; did you mean `extend-select`?"),
        ("zzz = 1", "unknown key `zzz`; the nearest is"),
        ("[hints]\nloader = []", "[hints]: unknown key `loader`; did you mean `loaders`?"),
        ("hints = 3", "key `hints`: expected a table, got an integer"),
        ('mode = "lasy"', "key `mode`: expected one of lazy, dynamo, eager, all, got 'lasy'"),
        ('assume-xla = "yes"', "key `assume-xla`: expected one of auto, true, false, got 'yes'"),
        ('severity = { XLA101 = "fatal" }', "expected one of note, warning, error, got 'fatal'"),
        ("jobs = -1", "key `jobs`: expected 0 to 1024, got -1"),
        ("max-file-size = 0", "key `max-file-size`: expected 1 or more, got 0"),
        ("select = [", "xlalint.toml: "),
        ("[" * 100_000, "xlalint.toml: "),
    ],
)
def test_a_wrong_setting_is_told_in_one_line(text: str, told: str) -> None:
    write("xlalint.toml", text)
    with pytest.raises(ConfigurationError) as caught:
        selected("x.py")
    message = str(caught.value)
    assert message.startswith("xlalint.toml")
    assert told in message
    assert "\n" not in message
    assert len(message) < 250


def test_the_file_and_table_are_named_for_pyproject() -> None:
    write("pkg/pyproject.toml", "[tool]\nxlalint = 3\n")
    with pytest.raises(ConfigurationError, match=r"pkg/pyproject.toml: `tool.xlalint`: expected a table"):
        selected("pkg/x.py")


def test_a_broken_pyproject_that_is_not_ours_is_not_our_business() -> None:
    write("pyproject.toml", "[tool\n")
    assert selected("x.py") == ("ALL",)


def test_a_configuration_that_is_no_file_or_no_text() -> None:
    Path("xlalint.toml").mkdir()
    assert selected("x.py") == ("ALL",)
    with pytest.raises(ConfigurationError, match="no such configuration file"):
        load_configuration("nope.toml")
    Path("bytes.toml").write_bytes(b"select = ['\xff']")
    with pytest.raises(ConfigurationError, match="not valid UTF-8"):
        load_configuration("bytes.toml")


def test_a_byte_order_mark_and_crlf_are_read() -> None:
    Path("xlalint.toml").write_bytes(b"\xef\xbb\xbfselect = ['XLA1']\r\n")
    assert selected("x.py") == ("XLA1",)


def test_config_takes_a_pyproject_or_a_file_of_any_name() -> None:
    assert load_configuration(str(write("a/pyproject.toml", '[tool.xlalint]\nmode = "all"\n'))).settings.mode == "all"
    assert load_configuration(str(write("a/pyproject.toml", "[project]\n"))).settings.mode == "lazy"
    assert load_configuration(str(write("a/ours.toml", 'mode = "all"\n'))).settings.mode == "all"
    assert load_configuration(str(write("a/both.toml", '[tool.xlalint]\nmode = "all"\n'))).settings.mode == "all"


def test_defaults_pass_their_own_check() -> None:
    assert settings_from({}, "here") == Configurations().of_file("x.py").settings


PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_page_names_every_key_and_no_other() -> None:
    from xlalint.findings.settings import Hints, Settings

    rows = [line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    known = {*Settings.__struct_encode_fields__, *Hints.__struct_encode_fields__} - {"hints"}
    assert known <= set(rows)
    assert {row for row in rows if not row.startswith("#")} == known


def test_the_example_of_the_page_is_right() -> None:
    example = PAGE.read_text().partition("```toml\n")[2].partition("```")[0]
    configuration = load_configuration(str(write("pyproject.toml", example)))
    assert configuration.settings.ignore == ("XLA314",)
    assert configuration.settings.hints.loaders == ("data.Batches",)
