"""Graphs that are made by a plan: the same objects, rules and errors as a resolve gives, and nothing kept too long."""

from __future__ import annotations

import dataclasses
import enum
import functools
import gc
import random
import threading
import weakref
from typing import Any

import pytest

import invivo
from invivo._state import build_plans


class Clock:
    pass


class Tempo(enum.Enum):
    SLOW = 60
    FAST = 120


class Deck:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock


class Mixer:
    label: str = "none"
    lead: Deck | None = None

    def __init__(self, left: Deck, right: Deck, clock: Clock, *, level: float = 0.5) -> None:
        self.left, self.right, self.clock, self.level = left, right, clock, level


def is_planned(runtime: invivo.Runtime, key: str) -> bool:
    return runtime._core.plans.find(key) is not None


def planned(runtime: invivo.Runtime, key: Any, name: str) -> Any:
    """Resolves until there is a plan, and answers what that makes."""
    for _ in range(3):
        runtime[key]
    assert is_planned(runtime, name)
    return runtime[key]


def test_graph_scope_is_shared_within_what_a_plan_makes_and_not_beyond() -> None:
    app = invivo.Assembly("app")
    for cls in (Clock, Deck, Mixer):
        app.graph(cls)
    with invivo.Runtime(app) as runtime:
        one, two = planned(runtime, Mixer, "app.mixer"), runtime["app.mixer"]
        assert one.left is one.right
        assert one.left.clock is one.clock
        assert one.clock is not two.clock
        assert type(one) is Mixer
        assert one.level == 0.5


def test_a_prototype_is_made_for_each_reference() -> None:
    app = invivo.Assembly("app")
    app.prototype(Clock)
    app.prototype(Deck)
    app.prototype(Mixer, level=2)
    with invivo.Runtime(app) as runtime:
        mixer = planned(runtime, Mixer, "app.mixer")
        assert len({id(each) for each in (mixer.clock, mixer.left.clock, mixer.right.clock)}) == 3
        assert mixer.level == 2.0
        assert type(mixer.level) is float


def test_what_a_plan_makes_equals_what_a_resolve_makes() -> None:
    class Everything:
        def __init__(
            self,
            clock: Clock,
            numbers: list[int],
            decks: list[Deck],
            pair: tuple[Deck, ...],
            table: dict[str, Any],
            tempo: Tempo = Tempo.SLOW,
            nothing: str | None = "said",
            *,
            title: str = "plain",
            data: bytes = b"",
        ) -> None:
            self.all = (clock, numbers, decks, pair, table, tempo, nothing, title, data)

    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.prototype(Deck)
    app.graph(Deck, name="other")
    app.prototype(
        Everything,
        numbers=[1, 2, 3],
        table={"deck": invivo.ref("other"), "list": [1, [2]]},
        tempo=Tempo.FAST,
        title='a "name"\n',
        data=b"\0\1",
    )
    with invivo.Runtime(app) as runtime:

        def shape(thing: Any) -> Any:
            if isinstance(thing, (list, tuple)):
                return type(thing), [shape(each) for each in thing]
            if isinstance(thing, dict):
                return {name: shape(each) for name, each in thing.items()}
            return type(thing) if isinstance(thing, Deck) else thing

        slow = runtime[Everything]
        quick = planned(runtime, Everything, "app.everything")
        assert shape(slow.all) == shape(quick.all)
        again = runtime[Everything]
        assert quick.all[1] is not again.all[1], "a list is a fresh one for each object"
        assert quick.all[4]["list"][1] is not again.all[4]["list"][1]
        assert quick.all[2][1] is quick.all[4]["deck"], "shared within the graph"


