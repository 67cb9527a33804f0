"""Resolving without waiting."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

import invivo

ready, go = threading.Event(), threading.Event()


class Slow:
    def __init__(self) -> None:
        ready.set()
        assert go.wait(20)


class Quick:
    def __init__(self, note: int = 0) -> None:
        self.note = note


class Failing:
    def __init__(self) -> None:
        raise RuntimeError("on purpose")


def test_the_event_loop_goes_on_while_an_object_is_made() -> None:
    ready.clear()
    go.clear()
    app = invivo.Assembly("app")
    app.lazy_singleton(Slow)
    app.lazy_singleton(Quick)

    async def main(runtime: invivo.Runtime) -> None:
        slow = asyncio.create_task(runtime.aresolve(Slow))
        while not ready.is_set():
            await asyncio.sleep(0)
        assert isinstance(await runtime.aresolve(Quick), Quick)
        assert not slow.done()
        go.set()
        assert await slow is runtime[Slow]

    with invivo.Runtime(app) as runtime:
        asyncio.run(main(runtime))


def test_arguments_and_failures_reach_who_awaits() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Failing)

    class Notes(invivo.Assembly):
        @invivo.prototype
        def quick(self, note: int) -> Quick:
            return invivo.new(Quick, note)

    async def main(runtime: invivo.Runtime) -> None:
        assert (await runtime.aresolve("notes.quick", note=60)).note == 60
        with pytest.raises(RuntimeError, match="on purpose"):
            await runtime.aresolve(Failing)
        with pytest.raises(invivo.errors.NotFoundError):
            await runtime.aresolve("app.missing")

    with invivo.Runtime(app, Notes()) as runtime:
        asyncio.run(main(runtime))


def test_an_await_that_is_given_up_leaves_nothing() -> None:
    ready.clear()
    go.clear()
    app = invivo.Assembly("app")
    app.lazy_singleton(Slow)

    async def main(runtime: invivo.Runtime) -> None:
        slow = asyncio.create_task(runtime.aresolve(Slow))
        while not ready.is_set():
            await asyncio.sleep(0)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        go.set()
        assert isinstance(await runtime.aresolve(Slow), Slow)

    with invivo.Runtime(app) as runtime:
        asyncio.run(main(runtime))


def test_a_resolve_that_is_awaited_has_the_context_of_its_task() -> None:
    class Request: ...

    place: contextvars.ContextVar[int | None] = contextvars.ContextVar("place", default=None)
    with invivo.Runtime() as runtime:
        runtime.scope("request", place.get)
        runtime.define(Request, "a.request", scope="in request")

        async def serve(number: int) -> object:
            place.set(number)
            made = await runtime.aresolve(Request)
            assert runtime.resolve(Request) is made
            return made

        async def both() -> list[object]:
            return list(await asyncio.gather(serve(1), serve(2)))

        one, other = asyncio.run(both())
        assert one is not other


def test_what_is_asynchronous_is_refused_where_nothing_awaits() -> None:
    class Connection:
        async def __aenter__(self) -> Connection:
            return self

        async def __aexit__(self, *_: object) -> None: ...

    async def observe(*_: object) -> None: ...

    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.ArgumentError, match="not awaited"):
            runtime.observe(observe)
        with pytest.raises(invivo.ArgumentError, match="not awaited"):
            runtime.observe_config("a.b", observe)

        @invivo.lazy_singleton
        def connection() -> Connection:
            made: Connection = invivo.managed(Connection)  # type: ignore[call-overload]
            return made

        runtime.define(connection, "a.connection")
        with pytest.raises(invivo.Error, match="an asynchronous context manager"):
            runtime.resolve("a.connection")
