"""The laws of the lattice, on all pairs and triples of a small set of values of each kind."""

from __future__ import annotations

import itertools

import pytest
from covering import covers

from xlalint.facts.domain.display import show
from xlalint.facts.domain.lattice import join, join_all, order_key, sequence, union
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    DATA,
    FLOAT,
    HOST,
    HOST_DEVICE,
    INT,
    MAX_UNION,
    NONE,
    NUMPY,
    READ_NUMBER,
    SIZE,
    STR,
    TRUE,
    UNKNOWN,
    XLA,
    XLA_DEVICE,
    Mapping,
    Value,
    alternatives,
    bound_method,
    class_object,
    constant,
    function_value,
    host,
    instance,
    known_object,
    mapping,
    module_value,
    namespace,
    struct,
    surely_tensor,
    tensor,
    tensor_of,
)
from xlalint.program.lower import lower
from xlalint.sources.source import Source

MODULE = lower(Source("/m.py", "def f(): pass\ndef g(): pass\nclass A: pass\nclass B: pass\n", "utf-8"), "m", "")
F, G = (function_value(MODULE.functions[name]) for name in "fg")
A, B = (MODULE.classes[name] for name in "AB")
LOOP, OTHER_LOOP = ("/m.py", "f", 3), ("/m.py", "f", 9)

TENSORS = [
    tensor(),
    tensor(dtype="bool", dims=(4,)),
    tensor(dtype="int", dims=(None, 8)),
    tensor(HOST, "float", (4,)),
    tensor(HOST, "uint8", (), False),
    tensor(None, certainty=1),
    tensor(certainty=0, optional=True),
    tensor(dtype="float", dims=(4,), varies=LOOP),
    tensor(dtype="float", dims=(4,), varies=OTHER_LOOP),
    tensor(dtype="float", dims=(4,), varies=DATA),
]
HOSTS = [
    NONE,
    TRUE,
    constant(3),
    constant(3.0),
    INT,
    FLOAT,
    READ_NUMBER,
    STR,
    ANY_HOST,
    NUMPY,
    SIZE,
    HOST_DEVICE,
    XLA_DEVICE,
    host("int", varies=LOOP),
]
OBJECTS = [
    F,
    G,
    class_object(A),
    instance(A),
    instance(B),
    struct(A, (("x", INT),)),
    struct(A, (("x", tensor()), ("y", NONE))),
    struct(A, (("z", INT), ("y", NONE))),
    struct(A, (("z", INT),)),
    struct(A, (("y", NONE), ("x", tensor()))),
    struct(A, (("y", NONE), ("a", INT))),
    module_value("torch.nn.Linear"),
    module_value("torch.nn.Linear", None, None, "one"),
    module_value("torch.nn.Linear", None, None, "another"),
    module_value("torch.nn.ModuleList", sequence("list", None, instance(A))),
    module_value("torch.nn.ModuleList", sequence("list", None, instance(B))),
    module_value("torch.nn.Linear", None, "a cost"),
    module_value("torch.nn.Linear", None, "bigger cost"),
    known_object(Role.OPTIMIZER),
    known_object(Role.LOADER, known_object(Role.BATCH, tensor(HOST)), "plain"),
    known_object(Role.LOADER, known_object(Role.BATCH, tensor()), "boundary"),
    known_object(Role.LOADER, known_object(Role.BATCH, tensor(HOST)), "other"),
    known_object(Role.LOADER),
    namespace("torch.nn"),
    bound_method(UNKNOWN, "f"),
]
CONTAINERS = [
    sequence("list", ()),
    sequence("list", (INT,)),
    sequence("tuple", (tensor(), INT)),
    sequence("tuple", (INT, tensor())),
    sequence("list", None, tensor()),
    mapping((("a", INT),)),
    mapping((("a", tensor()), ("b", STR))),
    mapping((), tensor()),
    mapping((("b", INT), ("a", INT))),
    mapping((("b", INT), ("c", INT))),
]
SURE_ENTRY = mapping((("a", constant(3)),))
VALUES = [UNKNOWN, *TENSORS, *HOSTS, *OBJECTS, *CONTAINERS, SURE_ENTRY]


def texts(values: list[Value]) -> str:
    return " and ".join(show(value) for value in values)


def test_joining_is_idempotent() -> None:
    for value in VALUES:
        assert join(value, value) is value


def test_joining_commutes() -> None:
    broken = [(a, b) for a, b in itertools.combinations(VALUES, 2) if join(a, b) is not join(b, a)]
    assert not broken, "; ".join(texts([a, b]) for a, b in broken[:5])


def test_a_join_holds_what_it_joins() -> None:
    """Joining again what went in changes nothing: a loop's fixpoint ends."""
    broken = [(a, b) for a, b in itertools.product(VALUES, VALUES) if join(join(a, b), a) is not join(a, b)]
    assert not broken, "; ".join(texts([a, b]) for a, b in broken[:5])


def test_a_join_knows_no_more_than_what_it_joins() -> None:
    """By an order that is written down here, part by part: a join that keeps what one side alone knows is wrong."""
    broken = [(a, b) for a, b in itertools.product(VALUES, VALUES) if not covers(join(a, b), a)]
    assert not broken, "; ".join(f"{texts([a, b])} give {show(join(a, b))}" for a, b in broken[:5])


