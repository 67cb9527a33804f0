"""What the configuration says arrives as the annotation of its place wants it, or is refused with its place."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

import invivo


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Word(str, enum.Enum):
    A = "first"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Twice(enum.Enum):
    """Two members' values are another one's name."""

    X = "Y"
    Y = "X"


@dataclasses.dataclass
class Inner:
    level: Level
    tags: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Outer:
    inner: Inner
    size: int = 3


class Model:
    """As pydantic has them."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @classmethod
    def model_validate(cls, value: Any) -> Model:
        if not isinstance(value, dict) or "a" not in value:
            raise ValueError("a is missing")
        return cls(value)


class Unreadable: ...


class Out:
    def __init__(self, v: Any) -> None:
        self.v = v


def class_of(annotation: Any) -> Callable[..., Any]:
    def initialize(self: Any, v: Any) -> None:
        self.v = v

    initialize.__annotations__ = {"v": annotation}
    return type("Place", (Out,), {"__init__": initialize})


def dataclass_of(annotation: Any) -> Callable[..., Any]:
    return dataclasses.make_dataclass("Data", [("v", annotation)])


def function_of(annotation: Any) -> Callable[..., Any]:
    def function(v: Any) -> Out:
        return Out(v)

    function.__annotations__ = {"v": annotation, "return": Out}
    return function


def generator_of(annotation: Any) -> Callable[..., Any]:
    def generator(v: Any) -> Iterator[Out]:
        yield Out(v)

    generator.__annotations__ = {"v": annotation, "return": Iterator[Out]}
    return generator


def manager_of(annotation: Any) -> Callable[..., Any]:
    return contextlib.contextmanager(generator_of(annotation))


PLACES = [class_of, dataclass_of, function_of, generator_of, manager_of]


