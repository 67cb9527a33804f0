"""What is refused when definitions are activated, instead of failing, or doing nothing, when somebody asks."""

from __future__ import annotations

import abc
import ctypes
import dataclasses
import functools
from typing import Any, NamedTuple, Protocol

import pytest

import invivo
from invivo import _generated as c


class Clock:
    rate: int

    def __init__(self, rate: int = 3) -> None:
        self.rate = rate

    def tune(self, rates: list[int]) -> None:
        self.rate = rates[0]


class Ticks(Protocol):
    def tick(self) -> int: ...


class Ticker:
    def tick(self) -> int:
        return 1


class Slow:
    def tick(self) -> int:
        return 2


class Listens(abc.ABC):
    @abc.abstractmethod
    def listen(self) -> int: ...


class Radio:
    def listen(self) -> int:
        return 3


Listens.register(Radio)


class Band:
    def __init__(self, ticks: list[Ticks], named: dict[str, Ticks], listens: list[Listens], one: Listens) -> None:
        self.ticks, self.named, self.listens, self.one = ticks, named, listens, one


class Lonely:
    def __init__(self, friends: list[Ticks]) -> None:
        self.friends = friends


def line_of(text: str) -> int:
    with open(__file__) as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


# ---- numbers beyond 64 bits ----------------------------------------------------------------------------


class Big(invivo.Assembly):
    @invivo.prototype
    def clock(self, rate: int) -> Clock:  # the definition of clock
        return invivo.new(Clock, rate)


def test_a_number_beyond_64_bits_says_the_key_and_the_place_of_the_argument() -> None:
    with invivo.Runtime(big := Big()) as runtime:
        for ask in (
            lambda: big.clock(2**64),
            lambda: big.clock(rate=-(2**70)),
            lambda: runtime.resolve("big.clock", 2**64),
            lambda: runtime.resolve_optional("big.clock", 2**64),
        ):
            with pytest.raises(invivo.RangeError) as caught:
                ask()
            assert caught.value.path == "big.clock.rate"
            assert caught.value.file == __file__
            assert abs(caught.value.line - line_of("# the definition of clock")) <= 1


def test_a_number_beyond_64_bits_in_a_definition_says_where_it_stands() -> None:
    class Wide(invivo.Assembly):
        @invivo.graph
        def clock(self) -> Clock:
            clock = invivo.new(Clock, 2**64)
            return clock

        @invivo.graph
        def tuned(self) -> Clock:
            clock = invivo.new(Clock)
            clock.tune([1, 2**64])
            return clock

    with pytest.raises(invivo.RangeError) as caught:
        invivo.Runtime(Wide())
    assert caught.value.path == "wide.clock.rate"
    assert caught.value.line
    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.RangeError) as caught:
            runtime.define(Clock, "app.clock", rate=-(2**64))
        assert caught.value.path == "app.clock.rate"
        with pytest.raises(invivo.RangeError) as caught:
            runtime.configure("app.rates", {"one": [1, 2**64]})
        assert caught.value.path == "app.rates.one.1"
        assembly = Wide()
        del Wide.clock
        runtime.activate(assembly)  # a method of Python's gets any integer, as it is


# ---- protocols and abstract classes --------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["graph", "lazy_singleton"])
def test_all_of_a_protocol_are_those_that_behave_as_it_says(scope: str) -> None:
    app = invivo.Assembly("app")
    for each in (Ticker, Radio, Slow):
        app.graph(each)
    getattr(app, scope)(Band)
    with invivo.Runtime(app) as runtime:
        band = runtime[Band]
        assert [type(each) for each in band.ticks] == [Ticker, Slow]
        assert {key: type(each) for key, each in band.named.items()} == {"app.ticker": Ticker, "app.slow": Slow}
        assert [type(each).__name__ for each in band.listens] == ["Radio"]
        assert isinstance(band.one, Radio)
        ticks: Any = Ticks
        assert [type(each) for each in runtime.resolve_all(ticks)] == [Ticker, Slow]
        assert isinstance(runtime.resolve_type(ticks, "slow"), Slow)

        class Late:
            def tick(self) -> int:
                return 4

        runtime.define(Late, "app.late")
        assert [type(each) for each in runtime[Band].ticks] == [Ticker, Slow, Late]