def test_a_join_forgets_nothing_that_both_know() -> None:
    """What already says less than the other is the join."""
    pairs = itertools.product(VALUES, [*VALUES, *(join(a, b) for a, b in itertools.combinations(VALUES, 2))])
    broken = [(a, b) for a, b in pairs if covers(b, a) and not covers(b, join(a, b))]
    assert not broken, f"{len(broken)}: " + "; ".join(f"{texts([a, b])} give {show(join(a, b))}" for a, b in broken[:8])


def test_the_join_of_nothing_is_unknown() -> None:
    assert join_all([]) is UNKNOWN
    assert join_all([INT]) is INT


def test_the_order_is_one() -> None:
    """Reflexive and transitive on what is joined, and it tells apart: else the test above would say nothing."""
    joined = [*VALUES, *(join(a, b) for a, b in itertools.combinations(VALUES[::2], 2))]
    some = sorted(set(joined), key=order_key)[::3]
    assert all(covers(value, value) for value in some)
    below = {(a, b) for a, b in itertools.product(some, some) if covers(a, b)}
    broken = [(a, b, c) for a, b in below for c in some if (b, c) in below and (a, c) not in below]
    assert not broken, f"{len(broken)}: " + "; ".join(texts([*triple]) for triple in broken[:5])
    assert len(below) < len(some) ** 2 / 4


@pytest.mark.parametrize("kind", ["tensors and hosts", "objects", "containers", "some of all"])
def test_the_order_of_joining_does_not_matter(kind: str) -> None:
    chosen = {
        "tensors and hosts": [*TENSORS, *HOSTS],
        "objects": [*OBJECTS, NONE, tensor(), UNKNOWN],
        "containers": [*CONTAINERS, NONE, tensor(), INT],
        "some of all": [value for value in VALUES[::2] if value is not SURE_ENTRY],
    }[kind]
    broken = [
        (a, b, c)
        for a, b, c in itertools.combinations(chosen, 3)
        if len({join(join(x, y), z) for x, y, z in itertools.permutations((a, b, c))}) > 1
    ]
    assert not broken, f"{len(broken)}: " + "; ".join(texts([*triple]) for triple in broken[:5])


def test_an_entry_that_may_be_missing_is_no_constant() -> None:
    """Known to be wrong in one order: that a tensor's entry may be missing is remembered nowhere. When this fails,
    put ``SURE_ENTRY`` among the containers."""
    one, other = mapping((("a", tensor()),)), mapping((("b", INT),))
    told = {join(join(x, y), z) for x, y, z in itertools.permutations((SURE_ENTRY, one, other))}
    assert len(told) == 2
    for joined in (join(join(SURE_ENTRY, one), other), join(join(SURE_ENTRY, other), one)):
        assert isinstance(joined, Mapping)
        assert joined.get("a") is join(tensor(), INT)


def test_what_is_unknown_stays_so() -> None:
    assert all(join(value, UNKNOWN) is UNKNOWN for value in VALUES)


def test_a_join_with_a_host_value_is_no_sure_tensor() -> None:
    sure = join(tensor(), NONE)
    assert surely_tensor(sure)
    assert tensor_of(sure) is not None
    for value in (STR, instance(A), F, sequence("list", ())):
        assert not surely_tensor(join(tensor(), value))


def test_none_beside_a_tensor_is_a_tensor_that_may_be_none() -> None:
    assert join(tensor(), NONE) is tensor(optional=True)
    assert join(INT, NONE) is not INT


def test_what_may_be_too_much_is_unknown() -> None:
    apart = [F, G, class_object(A), instance(A), instance(B), known_object(Role.OPTIMIZER), namespace("torch.nn"), STR]
    assert union([]) is UNKNOWN
    assert union(apart) is UNKNOWN
    few = apart[:MAX_UNION]
    assert len(alternatives(union(few))) == len(few)
    assert union([*few, NONE]) is not UNKNOWN


def test_a_loader_of_one_kind_or_another_is_of_neither_but_a_boundary_is_no_lack() -> None:
    plain, other, boundary = (known_object(Role.LOADER, None, detail) for detail in ("plain", "other", "boundary"))
    assert join(plain, other) is known_object(Role.LOADER)
    assert join(plain, boundary) is join(known_object(Role.LOADER), boundary) is boundary


def test_of_two_loops_the_first_one_is_told() -> None:
    one, other = tensor(varies=LOOP), tensor(varies=OTHER_LOOP)
    assert join(one, other) is join(other, one) is one


def test_values_are_interned() -> None:
    assert tensor(dtype="bool") is tensor(XLA, "bool")
    assert constant(1) is not constant(True)
    assert constant(1) is not constant(1.0)
    assert sequence("list", [INT]) is sequence("list", (INT,))


def test_no_gradient_flows_through_integers() -> None:
    assert not tensor(dtype="bool").grad
    assert not tensor().but(dtype="int").grad


def test_a_module_that_was_made_in_two_ways_is_of_neither() -> None:
    one, another = (module_value("pkg.Loss", None, None, given) for given in ("one", "another"))
    assert join(one, one) is one
    assert join(one, another) is module_value("pkg.Loss")


def test_of_two_costs_of_a_module_the_first_in_order_is_told() -> None:
    assert join(module_value("m", None, "b"), module_value("m", None, "a")) is module_value("m", None, "a")


def test_one_of_several_modules_costs_perhaps() -> None:
    one, other, free = module_value("m", None, "a"), module_value("m", None, "b"), module_value("m")
    assert join(one, free) is module_value("m", None, "perhaps a")
    assert join(join(other, free), one) is join(other, join(free, one)) is module_value("m", None, "perhaps a")