def test_properties_factories_and_partials_are_planned() -> None:
    def make(clock: Clock, *, level: float) -> Mixer:
        return Mixer(Deck(clock), Deck(clock), clock, level=level)

    class App(invivo.Assembly):
        @invivo.lazy_singleton
        def clock(self) -> Clock:
            return invivo.new(Clock)

        @invivo.define
        def deck(self) -> Deck:
            return invivo.new(Deck, self.clock())

        @invivo.prototype
        def mixer(self) -> Mixer:
            mixer = invivo.new(make, self.clock(), level=0.25)
            mixer.label = "lead"
            mixer.lead = self.deck()
            return mixer

        @invivo.prototype
        def part(self) -> Mixer:
            return invivo.new(functools.partial(make, level=1.0), self.clock())

    with invivo.Runtime(app := App()) as runtime:
        mixer = planned(runtime, "app.mixer", "app.mixer")
        assert (mixer.label, mixer.level, mixer.clock) == ("lead", 0.25, app.clock())
        assert isinstance(mixer.lead, Deck)
        assert planned(runtime, "app.part", "app.part").level == 1.0


# ---- what a plan leaves to a resolve -------------------------------------------------------------------


def test_hooks_circles_and_weak_singletons_are_left_to_a_resolve() -> None:
    heard: list[str] = []

    class Hooked:
        @invivo.did_inject
        def ready(self) -> None:
            heard.append("ready")

    class Stopped:
        @invivo.on_stop
        def end(self) -> None:
            heard.append("end")

    class Left:
        right: Any

    class Right:
        left: Any

    class App(invivo.Assembly):
        @invivo.prototype
        def hooked(self) -> Hooked:
            return invivo.new(Hooked)

        @invivo.prototype
        def stopped(self) -> Stopped:
            return invivo.new(Stopped)

        @invivo.weak_singleton
        def weak(self) -> Clock:
            return invivo.new(Clock)

        @invivo.prototype
        def deck(self) -> Deck:
            return invivo.new(Deck, self.weak())

        @invivo.define
        def left(self) -> Left:
            left = invivo.new(Left)
            left.right = self.right()
            return left

        @invivo.define
        def right(self) -> Right:
            right = invivo.new(Right)
            right.left = self.left()
            return right

    with invivo.Runtime(App()) as runtime:
        for _ in range(12):
            for key in ("hooked", "stopped", "deck", "left"):
                runtime[f"app.{key}"]
        for key in ("hooked", "stopped", "deck", "left"):
            assert not is_planned(runtime, f"app.{key}")
        assert heard.count("ready") == 12
        assert heard.count("end") == 12
        left = runtime["app.left"]
        assert left.right.left is left


def test_a_constructor_that_resolves_shares_the_graph_it_is_made_in() -> None:
    class Asking:
        def __init__(self, runtime: invivo.Runtime, clock: Clock) -> None:
            self.deck, self.clock = runtime[Deck], clock

    app = invivo.Assembly("app")
    app.graph(Clock)
    app.graph(Deck)
    app.prototype(Asking)
    with invivo.Runtime(app) as runtime:
        for _ in range(20):
            runtime[Deck]
            asking = runtime[Asking]
            assert asking.deck.clock is asking.clock
        assert is_planned(runtime, "app.deck")
        assert not is_planned(runtime, "app.asking")


@pytest.mark.parametrize("swallows", [False, True])
def test_a_plan_is_given_up_when_a_constructor_uses_the_runtime_after_all(swallows: bool) -> None:
    asks = False

    class Sometimes:
        def __init__(self, clock: Clock) -> None:
            self.clock = clock
            self.deck: Deck | None = None
            if not asks:
                return
            try:
                self.deck = runtime[Deck]
            except BaseException:
                if not swallows:
                    raise

    app = invivo.Assembly("app")
    for cls in (Clock, Deck, Sometimes):
        app.graph(cls)
    with invivo.Runtime(app) as runtime:
        planned(runtime, Sometimes, "app.sometimes")
        asks = True
        for _ in range(12):
            found = runtime[Sometimes]
            assert found.deck is not None
            assert found.deck.clock is found.clock
        assert not is_planned(runtime, "app.sometimes")