def test_all_of_what_nothing_is_is_an_empty_list() -> None:
    app = invivo.Assembly("app")
    app.graph(Lonely)
    with invivo.Runtime(app) as runtime:
        assert runtime[Lonely].friends == []
        runtime.define(Ticker, "app.ticker")
        assert [type(each) for each in runtime[Lonely].friends] == [Ticker]


@pytest.mark.parametrize(("cls", "says"), [(Listens, "lacks listen"), (Ticks, "a protocol")])
def test_what_is_abstract_is_no_definition(cls: type, says: str) -> None:
    app = invivo.Assembly("app")
    app.graph(cls, name="it")
    with pytest.raises(invivo.ArgumentError, match=says) as caught:
        invivo.Runtime(app)
    assert caught.value.path == "app.it"


def test_a_class_that_several_definitions_make_is_ambiguous() -> None:
    app = invivo.Assembly("app")
    app.graph(Clock)
    app.graph(Clock, name="other")
    with invivo.Runtime(app) as runtime, pytest.raises(invivo.AmbiguousError, match=r"app\.clock, app\.other"):
        runtime[Clock]


# ---- what can never be filled, or set ------------------------------------------------------------------


def test_a_member_says_all_that_its_constructor_needs() -> None:
    class Needy:
        def __init__(self, what: Any, other) -> None: ...  # type: ignore[no-untyped-def]

    class Wrong(invivo.Assembly):
        @invivo.graph
        def needy(self) -> Needy:
            return invivo.new(Needy, 3)  # type: ignore[call-arg]

    with pytest.raises(invivo.NotFoundError) as caught:
        invivo.Runtime(Wrong())
    assert caught.value.path == "wrong.needy.other"


@dataclasses.dataclass(frozen=True)
class Frozen:
    rate: int = 3


class Pair(NamedTuple):
    rate: int = 3


@pytest.mark.parametrize("cls", [Frozen, Pair])
def test_what_is_frozen_cannot_be_set(cls: Any) -> None:
    class Wrong(invivo.Assembly):
        @invivo.graph
        def it(self) -> Any:
            it = invivo.new(cls)
            it.rate = 5
            return it

    with pytest.raises(invivo.ReadOnlyError) as caught:
        invivo.Runtime(Wrong())
    assert "rate" in str(caught.value)
    assert caught.value.path == "wrong.it"


@dataclasses.dataclass
class Started:
    clock: dataclasses.InitVar[Clock]
    seen: Any = None

    def __post_init__(self, clock: Clock) -> None:
        self.seen = clock


def test_what_a_dataclass_takes_for_its_making_alone_is_injected() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.graph(Started)
    with invivo.Runtime(app) as runtime:
        assert runtime[Started].seen is runtime[Clock]


def test_a_factory_that_may_answer_none_says_so_by_its_annotation() -> None:
    def perhaps() -> Clock | None:
        return None

    class Holder:
        def __init__(self, clock: Clock | None) -> None:
            self.clock = clock

    app = invivo.Assembly("app")
    app.graph(perhaps)
    app.graph(Holder)
    with invivo.Runtime(app) as runtime:
        assert runtime[Holder].clock is None
        assert runtime.resolve_optional(Clock) is None


def test_a_name_that_is_only_asked_for_is_not_kept() -> None:
    def number(runtime: invivo.Runtime, name: bytes) -> int:
        core, key = runtime._open(), c.invivo_key()
        core.library.call("key_intern", core.handle, name, ctypes.byref(key))
        return key.bits & 0xFFFFFFFF  # keys are numbered without gaps

    app = invivo.Assembly("app")
    app.graph(Clock)
    with invivo.Runtime(app) as runtime:
        first = number(runtime, b"app.first")
        assert runtime.resolve_optional("app.missing") is None
        assert isinstance(runtime.resolve_optional("app.clock"), Clock)
        assert number(runtime, b"app.second") == first + 1
    with pytest.raises(invivo.ClosedError):
        runtime.resolve_optional("app.missing")


