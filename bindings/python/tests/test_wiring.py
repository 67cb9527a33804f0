from __future__ import annotations

from typing import Annotated, Any

import pytest

import invivo
from invivo import _generated as c
from invivo._core import key_of
from invivo._definitions import snake
from invivo._index import Definitions
from invivo._injections import Injection
from invivo._wiring import plan_all


class Clock: ...


class FineClock(Clock): ...


class Filter:
    cutoff: float = invivo.tunable(800.0)

    def __init__(self, clock: Clock, rate: int = 48_000) -> None:
        self.clock, self.rate = clock, rate


def plan(*assemblies: invivo.Assembly, key: str) -> dict[str, Injection]:
    definitions = {k: v for assembly in assemblies for k, v in assembly.definitions.items()}
    known = {each.makes.__name__: each.makes for each in definitions.values()}
    plans = {each.definition.key: each for each in plan_all(definitions.values(), Definitions(definitions), known)}
    return {each.name: each for each in (*plans[key].initializer, *plans[key].properties)}


def clock_of(*assemblies: invivo.Assembly, key: str) -> str:
    """The key of what the library injects as the clock of an object."""
    with invivo.Runtime(*assemblies) as runtime:
        return key_of(runtime[key].clock)


def refs(found: dict[str, Injection]) -> dict[str, Any]:
    return {name: each.reference or each.value for name, each in found.items()}


@pytest.mark.parametrize(
    ("name", "key"), [("Player", "player"), ("LowPass", "low_pass"), ("HTTPServer", "http_server"), ("Osc2", "osc2")]
)
def test_a_key_is_the_class_in_snake_case(name: str, key: str) -> None:
    assert snake(name) == key


def test_a_parameter_gets_the_one_definition_of_its_class() -> None:
    app = invivo.Assembly("synth")
    app.lazy_singleton(Filter)
    app.lazy_singleton(Clock)
    assert clock_of(app, key="synth.filter") == "synth.clock"


def test_a_subclass_serves_where_its_base_is_wanted() -> None:
    app = invivo.Assembly("synth")
    app.singleton(FineClock)
    app.singleton(Filter)
    assert clock_of(app, key="synth.filter") == "synth.fine_clock"


def test_the_class_itself_comes_before_its_subclasses() -> None:
    app = invivo.Assembly("synth")
    app.singleton(FineClock)
    app.singleton(Clock)
    app.singleton(Filter)
    assert clock_of(app, key="synth.filter") == "synth.clock"


def test_the_own_assembly_comes_before_others() -> None:
    one, other = invivo.Assembly("one"), invivo.Assembly("other")
    for app in (one, other):
        app.singleton(Clock)
    one.singleton(Filter)
    assert clock_of(one, other, key="one.filter") == "one.clock"


def test_two_of_a_kind_are_ambiguous_until_a_key_is_named() -> None:
    app = invivo.Assembly("synth")
    app.singleton(Clock, name="a")
    app.singleton(Clock, name="b")
    app.singleton(Filter)
    with pytest.raises(invivo.AmbiguousError, match=r"'clock' needs a 'Clock'.*synth\.a, synth\.b") as caught:
        invivo.Runtime(app)
    assert caught.value.path == "synth.filter"
    assert caught.value.file == __file__
    named = invivo.Assembly("synth")
    named.singleton(Clock, name="a")
    named.singleton(Clock, name="b")
    named.singleton(Filter, clock=invivo.ref("b"))
    assert clock_of(named, key="synth.filter") == "synth.b"


def test_annotated_names_the_key() -> None:
    class Mixer:
        def __init__(self, clock: Annotated[Clock, "b"], far: Annotated[Any, "other.thing"]) -> None: ...

    app = invivo.Assembly("synth")
    app.singleton(Clock, name="a")
    app.singleton(Clock, name="b")
    app.singleton(Mixer)
    assert refs(plan(app, key="synth.mixer")) == {"clock": "synth.b", "far": "other.thing"}


