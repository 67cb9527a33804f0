"""Nobody may wait for anybody who waits for the GIL. Each case runs in a process of its own, with a deadline."""

from __future__ import annotations

from pathlib import Path

SETUP = """
import ctypes, gc, sys, threading
import invivo
from invivo._native.library import own_library

native = ctypes.CDLL(sys.argv[1])

class Part:
    level: int = invivo.tunable(0)
    def __init__(self) -> None: self.me = [self]

class Whole:
    level: int = invivo.tunable(0)
    def __init__(self, part: Part) -> None: self.part = part

class Note:
    def __init__(self, number: int) -> None: self.number = number
    @invivo.on_stop
    def end(self) -> None: sum(range(10))

def note(number: int) -> Note: return invivo.new(Note, number)

app = invivo.Assembly("app")
app.lazy_singleton(Part)
app.lazy_singleton(Whole)
app.define(invivo.prototype(note))
sys.setswitchinterval(1e-5)

def start(runtime, *keys):
    for which, key in enumerate(keys):
        assert native.native_start(
            which, ctypes.c_void_p(own_library().table), ctypes.c_uint64(runtime._core.handle.bits), key.encode()) == 0
    return range(len(keys))

def stop(threads):
    for which in threads:
        native.native_stop(which)
        assert native.native_commits(which) > 0, "nothing was committed"
        assert native.native_failures(which) == 0, "a commit failed"

def wait(which, count):
    while native.native_commits(which) < count: pass
"""


def finished(done) -> bool:
    assert done.returncode == 0, done.stdout + done.stderr
    assert "done" in done.stdout
    return True


def test_commits_of_native_threads_set_python_attributes_while_python_threads_compute(script, native: Path) -> None:
    text = (
        SETUP
        + """
with invivo.Runtime(app) as runtime:
    whole, part = runtime[Whole], runtime[Part]
    threads = start(runtime, "app.whole", "app.part")
    over = threading.Event()
    def spin():
        while not over.is_set(): sum(range(100))
    spinners = [threading.Thread(target=spin) for _ in range(2)]
    for each in spinners: each.start()
    seen = set()
    while len(seen) < 5: seen.add((whole.level, part.level))
    over.set()
    stop(threads)
    for each in spinners: each.join()
print("done")
"""
    )
    assert finished(script(text, str(native)))


def test_commits_of_python_threads_and_native_threads_do_not_wait_for_each_other(script, native: Path) -> None:
    text = (
        SETUP
        + """
with invivo.Runtime(app) as runtime:
    _ = runtime[Whole]
    threads = start(runtime, "app.whole")
    def commit():
        for number in range(30):
            runtime.define(Part, "app.part")
            _ = runtime[Whole].part.me
    committers = [threading.Thread(target=commit) for _ in range(2)]
    for each in committers: each.start()
    for each in committers: each.join()
    stop(threads)
print("done")
"""
    )
    assert finished(script(text, str(native)))


def test_a_cold_build_from_several_threads_makes_one_object_while_native_threads_commit(script, native: Path) -> None:
    text = (
        SETUP
        + """
class Slow:
    made = 0
    def __init__(self, whole: Whole) -> None:
        Slow.made += 1
        for _ in range(20): gc.collect(0)
        self.whole = whole

with invivo.Runtime(app) as runtime:
    threads = start(runtime, "app.whole")
    for number in range(20):
        key = f"app.slow{number}"
        runtime.define(Slow, key)
        Slow.made = 0
        found, barrier = [], threading.Barrier(4)
        def look():
            barrier.wait()
            found.append(runtime[key])
        lookers = [threading.Thread(target=look) for _ in range(4)]
        for each in lookers: each.start()
        for each in lookers: each.join()
        assert len(set(map(id, found))) == 1, found
        assert Slow.made == 1, Slow.made
    stop(threads)
print("done")
"""
    )
    assert finished(script(text, str(native)))


def test_last_releases_by_the_garbage_collector_do_not_wait_for_commits(script, native: Path) -> None:
    text = (
        SETUP
        + """
with invivo.Runtime(app) as runtime:
    runtime.load_module(sys.argv[1])
    token = runtime.find_type("Token")
    _ = runtime[Whole]
    leases = runtime.info.leases
    threads = start(runtime, "app.whole")
    def churn():
        for number in range(200):
            note, one = runtime.resolve(Note, number), token(number, Part())
            note.cycle, note.one = note, one       # only the collector can end it
            del note, one
            if number % 20 == 0: gc.collect()
    churners = [threading.Thread(target=churn) for _ in range(3)]
    for each in churners: each.start()
    for each in churners: each.join()
    gc.collect()
    stop(threads)
    gc.collect()   # the one above does nothing if a native thread was collecting
    assert runtime.info.leases == leases, runtime.info
print("done")
"""
    )
    assert finished(script(text, str(native)))


def test_observers_and_the_purge_take_the_gil_from_native_threads(script, native: Path) -> None:
    text = (
        SETUP
        + """
with invivo.Runtime(app) as runtime:
    _ = runtime[Whole]
    heard = []
    runtime.observe(heard.append)
    threads = start(runtime, "app.whole", "app.part")
    while len(heard) < 50: _ = runtime[Part]
    stop(threads)
    assert all(report.committed for report in heard)
print("done")
"""
    )
    assert finished(script(text, str(native)))


def test_closing_while_native_threads_commit_ends_both(script, native: Path) -> None:
    text = (
        SETUP
        + """
runtime = invivo.Runtime(app)
_ = runtime[Whole]
threads = start(runtime, "app.whole", "app.part")
wait(0, 5)
runtime.close()
for which in threads: native.native_stop(which)
print("done")
"""
    )
    assert finished(script(text, str(native)))


def test_an_interpreter_that_ends_without_closing_stops_everything_in_order(script, native: Path) -> None:
    text = (
        SETUP
        + """
import atexit
class Engine:
    @invivo.on_stop
    def halt(self) -> None: print("halted")
app.lazy_singleton(Engine)
runtime = invivo.Runtime(app)
runtime.load_module(sys.argv[1])
keep = [runtime[Whole], runtime[Engine], runtime.find_type("Voice")(), runtime.find_type("Voice")().doubler()]
runtime.observe(print)
print("done")
"""
    )
    done = script(text, str(native))
    assert finished(done)
    assert "halted" in done.stdout
    assert done.stderr == ""


def test_an_interpreter_that_ends_while_native_threads_commit_ends(script, native: Path) -> None:
    text = (
        SETUP
        + """
runtime = invivo.Runtime(app)
_ = runtime[Whole]
start(runtime, "app.whole", "app.part")
wait(0, 5)
print("done")
"""
    )
    assert finished(script(text, str(native)))


def test_a_daemon_thread_inside_the_library_does_not_hold_up_the_end(script, native: Path) -> None:
    text = (
        SETUP
        + """
runtime = invivo.Runtime(app)
inside = threading.Event()
def wait_for_ever():
    inside.set()
    runtime.reloads().wait()
threading.Thread(target=wait_for_ever, daemon=True).start()
inside.wait()
print("done")
"""
    )
    assert finished(script(text, str(native)))
