"""Guards on the version of torch: the version is known, so branches for older ones do not run.

Of a version only the numbers are compared: what is before a release counts as the release, as libraries mean it.
"""

from __future__ import annotations

import functools
import operator as operators
import re
from collections.abc import Callable
from typing import Any

from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.values import Host, Namespace, Value, constant, host
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.sources.patterns import lazy_pattern

VERSION = "version"
"""The type of a host value whose constant is the text of a version."""
TORCH = frozenset({"torch", "torch_xla"})
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operators.lt,
    "le": operators.le,
    "gt": operators.gt,
    "ge": operators.ge,
    "eq": operators.eq,
    "ne": operators.ne,
}
SPELLED = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
COMPARING = frozenset({"is_torch_greater_or_equal", "is_torch_version", "compare_version", "RequirementCache"})
_REQUIREMENT = lazy_pattern(r"(torch|torch_xla)\s*([<>=!]=?)\s*([\d.]+)")


def version_named(frame: Frame, name: str) -> Value | None:
    """``torch.__version__``."""
    return host(VERSION, frame.engine.torch_version) if name in frameworks().names("version") else None


def call_version(frame: Frame, name: str, arguments: list[Value]) -> Value | None:
    """Calls that make a version, or that compare torch's: ``is_torch_version(">=", "2.1")``; None for others."""
    if name.rpartition(".")[2] not in asking():
        return None
    texts = [text_of(argument) for argument in arguments]
    first = texts[0] if texts else None
    if first is None:
        return None
    if name in frameworks().names("version-parser"):
        return host(VERSION, first)
    if name in frameworks().names("version-lookup"):
        return host(VERSION, frame.engine.torch_version) if first in TORCH else None
    return asked(frame.engine.torch_version, name.rpartition(".")[2], first, arguments, texts)


@functools.cache
def asking() -> frozenset[str]:
    """The last names of all calls that make a version or ask for one: few calls have one of them."""
    rows = frameworks()
    makers = rows.names("version-parser") | rows.names("version-lookup")
    return COMPARING.union(name.rpartition(".")[2] for name in makers)


def asked(torch: str, name: str, first: str, arguments: list[Value], texts: list[str | None]) -> Value | None:
    if name == "is_torch_greater_or_equal":
        return constant(compare_versions("ge", torch, first))
    if name == "is_torch_version" and len(texts) == 2 and first in SPELLED and texts[1] is not None:
        return constant(compare_versions(SPELLED[first], torch, texts[1]))
    if name == "compare_version" and first in TORCH and len(texts) > 2 and texts[2] is not None:
        how = arguments[1].name.rpartition(".")[2] if type(arguments[1]) is Namespace else ""
        return constant(compare_versions(how, torch, texts[2])) if how in COMPARISONS else None
    if name == "RequirementCache":
        wanted = _REQUIREMENT.fullmatch(first)
        return (
            constant(compare_versions(SPELLED[wanted[2]], torch, wanted[3]))
            if wanted and wanted[2] in SPELLED
            else None
        )
    return None


def text_of(value: Value) -> str | None:
    if type(value) is not Host or not value.known or value.type not in (VERSION, "str"):
        return None
    return str(value.constant)


def version_attribute(value: Host, name: str) -> Value | None:
    """``version.parse(torch.__version__).base_version``, ``.major``, ``.release``."""
    parts = numbers(value.constant)
    if name in ("base_version", "public"):
        return value
    if name == "release":
        return sequence("tuple", [constant(part) for part in parts])
    position = {"major": 0, "minor": 1, "micro": 2}.get(name)
    return None if position is None else constant(parts[position] if position < len(parts) else 0)


def compared_versions(how: str, a: Host, b: Host) -> Value | None:
    """One of them has to be a version; the other may be a text."""
    if VERSION not in (a.type, b.type) or how not in COMPARISONS:
        return None
    left, right = text_of(a), text_of(b)
    return None if left is None or right is None else constant(compare_versions(how, left, right))


def compare_versions(how: str, left: str, right: str) -> bool:
    a, b = numbers(left), numbers(right)
    length = max(len(a), len(b))
    return COMPARISONS[how](a + (0,) * (length - len(a)), b + (0,) * (length - len(b)))


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers: (2, 9, 1) of "2.9.1+cpu" and of "2.9.1rc1"."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(map(int, found[1].split("."))) if found else ()
