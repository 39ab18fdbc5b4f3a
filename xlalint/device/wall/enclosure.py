"""What a program behind the wall can see and write: the same for each mechanism."""

from __future__ import annotations

import glob
import os
import site
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec

import msgspec

from xlalint.device.wall.sockets import sockets_in

SCRATCH = "/run/xlalint"
"""Where the program may write: private, of limited size, and gone with the wall. Not ``/tmp``: what is linted may lie
there."""
_TMP = "/tmp"
SHARED_MEMORY = "/dev/shm"
SCRATCH_BYTES = 1 << 30
KERNELS_OWN = ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/sysrq-trigger")
"""Settings of the kernel, for all of the system."""
CPU = "CPU"

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/alternatives", "/etc/ld.so.cache"),
    *("/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group"),
    "/sys/devices/system",
)
_FOR_A_DEVICE = ("/sys", "/opt", "/etc/hosts", "/etc/resolv.conf", "/etc/ssl", "/proc/driver/nvidia")
_DEVICE_FILES = ("/dev/accel*", "/dev/neuron*", "/dev/nvidia*", "/dev/vfio")
_PACKAGES = ("xlalint", "torch", "torch_xla", "msgspec")


class Place(msgspec.Struct, frozen=True):
    """A file or folder of this system, and under which name it is seen inside."""

    source: str
    name: str


class Enclosure(msgspec.Struct, frozen=True, kw_only=True):
    """All that is there inside. Beside it there are a new ``/proc``, the harmless files of ``/dev``, ``SCRATCH`` and
    ``SHARED_MEMORY``."""

    readable: tuple[Place, ...]
    links: tuple[tuple[str, str], ...] = ()
    """(name, target) of links at the top, as ``/bin`` is one."""
    covered: tuple[str, ...] = ()
    """Unix sockets that lie in what is readable: a mount that can't be written still lets them be reached."""
    devices: tuple[str, ...] = ()
    network: bool = False
    """A real device's runtime may ask for it; the CPU gets none."""
    scratch_bytes: int = SCRATCH_BYTES


def enclosure(folders: Iterable[str] = (), device: str = CPU, scratch_bytes: int = SCRATCH_BYTES) -> Enclosure:
    """With ``folders`` (the project, and the data that the user declares) beside the interpreter and its packages.

    ``device`` is what PJRT_DEVICE names.
    """
    real = device != CPU
    names = [*_SYSTEM, *(_FOR_A_DEVICE if real else ()), *interpreter_folders(), *map(os.path.abspath, folders)]
    links = [(name, os.readlink(name)) for name in _SYSTEM if name.count("/") == 1 and os.path.islink(name)]
    readable = _outermost(_places(name for name in names if name not in dict(links) and not _is_private(name)))
    if not any(place.name.startswith(f"{_TMP}/") for place in readable):
        links.append((_TMP, SCRATCH))
    return Enclosure(
        readable=readable,
        links=tuple(links),
        covered=tuple(sockets_in([place.name for place in readable])),
        devices=tuple(sorted(path for form in _DEVICE_FILES for path in glob.glob(form))) if real else (),
        network=real,
        scratch_bytes=scratch_bytes,
    )


def interpreter_folders() -> list[str]:
    """The interpreter's own folders, those it imports from, and those of packages that lie elsewhere."""
    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, os.path.dirname(sys.executable)]
    found += import_path()
    for package in _PACKAGES:
        spec = find_spec(package)
        found += (spec.submodule_search_locations or ()) if spec is not None else ()
    return [os.path.abspath(path) for path in found if os.path.exists(path)]


def import_path() -> list[str]:
    """``sys.path`` without the folder that this was started in, which is the linted project as often as not, and
    without those that torch makes for itself."""
    asked = {os.path.abspath(one) for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one}
    given = [os.path.abspath(one) for one in sys.path if one]
    made = os.path.join(tempfile.gettempdir(), tempfile.gettempprefix())
    kept = [one for one in given if one in asked or not (one == os.getcwd() or one.startswith(made))]
    if site.ENABLE_USER_SITE:
        kept.append(site.getusersitepackages())
    return [one for one in dict.fromkeys(kept) if os.path.exists(one)]


def _is_private(name: str) -> bool:
    """What holds everybody's files, or all of the user's own, is not opened for the sake of one project in it."""
    home = os.path.realpath(os.path.expanduser("~"))
    real = os.path.realpath(name)
    return os.path.commonpath([real, home]) == real or real in ("/", "/home", "/tmp", "/var", "/etc", "/run", "/mnt")


def _places(names: Iterable[str]) -> Iterator[Place]:
    """Each under its name and under its real one: a link inside may lead to either."""
    for name in names:
        if os.path.exists(name):
            real = os.path.realpath(name)
            yield Place(real, real)
            yield Place(real, name)


def _outermost(places: Iterable[Place]) -> tuple[Place, ...]:
    """Without what lies in another; the outer ones come first."""
    kept: dict[str, Place] = {}
    for place in sorted(places, key=lambda one: (one.name.count("/"), one.name)):
        parents = _parents(place.name)
        if not any(parent in kept for parent in parents):
            kept[place.name] = place
    return tuple(kept.values())


def _parents(name: str) -> Iterator[str]:
    while True:
        yield name
        above = os.path.dirname(name)
        if above == name:
            return
        name = above
