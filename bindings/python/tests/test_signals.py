"""Signal handlers that raise, at any point of any callback: each exception arrives, and no object is half-started."""

from __future__ import annotations

import subprocess
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import pytest

import invivo
from invivo import _signals
from invivo._views import View, _Begun

PROGRAM = """
import signal, sys, threading
from typing import Annotated
import invivo

BASE, SIGNALS = {base}, {signals}
sys.setswitchinterval(1e-5)

class Alarm(BASE):
    pass

raised = caught = turns = seen = begun = half_started = handed_out = 0
others = []

def handler(number, frame):
    global raised, begun
    raised += 1
    begun = turns
    raise Alarm(raised)

signal.signal(signal.SIGUSR1, handler)

class Part:
    def __init__(self):
        self.started = 0

    @invivo.on_start
    def begin(self):
        self.started += 1
        self.started += 1

    @invivo.did_inject
    def note(self):
        self.noted = True

class Whole:
    level: float = invivo.tunable(1.0, min=0, max=10)

    def __init__(self, part: Annotated[Part, "part"]):
        self.part = part
        self.complete = True

class Tool(Part):
    pass

def make_tool() -> Tool:
    return Tool()

app = invivo.Assembly("app")
app.prototype(Part)
app.prototype(Whole)
app.prototype(make_tool, "tool")

def send():
    main = threading.main_thread().ident
    while raised < SIGNALS:
        # Only while the program is inside its try, and when the former one has arrived or is lost.
        while turns == seen or (caught != raised and turns < begun + 200):
            pass
        before = raised
        signal.pthread_kill(main, signal.SIGUSR1)
        while raised == before:
            pass

def check(part):
    global half_started, handed_out
    handed_out += 1
    if part.started != 2 or not part.noted:
        half_started += 1

runtime = invivo.Runtime(app)
sender = threading.Thread(target=send, daemon=True)

def work():
    global turns
    while raised < SIGNALS or (caught != raised and turns < begun + 200):
        turns += 1
        check(runtime["app.part"])
        check(runtime["app.whole"].part)
        check(runtime.resolve("app.tool"))
        if turns % 7 == 0:
            runtime.define(Tool, "app.other", scope="singleton")
            check(runtime["app.other"])

sender.start()
while raised < SIGNALS or caught != raised and turns < begun + 200:
    try:
        work()
    except Alarm:
        caught += 1
        seen = turns
    except BaseException as problem:
        others.append(problem)
        seen = turns
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
sender.join()
runtime.close()
print("raised", raised, "lost", raised - caught, "half-started", half_started, "others", len(others))
print("handed out", handed_out)
for each in others[:3]:
    print(repr(each), file=sys.stderr)
"""


@pytest.mark.parametrize(("base", "signals"), [("Exception", 2000), ("KeyboardInterrupt", 500)])
def test_what_a_signals_handler_raises_arrives_and_nothing_is_half_started(
    script: Callable[..., subprocess.CompletedProcess[str]], base: str, signals: int
) -> None:
    done = script(PROGRAM.format(base=base, signals=signals), seconds=90)
    assert f"raised {signals} lost 0 half-started 0 others 0" in done.stdout, done.stdout + done.stderr[-3000:]
    assert done.returncode == 0


@pytest.mark.filterwarnings("error")
def test_a_view_ends_wherever_an_exception_comes_while_it_is_opened_or_ended() -> None:
    """At each instruction of `View.__enter__` and `View.__exit__`, which are all the places where the handler of a
    signal can run."""
    codes = {each.__code__ for each in (View.__enter__, View.__exit__, _Begun.__init__, _Begun.leave)}

    class Alarm(KeyboardInterrupt): ...

    class Clock: ...

    steps = interrupted = 0

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        if frame.f_code not in codes:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            steps += 1
            if steps == interrupted:
                raise Alarm
        return trace

    while steps >= interrupted:
        interrupted, steps = interrupted + 1, 0
        runtime = invivo.Runtime(log_level="silent")
        runtime.define(Clock, "a.clock", scope="lazy_singleton")
        former = sys.gettrace()
        try:
            sys.settrace(trace)
            with runtime.view():
                pass
        except Alarm:
            pass
        finally:
            sys.settrace(former)
            _signals.take()  # it came while the view was finalized
        first = runtime["a.clock"]
        runtime.reset("a.clock")
        assert runtime["a.clock"] is not first, f"the view is open after an exception at step {interrupted}"
        runtime.close()
    assert interrupted > 30


def test_a_view_that_another_thread_leaves_is_ended_by_its_own() -> None:
    class Clock: ...

    with invivo.Runtime(log_level="silent") as runtime:
        runtime.define(Clock, "a.clock", scope="lazy_singleton")
        view = runtime.view()
        view.__enter__()
        former = runtime["a.clock"]
        other = threading.Thread(target=view.__exit__)
        other.start()
        other.join()
        with pytest.raises(invivo.StaleError):
            _ = view.generation
        with runtime.view():
            pass
        runtime.reset("a.clock")
        assert runtime["a.clock"] is not former


def test_a_view_is_not_entered_twice_at_a_time() -> None:
    with invivo.Runtime() as runtime:
        view = runtime.view()
        with view, pytest.raises(invivo.BusyError), view:
            pass
        with view:
            assert not view.config("a.b")
