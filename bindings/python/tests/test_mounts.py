"""Assemblies in the library: mounted, removed, described before they are activated; by an application too."""

from __future__ import annotations

from pathlib import Path

import pytest

import invivo
from invivo._app import App


class Clock:
    def __init__(self, rate: int = 1) -> None:
        self.rate = rate


class Filter:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock


class Inner:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock


class Lead:
    filter: Filter

    def __init__(self, note: int, filter: Filter) -> None:
        self.note, self.filter = note, filter


class Studio(invivo.Assembly):
    @invivo.lazy_singleton
    def clock(self) -> Clock:
        return invivo.new(Clock, 44)

    @invivo.lazy_singleton
    def spare(self) -> Clock:
        return invivo.new(Clock, 48)


class Voice(invivo.Assembly):
    studio: Studio

    @invivo.lazy_singleton
    def filter(self) -> Filter:
        return invivo.new(Filter, self.studio.clock())

    @invivo.prototype
    def lead(self, note: int = 60) -> Lead:
        return invivo.new(Lead, note)  # the filter by its annotation

    @invivo.lazy_singleton
    def inner(self) -> Inner:
        return invivo.new(Inner, invivo.new(Clock, 7))


def test_mounts_of_one_class_stand_beside_each_other() -> None:
    with invivo.Runtime(studio := Studio()) as runtime:
        left = runtime.mount(Voice(), "left")
        right = runtime.mount(Voice(), "band.right", remap={"studio.clock": "studio.spare"})
        assert left.filter() is runtime["left.filter"] is not right.filter()
        assert left.filter().clock is studio.clock()
        assert right.filter().clock is studio.spare()
        assert left.lead(note=64).note == 64
        assert runtime.resolve("band.right.lead", 62).note == 62
        assert right.inner().clock.rate == 7
        assert (left.name, right.name) == ("left", "band.right")
        kept = right.filter()
        runtime.remove(left)
        with pytest.raises(invivo.NotFoundError):
            runtime["left.filter"]
        assert right.filter() is kept
        with pytest.raises(invivo.ExistsError, match="mount another instance of Voice"):
            runtime.mount(right, "third")


def test_what_a_mount_leads_elsewhere_need_not_be_there() -> None:
    class Other(invivo.Assembly, name="other"):
        @invivo.lazy_singleton
        def clock(self) -> Clock:
            return invivo.new(Clock, 96)

    other = Other()
    with invivo.Runtime(other) as runtime:
        voice = runtime.mount(Voice(), "left", remap={"studio": other})
        assert voice.filter().clock is other.clock()
        assert runtime.info.definitions == 5  # of the two, the one that stands inline included: no Studio came along


def test_a_mount_that_fails_leaves_the_assembly_as_it_was() -> None:
    with invivo.Runtime(Studio()) as runtime:
        voice = Voice()
        with pytest.raises(invivo.ArgumentError, match=r"nothing in the assembly 'left' refers to 'studio\.clokc'"):
            runtime.mount(voice, "left", remap={"studio.clokc": "studio.spare"})
        assert voice.name == "voice"
        runtime.activate(voice)
        assert voice.filter() is runtime["voice.filter"]


def test_a_described_assembly_says_that_it_must_be_activated() -> None:
    voice = Voice()
    with invivo.Runtime() as runtime:
        runtime.describe(voice)
        text = "the assembly 'voice' must be activated before 'voice.filter' is resolved"
        for ask in (
            lambda: voice.filter(),
            lambda: runtime["voice.filter"],
            lambda: runtime.resolve_optional("voice.filter"),
            lambda: runtime.resolve_type(Filter, "filter"),
            lambda: runtime[Lead],
        ):
            with pytest.raises(invivo.NotReadyError, match=r"the assembly 'voice' must be activated"):
                ask()
        with pytest.raises(invivo.NotReadyError) as caught:
            voice.filter()
        assert caught.value.message == text
        before = runtime.info.generation
        runtime.activate(voice)
        assert runtime.info.generation == before + 1
        runtime.activate(voice)
        assert runtime.info.generation == before + 1
        assert voice.lead().filter is voice.filter()
        runtime.remove(voice)
        with pytest.raises(invivo.NotReadyError):
            runtime["voice.filter"]