def test_all_that_is_missing_is_said_at_once() -> None:
    class Mixer:
        def __init__(self, rate: int, clock: Clock) -> None: ...

    app = invivo.Assembly("synth")
    app.singleton(Mixer)
    app.singleton(Filter)
    with pytest.raises(invivo.Error) as caught:
        invivo.Runtime(app)
    assert [each.path for each in caught.value.errors] == ["synth.mixer.rate", "synth.mixer", "synth.filter"]
    for error in caught.value.errors[1:]:
        assert "'clock' needs a 'Clock', and nothing makes one" in error.message


def test_overrides_are_given_as_they_are_to_parameters_and_properties() -> None:
    app = invivo.Assembly("synth")
    app.singleton(Clock)
    app.singleton(Filter, rate=44_100, cutoff=200.0)
    found = refs(plan(app, key="synth.filter"))
    assert found == {"clock": None, "rate": 44_100, "cutoff": 200.0}


def test_an_override_of_nothing_is_an_error() -> None:
    app = invivo.Assembly("synth")
    app.singleton(Clock)
    app.singleton(Filter, cut=200.0)
    with pytest.raises(invivo.PropertyError, match="cutoff"):
        plan(app, key="synth.filter")


def test_a_default_stays_and_an_optional_is_none_where_nothing_matches() -> None:
    fallback = Clock()

    class Mixer:
        def __init__(
            self,
            a: Clock | None,
            b: Clock = fallback,
            c: invivo.Provider[Clock] = lambda: fallback,
            d: tuple[Clock, ...] = (fallback,),
            e: Clock | None = fallback,
            *,
            f: Clock = fallback,
        ) -> None:
            self.a, self.b, self.c, self.d, self.e, self.f = a, b, c, d, e, f

    app = invivo.Assembly("synth")
    app.lazy_singleton(Mixer)
    with invivo.Runtime(app) as runtime:
        mixer = runtime[Mixer]
        assert mixer.a is None
        assert mixer.b is mixer.c() is mixer.e is mixer.f is fallback
        assert mixer.d == (fallback,)
        runtime.define(Clock, "synth.clock")
        assert runtime[Mixer] is not mixer, "what it lacked is there"
        mixer, clock = runtime[Mixer], runtime[Clock]
        assert mixer.a is mixer.b is mixer.c() is mixer.e is mixer.f is clock
        assert mixer.d == (clock,)


def test_a_prototype_is_given_every_argument_that_has_no_default() -> None:
    class Voice:
        def __init__(self, note: int, clock: Clock, level: float = 1.0) -> None: ...

    app = invivo.Assembly("synth")
    app.prototype(Voice)
    app.singleton(Clock)
    with pytest.raises(invivo.ArityError, match="runtime argument") as caught:
        plan(app, key="synth.voice")
    assert caught.value.path == "synth.voice.note"
    assert caught.value.file == __file__
    assert "nothing gives the initializer parameter 'note' (int64) of 'Voice'" in str(caught.value)


def test_the_parameters_of_the_function_that_describes_it_are_runtime_arguments() -> None:
    class Voice:
        def __init__(self, note: int, clock: Clock, level: float = 1.0) -> None: ...

    @invivo.prototype
    def voice(note: int) -> Voice:
        return invivo.wire(Voice, note=note)

    app = invivo.Assembly("synth")
    app.define(voice)
    app.define(voice, "other")
    app.singleton(Clock)
    found = plan(app, key="synth.voice")
    assert {name: each.way for name, each in found.items()} == {
        "note": c.INVIVO_INJECT_ARGUMENT,
        "clock": c.INVIVO_INJECT_TYPE,
    }
    assert "synth.other" in app.definitions
    with pytest.raises(invivo.WrongTypeError, match="decorate"):
        app.define(Voice)
    with pytest.raises(invivo.ExistsError, match=r"synth\.voice"):
        app.define(voice)


def test_a_factory_makes_what_its_annotation_says() -> None:
    app = invivo.Assembly("synth")

    @app.lazy_singleton
    def make_clock() -> Clock:
        return FineClock()

    app.lazy_singleton(Filter)
    assert clock_of(app, key="synth.filter") == "synth.clock"
    with pytest.raises(invivo.ArgumentError, match="annotate"):
        app.lazy_singleton(lambda: Clock())


def test_a_name_is_taken_once() -> None:
    app = invivo.Assembly("synth")
    app.singleton(Clock)
    with pytest.raises(invivo.ExistsError, match=r"synth\.clock"):
        app.prototype(Clock)
