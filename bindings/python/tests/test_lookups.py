"""Lookups by type: one rule in every language, applied by the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import pytest

import invivo
from invivo import Inject, Lazy, Provider

T = TypeVar("T")


class User: ...


class Order: ...


class Repository(Generic[T]): ...


class UserRepository(Repository[User]): ...


class Base: ...


class Derived(Base): ...


class Wants:
    def __init__(self, thing: Base) -> None:
        self.thing = thing


class WantsUsers:
    def __init__(
        self, thing: Repository[User], later: Provider[Repository[User]], lazy: Lazy[Repository[User]]
    ) -> None:
        self.thing, self.later, self.lazy = thing, later, lazy


def app_of(**given: tuple[Any, int]) -> invivo.Assembly:
    """Lazy singletons by name, with their ranks."""
    app = invivo.Assembly("app")
    for name, (what, rank) in given.items():
        app.lazy_singleton(what, name=name, options=invivo.options(rank=rank))
    return app


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"derived": (Derived, 0)}, "derived"),
        ({"derived": (Derived, 0), "exact": (Base, 0)}, "exact"),
        ({"derived": (Derived, 1), "exact": (Base, 0)}, "derived"),
        ({"one": (Base, 0), "other": (Base, 1)}, "other"),
    ],
)
def test_the_priority_comes_first_and_then_the_exact_class(given: dict[str, tuple[Any, int]], expected: str) -> None:
    with invivo.Runtime(app_of(**given, wants=(Wants, 0))) as runtime:
        thing = runtime[f"app.{expected}"]
        assert runtime[Base] is runtime.resolve_type(Base) is runtime[Wants].thing is thing


def test_more_than_one_is_an_error_that_lists_them_also_where_there_is_a_default() -> None:
    class Defaulted:
        def __init__(self, thing: Base | None = None) -> None: ...

    class Asks:
        def __init__(self, thing: Provider[Base]) -> None: ...

    for wants in (Wants, Defaulted, Asks):
        with pytest.raises(invivo.AmbiguousError, match=r"app\.one, app\.other"):
            invivo.Runtime(app_of(one=(Base, 0), other=(Base, 0), wants=(wants, 0)))
    with invivo.Runtime(app_of(one=(Base, 0), other=(Base, 0))) as runtime:
        for ask in (lambda: runtime[Base], lambda: runtime.resolve_type(Base), lambda: runtime.resolve_optional(Base)):
            with pytest.raises(invivo.AmbiguousError, match=r"app\.one, app\.other"):
                ask()


def test_an_override_by_a_subclass_is_found_by_both_classes() -> None:
    with invivo.Runtime(app_of(base=(Base, 0), wants=(Wants, 0))) as runtime:
        with runtime.override("app.base", Derived):
            assert type(runtime[Derived]) is Derived
            assert runtime[Base] is runtime[Derived] is runtime[Wants].thing
        assert Derived not in runtime
        assert type(runtime[Wants].thing) is Base


def test_what_decorates_an_object_is_found_in_its_place() -> None:
    class Around(Base):
        def __init__(self, inner: Base) -> None:
            self.inner = inner

    app = app_of(base=(Base, 0), wants=(Wants, 0))

    @app.decorate
    def around(thing: Base) -> Base:
        return Around(thing)

    with invivo.Runtime(app) as runtime:
        assert type(runtime[Base]) is Around
        assert runtime[Wants].thing is runtime[Base]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"bare": (Repository, 0)}, "bare"),
        ({"order": (Repository[Order], 0), "user": (Repository[User], 0)}, "user"),
        ({"bare": (Repository, 0), "user": (Repository[User], 0), "order": (Repository[Order], 0)}, "user"),
        ({"derived": (UserRepository, 0)}, "derived"),
        (
            {"derived": (UserRepository, 0), "order": (Repository[Order], 1)},
            "derived",
        ),  # the other one is of another type
        ({"derived": (UserRepository, 0), "bare": (Repository, 0)}, "bare"),  # the exact class comes first
        ({"bare": (Repository, 1), "user": (Repository[User], 0)}, "bare"),  # the priority comes first
    ],
)
def test_generic_arguments_come_after_the_exact_class(given: dict[str, tuple[Any, int]], expected: str) -> None:
    with invivo.Runtime(app_of(**given, wants=(WantsUsers, 0))) as runtime:
        thing, wants = runtime[f"app.{expected}"], runtime[WantsUsers]
        assert runtime[Repository[User]] is wants.thing is wants.later() is wants.lazy.value is thing


def test_other_generic_arguments_are_another_type() -> None:
    with pytest.raises(invivo.NotFoundError, match=r"needs a 'Repository\[User\]'"):
        invivo.Runtime(app_of(order=(Repository[Order], 0), wants=(WantsUsers, 0)))
    with invivo.Runtime(app_of(order=(Repository[Order], 0))) as runtime:
        assert Repository[User] not in runtime
        assert runtime[Repository] is runtime["app.order"]


def test_without_generic_arguments_there_are_several() -> None:
    with invivo.Runtime(app_of(user=(Repository[User], 0), order=(Repository[Order], 0))) as runtime:
        with pytest.raises(invivo.AmbiguousError, match=r"app\.user, app\.order"):
            _ = runtime[Repository]
        assert runtime[Repository[Order]] is runtime["app.order"]


def test_each_mount_prefers_its_own() -> None:
    class Fort(invivo.Assembly):
        @invivo.lazy_singleton
        def base(self) -> Base:
            return invivo.new(Base)

        @invivo.lazy_singleton
        def wants(self) -> Wants:
            return invivo.wire(Wants)

    with invivo.Runtime() as runtime:
        runtime.mount(Fort(), "east")
        runtime.mount(Fort(), "west")
        assert runtime["east.wants"].thing is runtime["east.base"]
        assert runtime["west.wants"].thing is runtime["west.base"]
        with pytest.raises(invivo.AmbiguousError, match=r"east\.base, west\.base"):
            _ = runtime[Base]


def test_a_definition_of_another_language_is_found_by_the_class_that_it_says_it_is(native: Path) -> None:
    class Voice: ...

    class Sings:
        def __init__(self, voice: Annotated[Any, "lead"], other: Provider[Any] | None = None) -> None:
            self.voice = voice

    with invivo.Runtime() as runtime:
        runtime.load_module(native)
        runtime.define("Voice", "synth.lead", scope="singleton", note=60)
        runtime.define(Sings, "synth.sings")
        assert runtime[Sings].voice is runtime["synth.lead"]
        assert Voice not in runtime, "a class of the same name is another type"


def test_a_definition_that_comes_after_a_plan_was_compiled_counts() -> None:
    class Greedy:
        def __init__(self, thing: Annotated[Base, Inject(greedy=True)]) -> None:
            self.thing = thing

    app = invivo.Assembly("app")
    app.prototype(Base)
    app.prototype(Wants)
    app.prototype(Greedy)
    with invivo.Runtime(app) as runtime:
        for _ in range(3):  # the second and later ones are made by a plan
            assert type(runtime[Wants].thing) is type(runtime[Greedy].thing) is Base
        runtime.define(Derived, "app.derived", scope="prototype", options=invivo.options(rank=1))
        for _ in range(3):
            assert type(runtime[Wants].thing) is Base, "what was bound stays"
            assert type(runtime[Greedy].thing) is Derived
            assert type(runtime[Base]) is Derived


def test_a_provider_asks_by_the_definition_that_it_was_bound_to() -> None:
    class Holds:
        def __init__(self, thing: Provider[Base]) -> None:
            self.thing = thing

    one, other = invivo.Assembly("one"), invivo.Assembly("other")
    for app in (one, other):
        app.lazy_singleton(Base)
        app.lazy_singleton(Holds)
    with invivo.Runtime(one, other) as runtime:
        holds = runtime["one.holds"]
        assert holds.thing() is runtime["one.base"]
        runtime.remove("other.holds")
        assert holds.thing() is runtime["one.base"]


def resource() -> Iterator[Base]:
    yield Base()


def test_a_resource_is_found_as_its_exact_class() -> None:
    class Exactly:
        def __init__(self, thing: Annotated[Base, Inject(exact=True)]) -> None:
            self.thing = thing

    app = app_of(derived=(Derived, 0), wants=(Wants, 0), exactly=(Exactly, 0))
    app.lazy_singleton(resource, name="resource")
    with invivo.Runtime(app) as runtime:
        thing = runtime["app.resource"]
        assert runtime.resolve_type(Base, exact=True) is runtime[Base] is thing
        assert runtime.resolve_all(Base, exact=True) == [thing]
        assert runtime[Wants].thing is runtime[Exactly].thing is thing


def test_an_object_of_the_hosts_is_injected_as_the_library_finds_its_definition() -> None:
    class Holder:
        thing: Base | None = None

    app = app_of(base=(Base, 0))
    app.lazy_singleton(Holder, thing=invivo.ref("base"))
    with invivo.Runtime(app) as runtime:
        holder = Holder()
        runtime.inject(holder)
        assert holder.thing is runtime[Base]
        with runtime.override("app.holder", Holder, thing=None):
            holder = Holder()
            runtime.inject(holder)
            assert holder.thing is None
    app = invivo.Assembly("app")
    app.lazy_singleton(resource, name="resource")
    with invivo.Runtime(app) as runtime, pytest.raises(invivo.NotFoundError):
        runtime.inject(Base())


def test_generic_arguments_are_asked_for_everywhere_a_class_is() -> None:
    class Holder:
        marked: Annotated[Repository[User], Inject()] = None  # type: ignore[assignment]

        def __init__(self, every: list[Repository[User]], given: Repository[User], listed: list[Any]) -> None:
            self.every, self.given, self.listed = every, given, listed

    class Members(invivo.Assembly):
        @invivo.lazy_singleton
        def user(self) -> Repository[User]:
            return invivo.new(Repository[User])

        @invivo.lazy_singleton
        def order(self) -> Repository[Order]:
            return invivo.new(Repository[Order])

        @invivo.lazy_singleton
        def holder(self) -> Holder:
            return invivo.new(Holder, given=invivo.ref(Repository[User]), listed=invivo.every(Repository[User]))

    with invivo.Runtime(Members()) as runtime:
        user, holder = runtime["members.user"], runtime["members.holder"]
        assert holder.marked is holder.given is runtime.resolve_type(Repository[User]) is user
        assert holder.every == holder.listed == runtime.resolve_all(Repository[User]) == [user]
        assert runtime.resolve_type(Repository[str], optional=True) is None
        assert len(runtime.resolve_all(Repository)) == 2


class Tuned(Repository[User]):
    gain: float = invivo.tunable(1.0)


class Chooses(invivo.Assembly):
    @invivo.lazy_singleton
    def users(self) -> Tuned:
        return invivo.new(Tuned)

    @invivo.lazy_singleton
    def orders(self) -> Repository[Order]:
        return invivo.new(Repository[Order])

    @invivo.define
    def chosen(self, by: Any) -> Repository[Any]:
        return invivo.choice(by, {Repository[User]: self.users()}, otherwise=self.orders())


def test_classes_with_generic_arguments_are_taken_wherever_a_class_is() -> None:
    seen: list[str] = []
    chooses = Chooses()

    @chooses.process(type=Repository[User])
    def visit(described: Any) -> None:
        seen.append(described.key)

    with invivo.Runtime(chooses) as runtime:
        users, orders = runtime[Repository[User]], runtime[Repository[Order]]
        with runtime.view() as view:
            assert dict(view.block(Repository[User])) == dict(view.block("chooses.users")) == {"gain": 1.0}
        assert seen == ["chooses.users"]
        assert runtime.resolve("chooses.chosen", users) is users
        assert runtime.resolve("chooses.chosen", orders) is orders