def test_an_assembly_that_another_needs_cannot_be_removed() -> None:
    studio, voice = Studio(), Voice()
    with invivo.Runtime(voice, studio) as runtime:
        with pytest.raises(invivo.NotFoundError, match="'voice' needs the collaborator 'studio'"):
            runtime.remove(studio)
        assert voice.filter().clock is studio.clock()
        runtime.remove(voice, studio)
        assert runtime.info.definitions == 0


def test_single_definitions_are_removed_by_their_keys() -> None:
    studio = Studio()
    with invivo.Runtime(studio) as runtime:
        runtime.remove("studio.spare")
        with pytest.raises(invivo.NotFoundError):
            runtime["studio.spare"]
        assert studio.clock().rate == 44


def test_a_replaced_assembly_keeps_what_did_not_change() -> None:
    class Changed(Studio):
        @invivo.lazy_singleton
        def spare(self) -> Clock:
            return invivo.new(Clock, 192)

    first, second = Studio(), Changed()
    with invivo.Runtime(first) as runtime:
        clock, spare = first.clock(), first.spare()
        runtime.activate(second)
        assert second.clock() is clock
        assert second.spare() is not spare
        assert second.spare().rate == 192


def test_two_assemblies_that_define_one_key_are_told_with_both_places() -> None:
    first, second = invivo.Assembly("first"), invivo.Assembly("second")
    first.lazy_singleton(Clock, name="common.clock")
    second.lazy_singleton(Clock, name="common.clock")
    with invivo.Runtime(first) as runtime:
        with pytest.raises(invivo.ExistsError) as caught:
            runtime.activate(second)
        assert caught.value.path == "common.clock"
        assert caught.value.message.count("test_mounts.py:") == 2
        assert "(assembly 'first')" in caught.value.message


MODULE = """
import invivo

class Clock:
    pass

class Music(invivo.Assembly):
    @invivo.lazy_singleton
    def clock(self) -> Clock:
        return invivo.new(Clock)

music = Music()
"""


def test_a_manifest_activates_what_python_modules_describe(tmp_path: Path) -> None:
    (tmp_path / "music.py").write_text(MODULE)
    manifest = tmp_path / "app.yaml"
    manifest.write_text("modules: { music: music.py }\nassemblies: [{ mount: music, as: left }, music]\n")
    with App(manifest) as app:
        assert type(app.runtime["left.clock"]) is type(app.runtime["music.clock"])
        assert app.runtime["left.clock"] is not app.runtime["music.clock"]
    manifest.write_text("modules: { music: music.py }\n")
    with App(manifest) as app, pytest.raises(invivo.NotReadyError):
        app.runtime["music.clock"]
    manifest.write_text("modules: { music: music.py }\nassemblies: [musik]\n")
    with pytest.raises(invivo.NotFoundError, match="did you mean 'music'") as caught:
        App(manifest)
    assert (caught.value.line, caught.value.column) == (2, 14)


def test_the_host_gives_the_assemblies_or_the_manifest_lists_them(tmp_path: Path) -> None:
    manifest = tmp_path / "app.yaml"
    manifest.write_text("components: {}\n")
    studio = Studio()
    with App(manifest, assemblies=[studio]) as app:
        assert studio.clock() is app.runtime["studio.clock"]
    (tmp_path / "music.py").write_text(MODULE)
    manifest.write_text("modules: { music: music.py }\nassemblies: [music]\n")
    with pytest.raises(invivo.ExistsError, match="only one of the two"):
        App(manifest, assemblies=[Studio()])
