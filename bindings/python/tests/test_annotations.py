"""Wiring from annotations: names, optionals, lists, providers, lazies, and attributes that ask to be filled."""

from __future__ import annotations

import abc
import gc
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Optional, Protocol, runtime_checkable

import pytest

import invivo
from invivo import Inject, Lazy, Named, Provider, Weak


class Clock:
    def __init__(self, rate: int = 1) -> None:
        self.rate = rate


class FineClock(Clock): ...


class Missing: ...


def app_of(*classes: Any) -> invivo.Assembly:
    app = invivo.Assembly("app")
    for cls in classes:
        app.lazy_singleton(cls)
    return app


def test_names_in_annotations_are_keys() -> None:
    class Player:
        def __init__(self, clock: Annotated[Clock, Named("b")], other: Annotated[Any, Named("far.thing")]) -> None:
            self.clock, self.other = clock, other

    far = invivo.Assembly("far")
    far.lazy_singleton(Clock, name="thing", rate=3)
    app = app_of(Player)
    app.lazy_singleton(Clock, name="a")
    app.lazy_singleton(Clock, name="b", rate=2)
    with invivo.Runtime(app, far) as runtime:
        assert (runtime[Player].clock.rate, runtime[Player].other.rate) == (2, 3)


def test_an_optional_is_none_until_something_makes_one() -> None:
    class Player:
        clock: Optional[Clock] = invivo.injected()  # noqa: UP045

        def __init__(self, first: Clock | None) -> None:
            self.first = first

    with invivo.Runtime(app_of(Player)) as runtime:
        player = runtime[Player]
        assert player.first is player.clock is None
        runtime.define(Clock, "app.clock")
        assert runtime[Player].first is runtime[Clock]
        assert runtime[Player].clock is runtime[Clock]


def test_a_list_is_all_of_a_type_by_rank_then_as_declared() -> None:
    class Player:
        def __init__(
            self,
            clocks: list[Clock],
            some: Sequence[Clock],
            fixed: tuple[Clock, ...],
            none: list[Missing],
            numbers: Iterable[int] = (),
        ) -> None:
            self.clocks, self.some, self.fixed, self.none, self.numbers = clocks, some, fixed, none, numbers

    app = app_of(Player)
    app.lazy_singleton(Clock, name="a", rate=1)
    app.lazy_singleton(FineClock, name="b", rate=2)
    app.lazy_singleton(Clock, name="c", rate=3, options=invivo.options(rank=5))
    with invivo.Runtime(app) as runtime:
        player = runtime[Player]
        assert [clock.rate for clock in player.clocks] == [3, 1, 2]
        assert player.some == player.clocks
        assert player.fixed == tuple(player.clocks)
        assert player.none == []
        assert player.numbers == ()
        runtime.define(Clock, "other.clock", rate=4)
        assert [clock.rate for clock in runtime[Player].clocks] == [3, 1, 2, 4]


def test_providers_make_each_time_and_lazies_wait() -> None:
    made: list[int] = []

    class Voice:
        def __init__(self, note: int = 0) -> None:
            made.append(note)
            self.note = note

    class Engine:
        def __init__(self) -> None:
            made.append(-1)

    class Player:
        def __init__(
            self,
            voice: Provider[Voice],
            same: Annotated[Callable[[int], Voice], Named("tuned")],
            engine: Lazy[Engine],
            named: Annotated[Provider[Any], Named("voice")],
            inner: Provider[Annotated[Voice, Named("app.voice")]],
            missing: Provider[Missing] | None,
            plain: Callable[[int], int] = abs,
        ) -> None:
            self.voice, self.same, self.engine, self.named, self.inner = voice, same, engine, named, inner
            self.missing, self.plain = missing, plain

    @invivo.prototype(hidden=True)
    def tuned(note: int) -> Voice:
        return invivo.new(Voice, note)

    app = app_of(Player, Engine)
    app.prototype(Voice)
    app.define(tuned)
    with invivo.Runtime(app) as runtime:
        player = runtime[Player]
        assert made == []
        assert player.voice() is not player.voice()
        assert player.same(7).note == 7
        with pytest.raises(invivo.ArityError, match="declares no runtime arguments"):
            player.voice(7)
        assert player.named().note == player.inner().note == 0
        assert -1 not in made
        assert player.engine.value is player.engine() is runtime[Engine]
        assert player.missing is None
        assert player.plain(-3) == 3
        runtime.define(Engine, "app.engine")
        assert runtime[Player] is player, "who holds a lazy is left alone"
        assert player.engine.value is runtime[Engine]


