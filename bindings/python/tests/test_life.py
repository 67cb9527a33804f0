"""Life: hooks in dependency order, exclusive and dormant definitions, lists that hear, resets, states."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest

import invivo
from invivo._runtime.app import App

log: list[str] = []


class Service:
    fails: str | None = None

    def _note(self, what: str) -> None:
        event = f"{what}:{type(self).__name__.lower()}"
        log.append(event)
        if Service.fails == event:
            raise OSError(f"{event} on purpose")

    @invivo.on_prepare
    def ready(self) -> None:
        self._note("prepare")

    @invivo.on_start
    def begin(self) -> None:
        self._note("start")

    @invivo.on_stop
    def end(self) -> None:
        self._note("stop")


class Clock(Service): ...


class Player(Service):
    def __init__(self, clock: Clock) -> None:
        self.clock = clock


@pytest.fixture(autouse=True)
def fresh() -> None:
    log.clear()
    Service.fails = None


def test_what_is_needed_starts_first_and_stops_last() -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.define(Player, "a.player", "singleton")
            changes.define(Clock, "a.clock")
        assert log == ["prepare:clock", "prepare:player", "start:clock", "start:player"]
        assert [(each.key, each.state) for each in runtime.states] == [("a.clock", "started"), ("a.player", "started")]
        log.clear()
    assert log == ["stop:player", "stop:clock"]


def test_a_failing_start_stops_what_was_started_and_keeps_its_exception() -> None:
    Service.fails = "start:player"
    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.HostError) as raised, runtime.changes() as changes:
            changes.define(Player, "a.player", "singleton")
            changes.define(Clock, "a.clock")
        assert isinstance(raised.value.__cause__, OSError)
        assert log == ["prepare:clock", "prepare:player", "start:clock", "start:player", "stop:clock"]
        assert runtime.states == []


class Studio(invivo.Assembly):
    @invivo.singleton
    def clock(self) -> Clock:
        return invivo.new(Clock)


@pytest.mark.parametrize("hook", ["prepare", "start", "stop"])
def test_a_failing_hook_says_where_its_definition_is_declared(hook: str) -> None:
    runtime = invivo.Runtime()
    line = Studio.clock.__wrapped__.__code__.co_firstlineno  # type: ignore[attr-defined]
    Service.fails = f"{hook}:clock"
    with pytest.raises(invivo.Error) as raised:
        runtime.activate(Studio())
        runtime.stop("studio.clock")
    error = raised.value
    assert (error.path, error.file, error.line) == ("studio.clock", __file__, line)
    assert f"{__file__}:{line}" in str(error)
    Service.fails = None
    runtime.close()


def test_a_stop_that_fails_at_the_end_says_where_its_definition_is_declared() -> None:
    runtime = invivo.Runtime(Studio())
    Service.fails = "stop:clock"
    with pytest.raises(invivo.StopError, match=rf"{Path(__file__).name}:\d+: studio.clock: .*stop:clock on purpose"):
        runtime.close()


def test_stops_that_fail_are_raised_by_close_which_closes() -> None:
    runtime = invivo.Runtime()
    runtime.define(Clock, "a.clock", "singleton")
    Service.fails = "stop:clock"
    with pytest.raises(invivo.StopError, match="stop:clock on purpose"):
        runtime.close()
    assert runtime.closed
    runtime.close()


def test_a_stop_that_fails_is_in_the_report() -> None:
    heard: list[invivo.Report] = []
    with invivo.Runtime() as runtime:
        runtime.define(Clock, "a.clock", "singleton")
        runtime.observe(heard.append)
        Service.fails = "stop:clock"
        runtime.define(Clock, "a.clock", "singleton")
        Service.fails = None
    assert heard[0].committed
    assert "stop:clock on purpose" in str(heard[0].stop_error)


def test_starting_and_stopping_by_hand() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Clock, "a.clock")
        runtime.stop("a.clock")
        assert log == []
        runtime.start(Clock)
        runtime.start(Clock)
        assert log == ["prepare:clock", "start:clock"]
        runtime.stop("a.clock")
        assert runtime.states[0].state == "stopped"
        runtime.start("a.clock")
    assert log == ["prepare:clock", "start:clock", "stop:clock", "start:clock", "stop:clock"]


def test_deadlines_are_checked() -> None:
    with pytest.raises(invivo.ArgumentError), invivo.Runtime() as runtime:
        runtime.define(Clock, "a.clock", options=invivo.options(start_timeout=-1))
    with invivo.Runtime(start_timeout=60, stop_timeout=60) as runtime:
        runtime.define(Clock, "a.clock", "singleton", options=invivo.options(start_timeout=30, stop_timeout=30))


def test_what_is_exclusive_is_replaced_break_before_make() -> None:
    heard: list[invivo.Report] = []
    with invivo.Runtime() as runtime:
        runtime.define(Clock, "a.clock", "singleton", options=invivo.options(exclusive=True))
        log.clear()
        runtime.observe(heard.append)
        runtime.define(Clock, "a.clock", "singleton", options=invivo.options(exclusive=True, rank=1))
        assert log == ["stop:clock", "prepare:clock", "start:clock"]
        assert heard[0].nanoseconds["outage"] > 0
        former = runtime["a.clock"]
        log.clear()
        Service.fails = "prepare:clock"
        with pytest.raises(invivo.HostError):
            runtime.define(Clock, "a.clock", "singleton", options=invivo.options(exclusive=True))
        Service.fails = None
        assert log == ["stop:clock", "prepare:clock", "start:clock"]
        assert runtime["a.clock"] is former


def test_what_waits_lies_dormant_until_its_needs_come() -> None:
    heard: list[invivo.Report] = []
    with invivo.Runtime() as runtime:
        runtime.observe(heard.append)
        runtime.define(Player, "a.player", "singleton", options=invivo.options(waits=True))
        assert [(change.key, change.what) for change in heard[0].changes] == [("a.player", "dormant")]
        state = runtime.states[0]
        assert (state.state, [name.rpartition(".")[2] for name in state.waits]) == ("dormant", ["Clock"])
        with pytest.raises(invivo.DormantError, match="is blocked on missing dependencies"):
            runtime["a.player"]
        runtime.define(Clock, "a.clock")
        assert isinstance(runtime["a.player"].clock, Clock)
        with runtime.changes() as changes:
            changes.remove("a.clock")
        with pytest.raises(invivo.DormantError):
            runtime["a.player"]


class Tone:
    def __init__(self, rate: int) -> None:
        self.rate = rate


class Tones(invivo.Assembly):
    @invivo.lazy_singleton(waits=True)
    def tone(self) -> Tone:
        return invivo.new(Tone, invivo.config("rate"))


def test_what_waits_sleeps_until_the_configuration_says_its_value() -> None:
    with invivo.Runtime(tones := Tones()) as runtime:
        assert [state.waits for state in runtime.states] == [("config.rate",)]
        with pytest.raises(invivo.DormantError):
            tones.tone()
        runtime.configure("tones.rate", 3)
        assert tones.tone().rate == 3
        runtime.configure("tones.rate", None)
        with pytest.raises(invivo.DormantError):
            tones.tone()


class Voice: ...


class Mixer:
    voices: Annotated[list[Voice], invivo.Inject(added="come", removed="go")]

    @invivo.method
    def come(self, voice: Voice) -> None:
        log.append("come")
        self.heard = voice

    @invivo.method
    def go(self, voice: Voice) -> None:
        log.append("go")


def test_a_list_hears_of_candidates() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Voice, "a.one")
        runtime.define(Mixer, "a.mixer")
        mixer = runtime["a.mixer"]
        assert len(mixer.voices) == 1
        runtime.define(Voice, "a.two")
        assert log == ["come"]
        assert mixer.heard is runtime["a.two"]
        with runtime.changes() as changes:
            changes.remove("a.one")
        assert log == ["come", "go"]
        assert runtime["a.mixer"] is mixer


class Follower:
    voice: Annotated[Voice, invivo.Inject()]


def test_a_tracked_prototype_follows() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Voice, "a.voice")
        runtime.define(Follower, "a.follower", "prototype", options=invivo.options(tracked=True))
        follower = runtime.resolve("a.follower")
        former = follower.voice
        runtime.reset("a.voice")
        assert follower.voice is not former
        assert follower.voice is runtime["a.voice"]


def test_keys_and_scopes_are_reset() -> None:
    with invivo.Runtime() as runtime:
        runtime.define(Clock, "a.clock")
        runtime.define(Player, "a.player")
        player, clock = runtime["a.player"], runtime["a.clock"]
        runtime.reset(Player)
        assert runtime["a.player"] is not player
        assert runtime["a.clock"] is clock
        runtime.reset("a.player", dependencies=True)
        assert runtime["a.clock"] is not clock
        player, clock = runtime["a.player"], runtime["a.clock"]
        runtime.reset_scope("lazy_singleton")
        assert [each.state for each in runtime.states] == ["cold", "cold"]
        assert runtime["a.clock"] is not clock
        with pytest.raises(invivo.ArgumentError):
            runtime.reset_scope("prototype")
        with pytest.raises(invivo.NotFoundError):
            runtime.reset("a.clokc")


PARTS = """
import invivo

