"""Signal handlers that raise, at any point of any callback: each exception arrives, and no object is half-started."""

from __future__ import annotations

import contextlib
import dataclasses
import dis
import os
import signal
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest

import invivo
from invivo import _generated as c
from invivo._native import signals
from invivo._native.pins import Pin, open_pins
from invivo._services import traits as traits_of_services
from invivo._services.views import View, _Begun

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
    done = script(PROGRAM.format(base=base, signals=signals), seconds=900)  # that long only where it hangs
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
    place: types.CodeType | None = None
    kept: list[BaseException] = []  # with the frames that it came through

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        nonlocal steps, place
        if frame.f_code not in codes:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            steps += 1
            if steps == interrupted:
                place = frame.f_code
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
        except Alarm as alarm:
            if place is _Begun.leave.__code__:
                kept.append(alarm)
        finally:
            sys.settrace(former)
            signals.take()  # it came while the view was finalized
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


class Clock:
    pass


class Pump:
    """It is stopped, so what Python holds of it has a lease."""

    @invivo.on_stop
    def stop(self) -> None: ...


class Voice:
    def __init__(self, note: Any) -> None:
        self.note = note


class Late:
    def __init__(
        self,
        provider: Annotated[invivo.Provider[Pump], "a.pump"],
        lazy: Annotated[invivo.Lazy[Pump], "a.shared"],
    ) -> None:
        self.provider, self.lazy = provider, lazy


@invivo.prototype
def voice(note: Any) -> Voice:
    return invivo.new(Voice, note)


def _enter_view(runtime: invivo.Runtime) -> None:
    with runtime.view() as view:
        view.config("a.b")


def _refused(runtime: invivo.Runtime) -> None:
    with contextlib.suppress(invivo.ArityError):
        runtime.resolve("a.voice")


OPERATIONS: dict[str, Callable[[invivo.Runtime], Any]] = {
    "key": lambda runtime: runtime["a.clock"],
    "class": lambda runtime: runtime[Clock],
    "prototype": lambda runtime: runtime["a.pump"],
    "optional": lambda runtime: runtime.resolve_optional("a.pump"),
    "type": lambda runtime: runtime.resolve_type(Clock),
    "all": lambda runtime: runtime.resolve_all(Pump),
    "provider": lambda runtime: runtime["a.late"].provider(),
    "lazy": lambda runtime: runtime["a.late"].lazy(),
    "argument": lambda runtime: runtime.resolve("a.voice", 3),
    "object": lambda runtime: runtime.resolve("a.voice", Pump()),
    "refused": _refused,
    "define": lambda runtime: runtime.define(Clock, "a.more", scope="lazy_singleton"),
    "pool": lambda runtime: runtime.pool("a.pool", lambda key: Pump()).get("x"),
    "view": _enter_view,
    "wiring": lambda runtime: runtime.wiring_text("json"),
    "inject": lambda runtime: runtime.inject(Pump(), "a.pump"),
}

LONG = (
    "provider",
    "lazy",
    "inject",
    "argument",
    "object",
    "refused",
    "define",
    "pool",
)  # of these, each seventh instruction


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_lease_is_lost_wherever_an_exception_comes(name: str) -> None:
    """At each instruction of the package, which are all the places where the handler of a signal can run."""
    package = os.path.dirname(invivo.__file__)

    class Alarm(KeyboardInterrupt): ...

    steps = interrupted = 0

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        nonlocal steps
        if not frame.f_code.co_filename.startswith(package):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            steps += 1
            if steps == interrupted:
                raise Alarm
        return trace

    before = invivo.live()
    runtime = invivo.Runtime(log_level="silent")
    runtime.define(Clock, "a.clock", scope="lazy_singleton")
    runtime.define(Pump, "a.pump", scope="prototype")
    runtime.define(Pump, "a.shared", scope="lazy_singleton")
    runtime.define(voice, "a.voice")
    runtime.define(Late, "a.late", scope="prototype")
    core = runtime._core
    OPERATIONS[name](runtime)  # types that are registered at first use are there
    runtime.reset("a.clock")
    runtime.reset("a.shared")
    while steps >= interrupted:
        interrupted, steps = interrupted + (7 if name in LONG else 1), 0
        got = None
        former = sys.gettrace()
        try:
            sys.settrace(trace)
            got = OPERATIONS[name](runtime)
        except (Alarm, invivo.Error):
            pass
        finally:
            sys.settrace(former)
            signals.take()  # it came where Python drops exceptions
        assert runtime.info.leases <= len(core.leases), f"a lease is lost after an exception at step {interrupted}"
        del got
        runtime.reset("a.clock")
        runtime.reset("a.shared")
        core.plans.purge()
    runtime.close()
    del runtime, core
    assert invivo.live() == before
    assert interrupted > 30


