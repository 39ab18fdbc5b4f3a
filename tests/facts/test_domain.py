"""The laws of the lattice, on all pairs and triples of a small set of values of each kind."""

from __future__ import annotations

import itertools

import pytest
from covering import covers

from xlalint.facts.domain import domain as d
from xlalint.facts.domain.display import show
from xlalint.program.lower import lower
from xlalint.sources.source import Source

MODULE = lower(Source("/m.py", "def f(): pass\ndef g(): pass\nclass A: pass\nclass B: pass\n", "utf-8"), "m", "")
F, G = (d.function(MODULE.functions[name]) for name in "fg")
A, B = (MODULE.classes[name] for name in "AB")
LOOP, OTHER_LOOP = ("/m.py", "f", 3), ("/m.py", "f", 9)

TENSORS = [
    d.tensor(),
    d.tensor(dtype="bool", dims=(4,)),
    d.tensor(dtype="int", dims=(None, 8)),
    d.tensor(d.HOST, "float", (4,)),
    d.tensor(d.HOST, "uint8", (), False),
    d.tensor(None, certainty=1),
    d.tensor(certainty=0, optional=True),
    d.tensor(dtype="float", dims=(4,), varies=LOOP),
    d.tensor(dtype="float", dims=(4,), varies=OTHER_LOOP),
    d.tensor(dtype="float", dims=(4,), varies=d.DATA),
]
HOSTS = [
    d.NONE,
    d.TRUE,
    d.constant(3),
    d.constant(3.0),
    d.INT,
    d.FLOAT,
    d.PAID,
    d.STR,
    d.ANY_HOST,
    d.NUMPY,
    d.SIZE,
    d.HOST_DEVICE,
    d.XLA_DEVICE,
    d.host("int", varies=LOOP),
]
OBJECTS = [
    F,
    G,
    d.cls(A),
    d.instance(A),
    d.instance(B),
    d.record(A, (("x", d.INT),)),
    d.record(A, (("x", d.tensor()), ("y", d.NONE))),
    d.record(A, (("z", d.INT), ("y", d.NONE))),
    d.record(A, (("z", d.INT),)),
    d.record(A, (("y", d.NONE), ("x", d.tensor()))),
    d.record(A, (("y", d.NONE), ("a", d.INT))),
    d.module("torch.nn.Linear"),
    d.module("torch.nn.Linear", None, None, "one"),
    d.module("torch.nn.Linear", None, None, "another"),
    d.module("torch.nn.ModuleList", d.sequence("list", None, d.instance(A))),
    d.module("torch.nn.ModuleList", d.sequence("list", None, d.instance(B))),
    d.module("torch.nn.Linear", None, "a cost"),
    d.module("torch.nn.Linear", None, "bigger cost"),
    d.role("optimizer"),
    d.role("loader", d.role("batch", d.tensor(d.HOST)), "plain"),
    d.role("loader", d.role("batch", d.tensor()), "boundary"),
    d.role("loader", d.role("batch", d.tensor(d.HOST)), "other"),
    d.role("loader"),
    d.namespace("torch.nn"),
    d.bound(d.UNKNOWN, "f"),
]
CONTAINERS = [
    d.sequence("list", ()),
    d.sequence("list", (d.INT,)),
    d.sequence("tuple", (d.tensor(), d.INT)),
    d.sequence("tuple", (d.INT, d.tensor())),
    d.sequence("list", None, d.tensor()),
    d.mapping((("a", d.INT),)),
    d.mapping((("a", d.tensor()), ("b", d.STR))),
    d.mapping((), d.tensor()),
    d.mapping((("b", d.INT), ("a", d.INT))),
    d.mapping((("b", d.INT), ("c", d.INT))),
]
SURE_ENTRY = d.mapping((("a", d.constant(3)),))
VALUES = [d.UNKNOWN, *TENSORS, *HOSTS, *OBJECTS, *CONTAINERS, SURE_ENTRY]


def texts(values: list[d.Value]) -> str:
    return " and ".join(show(value) for value in values)


def test_joining_is_idempotent() -> None:
    for value in VALUES:
        assert d.join(value, value) is value


def test_joining_commutes() -> None:
    broken = [(a, b) for a, b in itertools.combinations(VALUES, 2) if d.join(a, b) is not d.join(b, a)]
    assert not broken, "; ".join(texts([a, b]) for a, b in broken[:5])


def test_a_join_holds_what_it_joins() -> None:
    """Joining again what went in changes nothing: a loop's fixpoint ends."""
    broken = [(a, b) for a, b in itertools.product(VALUES, VALUES) if d.join(d.join(a, b), a) is not d.join(a, b)]
    assert not broken, "; ".join(texts([a, b]) for a, b in broken[:5])


def test_a_join_knows_no_more_than_what_it_joins() -> None:
    """By an order that is written down here, part by part: a join that keeps what one side alone knows is wrong."""
    broken = [(a, b) for a, b in itertools.product(VALUES, VALUES) if not covers(d.join(a, b), a)]
    assert not broken, "; ".join(f"{texts([a, b])} give {show(d.join(a, b))}" for a, b in broken[:5])


def test_a_join_forgets_nothing_that_both_know() -> None:
    """What already says less than the other is the join."""
    pairs = itertools.product(VALUES, [*VALUES, *(d.join(a, b) for a, b in itertools.combinations(VALUES, 2))])
    broken = [(a, b) for a, b in pairs if covers(b, a) and not covers(b, d.join(a, b))]
    assert not broken, f"{len(broken)}: " + "; ".join(
        f"{texts([a, b])} give {show(d.join(a, b))}" for a, b in broken[:8]
    )


