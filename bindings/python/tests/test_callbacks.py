"""Callbacks are looked at when they are given: they are not asynchronous, and take what they get."""

from __future__ import annotations

import functools
import queue
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest

import invivo

GIVE: dict[str, tuple[Callable[[invivo.Runtime, Any], Any], int]] = {
    "observe": (lambda runtime, call: runtime.observe(call), 1),
    "observe_config": (lambda runtime, call: runtime.observe_config("a.b", call), 2),
    "find": (lambda runtime, call: runtime.scope("request", call), 0),
    "keep": (lambda runtime, call: runtime.scope("request", lambda: None, call), 2),
    "drop": (lambda runtime, call: runtime.scope("request", lambda: None, None, call), 2),
    "decorate": (lambda runtime, call: runtime.decorate(call, type=Box), 1),
    "process": (lambda runtime, call: runtime.process(call), 1),
    "converter": (lambda runtime, call: runtime.converter("paint", call), 1),
    "pool": (lambda runtime, call: runtime.pool("things", call), 1),
}


@pytest.fixture
def runtime() -> Iterator[invivo.Runtime]:
    with invivo.Runtime(log_level="silent") as runtime:
        yield runtime


class Awaited:
    async def __call__(self, *_: Any) -> None: ...


@pytest.mark.parametrize("name", GIVE)
def test_an_asynchronous_one_is_refused(runtime: invivo.Runtime, name: str) -> None:
    give, _ = GIVE[name]

    async def callback(*_: Any) -> None: ...

    async def several(*_: Any) -> Any:
        yield None

    for each in (callback, several, functools.partial(callback), Awaited(), mock.AsyncMock()):
        with pytest.raises(invivo.ArgumentError, match="asynchronous"):
            give(runtime, each)


@pytest.mark.parametrize("name", GIVE)
def test_one_that_takes_something_else_is_refused_with_its_place(runtime: invivo.Runtime, name: str) -> None:
    give, count = GIVE[name]

    def fewer_or_more(*, wanted: int) -> None: ...

    def three(a: Any, b: Any, c: Any) -> None: ...

    for each in (fewer_or_more, three):
        with pytest.raises(invivo.errors.ArityError, match="does not take that") as caught:
            give(runtime, each)
        assert caught.value.file == __file__
        assert caught.value.line == each.__code__.co_firstlineno
    with pytest.raises(invivo.errors.WrongTypeError):
        give(runtime, 5)
    assert count < 3


@pytest.mark.parametrize("name", GIVE)
def test_one_that_fits_is_taken(name: str) -> None:
    give, count = GIVE[name]

    def exact(*arguments: Any) -> None:
        assert len(arguments) == count

    class Several:
        def method(self, a: Any = None, b: Any = None, *, c: Any = None) -> None: ...

    for each in (exact, Several().method, functools.partial(exact), mock.Mock(return_value=None), print):
        with invivo.Runtime(log_level="silent") as runtime:
            give(runtime, each)


def test_a_method_of_c_and_a_class_are_taken(runtime: invivo.Runtime) -> None:
    runtime.observe(queue.SimpleQueue[Any]().put)
    runtime.converter("whole", int)
    runtime.converter("decimal", __import__("decimal").Decimal)


# ---- recipes inside of functions and objects -------------------------------------------------------------


class Clock: ...


class Store:
    def __init__(self, clock: Clock, size: int = 1) -> None:
        self.clock, self.size = clock, size


class Box:
    def __init__(self, thing: Any) -> None:
        self.thing = thing


class Base(invivo.Assembly, name="a"):
    @invivo.lazy_singleton
    def clock(self) -> Clock:
        return invivo.new(Clock)


def test_a_partial_is_looked_into() -> None:
    class A(Base):
        @invivo.lazy_singleton
        def store(self) -> Store:
            return invivo.new(functools.partial(functools.partial(Store, self.clock()), size=4))

    with invivo.Runtime(app := A()):
        assert isinstance(app.store().clock, Clock)
        assert app.store().clock is app.clock()
        assert app.store().size == 4


def test_a_recipe_in_a_function_or_an_object_is_refused() -> None:
    class Lambda(Base):
        @invivo.lazy_singleton
        def store(self) -> Store:
            clock = self.clock()
            return invivo.new(lambda: Store(clock))

    class Default(Base):
        @invivo.lazy_singleton
        def store(self) -> Store:
            clock = self.clock()

            def make(clock: Clock = clock) -> Store:
                return Store(clock)

            return invivo.new(make)

    class Object(Base):
        @invivo.lazy_singleton
        def store(self) -> Box:
            return invivo.new(Box, Box(self.clock()))

    class Argument(Base):
        @invivo.lazy_singleton
        def store(self) -> Box:
            return invivo.new(Box, functools.partial(Store, self.clock()))

    for cls in (Lambda, Default, Object, Argument):
        with pytest.raises(invivo.ArgumentError, match=r"holds <invivo recipe: a\.clock>.*invivo\.new\(") as caught:
            invivo.Runtime(cls())
        assert caught.value.file == __file__


def test_functions_that_ask_when_they_run_are_taken() -> None:
    class A(Base):
        @invivo.lazy_singleton
        def store(self) -> Box:
            return invivo.new(Box, lambda: self.clock())

    with invivo.Runtime(app := A()):
        assert app.store().thing() is app.clock()
