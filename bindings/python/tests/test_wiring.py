from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest

import invivo
from invivo import _generated as c
from invivo._assemblies.definitions import snake
from invivo._native.session import key_of
from invivo._planning.injections import Injection
from invivo._planning.wiring import plan_all


class Clock: ...


class FineClock(Clock): ...


class Filter:
    cutoff: float = invivo.tunable(800.0)

    def __init__(self, clock: Clock, rate: int = 48_000) -> None:
        self.clock, self.rate = clock, rate


def plan(*assemblies: invivo.Assembly, key: str) -> dict[str, Injection]:
    definitions = {k: v for assembly in assemblies for k, v in assembly.definitions.items()}
    known = {each.makes.__name__: each.makes for each in definitions.values()}
    plans = {each.definition.key: each for each in plan_all(definitions.values(), definitions, known)}
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
        assert "'clock' needs a 'Clock', and no definition creates one" in error.message


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
    assert "no argument for the initializer parameter 'note' (int64) of 'Voice'" in str(caught.value)


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


def scoped(scope: str, make: Callable[..., object], answers: type) -> object:
    make.__annotations__["return"] = answers
    return getattr(invivo, scope)(make)


def a_choice(otherwise: str) -> object:
    return scoped(
        "define",
        lambda: invivo.choice(invivo.config("/c.v", 0), {1: invivo.ref("t.other")}, otherwise=invivo.ref(otherwise)),
        Part,
    )


class Part: ...


class Holder:
    def __init__(self, part: Any = None) -> None:
        self.part = part


def test_a_choice_that_a_weak_reference_names_stays_one_of_what_is_shared() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            for key in "t.kept", "t.other":
                changes.define(scoped("lazy_singleton", lambda: invivo.new(Part), Part), key)
            changes.define(scoped("prototype", lambda: invivo.new(Part), Part), "t.anew")
            changes.define(a_choice("t.kept"), "t.choice")
            changes.define(
                scoped("lazy_singleton", lambda: invivo.new(Holder, invivo.weak(invivo.ref("t.choice"))), Holder),
                "t.holder",
            )
            changes.configure("c.v", 0)
        anew = scoped("prototype", lambda: invivo.new(Part), Part)
        runtime.define(anew, "t.other")  # one option of the choice is shared still
        with pytest.raises(invivo.Error, match="a choice of prototypes"):
            runtime.define(anew, "t.kept")
        with pytest.raises(invivo.Error, match="a choice of prototypes"):
            runtime.define(a_choice("t.anew"), "t.choice")
        kept = runtime["t.kept"]
        assert runtime["t.holder"].part() is kept


def with_a_number() -> object:
    def make(n):  # type: ignore[no-untyped-def]
        return invivo.new(Part)

    make.__annotations__["n"] = int
    return scoped("lazy_singleton", make, Part)


def test_a_built_lazy_singleton_gets_runtime_arguments() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(scoped("lazy_singleton", lambda: invivo.new(Part), Part), "t.part")
        former = runtime["t.part"]
        runtime.define(with_a_number(), "t.part")
        assert runtime.resolve("t.part", 1) is not former
        assert runtime.resolve("t.part", 1) is runtime.resolve("t.part", 1)


@pytest.mark.parametrize("through", ["t.part", "t.alias"])
def test_who_names_a_definition_is_checked_again_when_that_takes_other_arguments(through: str) -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.define(scoped("lazy_singleton", lambda: invivo.new(Part), Part), "t.part")
            changes.define(scoped("define", lambda: invivo.ref("t.part"), Part), "t.alias")
            changes.define(
                scoped("lazy_singleton", lambda: invivo.new(Holder, invivo.ref(through)), Holder), "t.holder"
            )
        with pytest.raises(invivo.Error, match="gives 0 arguments to"):
            runtime.define(with_a_number(), "t.part")
        assert runtime["t.holder"].part is runtime["t.part"]


def test_what_is_removed_is_not_suggested() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(scoped("lazy_singleton", lambda: invivo.new(Part), Part), "t.parent")
        runtime.define(scoped("lazy_singleton", lambda: invivo.child(invivo.ref("t.parent")), Part), "t.child")
        with pytest.raises(invivo.Error) as caught:
            runtime.remove("t.parent")
        assert "did you mean" not in str(caught.value)