def test_a_weak_reference_answers_what_there_is() -> None:
    class Voice: ...

    class Player:
        marked: Weak[Clock] = invivo.injected()

        def __init__(
            self,
            voice: Weak[Voice],
            clock: Weak[Clock],
            named: Annotated[Weak[Any], Named("clock")],
            missing: Weak[Missing] | None,
        ) -> None:
            self.voice, self.clock, self.named, self.missing = voice, clock, named, missing

    app = app_of(Player, Clock)
    app.weak_singleton(Voice)
    with invivo.Runtime(app) as runtime:
        player = runtime[Player]
        assert player.missing is None
        assert player.clock() is player.named() is player.marked() is None
        clock = runtime[Clock]
        assert player.clock() is player.named() is player.marked() is clock
        assert player.voice() is None
        voice = runtime[Voice]
        assert player.voice() is voice
        del voice
        gc.collect()
        assert player.voice() is None, "it holds nothing"
    with pytest.raises(invivo.errors.ClosedError):
        player.clock()


def test_a_weak_reference_in_a_definition() -> None:
    class Studio(invivo.Assembly):
        @invivo.weak_singleton
        def voice(self, note: int) -> Clock:
            return invivo.new(Clock, note)

        @invivo.lazy_singleton
        def player(self) -> Held:
            return invivo.new(Held, invivo.weak(self.voice(3)))

    with invivo.Runtime(Studio("studio")) as runtime:
        held = runtime.resolve("studio.player")
        assert held.thing() is None
        voice = runtime.resolve("studio.voice", 3)
        assert held.thing() is voice
        assert runtime.resolve("studio.player") is held


def test_a_weak_reference_to_what_is_never_shared_is_refused() -> None:
    class Player:
        def __init__(self, clock: Weak[Clock]) -> None:
            self.clock = clock

    app = app_of(Player)
    app.prototype(Clock)
    with pytest.raises(invivo.errors.ArgumentError, match="use a provider"):
        invivo.Runtime(app)
    with pytest.raises(TypeError, match="comes from a runtime"):
        Weak()()


class Held:
    def __init__(self, thing: Any) -> None:
        self.thing = thing


def test_the_runtime_a_resolver_and_the_asker_can_be_asked_for() -> None:
    class Logger:
        def __init__(self, who: Annotated[str | None, invivo.Asker]) -> None:
            self.who = who

    class Player:
        def __init__(self, runtime: invivo.Runtime, resolve: invivo.Resolver, logger: Logger) -> None:
            self.runtime, self.resolve, self.logger = runtime, resolve, logger

    class Other:
        def __init__(self, logger: Logger) -> None:
            self.logger = logger

    with invivo.Runtime(app_of(Logger, Player, Other, Clock)) as runtime:
        player = runtime[Player]
        assert player.runtime is runtime
        assert player.resolve("app.clock") is runtime[Clock]
        assert player.logger.who == "app.player"
        assert runtime[Other].logger.who == "app.other"


def test_any_callable_makes_what_its_annotation_says() -> None:
    class Maker:
        def __call__(self, clock: Clock) -> FineClock:
            return FineClock(clock.rate + 1)

    app = invivo.Assembly("app")
    app.lazy_singleton(Clock, name="plain")
    app.lazy_singleton(Maker().__call__, name="fine", clock=invivo.ref("plain"))
    with invivo.Runtime(app) as runtime:
        assert runtime[FineClock].rate == 2


