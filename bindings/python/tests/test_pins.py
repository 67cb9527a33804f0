"""Pins: a block, a task or a thread reads one generation."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import threading

import pytest

import invivo
from invivo._native import pins


class Part:
    def __init__(self, number: int = 0) -> None:
        self.number = number


class Made(Part):
    pass


class Holder:
    def __init__(self, part: Part, later: invivo.Provider[Part], lazy: invivo.Lazy[Part]) -> None:
        self.part, self.later, self.lazy = part, later, lazy


def assembly() -> invivo.Assembly:
    app = invivo.Assembly("app")
    app.lazy_singleton(Part, number=invivo.config("number"))
    app.prototype(Made, "made", number=invivo.config("number"))
    app.lazy_singleton(Holder)
    return app


def say(runtime: invivo.Runtime, number: int) -> None:
    runtime.configure("app.number", number)


def numbers(runtime: invivo.Runtime) -> set[int]:
    with runtime.view() as view:
        seen = view.config("app.number")
    return {
        runtime[Part].number,
        runtime["app.made"].number,
        runtime.resolve("app.made").number,
        runtime.resolve_type(Holder).part.number,
        runtime[Holder].later().number,
        runtime[Holder].lazy().number,
        runtime.config("app.number"),
        seen,
    }


@pytest.fixture
def runtime():
    with invivo.Runtime() as opened:
        with opened.changes() as changes:
            changes.configure("app.number", 1)
            changes.activate(assembly())
        yield opened


@pytest.mark.parametrize("warm", [0, 3])
def test_a_block_reads_one_generation_also_from_caches_and_build_plans(runtime, warm):
    for _ in range(warm):  # the second resolve of a key makes a build plan
        assert numbers(runtime) == {1}
    with runtime.pinned() as pin:
        assert numbers(runtime) == {1}
        say(runtime, 2)
        for _ in range(3):
            assert numbers(runtime) == {1}
        with runtime.pinned() as inner:
            assert inner.generation == pin.generation < runtime.generation
            assert numbers(runtime) == {1}
        say(runtime, 3)
        assert numbers(runtime) == {1}
    assert pin.generation == 0
    for _ in range(3):
        assert numbers(runtime) == {3}
    with pytest.raises(invivo.StaleError, match="the pin has ended"), pin:
        pass


def test_what_is_unchanged_is_the_shared_object(runtime):
    part = runtime[Part]
    with runtime.pinned():
        runtime.configure("other", 1)
        assert runtime[Part] is part
        say(runtime, 2)
        assert runtime[Part] is part
    assert runtime[Part] is not part


def test_caches_are_used_again_when_the_last_pin_of_a_former_generation_has_ended(runtime):
    with runtime.pinned():
        say(runtime, 2)
        runtime[Part]
        assert Part not in runtime._kept
    for _ in range(60_000):
        runtime[Part]
        if Part in runtime._kept:
            break
        threading.Event().wait(0.001)
    assert runtime[Part].number == 2
    assert Part in runtime._kept


def test_tasks_have_pins_of_their_own(runtime):
    async def request(number: int) -> None:
        with runtime.pinned():
            assert numbers(runtime) == {number}
            begun[number].set()
            await gate.wait()
            assert numbers(runtime) == {number}
            assert (await runtime.aresolve(Part)).number == number
            assert await asyncio.to_thread(numbers, runtime) == {number}
            assert await asyncio.create_task(child()) == {number}

    async def child() -> set[int]:
        return numbers(runtime)

    async def main() -> None:
        nonlocal gate, begun
        gate, begun = asyncio.Event(), {1: asyncio.Event(), 2: asyncio.Event()}
        first = asyncio.create_task(request(1))
        await begun[1].wait()
        say(runtime, 2)
        second = asyncio.create_task(request(2))
        await begun[2].wait()
        say(runtime, 3)
        assert numbers(runtime) == {3}
        gate.set()
        await asyncio.gather(first, second)
        assert numbers(runtime) == {3}

    gate: asyncio.Event
    begun: dict[int, asyncio.Event]
    asyncio.run(main())


def test_a_thread_enters_a_pin_and_one_that_outlives_it_reads_the_current_generation(runtime):
    found: list[set[int]] = []

    def read(pin: invivo.Pin | None) -> None:
        if pin is None:
            found.append(numbers(runtime))
            return
        with pin:
            found.append(numbers(runtime))

    def in_thread(pin: invivo.Pin | None, within: contextvars.Context | None = None) -> None:
        context = within or contextvars.Context()
        thread = threading.Thread(target=context.run, args=(read, pin))
        thread.start()
        thread.join()

    with runtime.pinned() as pin:
        say(runtime, 2)
        in_thread(pin)
        in_thread(None)
        inside = contextvars.copy_context()
    in_thread(None, within=inside)
    assert found == [{1}, {2}, {2}]


def test_observers_and_commits_belong_to_no_pin(runtime):
    seen: list[int] = []
    with runtime.observe(lambda report: seen.append(runtime[Part].number)), runtime.pinned():
        say(runtime, 2)
        assert numbers(runtime) == {1}
    assert seen == [2]


def test_factories_read_the_generation_of_what_they_create(runtime):
    seen: list[int] = []

    def make() -> Made:
        seen.append(runtime["app.part"].number)
        return Made(7)

    app = invivo.Assembly("late")
    app.prototype(make, "late")
    with runtime.changes() as changes:
        changes.activate(app)
    with runtime.pinned():
        say(runtime, 2)
        assert runtime["late.late"].number == 7
    runtime["late.late"]
    assert seen == [1, 2]


def test_a_generator_that_yields_in_a_pin_leaves_its_caller_in_it(runtime):
    def read():
        with runtime.pinned():
            yield runtime.config("app.number")

    reader = read()
    assert next(reader) == 1
    say(runtime, 2)
    assert runtime.config("app.number") == 1
    reader.close()
    assert runtime.config("app.number") == 2


def test_pins_end_out_of_order(runtime):
    def read():
        with runtime.pinned():
            yield

    for outer in (False, True):
        say(runtime, 1)
        around = runtime.pinned() if outer else contextlib.nullcontext()
        with around:
            reader = read()
            next(reader)
            with runtime.pinned():
                say(runtime, 2)
                reader.close()
                assert runtime.config("app.number") == 1
            assert runtime.config("app.number") == (1 if outer else 2)
        assert runtime.config("app.number") == 2
        assert pins._pin.get() is None
    assert not pins.open_pins


def test_a_context_whose_pin_was_closed_reads_other_runtimes_while_it_is_in_the_block(runtime):
    other = invivo.Runtime()
    with other.pinned():
        other.close()
        say(runtime, 2)
        assert runtime.config("app.number") == 2


def test_a_view_of_another_generation_and_a_closed_runtime_are_refused(runtime):
    held = runtime.pinned()
    with held:
        pass
    with runtime.view() as view:
        say(runtime, 2)
        with pytest.raises(invivo.BusyError, match="an open view of another generation"), runtime.pinned():
            pass
        assert view.config("app.number") == 1
    with runtime.pinned():
        say(runtime, 3)
        with runtime.view() as view:
            assert view.config("app.number") == 2
    pin = runtime.pinned()
    runtime.close()
    with pytest.raises(invivo.ClosedError), pin:
        pass


def test_close_ends_pins_and_names_the_line(caplog):
    runtime = invivo.Runtime()
    with runtime.pinned() as pin:
        runtime.close()
        assert pin.generation == 0
    assert "test_pins.py:" in caplog.text
    assert caplog.text.count("was open when the runtime was closed") == 1


def test_a_status_lists_a_pin_once_also_during_a_commit_in_it(runtime):
    counts: list[int] = []
    with runtime.observe(lambda report: counts.append(len(runtime.status.pins))), runtime.pinned():
        counts.append(len(runtime.status.pins))
        say(runtime, 2)
        runtime.rollback(runtime.generation - 1)
        with runtime.pinned():
            counts.append(len(runtime.status.pins))
    assert counts == [1, 1, 1, 2]
    assert runtime.status.pins == ()


def test_a_status_lists_a_pin_once_also_during_a_read_in_it(runtime):
    counts: list[int] = []

    def count() -> None:
        counts.append(len(runtime.status.pins))

    def make() -> Made:
        count()
        thread = threading.Thread(target=count)
        thread.start()
        thread.join()
        return Made(7)

    runtime.define(make, "late.made", "prototype")
    with runtime.pinned():
        runtime["late.made"]
        with runtime.pinned():
            runtime["late.made"]
    assert counts == [1, 1, 2, 2]


def test_a_commit_in_a_pin_creates_objects_of_the_new_generation(runtime):
    seen: list[int] = []

    def make() -> Made:
        seen.append(runtime.config("app.number"))
        return Made(7)

    with runtime.pinned():
        say(runtime, 2)
        runtime.define(make, "late.made", "singleton")
        assert runtime.config("app.number") == 1
    assert seen == [2]


def test_a_pin_that_is_never_entered_is_reported_with_its_line(runtime):
    with pytest.warns(ResourceWarning, match=r"its result was not entered") as caught:
        runtime.pinned()
    (one,) = caught
    assert one.filename == __file__
    with open(__file__) as file:
        assert file.readlines()[one.lineno - 1].strip() == "runtime.pinned()"


def test_a_pin_that_was_entered_or_refused_is_not_reported(runtime, recwarn):
    with runtime.pinned() as pin, pin:
        say(runtime, 2)
    with runtime.view():
        say(runtime, 3)
        pin = runtime.pinned()
        with pytest.raises(invivo.BusyError), pin:
            pass
    with pin:  # at last
        assert runtime.config("app.number") == 3
    assert type(pin) is invivo.Pin
    del pin
    gc.collect()
    assert not recwarn.list
