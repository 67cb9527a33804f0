"""Assemblies in the library: mounted, removed, described before they are activated; by an application too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest

import invivo
from invivo._runtime.app import App


class Clock:
    rate: int

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


class Part:
    clock: Clock
    marked: Annotated[Clock, invivo.Inject("studio.clock")]
    make: Callable[[], Clock]
    later: invivo.Lazy[Clock]
    clocks: list[Clock]
    rate: int
    made: Clock
    inline: Filter
    chosen: Clock
    size: int = 0

    def __init__(self, by_key: Annotated[Clock, "studio.clock"], rate: int) -> None:
        self.by_key, self.size = by_key, rate


class Maker:
    def __init__(self, rate: int) -> None:
        self.rate = rate

    def clock(self) -> Clock:
        return Clock(self.rate)


class Outer(invivo.Assembly, name="studio"):
    @invivo.lazy_singleton
    def clock(self) -> Clock:
        return invivo.new(Clock, 44)

    @invivo.define
    def rate(self) -> int:
        return invivo.constant(44)

    @invivo.lazy_singleton
    def maker(self) -> Maker:
        return invivo.new(Maker, self.rate())


class Elsewhere(Outer, name="elsewhere"):
    def clock(self) -> Clock:
        return invivo.new(Clock, 96)

    def rate(self) -> int:
        return invivo.constant(96)


class Parts(invivo.Assembly):
    studio: Outer

    @invivo.lazy_singleton
    def part(self) -> Part:
        part = invivo.wire(Part, rate=invivo.ref("studio.rate"))
        part.clock = self.studio.clock()
        part.make = self.studio.clock
        part.later = invivo.lazy(self.studio.clock())
        part.clocks = [self.studio.clock(), invivo.ref("studio.clock")]
        part.rate = self.studio.clock().rate
        part.made = self.studio.maker().clock()
        part.inline = invivo.new(Filter, self.studio.clock())
        part.chosen = self.choice()
        return part

    @invivo.define
    def choice(self) -> Clock:
        return invivo.choice(invivo.config("which", "it"), {"it": self.studio.clock()})

    @invivo.define
    def same(self) -> Clock:
        return self.studio.clock()

    @invivo.define
    def child(self) -> Clock:
        return invivo.child(self.studio.clock())

    @invivo.define
    def own(self) -> Part:
        return invivo.ref("parts.part")  # by its whole key: inside


@pytest.mark.parametrize("whole", [True, False])
def test_every_way_of_referring_outside_is_remapped(whole: bool) -> None:
    here, there = Outer(), Elsewhere()
    pairs = {name: f"elsewhere.{name}" for name in ("clock", "rate", "maker")}
    remap: dict[str, Any] = {"studio": there} if whole else {f"studio.{name}": to for name, to in pairs.items()}
    with invivo.Runtime(here, there) as runtime:
        left, plain = runtime.mount(Parts(), "left", remap), runtime.mount(Parts(), "plain")
        for parts, outer, rate in ((left, there, 96), (plain, here, 44)):
            part, clock = parts.part(), outer.clock()
            assert clock.rate == rate
            assert [part.clock, part.by_key, part.marked, part.make(), part.later.value] == [clock] * 5
            assert [*part.clocks, part.inline.clock, part.chosen, parts.same()] == [clock] * 5
            assert (part.rate, part.made.rate, part.size, parts.child().rate) == (rate,) * 4
            assert parts.own() is part
        if whole:
            assert left.studio.clock() is there.clock()
        with runtime.override("elsewhere.rate", instance=12):
            assert (left.part().size, plain.part().size) == (12, 44)


def test_an_assembly_that_is_filled_one_by_one_is_mounted_with_its_processors() -> None:
    def filled() -> invivo.Assembly:
        voices = invivo.Assembly("voices")
        voices.lazy_singleton(Clock, rate=3)
        voices.lazy_singleton(Filter, clock=invivo.ref("voices.clock"))

        @voices.decorate(key="clock")
        def tuned(clock: Clock) -> None:
            clock.rate += 1

        return voices

    with invivo.Runtime() as runtime:
        left, right = runtime.mount(filled(), "left"), runtime.mount(filled(), "right")
        assert left["filter"].clock is left["clock"] is not right["clock"]
        assert (left["clock"].rate, right["clock"].rate) == (4, 4)
        runtime.remove(left)
        assert left.name == "voices"
        assert "left.clock" not in runtime
        assert right["clock"].rate == 4
        again = runtime.mount(left, "again")
        assert again["filter"].clock.rate == 4
        elsewhere = invivo.Assembly("other")
        elsewhere.lazy_singleton(Clock, name="common.clock")
        with pytest.raises(invivo.ArgumentError, match=r"the key 'common\.clock' is not under its name"):
            runtime.mount(elsewhere, "third")


def test_a_mount_that_fails_leaves_the_assembly_as_it_was() -> None:
    with invivo.Runtime(Studio()) as runtime:
        voice = Voice()
        with pytest.raises(invivo.ArgumentError, match=r"nothing in the assembly 'voice' refers to 'studio\.clokc'"):
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


def test_a_description_is_taken_back() -> None:
    voice = Voice()
    with invivo.Runtime() as runtime:
        runtime.describe(voice)
        with pytest.raises(invivo.NotFoundError, match="the assembly 'voice' was not described here"):
            runtime.forget(Voice())
        runtime.forget(voice)
        assert runtime.assembly_state("voice") == "unknown"
        for known in (voice, "voice"):
            with pytest.raises(invivo.NotFoundError):
                runtime.forget(known)
        with pytest.raises(invivo.NotFoundError):
            runtime["voice.filter"]
        with invivo.Runtime() as other:  # its members are recipes again
            other.activate(voice)
            assert voice.lead().filter is voice.filter()
            other.remove(voice)
        runtime.describe(voice)
        runtime.activate(voice)
        runtime.forget("voice")  # what is active stays so
        assert runtime.assembly_state("voice") == "active"
        runtime.activate(voice)
        assert voice.lead().filter is voice.filter()
        runtime.remove(voice)
        assert runtime.assembly_state("voice") == "unknown"


def test_an_assembly_whose_submitted_activation_failed_is_activated_again() -> None:
    class Card:
        missing = True

        def __init__(self) -> None:
            if Card.missing:
                raise OSError("no card")

    class Sound(invivo.Assembly):
        @invivo.singleton
        def card(self) -> Card:
            return invivo.new(Card)

    sound, left = Sound(), Sound()
    with invivo.Runtime() as runtime, runtime.reloads() as reloads:
        changes = runtime.changes()
        changes.activate(sound)
        changes.mount(left, "left")
        changes.submit()
        report = reloads.wait(60)
        assert report is not None
        assert not report.committed
        assert "no card" in str(report.error)
        Card.missing = False
        runtime.activate(sound)
        runtime.mount(left, "left")
        assert runtime.assembly_state("sound") == runtime.assembly_state("left") == "active"
        assert sound.card() is not left.card()


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


def test_a_mount_does_not_replace_another_assembly() -> None:
    class Lamp:
        pass

    class Lamps(invivo.Assembly):
        @invivo.lazy_singleton
        def lamp(self) -> Lamp:
            return invivo.new(Lamp)

    class Others(Lamps):
        pass

    class Strangers(invivo.Assembly):
        @invivo.lazy_singleton
        def lamp(self) -> Lamp:
            return invivo.new(Lamp)

    with invivo.Runtime(Lamps()) as runtime:
        lamp = runtime["lamps.lamp"]
        with pytest.raises(invivo.ExistsError, match=r"the assembly 'lamps' is active .* 'strangers' needs another"):
            runtime.mount(Strangers(), "lamps")
        assert runtime["lamps.lamp"] is lamp
        runtime.mount(Others(), "left")
        with pytest.raises(invivo.ExistsError, match=r"the assembly 'lamps' is mounted .* 'strangers' needs another"):
            runtime.mount(Strangers(), "left")