# ---- what nobody would wait for ------------------------------------------------------------------------


class Early:
    @invivo.on_start
    async def start(self) -> None: ...


class Later:
    async def begin(self) -> None: ...

    async def numbers(self) -> Any:
        yield 1


async def begin(later: Later) -> None: ...


@pytest.mark.parametrize("hook", ["begin", "numbers", begin, invivo.call("begin")])
def test_a_hook_is_no_coroutine(hook: Any) -> None:
    app = invivo.Assembly("app")
    app.graph(Later, options=invivo.options(after=hook))
    with pytest.raises(invivo.ArgumentError, match="asynchronous") as caught:
        invivo.Runtime(app)
    assert caught.value.file == __file__


def test_a_life_hook_is_no_coroutine() -> None:
    app = invivo.Assembly("app")
    app.graph(Early)
    with pytest.raises(invivo.ArgumentError, match=r"Early\.start\(\) is asynchronous"):
        invivo.Runtime(app)


@pytest.mark.parametrize("name", ["name", "definitions", "resolve"])
def test_a_member_has_no_name_that_every_assembly_has(name: str) -> None:
    def describe(self: Any) -> Clock:
        return invivo.new(Clock)

    with pytest.raises(invivo.ArgumentError, match=f"every assembly has a {name}"):
        type("Named", (invivo.Assembly,), {name: invivo.graph(describe)})


class Watch:
    def __init__(self, rate: int, name: str = "") -> None:
        self.rate, self.name = rate, name


@pytest.mark.parametrize(
    "thing",
    [
        lambda rate: rate + 1,
        lambda rate: 2 * rate,
        lambda rate: -rate,
        lambda rate: int(rate),
        lambda rate: 1 if rate == 3 else 2,
        lambda rate: 1 if rate != 3 else 2,
        lambda rate: 1 if rate > 3 else 2,
        lambda rate: 1 if rate in (3, 4) else 2,
        lambda rate: f"at {rate}",
        lambda rate: rate[0],
        lambda rate: len(rate),
    ],
)
def test_what_a_member_would_work_out_of_an_argument_is_refused(thing: Any) -> None:
    class Watches(invivo.Assembly):
        @invivo.prototype
        def watch(self, rate: int) -> Watch:
            return invivo.new(Watch, thing(rate))

    with pytest.raises(TypeError, match="<invivo recipe: the argument rate> is a recipe, not the object itself"):
        invivo.Runtime(Watches())


def test_a_class_in_the_place_of_an_assembly_is_told_so() -> None:
    class Watches(invivo.Assembly): ...

    with pytest.raises(invivo.WrongTypeError, match="make one of the class"):
        invivo.Runtime(Watches)  # type: ignore[arg-type]


@pytest.mark.parametrize("late", [invivo.Provider[list[Clock]], invivo.Lazy[list[Clock]]])
def test_all_of_a_type_from_a_provider_says_what_to_write_instead(late: Any) -> None:
    class Hall:
        def __init__(self, clocks: Any) -> None: ...

    Hall.__init__.__annotations__["clocks"] = late
    with invivo.Runtime() as runtime, pytest.raises(invivo.ArgumentError, match=r"ask it by resolve_all\(\.\.\.\)"):
        runtime.define(Hall, "a.hall")


def test_a_class_in_the_place_of_a_key_is_told_so() -> None:
    @invivo.prototype
    def clock(rate: int) -> Clock:
        return invivo.new(Clock, rate)

    says = "expected a string as the key, got .*Clock.*: the first argument is the definition, the second its key"
    with invivo.Runtime() as runtime:
        for what in ("app.clock", Clock, clock):
            with pytest.raises(invivo.ArgumentError, match=says):
                runtime.define(what, Clock)  # type: ignore[arg-type]


