"""Definitions that stand in no assembly: functions that describe them, with runtime arguments."""

from __future__ import annotations

import threading

import pytest

import invivo


class Clock: ...


class Voice:
    def __init__(self, note: int, clock: Clock) -> None:
        self.note, self.clock = note, clock


@invivo.prototype(rank=2)
def voice(note: int, octave: int = 0) -> Voice:
    return invivo.new(Voice, note, clock=invivo.ref("synth.clock"))


@invivo.lazy_singleton
def clock() -> Clock:
    return invivo.new(Clock)


def test_a_function_describes_a_definition_with_runtime_arguments() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.define(voice, "synth.voice")
            changes.define(clock, "synth.clock")
        one = runtime.resolve("synth.voice", 60)
        assert one.note == 60
        assert one.clock is runtime["synth.clock"]
        assert runtime.resolve("synth.voice", octave=1, note=61).note == 61
        runtime.define(clock)
        assert type(runtime["clock"]) is Clock
        assert runtime["clock"] is not one.clock


def test_wrong_arguments_are_told_with_the_parameters() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(clock, "synth.clock")
        runtime.define(voice, "synth.voice")
        with pytest.raises(
            invivo.ArityError, match=r"synth\.voice\(note: int64, octave: int64\? = 0\) takes 1 to 2 arguments"
        ):
            runtime.resolve("synth.voice")
        with pytest.raises(invivo.ArityError, match="unexpected keyword argument 'loud'"):
            runtime.resolve("synth.voice", 60, loud=True)


def test_a_default_is_what_other_languages_leave_out() -> None:
    class Shifted:
        def __init__(self, note: int, by: Clock | None, name: str | None) -> None:
            self.said = note, by, name

    class Low:
        def __init__(self, make: invivo.Provider[Shifted]) -> None:
            self.make = make

    @invivo.prototype
    def low() -> Low:
        return invivo.new(Low, make=invivo.provider(invivo.ref("synth.voice")))

    @invivo.prototype
    def shifted(note: int = 60, by: Clock | None = None, name: str | None = "lead") -> Shifted:
        return invivo.new(Shifted, note, by, name)

    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.define(shifted, "synth.voice")
            changes.define(low, "synth.low")
        assert runtime["synth.low"].make().said == (60, None, "lead")
        assert runtime["synth.low"].make(61, None, None).said == (61, None, None)
        assert runtime._resolve_with("synth.voice", ()).said == (60, None, "lead"), "as another language resolves it"
        assert runtime.resolve("synth.voice").said == (60, None, "lead")


def test_an_object_may_be_a_default() -> None:
    spare = Clock()

    @invivo.prototype
    def ticking(what: Clock = spare) -> Voice:
        return invivo.new(Voice, 1, what)

    with invivo.Runtime() as runtime:
        runtime.define(ticking, "synth.voice")
        assert runtime._resolve_with("synth.voice", ()).clock is spare
        before = runtime.info.generation
        runtime.define(ticking, "synth.voice")
        assert runtime.info.generation == before + 1


def test_a_function_may_override() -> None:
    @invivo.define
    def low(note: int, octave: int = 0) -> Voice:
        return invivo.new(Voice, 12, invivo.ref("synth.clock"))

    with invivo.Runtime() as runtime:
        runtime.define(clock, "synth.clock")
        runtime.define(voice, "synth.voice")
        with runtime.override("synth.voice", low):
            assert runtime.resolve("synth.voice", 60).note == 12
        assert runtime.resolve("synth.voice", 60).note == 60


def test_a_function_says_its_scope_itself() -> None:
    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.ArgumentError, match="voice says its scope and options itself"):
            runtime.define(voice, "synth.voice", scope="singleton")
        with pytest.raises(invivo.ArgumentError, match="voice says its scope and options itself"):
            runtime.define(voice, "synth.voice", note=3)

        @invivo.prototype
        def several(*notes: int) -> Voice:
            return invivo.new(Voice, 3, invivo.ref("synth.clock"))

        with pytest.raises(
            invivo.ArgumentError, match="several: the runtime arguments of a definition have a name each"
        ):
            runtime.define(several, "synth.several")