class Volume:
    gain: float = invivo.tunable(1.0)


def volume_traits() -> tuple[type[invivo.Trait], ...]:
    class Faded(invivo.Trait, name="signals.Faded", everywhere=False):
        targets = (Volume,)
        by: float = invivo.tunable(0.0)

        def layers(self, layers: invivo.Layers) -> None:
            layers.offset("gain", self.by)

    class Counted(invivo.Trait, name="signals.Counted", everywhere=False):
        targets = (Volume,)
        by: float = invivo.tunable(0.0)

        def apply(self, target: Volume) -> Callable[[], None]:
            return lambda: None

    return Faded, Counted


@dataclasses.dataclass
class Sound:
    rate: int = 0


def _pinned(runtime: invivo.Runtime) -> None:
    pin = runtime.pinned()
    pin.__enter__()
    try:
        runtime.settings(Sound)
        runtime.resolve_optional("a.none")
    finally:
        pin.__exit__()


def _pinned_twice(runtime: invivo.Runtime) -> None:
    with runtime.pinned():
        pin = runtime.pinned()
        pin.__enter__()
        pin.__exit__()


# No handler runs before these instructions. After an exception there, Python would not restore the handled one.
NEVER = {dis.opmap[name] for name in ("RETURN_VALUE", "PUSH_EXC_INFO", "COPY", "POP_EXCEPT", "RERAISE")}
YIELD = dis.opmap["YIELD_VALUE"]

TRY = Pin.__exit__.__code__.co_firstlineno + 2  # the line; no handler runs between the entry and it

UPDATES = {
    "base value": "traits: {a.volume: [{Set: {gain: %d}}]}",
    "layers": "traits: {a.volume: [{signals.Faded: {by: %d}}]}",
    "code": "traits: {a.volume: [{signals.Counted: {by: %d}}]}",
}

READINGS: dict[str, Callable[[invivo.Runtime, invivo.Source, int], Any]] = {
    "settings": lambda runtime, document, turn: runtime.settings(Sound),
    "pinned": lambda runtime, document, turn: _pinned(runtime),
    "pinned twice": lambda runtime, document, turn: _pinned_twice(runtime),
    **{name: lambda runtime, document, turn, text=text: document.update(text % turn) for name, text in UPDATES.items()},
}


class Alarm(KeyboardInterrupt): ...


