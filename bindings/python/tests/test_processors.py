"""Processors: what decorates objects, and what changes definitions before they are compiled."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import invivo


class Store:
    def get(self, name: str) -> str:
        return f"{name}!"


class Logging(Store):
    def __init__(self, inner: Store) -> None:
        self.inner, self.log = inner, list[str]()

    def get(self, name: str) -> str:
        self.log.append(name)
        return self.inner.get(name)


class User:
    def __init__(self, store: Store) -> None:
        self.store = store


class Clock:
    pass


def test_a_decorator_takes_the_place_of_what_its_parameter_is_annotated_with() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Store)
    app.lazy_singleton(User)
    app.lazy_singleton(Clock)

    @app.decorate
    def logged(store: Store) -> Store:
        return Logging(store)

    with invivo.Runtime(app) as runtime:
        store = runtime["app.store"]
        assert isinstance(store, Logging)
        assert type(store.inner) is Store
        assert runtime[User].store is store
        assert type(runtime[Clock]) is Clock
        runtime.unprocess("app.logged")
        assert type(runtime["app.store"]) is Store
        assert type(runtime[User].store) is Store


def test_a_weak_singleton_is_shared_whatever_class_its_decorator_answers() -> None:
    app = invivo.Assembly("app")
    app.weak_singleton(Store)

    @app.decorate
    def logged(store: Store) -> Store:
        return Logging(store)

    with invivo.Runtime(app) as runtime:
        first = runtime["app.store"]
        assert isinstance(first, Logging)
        assert runtime["app.store"] is first
        assert runtime.resolve("app.store") is first
        gone = weakref.ref(first)
        del first
        gc.collect()
        assert gone() is None
        assert isinstance(runtime["app.store"], Logging)


def test_a_parameter_of_anything_decorates_everything() -> None:
    class Other(Clock):
        inner: Any = None

    def wrapped(thing: Any) -> Any:
        other = Other()
        other.inner = thing
        return other

    with invivo.Runtime() as runtime:
        runtime.define(Clock, "a.clock")
        before = runtime["a.clock"]
        runtime.decorate(wrapped, name="all")
        assert runtime["a.clock"].inner is not None
        runtime.unprocess("all")
        assert type(runtime["a.clock"]) is type(before)


def test_decorators_come_in_the_order_of_their_priority_and_for_one_key() -> None:
    app = invivo.Assembly("app")
    app.prototype(Store)
    app.prototype(Store, name="other")
    seen = list[str]()

    def note(name: str) -> None:
        def look(thing: object) -> None:
            seen.append(name)

        app.decorate(look, name=name, priority=len(name), key="store")

    note("third")
    note("one")
    note("both")
    with invivo.Runtime(app) as runtime:
        assert type(runtime["app.other"]) is Store
        assert seen == []
        assert type(runtime["app.store"]) is Store
        assert seen == ["one", "both", "third"]


def test_a_component_decorates_by_its_key() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Store)
    app.lazy_singleton(Clock)

    class Wrapping(Store):
        def __init__(self, inner: Store, clock: Clock) -> None:
            self.inner, self.clock = inner, clock

    class Wrap(invivo.Assembly, name="wrap"):
        @invivo.prototype
        def wrapping(self, inner: Store) -> Wrapping:
            return invivo.wire(Wrapping, inner=inner)

    wrap = Wrap()
    wrap.decorate("wrapping", type=Store)
    with invivo.Runtime(app, wrap) as runtime:
        store = runtime["app.store"]
        assert isinstance(store, Wrapping)
        assert type(store.inner) is Store
        assert store.clock is runtime[Clock]


def test_a_decorator_goes_with_its_assembly() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Store)
    logging = invivo.Assembly("logging")
    logging.decorate(Logging)
    with invivo.Runtime(app, logging) as runtime:
        assert isinstance(runtime[Store], Logging)
        runtime.deactivate(logging)
        assert type(runtime[Store]) is Store
        runtime.activate(logging)
        assert isinstance(runtime[Store], Logging)


def test_what_a_decorator_raises_fails_the_resolve() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Store)
    with invivo.Runtime(app) as runtime:

        def fail(store: Store) -> Store:
            raise RuntimeError("on purpose")

        name = runtime.decorate(fail)
        with pytest.raises(RuntimeError, match="on purpose"):
            runtime[Store]
        runtime.unprocess(name)
        assert type(runtime[Store]) is Store
        with pytest.raises(invivo.errors.NotFoundError):
            runtime.unprocess(name)


class Lamp:
    store: Store | None = None
    level: int = invivo.tunable(1)


def test_a_processor_changes_definitions_and_always_begins_with_what_was_described() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Store)
    app.prototype(Lamp, level=5)
    visited = list[str]()

    @app.process(type=Lamp)
    def share(described: invivo.Described) -> None:
        visited.append(described.key)
        assert (described.scope, described.type, described.properties) == ("prototype", "Lamp", ["level"])
        described.scope = "lazy_singleton"
        described.inject("store", invivo.ref("store"))
        described.inject("level", 7)

    with invivo.Runtime(app) as runtime:
        lamp = runtime[Lamp]
        assert runtime.resolve(Lamp) is lamp
        assert lamp.store is runtime[Store]
        assert lamp.level == 7
        runtime.define(Clock)
        assert visited == ["app.lamp"]
        runtime.unprocess("app.share")
        lamp = runtime[Lamp]
        assert runtime[Lamp] is not lamp
        assert (lamp.store, lamp.level) == (None, 5)


def test_a_processor_may_leave_something_out() -> None:
    app = invivo.Assembly("app")
    app.prototype(Lamp, level=5)
    app.process(lambda described: described.leave_out("level"), key="lamp", name="dark")
    with invivo.Runtime(app) as runtime:
        assert runtime[Lamp].level == 1


def test_what_is_made_again_and_again_is_decorated_every_time() -> None:
    app = invivo.Assembly("app")
    app.prototype(Store)
    app.prototype(User)
    with invivo.Runtime(app) as runtime:
        for _ in range(5):
            assert type(runtime[User].store) is Store
        runtime.decorate(Logging, type=Store)
        for _ in range(5):
            assert isinstance(runtime[User].store, Logging)
            assert isinstance(runtime[Store], Logging)
