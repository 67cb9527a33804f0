"""Tunables whose annotations have no form in the library: layers of traits set them, and they get their values back."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import ipaddress
import random
import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

import invivo

pydantic = pytest.importorskip("pydantic")


class Wave(enum.Enum):
    SAW = "saw"
    SINE = (1, 2)


@dataclass(frozen=True)
class Point:
    x: int = 0
    at: datetime.timedelta = datetime.timedelta(0)


class Model(pydantic.BaseModel):  # type: ignore[misc,name-defined]
    size: int = 1
    folder: Path = Path("/m")
    kept: str = pydantic.Field("a", alias="keep")


class Color:
    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Color) and other.name == self.name

    __hash__ = None  # type: ignore[assignment]


SECOND = datetime.timedelta(seconds=1)
IDS = [uuid.UUID(int=each) for each in range(3)]
THIRD = fractions.Fraction(1, 3)
MODELS = (Model(size=2, folder=Path("/n"), keep="b"), Model(size=3, keep="c"))
# The annotation, the initial value, and two other values with their texts in a spec file.
ROWS: dict[str, tuple[Any, Any, tuple[Any, str], tuple[Any, str]]] = {
    "pause": (datetime.timedelta, SECOND, (3 * SECOND, "3 s"), (SECOND / 2, "500 ms")),
    "folder": (Path, Path("/a"), (Path("/b"), "/b"), (Path("/c"), "/c")),
    "price": (decimal.Decimal, decimal.Decimal(1), (decimal.Decimal("2.50"), "'2.50'"), (decimal.Decimal(3), "3")),
    "part": (fractions.Fraction, fractions.Fraction(1), (THIRD, "1/3"), (fractions.Fraction(2), "2")),
    "number": (uuid.UUID, IDS[0], (IDS[1], str(IDS[1])), (IDS[2], str(IDS[2]))),
    "host": (
        ipaddress.IPv4Address,
        ipaddress.IPv4Address(1),
        (ipaddress.IPv4Address("10.0.0.1"), "10.0.0.1"),
        (ipaddress.IPv4Address("10.0.0.2"), "10.0.0.2"),
    ),
    "day": (
        datetime.date,
        datetime.date(2026, 1, 1),
        (datetime.date(2026, 1, 2), "'2026-01-02'"),
        (datetime.date(2026, 1, 3), "'2026-01-03'"),
    ),
    "form": (re.Pattern[str], re.compile("a"), (re.compile("b"), "b"), (re.compile("c+"), "c+")),
    "tags": (set[str], {"a"}, ({"b", "c"}, "[b, c]"), (set(), "[]")),
    "fixed": (frozenset[int], frozenset({1}), (frozenset({2, 3}), "[2, 3]"), (frozenset(), "[]")),
    "pair": (tuple[int, str], (1, "a"), ((2, "b"), "[2, b]"), ((3, "c"), "[3, c]")),
    "items": (list[int], [1], ([2], "[2]"), ([], "[]")),
    "waits": (list[datetime.timedelta], [], ([SECOND], "[1 s]"), ([SECOND, SECOND], "[1 s, 1 s]")),
    "table": (dict[str, Path], {}, ({"a": Path("/x")}, "{ a: /x }"), ({"a": Path("/y")}, "{ a: /y }")),
    "wave": (Wave, Wave.SAW, (Wave.SINE, "SINE"), (Wave.SAW, "saw")),
    "waves": (list[Wave], [], ([Wave.SAW, Wave.SINE], "[saw, SINE]"), ([Wave.SINE], "[SINE]")),
    "mode": (Literal["a", "b", "c"], "a", ("b", "b"), ("c", "c")),
    "maybe": (int | None, None, (3, "3"), (2, "2")),
    "blob": (bytes | None, None, (b"abc", "YWJj"), (b"", '""')),
    "either": (int | str, 1, ("x", "x"), (5, "5")),
    "point": (Point, Point(), (Point(2, SECOND), "{ x: 2, at: 1 s }"), (Point(3, 2 * SECOND), "{ x: 3, at: 2 s }")),
    "model": (
        Model,
        Model(),
        (MODELS[0], "{ size: 2, folder: /n, keep: b }"),
        (MODELS[1], "{ size: 3, folder: /m, keep: c }"),
    ),
    "gain": (float, 1.0, (3.0, "3"), (0.5, "0.5")),
}


def voice_class(name: str, annotation: Any, initial: Any) -> type:
    return type("Voice", (), {"__annotations__": {name: annotation}, name: invivo.tunable(initial)})


@pytest.mark.parametrize("name", ROWS)
def test_a_layer_sets_the_value_of_a_field_with_the_same_annotation(name: str) -> None:
    annotation, initial, (value, text), (other, _) = ROWS[name]
    voice_type = voice_class(name, annotation, initial)

    Field = type(  # noqa: N806
        "Field",
        (invivo.Trait,),
        {
            "__annotations__": {name: annotation},
            "targets": (voice_type,),
            name: other,
            "layers": lambda self, layers: layers.set(name, getattr(self, name)),
        },
        name="t.Field",
    )
    assembly = invivo.Assembly("synth")
    assembly.lazy_singleton(voice_type, "voice")
    with invivo.Runtime(assembly) as runtime:
        voice = runtime["synth.voice"]
        document = runtime.source("t.yaml", f"traits: {{ synth.voice: [{{ t.Field: {{ {name}: {text} }} }}] }}")
        assert getattr(voice, name) == value
        assert type(getattr(voice, name)) is type(value)
        document.update("traits: { synth.voice: [{ t.Field: {} }] }")  # the default of the field
        assert getattr(voice, name) == other
        document.update("{}")
        assert getattr(voice, name) == initial
    Field.remove()  # type: ignore[attr-defined]


def test_a_layer_sets_a_value_that_the_trait_computes() -> None:
    class Voice:
        pause: datetime.timedelta = invivo.tunable(SECOND)
        gain: float = invivo.tunable(1.0)

    class Slow(invivo.Trait, name="t.Slow"):
        targets = (Voice,)
        times: decimal.Decimal = decimal.Decimal(2)

        def layers(self, layers: invivo.Layers) -> None:
            layers.set("pause", int(self.times) * datetime.timedelta(days=200_000, microseconds=1))
            layers.set("gain", self.times / 4)

    assembly = invivo.Assembly("synth")
    assembly.lazy_singleton(Voice)
    with invivo.Runtime(assembly) as runtime:
        voice = runtime[Voice]
        runtime.source("t.yaml", "traits: { synth.voice: [{ t.Slow: { times: 3 } }] }")
        assert voice.pause == datetime.timedelta(days=600_000, microseconds=3)
        assert voice.gain == 0.75


def test_an_object_of_a_converter_passes_from_a_field_to_a_layer_and_a_new_one_is_an_error() -> None:
    class Voice:
        color: Color = invivo.tunable(Color("red"))

    class Paint(invivo.Trait, name="t.Paint"):
        targets = (Voice,)
        color: Color
        is_new: bool = False

        def layers(self, layers: invivo.Layers) -> None:
            layers.set("color", Color("new") if self.is_new else self.color)

    assembly = invivo.Assembly("synth")
    assembly.lazy_singleton(Voice)
    with invivo.Runtime() as runtime:
        runtime.converter(Color, Color)
        runtime.activate(assembly)
        document = runtime.source("t.yaml", "traits: { synth.voice: [{ t.Paint: { color: blue } }] }")
        assert runtime[Voice].color == Color("blue")
        with pytest.raises(invivo.Error, match="color: an object of class Color cannot be written in a spec file"):
            document.update("traits: { synth.voice: [{ t.Paint: { color: blue, is_new: true } }] }")


def define_code() -> None:
    class Push(invivo.Trait, name="t.Push"):
        targets = ("*",)

        def apply(self, target: Any) -> Any:
            yield

    class Bad(invivo.Trait, name="t.Bad"):
        targets = ("*",)

        def apply(self, target: Any) -> None:
            raise ValueError("bad")


@pytest.mark.parametrize("name", ROWS)
def test_an_attribute_has_its_value_again_whatever_lay_over_it(name: str) -> None:
    annotation, initial, (first, one), (second, two) = ROWS[name]
    define_code()
    assembly = invivo.Assembly("synth")
    assembly.lazy_singleton(voice_class(name, annotation, initial), "voice")
    chance = random.Random(name)
    logged: list[str] = []
    values = {one: first, two: second}

    def log(level: Any, message: str, *_: Any) -> None:
        if level.value >= invivo.LogLevel.WARNING.value:
            logged.append(message)

    for _ in range(12):
        with invivo.Runtime(assembly, log=log) as runtime:
            voice = runtime["synth.voice"]
            documents = [runtime.source(each, "{}") for each in ("a.yaml", "b.yaml")]
            stacks: list[list[str]] = [[], []]
            for _ in range(8):
                index = chance.randrange(2)
                stack = [chance.choice([one, two, "code", "code"]) for _ in range(chance.randrange(4))]
                items = ["t.Push: {}" if each == "code" else f"Set: {{ {name}: {each} }}" for each in stack]
                if chance.randrange(3) == 0:  # undone, through the code
                    items.append("t.Bad: {}")
                text = "traits: { synth.voice: [" + ", ".join(f"{{ {each} }}" for each in items) + "] }"
                try:
                    documents[index].update(text)
                    stacks[index] = stack
                except invivo.Error:
                    assert items[-1] == "t.Bad: {}"
                wanted = [values[each] for each in stacks[0] + stacks[1] if each != "code"]
                assert getattr(voice, name) == (wanted[-1] if wanted else initial), (stacks, text)
            for each in chance.sample(documents, 2):
                each.close()
            assert getattr(voice, name) == initial
            assert not logged


def test_a_bound_of_pydantic_is_shown_where_values_are_not() -> None:
    class Account(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        password: pydantic.SecretStr = pydantic.SecretStr("")
        pool: int = pydantic.Field(2, ge=1, le=16)
        name: str = pydantic.Field("ab", min_length=2, pattern="^[a-z]+$")
        mode: Literal["a", "b"] = "a"
        tags: list[int] = pydantic.Field([], max_length=1)
        user: str = "u"

        @pydantic.field_validator("user")
        @classmethod
        def is_no_root(cls, value: str) -> str:
            if value == "root":
                raise ValueError(f"{value} is not allowed")
            return value

    class Voice:
        account: Account = invivo.tunable(Account())

    assembly = invivo.Assembly("synth")
    assembly.lazy_singleton(Voice)
    wrong = {
        "pool: 99": "Input should be less than or equal to 16",
        "name: q": "String should have at least 2 characters",
        "name: Q1": "String should match pattern '^[a-z]+$'",
        "mode: q7": "Input should be 'a' or 'b'",
        "tags: [1, 2, 3]": "expected at most 1 items",
        "user: root": "the value is not accepted (value_error)",
    }
    with invivo.Runtime(assembly, settings={"account": Account}) as runtime:
        for text, message in wrong.items():
            for document in (
                f"config: {{ account: {{ {text} }} }}",
                f"traits: {{ synth.voice: [{{ Set: {{ account: {{ {text} }} }} }}] }}",
            ):
                with pytest.raises(invivo.Error) as raised:
                    runtime.source("t.yaml", document)
                assert message in str(raised.value)
                assert text.split(": ")[1] not in str(raised.value).replace("'a' or 'b'", "")


def test_a_tunable_inside_of_a_field_of_a_model_is_an_error() -> None:
    class Voice(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        gain: float = pydantic.Field(invivo.tunable(1.0), le=2)

    assembly = invivo.Assembly("synth")
    assembly.lazy_singleton(Voice)
    with pytest.raises(invivo.ArgumentError, match=r"Voice.gain: the tunable is inside of a field.*Annotated"):
        invivo.Runtime(assembly)


def test_a_value_that_an_annotation_refuses_is_refused_before_an_object_exists() -> None:
    class Inner(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        least: int = pydantic.Field(2, ge=0)

    class Voice:
        items: list[int] = invivo.tunable([1])
        pause: datetime.timedelta = invivo.tunable(SECOND)
        model: Inner = invivo.tunable(Inner())
        least: Annotated[int, pydantic.Field(ge=0)] = invivo.tunable(1)
        point: Point = invivo.tunable(Point())

    assembly = invivo.Assembly("synth")
    assembly.lazy_singleton(Voice)
    assembly.prototype(Voice, "each")
    with invivo.Runtime(assembly) as runtime:
        document = runtime.source("t.yaml", "{}")
        for key in ("synth.voice", "synth.each"):
            for text in ("items: [1, x]", "pause: 1 fortnight", "model: { least: -1 }", "least: -1", "point: { z: 1 }"):
                with pytest.raises(invivo.Error, match=f"{key}.{text.split(':')[0]}: "):
                    document.update(f"traits: {{ {key}: [{{ Set: {{ {text} }} }}] }}")
        # Partial maps are checked together, as they are set.
        document.update("traits: { synth.voice: [{ Set: { point: { x: 1 } } }, { Set: { point: { at: 1 s } } }] }")
        assert runtime["synth.voice"].point == Point(1, SECOND)


def test_only_numbers_move() -> None:
    class Voice:
        pause: datetime.timedelta = invivo.tunable(SECOND)
        maybe: int | None = invivo.tunable(0)

    assembly = invivo.Assembly("synth")
    assembly.lazy_singleton(Voice)
    with invivo.Runtime(assembly, ramp_tick="manual") as runtime:
        voice = runtime[Voice]
        for value, kind in (("0 s", "a string"), ("0", "an object")):
            with pytest.raises(invivo.Error, match=f"Ramp changes numbers, and a value of 'pause' is {kind}; use Set"):
                runtime.source(
                    "t.yaml", f"traits: {{ synth.voice: [{{ Ramp: {{ to: {{ pause: {value} }}, over: 1 s }} }}] }}"
                )
        runtime.source("t.yaml", "traits: { synth.voice: [{ Ramp: { to: { maybe: 4 }, over: 1 s } }] }")
        runtime.advance(0.5)
        assert voice.maybe == 2
