"""Abstract values → source text of concrete ones, of ``xlalint.device.stubs``."""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from xlalint.device.programs.names import (
    ACTIONS,
    BY_NAME,
    ELSEWHERE,
    HOSTS,
    KINDS,
    LOSSES,
    MAPPING_METHODS,
    MODULE_METHODS,
    NETWORKS,
    NUMBERS,
    OF_OTHERS_TOO,
    ONLY_OF_TENSORS,
    PAIRS,
    RANKS,
    SIZES,
    TENSOR_ATTRIBUTES,
    is_network,
    last_name,
)
from xlalint.device.stand_in_sizes import SIZE
from xlalint.facts.domain.values import (
    DATA,
    HOST,
    NONE,
    TENSOR_ROLES,
    UNKNOWN,
    Host,
    KnownObject,
    Mapping,
    Module,
    Sequence,
    Tensor,
    Value,
    alternatives,
    tensor,
)
from xlalint.facts.events import Span
from xlalint.knowledge.ops import load_ops
from xlalint.slicing.free_names import Need
from xlalint.slicing.shape_hints import Hint
from xlalint.slicing.structures import KEYS, ROWS, SPREAD

ValueAt = Callable[[Iterable[Span]], Value]
"""What is known of an expression that stands in these places."""


class Missing(Exception):
    """Nothing can stand in for a name. One line: which, and why."""


@dataclass(frozen=True)
class World:
    """What is taken where nothing is known: the rank of tensors and their kind."""

    rank: int
    kind: str = "float"


WORLDS = (World(2), World(3), World(2, "int"), World(4), World(1), World(1, "int"), World(3, "int"), World(0))


