"""Values declared by frameworks: the parameters that they pass to a method, and the attributes of their objects.

The rows stand in ``frameworks.csv``: ``Class.method(parameter)``, ``method(parameter)`` or ``Class.attribute``, each
with a few words that say what is there ("tensor xla int rank 1", "dict of tensor xla", "host"); and ``Class.method``,
which a class inherits, with what it gives. A class with a ``*`` is a pattern for the whole dotted name, or several,
parted by ``|``; others are its end. ``#1`` is the first parameter after ``self``, by any name.
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable, Mapping

from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    FALSE,
    HOST,
    NUMPY,
    RANK,
    TRUE,
    UNKNOWN,
    XLA,
    LoopKey,
    Value,
    batch_on,
    host,
    known_object,
    mapping,
    module_value,
    of_rank,
    tensor,
)
from xlalint.knowledge.tables import frameworks
from xlalint.sources.patterns import lazy_pattern

PARAMETER = lazy_pattern(r"(?:(?P<owner>[\w*.|]+)\.)?(?P<method>[\w*]+)\((?P<name>#?\w+)\)")
DTYPES = frozenset({"bool", "uint8", "int", "float", "complex"})
PARAMETERS = known_object(Role.PARAMETERS, tensor(dtype="float"))
PARAMETER_GROUPS = sequence("list", None, mapping((("lr", ANY_HOST), ("params", PARAMETERS)), ANY_HOST))
"""An optimizer's groups: the parameters, and settings that are numbers; each has a learning rate, whatever else is put
in its place."""
ELSEWHERE: LoopKey = ("", "", 0)
"""The loop of the framework, which counts: nobody sees it."""
OF_FILE: LoopKey = ("", "file", 0)
"""The size of what a file holds; where it is read, the mark of that place is put for it."""
ROLES = frozenset(
    {
        Role.ACCELERATOR,
        Role.OPTIMIZER,
        Role.OPTIMIZER_STATE,
        Role.SCHEDULER,
        Role.TIMING_EVENT,
        Role.TOKENIZER,
        Role.WRITER,
    }
)
COLLECTIONS = {"list of": "list", "tuple of": "tuple"}


def parsed(text: str) -> Value:
    """The value that a row's words stand for; unknown where they say nothing of tensors."""
    if text.startswith(("dict of", "batch")):
        return batch_on(HOST if text.endswith("host") else XLA)
    if " and " in text:
        return sequence("tuple", [parsed(part) for part in text.split(" and ")])
    for start, kind in COLLECTIONS.items():
        if text.startswith(start):
            return sequence(kind, None, parsed(text[len(start) :].strip()))
    words = text.split()
    if text == "host counter":
        return host("int", varies=ELSEWHERE)
    if words[0] == "rank":
        return host(words[1], varies=RANK)
    if words[0] == "host":
        return host(words[1]) if len(words) == 2 and words[1] in ("int", "bool", "float", "str") else ANY_HOST
    if words[0] == "numpy":
        return host("numpy", varies=OF_FILE) if text.endswith("of a file") else NUMPY
    if words[0] == "parameter-groups":
        return PARAMETER_GROUPS
    if words[0] == "module":
        return module_value(words[1] if len(words) > 1 else "?")
    if words[0] == "output":
        return known_object(Role.OUTPUT, tensor(certainty=1))
    if words[0] in ROLES:
        # Of a scheduler that is untold nobody knows where its timesteps lie.
        return known_object(Role(words[0]), UNKNOWN if words[1:] == ["untold"] else None)
    if words[0] != "tensor":
        return UNKNOWN
    device = HOST if "host" in words else XLA
    dtype = next((word for word in words if word in DTYPES), None)
    rank = int(words[words.index("rank") + 1]) if "rank" in words and "or" not in words else None
    varies = OF_FILE if text.endswith("of a file") else None
    return tensor(device, dtype, of_rank(rank), varies=varies, certainty=1, optional=text.endswith("or none"))


