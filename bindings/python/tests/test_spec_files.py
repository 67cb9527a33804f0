"""Spec files: decisions about definitions, the key of traits, and documents that keep going."""

from __future__ import annotations

import pathlib

import pytest

import invivo
from invivo import Runtime


@invivo.component
class Voice:
    gain: float = invivo.tunable(1.0, max=10)


class Voices(invivo.Assembly):
    name = "voices"

    @invivo.lazy_singleton
    def low(self) -> Voice:
        return invivo.new(Voice)

    @invivo.lazy_singleton
    def high(self) -> Voice:
        return invivo.new(Voice)

    @invivo.lazy_singleton(spec_key="choir")
    def first(self) -> Voice:
        return invivo.new(Voice)

    @invivo.lazy_singleton(spec_key="none")
    def second(self) -> Voice:
        return invivo.new(Voice)


def test_a_decision_is_shown_in_the_wiring() -> None:
    with Runtime(Voices(), log_level="silent") as runtime:
        source = runtime.source("w.yaml", "wiring:\n  voices.low: { alias: voices.high }\n")
        nodes = {node.key: node for node in runtime.wiring}
        low = nodes["voices.low"]
        assert (low.wired, low.alias, low.file, low.line, low.column) == (True, "voices.high", "w.yaml", 2, 24)
        assert not nodes["voices.high"].wired
        assert runtime.resolve("voices.low") is runtime.resolve("voices.high")
        source.close()
        assert runtime.resolve("voices.low") is not runtime.resolve("voices.high")


def test_a_definition_names_the_key_of_its_traits() -> None:
    with Runtime(Voices(), log_level="silent") as runtime:
        runtime.source("t.yaml", "traits: { choir: [Set: { gain: 5 }] }")
        assert runtime.resolve("voices.first").gain == 5
        with pytest.raises(invivo.Error, match="has no traits"):
            runtime.source("u.yaml", "traits: { voices.second: [Set: { gain: 5 }] }")


def test_a_source_keeps_going(tmp_path: pathlib.Path) -> None:
    text = "traits: { voices.low: [Set: { gain: 50 }], voices.high: [Set: { gain: 5 }] }"
    file = tmp_path / "t.yaml"
    file.write_text(text)
    with Runtime(Voices(), log_level="silent") as runtime:
        with pytest.raises(invivo.Error, match="50 is outside"):
            runtime.source("t.yaml", text)
        source = runtime.source("t.yaml", text, keep_going=True)
        assert runtime.resolve("voices.low").gain == 1
        assert runtime.resolve("voices.high").gain == 5
        [warning] = runtime.reports[-1].warnings
        assert (warning.kind, warning.file, warning.line) == ("skipped", "t.yaml", 1)
        source.close()
        assert runtime.resolve("voices.high").gain == 1
        with runtime.changes() as changes:
            changes.watch(file, keep_going=True)
        assert runtime.resolve("voices.high").gain == 5


class Backend: ...


class Alsa(Backend): ...


class Jack(Backend): ...


class Other: ...


class Audio(invivo.Assembly):
    name = "audio"

    @invivo.lazy_singleton
    def backend(self) -> Alsa:
        return invivo.new(Alsa)

    @invivo.lazy_singleton
    def jack(self) -> Jack:
        return invivo.new(Jack)

    @invivo.lazy_singleton
    def other(self) -> Other:
        return invivo.new(Other)


def test_an_alias_leads_to_a_related_class() -> None:
    with Runtime(Audio(), log_level="silent") as runtime:
        source = runtime.source("w.yaml", "wiring: { audio.backend: { alias: audio.jack } }")
        assert type(runtime.resolve("audio.backend")) is Jack
        with pytest.raises(invivo.WrongTypeError, match=r"w\.yaml:1:35: .*'audio\.other' is of type 'Other'") as caught:
            source.update("wiring: { audio.backend: { alias: audio.other } }")
        assert caught.value.line == 1
        assert type(runtime.resolve("audio.backend")) is Jack


def test_a_report_names_the_traits_of_a_definition_and_of_objects_attached_to_its_key() -> None:
    """A definition has the traits of `voices`, and an object that is attached to its key has those of the key."""

    class Voice:
        gain: float = invivo.tunable(1.0)
        cut: float = invivo.tunable(2.0)

    with invivo.Runtime(log_level="silent") as runtime:
        with runtime.changes() as changes:
            changes.define(Voice, "s.lead", "singleton", options=invivo.options(spec_key="voices"))
        other = Voice()
        target = runtime.attach_target(other, "s.lead")

        def report(traits: str) -> list[tuple[str, str, int]]:
            with runtime.changes() as changes:
                changes.document("a.yaml", f"traits:{traits}\n" if traits else "{}")
            text = str(runtime.reports[-1]).partition(": a.yaml: ")[2].rpartition(", ")[0]
            found: list[tuple[str, str, int]] = [
                (f"{each.key}.{each.property}", each.what, each.line) for each in runtime.reports[-1].changes
            ]
            assert len(found) == text.count("s.lead")
            texts.append(text)
            return found

        texts: list[str] = []
        assert report("\n  voices: [Set: { gain: 3 }]") == [("s.lead.gain", "tuned", 2)]
        assert (runtime["s.lead"].gain, other.gain) == (3, 1)
        assert report("\n  voices: [Set: { gain: 3 }]\n  s.lead: [Set: { gain: 4, cut: 5 }]") == [
            ("s.lead.gain", "tuned", 3),
            ("s.lead.cut", "tuned", 3),
        ]
        assert (runtime["s.lead"].gain, other.gain, other.cut) == (3, 4, 5)
        assert report("\n  voices: [Set: { gain: 6 }]\n  s.lead: [Set: { gain: 7, cut: 5 }]") == [
            ("s.lead.gain", "tuned", 3),
            ("s.lead.gain", "tuned", 2),
        ]
        assert report("\n  voices: [Set: { gain: 6 }]") == [("s.lead.gain", "tuned", 0), ("s.lead.cut", "tuned", 0)]
        assert (runtime["s.lead"].gain, other.gain, other.cut) == (6, 1, 2)
        target.detach()
        assert texts == [
            "s.lead.gain tuned (traits of voices)",
            "s.lead.gain tuned, s.lead.cut tuned",
            "s.lead.gain tuned, s.lead.gain tuned (traits of voices)",
            "s.lead.gain tuned, s.lead.cut tuned",
        ]
