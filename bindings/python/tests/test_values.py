from __future__ import annotations

import ctypes
import enum
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import invivo
from invivo import _generated as c
from invivo._native.library import own_library
from invivo._state.core import Core
from invivo._values.conversion import Packer, answer, read

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
)
things = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5), max_leaves=20
)


@pytest.fixture(scope="module")
def core() -> Core:
    return Core(own_library())


def there_and_back(core: Core, thing: Any, kind: int = c.INVIVO_KIND_ANY) -> Any:
    out = c.invivo_value()
    answer(core, ctypes.pointer(out), thing, kind)
    try:
        return read(core, out)
    finally:
        core.library.value_clear(ctypes.byref(out))


@given(things)
def test_a_value_comes_back_as_it_went(core: Core, thing: Any) -> None:
    back = there_and_back(core, thing)
    assert back == thing
    assert type(back) is type(thing)


@pytest.mark.parametrize("number", [0, -1, (1 << 63) - 1, -(1 << 63), 1 << 63, (1 << 64) - 1])
def test_an_integer_takes_the_smallest_kind_that_holds_it(core: Core, number: int) -> None:
    with Packer(core) as packer:
        value = packer.value(number)
        assert value.kind == (c.INVIVO_KIND_UINT64 if number >= 1 << 63 else c.INVIVO_KIND_INT64)
        assert read(core, value) == number


@pytest.mark.parametrize("number", [1 << 64, -(1 << 63) - 1, 10**40])
def test_an_integer_past_64_bits_is_out_of_range(core: Core, number: int) -> None:
    with pytest.raises(ValueError, match="64 bits") as caught:
        there_and_back(core, number)
    assert caught.value.code == c.INVIVO_E_RANGE


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (c.INVIVO_KIND_INT8, -128, 127),
        (c.INVIVO_KIND_INT16, -(1 << 15), (1 << 15) - 1),
        (c.INVIVO_KIND_INT32, -(1 << 31), (1 << 31) - 1),
        (c.INVIVO_KIND_UINT8, 0, 255),
        (c.INVIVO_KIND_UINT16, 0, (1 << 16) - 1),
        (c.INVIVO_KIND_UINT32, 0, (1 << 32) - 1),
        (c.INVIVO_KIND_UINT64, 0, (1 << 64) - 1),
    ],
)
def test_every_narrowing_is_checked(core: Core, kind: int, low: int, high: int) -> None:
    for number in (low, high):
        assert there_and_back(core, number, kind) == number
    for number in (low - 1, high + 1):
        with pytest.raises(invivo.RangeError):
            there_and_back(core, number, kind)


def test_an_integer_becomes_a_double_only_where_it_is_exact(core: Core) -> None:
    assert there_and_back(core, 1 << 53, c.INVIVO_KIND_DOUBLE) == float(1 << 53)
    with pytest.raises(invivo.RangeError, match="exact"):
        there_and_back(core, (1 << 53) + 1, c.INVIVO_KIND_DOUBLE)


def test_a_float_too_large_for_single_precision_is_out_of_range(core: Core) -> None:
    assert there_and_back(core, 0.5, c.INVIVO_KIND_FLOAT) == 0.5
    assert there_and_back(core, math.inf, c.INVIVO_KIND_FLOAT) == math.inf
    with pytest.raises(invivo.RangeError, match="float"):
        there_and_back(core, 1e39, c.INVIVO_KIND_FLOAT)


def test_not_a_number_survives(core: Core) -> None:
    assert math.isnan(there_and_back(core, math.nan))


def test_true_is_no_integer(core: Core) -> None:
    assert there_and_back(core, True) is True
    assert there_and_back(core, [1, True]) == [1, True]
    assert type(there_and_back(core, [1, True])[0]) is int


def test_tuples_cross_as_lists_and_bytes_of_every_kind_as_bytes(core: Core) -> None:
    assert there_and_back(core, (1, (2, 3))) == [1, [2, 3]]
    assert there_and_back(core, [bytearray(b"a\0b"), memoryview(b"c")]) == [b"a\0b", b"c"]


def test_text_with_nul_and_beyond_the_first_plane_survives(core: Core) -> None:
    assert there_and_back(core, "a\0b\N{MUSICAL KEYBOARD}") == "a\0b\N{MUSICAL KEYBOARD}"


def test_a_lone_surrogate_is_an_error(core: Core) -> None:
    with pytest.raises(invivo.EncodingError):
        there_and_back(core, "\ud83c")


def test_keys_of_a_map_are_texts(core: Core) -> None:
    with pytest.raises(TypeError, match="an int"):
        there_and_back(core, {1: 2})


def test_an_enum_crosses_as_name_and_number(core: Core) -> None:
    class Wave(enum.Enum):
        SAW = "x"
        SINE = "y"

    class Level(enum.IntEnum):
        LOW = -3

    sine, low = there_and_back(core, [Wave.SINE, Level.LOW])
    assert (sine, sine.name) == (1, "SINE")
    assert (low, low.name) == (-3, "LOW")
    assert there_and_back(core, sine).name == "SINE"


def test_a_number_of_another_library_crosses_by_its_index(core: Core) -> None:
    class Number:
        def __index__(self) -> int:
            return 7

    assert there_and_back(core, Number()) == 7
