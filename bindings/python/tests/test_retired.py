"""Objects that reloads replace are stopped when nothing uses them any more, and not before."""

from __future__ import annotations

import gc
import logging
import os
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import fork_marker
import pytest

import invivo

LIMIT = 60


class Pool:
    """Says when it is stopped."""

    stops: ClassVar[queue.SimpleQueue[Pool]]
    kept: ClassVar[list[Pool]]
    is_kept = False

    def __init__(self) -> None:
        self.stopped = False
        self.used_after_stop = 0
        if Pool.is_kept:
            Pool.kept.append(self)

    def use(self) -> bool:
        if self.stopped:
            self.used_after_stop += 1
        return not self.stopped

    @contextmanager
    def connection(self) -> Iterator[Pool]:
        assert self.use()
        yield self
        assert self.use()

    @invivo.on_stop
    def close(self) -> None:
        self.stopped = True
        Pool.stops.put(self)


class Request:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool


class Service:
    pool: Pool | None = None

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.stopped = False

    @invivo.on_stop
    def close(self) -> None:
        assert self.pool is not None
        assert self.pool.use()
        self.stopped = True


@pytest.fixture(autouse=True)
def fresh() -> None:
    Pool.stops, Pool.kept, Pool.is_kept = queue.SimpleQueue(), [], False


def stopped() -> Pool:
    return Pool.stops.get(timeout=LIMIT)


def replace(runtime: invivo.Runtime) -> None:
    runtime.define(Pool, "a.pool")


def retired(runtime: invivo.Runtime) -> list[tuple[str, str]]:
    return [(each.key, each.reason) for each in runtime.retired]


def test_an_object_that_a_variable_holds_is_stopped_when_it_is_gone() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.pool")
        pool = runtime[Pool]
        replace(runtime)
        assert runtime[Pool] is not pool
        assert pool.use()
        assert retired(runtime) == [("a.pool", "referenced")]
        (facts,) = runtime.retired
        assert (facts.type, facts.leases) == ("Pool", 0)
        assert facts.age >= facts.idle >= 0
        assert facts.age > 0
        del pool
        assert stopped().stopped
        assert runtime.retired == []


def test_an_object_that_nothing_uses_is_stopped_by_the_commit() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        assert runtime[Pool].use()  # the runtime keeps it besides
        replace(runtime)
        assert Pool.stops.get_nowait().stopped


def test_a_suspended_trait_does_not_keep_its_target() -> None:
    class Hold(invivo.Trait, name="a.Hold", everywhere=False):
        targets = Pool
        outside: ClassVar[list[Pool]] = []
        keeps: bool = False

        def apply(self, target: Pool) -> Iterator[None]:
            same = target
            if self.keeps:
                self.outside.append(target)
            yield
            assert same.use()

    with invivo.Runtime(stop_grace=None) as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        runtime.add_trait(Hold)
        with runtime.source("a.yaml", "traits: { a.pool: [{ a.Hold: {} }, { a.Hold: {} }] }") as source:
            assert runtime[Pool].use()
            replace(runtime)
            assert runtime[Pool].use()
            assert Pool.stops.get_nowait().stopped
            # A reference elsewhere counts.
            source.update("traits: { a.pool: [{ a.Hold: { keeps: true } }] }")
            replace(runtime)
            assert retired(runtime) == [("a.pool", "referenced")]
            Hold.outside.clear()
            assert stopped().stopped
            # The trait is removed, and its code runs.
            assert runtime[Pool].use()
            source.update("traits: {}")
            replace(runtime)
            assert stopped().stopped


def test_references_from_its_creation_do_not_keep_it() -> None:
    Pool.is_kept = True
    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        pool = runtime[Pool]
        replace(runtime)
        assert pool.use()
        del pool
        assert stopped() is Pool.kept[0]


def test_a_prototype_and_a_running_call_keep_it() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.pool")
        runtime.define(Request, "a.request", "prototype")
        for _ in range(4):  # by the library, and by a plan
            request = runtime[Request]
            replace(runtime)
            assert request.pool.use()
            with request.pool.connection():
                del request
                replace(runtime)
            assert not stopped().used_after_stop
            while runtime.retired:
                pass


def test_what_a_view_reads_is_not_stopped() -> None:
    with invivo.Runtime(stop_grace=0.001) as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        with runtime.view():
            replace(runtime)
            assert retired(runtime) == [("a.pool", "read")]
            assert Pool.stops.empty()
        stopped()


def test_users_are_stopped_before_what_they_use() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.define(Pool, "a.pool", "singleton")
            changes.define(Service, "a.service", "singleton")
        service = runtime[Service]
        replace(runtime)
        assert set(retired(runtime)) == {("a.pool", "leased"), ("a.service", "referenced")}
        pool = service.pool
        assert pool is not None
        del service
        assert Pool.stops.empty()
        assert pool.use()
        del pool
        assert not stopped().used_after_stop


