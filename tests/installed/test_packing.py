"""Values keep what they mean when they are written down."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from xlalint.facts.domain.lattice import sequence, union
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    DTYPE,
    HOST,
    HOST_DEVICE,
    INT,
    NUMPY,
    READ_NUMBER,
    UNKNOWN,
    XLA,
    XLA_DEVICE,
    Value,
    bound_method,
    constant,
    known_object,
    mapping,
    module_value,
    namespace,
    tensor,
)
from xlalint.installed.packing import pack, unpack

TENSORS = st.builds(
    tensor,
    st.sampled_from([XLA, HOST, None]),
    st.sampled_from(["float", "int", "bool", "uint8", None]),
    st.sampled_from([None, (), (None,), (None, None)]),
    st.booleans(),
    st.none(),
    st.integers(0, 2),
    st.booleans(),
)
CONSTANTS = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5), st.none())
HOSTS = st.one_of(
    CONSTANTS.map(constant),
    st.sampled_from([INT, ANY_HOST, READ_NUMBER, NUMPY, XLA_DEVICE, HOST_DEVICE, DTYPE, UNKNOWN]),
)
OBJECTS = st.sampled_from(
    [module_value("torch.nn.Linear"), module_value("a.B", None, None, "[]"), namespace("torch.float32")]
)
VALUES = st.recursive(
    st.one_of(TENSORS, HOSTS, OBJECTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: sequence("tuple", parts)),
        inner.map(lambda part: sequence("list", None, part)),
        st.lists(st.tuples(st.text(max_size=3), inner), max_size=2, unique_by=lambda item: item[0]).map(
            lambda items: mapping(tuple(items))
        ),
        st.lists(inner, min_size=1, max_size=3).map(union),
        inner.map(lambda part: known_object(Role.BATCH, part)),
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Value) -> None:
    assert unpack(json.loads(json.dumps(pack(value)))) is value or unpack(pack(value)) == value


def test_what_belongs_to_the_asking_program_is_left_behind() -> None:
    varying = tensor(dtype="int", dims=(4, 8), varies=("main.py", "train", 3))
    assert unpack(pack(varying)) == tensor(dtype="int", dims=(None, None))
    assert unpack(pack(bound_method(UNKNOWN, "step"))) is UNKNOWN