@functools.cache
def parameter_rows() -> dict[tuple[str, str], tuple[tuple[str, Value], ...]]:
    """(method, parameter) → the classes it holds for, and the value. ``forward`` is known by names and by use."""
    found: dict[tuple[str, str], list[tuple[str, Value]]] = {}
    for key in sorted(frameworks().names("parameter")):
        match = PARAMETER.fullmatch(key)
        if match is None or (match["method"] == "forward" and not match["owner"]):
            continue
        value = parsed(frameworks().get("parameter", key) or "")
        if value is not UNKNOWN:
            found.setdefault((match["method"], match["name"]), []).append((match["owner"] or "", value))
    return {key: tuple(values) for key, values in found.items()}


@functools.cache
def attribute_rows() -> dict[str, tuple[tuple[str, Value], ...]]:
    found: dict[str, list[tuple[str, Value]]] = {}
    for key in sorted(frameworks().names("attribute")):
        owner, _, name = key.rpartition(".")
        value = parsed(frameworks().get("attribute", key) or "")
        if value is not UNKNOWN:
            found.setdefault(name, []).append((owner, value))
    return {key: tuple(values) for key, values in found.items()}


def promised_parameter(classes: Iterable[str], method: str, name: str, position: int) -> Value | None:
    """``classes`` are the names of the method's class and of its bases; ``position`` counts from ``self``."""
    rows = parameter_rows()
    by_position = rows.get((method, f"#{position}"), ())
    return declared_by(classes, (*rows.get((method, name), ()), *by_position, *rows.get(("*", name), ())))


def promised_attribute(classes: Iterable[str], name: str) -> Value | None:
    return declared_by(classes, attribute_rows().get(name, ()))


@functools.cache
def result_rows() -> dict[str, tuple[tuple[str, Value, str, Value], ...]]:
    """Method → the classes it holds for, what it gives, and the argument with which it gives something else, and what:
    ``output unless flag then tensor xla and output``."""
    found: dict[str, list[tuple[str, Value, str, Value]]] = {}
    for key in sorted(frameworks().names("gives")):
        owner, _, method = key.rpartition(".")
        text, _, rest = (frameworks().get("gives", key) or "").partition(" unless ")
        flag, _, other = rest.partition(" then ")
        found.setdefault(method, []).append((owner, parsed(text), flag, parsed(other) if other else UNKNOWN))
    return {key: tuple(values) for key, values in found.items()}


def promised_result(classes: Iterable[str], method: str, keywords: Mapping[str, Value]) -> Value | None:
    """What a method gives that a class inherits from a framework."""
    rows: list[tuple[str, Value]] = []
    for owner, value, flag, other in result_rows().get(method, ()):
        given = keywords.get(flag, FALSE)
        rows.append((owner, value if given is FALSE else other if given is TRUE else UNKNOWN))
    return declared_by(classes, tuple(rows))


def declared_by(classes: Iterable[str], rows: tuple[tuple[str, Value], ...]) -> Value | None:
    if not rows:
        return None
    names = tuple(classes)
    for owner, value in rows:
        if not owner or any(is_a(name, owner) for name in names):
            return value
    return None


def is_a(name: str, owner: str) -> bool:
    if name.startswith("torch.optim.") and owner == "Optimizer":
        return "lr_scheduler" not in name
    if "*" in owner:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in owner.split("|"))
    return name == owner if "." in owner else name.rpartition(".")[2].endswith(owner)


@functools.cache
def promised_class(name: str) -> Value | None:
    """The part that an object of a class outside of the program plays, by the class's name."""
    for pattern in sorted(frameworks().names("annotation")):
        if fnmatch.fnmatchcase(name, pattern):
            part = frameworks().get("annotation", pattern) or ""
            return module_value("?") if part == "module" else known_object(Role(part))
    return None