def test_after_the_grace_time_it_is_stopped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("test_retired")
    with caplog.at_level(logging.WARNING), invivo.Runtime(stop_grace=0.001, log=logger) as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        pool = runtime[Pool]
        replace(runtime)
        assert stopped() is pool
    assert "'a.pool' of type 'Pool' is stopped although its language still refers to it" in caplog.text


def test_a_cycle_is_collected_or_ended_by_the_grace_time() -> None:
    with invivo.Runtime(stop_grace=None) as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        runtime[Pool].itself = [runtime[Pool]]  # type: ignore[attr-defined]
        replace(runtime)
        gc.collect()
        assert retired(runtime) == [("a.pool", "referenced")]
    assert stopped().stopped
    with invivo.Runtime(stop_grace=0.001) as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        runtime[Pool].itself = [runtime[Pool]]  # type: ignore[attr-defined]
        replace(runtime)
        assert stopped().stopped
        assert runtime[Pool].use()


def test_close_stops_what_variables_hold() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        old = runtime[Pool]
        replace(runtime)
        new = runtime[Pool]
    assert (stopped(), stopped()) == (new, old)


def test_an_exclusive_object_is_stopped_by_the_commit() -> None:
    class Port(Pool):
        @invivo.on_start
        def begin(self) -> None: ...

    with invivo.Runtime() as runtime:
        runtime.define(Port, "a.port", "singleton", options=invivo.options(exclusive=True))
        port = runtime[Port]
        runtime.define(Port, "a.port", "singleton", options=invivo.options(exclusive=True))
        assert Pool.stops.get_nowait() is port


def test_overrides_resets_and_removals_are_no_different() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        pool = runtime[Pool]
        with runtime.override("a.pool", Pool):
            above = runtime[Pool]
            assert above is not pool
        assert above.use()
        assert pool.use()
        del pool, above
        stopped(), stopped()
        pool = runtime[Pool]
        runtime.reset("a.pool")
        assert pool.use()
        del pool
        stopped()
        pool = runtime[Pool]
        with runtime.changes() as changes:
            changes.remove("a.pool")
        assert pool.use()
        assert retired(runtime) == [("a.pool", "referenced")]
        del pool
        stopped()


def test_a_failed_commit_stops_nothing_that_stays() -> None:
    class Broken(Pool):
        def __init__(self) -> None:
            raise OSError("on purpose")

    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        pool = runtime[Pool]
        with pytest.raises(invivo.HostError):
            runtime.define(Broken, "a.pool", "singleton")
        assert Pool.stops.empty()
        assert runtime[Pool] is pool
        assert runtime.retired == []


def test_the_members_of_an_assembly_are_no_different() -> None:
    class App(invivo.Assembly):
        @invivo.singleton
        def pool(self) -> Pool:
            return invivo.new(Pool)

        @invivo.singleton
        def service(self) -> Service:
            return invivo.new(Service, pool=self.pool())

    app = App()
    with invivo.Runtime(app) as runtime:
        service = runtime[Service]
        runtime.deactivate(app)
        assert service.pool is not None
        assert service.pool.use()
        pool = service.pool
        del service
        assert pool.use()
        del pool
        assert not stopped().used_after_stop


def test_a_thread_scoped_object_is_stopped_when_other_threads_let_go_of_it() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.pool", "thread")
        held: list[Pool] = []
        thread = threading.Thread(target=lambda: held.append(runtime[Pool]))
        thread.start()
        thread.join()
        assert held[0].use()
        held.clear()
        stopped()


