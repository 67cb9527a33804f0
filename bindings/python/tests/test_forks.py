"""Forked children: they read what the parent had built, get ForkedError for the rest, and end nothing."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import re
import threading
from collections.abc import Callable
from typing import Any

import fork_marker
import pytest

import invivo


class Settings:
    def __init__(self, workers: int) -> None:
        self.workers = workers


class Pool:
    stops = 0

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @invivo.on_stop
    def close(self) -> None:
        Pool.stops += 1


class Request:
    def __init__(self, pool: Pool) -> None:
        self.pool = pool


class Unused:
    pass


class Web(invivo.Assembly):
    @invivo.singleton
    def settings(self) -> Settings:
        return invivo.new(Settings, workers=invivo.config("workers"))

    @invivo.lazy_singleton
    def pool(self) -> Pool:
        return invivo.new(Pool, settings=self.settings())

    @invivo.prototype
    def request(self) -> Request:
        return invivo.new(Request, pool=self.pool())

    @invivo.lazy_singleton
    def unused(self) -> Unused:
        return invivo.new(Unused)


def opened(web: Web) -> invivo.Runtime:
    runtime = invivo.Runtime()
    runtime.source("web.yaml", "config: { web: { workers: 4 } }\n")
    runtime.activate(web)
    return runtime


def in_a_child(body: Callable[[], None]) -> None:
    """Runs `body` in a forked child; what it raises fails the test."""
    read, write = os.pipe()
    child = fork_marker.fork()
    if child == 0:
        said = b"it did not end"
        try:
            body()
            said = b""
        except BaseException as problem:
            said = f"{type(problem).__name__}: {problem}".encode()
        finally:
            os.write(write, said)
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert said == b"", said.decode()


def test_a_child_reads_what_was_built() -> None:
    web = Web()
    with opened(web) as runtime:
        pool = runtime[Pool]
        settings = runtime["web.settings"]

        def read() -> None:
            for _ in range(2):
                assert runtime[Pool] is pool
                assert runtime["web.pool"] is pool
                assert web.pool() is pool
                assert runtime.resolve(Settings) is settings
                with pytest.raises(invivo.NotFoundError, match="no definition makes a 'Pattern'"):
                    runtime[re.Pattern]
                assert runtime.resolve_type(Pool) is pool
                assert "web.pool" in runtime
                assert runtime.config("web.workers") == 4
                with runtime.view() as view:
                    assert view.config("web.workers") == 4
                    assert view.generation > 0
                assert repr(runtime) == "<invivo.Runtime of the parent process>"
                runtime.close()
                assert not runtime.closed

        in_a_child(read)
        assert runtime[Pool] is pool


def test_a_child_finds_by_class_what_an_override_made() -> None:
    class Fast(Pool):
        pass

    web = Web()
    with opened(web) as runtime, runtime.override("web.pool", Fast):
        pool = runtime[Fast]

        def read() -> None:
            assert runtime[Fast] is pool
            assert runtime[Pool] is pool
            runtime.close()

        in_a_child(read)


def test_a_child_builds_nothing() -> None:
    web = Web()
    with opened(web) as runtime:
        for _ in range(10):  # by a plan, too
            assert runtime[Request].pool is runtime[Pool]

        def refused() -> None:
            for attempt in (
                lambda: runtime[Request],
                lambda: runtime["web.request"],
                lambda: runtime.resolve(Request),
                lambda: web.request(),
                lambda: runtime[Unused],
                lambda: runtime.resolve_all(Pool),
                lambda: runtime.info,
                lambda: runtime.define(Unused, "web.other"),
                lambda: runtime.source("other.yaml", ""),
            ):
                with pytest.raises(invivo.ForkedError):
                    attempt()

        in_a_child(refused)
        assert isinstance(runtime[Request], Request)


def test_a_child_ends_nothing() -> None:
    Pool.stops = 0
    web = Web()
    with opened(web) as runtime:
        held = [runtime[Pool]]

        def leave() -> None:
            with runtime:
                held.clear()
            runtime.close()
            assert Pool.stops == 0

        in_a_child(leave)
        assert Pool.stops == 0
    assert Pool.stops == 1


def test_a_view_that_is_open_stays_readable() -> None:
    with opened(Web()) as runtime, runtime.view() as view:
        generation = view.generation

        def read() -> None:
            assert view.generation == generation
            assert view.config("web.workers") == 4
            with runtime.view() as inner:
                assert inner.generation == generation

        in_a_child(read)


def test_a_child_opens_a_runtime_of_its_own() -> None:
    with opened(Web()) as runtime:
        pool = runtime[Pool]

        def open_another() -> None:
            with opened(Web()) as own:
                assert own[Request].pool is own[Pool] is not pool
                own.source("web.yaml", "config: { web: { workers: 5 } }\n")
            assert runtime[Pool] is pool

        in_a_child(open_another)


def test_children_fork_children() -> None:
    with opened(Web()) as runtime:
        pool = runtime[Pool]

        def read() -> None:
            assert runtime[Pool] is pool
            with pytest.raises(invivo.ForkedError):
                runtime[Unused]

        def fork_again() -> None:
            read()
            in_a_child(read)

        in_a_child(fork_again)


def test_a_fork_beneath_a_constructor_leaves_other_threads_plans_behind(script: Any) -> None:
    """A child waited for constructors of other threads, which never end there, before it ended."""
    ran = script(
        """