# ---- interfaces ----------------------------------------------------------------------------------------


class Ticking(Protocol):
    rate: int


@runtime_checkable
class Ringing(Protocol):
    def ring(self) -> str: ...


class Source(abc.ABC):
    @abc.abstractmethod
    def read(self) -> int: ...


class File(Source):
    def read(self) -> int:
        return 1


class Bell:
    def ring(self) -> str:
        return "ding"


class Registered: ...


Source.register(Registered)


def test_classes_protocols_and_abstract_classes_are_looked_for() -> None:
    class Metronome(Ticking):
        rate: int = 9

    class Player:
        def __init__(self, ticking: Ticking, ringing: Ringing, source: Source) -> None:
            self.ticking, self.ringing, self.source = ticking, ringing, source

    with invivo.Runtime(app_of(Metronome, Bell, File, Player)) as runtime:
        player = runtime[Player]
        assert player.ticking.rate == 9
        assert player.ringing.ring() == "ding"
        assert player.source.read() == 1
        assert runtime[Ticking] is player.ticking  # type: ignore[type-abstract]
        assert runtime.resolve_type(Source) is player.source  # type: ignore[type-abstract]
    with invivo.Runtime(app_of(Registered)) as runtime:
        assert type(runtime[Source]) is Registered  # type: ignore[type-abstract]


# ---- attributes ----------------------------------------------------------------------------------------


def test_sets_and_maps_are_all_of_a_type_too() -> None:
    class Player:
        marked: dict[str, Clock] = invivo.injected()

        def __init__(
            self, some: set[Clock], fixed: frozenset[Clock], by_key: dict[str, Clock], none: set[Missing]
        ) -> None:
            self.some, self.fixed, self.by_key, self.none = some, fixed, by_key, none

    class Given:
        def __init__(self, clocks: dict[str, Clock], others: set[Clock], numbers: dict[str, int]) -> None:
            self.clocks, self.others, self.numbers = clocks, others, numbers

    app = app_of(Clock, Player)
    app.lazy_singleton(FineClock, name="fine", rate=2)
    fine = invivo.ref("app.fine")
    app.lazy_singleton(Given, clocks={"it": fine}, others={fine}, numbers={"one": 1})
    with invivo.Runtime(app) as runtime:
        clock, precise = runtime["app.clock"], runtime["app.fine"]
        player = runtime[Player]
        assert player.some == {clock, precise}
        assert (player.fixed, player.none) == (frozenset((clock, precise)), set())
        assert player.by_key == player.marked == {"app.clock": clock, "app.fine": precise}
        given = runtime[Given]
        assert (given.clocks, given.others, given.numbers) == ({"it": precise}, {precise}, {"one": 1})
        runtime.define(Clock, "app.late")
        assert runtime[Player].by_key["app.late"] is runtime["app.late"]
        assert runtime[Player].marked.keys() == {"app.clock", "app.fine", "app.late"}


class Marked:
    clock: Clock = invivo.injected()
    _hidden: Annotated[Clock, Inject("app.fine")]
    clocks: list[Clock] = invivo.injected()
    make: Provider[Clock] = invivo.injected("app.fine")
    later: Lazy[Clock] = invivo.injected(key="fine")
    maybe: Missing | None = invivo.injected()


def marked_app() -> invivo.Assembly:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.lazy_singleton(FineClock, name="fine", rate=2)
    return app


def check(marked: Marked, runtime: invivo.Runtime) -> None:
    fine = runtime["app.fine"]
    assert marked.clock is runtime["app.clock"]
    assert marked._hidden is fine
    assert marked.clocks == [runtime["app.clock"], fine]
    assert marked.make() is fine
    assert marked.later.value is fine
    assert marked.maybe is None


def test_marked_attributes_are_filled() -> None:
    app = marked_app()
    app.lazy_singleton(Marked)
    with invivo.Runtime(app) as runtime:
        check(runtime[Marked], runtime)


