"""The context that spawned work sees: one test per row of the table in docs/rules/contexts.md, for each place."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

import invivo
from invivo import Context, Runtime

See = Callable[[], Any]
Start = Callable[[See], Awaitable[Any]]
PLACES = ("block", "object", "shared")


class Plain:
    pass


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime(log=lambda *_: None, contexts=["session", "request"]) as runtime:
        yield runtime


async def _seen(runtime: Runtime, place: str, start: Start) -> tuple[Any, Context, Context]:
    """Starts work in a place, with a request as the current context. Returns what it sees, the session and the request.

    In "object", the code is that of an object of the session; in "shared", of an object that lives in no context.
    """
    started: list[Awaitable[Any]] = []

    def make() -> Plain:
        started.append(start(lambda: runtime.current_context))
        return Plain()

    async with runtime.context("session") as session, runtime.context("request") as request:
        if place == "block":
            make()
        else:
            runtime.define(make, "web.plain", "context(session)" if place == "object" else "lazy_singleton")
            assert runtime[Plain]
        assert runtime.current_context is request
        return await started[0], session, request


def seen(runtime: Runtime, place: str, start: Start) -> str:
    """Returns the name of the context that work sees which is started in a place."""
    found, session, request = asyncio.run(_seen(runtime, place, start))
    return {id(session): "session", id(request): "request", id(None): "none"}[id(found)]


# The context of work that keeps that of the code which starts it, by the place of that code.
FOLLOWS = {"block": "request", "object": "session", "shared": "none"}


@pytest.mark.parametrize("place", PLACES)
def test_a_task_sees_the_context_of_the_code_that_starts_it(runtime: Runtime, place: str) -> None:
    def start(see: See) -> Awaitable[Any]:
        async def work() -> Any:
            return see()

        return asyncio.ensure_future(work())

    assert seen(runtime, place, start) == FOLLOWS[place]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no task groups")
@pytest.mark.parametrize("place", PLACES)
def test_a_task_of_a_group_sees_the_context_of_the_code_that_starts_it(runtime: Runtime, place: str) -> None:
    async def main() -> Any:
        async with asyncio.TaskGroup() as group:

            def start(see: See) -> Awaitable[Any]:
                async def work() -> Any:
                    return see()

                return group.create_task(work())

            found, session, request = await _seen(runtime, place, start)
            return {id(session): "session", id(request): "request", id(None): "none"}[id(found)]

    assert asyncio.run(main()) == FOLLOWS[place]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("to_thread", [asyncio.to_thread, invivo.to_thread])
def test_to_thread_sees_the_context_of_the_code_that_starts_it(
    runtime: Runtime, place: str, to_thread: Callable[[See], Any]
) -> None:
    assert seen(runtime, place, lambda see: asyncio.ensure_future(to_thread(see))) == FOLLOWS[place]


@pytest.mark.parametrize("place", PLACES)
def test_a_call_soon_threadsafe_sees_the_context_of_the_code_that_starts_it(runtime: Runtime, place: str) -> None:
    def start(see: See) -> Awaitable[Any]:
        loop = asyncio.get_running_loop()
        called: asyncio.Future[Any] = loop.create_future()
        loop.call_soon_threadsafe(lambda: called.set_result(see()))
        return called

    assert seen(runtime, place, start) == FOLLOWS[place]


@pytest.mark.parametrize("place", PLACES)
def test_an_executor_sees_no_context(runtime: Runtime, place: str) -> None:
    assert seen(runtime, place, lambda see: asyncio.get_running_loop().run_in_executor(None, see)) == "none"


@pytest.mark.parametrize("place", PLACES)
def test_a_thread_sees_no_context(runtime: Runtime, place: str) -> None:
    def start(see: See) -> Awaitable[Any]:
        loop = asyncio.get_running_loop()
        called: asyncio.Future[Any] = loop.create_future()
        threading.Thread(target=lambda: loop.call_soon_threadsafe(called.set_result, see())).start()
        return called

    assert seen(runtime, place, start) == "none"


async def _numbers(see: See) -> AsyncIterator[Any]:
    yield see()
    yield see()


async def _all(numbers: AsyncIterator[Any]) -> Any:
    first, second = [each async for each in numbers]
    assert first is second
    return first


@pytest.mark.parametrize("place", PLACES)
def test_an_async_generator_sees_the_context_of_the_code_that_iterates_it(runtime: Runtime, place: str) -> None:
    def task(see: See) -> Awaitable[Any]:
        return asyncio.ensure_future(_all(_numbers(see)))

    assert seen(runtime, place, task) == FOLLOWS[place]


@pytest.mark.parametrize("place", PLACES)
def test_an_async_generator_of_an_object_may_be_iterated_elsewhere(runtime: Runtime, place: str) -> None:
    # The test itself awaits it, in the block of the request.
    assert seen(runtime, place, lambda see: _all(_numbers(see))) == "request"


@pytest.mark.parametrize("place", PLACES)
def test_a_task_resolves_in_the_context_that_it_sees(runtime: Runtime, place: str) -> None:
    """A background task of a shared object never finds the objects of the request that has created it."""

    class Table:
        def __init__(self) -> None:
            self.home = runtime.current_context

    runtime.define(Table, "web.table", "context")

    def start(see: See) -> Awaitable[Any]:
        async def work() -> Any:
            if see() is not None:
                return runtime[Table].home
            with pytest.raises(invivo.NotReadyError):
                runtime[Table]
            return None

        return asyncio.ensure_future(work())

    assert seen(runtime, place, start) == FOLLOWS[place]


@pytest.mark.parametrize("place", ["object", "shared"])
def test_a_thread_of_an_object_enters_its_context(runtime: Runtime, place: str) -> None:
    def start(see: See) -> Awaitable[Any]:
        loop, own = asyncio.get_running_loop(), see()
        called: asyncio.Future[Any] = loop.create_future()

        def work() -> None:
            if own is None:
                found = see()
            else:
                with own.entered():
                    found = see()
            loop.call_soon_threadsafe(called.set_result, found)

        threading.Thread(target=work).start()
        return called

    assert seen(runtime, place, start) == FOLLOWS[place]