# ---- hooks, options and names ----------------------------------------------------------------------------


HOOKS = [
    invivo.on_prepare,
    invivo.on_start,
    invivo.on_stop,
    invivo.on_setup,
    invivo.on_teardown,
    invivo.on_refresh,
    invivo.on_finalize,
    invivo.will_inject,
    invivo.did_inject,
    invivo.takes_runtime,
    invivo.children,
    invivo.injection_key,
]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda each: each.__name__)
def test_two_methods_of_a_class_with_the_same_mark_are_refused(hook: Any) -> None:
    class Twice:
        @hook
        def first(self) -> None: ...

        @hook
        def second(self) -> None: ...  # the second hook

    class Derived(Twice): ...

    with invivo.Runtime() as runtime:
        for cls in (Twice, Derived):
            with pytest.raises(invivo.ArgumentError) as caught:
                runtime.define(cls, "a.twice")
            message = f"Twice.second() is marked by invivo.{hook.__name__}, as Twice.first() is"
            assert caught.value.message.startswith(message)
            assert caught.value.file == __file__
            assert caught.value.line in (line_of("# the second hook"), line_of("# the second hook") - 1)


def test_a_hook_may_be_replaced_in_a_subclass_renamed_and_wrapped() -> None:
    seen: list[str] = []

    class Base:
        @invivo.on_start
        def begin(self) -> None:
            seen.append("base")

        also = begin

        @functools.wraps(begin)
        def wrapped(self) -> None:
            self.begin()

    class Derived(Base):
        @invivo.on_start
        def go(self) -> None:
            seen.append("derived")

    with invivo.Runtime() as runtime:
        runtime.define(Base, "a.base")
        runtime.define(Derived, "a.derived")
        assert runtime["a.base"]
        assert seen == ["base"]
        assert runtime["a.derived"]
        assert seen == ["base", "derived"]


def test_options_that_are_no_options_are_refused() -> None:
    app = invivo.Assembly("app")
    given: Any = {"restart": True}
    with invivo.Runtime() as runtime, runtime.changes() as changes:
        for define in (app.singleton, runtime.define, changes.define):
            with pytest.raises(invivo.WrongTypeError, match=r"options=invivo\.options\(restart=True\)"):
                define(Clock, "clock", options=given)
    limited = invivo.options(start_timeout="soon")  # type: ignore[arg-type]
    with (
        invivo.Runtime() as runtime,
        pytest.raises(invivo.WrongTypeError, match="is a number of seconds, not 'soon'"),
    ):
        runtime.define(Clock, "a.clock", options=limited)


@pytest.mark.parametrize(
    "option", ["quiet", "settle_max", "commit_timeout", "stop_grace", "pin_max_age", "rule_timeout"]
)
def test_a_time_that_is_no_number_is_refused_with_the_name_of_the_option(option: str) -> None:
    given: Any = {option: "fast"}
    with pytest.raises(invivo.WrongTypeError, match=f"{option}: a time is a number of seconds, not 'fast'"):
        invivo.Runtime(**given)
    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.WrongTypeError, match=f"{option}: a time is a number of seconds, not 'fast'"):
            runtime.change_options(**given)
        with pytest.raises(invivo.WrongTypeError, match="a time is a number of seconds, not 'now'"):
            runtime.poll("now")  # type: ignore[arg-type]


def test_a_name_that_is_no_string_is_refused() -> None:
    wrong: Any = 3
    with invivo.Runtime() as runtime:
        for call in (
            lambda: runtime.mark(wrong),
            lambda: runtime.unmark(wrong),
            lambda: runtime.marked(wrong),
            lambda: runtime.source(wrong, ""),
            lambda: runtime.find_type(wrong),
        ):
            with pytest.raises(invivo.WrongTypeError, match="name is a str, not 3"):
                call()
        with pytest.raises(invivo.WrongTypeError, match="text is a str, not 3"):
            runtime.source("a.yaml", wrong)