def test_what_a_singleton_asks_for_while_it_is_built_is_an_edge_though_it_was_resolved_before() -> None:
    class Holder:
        def __init__(self, runtime: invivo.Runtime) -> None:
            self.clock = runtime[Clock]

    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.lazy_singleton(Holder)
    with invivo.Runtime(app) as runtime:
        clock = runtime[Clock]
        assert runtime[Holder].clock is clock
        runtime.define(Clock, "app.clock")
        assert runtime[Holder].clock is runtime[Clock] is not clock


# ---- following changes ---------------------------------------------------------------------------------


def test_a_plan_goes_with_its_generation_and_keeps_nothing_of_it() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.prototype(Deck)
    with invivo.Runtime(app) as runtime:
        clock = weakref.ref(planned(runtime, Deck, "app.deck").clock)
        stale = runtime._core.plans.ready[Deck]
        runtime.define(Clock, "app.clock")
        assert stale(runtime).clock is runtime[Clock], "another thread may have found it before"
        del stale
        assert clock() is None
        assert runtime[Deck].clock is runtime[Clock]
        assert planned(runtime, Deck, "app.deck").clock is runtime[Clock]

        class Dearer(Deck):
            pass

        with runtime.override("app.deck", Dearer):
            assert type(runtime[Deck]) is Dearer
            assert type(planned(runtime, Deck, "app.deck")) is Dearer
        assert type(runtime[Deck]) is Deck
        unrelated = runtime._core.plans
        planned(runtime, Deck, "app.deck")
        runtime.define(Mixer, "app.mixer", "prototype")
        assert unrelated.find("app.deck") is not None, "nothing that it names has changed"


def test_what_documents_say_for_a_part_of_the_graph_ends_its_plan() -> None:
    class Voice:
        gain: float = invivo.tunable(1.0)

    class Choir:
        def __init__(self, voice: Voice) -> None:
            self.voice = voice

    app = invivo.Assembly("app")
    app.prototype(Voice)
    app.graph(Choir)
    with invivo.Runtime(app) as runtime:
        assert planned(runtime, Choir, "app.choir").voice.gain == 1.0
        source = runtime.source("a.yaml", "{}")
        assert is_planned(runtime, "app.choir")
        source.update("traits: {app.voice: [{Set: {gain: 0.25}}]}")
        assert [runtime[Choir].voice.gain for _ in range(4)] == [0.25] * 4
        assert runtime["app.voice"].gain == 0.25
        source.update("{}")
        assert planned(runtime, Choir, "app.choir").voice.gain == 1.0
        with runtime.changes() as changes:
            changes.set("app.voice", "gain", 0.5)
        assert [runtime[Choir].voice.gain for _ in range(4)] == [0.5] * 4


def test_a_closed_runtime_keeps_nothing_and_makes_nothing() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.prototype(Deck)
    runtime = invivo.Runtime(app)
    clock = weakref.ref(planned(runtime, Deck, "app.deck").clock)
    runtime.close()
    assert clock() is None
    with pytest.raises(invivo.ClosedError):
        runtime[Deck]


def test_a_plan_is_not_kept_when_a_commit_comes_while_it_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.prototype(Deck)
    compiled = 0
    finish = build_plans.Writer.function

    def function(self: build_plans.Writer) -> Any:
        nonlocal compiled
        made = finish(self)
        compiled += 1
        if compiled == 1:
            runtime.define(Clock, "app.clock")
        return made

    monkeypatch.setattr(build_plans.Writer, "function", function)
    with invivo.Runtime(app) as runtime:
        plans = runtime._core.plans
        former = weakref.ref(runtime[Deck].clock)
        runtime[Deck]
        assert compiled == 1
        assert not plans.by_name
        assert not plans.ready
        assert former() is None, "the plan would keep what it names"
        assert planned(runtime, Deck, "app.deck").clock is runtime[Clock]


