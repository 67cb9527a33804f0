from __future__ import annotations

import enum
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

import invivo


class Amplifier:
    gain: float = invivo.tunable(1.0, min=0, max=2)
    name: str = "amp"

    def twice(self, x: float) -> float:
        """Doubles."""
        return 2 * x

    def me(self) -> Amplifier:
        return self

    def fail(self) -> None:
        raise LookupError("nothing there")

    def refuse(self) -> None:
        raise invivo.BusyError("in use", path="amp.gain", cause=invivo.RangeError("underneath"))

    def anything(self, thing: Any) -> Any:
        return thing


@pytest.fixture
def runtime(native: Path) -> Iterator[invivo.Runtime]:
    with invivo.Runtime() as runtime:
        runtime.load_module(native)
        yield runtime


@pytest.fixture
def voice(runtime: invivo.Runtime) -> Any:
    return runtime.find_type("Voice")()


def test_properties_are_attributes(voice: Any) -> None:
    assert (voice.gain, voice.note, voice.small, voice.on, voice.label) == (1.0, 0, 0, False, "plain")
    voice.gain, voice.note, voice.on, voice.label = 0.5, -7, True, "bright"
    assert (voice.gain, voice.note, voice.on, voice.label) == (0.5, -7, True, "bright")


def test_what_does_not_fit_a_property_is_an_error(voice: Any) -> None:
    for name, thing, builtin in (
        ("small", 300, ValueError),
        ("gain", 3.0, ValueError),
        ("note", 1 << 63, ValueError),
        ("note", "x", TypeError),
        ("nowhere", 1, AttributeError),
    ):
        with pytest.raises(builtin) as caught:
            setattr(voice, name, thing)
        assert isinstance(caught.value, invivo.Error)
    with pytest.raises(AttributeError, match="gain"):
        _ = voice.gian


@pytest.mark.parametrize(
    "thing",
    [None, True, 0, -1, (1 << 64) - 1, -(1 << 63), 0.1, "", "text \N{MUSICAL KEYBOARD}", b"\0\xff", [], [1, [2]], {}]
    + [{"a": {"b": [None]}}],
)
def test_every_kind_of_value_goes_through_a_method_of_c_and_back(voice: Any, thing: Any) -> None:
    back = voice.echo(thing)
    assert back == thing
    assert type(back) is type(thing)


def test_an_enumeration_keeps_name_and_number(voice: Any) -> None:
    class Wave(enum.Enum):
        SAW = 4

    back = voice.echo(Wave.SAW)
    assert (back, back.name) == (4, "SAW")


def test_a_python_object_comes_back_identical(runtime: invivo.Runtime, voice: Any) -> None:
    amplifier = Amplifier()
    assert voice.echo(amplifier) is amplifier
    assert voice.echo([amplifier, {"a": amplifier}]) == [amplifier, {"a": amplifier}]
    voice.keep(amplifier)
    number = id(amplifier)
    del amplifier
    gc.collect()
    assert id(voice.kept()) == number, "C holds it"
    voice.keep(None)


def test_an_object_of_c_is_one_proxy_for_as_long_as_it_lives(runtime: invivo.Runtime, voice: Any) -> None:
    assert voice.echo(voice) is voice
    other = runtime.find_type("Voice")(5)
    voice.keep(other)
    assert voice.kept() is other
    del other
    gc.collect()
    assert voice.kept().note == 5
    voice.keep(None)


def test_the_last_proxy_gives_its_lease_back(runtime: invivo.Runtime) -> None:
    before = runtime.info.leases
    voice = runtime.find_type("Voice")()
    assert runtime.info.leases == before + 1
    del voice
    gc.collect()
    assert runtime.info.leases == before


def test_a_prototype_that_c_holds_lives_on_when_python_lets_go_and_is_stopped_after_it(
    runtime: invivo.Runtime, voice: Any
) -> None:
    said: list[str] = []

    class Note:
        @invivo.on_stop
        def end(self) -> None:
            said.append("stop")

    runtime.define(Note, "app.note", scope="prototype")
    note = runtime["app.note"]
    voice.keep(note)
    del note
    gc.collect()
    assert said == []
    assert type(voice.kept()) is Note
    gc.collect()
    assert said == []
    voice.keep(None)
    assert said == ["stop"]


def test_a_type_comes_back_as_itself(runtime: invivo.Runtime, voice: Any) -> None:
    assert voice.echo(Amplifier) is Amplifier
    kind = runtime.find_type("Voice")
    assert voice.echo(kind) is kind
    assert [each.name for each in kind.properties] == ["gain", "note", "small", "on", "label"]
    assert (kind.properties[0].min, kind.properties[0].max, kind.properties[0].initial) == (0, 2, 1.0)
    assert "echo" in kind.method_names
    assert "gain" in dir(voice)
    assert "Voice" in repr(voice)