import os, sys, threading, time
import fork_marker
import invivo

faulthandler.cancel_dump_traceback_later()  # which cannot end in a forked child
entered, go_on = threading.Event(), threading.Event()

class Slow:
    def __init__(self):
        if threading.current_thread() is not threading.main_thread():
            entered.set()
            go_on.wait()

app = invivo.Assembly("app")
app.prototype(Slow)
runtime = invivo.Runtime(app)
for _ in range(10):
    runtime[Slow]
other = threading.Thread(target=lambda: runtime[Slow])
other.start()
entered.wait()
pid = fork_marker.fork()
if pid == 0:
    began = time.monotonic()
    runtime.close()
    invivo._native.session.close_all()
    sys.stdout.write("ended\\n" if time.monotonic() - began < 4 else "waited\\n")
    sys.stdout.flush()
    sys.exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
go_on.set()
other.join()
runtime.close()
"""
    )
    assert ran.stdout.split() == ["ended", "0"], ran.stderr


def _task(name: str) -> tuple[int, int]:
    runtime = _shared["runtime"]
    return os.getpid(), runtime[name].settings.workers


_shared: dict[str, invivo.Runtime] = {}


def test_multiprocessing_uses_built_singletons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", fork_marker.fork)
    with opened(Web()) as runtime:
        _ = runtime[Pool]
        _shared["runtime"] = runtime
        try:
            with multiprocessing.get_context("fork").Pool(2) as workers:
                found = workers.map(_task, ["web.pool"] * 20)
        finally:
            _shared.clear()
        assert {workers for _, workers in found} == {4}
        assert os.getpid() not in {pid for pid, _ in found}


def test_workers_of_a_preloaded_application(script: Any) -> None:
    """As gunicorn does with --preload: the application is there before the fork, and each worker ends by itself."""
    ran = script(
        """
import os, sys
import fork_marker
import invivo

faulthandler.cancel_dump_traceback_later()  # which cannot end in a forked child

class Database:
    def __init__(self):
        self.made_in = os.getpid()

    @invivo.on_stop
    def close(self):
        print("stopped", os.getpid() == parent, flush=True)

app = invivo.Assembly("app")
app.singleton(Database)
parent = os.getpid()
runtime = invivo.Runtime(app)
workers = []
for _ in range(4):
    pid = fork_marker.fork()
    if pid == 0:
        assert runtime[Database].made_in == parent
        sys.exit(3)  # with the interpreter's handlers
    workers.append(pid)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers], flush=True)
runtime.close()
"""
    )
    assert ran.stdout.splitlines() == ["[3, 3, 3, 3]", "stopped True"], ran.stderr


def test_only_children_that_the_interpreter_blocks_are_forked_again(script: Any) -> None:
    ran = script(
        """
import os, mmap, signal

faulthandler.cancel_dump_traceback_later()  # which cannot end in a forked child
blocked = mmap.mmap(-1, 2)  # how many children are to block, before and after the mark
forks = mmap.mmap(-1, 1)

def block(index):
    if blocked[index]:
        blocked[index] -= 1
        signal.pause()  # until it is killed

def before_the_mark():
    forks[0] += 1
    block(0)

os.register_at_fork(after_in_child=before_the_mark)
import fork_marker
os.register_at_fork(after_in_child=lambda: block(1))
fork_marker.LIMIT = 1

def ended(child):
    if child == 0:
        os._exit(3)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

blocked[0] = 1
print(ended(fork_marker.fork()), forks[0], flush=True)
blocked[0] = 3
try:
    fork_marker.fork()
except AssertionError as problem:
    print(problem, forks[0], flush=True)
blocked[1] = 1
child = fork_marker.fork()
os.kill(child, signal.SIGKILL)
print(ended(child), forks[0], flush=True)
"""
    )
    assert ran.stdout.splitlines() == [
        "3 2",
        "os.fork did not return in 3 children, one after another 5",
        "-9 6",
    ], ran.stderr


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forks_under_load() -> None:
    """Other threads resolve and commit: locks that they hold at the fork are no child's."""
    web = Web()
    over = threading.Event()
    with opened(web) as runtime:
        _ = runtime[Pool]

        # No fork while a thread does something for the first time: Swift's own locks are not released in a child.
        begun = threading.Barrier(4)

        def resolve() -> None:
            assert runtime[Request].pool.settings.workers >= 4
            begun.wait(60)
            while not over.is_set():
                assert runtime[Request].pool.settings.workers >= 4

        def commit() -> None:
            for number in itertools.count(5):
                runtime.configure("web.workers", number)
                _ = runtime[Pool]
                if number == 10:
                    begun.wait(60)
                if over.is_set():
                    break

        def read() -> None:
            workers = runtime.config("web.workers")
            assert runtime[Settings].workers == workers
            with pytest.raises(invivo.ForkedError):
                runtime[Request]

        threads = [threading.Thread(target=each) for each in (resolve, resolve, commit)]
        for thread in threads:
            thread.start()
        begun.wait(60)
        try:
            for _ in range(200):
                in_a_child(read)
        finally:
            over.set()
            for thread in threads:
                thread.join()
