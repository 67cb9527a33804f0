"""The end of contexts: the error of the block, the errors of stops, children, deadlines."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import invivo
from invivo import Context, Runtime

needs_notes = pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes and groups")


class Connection:
    pass


class Failing:
    @invivo.on_stop
    def stop(self) -> None:
        raise OSError("the disk is full")


class FailingToo:
    @invivo.on_stop
    def stop(self) -> None:
        raise OSError("the net is down")


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime(log=lambda *_: None, contexts=["session", "request"]) as runtime:
        runtime.define(Failing, "web.failing", "context")
        runtime.define(FailingToo, "web.failing_too", "context")
        yield runtime


def received(runtime: Runtime, raised: BaseException, *, outer: bool = False) -> list[Any]:
    """Returns what a generator resource of a request receives when its block, or that of its session, raises."""
    found: list[Any] = []

    def connection() -> Iterator[Connection]:
        try:
            yield Connection()
            found.append(None)
        except BaseException as problem:
            found.append(problem)
            raise

    runtime.define(invivo.managed(connection), "web.connection", "context(request)")
    kept: list[Context] = []
    with pytest.raises(type(raised)) as caught, runtime.context("session"):
        if outer:
            kept.append(runtime.context("request"))
            assert kept[0][Connection]
            raise raised
        with runtime.context("request"):
            assert runtime[Connection]
            raise raised
    assert caught.value is raised
    return found


@pytest.mark.parametrize(
    "raised", [ValueError("no"), KeyError(3), invivo.NotFoundError("no"), StopIteration(), asyncio.CancelledError()]
)
def test_the_error_of_the_block_is_thrown_at_the_yield(runtime: Runtime, raised: BaseException) -> None:
    assert received(runtime, raised) == [raised]
    assert not getattr(raised, "__notes__", [])


def test_the_error_reaches_the_objects_of_children(runtime: Runtime) -> None:
    raised = ValueError("no")
    assert received(runtime, raised, outer=True) == [raised]


def test_a_block_without_an_error_throws_none(runtime: Runtime) -> None:
    found: list[Any] = []

    class Manager(contextlib.AbstractContextManager[Connection]):
        def __enter__(self) -> Connection:
            return Connection()

        def __exit__(self, *raised: Any) -> None:
            found.append(raised)

    def connection() -> contextlib.AbstractContextManager[Connection]:
        return Manager()

    runtime.define(invivo.managed(connection), "web.connection", "context(request)")
    with runtime.context("request"):
        assert runtime[Connection]
    assert found == [(None, None, None)]


def test_a_context_manager_receives_the_error(runtime: Runtime) -> None:
    found: list[Any] = []

    class Manager(contextlib.AbstractContextManager[Connection]):
        def __enter__(self) -> Connection:
            return Connection()

        def __exit__(self, *raised: Any) -> bool:
            found.append(raised)
            return True  # swallows it, which changes nothing

    def connection() -> contextlib.AbstractContextManager[Connection]:
        return Manager()

    runtime.define(invivo.managed(connection), "web.connection", "context(request)")
    raised = ValueError("no")
    with pytest.raises(ValueError, match="no") as caught, runtime.context("request") as request:
        assert runtime[Connection]
        raise raised
    assert caught.value is raised
    assert [each[:2] for each in found] == [(ValueError, raised)]
    assert request.end_errors == []


def test_swallowing_the_error_changes_nothing(runtime: Runtime) -> None:
    def connection() -> Iterator[Connection]:
        with contextlib.suppress(ValueError):
            yield Connection()

    runtime.define(invivo.managed(connection), "web.connection", "context(request)")
    with pytest.raises(ValueError, match="no"), runtime.context("request") as request:
        assert runtime[Connection]
        raise ValueError("no")
    assert request.end_errors == []


@needs_notes
def test_a_second_yield_is_an_error(runtime: Runtime) -> None:
    def connection() -> Iterator[Connection]:
        with contextlib.suppress(ValueError):
            yield Connection()
        yield Connection()

    runtime.define(invivo.managed(connection), "web.connection", "context(request)")
    with pytest.raises(invivo.WrongTypeError, match="yielded twice"), runtime.context("request"):
        assert runtime[Connection]
    with pytest.raises(ValueError, match="no") as caught, runtime.context("request") as request:
        assert runtime[Connection]
        raise ValueError("no")
    assert "yielded twice" in str(request.end_errors[0])
    assert "yielded twice" in caught.value.__notes__[0]


@needs_notes
def test_another_error_of_a_resource_is_a_note(runtime: Runtime) -> None:
    def connection() -> Iterator[Connection]:
        try:
            yield Connection()
        except ValueError as problem:
            raise OSError("no commit") from problem

    runtime.define(invivo.managed(connection), "web.connection", "context(request)")
    with pytest.raises(ValueError, match="no") as caught, runtime.context("request") as request:
        assert runtime[Connection]
        raise ValueError("no")
    assert len(caught.value.__notes__) == 1
    assert "no commit" in caught.value.__notes__[0]
    assert isinstance(request.end_errors[0].__cause__, OSError)


@needs_notes
def test_errors_of_stops_never_replace_that_of_the_block(runtime: Runtime) -> None:
    raised = ValueError("no")
    with pytest.raises(ValueError, match="no") as caught, runtime.context("request") as request:
        assert runtime[Failing]
        assert runtime[FailingToo]
        raise raised
    assert caught.value is raised
    assert ["net" in each for each in raised.__notes__] == [True, False]
    assert [str(each.__cause__) for each in request.end_errors] == ["the net is down", "the disk is full"]


@needs_notes
def test_errors_of_stops_are_raised_where_the_block_has_none(runtime: Runtime) -> None:
    with pytest.raises(invivo.HostError, match="the disk is full") as one, runtime.context("request") as request:
        assert runtime[Failing]
    assert isinstance(one.value.__cause__, OSError)
    assert request.end_errors == [one.value]
    with pytest.raises(ExceptionGroup) as several, runtime.context("request") as request:  # noqa: F821
        assert runtime[Failing]
        assert runtime[FailingToo]
    assert list(several.value.exceptions) == request.end_errors
    assert [str(each.__cause__) for each in request.end_errors] == ["the net is down", "the disk is full"]
    assert request.ended


def test_ending_again_raises_the_same(runtime: Runtime) -> None:
    with runtime.context("request") as request:
        assert request[Failing]
        for _ in range(2):
            with pytest.raises(invivo.HostError, match="the disk is full"):
                request.end()
    assert len(request.end_errors) == 1
    with pytest.raises(invivo.HostError, match="the disk is full"):
        request.end()


def test_an_end_in_its_own_code_is_refused(runtime: Runtime) -> None:
    found: list[Any] = []

    class Ending:
        def __init__(self) -> None:
            with pytest.raises(invivo.InCallbackError):
                runtime.current_context.end()  # type: ignore[union-attr]

        @invivo.on_stop
        def stop(self) -> None:
            with pytest.raises(invivo.InCallbackError):
                runtime.current_context.end()  # type: ignore[union-attr]
            found.append("stop")

    runtime.define(Ending, "web.ending", "context(request)")
    with runtime.context("request") as request:
        assert runtime[Ending]
        assert not request.ended
    assert found == ["stop"]


def test_stops_find_what_is_built_and_not_stopped(runtime: Runtime) -> None:
    found: list[Any] = []

    class Late:
        pass

    class Last:
        @invivo.on_stop
        def stop(self) -> None:
            found.append(runtime[Connection])
            found.append(runtime.current_context["user"])  # type: ignore[index]
            with pytest.raises(invivo.StaleError):
                runtime[Late]

    runtime.define(Connection, "web.connection", "context(request)")
    runtime.define(Late, "web.late", "context(request)")
    runtime.define(Last, "web.last", "context(request)")
    with runtime.context("request", user="ada"):
        connection = runtime[Connection]
        assert runtime[Last]
    assert found == [connection, "ada"]


def test_children_end_first_or_refuse_the_end(runtime: Runtime) -> None:
    order: list[str] = []

    class Noting:
        def __init__(self) -> None:
            self.user = runtime.current_context["user"]  # type: ignore[index]

        @invivo.on_stop
        def stop(self) -> None:
            order.append(self.user)

    runtime.define(Noting, "web.noting", "context")
    session = runtime.context("session", user="session")
    requests = [runtime.context("request", user=each, parent=session) for each in ("one", "two")]
    for each in (*requests, session):
        assert each[Noting]
    with pytest.raises(invivo.BusyError, match="request"):
        session.end(children="refuse")
    assert not session.ended
    session.end()
    assert order == ["two", "one", "session"]
    assert all(each.ended for each in requests)
    with pytest.raises(invivo.ArgumentError, match="children"):
        session.end(children="keep")  # type: ignore[arg-type]
    for each in requests:
        each.end()


def test_the_end_has_a_deadline(runtime: Runtime) -> None:
    entered, go = threading.Event(), threading.Event()

    class Slow:
        def __init__(self) -> None:
            entered.set()
            go.wait(30)

    runtime.define(Slow, "web.slow", "context(request)")
    request = runtime.context("request")
    builder = threading.Thread(target=lambda: request[Slow])
    builder.start()
    assert entered.wait(30)
    with pytest.raises(invivo.DeadlineError):
        request.end(timeout=0.01)
    assert request.ended
    go.set()
    builder.join()


def test_a_block_left_in_another_task_is_logged_with_both(runtime: Runtime, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        opened: asyncio.Future[Context] = asyncio.get_running_loop().create_future()
        left = asyncio.Event()

        async def enter() -> None:
            context = runtime.context("request")
            await context.__aenter__()
            opened.set_result(context)
            await left.wait()
            assert runtime.current_context is None

        task = asyncio.create_task(enter(), name="the one")
        context = await opened

        async def leave() -> None:
            async with runtime.context() as own:
                await context.__aexit__(None, None, None)
                assert runtime.current_context is own

        await asyncio.create_task(leave(), name="the other")
        assert context.ended
        left.set()
        await task

    with caplog.at_level(logging.WARNING, "invivo"):
        asyncio.run(main())
    (message,) = [each.getMessage() for each in caplog.records]
    assert "the task 'the one'" in message
    assert "the task 'the other'" in message