def test_what_comes_and_goes_is_told_to_methods() -> None:
    class Mixer:
        voices: list[Clock]

        def __init__(self) -> None:
            self.heard: list[str] = []

        def add(self, one: Clock) -> None:
            self.heard.append("add")

        def drop(self, one: Clock) -> None:
            self.heard.append("drop")

    @invivo.lazy_singleton
    def mixer() -> Mixer:
        made = invivo.new(Mixer)
        made.voices = invivo.every(Clock, added="add", removed="drop")
        return made

    with invivo.Runtime() as runtime:
        runtime.define(clock, "synth.one")
        runtime.define(mixer, "synth.mixer")
        found = runtime["synth.mixer"]
        assert len(found.voices) == 1
        runtime.define(clock, "synth.two")
        runtime.remove("synth.two")
        assert found.heard == ["add", "drop"]
        assert runtime["synth.mixer"] is found


def test_the_state_of_an_assembly_is_asked_for_by_its_name() -> None:
    class Synth(invivo.Assembly):
        @invivo.lazy_singleton
        def clock(self) -> Clock:
            return invivo.new(Clock)

    with invivo.Runtime() as runtime:
        synth = Synth()
        assert runtime.assembly_state("synth") == "unknown"
        runtime.describe(synth)
        assert runtime.assembly_state("synth") == "inactive"
        runtime.activate(synth)
        assert runtime.assembly_state("synth") == "active"
        runtime.deactivate(synth)
        assert runtime.assembly_state("synth") == "inactive"


def test_a_collaborator_is_found_by_the_name_of_what_it_is() -> None:
    class Clocks: ...

    class Synth(invivo.Assembly):
        clocks = invivo.collaborator("Clocks")

        @invivo.prototype
        def voice(self) -> Voice:
            return invivo.new(Voice, 3, self.clocks.clock())

    class Studio(Clocks, invivo.Assembly):
        @invivo.lazy_singleton
        def clock(self) -> Clock:
            return invivo.new(Clock)

    class Other(Studio, name="other"): ...

    with invivo.Runtime(synth := Synth(), studio := Studio()):
        assert synth.voice().clock is studio.clock()
    with pytest.raises(invivo.AmbiguousError, match=r"several are: studio \(Studio\), other \(Other\)"):
        invivo.Runtime(Synth(), Studio(), Other())


def test_objects_of_shared_classes_start_at_the_same_time() -> None:
    both = threading.Barrier(2)

    @invivo.shared
    class Port:
        @invivo.on_start
        def open(self) -> None:
            both.wait(30)

    class Rack:
        def __init__(self, ports: list[Port]) -> None:
            self.ports = ports

    with invivo.Runtime() as runtime:
        runtime.define(Port, "studio.left")
        runtime.define(Port, "studio.right")
        runtime.define(Rack, "studio.rack")
        assert len(runtime[Rack].ports) == 2


def test_a_lookup_by_type_may_find_nothing() -> None:
    with invivo.Runtime() as runtime:
        assert runtime.resolve_type(Clock, optional=True) is None
        runtime.define(clock, "synth.clock")
        assert runtime.resolve_type(Clock, optional=True) is runtime["synth.clock"]


def test_options_of_a_choice_may_be_pairs_of_which_the_first_counts() -> None:
    @invivo.define
    def arm() -> Clock:
        options = [([1, 2], invivo.ref("a.one")), ([1, 2], invivo.ref("a.two"))]
        return invivo.choice(invivo.config("arm"), options)

    with invivo.Runtime() as runtime:
        runtime.configure("a.arm", [1, 2])
        with runtime.changes() as changes:
            changes.define(clock, "a.one")
            changes.define(clock, "a.two")
            changes.define(arm, "a.arm")
        assert runtime["a.arm"] is runtime["a.one"]


def test_what_python_and_the_library_find_wrong_is_told_together() -> None:
    @invivo.prototype
    def loud() -> Clock:
        made = invivo.new(Clock)
        made.loud = 3
        return made

    @invivo.prototype
    def far() -> Voice:
        return invivo.new(Voice, 3, invivo.ref("synth.nowhere"))

    @invivo.prototype
    def user() -> Voice:
        return invivo.new(Voice, 3, invivo.ref("synth.loud"))

    with invivo.Runtime() as runtime:
        changes = runtime.changes()
        for each in (loud, far, user):
            changes.define(each, f"synth.{each.__name__}")
        with pytest.raises(invivo.PropertyError) as caught:
            changes.check()
        rules = [(each.rule, each.path) for each in caught.value.errors]
        assert rules == [("wiring.unknown-property", "synth.loud.loud"), ("wiring.missing", "synth.far")]
        changes.discard()
