"""The annotations of typed settings: each reads a right value, and reports a wrong one at its line and column."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import re
import uuid
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    TypedDict,
    TypeVar,
    Union,
)

import annotated_types
import pydantic
import pytest

import invivo

Kilo = NewType("Kilo", float)
T = TypeVar("T")


class Color(enum.Enum):
    RED = "r"
    GREEN = "g"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Word(str, enum.Enum):
    A = "alpha"


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass
class Shape:
    kind: Literal["shape"]
    at: Point


@dataclasses.dataclass
class Line:
    kind: Literal["line"]
    ends: list[Point]


@dataclasses.dataclass
class Box(Generic[T]):
    item: T


@dataclasses.dataclass
class Given:
    seed: dataclasses.InitVar[int]
    twice: int = dataclasses.field(init=False)

    def __post_init__(self, seed: int) -> None:
        self.twice = 2 * seed


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Host(pydantic.BaseModel):
    name: str
    port: int = 80


@pydantic.dataclasses.dataclass
class Checked:
    size: int


class Temperature:
    def __init__(self, text: str) -> None:
        if not text.endswith("C"):
            raise ValueError("no temperature")
        self.degrees = float(text[:-1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Temperature) and self.degrees == other.degrees

    __hash__ = None  # type: ignore[assignment]


SECONDS = datetime.timedelta(seconds=1)

# Annotation, right text, its value, wrong text, the column of the fault in it, a part of the message.
TABLE: list[tuple[Any, str, Any, str, int, str]] = [
    (bool, "true", True, "7", 0, "expected true or false, got 7"),
    (int, "7", 7, "7.5", 0, "expected a whole number, got 7.5"),
    (int, "'0x10'", 16, "true", 0, "expected a whole number, got True"),
    (float, "7", 7.0, "x", 0, "expected a number, got 'x'"),
    (str, "x", "x", "7", 0, "expected a string, got 7"),
    (bytes, "AQID", b"\1\2\3", "'%'", 0, "expected bytes in base64"),
    (Any, "[1, {a: b}]", [1, {"a": "b"}], "", 0, ""),
    (object, "1", 1, "", 0, ""),
    (Optional[int], "1", 1, "x", 0, "expected a whole number, got 'x'"),  # noqa: UP045
    (int | None, "1", 1, "[]", 0, "expected a whole number, got a list"),
    (int | str, "x", "x", "[]", 0, "int | str, got a list"),
    (Union[bool, float], "2", 2.0, "[]", 0, "got a list"),  # noqa: UP007
    (Literal["a", "b"], "b", "b", "c", 0, "expected one of 'a', 'b', got 'c'"),
    (Literal["near"], "near", "near", "naer", 0, "did you mean 'near'?"),
    (Literal[1, True], "true", True, "2", 0, "expected one of 1, True, got 2"),
    (Literal["auto"] | int, "auto", "auto", "off", 0, "got 'off'"),
    (Color, "g", Color.GREEN, "b", 0, "expected one of 'r', 'g' (or by name: RED, GREEN), got 'b'"),
    (Color, "GREEN", Color.GREEN, "1", 0, "expected one of 'r', 'g' (or by name: RED, GREEN), got 1"),
    (Level, "2", Level.HIGH, "3", 0, "expected one of 1, 2 (or by name: LOW, HIGH), got 3"),
    (Word, "alpha", Word.A, "alhpa", 0, "did you mean 'alpha'?"),
    (list, "[1, a]", [1, "a"], "1", 0, "expected a list, got 1"),
    (list[int], "[1, 2]", [1, 2], "[1, x]", 4, "expected a whole number, got 'x'"),
    (list[list[int]], "[[1], [2]]", [[1], [2]], "[[1], [2, x]]", 10, "expected a whole number"),
    (collections.abc.Sequence[str], "[a]", ["a"], "[1]", 1, "expected a string, got 1"),
    (tuple[int, str], "[1, a]", (1, "a"), "[1]", 0, "expected a list of 2 items, got 1"),
    (tuple[int, str], "[2, b]", (2, "b"), "[b, 2]", 1, "expected a whole number, got 'b'"),
    (tuple[int, ...], "[1, 2]", (1, 2), "[1, x]", 4, "expected a whole number, got 'x'"),
    (set[int], "[1, 1]", {1}, "[x]", 1, "expected a whole number, got 'x'"),
    (frozenset[str], "[a]", frozenset({"a"}), "{}", 0, "expected a list, got a map"),
    (dict, "{a: 1}", {"a": 1}, "[]", 0, "expected a map, got a list"),
    (dict[str, int], "{a: 1}", {"a": 1}, "{a: x}", 4, "expected a whole number, got 'x'"),
    (dict[int, str], "{'1': a}", {1: "a"}, "{b: a}", 4, "expected a whole number, got 'b'"),
    (collections.abc.Mapping[str, list[int]], "{a: [1]}", {"a": [1]}, "{a: [x]}", 5, "expected a whole number"),
    (Point, "{x: 1}", Point(1), "{x: 1, z: 2}", 7, "Point has no field 'z'"),
    (Point, "{x: 1, y: 2}", Point(1, 2), "{y: 2}", 0, "Point needs 'x', which is not set"),
    (Point | None, "{x: 1}", Point(1), "{x: a}", 4, "expected a whole number, got 'a'"),
    (list[Point], "[{x: 1}]", [Point(1)], "[{x: 1}, {x: a}]", 13, "expected a whole number, got 'a'"),
    (list[Point], "[{x: 2}]", [Point(2)], "[{x: 1}, {x: 1, zz: 2}]", 16, "Point has no field 'zz'; it has x, y"),
    (dict[str, Point], "{p: {x: 2}}", {"p": Point(2)}, "{p: {x: 1, zz: 2}}", 11, "Point has no field 'zz'"),
    (dict[str, Point], "{p: {x: 1}}", {"p": Point(1)}, "{p: {x: a}}", 8, "expected a whole number, got 'a'"),
    (Shape, "{kind: shape, at: {x: 1}}", Shape("shape", Point(1)), "{kind: shape, at: {x: b}}", 22, "got 'b'"),
    (
        Shape | Line,
        "{kind: line, ends: [{x: 1}]}",
        Line("line", [Point(1)]),
        "{kind: line, ends: [{x: 1, q: 1}]}",
        27,
        "Point has no field 'q'",
    ),
    (Box[int], "{item: 1}", Box(1), "{item: a}", 7, "expected a whole number, got 'a'"),
    (Given, "{seed: 4}", 8, "{seed: a}", 7, "expected a whole number, got 'a'"),
    (Movie, "{title: a}", {"title": "a"}, "{year: 1}", 0, "Movie needs 'title', which is not set"),
    (Movie, "{title: a, year: 1}", {"title": "a", "year": 1}, "{title: a, yaer: 1}", 11, "did you mean 'year'?"),
    (Pair, "{left: 1}", Pair(1), "{left: x}", 7, "expected a whole number, got 'x'"),
    (Path, "/a/b", Path("/a/b"), "7", 0, "expected a Path, got 7"),
    (datetime.timedelta, "250 ms", SECONDS / 4, "fast", 0, "expected a duration such as '250 ms'"),
    (datetime.timedelta, "1.5", 1.5 * SECONDS, "[]", 0, "or a number of seconds, got a list"),
    (datetime.date, "'2026-01-31'", datetime.date(2026, 1, 31), "'2026-13-31'", 0, "expected a date"),
    (
        datetime.datetime,
        "'2026-01-31T12:00'",
        datetime.datetime(2026, 1, 31, 12),
        "noon",
        0,
        "expected a date with a time",
    ),
    (datetime.time, "'12:30'", datetime.time(12, 30), "noon", 0, "expected a time"),
    (decimal.Decimal, "0.1", decimal.Decimal("0.1"), "x", 0, "expected a Decimal, got 'x'"),
    (fractions.Fraction, "1/3", fractions.Fraction(1, 3), "x", 0, "expected a Fraction, got 'x'"),
    (
        uuid.UUID,
        "'{12345678-1234-5678-1234-567812345678}'",
        uuid.UUID("12345678-1234-5678-1234-567812345678"),
        "x",
        0,
        "UUID",
    ),
    (ipaddress.IPv4Address, "10.0.0.1", ipaddress.IPv4Address("10.0.0.1"), "10.0.0.256", 0, "expected an IPv4Address"),
    (ipaddress.IPv6Network, "'::/64'", ipaddress.IPv6Network("::/64"), "x", 0, "expected an IPv6Network"),
    (re.Pattern[str], "a+", re.compile("a+"), "'('", 0, "expected a regular expression"),
    (Kilo, "1.5", 1.5, "x", 0, "expected a number, got 'x'"),
    (Final[int], "1", 1, "x", 0, "expected a whole number"),
    (Annotated[int, "a note"], "1", 1, "x", 0, "expected a whole number"),
    (Annotated[int, annotated_types.Gt(0)], "1", 1, "0", 0, "expected more than 0, got 0"),
    (Annotated[int, annotated_types.Interval(ge=1, le=9)], "9", 9, "10", 0, "expected at most 9, got 10"),
    (Annotated[str, annotated_types.MinLen(2)], "ab", "ab", "a", 0, "expected a length of at least 2, got 'a'"),
    (Annotated[list[int], annotated_types.MaxLen(1)], "[1]", [1], "[1, 2]", 0, "expected a length of at most 1"),
    (Annotated[int, annotated_types.MultipleOf(4)], "8", 8, "6", 0, "expected a multiple of 4, got 6"),
    (Annotated[str, annotated_types.Predicate(str.islower)], "a", "a", "A", 0, "islower holds"),
    (Annotated[int, pydantic.Field(ge=3)], "3", 3, "2", 0, "expected at least 3, got 2"),
    (list[Annotated[int, annotated_types.Lt(5)]], "[4]", [4], "[4, 5]", 4, "expected less than 5, got 5"),
    (Host, "{name: a}", Host(name="a"), "{name: a, prot: 1}", 10, "did you mean 'port'?"),
    (list[Host], "[{name: a}]", [Host(name="a")], "[{name: a}, {name: [1]}]", 19, "Input should be a valid string"),
    (Host | None, "{name: a}", Host(name="a"), "{name: a, port: x}", 16, "Input should be a valid integer"),
    (
        dict[str, Host],
        "{h: {name: a}}",
        {"h": Host(name="a")},
        "{h: {port: 1}}",
        4,
        "Host needs 'name', which is not set",
    ),
    (Checked, "{size: 1}", Checked(1), "{size: x}", 7, "Input should be a valid integer"),
    (pydantic.SecretStr, "s", pydantic.SecretStr("s"), "[]", 0, "expected a string, got another value"),
    (Temperature, "3C", Temperature("3C"), "3K", 0, "Temperature refuses it: ValueError: no temperature"),
]


def test_the_table_is_large() -> None:
    assert len({str(row[0]) for row in TABLE}) >= 40


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{getattr(row[0], '__name__', row[0])}: {row[1]}")
def test_annotation(row: tuple[Any, str, Any, str, int, str]) -> None:
    annotation, right, expected, wrong, column, message = row
    field: Any = dataclasses.make_dataclass("Section", [("field", annotation)])
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.converter(Temperature, Temperature)
        with runtime.changes() as changes:
            changes.document("a.yaml", f"config:\n  section:\n    field: {right}\n")
        runtime.bind_settings(field, "section")
        found = runtime.settings(field).field
        if annotation is Given:
            found = found.twice
        assert found == expected
        assert type(found) is type(expected)
        if not wrong:
            return
        with pytest.raises(invivo.Error) as caught, runtime.changes() as changes:
            changes.document("a.yaml", f"config:\n  section:\n    field: {wrong}\n")
        assert message in caught.value.message
        assert (caught.value.file, caught.value.line, caught.value.column) == ("a.yaml", 3, 12 + column)
        assert caught.value.path.startswith("config.section.field")
        assert runtime.settings(field).field is not None


def test_null_is_a_value_of_an_optional_item() -> None:
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.configure("items", [None, 1])
        runtime.bind_settings(list[int | None], "items", name="items")
        assert runtime.settings("items") == [None, 1]