class Interruption:
    """Raises `Alarm` at one instruction of the package: the handler of a signal may raise there."""

    def __init__(self, spares: Callable[[types.FrameType], bool] = lambda frame: False) -> None:
        self._package = os.path.dirname(invivo.__file__)
        self._spares = spares
        self.steps = self.at = 0
        self.place = ""

    @property
    def is_reached(self) -> bool:
        return self.steps >= self.at

    def during(
        self, action: Callable[[], Any], later: int, allowed: tuple[type[BaseException], ...] = (Alarm,)
    ) -> None:
        """Runs an action, and raises so many instructions later than the last time."""
        self.at, self.steps = self.at + later, 0
        former = sys.gettrace()
        try:
            sys.settrace(self.trace)
            action()
        except allowed:
            pass
        finally:
            sys.settrace(former)
            signals.take()  # it came where Python drops exceptions

    def step(self, frame: types.FrameType) -> None:
        self.steps += 1
        if self.steps == self.at:
            self.place = f"{frame.f_code.co_qualname}, line {frame.f_lineno}, {frame.f_lasti}"
            raise Alarm

    def trace(self, frame: types.FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(self._package):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode" and not self._spares(frame) and frame.f_code.co_code[frame.f_lasti] not in NEVER:
            self.step(frame)
        return self.trace


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", READINGS)
def test_no_view_or_pin_stays_open_wherever_an_exception_comes(name: str) -> None:
    """At each instruction of the package; of an update at each third."""
    code = Pin.__exit__.__code__
    interruption = Interruption(lambda frame: frame.f_code is code and frame.f_lineno <= TRY)
    runtime = invivo.Runtime(log_level="silent")
    for trait in volume_traits():
        runtime.add_trait(trait)
    runtime.define(Clock, "a.clock", scope="lazy_singleton")
    runtime.define(Volume, "a.volume", scope="lazy_singleton")
    runtime.bind_settings(Sound, "sound")
    document = runtime.source("volume.yaml", "{}")
    _ = runtime["a.volume"]
    turn = 0
    READINGS[name](runtime, document, turn)
    while interruption.is_reached:
        turn += 1
        interruption.during(
            lambda turn=turn: READINGS[name](runtime, document, turn),
            3 if name in UPDATES else 1,
            (Alarm, invivo.Error),
        )
        first = runtime["a.clock"]
        runtime.reset("a.clock")
        assert runtime["a.clock"] is not first, f"a view or pin is open after an exception in {interruption.place}"
        assert not open_pins
        assert not runtime.status.pins
    runtime.close()
    assert interruption.at > 30


class Level:
    def __init__(self) -> None:
        self.applied = self.reversed = 0
        self.value = 1


def reverse(target: Level) -> None:
    target.reversed += 1


def raising_traits() -> tuple[type[invivo.Trait], ...]:
    class Raised(invivo.Trait, name="signals.Raised", everywhere=False):
        targets = (Level,)
        by: float = 0.0

        def apply(self, target: Level) -> Callable[[], None]:
            def reverse_alone() -> None:
                target.reversed += 1

            target.applied += 1
            return reverse_alone

    class RaisedByTarget(invivo.Trait, name="signals.RaisedByTarget", everywhere=False):
        targets = (Level,)
        by: float = 0.0

        def apply(self, target: Level) -> Callable[[Level], None]:
            target.applied += 1
            return reverse

    class RaisedInBlock(invivo.Trait, name="signals.RaisedInBlock", everywhere=False):
        targets = (Level,)
        by: float = 0.0

        def apply(self, target: Level) -> Iterator[None]:
            target.applied += 1
            yield
            target.reversed += 1

    return Raised, RaisedByTarget, RaisedInBlock


@pytest.mark.parametrize("index", range(3))
def test_each_application_is_reversed_once_wherever_an_exception_comes(index: int) -> None:
    """At each third instruction of the package, and at the entries of the code of the trait."""
    package = os.path.dirname(invivo.__file__)

    class Alarm(KeyboardInterrupt): ...

    traits = raising_traits()
    trait = traits[index]
    resumed = vars(traits[-1])["apply"].__code__.co_code.index(YIELD)
    entries = {"apply", "reverse_alone", "reverse"}
    steps = interrupted = 0
    place = ""

    def step(frame: types.FrameType) -> None:
        nonlocal steps, place
        steps += 1
        if steps == interrupted:
            place = f"{frame.f_code.co_qualname}, line {frame.f_lineno}, {frame.f_lasti}"
            raise Alarm

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(package):
            # A generator that continues ends with any exception.
            is_resumed = frame.f_lasti > resumed
            if event == "call" and frame.f_code.co_name in entries and not is_resumed:
                step(frame)
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode" and frame.f_code.co_code[frame.f_lasti] not in NEVER:
            step(frame)
        return trace

    handler = signal.signal(signal.SIGUSR1, trace)  # what it raises comes from a handler; nobody sends the signal
    with invivo.Runtime(log_level="silent") as runtime, contextlib.ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGUSR1, handler)
        runtime.add_trait(trait)
        level = Level()
        runtime.attach_target(level, "a.level")
        document = runtime.source("level.yaml", "{}")
        text = f"traits: {{a.level: [{{signals.{trait.__name__}: {{by: %d}}}}]}}"
        document.update(text % 0)
        turn = 0
        while steps >= interrupted:
            interrupted, steps, turn = interrupted + 3, 0, turn + 1
            former = sys.gettrace()
            try:
                sys.settrace(trace)
                document.update(text % turn)
            except (Alarm, invivo.Error):
                pass
            finally:
                sys.settrace(former)
                signals.take()  # it came where Python drops exceptions
            assert level.applied == level.reversed + 1, f"after an exception in {place}"
        document.update("{}")
        assert level.applied == level.reversed > 100


