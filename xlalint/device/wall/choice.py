"""Builds a wall with the first mechanism that works here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from xlalint.device.wall import bubblewrap, namespaces
from xlalint.device.wall.enclosure import Enclosure, import_path
from xlalint.device.wall.environment import clean
from xlalint.device.wall.errors import NoWall

MECHANISMS: Mapping[str, Callable[[Enclosure], list[str] | None]] = MappingProxyType(
    {bubblewrap.NAME: bubblewrap.bubblewrap_command, namespaces.NAME: namespaces.namespaces_command}
)
_SECONDS = 30.0
_IMPORTS_FROM = "import sys; sys.path += [one for one in {path!r} if one not in sys.path]; {code}"


class Wall(msgspec.Struct, frozen=True):
    """A command that runs another one behind the wall."""

    prefix: tuple[str, ...]
    inside: Enclosure

    def around(self, code: str, arguments: Sequence[str]) -> list[str]:
        """The command that runs ``code`` in this interpreter, behind the wall."""
        return [*self.prefix, *python(code, arguments)]

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        return clean(environ)


def python(code: str, arguments: Sequence[str]) -> list[str]:
    """This interpreter, importing what it imports here; nothing from the folder that it is started in."""
    return [sys.executable, "-I", "-c", _IMPORTS_FROM.format(path=import_path(), code=code), *arguments]


def build(inside: Enclosure, mechanisms: Sequence[str] = tuple(MECHANISMS)) -> Wall:
    """Raises ``NoWall``."""
    said = []
    for name in mechanisms:
        prefix = MECHANISMS[name](inside)
        refused = "not there" if prefix is None else _refusal([*prefix, *python("pass", ())])
        if prefix is not None and not refused:
            return Wall(tuple(prefix), inside)
        said.append(f"{name}: {refused}")
    raise NoWall(f"this system allows no wall around a program ({'; '.join(said)})")


def _refusal(command: Sequence[str]) -> str:
    """What the mechanism says where it does not work; empty where it does."""
    try:
        run = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=clean({}),
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    words = run.stderr.decode(errors="replace").strip().splitlines()
    return "" if run.returncode == 0 else words[-1] if words else f"exit code {run.returncode}"
