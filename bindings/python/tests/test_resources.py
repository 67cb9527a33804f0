"""Resources: objects of generator functions and context managers, which run on when their object ends."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Generator, Iterator
from typing import Any

import pytest

import invivo

SAID: list[str] = []


@pytest.fixture(autouse=True)
def said() -> list[str]:
    SAID.clear()
    return SAID


class Pool:
    def __init__(self, name: str) -> None:
        self.name = name

    def fail(self) -> None:
        raise ValueError("no")


class User:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool


class Session:
    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> Session:
        SAID.append(f"+{self.name}")
        return self

    def __exit__(self, *_: object) -> None:
        SAID.append(f"-{self.name}")


def pool(name: str) -> Generator[Pool, None, None]:
    SAID.append(f"+{name}")
    try:
        yield Pool(name)
    finally:
        SAID.append(f"-{name}")


@contextlib.contextmanager
def opened(name: str) -> Iterator[Pool]:
    yield from pool(name)


class App(invivo.Assembly):
    @invivo.singleton
    def eager(self) -> Pool:
        return invivo.managed(opened, "eager")

    @invivo.lazy_singleton
    def lazy(self) -> Pool:
        return invivo.new(pool, "lazy")

    @invivo.lazy_singleton
    def session(self) -> Session:
        return invivo.managed(invivo.new(Session, "session"))

    @invivo.lazy_singleton
    def user(self) -> User:
        return invivo.new(User, self.lazy())

    @invivo.prototype
    def proto(self) -> Pool:
        return invivo.new(pool, "proto")

    @invivo.prototype
    def holder(self) -> User:
        return invivo.new(User, self.proto())

    @invivo.graph
    def shared(self) -> Pool:
        return invivo.new(pool, "graph")

    @invivo.weak_singleton
    def weak(self) -> Pool:
        return invivo.new(pool, "weak")

    @invivo.in_scope("thread")
    def local(self) -> Pool:
        return invivo.new(pool, "thread")

    @invivo.prototype
    def failing(self) -> Pool:
        made = invivo.new(pool, "failing")
        made.fail()
        return made


def taken() -> list[str]:
    gc.collect()
    found = list(SAID)
    SAID.clear()
    return found


def test_a_shared_resource_ends_with_the_runtime_in_reverse_order() -> None:
    with invivo.Runtime(app := App()) as runtime:
        assert taken() == ["+eager"]
        user = app.user()
        assert user.pool is app.lazy() is runtime["app.lazy"]
        assert app.session() is runtime[Session]
        assert isinstance(app.session(), Session)
        assert taken() == ["+lazy", "+session"]
        del user
    assert taken() == ["-session", "-lazy", "-eager"]


def test_a_resource_that_python_alone_holds_ends_with_its_last_reference() -> None:
    with invivo.Runtime(app := App()):
        taken()
        one, other = app.proto(), app.proto()
        assert one is not other
        assert taken() == ["+proto", "+proto"]
        del one
        assert taken() == ["-proto"]
        del other
        assert taken() == ["-proto"]
        made = app.holder()
        assert taken() == ["+proto"]
        del made
        assert taken() == ["-proto"]
        made_in_graph = app.shared()
        assert taken() == ["+graph"]
        del made_in_graph
        assert taken() == ["-graph"]
        weak = app.weak()
        assert app.weak() is weak
        assert taken() == ["+weak"]
        del weak
        assert taken() == ["-weak"]


def test_a_resource_of_a_thread_ends_with_it_or_with_the_runtime() -> None:
    with invivo.Runtime(app := App()):
        taken()
        thread = threading.Thread(target=app.local)
        thread.start()
        thread.join()
    assert sorted(taken()) == ["+thread", "-eager", "-thread"]


def test_a_reload_a_reset_and_an_override_end_what_they_replace() -> None:
    with invivo.Runtime(app := App()) as runtime:
        app.user()
        taken()
        with runtime.changes() as changes:
            changes.reset("app.lazy")
        assert taken() == ["+lazy", "-lazy"]
        runtime.define(pool, "app.lazy", name="other")
        assert taken() == ["+other", "-lazy"]
        with runtime.override("app.lazy", pool, name="override"):
            assert app.user().pool.name == "override"
            assert taken().count("+override") == 1
        assert "-override" in taken()


def test_a_resource_whose_making_fails_afterwards_ends() -> None:
    with invivo.Runtime(app := App()):
        taken()
        with pytest.raises(invivo.HostError, match="no"):
            app.failing()
        assert taken() == ["+failing", "-failing"]


def test_a_resource_of_another_class_than_it_says_ends_and_is_refused() -> None:
    def wrong() -> Iterator[User]:
        yield from pool("wrong")  # type: ignore[misc]

    one = invivo.Assembly("one")
    one.lazy_singleton(wrong)
    with invivo.Runtime(one) as runtime, pytest.raises(invivo.WrongTypeError, match="declares that it creates a User"):
        _ = runtime[User]
    assert taken() == ["+wrong", "-wrong"]


def test_a_generator_that_yields_nothing_or_twice_is_told() -> None:
    def nothing() -> Iterator[Pool]:
        if SAID:
            yield Pool("")

    def twice() -> Iterator[User]:
        yield User(Pool("a"))
        yield User(Pool("b"))

    one = invivo.Assembly("one")
    one.lazy_singleton(nothing)
    one.lazy_singleton(twice)
    with pytest.raises(invivo.StopError, match="yielded twice"), invivo.Runtime(one) as runtime:
        with pytest.raises(invivo.WrongTypeError, match="without a 'yield'"):
            _ = runtime[Pool]
        _ = runtime[User]


def test_what_a_resource_raises_at_its_end_is_the_error_of_close() -> None:
    def broken() -> Iterator[Pool]:
        yield Pool("x")
        raise ValueError("cannot be closed")

    one = invivo.Assembly("one")
    one.lazy_singleton(broken)
    with pytest.raises(invivo.StopError, match="cannot be closed"), invivo.Runtime(one) as runtime:
        _ = runtime[Pool]


def test_one_by_one_a_resource_says_its_class_by_what_it_yields() -> None:
    one = invivo.Assembly("one")
    one.lazy_singleton(invivo.managed(opened, "x"), name="pool")
    with invivo.Runtime(one) as runtime:
        assert runtime[Pool].name == "x"
        assert runtime.resolve_type(Pool) is runtime["one.pool"]
    assert taken() == ["+x", "-x"]


def test_a_context_manager_that_is_there_is_entered_when_its_object_is_made() -> None:
    session = Session("there")
    one = invivo.Assembly("one")
    one.lazy_singleton(invivo.managed(session), name="session")
    with invivo.Runtime(one) as runtime:
        assert taken() == []
        assert runtime[Session] is session
        assert taken() == ["+there"]
    assert taken() == ["-there"]


def test_what_is_no_context_manager_is_refused() -> None:
    made: Any = invivo.managed
    for wrong in (3, invivo.ref("a.b")):
        with pytest.raises(invivo.ArgumentError, match=r"managed\(\)"):
            made(wrong)
    one = invivo.Assembly("one")
    one.lazy_singleton(made(User, Pool("x")), name="user")
    with invivo.Runtime(one) as runtime, pytest.raises(invivo.WrongTypeError, match="no context manager"):
        _ = runtime["one.user"]


def test_a_resource_is_not_started_again_after_it_was_stopped() -> None:
    with invivo.Runtime(app := App()) as runtime:
        app.lazy()
        runtime.stop("app.lazy")
        assert taken()[-1] == "-lazy"
        with pytest.raises(invivo.Error, match="has ended"):
            runtime.start("app.lazy")