def test_a_failed_application_leaves_nothing_wherever_an_exception_comes() -> None:
    """At each instruction of the package that concerns the application."""
    package = os.path.dirname(traits_of_services.__file__)

    class Alarm(KeyboardInterrupt): ...

    class Shown:
        level: float = invivo.tunable(1.0)
        value: int = 1

    class Raising(invivo.Trait, name="signals.Raising", everywhere=False):
        targets = (Shown,)
        by: int

        def apply(self, target: Shown) -> None:
            target.level = target.value = self.by
            raise OSError("no more")

    steps = interrupted = 0
    place = ""

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        nonlocal steps, place
        if not frame.f_code.co_filename.startswith(package):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode" and frame.f_code.co_code[frame.f_lasti] not in NEVER:
            steps += 1
            if steps == interrupted:
                place = f"{frame.f_code.co_qualname}, line {frame.f_lineno}, {frame.f_lasti}"
                raise Alarm
        return trace

    handler = signal.signal(signal.SIGUSR1, trace)  # what it raises comes from a handler; nobody sends the signal
    with invivo.Runtime(log_level="silent") as runtime, contextlib.ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGUSR1, handler)
        runtime.add_trait(Raising)
        shown = Shown()
        runtime.attach_target(shown, "a.shown")
        document = runtime.source("shown.yaml", "{}")
        turn = 1
        while steps >= interrupted:
            interrupted, steps, turn = interrupted + 1, 0, turn + 1
            former = sys.gettrace()
            try:
                sys.settrace(trace)
                document.update(f"traits: {{a.shown: [{{signals.Raising: {{by: {turn}}}}}]}}")
            except (Alarm, invivo.Error):
                pass
            finally:
                sys.settrace(former)
                signals.take()  # it came where Python drops exceptions
            assert not vars(shown), f"after an exception in {place}"
            assert not runtime.status.unrestored
        assert turn > 100


def test_an_interrupt_that_comes_twice_in_a_reload_is_raised_once() -> None:
    """By the application in the commit, and by that of the former trait in its undo."""
    raised: list[BaseException] = []
    is_raising = False

    class Interrupting(invivo.Trait, name="signals.Interrupting", everywhere=False):
        targets = (Level,)
        by: float = 0.0

        def apply(self, target: Level) -> Callable[[], None]:
            if is_raising:
                raised.append(KeyboardInterrupt())
                raise raised[-1]
            return lambda: None

    with invivo.Runtime(log_level="silent") as runtime:
        runtime.add_trait(Interrupting)
        level = Level()
        runtime.attach_target(level, "a.level")
        document = runtime.source("level.yaml", "traits: {a.level: [{signals.Interrupting: {by: 1}}]}")
        is_raising = True
        with pytest.raises(KeyboardInterrupt) as found:
            document.update("traits: {a.level: [{signals.Interrupting: {by: 2}}]}")
        is_raising = False
        assert len(raised) == 2
        assert found.value is raised[0]
        document.update("traits: {a.level: [{signals.Interrupting: {by: 3}}]}")
        raised.clear()


def _checked(runtime: invivo.Runtime) -> None:
    changes = runtime.changes()
    changes.define(Clock, "a.more")
    changes.check()
    changes.discard()


SETS: dict[str, Callable[[invivo.Runtime], Any]] = {
    "commit": lambda runtime: runtime.define(Clock, "a.more"),
    "check": _checked,
}


@pytest.mark.parametrize("name", SETS)
def test_no_change_set_stays_open_wherever_an_exception_comes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each eleventh instruction of the package."""
    interruption = Interruption()
    handles: list[c.invivo_changes] = []

    class Handle(c.invivo_changes):
        def __init__(self) -> None:
            handles.append(self)

    monkeypatch.setattr(c, "invivo_changes", Handle)
    with invivo.Runtime(log_level="silent") as runtime:
        SETS[name](runtime)
        expect = runtime._core.library.bare("changes_expect")
        while interruption.is_reached:
            handles.clear()
            interruption.during(lambda: SETS[name](runtime), 11)
            is_open = [expect(each, 1, None) == c.INVIVO_OK for each in handles]
            assert not any(is_open), f"a change set is open after an exception in {interruption.place}"
        assert is_open