def test_a_function_passed_over_is_called_and_comes_back_identical(voice: Any) -> None:
    def add(x: Any) -> Any:
        return x + 1

    assert voice.apply(add, 41) == 42
    assert voice.echo(add) is add
    assert voice.apply(lambda x: [x], "a") == ["a"]
    amplifier = Amplifier()
    assert voice.apply(amplifier.twice, 1.5) == 3.0


def test_a_function_of_c_is_called_and_comes_back_identical(voice: Any) -> None:
    twice = voice.doubler()
    assert twice(2.5) == 5.0
    assert voice.echo(twice) is twice
    assert voice.apply(twice, 1.25) == 2.5


def test_an_error_of_c_arrives_with_code_message_path_and_cause(voice: Any) -> None:
    with pytest.raises(ValueError, match="too loud") as caught:
        voice.fail()
    error = caught.value
    assert isinstance(error, invivo.RangeError)
    assert (error.message, error.path) == ("too loud", "synth.lead.gain")
    assert error.cause is not None
    assert error.cause.message == "the amplifier said so"


def test_errors_of_ours_keep_their_places_through_c(voice: Any) -> None:
    first = invivo.RangeError("too loud", path="amp.gain", file="patch.bin", line=3, column=7)
    second = invivo.NotFoundError("no such file", file="kick.wav")

    def fail(_: Any) -> None:
        raise first

    def fail_twice(_: Any) -> None:
        raise invivo.RangeError("too loud", errors=[first, second])

    with pytest.raises(invivo.RangeError) as caught:
        voice.apply(fail, 1)
    error = caught.value
    assert (error.file, error.line, error.column) == ("patch.bin", 3, 7)
    assert str(error) == "patch.bin:3:7: amp.gain: too loud"
    with pytest.raises(invivo.RangeError) as caught:
        voice.apply(fail_twice, 1)
    assert [str(each) for each in caught.value.errors] == [
        "patch.bin:3:7: amp.gain: too loud",
        "kick.wav: no such file",
    ]


def test_an_exception_goes_through_c_and_is_the_cause_on_the_other_side(voice: Any) -> None:
    problem = LookupError("nothing there")

    def fail(_: Any) -> None:
        raise problem

    with pytest.raises(invivo.Error, match="LookupError: nothing there") as caught:
        voice.apply(fail, 1)
    assert caught.value.__cause__ is problem


def test_an_error_of_ours_raised_in_a_callback_keeps_code_message_path_and_cause(voice: Any) -> None:
    with pytest.raises(invivo.BusyError) as caught:
        voice.call_of(Amplifier(), "refuse")
    error = caught.value
    assert (error.message, error.path) == ("in use", "amp.gain")
    assert error.cause is not None
    assert (type(error.cause), error.cause.message) == (invivo.RangeError, "underneath")