@invivo.component
class Port:
    @invivo.on_start
    def begin(self) -> None: ...
    @invivo.on_stop
    def end(self) -> None: ...

@invivo.component
class Reader:
    def __init__(self, port: Port) -> None:
        self.port = port
"""


def test_a_manifest_says_what_is_exclusive_and_what_waits(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    manifest = tmp_path / "app.yaml"
    manifest.write_text(
        "modules: { parts: parts.py }\n"
        "components:\n"
        "  net.port: { type: Port, exclusive: true, start_timeout: 60000 }\n"
        "  net.reader: { type: Reader, scope: singleton, waits: true, init: { port: $net.other } }\n"
    )
    with App(manifest) as app:
        states = {each.key: (each.state, each.waits) for each in app.runtime.states}
        assert states == {"net.port": ("cold", ()), "net.reader": ("dormant", ("net.other",))}
    manifest.write_text("components:\n  net.port: { type: Port, exclusive: 1, stop_timeout: soon }\n")
    with pytest.raises(invivo.Error) as raised:
        App(manifest)
    told = str(raised.value)
    assert "expected true or false" in told
    assert "expected a number of milliseconds from 1" in told


def test_a_report_counts_what_lives_on_untracked() -> None:
    heard: list[invivo.Report] = []
    with invivo.Runtime() as runtime:
        runtime.define(Voice, "a.voice", "prototype")
        runtime.define(Mixer, "a.mixer", "lazy_singleton")
        runtime.observe(heard.append)
        runtime.reset("a.mixer")
        runtime.define(Voice, "a.voice", "prototype", options=invivo.options(rank=1))
        assert [change.untracked for change in heard[-1].changes if change.key == "a.voice"] == [0]