def made(place: Callable[..., Any], annotation: Any, text: str) -> Any:
    what = place(annotation)

    class X(invivo.Assembly):
        @invivo.lazy_singleton
        def s(self) -> Any:
            use = invivo.managed if place is manager_of else invivo.new
            return use(what, v=invivo.config("v"))

    with invivo.Runtime(log_level="silent") as runtime:
        runtime.source("a.yaml", f"config: {{ x: {{ v: {text} }} }}")
        runtime.activate(x := X())
        return x.s().v


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("annotation", "text", "wanted"),
    [
        (int, "3", 3),
        (float, "3", 3.0),
        (Path, "a/b", Path("a/b")),
        (decimal.Decimal, "0.19", decimal.Decimal("0.19")),
        (decimal.Decimal, "'1e400'", decimal.Decimal("1e400")),
        (datetime.timedelta, "1 h 30 min", datetime.timedelta(hours=1, minutes=30)),
        (datetime.timedelta, "250 ms", datetime.timedelta(milliseconds=250)),
        (datetime.date, "'2020-01-02'", datetime.date(2020, 1, 2)),
        (uuid.UUID, "'12345678123456781234567812345678'", uuid.UUID("12345678123456781234567812345678")),
        (ipaddress.IPv4Address, "1.2.3.4", ipaddress.IPv4Address("1.2.3.4")),
        (Color, "RED", Color.RED),
        (Color, "red", Color.RED),
        (Word, "first", Word.A),
        (Level, "HIGH", Level.HIGH),
        (Level, "2", Level.HIGH),
        (Twice, "Y", Twice.X),
        (Color | None, "blue", Color.BLUE),
        (Path | None, "x", Path("x")),
        (int | str, "'7'", "7"),
        (Literal["a", 1], "a", "a"),
        (Literal["a", 1], "1", 1),
        (list[int], "[1, 2]", [1, 2]),
        (list[Path], "[a, b]", [Path("a"), Path("b")]),
        (tuple[int, ...], "[1, 2]", (1, 2)),
        (tuple[int, str], "[1, x]", (1, "x")),
        (set[int], "[1, 2]", {1, 2}),
        (frozenset[Color], "[red, BLUE]", frozenset(Color)),
        (dict[str, decimal.Decimal], "{ a: 0.1 }", {"a": decimal.Decimal("0.1")}),
        (Outer, "{ inner: { level: LOW, tags: [1] } }", Outer(Inner(Level.LOW, [1]))),
    ],
)
def test_a_value_arrives_as_its_place_wants_it(place: Any, annotation: Any, text: str, wanted: Any) -> None:
    found = made(place, annotation, text)
    assert found == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("annotation", "text", "column", "message"),
    [
        (int, "3.5", 19, "3.5 is not a whole number"),
        (bool, "yes", 19, "expected 'true' or 'false'"),
        (str, "3", 19, "is not a string"),
        (Color, "rde", 19, r"expected .*one of 'red', 'blue' .or by name: RED, BLUE., got 'rde'; did you mean"),
        (Level, "3", 19, "expected .*one of 1, 2 .or by name: LOW, HIGH., got 3"),
        (list[int], "[1, x]", 23, "expected a whole number, got 'x'"),
        (list[int], "3", 19, "expected a list, got 3"),
        (tuple[int, int], "[1]", 19, "expected a list of 2 items, got 1"),
        (dict[str, int], "{ a: x }", 24, "expected a whole number, got 'x'"),
        (set[str], "[1]", 20, "expected a string, got 1"),
        (Literal["left", "right"], "rihgt", 19, "expected one of 'left', 'right', got 'rihgt'; did you mean 'right'"),
        (int | Color, "x", 19, "expected one of int \\| Color, got 'x'"),
        (ipaddress.IPv4Address, "1.2.3", 19, "expected an IPv4Address, got '1.2.3'"),
        (datetime.timedelta, "3 bars", 19, "expected a duration such as '250 ms'"),
        (Outer, "{ inner: { level: MID } }", 37, "expected one of 1, 2 .or by name: LOW, HIGH., got 'MID'"),
        (Outer, "{ inner: { level: LOW }, sise: 3 }", 44, "Outer has no field 'sise'; did you mean 'size'"),
        (Outer, "{ size: 3 }", 19, "Outer needs 'inner', which is not set"),
        (Model, "{ b: 1 }", 19, "ValueError: a is missing"),
        (Unreadable, "text", 19, r"nothing reads an Unreadable: make it a dataclass .*runtime.converter\(Unreadable"),
        (Unreadable, "{ a: 1 }", 19, r"nothing reads an Unreadable"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_its_place(
    place: Any, annotation: Any, text: str, column: int, message: str
) -> None:
    with pytest.raises(invivo.Error, match=message) as caught:
        made(place, annotation, text)
    error = caught.value
    assert (error.file, error.line, error.column, error.path) == ("a.yaml", 1, column, "config.x.v")
    assert "'x.s'" in error.message


def test_a_model_is_made_by_itself() -> None:
    for place in PLACES:
        assert made(place, Model, "{ a: 1 }").data == {"a": 1}


def test_a_later_document_that_does_not_fit_is_refused_and_one_that_does_is_followed() -> None:
    class X(invivo.Assembly):
        @invivo.lazy_singleton
        def s(self) -> Out:
            return invivo.new(function_of(list[Color]), invivo.config("v", ["red"]))

        @invivo.lazy_singleton
        def d(self) -> Out:
            return invivo.new(function_of(Path), invivo.config("w", "a/b"))

    with invivo.Runtime(x := X(), log_level="silent") as runtime:
        assert x.d().v == Path("a/b"), "a default that is a text is read too"
        runtime.source("a.yaml", "config: { x: { v: [BLUE] } }")
        assert x.s().v == [Color.BLUE]
        with pytest.raises(invivo.RangeError, match=r"a.yaml:1:25: .*expected one of 'red', 'blue' .*, got 'green'"):
            runtime.source("a.yaml", "config: { x: { v: [red, green] } }")
        assert x.s().v == [Color.BLUE]
        runtime.source("a.yaml", "config: { x: { v: [red] } }")
        assert x.s().v == [Color.RED]


def test_a_converter_of_the_program_comes_first_also_within_lists() -> None:
    class X(invivo.Assembly):
        @invivo.lazy_singleton
        def s(self) -> Out:
            return invivo.new(function_of(list[Unreadable]), invivo.config("v"))

        @invivo.lazy_singleton
        def p(self) -> Out:
            return invivo.new(class_of(Path), invivo.config("p"))

    one = Unreadable()
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.converter(Unreadable, lambda text: one)
        runtime.converter(Path, lambda text: Path("/root") / text)
        runtime.source("a.yaml", "config: { x: { v: [a, b], p: c } }")
        runtime.activate(x := X())
        assert x.s().v == [one, one]
        assert x.p().v == Path("/root/c")


def test_properties_and_methods_get_what_they_say() -> None:
    class Thing:
        color: Color = Color.RED
        root: Path = Path()

        def __init__(self) -> None:
            self.got: Any = None

        def take(self, several: list[Path]) -> None:
            self.got = several

    class X(invivo.Assembly):
        @invivo.lazy_singleton
        def s(self) -> Thing:
            thing = invivo.new(Thing)
            thing.color = invivo.config("color")
            thing.root = invivo.config("root")
            thing.take(invivo.config("several"))
            return thing

    with invivo.Runtime(log_level="silent") as runtime:
        runtime.source("a.yaml", "config: { x: { color: blue, root: a, several: [b] } }")
        runtime.activate(x := X())
        thing = x.s()
        assert (thing.color, thing.root, thing.got) == (Color.BLUE, Path("a"), [Path("b")])
        with pytest.raises(invivo.Error, match=r"a.yaml:1:48: .*several.*expected a Path, got 1"):
            runtime.source("a.yaml", "config: { x: { color: blue, root: a, several: [1] } }")


def test_an_unknown_converter_is_told_with_a_similar_one() -> None:
    class X(invivo.Assembly):
        @invivo.lazy_singleton
        def s(self) -> Out:
            return invivo.new(function_of(float), invivo.text(invivo.config("v"), "durations"))

        @invivo.lazy_singleton
        def p(self) -> Out:
            return invivo.new(function_of(Path), invivo.config("p", Path()))

    with invivo.Runtime(log_level="silent") as runtime:
        runtime.source("a.yaml", "config: { x: { v: 100 ms } }")
        with pytest.raises(invivo.Error, match=r"no converter 'durations'; did you mean 'duration'\?$"):
            runtime.activate(X())


def test_a_unit_where_the_place_has_none_says_what_reads_it() -> None:
    with pytest.raises(invivo.ConversionError, match="no unit is expected here; the converter 'duration' reads this"):
        made(function_of, float, "100 ms")
    with pytest.raises(invivo.ConversionError, match="no unit is expected here; write the number alone"):
        made(class_of, float, "1.2 kHz")
