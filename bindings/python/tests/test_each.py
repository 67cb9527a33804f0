"""One of a definition for each entry of the configuration."""

from __future__ import annotations

import pytest

import invivo


class Filter:
    cutoff: float = 1.0


class Voice:
    filter: Filter

    def __init__(self, name: str, note: int) -> None:
        self.name, self.note = name, note


class Mixer:
    def __init__(self, voices: list[Voice]) -> None:
        self.voices = voices


class Synth(invivo.Assembly):
    @invivo.lazy_singleton(each="voices")
    def voice(self) -> Voice:
        voice = invivo.new(Voice, invivo.entry_name(), invivo.entry("note"))
        voice.filter = self.inner(invivo.entry("cutoff", 100.0))
        return voice

    @invivo.prototype
    def inner(self, cutoff: float) -> Filter:
        filter = invivo.new(Filter)
        filter.cutoff = cutoff
        return filter

    @invivo.prototype
    def mixer(self) -> Mixer:
        return invivo.new(Mixer, invivo.every(Voice))


def say(runtime: invivo.Runtime, text: str | None) -> None:
    with runtime.changes() as changes:
        changes.document("voices.yaml", text)


def test_each_entry_has_one_and_comes_and_goes_alone() -> None:
    synth = Synth()
    with invivo.Runtime(synth) as runtime:
        assert synth.mixer().voices == []
        say(runtime, "config: { synth: { voices: { lead: { note: 60 }, bass: { note: 36, cutoff: 20 } } } }\n")
        lead, bass = runtime["synth.voice[lead]"], runtime["synth.voice[bass]"]
        assert (lead.name, lead.note, lead.filter.cutoff) == ("lead", 60, 100)
        assert (bass.name, bass.note, bass.filter.cutoff) == ("bass", 36, 20)
        assert [each.name for each in synth.mixer().voices] == ["lead", "bass"]
        say(runtime, "config: { synth: { voices: { pad: { note: 48 }, bass: { note: 36, cutoff: 20 } } } }\n")
        assert runtime["synth.voice[bass]"] is bass
        assert {each.name for each in synth.mixer().voices} == {"pad", "bass"}
        with pytest.raises(invivo.NotFoundError):
            runtime["synth.voice[lead]"]
        with pytest.raises(invivo.AbstractError):
            synth.voice()


def test_entries_of_a_list_go_by_their_names() -> None:
    synth = Synth()
    with invivo.Runtime(synth) as runtime:
        say(runtime, "config: { synth: { voices: [{ name: lead, note: 60 }] } }\n")
        lead = runtime["synth.voice[lead]"]
        say(runtime, "config: { synth: { voices: [{ name: pad, note: 48 }, { name: lead, note: 60 }] } }\n")
        assert runtime["synth.voice[lead]"] is lead
        with pytest.raises(invivo.Error, match="two entries are 'lead'"):
            say(runtime, "config: { synth: { voices: [{ name: lead, note: 1 }, { name: lead, note: 2 }] } }\n")


def test_an_entry_is_wanted_only_in_a_definition_for_each() -> None:
    class Wrong(invivo.Assembly):
        @invivo.lazy_singleton
        def voice(self) -> Voice:
            return invivo.new(Voice, invivo.entry_name(), 1)

    with pytest.raises(invivo.ArgumentError, match=r"needs an entry, and 'wrong\.voice' is not one for each of them"):
        invivo.Runtime(Wrong())


def test_the_pattern_itself_says_what_to_ask_for() -> None:
    synth = Synth()
    with invivo.Runtime(synth), pytest.raises(invivo.AbstractError, match=r"'voices': resolve 'synth\.voice\[name\]'"):
        synth.voice()
