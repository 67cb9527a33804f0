"""Codecs of tunable attributes, and documents as text."""

from __future__ import annotations

from typing import Any

import pytest

import invivo


class Lamp:
    gain: float = invivo.tunable(1.0, max=8, codec="decibel")
    share: float = invivo.tunable(0.0, codec="percent")
    after: float = invivo.tunable(0.0, codec="duration")
    color: int = invivo.tunable(0, codec="color")
    tint: dict[str, Any] = invivo.tunable({}, codec="color")
    frame: dict[str, Any] = invivo.tunable({}, codec="size")


class Room(invivo.Assembly, name="room"):
    @invivo.lazy_singleton
    def lamp(self) -> Lamp:
        return invivo.new(Lamp)


def says(runtime: invivo.Runtime, text: str) -> None:
    with runtime.changes() as changes:
        changes.document("a.yaml", text)


def test_specs_contain_the_text_of_codecs() -> None:
    with invivo.Runtime(Room()) as runtime:
        lamp = runtime["room.lamp"]
        says(
            runtime,
            "traits: { room.lamp: [ Set: { gain: -20 dB, share: 25 %, after: 1 min, color: red, tint: '#01020304', "
            "frame: 3 x 4 } ] }",
        )
        assert lamp.gain == pytest.approx(0.1)
        assert (lamp.share, lamp.after, lamp.color) == (0.25, 60, 0xFF0000FF)
        assert lamp.tint == {"red": 1, "green": 2, "blue": 3, "alpha": 4}
        assert lamp.frame == {"width": 3, "height": 4}
        with pytest.raises(invivo.Error, match=r"a\.yaml:1:38: .*expected a fraction such as 0\.5 or '50 %'"):
            says(runtime, "traits: { room.lamp: [ Set: { share: half } ] }")


def test_values_are_text() -> None:
    with invivo.Runtime(Room()) as runtime:
        described = runtime.type(Lamp)
        assert [each.codec for each in described.properties] == [
            "decibel",
            "percent",
            "duration",
            "color",
            "color",
            "size",
        ]
        assert described.text_of("share", 0.123) == "12.3 %"
        assert described.value_of("share", "12.3 %") == 0.123
        assert described.text_of("color", 0xFF8800CC) == "#ff8800cc"
        assert described.text_of("frame", {"width": 640, "height": 480}) == "640 x 480"
        with pytest.raises(invivo.Error, match="did you mean 'green'"):
            described.value_of("color", "gren")
        with pytest.raises(invivo.Error, match="is outside the range"):
            described.value_of("gain", "20 dB")


def test_an_unknown_codec_is_refused() -> None:
    with pytest.raises(invivo.ArgumentError, match="the codec 'db' is unknown; expected one of none, size, point"):
        invivo.tunable(1.0, codec="db")  # type: ignore[arg-type]


def test_documents_are_text() -> None:
    with invivo.Runtime(Room()) as runtime:
        says(runtime, "traits: { room.lamp: [ Set: { share: 25 % } ] }")
        json = '{"traits":{"room.lamp":[{"Set":{"share":"25 %"}}]}}'
        assert runtime.document_text("a.yaml", "json") == json
        assert runtime.traits_text(format="json") == json
        assert runtime.traits_text("room.lamp", "a.yaml", "json") == json
        yaml = runtime.traits_text("room.lamp")
        assert yaml == 'traits:\n  room.lamp:\n    -\n      Set:\n        share: "25 %"\n'
        with pytest.raises(LookupError, match=r"there is no live document 'b\.yaml'"):
            runtime.document_text("b.yaml")
