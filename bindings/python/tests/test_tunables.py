from __future__ import annotations

import dataclasses
import enum
import re
import typing
from collections.abc import Iterator
from typing import Any

import pytest

import invivo


class Wave(enum.Enum):
    SAW = "a"
    SINE = "b"


class Oscillator:
    wave: Wave = invivo.tunable(Wave.SAW)
    mode: str = invivo.tunable("soft", choices=["soft", "hard"])
    cutoff: float = invivo.tunable(800, min=20, max=20_000, unit="Hz", was="freq")
    count: int = invivo.tunable(3, max=9)
    label: str = invivo.tunable("x")
    on: bool = invivo.tunable(True)
    small: invivo.UInt8 = invivo.tunable(1)
    items: list[Any] = invivo.tunable([])
    patch: bytes = invivo.tunable(b"none")
    serial: int = invivo.tunable(7, read_only=True)
    voices: int = invivo.tunable(4, restart=True)


@pytest.fixture
def runtime() -> Iterator[invivo.Runtime]:
    with invivo.Runtime() as runtime:
        runtime.define(Oscillator, "synth.lead")
        yield runtime


def document(text: str) -> str:
    return f"traits:\n  synth.lead:\n    - Set: {{ {text} }}\n"


def test_every_kind_of_tunable_follows_a_document_and_returns(runtime: invivo.Runtime) -> None:
    lead = runtime["synth.lead"]
    names = [name for name in Oscillator.__annotations__ if name not in ("serial", "voices")]
    before = {name: getattr(lead, name) for name in names}
    text = "wave: SINE, mode: hard, freq: 1.2 kHz, count: 7, label: hm, on: false, small: 255, items: [1, { a: 2 }]"
    text += ", patch: AP8="
    with runtime.source("a.yaml", document(text)):
        assert {name: getattr(lead, name) for name in names} == {
            "wave": Wave.SINE,
            "mode": "hard",
            "cutoff": 1200.0,
            "count": 7,
            "label": "hm",
            "on": False,
            "small": 255,
            "items": [1, {"a": 2}],
            "patch": b"\x00\xff",
        }
    assert {name: getattr(lead, name) for name in names} == before


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("wave: SQUARE", ValueError, "SAW, SINE"),
        ("mode: loud", ValueError, "soft, hard"),
        ("count: 10", ValueError, "9"),
        ("small: 256", ValueError, "255"),
        ("small: -1", ValueError, "255"),
        ("count: 1.5", ValueError, "whole"),
        ("label: 3", TypeError, "string"),
        ("wav: SAW", AttributeError, "wave"),
        ("serial: 8", AttributeError, "serial"),
    ],
)
def test_what_does_not_fit_says_where_and_why_and_changes_nothing(
    runtime: invivo.Runtime, text: str, error: type[Exception], said: str
) -> None:
    lead = runtime["synth.lead"]
    source = runtime.source("a.yaml", document("cutoff: 100"))
    with pytest.raises(error, match=said) as caught:
        source.update(document(text))
    assert isinstance(caught.value, invivo.Error)
    assert (caught.value.file, caught.value.line) == ("a.yaml", 3)
    assert lead.cutoff == 100


def test_a_restart_takes_effect_at_the_next_making(runtime: invivo.Runtime) -> None:
    lead = runtime["synth.lead"]
    runtime.source("a.yaml", document("voices: 8"))
    assert lead.voices == 4
    runtime.define(Oscillator, "synth.lead")
    assert runtime["synth.lead"].voices == 8


def test_a_type_tells_what_its_author_said(runtime: invivo.Runtime) -> None:
    told = {each.name: each for each in runtime.type(Oscillator).properties}
    cutoff = told["cutoff"]
    assert (cutoff.kind, cutoff.min, cutoff.max, cutoff.unit, cutoff.was) == ("double", 20, 20_000, "Hz", ("freq",))
    assert (told["count"].min, told["count"].max) == (None, 9)
    assert told["wave"].choices == {"SAW": 0, "SINE": 1, "a": 0, "b": 1}
    assert told["small"].kind == "uint8"
    assert told["serial"].read_only
    assert told["voices"].restart


def test_a_base_value_comes_back_as_the_identical_object(runtime: invivo.Runtime) -> None:
    class Holder:
        number: float = invivo.tunable(1.5)
        items: list[Any] = invivo.tunable(["a"])

    holder = Holder()
    one, items = 1, [1, (2, 3)]
    holder.number, holder.items = one, items  # type: ignore[assignment]
    target = runtime.attach_target(holder, "h.h")
    for said in ("number: 2, items: [5]", "number: 1, items: [1, [2, 3]]"):
        source = runtime.source("a.yaml", f"traits: {{ h.h: [Set: {{ {said} }}] }}")
        assert holder.number is not one
        assert holder.items is not items
        source.close()
        assert holder.number is one
        assert holder.items is items
        assert items[1] == (2, 3)
    target.detach()


