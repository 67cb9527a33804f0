"""Cached reads while commits replace what is read: never older than what the runtime has answered already."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import invivo
from invivo._state.core import Core


class Clock:
    def __init__(self, number: int) -> None:
        self.number = number


class Meter:
    def __init__(self, number: int) -> None:
        self.number = number


class Pair:
    def __init__(self, clock: Clock, meter: Meter) -> None:
        self.clock, self.meter = clock, meter


def define(changes: invivo.Changes, number: int) -> None:
    changes.define(Clock, "app.clock", number=number)
    changes.define(Meter, "app.meter", number=number)


def in_threads(count: int, body: Callable[[], None]) -> list[threading.Thread]:
    threads = [threading.Thread(target=body) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_four_readers_never_step_back_and_never_mix_two_generations() -> None:
    """Each way of reading is compared with what every way before it has answered."""
    reloads, backward, mixed, reads = 300, [], [], []
    failures: list[BaseException] = []
    over = threading.Event()
    ready = threading.Barrier(5)
    app = invivo.Assembly("app")
    app.prototype(Pair)
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            define(changes, 0)
            changes.activate(app)
        ways: list[Callable[[], int]] = [
            lambda: runtime["app.clock"].number,
            lambda: runtime["app.meter"].number,
            lambda: runtime.resolve_type(Clock).number,
            lambda: runtime[Meter].number,
            lambda: runtime[Clock].number,
            lambda: runtime.resolve("app.meter").number,
            lambda: runtime[Pair].clock.number,
        ]

        def read() -> None:
            newest = count = 0
            try:
                ready.wait()
                while not over.is_set():
                    for way in ways:
                        number = way()
                        if number < newest:
                            backward.append((newest, number))
                        newest = max(newest, number)
                    pair = runtime["app.pair"]
                    if pair.clock.number != pair.meter.number:
                        mixed.append((pair.clock.number, pair.meter.number))
                    clock, meter = runtime[Clock].number, runtime["app.meter"].number
                    if meter < clock:  # read later, and older
                        mixed.append((clock, meter))
                    count += 1
            except BaseException as problem:
                failures.append(problem)
            reads.append(count)

        threads = in_threads(4, read)
        ready.wait()
        for number in range(1, reloads + 1):
            with runtime.changes() as changes:
                define(changes, number)
        over.set()
        for thread in threads:
            thread.join()
        assert not failures
        assert all(reads), "a reader did not read"
        assert (len(backward), len(mixed)) == (0, 0), (backward[:5], mixed[:5])
        assert {way() for way in ways} == {reloads}


@pytest.fixture
def publishing(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """What is put here runs when the caches are empty and the former generation is still visible."""
    found: list[Callable[[], None]] = []
    purge = Core.purge

    def purge_and_call(core: Core) -> None:
        purge(core)
        if core.epoch & 1:
            while found:
                found.pop()()

    monkeypatch.setattr(Core, "purge", purge_and_call)
    return found


def test_nothing_is_kept_while_a_commit_becomes_visible(publishing: list[Callable[[], None]]) -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Clock, "app.clock", number=1)
        meanwhile: list[Any] = []

        def resolve() -> None:
            thread = threading.Thread(target=lambda: meanwhile.extend((runtime[Clock], runtime["app.clock"])))
            thread.start()
            thread.join()

        publishing.append(resolve)
        runtime.define(Clock, "app.clock", number=2)
        assert [each.number for each in meanwhile] == [1, 1]
        assert (runtime[Clock].number, runtime["app.clock"].number) == (2, 2)


def test_a_class_that_means_another_definition_is_not_answered_by_the_former_one() -> None:
    class Better(Clock):
        pass

    with invivo.Runtime() as runtime:
        runtime.define(Clock, "app.clock", number=1)
        assert runtime[Clock].number == 1
        with runtime.changes() as changes:
            changes.define(Better, "app.better", number=2)
            changes.remove("app.clock")
        assert runtime[Clock].number == 2


def test_a_failed_commit_empties_nothing_for_good() -> None:
    class Broken:
        def __init__(self) -> None:
            raise ValueError("broken")

    with invivo.Runtime() as runtime:
        runtime.define(Clock, "app.clock", number=1)
        clock = runtime[Clock]
        with pytest.raises(invivo.Error, match="broken"):
            runtime.define(Broken, "app.clock", scope="singleton")
        assert runtime[Clock] is clock
        assert runtime._core.epoch % 2 == 0
        assert runtime[Clock] in runtime._kept.values()
