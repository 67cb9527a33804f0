"""Resolving without waiting."""

from __future__ import annotations

import asyncio
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