@dataclass
class Maker:
    """Makes the stand-ins of one program; ``told`` lists what was assumed, ``varying`` what differs by assumption."""

    value: ValueAt
    world: World
    hints: abc.Mapping[str, Hint]
    """What the slice says of shapes, by path."""
    structures: abc.Mapping[str, tuple[str, ...]]
    """What names of structures are unpacked into, or read by: ``batch`` → ``images``, ``labels``."""
    absent: abc.Mapping[str, str] = field(default_factory=dict)
    """Names that can't be had, with where they are from."""
    placed: frozenset[str] = frozenset()
    """Names of batches that a framework places."""
    defaults: abc.Mapping[str, str] = field(default_factory=dict)
    """Of parameters, where they are constants."""
    ragged: bool = False
    """Whether rows of a batch have lengths of their own: the premise of who pads them."""
    pads: bool = False
    """Whether what is iterated is such rows."""
    grad: bool = False
    """Whether gradients flow to the tensors."""
    told: dict[str, str] = field(default_factory=dict)
    tensors: set[str] = field(default_factory=set)
    """Paths for which a tensor stands in."""
    varying: set[str] = field(default_factory=set)
    doubting: bool = False
    """Whether what stands in lies on the host: who says that it lies on the device has to place it there."""
    chosen: abc.Mapping[str, str] = field(default_factory=dict)
    """By path, what is to stand in for it whatever is known of it."""
    built: abc.Mapping[str, str] = field(default_factory=dict)
    """By path, how a module is made whose class decides."""
    others: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By path, what could stand in for it as well."""

    def made(self, path: str, need: Need) -> str:
        """The text of what stands in for ``path``. Raises ``Missing``."""
        if path in self.chosen:
            return self._as_chosen(path)
        if path in self.built:
            return self.told.setdefault(path, self.built[path])
        text = self.of(path, need, self.value(need.spans)) if path not in self.absent else self._absent(path, need)
        if not need.children or "stand_in.Parts(" not in text:
            self.told.setdefault(path, text)
        return text

    def _as_chosen(self, path: str) -> str:
        text = self.chosen[path]
        self.told.setdefault(path, text)
        if text.startswith("stand_in.tensor("):
            self.tensors.add(path)
        return text

    def _absent(self, path: str, need: Need) -> str:
        """What can't be had gives what is known of its results; else it is called for its effect only."""
        result = self.value(need.calls)
        if isinstance(result, (Host, Tensor)):
            made = self._known(f"{path}()", None, result)
            if made is not None:
                return f"lambda *_, **__: {made}"
        if need.parts:
            # A check, or a wrapper, of several things hands them back.
            back = f"given[:{need.parts}]"
            return f"lambda *given, **_: {f'stand_in.on_host({back})' if self.doubting else back}"
        return f"stand_in.Absent({path!r})"

    def of(self, path: str, need: Need, value: Value) -> str:
        parts = [part for part in alternatives(value) if part is not NONE] or [value]
        chosen = next((part for part in parts if isinstance(part, Tensor)), parts[0])
        if self.pads and need.is_iterated and not need.children and not isinstance(chosen, (Tensor, KnownObject)):
            return self._rows(path)
        if need.is_spread and not (isinstance(chosen, Mapping) and chosen.items):
            return self._batch(path, None, path) if path in self.structures else "stand_in.Fields({})"
        made = self._known(path, need, chosen)
        return made if made is not None else self._by_use(path, need)

    def _rows(self, path: str) -> str:
        """Rows of differing lengths: as tensors or as lists, alone or with what else is in a row."""
        names = self.structures.get(path, ())
        if names[:1] == (KEYS,):
            return f"stand_in.rows_by({names[1:]!r})"
        if names and names[0] not in (ROWS, SPREAD):
            return f"stand_in.rows({('int',) * len(names)!r})"
        if names:
            return self._batch(path, None, path)
        one = "for row in stand_in.rows(('int',))]"
        self.others[path] = (f"[row[0].tolist() {one}", *(f"stand_in.rows({('int',) * parts!r})" for parts in (2, 3)))
        return f"[row[0] {one}"

    def _known(self, path: str, need: Need | None, value: Value) -> str | None:
        if isinstance(value, Tensor):
            return self._tensor(path, value)
        if isinstance(value, Host):
            return self._host(path, value)
        if isinstance(value, Sequence):
            return self._sequence(path, need, value)
        if isinstance(value, Mapping):
            parts = [*value.items, *([("first", value.rest)] if value.rest is not None and not value.items else [])]
            items = ", ".join(f"{key!r}: {self._element(f'{path}[{key!r}]', part)}" for key, part in parts)
            return f"stand_in.Fields({{{items}}})" if items else "stand_in.Fields({})"
        if isinstance(value, Module):
            made = self._module(path, need, value.name)
            return self._from_elsewhere(path, need, made) if value.name == "?" else made
        if isinstance(value, KnownObject):
            return self._role(path, need, value)
        return None

    def _element(self, path: str, value: Value) -> str:
        parts = [part for part in alternatives(value) if part is not NONE] or [value]
        made = self._known(path, None, parts[0])
        return made if made is not None else self._by_use(path, Need(path, is_iterated=False))

    def _tensor(self, path: str, value: Tensor) -> str:
        kind, rank = self._by_name(path)
        hint = self.hints.get(path, Hint())
        kind = "int" if hint.is_number or (hint.is_index and kind == "float") else kind
        kind = KINDS.get(value.dtype or "", kind) if value.dtype else kind
        rank = rank if value.rank is None else value.rank
        on = "host" if value.device == HOST or self.doubting else "xla"
        self.tensors.add(path)
        if value.varies is not None and value.varies != DATA and rank:
            self.varying.add(path)
            return f"stand_in.varying({kind!r}, {rank}, on={on!r})"
        dims = ""
        if value.dims is not None and any(size is not None for size in value.dims):
            dims = f", dims={value.dims!r}"
        elif hint.last is not None and rank:
            dims = f", dims={(*(None,) * (rank - 1), hint.last)!r}"
        grad = ", grad=True" if self.grad else ""
        if not dims:
            kinds = (kind,) if value.dtype else dict.fromkeys((kind, "float", "int", "bool"))
            ranks = (rank,) if value.rank is not None else dict.fromkeys((rank, *RANKS))
            every = [f"stand_in.tensor({of!r}, {number}, on={on!r}{grad})" for of in kinds for number in ranks]
            self.others[path] = tuple(every[1:])
        return f"stand_in.tensor({kind!r}, {rank}{dims}, on={on!r}{grad})"

    def _by_name(self, path: str) -> tuple[str, int]:
        name = last_name(path)
        hint = self.hints.get(path, Hint())
        kind, rank = self.world.kind, self.world.rank
        for word, named, less in BY_NAME:
            if word in name or (word == "label" and name in ("y", "gt")):
                kind, rank = named, max(self.world.rank + less, 1)
                break
        if hint.is_number:
            return "int", 0
        return kind, hint.rank if hint.rank is not None else max(rank, hint.least)

    def _host(self, path: str, value: Host) -> str | None:
        if value.type == "device":
            return "torch.device('cpu')" if value.constant == HOST else self._device()
        if value.known and value.type in ("int", "float", "bool", "str", "none"):
            return repr(value.constant)
        texts = self.hints.get(path, Hint()).texts
        if value.type == "str" and texts:
            self.others[path] = tuple(repr(each) for each in texts[1:])
            return repr(texts[0])
        if value.type == "bool":
            self.others[path] = ("False",)
        if value.type == "int":
            self.others[path] = NUMBERS
            if any(word in path.lower() for word in SIZES):
                return str(SIZE)
        return HOSTS.get(value.type)

    def _device(self) -> str:
        return "torch.device('cpu')" if self.doubting else "stand_in.device()"

    def _sequence(self, path: str, need: Need | None, value: Sequence) -> str | None:
        if value.elements is not None:
            parts = [self._element(f"{path}[{number}]", part) for number, part in enumerate(value.elements)]
        elif value.element is UNKNOWN:
            return None
        else:
            wanted = (need.parts if need is not None else 0) or len(self.structures.get(path, ())) or 2
            parts = [self._element(f"{path}[…]", value.element)] * wanted
        return f"({', '.join(parts)},)" if value.kind == "tuple" and parts else f"[{', '.join(parts)}]"

    def _module(self, path: str, need: Need | None, name: str) -> str:
        last = last_name(path)
        if any(word in last for word in LOSSES) or name.endswith("Loss"):
            return "stand_in.Loss()"
        if need is not None and not need.calls and MAPPING_METHODS & need.children.keys():
            return "stand_in.Fields({'first': stand_in.Layer(), 'second': stand_in.Layer()})"
        if need is not None and not need.calls and need.is_iterated:
            return "[stand_in.Layer(), stand_in.Layer()]"
        kind = "Model" if "." not in path else "Layer"
        arguments = []
        if need is not None and need.fields:
            arguments.append(f"fields={tuple(sorted(need.fields))!r}")
        if need is not None and need.keys:
            arguments.append(f"keys={tuple(sorted(need.keys))!r}")
        if need is not None and need.parts:
            arguments.append(f"parts={need.parts}")
        more = {} if need is None else {name: each for name, each in need.children.items() if not each.calls}
        attributes = [
            f"{each}={self.made(f'{path}.{each}', child)}" for each, child in more.items() if each != "training"
        ]
        arguments += attributes
        return f"stand_in.{kind}({', '.join(arguments)})"

    def _role(self, path: str, need: Need | None, value: KnownObject) -> str | None:
        if value.role in ("loader", "iterator"):
            element = f"{path}[…]"
            return f"stand_in.Batches(lambda: {self._batch(path, value.element, element)})"
        if value.role in TENSOR_ROLES:
            return self._batch(path, None, path, placed=path in self.placed)
        if value.role in ("optimizer", "scheduler"):
            return f"stand_in.{value.role}({repr(value.detail) if value.detail else ''})"
        if value.role == "scaler" and value.detail:
            return f"stand_in.scaler({value.detail!r})"
        if value.role == "generator":
            return "torch.Generator()"
        if value.role == "distribution":
            raise Missing(f"`{path}`: nothing in sight makes the distribution")
        if value.role in ACTIONS:
            return f"stand_in.Absent({path!r})"
        return None

    def _batch(self, path: str, element: Value | None, shown: str, placed: bool = False) -> str:
        names = self.structures.get(path, ())
        on = "host" if (path != shown and names[:1] != (SPREAD,)) or (self.doubting and not placed) else "xla"
        if names and names[0] == ROWS:
            kinds = tuple(self._by_name(name)[0] if number else "int" for number, name in enumerate(names[1:]))
            return f"stand_in.rows({kinds!r})"
        if names and names[0] in (KEYS, SPREAD):
            items = ", ".join(f"{name!r}: {self._part(name, on)}" for name in names[1:])
            return f"stand_in.Fields({{{items}}})"
        if names:
            return f"({', '.join(self._part(name, on) for name in names)},)"
        known = None if element is None else self._known(shown, None, element)
        return known if known is not None else self._part(path.rpartition(".")[2], on)

    def _part(self, name: str, on: str) -> str:
        kind, rank = self._by_name(name)
        return f"stand_in.tensor({kind!r}, {rank}, on={on!r})"

    # Where nothing is known: by what is done with it

    def _by_use(self, path: str, need: Need) -> str:
        if path == "self":
            return self._object(path, need)
        if path in self.defaults and not need.children:
            self.others[path] = ("0.5", "2", *(f"stand_in.tensor('float', {rank})" for rank in RANKS))
            return self.defaults[path]
        texts = self.hints.get(path, Hint()).texts
        if texts and not need.children:
            self.others[path] = tuple(repr(each) for each in texts[1:])
            return repr(texts[0])
        called = set(need.children)
        name = last_name(path)
        if {"zero_grad", "step"} & called and "optim" in name:
            return "stand_in.optimizer()"
        if called & MAPPING_METHODS:
            return f"stand_in.Fields({{'first': {self._tensor(path, tensor())}}})"
        if called & MODULE_METHODS:
            return self._module(path, need, "?")
        if self._is_tensor(need):
            return self._tensor(path, tensor())
        if need.children:
            return self._object(path, need)
        if need.calls:
            return self._callable(path, need)
        if any(word in name for word in NETWORKS) and "." not in path:
            return self._module(path, need, "?")
        if path in self.structures:
            names = self.structures[path]
            if self.ragged and need.is_iterated and names[0] == KEYS:
                return f"stand_in.rows_by({names[1:]!r})"
            made = self._batch(path, None, path)
            return f"[{made}] * 2" if need.is_iterated else made
        if need.is_iterated and "." in path:
            return "[stand_in.Layer(), stand_in.Layer()]"
        if name == "device":
            return self._device()
        hint = self.hints.get(path, Hint())
        if any(word in name for word, *_ in BY_NAME) and not hint.is_number:
            return self._tensor(path, tensor())
        if hint.least == 1 and any(word in name for word in SIZES):
            self.others[path] = PAIRS
            return PAIRS[0]
        if hint.least or hint.rank is not None:
            return self._tensor(path, tensor())
        if hint.is_number and not need.children:
            self.others[path] = NUMBERS
            return str(SIZE)
        return self._by_name_alone(path, need)

    def _by_name_alone(self, path: str, need: Need) -> str:
        """Raises ``Missing``."""
        name = last_name(path)
        is_size = any(word in name for word in SIZES)
        tensors = tuple(f"stand_in.tensor('float', {rank})" for rank in RANKS)
        if need.is_iterated:
            self.others[path] = tensors
            part = self._part(name, "host" if self.doubting else "xla")
            return f"[{PAIRS[0]}] * {SIZE}" if is_size else f"[{part}] * 2"
        if "max" in name:
            return "64"
        if "." in path or "[" in path or is_size:
            self.others[path] = (*NUMBERS, "0.5", "True", "None", *tensors, *PAIRS, "stand_in.Layer()")
            return str(SIZE) if is_size else "2"
        raise Missing(f"`{path}`: nothing is known of it")

    def _is_tensor(self, need: Need) -> bool:
        called = need.children.keys()
        if not called or need.calls:
            return need.is_operand and not need.calls
        methods = {each for each in called if each.removesuffix("_") in load_ops().methods - OF_OTHERS_TOO}
        return bool(called & ONLY_OF_TENSORS) or called <= methods | TENSOR_ATTRIBUTES

    def _object(self, path: str, need: Need) -> str:
        attributes = ", ".join(f"{name}={self.made(f'{path}.{name}', child)}" for name, child in need.children.items())
        kind = "Self" if path == "self" else "stand_in.Parts"
        if need.calls:
            return f"{kind}(forward={self._callable(path, need)}, {attributes})"
        return f"{kind}({attributes})"

    def _callable(self, path: str, need: Need) -> str:
        result = self.value(need.calls)
        if isinstance(result, (Host, Sequence, Mapping)):
            made = self._known(f"{path}()", need, result)
            if made is not None:
                return f"lambda *_, **__: {made}"
        made = self._module(path, need, "?")
        return self._from_elsewhere(path, need, made)

    def _from_elsewhere(self, path: str, need: Need | None, made: str) -> str:
        """Nobody knows where somebody else's function leaves what it gives."""
        trains = need is not None and ("backward" in need.fields or bool(need.children.keys() & MODULE_METHODS))
        return f"{ELSEWHERE}{made})" if self.doubting and not is_network(path) and not trains else made