def test_an_initial_value_is_exact(runtime: invivo.Runtime) -> None:
    class Seeded:
        seed: int = invivo.tunable(2**53 + 1)

    runtime.define(Seeded, "s.s")
    assert runtime.type(Seeded).properties[0].initial == 2**53 + 1
    runtime.define_block("s.block", seed=invivo.tunable(2**53 + 1), wave=invivo.tunable("saw", choices=["sine", "saw"]))
    with runtime.view() as view:
        assert view.block("s.block").seed == 2**53 + 1
        assert view.block("s.block").wave == "saw"
    runtime.define_block(
        "s.block", seed=invivo.tunable(2**63 - 1), wave=invivo.tunable("sine", choices=["sine", "saw"])
    )
    with runtime.view() as view:
        assert view.block("s.block").seed == 2**63 - 1
    with pytest.raises(invivo.errors.RangeError):
        runtime.define_block("s.large", seed=invivo.tunable(2**63))


def test_a_tunable_without_kind_is_named() -> None:
    class Player:
        title = invivo.tunable(None)

    with (
        invivo.Runtime() as runtime,
        pytest.raises(ValueError, match=r"Player\.title: tunable\(None\) does not know the type"),
    ):
        runtime.type(Player)


# ---- what specs may set --------------------------------------------------------------------------------


class Plain:
    size: int = 3
    command: str = "ls"
    FIXED: typing.Final[int] = 5
    shared: typing.ClassVar[int] = 6
    _hidden: int = 7
    rate: float = invivo.tunable(1.0, max=2)

    def __init__(self, root: str = "/") -> None:
        self.root = root

    @property
    def half(self) -> float:
        return self.rate / 2

    @half.setter
    def half(self, value: float) -> None:
        self.rate = value * 2


@dataclasses.dataclass
class Account:
    name: str = "x"
    admin: bool = False
    level: int = invivo.tunable(1, max=9)


@dataclasses.dataclass(frozen=True)
class Frozen:
    name: str = "x"


class Offering:
    """A property that is offered."""

    def __init__(self) -> None:
        self._gain = 1.0

    def _set(self, value: float) -> None:
        self._gain = value

    def _get(self) -> float:
        return self._gain

    gain = invivo.tunable(property(_get, _set), min=0, max=2, unit="dB")


def said(of: str, text: str) -> str:
    return f"traits: {{ a.{of}: [Set: {{ {text} }}] }}"


def test_specs_set_what_is_tunable_and_nothing_else() -> None:
    app = invivo.Assembly("a")
    app.lazy_singleton(Plain)
    app.lazy_singleton(Account, admin=False)
    app.lazy_singleton(Frozen)
    with invivo.Runtime(app, log_level="silent") as runtime:
        objects: dict[str, Any] = {key: runtime[f"a.{key}"] for key in ("plain", "account", "frozen")}
        before = {key: dict(vars(thing)) for key, thing in objects.items()}
        refused = [
            ("plain", "size: 1", "Plain.size is not tunable"),
            ("plain", "command: rm", "Plain.command is not tunable"),
            ("plain", "half: 1", "Plain.half is not tunable"),
            ("plain", "FIXED: 1", "read only"),
            ("plain", "shared: 1", "no property 'shared'"),
            ("plain", "_hidden: 1", "no property '_hidden'"),
            ("plain", "root: /etc", "no property 'root'"),
            ("account", "admin: true", "Account.admin is not tunable"),
            ("account", "name: y", "Account.name is not tunable"),
            ("account", "level: 10", "10 is outside"),
            ("frozen", "name: y", "read only"),
        ]
        for key, text, why in refused:
            with pytest.raises(invivo.Error, match=re.escape(why)) as caught:
                runtime.source("a.yaml", said(key, text))
            assert (caught.value.file, caught.value.line) == ("a.yaml", 1)
        assert {key: dict(vars(thing)) for key, thing in objects.items()} == before
        with runtime.source("a.yaml", said("plain", "rate: 2")), runtime.source("b.yaml", said("account", "level: 2")):
            assert (objects["plain"].rate, objects["account"].level) == (2, 2)


def test_definitions_set_what_is_not_tunable() -> None:
    class App(invivo.Assembly, name="a"):
        @invivo.lazy_singleton
        def plain(self) -> Plain:
            plain = invivo.new(Plain)
            plain.size = invivo.config("size")
            plain.half = 1
            return plain

    app = App()
    with invivo.Runtime() as runtime:
        source = runtime.source("a.yaml", "config: { a: { size: 8 } }")
        runtime.activate(app)
        assert (app.plain().size, app.plain().rate) == (8, 2)
        source.update("config: { a: { size: 9 } }")
        assert app.plain().size == 9