def test_an_interrupt_travels_through_the_library(voice: Any) -> None:
    def interrupt(_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        voice.apply(interrupt, 1)


def test_a_python_object_is_read_set_and_called_from_c(voice: Any) -> None:
    amplifier = Amplifier()
    assert voice.get_of(amplifier, "gain") == 1.0
    voice.set_of(amplifier, "gain", 2)
    assert (amplifier.gain, type(amplifier.gain)) == (2.0, float)
    with pytest.raises(invivo.RangeError):
        voice.set_of(amplifier, "gain", 2.5)
    assert voice.get_of(amplifier, "name") == "amp"
    assert voice.call_of(amplifier, "twice", 4) == 8.0
    assert voice.call_of(amplifier, "me") is amplifier
    with pytest.raises(AttributeError, match="twice"):
        voice.call_of(amplifier, "twcie", 4)
    with pytest.raises(invivo.Error, match="LookupError"):
        voice.call_of(amplifier, "fail")


def test_a_python_method_is_called_with_every_kind_of_value(voice: Any) -> None:
    amplifier = Amplifier()
    for thing in (None, True, 1, (1 << 64) - 1, 0.5, "a", b"b", [1], {"a": 1}, amplifier, voice, Amplifier):
        assert voice.call_of(amplifier, "anything", thing) == thing


def test_a_component_of_c_is_injected_into_one_of_python(runtime: invivo.Runtime) -> None:
    made = runtime.find_type("Voice")(9)

    class Mixer:
        def __init__(self, voice: invivo.Object) -> None:
            self.voice = voice

    runtime.define(Mixer, "synth.mixer", voice=made)
    mixer = runtime["synth.mixer"]
    assert mixer.voice is made
    assert mixer.voice.note == 9


def test_objects_are_dead_after_close(native: Path) -> None:
    runtime = invivo.Runtime()
    runtime.load_module(native)
    voice = runtime.find_type("Voice")()
    function = voice.doubler()
    runtime.close()
    with pytest.raises(invivo.ClosedError):
        _ = voice.gain
    with pytest.raises(invivo.ClosedError):
        function(1.0)
    assert "closed" in repr(voice)
    del voice, function
    gc.collect()


def test_an_object_of_one_runtime_is_refused_by_another(runtime: invivo.Runtime, voice: Any, native: Path) -> None:
    with invivo.Runtime() as other:
        other.load_module(native)
        with pytest.raises(invivo.HandleError):
            other.find_type("Voice")().echo(voice)


def test_what_a_callback_leaves_behind_is_collected(runtime: invivo.Runtime, voice: Any) -> None:
    for number in range(100):
        assert voice.apply(lambda x: {"number": x}, number) == {"number": number}
    gc.collect()
    assert runtime.info.leases == 1


def test_a_key_is_defined_by_the_name_of_a_type_of_another_language(runtime: invivo.Runtime) -> None:
    runtime.define("Voice", "synth.lead", scope="singleton", note=60, label="lead")
    lead = runtime["synth.lead"]
    assert (lead.note, lead.label) == (60, "lead")
    assert runtime["synth.lead"] is lead
    with runtime.source("a.yaml", "traits: { synth.lead: [Set: { gain: 0.25 }] }"):
        assert lead.gain == 0.25
    runtime.define(runtime.find_type("Voice"), "synth.voice", scope="prototype")
    with pytest.raises(invivo.ArityError, match="declares no runtime arguments"):
        runtime.resolve("synth.voice", 62)

    @invivo.prototype
    def voice(note: int) -> Any:
        return invivo.wire("Voice", note=note)

    runtime.define(voice, "synth.voice")
    assert runtime.resolve("synth.voice", 62).note == 62


def test_an_assembly_wires_types_of_several_languages(runtime: invivo.Runtime) -> None:
    class Player:
        def __init__(self, voice: Annotated[Any, "voice"]) -> None:
            self.voice = voice

    app = invivo.Assembly("synth")
    app.lazy_singleton(Amplifier)
    app.singleton("Voice", note=7, kept=invivo.ref(Amplifier))
    app.singleton(Player)
    runtime.activate(app)
    assert runtime[Player].voice is runtime["synth.voice"]
    assert runtime["synth.voice"].kept() is runtime[Amplifier]


def test_a_definition_of_an_unknown_type_or_member_says_what_there_is(runtime: invivo.Runtime) -> None:
    with pytest.raises(invivo.NotFoundError, match=r"no type 'Voise' is registered; did you mean 'Voice'\?") as caught:
        runtime.define("Voise", "synth.lead")
    assert (caught.value.path, caught.value.file) == ("synth.lead", __file__)
    with pytest.raises(invivo.PropertyError, match="Voice has no parameter and no property 'loud' to set; it") as other:
        runtime.define("Voice", "synth.lead", loud=1)
    assert other.value.path == "synth.lead.loud"
    with pytest.raises(TypeError, match="the name of a type is wanted"):
        runtime.define(3, "synth.lead")  # type: ignore[arg-type]
    assert "synth.lead" not in runtime


class Screen: ...


class Display: ...


def test_a_type_may_say_later_that_it_is_something_more() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Screen, "a.screen")
        with pytest.raises(invivo.NotFoundError):
            runtime.resolve_type(Display)
        runtime.extend_type(Screen, Display)
        assert runtime.resolve_type(Display) is runtime["a.screen"]
        runtime.extend_type(runtime.find_type("Screen"), "Glass")
        with pytest.raises(invivo.ArgumentError):
            runtime.extend_type(Screen, "")


@pytest.mark.parametrize("scope", ["graph", "prototype", "lazy_singleton", "singleton", "weak_singleton"])
def test_a_constant_is_the_object_itself_however_often_it_is_resolved(scope: str) -> None:
    """It belongs to the program: it is not started and stopped, decorated, or inherited by a child."""
    events = []

    class Engine:
        @invivo.on_start
        def start(self) -> None:
            events.append("start")

        @invivo.on_stop
        def stop(self) -> None:
            events.append("stop")

    class Loud(Engine):
        def __init__(self, inner: Engine) -> None:
            self.inner = inner

    engine = Engine()

    def described() -> Engine:
        return invivo.constant(engine)

    def another() -> Engine:
        return invivo.child(invivo.ref("a.engine"), Engine)

    def louder(inner: Engine) -> Engine:
        return Loud(inner)

    with invivo.Runtime() as runtime:
        runtime.define(getattr(invivo, scope)(described), "a.engine")
        runtime.decorate(louder, key="a.engine")
        assert runtime["a.engine"] is engine
        assert runtime["a.engine"] is engine
        assert not events
        runtime.define(invivo.lazy_singleton(another), "a.other")
        assert runtime["a.other"] is not engine
        events.clear()
    assert events == ["stop"]