def test_a_forked_child_stops_nothing() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.pool", "singleton")
        pool = runtime[Pool]
        replace(runtime)
        child = fork_marker.fork()
        if child == 0:
            del pool
            gc.collect()
            os._exit(0 if Pool.stops.empty() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert pool.use()
        del pool
        stopped()


def test_no_thread_uses_what_was_stopped_while_reloads_replace_it() -> None:
    over = threading.Event()
    uses = [0] * 8
    wrong: list[str] = []

    def work(number: int, runtime: invivo.Runtime) -> None:
        try:
            while not over.is_set():
                with runtime[Pool].connection() as pool:
                    for _ in range(5):
                        assert pool.use()
                assert runtime[Request].pool.use()
                uses[number] += 1
        except BaseException as problem:
            wrong.append(repr(problem))
            raise

    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.pool")
        runtime.define(Request, "a.request", "prototype")
        assert runtime[Pool].use()  # what is built is rebuilt by each commit
        threads = [threading.Thread(target=work, args=(number, runtime)) for number in range(8)]
        for thread in threads:
            thread.start()
        for _ in range(100):
            before = sum(uses)
            replace(runtime)
            while sum(uses) < before + 8 and not wrong:
                over.wait(0.0001)
        over.set()
        for thread in threads:
            thread.join(LIMIT)
        assert not wrong
        for _ in range(100):
            assert not stopped().used_after_stop
        assert runtime.retired == []


@pytest.mark.parametrize("shared", [False, True])
def test_no_thread_gets_a_weak_singleton_that_was_stopped(shared: bool) -> None:
    wrong: list[str] = []

    class Weak(Pool):
        @invivo.on_stop
        def close(self) -> None:
            self.stopped = True

    def work(runtime: invivo.Runtime) -> None:
        try:
            for _ in range(2000):
                weak = runtime["a.weak"]
                assert weak.use()
                del weak
        except BaseException as problem:
            wrong.append(repr(problem))
            raise

    with invivo.Runtime() as runtime:
        runtime.define(invivo.shared(Weak) if shared else Weak, "a.weak", "weak_singleton")
        threads = [threading.Thread(target=work, args=(runtime,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT)
        assert not wrong
        assert runtime.retired == []


def test_an_object_that_is_received_while_it_is_received_has_one_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by another thread, or by a finalizer that the garbage collector runs in the middle."""
    with invivo.Runtime() as runtime:
        runtime.define(Pool, "a.weak", "weak_singleton")
        core = runtime._core
        lean = core.lean
        again: list[object] = []

        def lean_twice(*arguments: Any) -> bool:
            monkeypatch.undo()
            again.append(runtime["a.weak"])
            return lean(*arguments)

        monkeypatch.setattr(core, "lean", lean_twice)
        weak = runtime["a.weak"]
        assert again == [weak]
        again.clear()
        del weak
        stopped()


def test_a_circle_that_nothing_else_holds_is_stopped() -> None:
    """Of scopes whose objects nothing but holders keep: when the scope's place ends, and at the latest at close."""

    class Part:
        peer: object

        def __init__(self) -> None:
            events.append("made")

        @invivo.on_start
        def start(self) -> None:
            events.append("start")

        @invivo.on_stop
        def stop(self) -> None:
            events.append("stop")

    def alone() -> Part:
        made = invivo.new(Part)
        made.peer = invivo.ref("a.one")
        return made

    def other() -> Part:
        made = invivo.new(Part)
        made.peer = invivo.ref("a.two")
        return made

    for scope in (invivo.weak_singleton, invivo.in_scope("place"), invivo.in_scope("thread"), invivo.prototype):
        for two in (False, True):
            events: list[str] = []
            with invivo.Runtime(stop_grace=None) as runtime:
                runtime.scope("place", lambda: 1)
                with runtime.changes() as changes:
                    changes.define(scope(other if two else alone), "a.one")
                    if two:
                        changes.define(scope(alone), "a.two")
                runtime.resolve("a.one")
                gc.collect()
            assert sorted(events) == sorted(["made", "start", "stop"] * (1 + two)), (scope, two)
            assert not any(vars(invivo.live()).values())


ends_seen: list[str] = []


class Part:
    def __init__(self, name: str) -> None:
        self.name = name

    @invivo.on_start
    def start(self) -> None: ...

    @invivo.on_stop
    def stop(self) -> None:
        ends_seen.append(self.name)


class Maker(Part):
    def make(self, name: str) -> Part:
        return Part(name)


class Works(invivo.Assembly):
    @invivo.lazy_singleton
    def maker(self) -> Maker:
        return invivo.new(Maker, "maker")

    @invivo.lazy_singleton
    def product(self) -> Part:
        return self.maker().make("product")

    @invivo.prototype
    def part(self, name: str) -> Part:
        return invivo.new(Part, name)


def test_what_a_method_made_is_stopped_before_its_maker_and_prototypes_in_reverse_order() -> None:
    ends_seen.clear()
    works = Works()
    with invivo.Runtime(works):
        held = [works.product(), *(works.part(name=str(number)) for number in range(4))]
    assert ends_seen == ["3", "2", "1", "0", "product", "maker"]
    del held


class Worker:
    """Its thread runs a method of it."""

    stopped: list[int] = []  # noqa: RUF012

    def __init__(self, size: int) -> None:
        self.size, self.end, self.up = size, threading.Event(), threading.Event()

    @invivo.on_start
    def start(self) -> None:
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        self.up.wait(30)

    def run(self) -> None:
        self.up.set()
        self.end.wait(60)

    @invivo.on_stop
    def stop(self) -> None:
        self.end.set()
        self.thread.join()
        self.stopped.append(self.size)


class Working(invivo.Assembly, name="a"):
    @invivo.singleton
    def worker(self) -> Worker:
        return invivo.new(Worker, invivo.config("size", 1))


def test_a_thread_that_the_start_began_does_not_keep_a_replaced_object() -> None:
    Worker.stopped.clear()
    with invivo.Runtime(app := Working()) as runtime, runtime.reloads() as reloads:
        for size in (2, 3):
            runtime.configure("a.size", size)
            assert Worker.stopped == list(range(1, size))
            assert "still referred to" not in str(next(reloads))
        held = app.worker()
        runtime.configure("a.size", 4)
        assert Worker.stopped == [1, 2]
        assert str(next(reloads)).endswith(
            "; the old instance of a.worker is still referred to and stays started: it is stopped when nothing refers "
            "to it, at the latest after 30.0 s (stop_grace); an exclusive definition stops it first"
        )
        assert [each.key for each in runtime.retired] == ["a.worker"]
        del held
    assert sorted(Worker.stopped) == [1, 2, 3, 4]