def test_a_property_may_be_tunable() -> None:
    app = invivo.Assembly("a")
    app.lazy_singleton(Offering)
    with invivo.Runtime(app) as runtime:
        thing = runtime[Offering]
        with runtime.source("a.yaml", said("offering", "gain: 1500 mdB")):
            assert thing.gain == 1.5
            with runtime.view() as view:
                assert view.block(Offering) == {"gain": 1.5}
        assert thing.gain == 1
        with pytest.raises(invivo.errors.RangeError):
            runtime.source("a.yaml", said("offering", "gain: 3"))


def test_a_property_that_cannot_be_tunable_is_refused_when_its_class_is_described() -> None:
    class Awaited:
        async def setter(self, value: float) -> None: ...

        gain = invivo.tunable(property(lambda self: 1.0, setter))

    class Fixed:
        @invivo.tunable
        @property
        def gain(self) -> float:
            return 1.0

    class Untyped:
        @property
        def gain(self):  # type: ignore[no-untyped-def]
            return 1.0

        @gain.setter
        def gain(self, value: float) -> None: ...

        gain = invivo.tunable(gain)

    wrong = {
        Awaited: "Awaited.gain: a tunable property cannot be asynchronous",
        Fixed: "Fixed.gain: a tunable property needs a setter",
        Untyped: "Untyped.gain: annotate what the tunable property returns, as in 'def gain(self) -> float'",
    }
    with invivo.Runtime() as runtime:
        for cls, why in wrong.items():
            with pytest.raises(invivo.ArgumentError, match=re.escape(why)):
                runtime.type(cls)


def test_a_field_of_a_frozen_model_is_read_only() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model(
        "Rates", __config__={"frozen": True}, rate=(float, 2.0), __base__=None, __module__=__name__
    )
    model = type("Tuned", (model,), {"__annotations__": {"step": float}, "step": invivo.tunable(1.0)})
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.define(model, "a.rates")
        with pytest.raises(invivo.Error, match="read only"):
            runtime.source("a.yaml", said("rates", "step: 3"))


def test_a_field_of_a_model_is_not_set_past_its_limits() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Settings", port=(int, pydantic.Field(80, ge=1, le=100)))
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.define(model, "a.settings")
        with pytest.raises(invivo.Error, match=r"Settings\.port is not tunable"):
            runtime.source("a.yaml", said("settings", "port: 5000"))
        assert runtime["a.settings"].port == 80


def test_an_attribute_of_the_class_is_not_left_in_the_object(runtime: invivo.Runtime) -> None:
    class Fresh:
        gain: float = invivo.tunable(1.0)
        pan: float = invivo.tunable(2.0)

        def __init__(self) -> None:
            self.other = 3

    fresh = Fresh()
    target = runtime.attach_target(fresh, "h.fresh")
    source = runtime.source("a.yaml", "traits: { h.fresh: [Set: { gain: 5 }, Scale: { pan: 2 }] }")
    assert vars(fresh) == {"other": 3, "gain": 5, "pan": 4}
    with pytest.raises(invivo.Error):
        source.update("traits: { h.fresh: [Set: { gain: 6, pan: wrong }] }")
    source.close()
    assert vars(fresh) == {"other": 3}
    # A value of its own stays its own.
    fresh.gain = 1.0
    with runtime.source("a.yaml", "traits: { h.fresh: [Set: { gain: 5 }] }"):
        assert fresh.gain == 5
    assert vars(fresh) == {"other": 3, "gain": 1.0}
    target.detach()


def test_a_class_that_watches_its_attributes_sees_the_value_of_the_class(runtime: invivo.Runtime) -> None:
    class Watching:
        gain: float = invivo.tunable(1.0)

        def __setattr__(self, name: str, value: Any) -> None:
            seen.append(value)
            object.__setattr__(self, name, value)

    seen: list[Any] = []
    watching = Watching()
    runtime.attach_target(watching, "h.watching")
    with runtime.source("a.yaml", "traits: { h.watching: [Set: { gain: 5 }] }"):
        assert seen == [5]
    assert seen == [5, 1]
    assert vars(watching) == {}


def test_a_commit_that_fails_leaves_no_attribute(runtime: invivo.Runtime) -> None:
    class Fragile:
        gain: float = invivo.tunable(1.0)

        def _get(self) -> float:
            return 2.0

        def _set(self, value: float) -> None:
            raise ValueError("it is fixed")

        fixed = invivo.tunable(property(_get, _set))

    fragile = Fragile()
    runtime.attach_target(fragile, "h.fragile")
    with pytest.raises(invivo.Error, match="it is fixed"):
        runtime.source("a.yaml", "traits: { h.fragile: [Set: { gain: 5 }, Set: { fixed: 6 }] }")
    assert vars(fragile) == {}