def test_the_join_of_nothing_is_unknown() -> None:
    assert d.joins([]) is d.UNKNOWN
    assert d.joins([d.INT]) is d.INT


def test_the_order_is_one() -> None:
    """Reflexive and transitive on what is joined, and it tells apart: else the test above would say nothing."""
    joined = [*VALUES, *(d.join(a, b) for a, b in itertools.combinations(VALUES[::2], 2))]
    some = sorted(set(joined), key=d.order_key)[::3]
    assert all(covers(value, value) for value in some)
    below = {(a, b) for a, b in itertools.product(some, some) if covers(a, b)}
    broken = [(a, b, c) for a, b in below for c in some if (b, c) in below and (a, c) not in below]
    assert not broken, f"{len(broken)}: " + "; ".join(texts([*triple]) for triple in broken[:5])
    assert len(below) < len(some) ** 2 / 4


@pytest.mark.parametrize("kind", ["tensors and hosts", "objects", "containers", "some of all"])
def test_the_order_of_joining_does_not_matter(kind: str) -> None:
    chosen = {
        "tensors and hosts": [*TENSORS, *HOSTS],
        "objects": [*OBJECTS, d.NONE, d.tensor(), d.UNKNOWN],
        "containers": [*CONTAINERS, d.NONE, d.tensor(), d.INT],
        "some of all": [value for value in VALUES[::2] if value is not SURE_ENTRY],
    }[kind]
    broken = [
        (a, b, c)
        for a, b, c in itertools.combinations(chosen, 3)
        if len({d.join(d.join(x, y), z) for x, y, z in itertools.permutations((a, b, c))}) > 1
    ]
    assert not broken, f"{len(broken)}: " + "; ".join(texts([*triple]) for triple in broken[:5])


def test_an_entry_that_may_be_missing_is_no_constant() -> None:
    """Known to be wrong in one order: that a tensor's entry may be missing is remembered nowhere. When this fails,
    put ``SURE_ENTRY`` among the containers."""
    tensor, other = d.mapping((("a", d.tensor()),)), d.mapping((("b", d.INT),))
    told = {d.join(d.join(x, y), z) for x, y, z in itertools.permutations((SURE_ENTRY, tensor, other))}
    assert len(told) == 2
    for joined in (d.join(d.join(SURE_ENTRY, tensor), other), d.join(d.join(SURE_ENTRY, other), tensor)):
        assert isinstance(joined, d.Mapping)
        assert joined.get("a") is d.join(d.tensor(), d.INT)


def test_what_is_unknown_stays_so() -> None:
    assert all(d.join(value, d.UNKNOWN) is d.UNKNOWN for value in VALUES)


def test_a_join_with_a_host_value_is_no_sure_tensor() -> None:
    sure = d.join(d.tensor(), d.NONE)
    assert d.surely_tensor(sure)
    assert d.tensor_of(sure) is not None
    for value in (d.STR, d.instance(A), F, d.sequence("list", ())):
        assert not d.surely_tensor(d.join(d.tensor(), value))


def test_none_beside_a_tensor_is_a_tensor_that_may_be_none() -> None:
    assert d.join(d.tensor(), d.NONE) is d.tensor(optional=True)
    assert d.join(d.INT, d.NONE) is not d.INT


def test_what_may_be_too_much_is_unknown() -> None:
    apart = [F, G, d.cls(A), d.instance(A), d.instance(B), d.role("optimizer"), d.namespace("torch.nn"), d.STR]
    assert d.union([]) is d.UNKNOWN
    assert d.union(apart) is d.UNKNOWN
    few = apart[: d.MAX_UNION]
    assert len(d.alternatives(d.union(few))) == len(few)
    assert d.union([*few, d.NONE]) is not d.UNKNOWN


def test_a_loader_of_one_kind_or_another_is_of_neither_but_a_boundary_is_no_lack() -> None:
    plain, other, boundary = (d.role("loader", None, detail) for detail in ("plain", "other", "boundary"))
    assert d.join(plain, other) is d.role("loader")
    assert d.join(plain, boundary) is d.join(d.role("loader"), boundary) is boundary


def test_of_two_loops_the_first_one_is_told() -> None:
    one, other = d.tensor(varies=LOOP), d.tensor(varies=OTHER_LOOP)
    assert d.join(one, other) is d.join(other, one) is one


def test_values_are_interned() -> None:
    assert d.tensor(dtype="bool") is d.tensor(d.XLA, "bool")
    assert d.constant(1) is not d.constant(True)
    assert d.constant(1) is not d.constant(1.0)
    assert d.sequence("list", [d.INT]) is d.sequence("list", (d.INT,))


def test_no_gradient_flows_through_integers() -> None:
    assert not d.tensor(dtype="bool").grad
    assert not d.tensor().but(dtype="int").grad


def test_a_module_that_was_made_in_two_ways_is_of_neither() -> None:
    one, another = (d.module("pkg.Loss", None, None, given) for given in ("one", "another"))
    assert d.join(one, one) is one
    assert d.join(one, another) is d.module("pkg.Loss")


def test_of_two_costs_of_a_module_the_first_in_order_is_told() -> None:
    assert d.join(d.module("m", None, "b"), d.module("m", None, "a")) is d.module("m", None, "a")
    assert d.join(d.module("m", None, "b"), d.module("m")) is d.module("m", None, "b")
