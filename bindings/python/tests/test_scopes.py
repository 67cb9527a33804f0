"""Scopes, parents, hooks and lookups of definitions, seen from Python."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

import invivo


class Fort:
    def __init__(self, towers: int = 1) -> None:
        self.towers = towers


class Castle(Fort):
    name: str = "castle"


class Quest:
    fort: Fort


class Knight:
    fort: Fort
    quest: Quest
    name: str = "nobody"
    number: int = 0
    child: Knight

    def __init__(self, fort: Any = None) -> None:
        self.given = fort

    def greet(self) -> None: ...


class Scopes(invivo.Assembly):
    @invivo.graph
    def shared(self) -> Fort:
        return invivo.new(Fort)

    @invivo.prototype
    def fresh(self) -> Fort:
        return invivo.new(Fort)

    @invivo.weak_singleton
    def weak(self) -> Fort:
        return invivo.new(Fort)

    @invivo.define
    def quest(self) -> Quest:
        quest = invivo.new(Quest)
        quest.fort = self.shared()
        return quest

    @invivo.prototype
    def knight(self) -> Knight:
        knight = invivo.new(Knight)
        knight.fort = self.shared()
        knight.quest = self.quest()
        return knight

    @invivo.prototype
    def holder(self) -> Knight:
        return invivo.new(Knight, self.weak())

    @invivo.lazy_singleton
    def for_each(self, towers: int, owner: Any = None) -> Fort:
        return invivo.new(Fort, towers)

    @invivo.prototype
    def parent(self) -> Knight:
        parent = invivo.new(Knight)
        parent.child = self.child()
        return parent

    @invivo.prototype
    def child(self) -> Knight:
        child = invivo.new(Knight)
        child.child = self.parent()
        return child


def test_graph_scope_is_one_for_each_outermost_resolve() -> None:
    with invivo.Runtime(scopes := Scopes()):
        one, other = scopes.knight(), scopes.knight()
        assert one.fort is one.quest.fort
        assert one.fort is not other.fort
        assert scopes.fresh() is not scopes.fresh()


def test_a_prototype_referred_to_from_inside_its_making_is_itself() -> None:
    with invivo.Runtime(scopes := Scopes()):
        parent = scopes.parent()
        assert parent.child.child is parent
        assert scopes.parent() is not parent


def test_shared_objects_are_kept_for_each_set_of_arguments() -> None:
    with invivo.Runtime(scopes := Scopes()) as runtime:
        owner, other = Knight(), Knight()
        assert scopes.for_each(3) is scopes.for_each(towers=3)
        assert scopes.for_each(3) is not scopes.for_each(4)
        assert scopes.for_each(3, owner) is scopes.for_each(3, owner)
        assert scopes.for_each(3, owner) is not scopes.for_each(3, other)
        assert runtime.resolve("scopes.for_each", 3) is scopes.for_each(3)
        assert scopes.for_each(4).towers == 4
        assert scopes.for_each(3, len) is scopes.for_each(3, len)
        assert scopes.for_each(3, owner.greet) is scopes.for_each(3, owner.greet)
        assert scopes.for_each(3, owner.greet) is not scopes.for_each(3, other.greet)
    app = invivo.Assembly("app")

    class Eager(invivo.Assembly):
        @invivo.singleton
        def fort(self, towers: int) -> Fort:
            return invivo.new(Fort, towers)

    with pytest.raises(invivo.ArityError, match="an eager singleton takes no runtime arguments"):
        invivo.Runtime(app, Eager())


# ---- weak singletons -----------------------------------------------------------------------------------


def test_a_weak_singleton_lives_as_long_as_somebody_holds_it() -> None:
    with invivo.Runtime(scopes := Scopes()) as runtime:
        one = scopes.weak()
        assert scopes.weak() is one is runtime["scopes.weak"]
        gone, number = weakref.ref(one), id(one)
        del one
        assert gone() is None, "neither the cache nor the runtime holds it"
        again = scopes.weak()
        assert again is scopes.weak()
        del number


@pytest.mark.parametrize("kind", ["class", "annotated factory"])
def test_defining_something_else_keeps_no_local_variable_of_the_caller_alive(kind: str) -> None:
    class Local:
        pass

    def make() -> Local:  # a name that only the local variables resolve
        return Local()

    app = invivo.Assembly("app")
    app.weak_singleton(Fort)
    with invivo.Runtime(app) as runtime:
        held = runtime[Fort]
        former = weakref.ref(held)
        runtime.define(Fort if kind == "class" else make, "app.other")
        assert type(runtime["app.other"]) is (Fort if kind == "class" else Local)
        del held
        gc.collect()
        assert former() is None


def test_a_callers_own_snapshot_of_its_variables_stays_as_it_is() -> None:
    class Local:
        pass

    def make() -> Local:
        return Local()

    with invivo.Runtime() as runtime:
        variables = locals()
        runtime.define(make, "app.other")
        assert variables["runtime"] is runtime


def test_a_weak_singleton_that_only_another_object_holds_is_still_the_same() -> None:
    with invivo.Runtime(scopes := Scopes()):
        holder = scopes.holder()
        gc.collect()
        assert scopes.weak() is holder.given
        assert scopes.holder().given is holder.given
        gone = weakref.ref(holder.given)
        del holder
        gc.collect()
        assert gone() is None


def test_a_resolve_that_races_with_the_last_release_gets_a_live_object() -> None:
    made = []

    class Counted:
        def __init__(self) -> None:
            made.append(1)
            self.alive = True

    app = invivo.Assembly("app")
    app.weak_singleton(Counted)
    with invivo.Runtime(app) as runtime:
        problems: list[Any] = []

        def look() -> None:
            for _ in range(300):
                if not runtime[Counted].alive:
                    problems.append("dead")

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems
        kept = [runtime[Counted] for _ in range(10)]
        assert len({id(each) for each in kept}) == 1


def test_what_has_no_weak_references_cannot_be_a_weak_singleton() -> None:
    class Slim:
        __slots__ = ("x",)

    app = invivo.Assembly("app")
    app.weak_singleton(Slim)
    with pytest.raises(invivo.ArgumentError, match="__weakref__"):
        invivo.Runtime(app)


def test_the_cache_keeps_nothing_of_a_closed_runtime_alive() -> None:
    class App(invivo.Assembly):
        @invivo.lazy_singleton
        def fort(self) -> Fort:
            return invivo.new(Fort)

    runtime = invivo.Runtime(app := App())
    gone = weakref.ref(app.fort())
    assert runtime["app.fort"] is gone()
    runtime.close()
    gc.collect()
    assert gone() is None
    with pytest.raises(invivo.ClosedError):
        app.fort()


# ---- parents -------------------------------------------------------------------------------------------


class Parents(invivo.Assembly):
    @invivo.lazy_singleton(abstract=True)
    def base(self) -> Knight:
        base = invivo.new(Knight, self.fort())
        base.name = "base"
        base.number = 12
        return base

    @invivo.graph
    def fort(self) -> Fort:
        return invivo.new(Fort)

    @invivo.define
    def middle(self) -> Knight:
        middle = invivo.child(self.base())
        middle.quest = invivo.new(Quest)
        return middle

    @invivo.define
    def last(self) -> Knight:
        last = invivo.child(self.middle())
        last.number = 346
        return last

    @invivo.prototype
    def other(self) -> Squire:
        return invivo.child(self.base(), Squire)

    @invivo.prototype
    def given(self) -> Knight:
        return invivo.child(self.base(), fort=invivo.new(Fort, 8))


class Squire(Knight): ...


def test_a_child_takes_over_from_its_parents_and_overrides_by_name() -> None:
    with invivo.Runtime(parents := Parents()) as runtime:
        last, middle = parents.last(), parents.middle()
        assert last is parents.last(), "the scope came from the base"
        assert (last.name, last.number, middle.number) == ("base", 346, 12)
        assert type(last.given) is Fort
        assert type(middle.quest) is Quest
        assert type(parents.other()) is Squire
        assert parents.other().name == "base"
        given = parents.given().given
        assert given is not None
        assert given.towers == 8
        with pytest.raises(invivo.AbstractError, match=r"'parents\.base', scope lazy singleton"):
            parents.base()
        assert len(runtime.resolve_all(Knight)) == 4, "abstract ones are no candidates"


# ---- hooks ---------------------------------------------------------------------------------------------


class Traced:
    left: Traced | None = None
    number: int = invivo.tunable(0)

    def __init__(self, name: str) -> None:
        self.name = name
        self.said: list[str] = trace
        self.say("init")

    def say(self, what: str) -> None:
        self.said.append(f"{what}:{self.name}")

    @invivo.will_inject
    def will(self) -> None:
        self.say("will")

    @invivo.did_inject
    def did(self) -> None:
        self.say("did")

    def __setattr__(self, name: str, thing: Any) -> None:
        object.__setattr__(self, name, thing)
        if name == "left":
            self.say("left")


trace: list[str] = []


class Hooks(invivo.Assembly):
    @invivo.graph(after_all=lambda thing: thing.say("all"))
    def leaf(self) -> Traced:
        return invivo.new(Traced, "leaf")

    @invivo.lazy_singleton(
        before=[invivo.call("say", "before"), lambda thing: thing.say("before too")],
        after=invivo.call(Traced.say, what="after"),
        after_all=invivo.call("say", "all"),
        inject=lambda thing: thing.say("inject"),
    )
    def top(self) -> Traced:
        top = invivo.new(Traced, "top")
        top.say("first")
        top.left = self.leaf()
        top.say("second")
        return top


def test_hooks_run_in_their_order() -> None:
    trace.clear()
    with invivo.Runtime(hooks := Hooks()):
        hooks.top()
    words = "init:top will:top before:top before too:top init:leaf will:leaf left:top first:top second:top inject:top "
    assert " ".join(trace) == words + "after:top all:leaf did:leaf all:top did:top"


class Taker:
    def __init__(self) -> None:
        self.steps: list[Any] = []

    def note(self, what: str) -> None:
        self.steps.append(what)

    @invivo.takes_runtime
    def take(self, runtime: invivo.Runtime) -> None:
        self.steps.append(runtime)

    @invivo.did_inject
    def did(self) -> None:
        self.steps.append("did")


class Takers(invivo.Assembly):
    @invivo.lazy_singleton(after_all=invivo.call("note", "all"))
    def taker(self) -> Taker:
        return invivo.new(Taker)


def test_the_runtime_is_handed_over_when_all_is_complete() -> None:
    with invivo.Runtime(takers := Takers()) as runtime:
        assert takers.taker().steps == ["all", runtime, "did"]
        own = Taker()
        runtime.inject(own)
        assert own.steps == ["all", runtime, "did"]


class Given(invivo.Assembly):
    @invivo.lazy_singleton
    def part(self) -> Traced:
        return invivo.new(Traced, "part")

    @invivo.lazy_singleton(
        before=invivo.call("keep", invivo.ref("given.part")), after_all=invivo.call("keep", invivo.ref("given.part"))
    )
    def holder(self) -> Keeper:
        return invivo.new(Keeper)


class Keeper:
    def __init__(self) -> None:
        self.got: list[Any] = []

    def keep(self, thing: Any) -> None:
        self.got.append(thing)


def test_hooks_are_called_again_with_what_a_reload_put_in_the_place_of_what_they_got() -> None:
    with invivo.Runtime(given := Given()) as runtime:
        holder, part = given.holder(), given.part()
        assert holder.got == [part, part]
        runtime.reset("given.part")
        assert given.holder() is holder
        assert holder.got == [part, part, given.part(), given.part()]
        assert given.part() is not part


def test_a_failing_hook_fails_the_resolve_with_its_exception_and_leaves_nothing() -> None:
    class Failing(Hooks, name="failing"):
        fails = True

        @invivo.graph
        def leaf(self) -> Traced:
            return invivo.child(self.base())

        @invivo.lazy_singleton(after=lambda thing: _explode(thing))
        def base(self) -> Traced:
            return invivo.new(Traced, "leaf")

    with invivo.Runtime(failing := Failing()) as runtime:
        with pytest.raises(invivo.Error, match="ZeroDivisionError") as caught:
            failing.top()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert caught.value.path == "failing.leaf"
        assert caught.value.file == __file__
        assert "needed by 'failing.top' (" in caught.value.message
        assert f"{__file__}:" in caught.value.message.partition("needed by")[2]
        assert runtime.info.objects == 0


def _explode(thing: Any) -> None:
    raise ZeroDivisionError(thing.name)


def test_a_factory_may_answer_none_where_the_place_is_optional() -> None:
    answers: list[Fort | None] = [None]

    def make() -> Fort | None:
        return answers[0]

    class App(invivo.Assembly):
        @invivo.lazy_singleton(after=lambda thing: trace.append("never"))
        def maybe(self) -> Fort | None:
            return invivo.new(make)

        @invivo.prototype
        def may(self) -> Knight:
            return invivo.wire(Knight, fort=invivo.ref("maybe", optional=True))

        @invivo.prototype
        def must(self) -> Knight:
            must = invivo.new(Knight)
            fort: Any = self.maybe()
            must.fort = fort
            return must

    trace.clear()
    with invivo.Runtime(app := App()) as runtime:
        assert app.maybe() is None
        assert app.may().given is None
        with pytest.raises(invivo.NullError, match=r"'fort' of 'app\.must' needs 'app\.maybe'"):
            app.must()
        with pytest.raises(invivo.NullError):
            runtime["app.maybe"]
        assert runtime.resolve_optional("app.maybe") is None
        assert runtime.resolve_optional("app.nothing") is None
        assert runtime.resolve_optional(Quest) is None
        assert trace == []
        answers[0] = Fort(4)
        assert app.maybe() is app.must().fort is answers[0]
        assert trace == ["never"]


def test_constants_are_definitions() -> None:
    fort = Fort(6)

    class App(invivo.Assembly):
        @invivo.define
        def fort(self) -> Fort:
            return invivo.constant(fort)

        @invivo.define
        def towers(self) -> int:
            return invivo.constant(42)

        @invivo.prototype
        def knight(self) -> Knight:
            knight = invivo.new(Knight, self.fort())
            knight.number = self.towers()
            return knight

        @invivo.prototype
        def tall(self) -> Fort:
            return invivo.new(Fort, self.towers())

    with invivo.Runtime(app := App()):
        assert app.fort() is fort
        assert app.towers() == 42
        assert app.knight().given is fort
        assert (app.knight().number, app.tall().towers) == (42, 42)


class Sides:
    number: int

    def __init__(self, names: list[str]) -> None:
        self.names = names


def test_what_a_plain_constant_went_into_follows_it() -> None:
    class App(invivo.Assembly):
        @invivo.define
        def towers(self) -> int:
            return invivo.constant(4)

        @invivo.define
        def names(self) -> list[str]:
            return invivo.constant(["north", "south"])

        @invivo.lazy_singleton
        def fort(self) -> Fort:
            return invivo.new(Fort, self.towers())

        @invivo.prototype
        def sides(self) -> Sides:
            sides = invivo.new(Sides, self.names())
            sides.number = self.towers()
            return sides

    with invivo.Runtime(app := App()) as runtime:
        first = app.fort()
        assert first.towers == 4
        assert app.sides().names == ["north", "south"]
        assert app.sides().names is not app.sides().names
        runtime.define(invivo.constant(6), "app.towers")
        assert (app.towers(), app.fort().towers, app.sides().number) == (6, 6, 6)
        with runtime.override("app.towers", instance=7):
            assert app.fort().towers == 7
            with runtime.override("app.towers", invivo.constant(8)):
                assert app.fort().towers == 8
        assert app.fort().towers == 6
        assert app.fort() is not first


# ---- lookups -------------------------------------------------------------------------------------------


def test_every_lookup_by_type_is_the_librarys() -> None:
    class Holder:
        def __init__(self, fort: Fort) -> None:
            self.fort = fort

    app = invivo.Assembly("app")
    app.lazy_singleton(Castle)
    app.lazy_singleton(Fort)
    app.lazy_singleton(Holder)
    with invivo.Runtime(app) as runtime:
        fort = runtime["app.fort"]
        assert runtime[Fort] is runtime.resolve_type(Fort) is runtime.resolve_optional(Fort) is fort
        assert runtime[Holder].fort is fort
        with runtime.override("app.castle", Keep) as override:
            assert runtime[Keep] is runtime.resolve_type(Keep) is runtime["app.castle"]
            assert Keep in runtime
            override.end()
        assert Keep not in runtime
        assert runtime.resolve_optional(Keep) is None
        with pytest.raises(invivo.NotFoundError, match="no definition creates a 'Keep'"):
            _ = runtime[Keep]


class Keep(Castle): ...


class Neighbor:
    def __init__(self, fort: Fort) -> None:
        self.fort = fort


def looks() -> Neighbor:
    return Neighbor(invivo.current()[Fort])


def test_what_code_looks_for_while_it_makes_is_of_its_own_assembly() -> None:
    one, two = invivo.Assembly("one"), invivo.Assembly("two")
    for each in (one, two):
        each.lazy_singleton(Fort)
        each.lazy_singleton(looks, name="looking")
        each.lazy_singleton(Neighbor, name="injected")
    with invivo.Runtime(one, two) as runtime:
        for name in ("one", "two"):
            fort = runtime[f"{name}.fort"]
            assert runtime[f"{name}.looking"].fort is runtime[f"{name}.injected"].fort is fort
        with pytest.raises(invivo.AmbiguousError):
            _ = runtime[Fort]


def test_lookup_by_type_name_and_visibility() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Castle)
    app.lazy_singleton(Fort, name="a")
    app.lazy_singleton(Fort, name="b", towers=2)
    app.lazy_singleton(Quest, name="secret", options=invivo.options(hidden=True))
    with invivo.Runtime(app) as runtime:
        with pytest.raises(invivo.AmbiguousError, match=r"a 'Fort': app\.a, app\.b;"):
            runtime.resolve_type(Fort)
        assert runtime.resolve_type(Fort, "b").towers == 2
        assert runtime.resolve_type(Castle) is runtime["app.castle"]
        assert [fort.towers for fort in runtime.resolve_all(Fort)] == [1, 1, 2]
        assert len(runtime.resolve_all(Fort, exact=True)) == 2
        assert runtime.resolve_all(Knight) == []
        with pytest.raises(KeyError, match="no definition creates a 'Quest'"):
            runtime[Quest]
        with pytest.raises(invivo.NotFoundError):
            runtime.resolve_type(Quest)
        assert type(runtime["app.secret"]) is Quest
        runtime.define(Fort, "app.best", options=invivo.options(rank=1))
        assert runtime[Fort] is runtime.resolve_type(Fort) is runtime["app.best"]
        runtime.define(Castle, "app.shy", options=invivo.options(rank=9, hidden="interface"))
        assert runtime[Fort] is runtime["app.best"]
        assert runtime[Castle] is runtime["app.shy"]


def test_hosts_objects_are_injected_into() -> None:
    with invivo.Runtime(scopes := Scopes(), hooks := Hooks()) as runtime:
        quest = Quest()
        runtime.inject(quest)
        assert type(quest.fort) is Fort
        knight = Knight()
        with pytest.raises(invivo.AmbiguousError, match=r"scopes\.knight"):
            runtime.inject(knight)
        scopes.inject(knight, "knight")
        assert knight.fort is knight.quest.fort
        trace.clear()
        traced = Traced("mine")
        runtime.inject(traced, "hooks.top")
        assert trace[0] == "init:mine"
        assert trace[-1] == "did:mine"
        assert traced is not hooks.top()
        with pytest.raises(invivo.WrongTypeError):
            runtime.inject(Quest(), "scopes.knight")
        gone = weakref.ref(traced)
        del traced
        gc.collect()
        assert gone() is None, "it does not become the shared instance, and is not kept"


def test_sets_are_what_is_equal_once() -> None:
    class Bag:
        forts: set[Fort]
        numbers: frozenset[int]

    class App(invivo.Assembly):
        @invivo.lazy_singleton
        def fort(self) -> Fort:
            return invivo.new(Fort)

        @invivo.prototype
        def bag(self) -> Bag:
            bag = invivo.new(Bag)
            bag.forts = {self.fort(), self.fort()}
            bag.numbers = frozenset([1, 2])
            return bag

    with invivo.Runtime(app := App()):
        bag = app.bag()
        assert bag.forts == {app.fort()}
        assert bag.numbers == frozenset([1, 2])
        assert app.bag().forts is not bag.forts


def test_all_arguments_resolvers_and_every_of_a_type_can_be_injected() -> None:
    class Bag:
        things: list[Any]
        forts: list[Fort]
        resolve: invivo.Resolver
        who: str | None

    class App(invivo.Assembly):
        @invivo.lazy_singleton(rank=1)
        def one(self) -> Fort:
            return invivo.new(Fort, 1)

        @invivo.lazy_singleton(rank=2)
        def two(self) -> Fort:
            return invivo.new(Fort, 2)

        @invivo.prototype
        def bag(self, number: int, thing: Any) -> Bag:
            bag = invivo.new(Bag)
            bag.things = invivo.arguments()
            bag.forts = invivo.every(Fort)
            bag.resolve = invivo.resolver()
            bag.who = invivo.asker()
            return bag

    with invivo.Runtime(app := App()):
        thing = Quest()
        bag = app.bag(3, thing)
        assert bag.things == [3, thing]
        assert [fort.towers for fort in bag.forts] == [2, 1]
        assert bag.resolve("app.one") is app.one()
        assert bag.who is None


# ---- stopping ------------------------------------------------------------------------------------------


class Device:
    def __init__(self) -> None:
        self.running = True

    @invivo.on_stop
    def halt(self) -> None:
        self.running = False
        halted.append(self)


halted: list[Device] = []


class Devices(invivo.Assembly):
    @invivo.graph
    def device(self) -> Device:
        return invivo.new(Device)

    @invivo.prototype
    def user(self) -> User:
        user = invivo.new(User, self.device())
        user.again = self.device()
        user.me = self.user()
        return user

    @invivo.lazy_singleton
    def shared(self) -> Device:
        return invivo.new(Device)

    @invivo.prototype
    def guest(self) -> User:
        return invivo.new(User, self.shared())

    @invivo.prototype
    def forgetful(self) -> Forgetful:
        return invivo.new(Forgetful, self.device())


class User:
    again: Device
    me: User

    def __init__(self, device: Device) -> None:
        self.device = device


class Forgetful:
    def __init__(self, device: Device) -> None: ...


def test_what_an_object_was_given_is_stopped_when_python_lets_go_of_it() -> None:
    halted.clear()
    with invivo.Runtime(devices := Devices()) as runtime:
        user = devices.user()
        gc.collect()
        assert user.me is user
        assert user.device is user.again
        assert user.device.running
        del user
        gc.collect()
        assert len(halted) == 1
        guest = devices.guest()
        del guest
        gc.collect()
        assert len(halted) == 1, "the runtime holds what is shared"
        devices.forgetful()
        gc.collect()
        assert len(halted) == 2
        assert runtime.info.objects == 1
    assert len(halted) == 3
    halted.clear()


def test_a_scope_is_given_by_its_name() -> None:
    with invivo.Runtime() as runtime:
        place = 1
        runtime.scope("request", lambda: place)
        runtime.define(Fort, "a.fort", "request")
        first = runtime["a.fort"]
        assert runtime["a.fort"] is first
        place = 2
        assert runtime["a.fort"] is not first
        runtime.define(Fort, "a.hyphens", "lazy-singleton")
        assert runtime["a.hyphens"] is runtime["a.hyphens"]
        with pytest.raises(invivo.Error, match=r"a\.other: .*'reqest'"):
            runtime.define(Fort, "a.other", "reqest")
        with pytest.raises(invivo.ArgumentError, match=r"^unknown scope 'singelton'; did you mean 'singleton'\?$"):
            runtime.define(Fort, "a.other", "singelton")
        with pytest.raises(invivo.ArgumentError, match="unknown scope ''; expected one of graph"):
            runtime.define(Fort, "a.other", "")
        with pytest.raises(
            invivo.ArgumentError, match=r"^expected the name of a scope, got an object of type function"
        ) as caught:
            runtime.define(Fort, "a.other", invivo.in_scope("request"))  # type: ignore[arg-type]
        assert "0x" not in str(caught.value)
