"""The current runtime: for each thread and task, nested, restored when the block fails; and the process's default."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import invivo


class Clock:
    def __init__(self, of: str) -> None:
        self.name = of


class Player:
    clock: Clock = invivo.injected()
    clocks: list[Clock] = invivo.injected()
    maybe: Missing | None = invivo.injected()
    make: invivo.Provider[Clock] = invivo.injected()

    def __init__(self, early: bool = False) -> None:
        self.early = self.clock.name if early else ""


class Missing: ...


def runtime_of(name: str, *, inject_marked: bool = True) -> invivo.Runtime:
    app = invivo.Assembly(name)
    app.lazy_singleton(Clock, of=name)
    return invivo.Runtime(app, inject_marked=inject_marked)


@pytest.fixture
def two() -> Iterator[tuple[invivo.Runtime, invivo.Runtime]]:
    with runtime_of("one") as one, runtime_of("two") as two, invivo.Runtime():
        yield one, two
    invivo.set_default(None)


def test_marked_attributes_of_any_object_are_filled_by_the_current_runtime() -> None:
    with runtime_of("one") as one:
        player = Player()
        assert player.clock is one[Clock] is player.clock
        assert player.clocks == [player.clock]
        assert player.maybe is None
        assert player.make() is player.clock
    with pytest.raises(invivo.NotReadyError, match=r"Player\.clock is not injected.*no current runtime"):
        _ = Player().clock
    with pytest.raises(invivo.NotReadyError, match="there is no current runtime"):
        invivo.current()


def test_blocks_are_nested_and_restored_when_they_fail() -> None:
    with runtime_of("one") as one, runtime_of("two") as two:
        assert invivo.current() is two
        with one.entered() as entered:
            assert invivo.current() is one is entered
            with pytest.raises(ZeroDivisionError), two.entered():
                assert invivo.current() is two
                raise ZeroDivisionError
            assert invivo.current() is one
        assert invivo.current() is two
        with one:  # again: it is closed where its last block ends
            assert invivo.current() is one
        assert invivo.current() is two
        assert not one.closed
        two.close()
        with pytest.raises(invivo.ClosedError):
            invivo.current()
    assert one.closed


def test_each_thread_and_task_has_its_own(two: tuple[invivo.Runtime, invivo.Runtime]) -> None:
    one, other = two
    found: dict[str, object] = {}

    def in_a_thread() -> None:
        with pytest.raises(invivo.NotReadyError):
            invivo.current()
        with other.entered():
            met.wait(30)
            found["thread"] = Player().clock.name

    async def task(runtime: invivo.Runtime, begun: asyncio.Event, wait: asyncio.Event) -> str:
        with runtime.entered():
            begun.set()
            await asyncio.wait_for(wait.wait(), 30)
            return Player().clock.name

    async def tasks() -> list[str]:
        first, second = asyncio.Event(), asyncio.Event()
        with one.entered():
            inherits = asyncio.create_task(asyncio.to_thread(lambda: Player().clock.name))
        return [*await asyncio.gather(task(one, first, second), task(other, second, first)), await inherits]

    met = threading.Barrier(2)
    thread = threading.Thread(target=in_a_thread)
    thread.start()
    with one.entered():
        met.wait(30)
        assert Player().clock.name == "one"
        thread.join(30)
    assert found == {"thread": "two"}
    assert asyncio.run(tasks()) == ["one", "two", "one"]


def test_the_default_is_said_and_ends_with_its_runtime() -> None:
    one = runtime_of("one")
    invivo.set_default(one)
    assert invivo.current() is one
    names: list[str] = []
    thread = threading.Thread(target=lambda: names.append(Player().clock.name))
    thread.start()
    thread.join(30)
    assert names == ["one"]
    with runtime_of("two") as two:
        assert invivo.current() is two
    assert invivo.current() is one
    one.close()
    with pytest.raises(invivo.NotReadyError):
        invivo.current()


def test_what_a_runtime_makes_it_fills_itself(two: tuple[invivo.Runtime, invivo.Runtime]) -> None:
    one, other = two
    one.define(Player, "one.player", scope="prototype", early=True)
    with other.entered():
        for _ in range(4):  # by the library, then by a plan
            player = one["one.player"]
            assert (player.early, player.clock.name) == ("one", "one")

        def made() -> Player:
            return Player(early=True)

        one.define(made, "one.made", scope="prototype")
        assert [one["one.made"].early for _ in range(4)] == ["one"] * 4
        assert invivo.current() is other


def test_a_runtime_that_fills_nothing_says_so() -> None:
    with runtime_of("one", inject_marked=False), pytest.raises(invivo.NotReadyError, match="inject_marked=False"):
        _ = Player().clock


def test_what_ends_enters_its_runtime_and_leaves_the_context_alone() -> None:
    seen: list[tuple[object, dict[Any, Any]]] = []

    class Note:
        @invivo.on_stop
        def end(self) -> None:
            seen.append((invivo.current(), dict(contextvars.copy_context())))
            with other.entered():
                assert invivo.current() is other
                assert dict(contextvars.copy_context()) == seen[-1][1]
            assert invivo.current() is runtime

    app = invivo.Assembly("app")
    app.prototype(Note)
    runtime, other = invivo.Runtime(app), invivo.Runtime()
    note = runtime.resolve(Note)
    note.itself = note  # type: ignore[attr-defined]
    with other:
        del note
        outside = dict(contextvars.copy_context())
        gc.collect()
        assert invivo.current() is other
        assert seen == [(runtime, outside)]
        assert dict(contextvars.copy_context()) == outside
        note = runtime.resolve(Note)
        del note  # not by the collector
        assert [current for current, _ in seen] == [runtime, runtime]
    runtime.close()