def test_marked_attributes_are_filled_without_a_definition_too() -> None:
    with invivo.Runtime(marked_app()) as runtime:
        runtime.define(Clock, "app.other", options=invivo.options(hidden=True))
        marked = Marked()
        # Its keys name no assembly: by "fine" alone nothing is found.
        with pytest.raises(invivo.NotFoundError, match="fine"):
            runtime.inject(marked)
        runtime.define(FineClock, "fine", rate=3, options=invivo.options(hidden=True))
        runtime.inject(marked)
        assert marked.later.value.rate == 3
        assert runtime.find_type("Clock") is not None
        assert runtime.type(Marked)().clock is runtime["app.clock"], "nor does it need one when the type makes it"
        with pytest.raises(invivo.NotFoundError):
            runtime.inject(Missing())


def test_what_a_definition_says_wins_over_the_mark() -> None:
    app = marked_app()
    app.lazy_singleton(Marked, clock=invivo.ref("fine"))
    with invivo.Runtime(app) as runtime:
        assert runtime[Marked].clock is runtime["app.fine"]


def test_filling_marked_attributes_can_be_turned_off() -> None:
    app = marked_app()
    app.lazy_singleton(Marked)
    with invivo.Runtime(app, inject_marked=False) as runtime, pytest.raises(invivo.NotReadyError):
        _ = runtime[Marked].clock


def test_a_greedy_mark_takes_a_better_candidate_that_comes_later_and_others_stay() -> None:
    class Player:
        kept: Clock = invivo.injected()
        greedy: Clock = invivo.injected(greedy=True)

    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.lazy_singleton(Player)
    with invivo.Runtime(app) as runtime:
        player = runtime[Player]
        runtime.define(FineClock, "app.fine", options=invivo.options(rank=3))
        assert runtime[Player] is player
        assert player.kept is runtime["app.clock"]
        assert player.greedy is runtime["app.fine"]
        with runtime.changes() as changes:
            changes.remove("app.clock")
        assert player.kept is runtime["app.fine"], "without its target it takes the other"


class Node:
    later: Lazy[Leaf] = invivo.injected()


class Leaf:
    node: Node = invivo.injected()


@pytest.mark.parametrize("leaf", ["prototype", "graph", "lazy_singleton", "weak_singleton"])
def test_a_circle_through_a_lazy_ends_with_its_replacement(leaf: str) -> None:
    def describe() -> invivo.Assembly:
        app = invivo.Assembly("app")
        app.lazy_singleton(Node)
        getattr(app, leaf)(Leaf)
        return app

    with invivo.Runtime(describe()) as runtime:
        former = []
        for _ in range(20):
            node = runtime[Node]
            assert node.later.value is node.later.value
            assert node.later.value.node is node
            former += [weakref.ref(node), weakref.ref(node.later.value)]
            del node
            runtime.reset(Node)
            runtime.reset(Leaf)
        gc.collect()
        assert [each() for each in former] == [None] * len(former)


def test_an_annotation_that_is_missing_or_names_nothing_is_named() -> None:
    class Wants:
        def __init__(self, bare, clock: Clok) -> None: ...  # type: ignore[no-untyped-def, name-defined]  # noqa: F821

    app = invivo.Assembly("app")
    app.lazy_singleton(Wants)
    with pytest.raises(invivo.NotFoundError) as told:
        invivo.Runtime(app)
    assert "wants 'bare', and it has no annotation" in str(told.value)
    assert "wants 'clock', and its annotation 'Clok' names nothing that is known" in str(told.value)


def test_what_is_missing_behind_a_deferred_reference_is_no_runtime_argument() -> None:
    class Missing: ...

    for annotation in (invivo.Lazy[Missing], invivo.Provider[Missing], invivo.Weak[Missing], Callable[[], Missing]):

        class Wants:
            def __init__(self, later: Any) -> None: ...

        Wants.__init__.__annotations__["later"] = annotation
        app = invivo.Assembly("app")
        app.prototype(Wants)
        with pytest.raises(invivo.NotFoundError, match="'later' needs a 'Missing', and no definition creates one"):
            invivo.Runtime(app)
