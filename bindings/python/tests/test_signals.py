"""Signal handlers that raise, at any point of any callback: each exception arrives, and no object is half-started."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

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
