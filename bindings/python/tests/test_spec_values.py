"""Tunables and fields of traits: spec files set them as their annotations demand, as settings are read."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import types
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Optional

import annotated_types
import pytest

import invivo
from invivo._runtime import traits


class Color(enum.Enum):
    RED = "r"
    BLUE = "b"


class Swapped(enum.Enum):
    A = "B"
    B = "A"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int = 0


class Name:
    def __init__(self, text: str) -> None:
        self.text = text


# The annotation, the initial value, a right text with its value, and a wrong text with a part of the message.
ROWS: list[tuple[Any, Any, str, Any, str, str]] = [
    (Literal["a", "b"], "a", "b", "b", "c", "'c' is not one of a, b"),
    (Literal[1, 2], 1, "2", 2, "3", "expected one of 1, 2"),
    (Optional[int], None, "3", 3, "x", "expected a"),  # noqa: UP045
    (list[int], [], "[1, 2]", [1, 2], "[a, 2.5]", "[1]: expected a whole number"),
    (dict[str, int], {}, "{ a: 1 }", {"a": 1}, "{ a: b }", "a: expected a whole number"),
    (tuple[int, str], (1, "a"), "[2, b]", (2, "b"), "[1, 2]", "[1]: expected a string"),
    (tuple[int, ...], (), "[2, 3]", (2, 3), "[x]", "[0]: expected a whole number"),
    (set[int], {7}, "[1, 1]", {1}, "[x]", "[0]: expected a whole number"),
    (frozenset[str], frozenset("x"), "[a]", frozenset("a"), "[1]", "[0]: expected a string"),
    (list[Path], [], "[/a]", [Path("/a")], "[1]", "[0]: expected a"),
    (int | str, 1, "a", "a", "[1]", "expected one of int | str"),
    (datetime.timedelta, datetime.timedelta(1), "250 ms", datetime.timedelta(milliseconds=250), "soon", "a duration"),
    (datetime.date, datetime.date(2026, 1, 1), "2026-02-01", datetime.date(2026, 2, 1), "x", "expected a date"),
    (Path, Path("a"), "/tmp", Path("/tmp"), "1", "expected a"),
    (decimal.Decimal, decimal.Decimal(1), "1.5", decimal.Decimal("1.5"), "x", "expected a Decimal"),
    (Point, Point(1), "{ x: 2 }", Point(2), "{ z: 2 }", "z: Point has no field 'z'"),
    (Annotated[int, annotated_types.Gt(0)], 1, "2", 2, "0", "expected more than 0"),
    (Color, Color.RED, "BLUE", Color.BLUE, "GREEN", "'GREEN' is not one of RED, BLUE, r, b"),
    (Color, Color.RED, "b", Color.BLUE, "[b]", "['b'] (a list) is not one of RED, BLUE, r, b"),
    (Swapped, Swapped.A, "A", Swapped.B, "C", "'C' is not one of B, A"),
    (Level, Level.LOW, "2", Level.HIGH, "MEDIUM", "'MEDIUM' is not one of LOW, HIGH"),
]
NAMES = [f"{index}-{row[2]}" for index, row in enumerate(ROWS)]


def voice_with(annotation: Any, initial: Any) -> Any:
    return type("Voice", (), {"__annotations__": {"f": annotation}, "f": invivo.tunable(initial)})


@pytest.mark.parametrize(("annotation", "initial", "right", "value", "wrong", "message"), ROWS, ids=NAMES)
def test_a_tunable_gets_what_its_annotation_demands(
    annotation: Any, initial: Any, right: str, value: Any, wrong: str, message: str
) -> None:
    cls = voice_with(annotation, initial)
    with invivo.Runtime() as runtime:
        runtime.define(cls, "a.v")
        voice = runtime["a.v"]
        source = runtime.source("a.yaml", f"traits: {{ a.v: [ {{ Set: {{ f: {right} }} }} ] }}")
        assert voice.f == value
        assert type(voice.f) is type(value)
        assert not runtime.reports[-1].warnings  # the object has what was set
        with pytest.raises(invivo.Error) as caught:
            source.update(f"traits: {{ a.v: [ {{ Set: {{ f: {wrong} }} }} ] }}")
        assert message in str(caught.value)
        assert str(caught.value).startswith("a.yaml:1:")
        assert voice.f == value
        source.update("traits: {}")
        assert not runtime.reports[-1].warnings  # the program has not changed it meanwhile
        assert voice.f == initial


@pytest.mark.parametrize(("annotation", "initial", "right", "value", "wrong", "message"), ROWS, ids=NAMES)
def test_a_field_of_a_trait_gets_what_its_annotation_demands(
    annotation: Any, initial: Any, right: str, value: Any, wrong: str, message: str
) -> None:
    cls = voice_with(int, 0)
    seen: list[Any] = []
    body = {
        "targets": (cls,),
        "__annotations__": {"given": annotation},
        "given": initial,
        "layers": lambda self, layers: seen.append(self.given),
    }
    trait: Any = types.new_class(
        "T", (invivo.Trait,), {"name": "x.T", "everywhere": False}, lambda space: space.update(body)
    )
    with invivo.Runtime() as runtime:
        runtime.define(cls, "a.v")
        runtime.add_trait(trait)
        source = runtime.source("a.yaml", f"traits: {{ a.v: [ {{ x.T: {{ given: {right} }} }} ] }}")
        assert seen[-1] == value
        assert type(seen[-1]) is type(value)
        with pytest.raises(invivo.Error) as caught:
            source.update(f"traits: {{ a.v: [ {{ x.T: {{ given: {wrong} }} }} ] }}")
        if not isinstance(value, Point):
            assert message in str(caught.value)
        assert "traits.a.v[0].x.T.given" in str(caught.value)


def test_the_program_may_change_a_list_that_a_spec_file_has_set() -> None:
    cls = voice_with(list[int], [])
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.define(cls, "a.v")
        voice = runtime["a.v"]
        source = runtime.source("a.yaml", "traits: { a.v: [ { Set: { f: [1] } } ] }")
        voice.f.append(2)
        source.update("traits: {}")
        assert "other code changed it from [1] to [1, 2]" in runtime.reports[-1].warnings[0]
        assert voice.f == [1, 2]


def test_a_layer_gives_values_as_a_spec_file_does() -> None:
    cls = voice_with(datetime.timedelta, datetime.timedelta(1))

    class Slow(invivo.Trait, name="x.Slow"):
        targets = (cls,)

        def layers(self, layers: invivo.Layers) -> None:
            layers.set("f", "2 h")

    with invivo.Runtime() as runtime:
        runtime.define(cls, "a.v")
        voice = runtime["a.v"]
        runtime.source("a.yaml", "traits: { a.v: [ { x.Slow: {} } ] }")
        assert voice.f == datetime.timedelta(hours=2)


def test_a_class_without_a_reader_says_what_to_do() -> None:
    cls = voice_with(Name, Name("a"))
    with invivo.Runtime() as runtime:
        runtime.define(cls, "a.v")
        voice = runtime["a.v"]
        with pytest.raises(invivo.Error, match=r"nothing reads a Name: .*runtime.converter\(Name, function\)"):
            runtime.source("a.yaml", "traits: { a.v: [ { Set: { f: b } } ] }")
        runtime.converter(Name, Name)
        runtime.source("b.yaml", "traits: { a.v: [ { Set: { f: b } } ] }")
        assert voice.f.text == "b"


def test_null_is_none_where_the_annotation_of_a_tunable_has_it() -> None:
    cls = voice_with(int | None, 5)
    with invivo.Runtime() as runtime:
        runtime.define(cls, "a.v")
        voice = runtime["a.v"]
        runtime.source("a.yaml", "traits: { a.v: [ { Set: { f: null } } ] }")
        assert voice.f is None


def test_an_annotation_that_cannot_be_resolved_names_the_class_of_the_initial_value_or_is_an_error() -> None:
    class Local(enum.Enum):
        ONE = 1

    class Voice:
        mode: Local = invivo.tunable(Local.ONE)

    with invivo.Runtime() as runtime:
        runtime.define(Voice, "a.v")
        runtime["a.v"]
        with pytest.raises(invivo.RangeError, match="'TWO' is not one of ONE"):
            runtime.source("a.yaml", "traits: { a.v: [ { Set: { mode: TWO } } ] }")

    class Other:
        modes: list[Local] = invivo.tunable([])

    with invivo.Runtime() as runtime, pytest.raises(invivo.WrongTypeError) as caught:
        runtime.define(Other, "a.o")
    assert "Other.modes: the annotation 'list[Local]' cannot be resolved" in str(caught.value)

    with pytest.raises(invivo.WrongTypeError, match=r"T.modes: the annotation 'list\[Local\]' cannot be resolved"):

        class T(invivo.Trait, name="x.T"):
            targets = (Voice,)
            modes: list[Local] = []  # noqa: RUF012

            def layers(self, layers: invivo.Layers) -> None: ...


def test_constants_of_a_trait_are_no_fields() -> None:
    class T(invivo.Trait, name="x.T"):
        targets = ("*",)
        first: ClassVar[int] = 1
        second: Final = 2
        third: Final[int] = 3
        fourth: int = 4

        def layers(self, layers: invivo.Layers) -> None: ...

    assert [each.name for each in traits._declared["x.T"].fields] == ["fourth"]


@dataclasses.dataclass
class Section:
    given: Swapped = Swapped.A


class Holder:
    def __init__(self, given: Swapped) -> None:
        self.given = given


def test_an_enumeration_is_read_by_value_and_then_by_name_everywhere() -> None:
    with invivo.Runtime() as runtime:
        runtime.source("a.yaml", "config: { a: { given: A } }")
        runtime.bind_settings(Section, "a")
        runtime.define(Holder, "a.h", given=invivo.config("given"))
        cls = voice_with(Swapped, Swapped.A)
        runtime.define(cls, "a.v")
        voice = runtime["a.v"]
        runtime.source("b.yaml", "traits: { a.v: [ { Set: { f: A } } ] }")
        assert runtime.settings(Section).given is runtime["a.h"].given is voice.f is Swapped.B
        for text in ("config: { a: { given: C } }", "traits: { a.v: [ { Set: { f: C } } ] }"):
            with pytest.raises(invivo.RangeError, match=r"'?B'?, '?A'?"):
                runtime.source("c.yaml", text)


def test_a_value_of_a_private_file_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    (tmp_path / "a.yaml").write_text("traits: { a.v: [ { Set: { f: 'file:secret' } } ] }")
    for annotation, initial in ((Literal["a", "b"], "a"), (int | None, 1), (Color, Color.RED)):
        with invivo.Runtime(log_level="silent") as runtime:
            runtime.define(voice_with(annotation, initial), "a.v")
            runtime["a.v"]
            with pytest.raises(invivo.Error) as caught, runtime.changes() as changes:
                changes.watch(tmp_path / "a.yaml")
            assert "hunter2" not in str(caught.value)


def test_a_plain_number_has_no_reader() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(voice_with(float, 1.0), "a.v")
        record = runtime._core.types.of(type(runtime["a.v"]))
        from invivo._objects.instances import PropertyItem

        assert [PropertyItem(runtime._core, each).reader for each in record.description.properties] == [None]
