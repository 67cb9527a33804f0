"""Contexts in tasks and threads: the current context, blocks that are left elsewhere, observers."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import invivo
from invivo import Context, ContextKey, Runtime


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime(log=lambda *_: None) as runtime:
        yield runtime


def in_thread(function: Callable[[], Any]) -> Any:
    """Calls a function on a thread, and returns its result."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


# ---- what spawned work sees -----------------------------------------------------------------------------


def test_tasks_and_to_thread_inherit_the_context(runtime: Runtime) -> None:
    async def main() -> None:
        async with runtime.context(user="ada") as request:

            async def work() -> Any:
                await asyncio.sleep(0)
                assert runtime.current_context is request
                async with runtime.context(step=1) as inner:
                    await asyncio.sleep(0)
                    assert inner.parent is request
                    assert runtime.current_context is inner
                    return inner["user"]

            assert await asyncio.gather(work(), asyncio.create_task(work())) == ["ada", "ada"]
            assert await asyncio.to_thread(lambda: runtime.current_context) is request
            assert await asyncio.to_thread(lambda: runtime.context(a=1).parent) is request
            loop = asyncio.get_running_loop()
            assert await loop.run_in_executor(None, lambda: runtime.current_context) is None
            called: asyncio.Future[Any] = loop.create_future()
            loop.call_soon(lambda: called.set_result(runtime.current_context))
            assert await called is request
            assert runtime.current_context is request
        assert request.ended
        assert runtime.current_context is None

    with pytest.warns(ResourceWarning):
        asyncio.run(main())


def test_tasks_have_contexts_of_their_own(runtime: Runtime) -> None:
    async def request(number: int, barrier: list[asyncio.Event]) -> int:
        async with runtime.context(number=number) as context:
            barrier[number].set()
            for each in barrier:
                await each.wait()
            assert runtime.current_context is context
            found = context["number"]
            assert isinstance(found, int)
            return found

    async def main() -> None:
        barrier = [asyncio.Event() for _ in range(50)]
        assert await asyncio.gather(*(request(each, barrier) for each in range(50))) == list(range(50))

    before = invivo.live().contexts
    asyncio.run(main())
    assert invivo.live().contexts == before


def test_a_plain_thread_has_no_current_context_until_it_enters_one(runtime: Runtime) -> None:
    with runtime.context(a=1) as context:
        assert in_thread(lambda: runtime.current_context) is None

        def enter() -> Any:
            with context.entered() as same, context.entered():
                assert same is context
                assert runtime.current_context is context
                with runtime.context() as inner:
                    assert inner.parent is context
            return runtime.current_context

        assert in_thread(enter) is None
        assert not context.ended
        again = context.entered()
        with again, again:
            assert runtime.current_context is context
        assert runtime.current_context is context
    assert runtime.current_context is None


def test_a_task_that_outlives_its_context_has_no_current_one(runtime: Runtime) -> None:
    async def main() -> None:
        ended = asyncio.Event()

        async def work() -> None:
            await ended.wait()
            assert runtime.current_context is outer
            with runtime.context() as own:
                assert own.parent is outer

        async with runtime.context() as outer:
            async with runtime.context():
                task = asyncio.create_task(work())
            ended.set()
            await task

    asyncio.run(main())


def test_the_default_parent_is_never_one_that_another_ended(runtime: Runtime) -> None:
    runtime.declare_contexts("session", "request")
    with runtime.context("session") as session, runtime.context("session") as inner, runtime.context("request"):
        in_thread(inner.end)
        with runtime.context("request") as request:
            assert request.parent is session
        session.end()
        with runtime.context() as detached:
            assert detached.parent is None


# ---- blocks that are left elsewhere ---------------------------------------------------------------------


def test_a_block_may_be_left_in_another_task(runtime: Runtime) -> None:
    async def main() -> None:
        opened: asyncio.Future[Context] = asyncio.get_running_loop().create_future()
        left = asyncio.Event()

        async def enter() -> None:
            async with runtime.context(a=1) as outer:
                context = runtime.context()
                await context.__aenter__()
                opened.set_result(context)
                await left.wait()
                assert context.ended
                assert runtime.current_context is outer

        async def leave() -> None:
            context = await opened
            async with runtime.context() as own:
                await context.__aexit__(None, None, None)
                assert runtime.current_context is own
            left.set()

        await asyncio.gather(enter(), leave())

    asyncio.run(main())


def test_a_task_that_leaves_a_block_of_its_creator_keeps_its_current_context(runtime: Runtime) -> None:
    async def main() -> None:
        with runtime.context() as context:
            block = context.entered()
            block.__enter__()
            inner = runtime.context()
            inner.__enter__()

            async def leave() -> None:
                assert runtime.current_context is inner
                inner.__exit__(None, None, None)
                assert runtime.current_context is context
                block.__exit__(None, None, None)
                assert runtime.current_context is context

            await asyncio.create_task(leave())
            assert inner.ended
            assert runtime.current_context is context

    asyncio.run(main())


def test_an_async_generator_may_be_closed_in_another_task(runtime: Runtime) -> None:
    async def main() -> None:
        contexts: list[Context] = []

        async def numbers() -> AsyncIterator[int]:
            async with runtime.context() as context:
                contexts.append(context)
                yield 1
                yield 2

        stream = numbers()
        assert await anext(stream) == 1
        await asyncio.create_task(stream.aclose())  # type: ignore[attr-defined]
        assert contexts[0].ended
        assert runtime.current_context is None

    asyncio.run(main())


