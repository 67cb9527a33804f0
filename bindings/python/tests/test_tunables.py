from __future__ import annotations

import enum
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
    assert told["wave"].choices == {"SAW": 0, "SINE": 1}
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

    with invivo.Runtime() as runtime, pytest.raises(ValueError, match=r"Player\.title: tunable\(None\) does not say"):
        runtime.type(Player)
