"""``xlalint calibrate``: measures this device, and writes its differences from the built-in tables as a profile."""

from __future__ import annotations

import fnmatch
import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from xlalint.cli.console import say
from xlalint.cli.options import GivenPath, Seconds, joined_some
from xlalint.cli.progress import ProgressLine, Standing
from xlalint.cli.sandbox import guard, sandbox_options, wanted

if TYPE_CHECKING:
    from xlalint.device.calibration.device_profile import Calibration, Plan
    from xlalint.device.worker.guard import Guard
    from xlalint.findings.registry import Listed

_ALL = "ALL"
_DEFAULT_FILE = "xlalint-profile.json"


@click.command("calibrate", short_help="Measure this device, and write a profile for `check --profile`.")
@click.option(
    "--ops", metavar="LIST", multiple=True, callback=joined_some, help="Only these ops: names, patterns or ALL."
)
@click.option(
    "--rules", metavar="LIST", multiple=True, callback=joined_some, help="Only these rules: codes, names or ALL."
)
@click.option(
    "--output", "-o", type=GivenPath(), default=_DEFAULT_FILE, show_default=True, help="Where the profile goes."
)
@click.option(
    "--timeout",
    type=Seconds(),
    default=90.0,
    show_default=True,
    help="Seconds that one op or one run may take.",
)
@click.option("--quiet", "-q", is_flag=True, help="Errors only.")
@sandbox_options
def command(
    ops: tuple[str, ...] | None,
    rules: tuple[str, ...] | None,
    output: str,
    timeout: float,
    quiet: bool,
    **chosen: Any,
) -> int:
    """Run the op table's probes and the rules' experiments on the device of PJRT_DEVICE (the CPU by default), and
    write a profile: the back end, the versions and all that differs there.

    All of it takes about twenty minutes on a CPU. With --ops or --rules it is only what they name.
    Exit codes: 0 the profile is written, whatever differs; 2 it could not be.
    """
    from xlalint.device.calibration.device_profile import Plan
    from xlalint.findings.pages import parse_page
    from xlalint.findings.registry import is_own, page_of

    _refuse_unwritable(output)
    named = tuple(_named(ops, rules))
    plan = Plan(ops=_ops(ops, rules), pages=tuple(parse_page(page_of(rule)) for rule in named), seconds=timeout)
    around = guard(wanted(chosen), [], own=all(map(is_own, named)))
    started = time.monotonic()
    found = _calibrated(plan, quiet, around)
    _write_profile(found, output)
    if not quiet:
        say("".join(f"{line}\n" for line in _summary_lines(found, time.monotonic() - started, output)))
    return 0


def _calibrated(plan: Plan, quiet: bool, around: Guard) -> Calibration:
    from xlalint.device.calibration.device_profile import calibrate
    from xlalint.device.calibration.op_measurement import NotMeasurable
    from xlalint.device.worker.experiment import WorkerError

    try:
        with ProgressLine(quiet=quiet) as line:
            line.show(Standing("starting the device"))

            def told(share: float, text: str) -> None:
                line.show(Standing(text, share))

            return calibrate(plan, told, around)
    except (WorkerError, NotMeasurable) as error:
        raise click.ClickException(f"{error}: `pip install 'xlalint[device]'` brings what it needs") from error


def _ops(ops: tuple[str, ...] | None, rules: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The ops that are chosen: all where nothing is, none where only rules are."""
    if ops is None:
        return None if rules is None else ()
    return None if _ALL in ops else tuple(dict.fromkeys(name for word in ops for name in _ops_of(word)))


def _ops_of(word: str) -> list[str]:
    from xlalint.findings.errors import nearest
    from xlalint.knowledge.ops import load_ops

    table = load_ops()
    row = table.function(word)
    found = [row.name] if row is not None else fnmatch.filter((row.name for row in table.rows), word)
    if not found:
        raise click.UsageError(f"no op `{word}`{nearest(word, sorted(table.names))}")
    return found


def _named(ops: tuple[str, ...] | None, rules: tuple[str, ...] | None) -> Iterator[Listed]:
    """The rules whose experiments are run."""
    from xlalint.cli.rules_on_device import chosen_rules

    if rules is None and ops is not None:
        return
    yield from chosen_rules(() if rules is None or _ALL in rules else rules)


def _refuse_unwritable(output: str) -> None:
    """Before anything is measured: it takes long. A device or a pipe would be replaced by a file."""
    folder = os.path.dirname(os.path.abspath(output))
    irregular = os.path.exists(output) and not os.path.isfile(output)
    if irregular or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise click.ClickException(f"{output}: can't be written")


def _write_profile(found: Calibration, output: str) -> None:
    """All of it or nothing: what stood there before stays until the new one is whole."""
    from xlalint.findings.profile import encoded

    target = os.path.realpath(output)  # a link to it stays a link
    draft = f"{target}.part"
    try:
        with open(draft, "w", encoding="utf-8", newline="\n") as file:
            file.write(encoded(found.document))
        os.replace(draft, target)
    except OSError as error:
        raise click.ClickException(f"{output}: {error.strerror or error}") from error


def _summary_lines(found: Calibration, seconds: float, output: str) -> Iterator[str]:
    from xlalint.device.calibration.op_profile import differences
    from xlalint.reports.summary import plural

    document = found.document
    device = document.device
    yield f"{device.kind} device, torch {device.torch}, torch_xla {device.torch_xla}"
    measured = f"{plural(document.measured.ops, 'op')} and {plural(document.measured.rules, 'rule')}"
    yield f"measured {measured} in {seconds:.0f} s"
    for row in (*document.ops, *document.new_ops):
        yield f"{row.name}: {'; '.join(differences(row))}"
    for rule in document.rules:
        free = f": free in {_words([mode.value for mode in rule.free_in])} mode here" if rule.free_in else ""
        yield f"{rule.code} {rule.name}{free or ': other figures than claimed'}"
        yield from (f"    {claim}" for difference in rule.differs for claim in difference.claims)
    if not (document.ops or document.new_ops or document.rules):
        yield "nothing differs"
    if found.ops.failed:
        yield f"not measured, so as in the table: {', '.join(found.ops.failed)}"
    yield f"{output} written, for `xlalint check --profile {output}`"


def _words(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