def test_a_plan_is_not_kept_when_a_commit_comes_before_it_is_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.prototype(Deck)
    served = 0
    serve = build_plans.Plans.serve

    def late(self: build_plans.Plans, key: Any, plan: build_plans.Plan, epoch: int) -> None:
        nonlocal served
        served += 1
        if served == 1:
            runtime.define(Clock, "app.clock")
        serve(self, key, plan, epoch)

    monkeypatch.setattr(build_plans.Plans, "serve", late)
    with invivo.Runtime(app) as runtime:
        plans = runtime._core.plans
        former = weakref.ref(runtime[Deck].clock)
        runtime[Deck]
        assert served == 1
        assert not plans.by_name
        assert not plans.ready
        assert former() is None, "the plan would keep what it names"
        assert planned(runtime, Deck, "app.deck").clock is runtime[Clock]


def test_a_class_that_means_another_key_is_not_served_by_the_plan_of_the_former(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.prototype(Deck, name="one")
    changes = False
    serve = build_plans.Plans.serve

    def late(self: build_plans.Plans, key: Any, plan: build_plans.Plan, epoch: int) -> None:
        nonlocal changes
        if changes:
            changes = False
            runtime.define(Deck, "app.other", "prototype", clock=other, options=invivo.options(rank=1))
        serve(self, key, plan, epoch)

    other = Clock()
    with invivo.Runtime(app) as runtime:
        planned(runtime, "app.one", "app.one")
        monkeypatch.setattr(build_plans.Plans, "serve", late)
        changes = True
        assert type(runtime[Deck]) is Deck
        assert is_planned(runtime, "app.one"), "what its key makes is as it was"
        assert runtime[Deck].clock is other


@pytest.mark.parametrize("argument", [False, True])
def test_a_plan_in_progress_is_not_closed_by_what_it_makes(argument: bool) -> None:
    refusals: list[str] = []
    closes = False

    class Closer:
        def __init__(self, clock: Clock, number: int = 0) -> None:
            if closes:
                with pytest.raises(invivo.InCallbackError) as caught:
                    runtime.close()
                refusals.append(caught.value.message)

    class App(invivo.Assembly):
        @invivo.lazy_singleton
        def clock(self) -> Clock:
            return invivo.new(Clock)

        @invivo.prototype
        def closer(self, number: int = 0) -> Closer:
            return invivo.new(Closer, self.clock(), number)

    def make() -> Closer:
        return app.closer(1) if argument else runtime["app.closer"]

    runtime = invivo.Runtime(app := App())
    for _ in range(4):
        make()
    assert is_planned(runtime, "app.closer")
    closes = True
    assert isinstance(make(), Closer)
    closes = False
    assert refusals
    assert all(refusals)
    assert not runtime.closed
    assert make() is not make()
    assert is_planned(runtime, "app.closer"), "a refused close leaves the plans as they were"
    runtime.close()
    with pytest.raises(invivo.ClosedError):
        make()


def test_close_waits_for_a_plan_on_another_thread() -> None:
    begun, go_on = threading.Event(), threading.Event()
    go_on.set()
    stopped: list[bool] = []

    class Service:
        @invivo.on_stop
        def stop(self) -> None:
            stopped.append(True)

    class Slow:
        def __init__(self, service: Service) -> None:
            begun.set()
            assert go_on.wait(30)
            self.was_stopped = bool(stopped)

    app = invivo.Assembly("app")
    app.lazy_singleton(Service)
    app.prototype(Slow)
    runtime = invivo.Runtime(app)
    planned(runtime, Slow, "app.slow")
    go_on.clear()
    begun.clear()
    found: list[Slow] = []
    maker = threading.Thread(target=lambda: found.append(runtime[Slow]))
    maker.start()
    assert begun.wait(30)
    closer = threading.Thread(target=runtime.close)
    closer.start()
    while not runtime._core.plans.over:
        threading.Event().wait(0.001)
    assert not stopped
    go_on.set()
    maker.join(30)
    closer.join(30)
    assert not found[0].was_stopped
    assert stopped == [True]


def test_a_close_that_a_callback_is_refused_leaves_plans_on() -> None:
    refused = 0

    class Closer:
        def __init__(self) -> None:
            nonlocal refused
            with pytest.raises(invivo.InCallbackError):
                runtime.close()
            refused += 1

    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.prototype(Deck)
    app.lazy_singleton(Closer)
    with invivo.Runtime(app) as runtime:
        assert runtime[Closer] is runtime[Closer]
        assert refused == 1
        planned(runtime, Deck, "app.deck")


def test_a_close_that_waits_in_vain_for_a_plan_leaves_plans_on(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    go_on.set()

    class Slow:
        def __init__(self) -> None:
            begun.set()
            assert go_on.wait(30)

    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.prototype(Deck)
    app.prototype(Slow)
    monkeypatch.setattr(build_plans, "_PATIENCE", 0.01)
    with invivo.Runtime(app) as runtime:
        planned(runtime, Slow, "app.slow")
        go_on.clear()
        begun.clear()
        found: list[Slow] = []
        maker = threading.Thread(target=lambda: found.append(runtime[Slow]))
        maker.start()
        assert begun.wait(30)
        with pytest.raises(invivo.BusyError, match="constructor that does not return"):
            runtime.close()
        assert not runtime.closed
        go_on.set()
        maker.join(30)
        assert len(found) == 1
        planned(runtime, Deck, "app.deck")


def test_no_graph_is_of_two_generations_while_another_thread_commits() -> None:
    class Part:
        def __init__(self, number: int) -> None:
            self.number = number

    class Pair:
        def __init__(self, one: Part, other: Part) -> None:
            self.numbers = one.number, other.number

    class Whole:
        def __init__(self, pair: Pair, one: Part, other: Part) -> None:
            self.numbers = {*pair.numbers, one.number, other.number}

    app = invivo.Assembly("app")
    one, other = invivo.ref("app.one"), invivo.ref("app.other")
    app.lazy_singleton(Part, name="one", number=0)
    app.prototype(Part, name="other", number=0)
    app.graph(Pair, one=one, other=other)
    app.prototype(Whole, one=one, other=other)
    over = threading.Event()
    mixed: list[set[int]] = []
    seen: set[int] = set()
    plans = 0

    def resolve() -> None:
        nonlocal plans
        while not over.is_set():
            for _ in range(8):
                numbers = runtime[Whole].numbers
                seen.update(numbers)
                if len(numbers) != 1:
                    mixed.append(numbers)
            plans += is_planned(runtime, "app.whole")

    with invivo.Runtime(app) as runtime:
        threads = [threading.Thread(target=resolve) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(1, 150):
            with runtime.changes() as changes:
                changes.define(Part, "app.one", number=number)
                changes.define(Part, "app.other", "prototype", number=number)
            while number not in seen:
                threading.Event().wait(0.0001)
        over.set()
        for thread in threads:
            thread.join(30)
        assert not mixed
        assert plans


# ---- errors --------------------------------------------------------------------------------------------


class Refused(Exception):
    pass


@pytest.mark.parametrize("kind", [ValueError, Refused, KeyError, "cause", "error", "type", "none", "set"])
def test_a_plan_fails_with_the_error_that_a_resolve_gives(kind: Any) -> None:
    fails = False

    class Inner:
        def __init__(self) -> None:
            if fails and kind == "cause":
                try:
                    raise OSError("under it")
                except OSError as problem:
                    raise RuntimeError("on top") from problem
            if fails and kind == "error":
                raise invivo.RangeError("out of range", path="a.b", file="x.yaml", line=3)
            if fails and isinstance(kind, type):
                raise kind("no")

        @property
        def level(self) -> int:
            return 1

        @level.setter
        def level(self, level: int) -> None:
            if fails and kind == "set":
                raise ValueError("not that")

    def inner() -> Inner:
        if fails and kind == "type":
            return 3  # type: ignore[return-value]
        if fails and kind == "none":
            return None  # type: ignore[return-value]
        return Inner()

    class Middle:
        def __init__(self, inner: Inner) -> None: ...

    class Outer:
        def __init__(self, middle: Middle) -> None: ...

    app = invivo.Assembly("app")
    app.prototype(inner, level=2)
    app.graph(Middle)
    app.prototype(Outer)

    def told(runtime: invivo.Runtime) -> tuple[Any, ...]:
        with pytest.raises(invivo.Error) as caught:
            runtime[Outer]
        error = caught.value
        under = []
        cause = error.cause
        while cause is not None:
            under.append((type(cause), str(cause)))
            cause = cause.cause
        origin = type(error.__cause__), str(error.__cause__)
        return type(error), error.code, str(error), error.path, error.file, error.line, under, origin

    with invivo.Runtime(app) as runtime:
        runtime[Outer]
        fails = True
        slow = told(runtime)
        fails = False
        planned(runtime, Outer, "app.outer")
        fails = True
        assert told(runtime) == slow
        assert is_planned(runtime, "app.outer")
        fails = False
        assert isinstance(runtime[Outer], Outer)
        assert not runtime._core.activity.planning


def test_an_interruption_goes_through_a_plan() -> None:
    stops = False

    class Stopping:
        def __init__(self) -> None:
            if stops:
                raise KeyboardInterrupt

    app = invivo.Assembly("app")
    app.prototype(Stopping)
    with invivo.Runtime(app) as runtime:
        planned(runtime, Stopping, "app.stopping")
        stops = True
        with pytest.raises(KeyboardInterrupt):
            runtime[Stopping]
        assert not runtime._core.activity.planning


# ---- runtime arguments ---------------------------------------------------------------------------------


@dataclasses.dataclass
class Quest:
    name: str = "grail"


class Knight:
    def __init__(self, quest: Quest, name: str, age: int, clock: Clock, luck: float = 0.5) -> None:
        self.quest, self.name, self.age, self.clock, self.luck = quest, name, age, clock, luck


class Camelot(invivo.Assembly):
    @invivo.lazy_singleton
    def clock(self) -> Clock:
        return invivo.new(Clock)

    @invivo.prototype
    def knight(self, quest: Quest, name: str = "Lancelot", age: int = 30) -> Knight:
        return invivo.new(Knight, quest, name, age, self.clock())


def test_runtime_arguments_reach_a_plan() -> None:
    with invivo.Runtime(camelot := Camelot()) as runtime:
        quest = Quest()
        for _ in range(4):
            knight = camelot.knight(quest)
            assert (knight.quest, knight.name, knight.age, knight.luck) == (quest, "Lancelot", 30, 0.5)
        assert is_planned(runtime, "camelot.knight")
        knight = camelot.knight(quest, age=7, name="é")
        assert (knight.quest, knight.name, knight.age, knight.clock) == (quest, "é", 7, camelot.clock())
        assert runtime.resolve("camelot.knight", quest, "Ann", 1).name == "Ann"
        assert runtime.resolve(Knight, quest, name="Ann").name == "Ann"


@pytest.mark.parametrize(
    "arguments",
    [(3, "a", 1), (Quest(), 3, 1), (Quest(), "a", "b"), (Quest(), "a", 1 << 70), (Quest(), "a", 1.5), (None, "a", 1)],
)
def test_a_wrong_argument_is_refused_by_a_plan_as_by_a_resolve(arguments: tuple[Any, ...]) -> None:
    with invivo.Runtime(camelot := Camelot()) as runtime:

        def told() -> tuple[Any, ...]:
            with pytest.raises(invivo.Error) as caught:
                camelot.knight(*arguments)
            return type(caught.value), str(caught.value)

        slow = told()
        for _ in range(4):
            camelot.knight(Quest())
        assert is_planned(runtime, "camelot.knight")
        assert told() == slow


class Limit:
    def __init__(self, quest: Quest, number: int = 0, anything: Any = 0) -> None:
        self.number, self.anything = number, anything


class Limits(invivo.Assembly):
    @invivo.prototype
    def limit(self, quest: Quest, number: int = 0, anything: Any = 0) -> Limit:
        return invivo.new(Limit, quest, number, anything)


@pytest.mark.parametrize("number", [-(1 << 63) - 1, -(1 << 63), (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64])
def test_integers_at_the_limits_reach_a_plan_as_they_reach_a_resolve(number: int) -> None:
    def told(*arguments: Any) -> tuple[Any, ...]:
        try:
            limit = limits.limit(Quest(), *arguments)
        except invivo.Error as problem:
            return type(problem), str(problem)
        return limit.number, limit.anything

    with invivo.Runtime(limits := Limits()) as runtime:
        slow = told(number), told(0, number)
        for _ in range(4):
            limits.limit(Quest())
        assert is_planned(runtime, "limits.limit")
        assert (told(number), told(0, number)) == slow
    fits = -(1 << 63) <= number < 1 << 63
    assert (slow[0] == (number, 0)) == fits
    assert slow[1] == (0, number) or not fits


def test_a_plan_with_arguments_goes_with_its_generation() -> None:
    with invivo.Runtime(camelot := Camelot()) as runtime:
        plans = runtime._core.plans
        for _ in range(4):
            camelot.knight(Quest())
        stale = plans.taking["camelot.knight"]
        clock = weakref.ref(camelot.clock())
        with runtime.changes() as changes:
            changes.define(Clock, "camelot.clock")
        assert not stale.holds
        assert "camelot.knight" not in plans.taking
        made = stale.make(runtime, Quest(), "Ann", 1)  # as another thread does that has found it before
        assert made.clock is runtime[Clock]
        assert "camelot.knight" not in plans.taking
        del stale
        assert clock() is None
        ways = (
            lambda: camelot.knight(Quest(), "Ann", 1),
            lambda: runtime.resolve("camelot.knight", Quest(), "Ann", 1),
            lambda: runtime.resolve(Knight, Quest(), "Ann", 1),
        )
        assert all(way().clock is runtime[Clock] for way in ways)


# ---- random graphs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_plans_and_resolves_make_graphs_of_one_shape(seed: int) -> None:
    chance = random.Random(seed)
    app = invivo.Assembly("app")
    count = 14

    class Node:
        def __init__(self, *parts: Any) -> None:
            self.parts = parts

    classes: list[type] = []
    scopes = {}
    for number in range(count):
        names = [f"p{place}" for place in range(chance.randrange(4))]
        space: dict[str, Any] = {"Node": Node, "Any": Any}
        parameters = "".join(f", {name}: Any = None" for name in names)
        exec(
            f"class N{number}(Node):\n"
            f"    def __init__(self{parameters}): self.parts = ({''.join(f'{n}, ' for n in names)})",
            space,
        )
        cls = space[f"N{number}"]
        scope = chance.choice(["prototype", "graph", "graph", "lazy_singleton"])
        given = {
            name: chance.choice([invivo.ref(f"app.n{chance.randrange(number)}"), number]) if number else number
            for name in names
        }
        getattr(app, scope)(cls, name=f"n{number}", **given)
        scopes[cls] = scope
        classes.append(cls)

    def shape(thing: Any, seen: dict[int, int], shared: dict[int, Any]) -> Any:
        if not isinstance(thing, Node):
            return thing
        if scopes[type(thing)] == "lazy_singleton":
            return type(thing), id(thing)
        known = seen.setdefault(id(thing), len(seen))
        return type(thing), known, [shape(each, seen, shared) for each in thing.parts]

    with invivo.Runtime(app) as runtime:
        for number in range(count):
            key = f"app.n{number}"
            slow = runtime[key]
            expected = shape(slow, {}, {})
            for _ in range(3):
                assert shape(runtime[key], {}, {}) == expected, f"seed {seed}, {key}"
            assert scopes[type(slow)] == "lazy_singleton" or is_planned(runtime, key)


def test_many_graphs_leave_nothing() -> None:
    app = invivo.Assembly("app")
    for cls in (Clock, Deck, Mixer):
        app.graph(cls)
    with invivo.Runtime(app) as runtime:
        planned(runtime, Mixer, "app.mixer")
        gc.collect()
        before = vars(invivo.live()), runtime.info.objects
        for _ in range(50_000):
            runtime[Mixer]
        assert (vars(invivo.live()), runtime.info.objects) == before