def test_a_block_may_be_left_in_another_contextvars_context_or_out_of_order(runtime: Runtime) -> None:
    first, second = runtime.context(), runtime.context()
    other = contextvars.copy_context()
    other.run(first.__enter__)
    assert runtime.current_context is None
    second.__enter__()
    first.__exit__(None, None, None)
    assert runtime.current_context is second
    assert other.run(lambda: runtime.current_context) is None
    third = runtime.context()
    third.__enter__()
    second.__exit__(None, None, None)
    assert runtime.current_context is third
    third.__exit__(None, None, None)
    assert runtime.current_context is None
    in_thread(lambda: runtime.context().__enter__().__exit__(None, None, None))


def test_a_cancelled_block_ends_its_context(runtime: Runtime) -> None:
    async def main() -> None:
        contexts: list[Context] = []
        entered = asyncio.Event()

        async def work() -> None:
            async with runtime.context() as context:
                contexts.append(context)
                entered.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert contexts[0].ended

    asyncio.run(main())


# ---- threads --------------------------------------------------------------------------------------------


def test_threads_read_and_write_one_chain(runtime: Runtime, frequent_switches: None) -> None:
    with runtime.context(pair=[0, 0]) as outer, runtime.context() as inner:
        problems: list[BaseException] = []

        def write(number: int) -> None:
            for step in range(200):
                outer.update(pair=[step, step], text=f"{number} {step}")
                inner["own"] = {"step": step}

        def read() -> None:
            try:
                for _ in range(500):
                    first, second = inner["pair"]
                    assert first == second
                    assert inner.get("own", {"step": 0})["step"] >= 0
                    assert dict(inner.items())
            except BaseException as problem:
                problems.append(problem)

        threads = [threading.Thread(target=write, args=(each,)) for each in range(2)]
        threads += [threading.Thread(target=read) for _ in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert not problems


# ---- observers ------------------------------------------------------------------------------------------


def test_a_key_is_observed_here_and_above(runtime: Runtime) -> None:
    seen: list[Any] = []
    with runtime.context(user="ada") as outer, runtime.context() as inner, runtime.context() as leaf:
        observer = inner.observe("user", seen.append)
        assert inner.observe("user", seen.append) is observer
        outer["user"] = "bob"
        inner["user"] = thing = object()
        leaf["user"] = "nobody"
        outer["user"] = "carol"
        inner["other"] = 5
        del inner["user"]
        inner.hide("user")
        assert seen == ["bob", thing, thing, "carol", None]
        observer.close()
        observer.close()
        outer["user"] = "dave"
        assert len(seen) == 5
        with inner.observe(ContextKey("count", int, default=3), seen.append):
            outer["count"] = 4
        outer["count"] = 5
        assert seen[5:] == [4]
        inner.observe("user", seen.append)
    with pytest.raises(invivo.ArityError):
        runtime.context().observe("user", lambda: None)


def test_an_observer_does_not_keep_its_context(runtime: Runtime) -> None:
    with pytest.warns(ResourceWarning):
        runtime.context().observe("user", print)


def test_an_exception_of_an_observer_is_logged() -> None:
    messages: list[str] = []
    log = lambda level, message, path, fields: messages.append(message)  # noqa: E731
    with Runtime(log=log) as runtime, runtime.context() as context:
        context.observe("a", lambda value: 1 // 0)
        context["a"] = 1
        assert context["a"] == 1
    assert any("ZeroDivisionError" in each for each in messages)


def test_an_observer_may_change_and_close(runtime: Runtime) -> None:
    with runtime.context() as context:
        seen: list[Any] = []

        def changed(value: Any) -> None:
            seen.append(value)
            if value < 3:
                context["a"] = value + 1
            else:
                observer.close()

        observer = context.observe("a", changed)
        context["a"] = 1
        assert seen == [1, 2, 3]
        context["a"] = 1
        assert seen == [1, 2, 3]


def test_an_observer_is_called_on_its_loop_once_for_several_changes(runtime: Runtime) -> None:
    async def main() -> None:
        loop, thread = asyncio.get_running_loop(), threading.get_ident()
        seen: list[Any] = []
        called = asyncio.Event()

        def changed(value: Any) -> None:
            assert threading.get_ident() == thread
            seen.append((value, runtime.current_context))
            called.set()

        async with runtime.context() as context:
            with context.observe("a", changed, loop=loop):
                for each in range(10):
                    context["a"] = each
                await called.wait()
                assert seen == [(9, context)]
                called.clear()
                in_thread(lambda: context.__setitem__("a", 10))
                await called.wait()
                called.clear()
                del context["a"]
                await called.wait()
                assert seen[1:] == [(10, context), (None, context)]
                context["a"] = 11
            closed = context.observe("a", changed, loop=loop)
            context["a"] = 12
            closed.close()
            context.observe("a", changed, loop=loop)
            context["a"] = 13
        # Calls come in their order: this one would be the last.
        last = asyncio.Event()
        with runtime.context() as after, after.observe("a", lambda value: last.set(), loop=loop):
            after["a"] = 1
            await last.wait()
        assert len(seen) == 3

    asyncio.run(main())


def test_an_observer_of_a_closed_loop_is_not_called(runtime: Runtime) -> None:
    loop = asyncio.new_event_loop()
    with runtime.context() as context:
        context.observe("a", print, loop=loop)
        loop.close()
        context["a"] = 1
        assert context["a"] == 1
