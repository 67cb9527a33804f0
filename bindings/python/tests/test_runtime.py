from __future__ import annotations

import collections.abc
import copy
import ctypes
import gc
import json
import os
import shutil
import threading
import weakref
from pathlib import Path
from typing import Any

import fork_marker
import pytest

import invivo
from invivo import _generated as c
from invivo._native import library


class Clock: ...


class Player:
    tempo: float = invivo.tunable(120, min=30, max=300, unit="bpm")

    def __init__(self, clock: Clock) -> None:
        self.clock = clock


class Voice:
    def __init__(self, note: int, clock: Clock) -> None:
        self.note, self.clock = note, clock


@invivo.prototype
def voice(note: int) -> Voice:
    return invivo.wire(Voice, note=note)


def assembly() -> invivo.Assembly:
    app = invivo.Assembly("synth")
    app.lazy_singleton(Clock)
    app.lazy_singleton(Player)
    app.define(voice)
    return app


SLOW = "traits:\n  synth.player:\n    - Set: { tempo: 60 }\n"


def wait_for(reloads: invivo.Reloads, wanted: Any) -> invivo.Report:
    for report in iter(lambda: reloads.wait(30), None):
        if wanted(report):
            return report
    raise AssertionError("the runtime closed")


# ---- resolving -----------------------------------------------------------------------------------------


def test_a_class_and_its_key_resolve_to_the_same_plain_object() -> None:
    with invivo.Runtime(assembly()) as runtime:
        player = runtime[Player]
        assert type(player) is Player
        assert runtime["synth.player"] is player
        assert runtime.resolve("synth.player") is player
        assert player.clock is runtime[Clock]


def test_a_base_class_resolves_to_the_definition_of_its_subclass() -> None:
    class FineClock(Clock): ...

    app = invivo.Assembly("synth")
    app.lazy_singleton(FineClock)
    with invivo.Runtime(app) as runtime:
        assert type(runtime[Clock]) is FineClock


def test_a_prototype_is_new_each_time_and_takes_arguments() -> None:
    with invivo.Runtime(assembly()) as runtime:
        one, other = runtime.resolve(Voice, 60), runtime.resolve("synth.voice", 61)
        assert (one.note, other.note) == (60, 61)
        assert one.clock is other.clock is runtime[Clock]


def test_a_prototype_ends_with_its_last_reference() -> None:
    with invivo.Runtime(assembly()) as runtime:
        gone = weakref.ref(runtime.resolve(Voice, 60))
        gc.collect()
        assert gone() is None


def test_a_singleton_is_built_by_the_commit_and_a_lazy_one_by_the_first_resolve() -> None:
    made = []

    class Eager:
        def __init__(self) -> None:
            made.append("eager")

    class Lazy:
        def __init__(self) -> None:
            made.append("lazy")

    app = invivo.Assembly("app")
    app.singleton(Eager)
    app.lazy_singleton(Lazy)
    with invivo.Runtime(app) as runtime:
        assert made == ["eager"]
        _ = runtime[Lazy], runtime[Lazy], runtime[Eager]
        assert made == ["eager", "lazy"]


def test_a_factory_makes_the_object_and_gets_what_it_asks_for() -> None:
    app = invivo.Assembly("synth")
    app.lazy_singleton(Clock)

    @app.lazy_singleton
    def make(clock: Clock, factor: int = 2) -> Player:
        player = Player(clock)
        player.tempo = 100 * factor
        return player

    with invivo.Runtime(app) as runtime:
        assert runtime[Player].tempo == 200
        assert runtime[Player].clock is runtime[Clock]


def test_what_is_given_with_a_definition_goes_to_constructor_and_properties() -> None:
    class Filter:
        cutoff: float = invivo.tunable(800.0)
        label: str = "plain"

        def __init__(self, clock: Clock, *, rate: int) -> None:
            self.clock, self.rate = clock, rate

    app = invivo.Assembly("synth")
    app.lazy_singleton(Clock)
    app.lazy_singleton(Filter, rate=44_100, cutoff=200.0, label="given")
    with invivo.Runtime(app) as runtime:
        one = runtime[Filter]
        assert (one.rate, one.cutoff, one.label) == (44_100, 200.0, "given")


def test_an_unknown_key_is_a_key_error_that_names_the_nearest() -> None:
    with invivo.Runtime(assembly()) as runtime:
        with pytest.raises(KeyError, match=r"synth\.player"):
            runtime["synth.playr"]
        with pytest.raises(KeyError, match="no definition creates a 'Thread'"):
            runtime[threading.Thread]
        with pytest.raises(TypeError):
            runtime[3]
        assert "synth.player" in runtime
        assert Player in runtime
        assert "synth.nothing" not in runtime


def test_a_failing_constructor_is_the_cause_of_the_error() -> None:
    class Broken:
        def __init__(self) -> None:
            raise ZeroDivisionError("by nothing")

    app = invivo.Assembly("app")
    app.lazy_singleton(Broken)
    with invivo.Runtime(app) as runtime:
        with pytest.raises(invivo.Error, match="ZeroDivisionError: by nothing") as caught:
            runtime[Broken]
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert caught.value.path == "app.broken"


def test_an_error_raised_in_a_constructor_keeps_code_message_and_cause() -> None:
    class Broken:
        def __init__(self) -> None:
            raise invivo.RangeError("too far", path="app.broken.reach", cause=invivo.Error("underneath"))

    app = invivo.Assembly("app")
    app.lazy_singleton(Broken)
    with invivo.Runtime(app) as runtime:
        with pytest.raises(ValueError, match="too far") as caught:
            runtime[Broken]
        error = caught.value
        assert isinstance(error, invivo.RangeError)
        assert (error.message, error.path) == ("too far", "app.broken.reach")
        assert error.cause is not None
        assert error.cause.message == "underneath"


def test_a_cycle_is_an_error_with_its_path() -> None:
    class One:
        def __init__(self, other: Other) -> None: ...

    class Other:
        def __init__(self, one: One) -> None: ...

    app = invivo.Assembly("app")
    app.lazy_singleton(One)
    app.lazy_singleton(Other)
    with pytest.raises(invivo.CycleError, match=r"app\.other"):
        invivo.Runtime(app)


def test_start_follows_building_and_stop_precedes_the_end() -> None:
    said = []

    class Engine:
        power: float = invivo.tunable(1.0)

        @invivo.on_start
        def go(self) -> None:
            said.append(f"start {self.power}")

        @invivo.on_stop
        def halt(self) -> None:
            said.append("stop")

    app = invivo.Assembly("app")
    app.lazy_singleton(Engine, power=2.0)
    with invivo.Runtime(app) as runtime:
        _ = runtime[Engine]
        assert said == ["start 2.0"]
    assert said == ["start 2.0", "stop"]


@pytest.mark.parametrize("cyclic", [False, True])
def test_a_prototype_with_a_stop_is_stopped_when_python_lets_go_of_it(cyclic: bool) -> None:
    said: list[Any] = []

    class Note:
        def __init__(self, number: int) -> None:
            self.number = number

        @invivo.on_stop
        def end(self) -> None:
            said.append(self.number)

        def __del__(self) -> None:
            said.append("gone")

    def note(number: int) -> Note:
        return invivo.new(Note, number)

    app = invivo.Assembly("app")
    app.define(invivo.prototype(note))
    with invivo.Runtime(app) as runtime:
        note = runtime.resolve(Note, 7)
        note.me = note if cyclic else None
        gone = weakref.ref(note)
        assert said == []
        del note
        gc.collect()
        assert said == [7, "gone"]
        assert gone() is None
        keep = runtime.resolve(Note, 8)
        assert said == [7, "gone"]
    assert said == [7, "gone", 8], "close stops what is still there"
    del keep
    assert said == [7, "gone", 8, "gone"]


def test_a_runtime_is_indexed_and_is_no_dict() -> None:
    with invivo.Runtime(assembly()) as runtime:
        assert runtime
        assert len(runtime) == 3
        assert runtime != {}
        assert hash(runtime) == hash(runtime)
        assert not isinstance(runtime, (dict, collections.abc.Mapping))
        assert not hasattr(runtime, "update")
        with pytest.raises(TypeError):
            runtime["a"] = 1
        with pytest.raises(TypeError):
            del runtime["a"]
        with pytest.raises(TypeError):
            iter(runtime)
        with pytest.raises(TypeError):
            copy.copy(runtime)
        with pytest.raises(TypeError, match="not JSON serializable"):
            json.dumps(runtime)
        assert "Runtime" in repr(runtime)


# ---- the cache -----------------------------------------------------------------------------------------


def cached(runtime: invivo.Runtime) -> int:
    return len(runtime._kept)


def test_shared_objects_are_remembered_and_prototypes_never() -> None:
    with invivo.Runtime(assembly()) as runtime:
        _ = runtime[Player], runtime["synth.player"], runtime.resolve(Voice, 3)
        assert cached(runtime) == 2


def test_a_commit_that_remakes_an_object_empties_the_cache_before_it_returns() -> None:
    with invivo.Runtime(assembly()) as runtime:
        before, clock = runtime[Player], runtime[Clock]
        runtime.define(Player, "synth.player")
        after = runtime[Player]
        assert after is not before
        assert after.clock is clock is runtime[Clock]


def test_nothing_retired_is_kept_alive() -> None:
    with invivo.Runtime(assembly()) as runtime:
        gone = weakref.ref(runtime[Player])
        runtime.define(Player, "synth.player")
        gc.collect()
        assert gone() is None


def test_a_commit_that_only_tunes_keeps_the_cache() -> None:
    with invivo.Runtime(assembly()) as runtime:
        player = runtime[Player]
        runtime.source("a.yaml", SLOW)
        assert player.tempo == 60
        assert cached(runtime) == 1
        assert runtime[Player] is player


@pytest.mark.usefixtures("frequent_switches")
def test_readers_never_see_an_object_older_than_a_commit_that_has_returned() -> None:
    class Stamp:
        def __init__(self, number: int) -> None:
            self.number = number

    with invivo.Runtime() as runtime:
        runtime.define(Stamp, "app.stamp", number=0)
        committed, problems, over = 0, [], threading.Event()

        def look() -> None:
            while not over.is_set():
                least = committed
                if runtime["app.stamp"].number < least:
                    problems.append(least)
                    return

        readers = [threading.Thread(target=look) for _ in range(3)]
        for reader in readers:
            reader.start()
        for number in range(1, 150):
            runtime.define(Stamp, "app.stamp", number=number)
            committed = number
        over.set()
        for reader in readers:
            reader.join()
        assert not problems


# ---- closing -------------------------------------------------------------------------------------------


def test_close_may_be_called_again_and_use_after_it_raises() -> None:
    runtime = invivo.Runtime(assembly())
    _ = runtime[Player]
    runtime.close()
    runtime.close()
    assert runtime.closed
    assert "closed" in repr(runtime)
    for use in (
        lambda: runtime[Player],
        lambda: runtime["synth.player"],
        lambda: runtime.resolve(Voice, 1),
        lambda: runtime.poll(),
        lambda: runtime.info,
        lambda: runtime.changes(),
        lambda: runtime.share(),
        lambda: runtime.watch("x.yaml"),
        lambda: runtime.view(),
    ):
        with pytest.raises(invivo.ClosedError):
            use()


def test_close_from_inside_a_callback_is_refused_and_closes_nothing() -> None:
    problems: list[BaseException] = []
    with invivo.Runtime(assembly()) as runtime:

        def close(report: invivo.Report) -> None:
            try:
                runtime.close()
            except invivo.InCallbackError as problem:
                problems.append(problem)

        runtime.observe(close)
        runtime.source("a.yaml", SLOW)
        assert len(problems) == 1
        assert runtime[Player].tempo == 60


def test_close_waits_for_a_constructor_on_another_thread() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        def __init__(self) -> None:
            begun.set()
            assert go_on.wait(30)

    app = invivo.Assembly("app")
    app.lazy_singleton(Slow)
    app.prototype(Clock)
    runtime = invivo.Runtime(app)
    found: list[object] = []

    def resolve() -> None:
        try:
            found.append(runtime[Slow])
        except invivo.ClosedError as problem:
            found.append(problem)

    builder = threading.Thread(target=resolve)
    closer = threading.Thread(target=runtime.close)
    builder.start()
    assert begun.wait(30)
    closer.start()
    with pytest.raises(invivo.ClosedError):
        while True:
            runtime[Clock]
    go_on.set()
    builder.join(30)
    closer.join(30)
    # The object, or an error if close was faster than the resolve that waits for it.
    assert isinstance(found[0], (Slow, invivo.ClosedError))


@pytest.mark.parametrize("moment", ["peek", "object_type"])
def test_a_resolve_that_close_overtakes_raises(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """The lease of the resolved object is returned by `close` before the resolve has found the Python object."""

    class Player: ...

    app = invivo.Assembly("app")
    app.lazy_singleton(Player)
    runtime = invivo.Runtime(app)
    library = runtime._core.library
    function = getattr(library, moment)

    def closing(*arguments: Any) -> Any:
        monkeypatch.setattr(library, moment, function)
        closer = threading.Thread(target=runtime.close)
        closer.start()
        closer.join(30)
        return function(*arguments)

    monkeypatch.setattr(library, moment, closing)
    with pytest.raises(invivo.ClosedError, match="closed while this call was under way"):
        runtime[Player]


def test_an_assembly_that_fails_leaves_nothing_open() -> None:
    class Wants:
        def __init__(self, clock: Clock) -> None: ...

    app = invivo.Assembly("app")
    app.singleton(Wants)
    with pytest.raises(invivo.NotFoundError, match="Clock"):
        invivo.Runtime(app)


# ---- changing ------------------------------------------------------------------------------------------


def test_a_change_set_takes_effect_whole_or_not_at_all() -> None:
    with invivo.Runtime(assembly()) as runtime:
        generation = runtime.info.generation
        with runtime.changes() as changes:
            changes.define(Clock, "other.clock")
            changes.document("a.yaml", SLOW)
        assert runtime.info.generation == generation + 1
        assert runtime["synth.player"].tempo == 60

        with pytest.raises(invivo.Error), runtime.changes() as changes:
            changes.define(Clock, "third.clock")
            changes.document("b.yaml", "traits: [")
        assert "third.clock" not in runtime
        assert runtime.info.generation == generation + 1

        with pytest.raises(ZeroDivisionError), runtime.changes() as changes:
            changes.define(Clock, "third.clock")
            raise ZeroDivisionError
        assert "third.clock" not in runtime


def test_a_change_set_is_used_once() -> None:
    with invivo.Runtime() as runtime:
        changes = runtime.changes()
        changes.commit()
        with pytest.raises(invivo.StaleError):
            changes.commit()
        with pytest.raises(invivo.StaleError):
            changes.remove("a.b")


def test_a_removed_definition_is_gone() -> None:
    with invivo.Runtime(assembly()) as runtime:
        _ = runtime[Player]
        with runtime.changes() as changes:
            changes.remove("synth.player")
        with pytest.raises(KeyError):
            runtime["synth.player"]
        with pytest.raises(KeyError):
            runtime[Player]


def test_a_base_value_lies_under_what_specs_say() -> None:
    with invivo.Runtime(assembly()) as runtime:
        player = runtime[Player]
        source = runtime.source("a.yaml", SLOW)
        with runtime.changes() as changes:
            changes.set("synth.player", "tempo", 200)
        assert player.tempo == 60
        source.close()
        assert player.tempo == 200


def test_a_submitted_change_reaches_observers() -> None:
    with invivo.Runtime(assembly()) as runtime, runtime.reloads() as reloads:
        changes = runtime.changes()
        changes.document("a.yaml", SLOW)
        changes.submit()
        assert wait_for(reloads, lambda report: True).committed
        assert runtime[Player].tempo == 60


# ---- documents -----------------------------------------------------------------------------------------


def test_a_document_sets_and_its_end_restores() -> None:
    with invivo.Runtime(assembly()) as runtime:
        player = runtime[Player]
        with runtime.source("a.yaml", SLOW) as source:
            assert player.tempo == 60
            source.update(SLOW.replace("60", "90"))
            assert player.tempo == 90
        assert player.tempo == 120


def test_a_broken_document_says_where_and_changes_nothing() -> None:
    with invivo.Runtime(assembly()) as runtime:
        source = runtime.source("a.yaml", SLOW)
        with pytest.raises(invivo.Error) as caught:
            source.update("traits:\n  synth.player:\n    - Set: { tempo: 1000 }\n")
        error = caught.value
        assert (error.code, error.file, error.line) == (invivo.RangeError.status, "a.yaml", 3)
        assert "300" in error.message
        assert runtime[Player].tempo == 60


def test_a_watched_file_is_live_without_polling(tmp_path: Path) -> None:
    path = tmp_path / "tuning.yaml"
    path.write_text(SLOW)
    with invivo.Runtime(assembly(), watch=path, quiet=0) as runtime:
        player = runtime[Player]
        assert player.tempo == 60
        with runtime.reloads() as reloads:
            path.write_text(SLOW.replace("60", "90"))
            report = wait_for(reloads, lambda report: player.tempo == 90)
            assert report.committed
            assert [(each.key, each.property, each.what) for each in report.changes] == [
                ("synth.player", "tempo", "tuned")
            ]
            path.write_text("traits: [")
            report = wait_for(reloads, lambda report: not report.committed)
            assert report.error is not None
            assert report.error.file.endswith("tuning.yaml")
            assert player.tempo == 90
            assert runtime.last_error is not None


def test_a_missing_file_is_an_os_error_and_leaves_nothing_open(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        invivo.Runtime(assembly(), watch=tmp_path / "nowhere.yaml")


def test_a_setter_that_refuses_fails_the_reload() -> None:
    class Engine:
        def __init__(self) -> None:
            self._power = 1.0

        @property
        def power(self) -> float:
            return self._power

        @invivo.tunable
        @power.setter
        def power(self, value: float) -> None:
            if value > 5:
                raise OverflowError("it would burn")
            self._power = value

    app = invivo.Assembly("app")
    app.lazy_singleton(Engine)
    with invivo.Runtime(app) as runtime:
        engine = runtime[Engine]
        source = runtime.source("a.yaml", "traits: { app.engine: [ { Set: { power: 2 } } ] }")
        assert engine.power == 2
        with pytest.raises(invivo.Error, match="it would burn") as caught:
            source.update("traits: { app.engine: [ { Set: { power: 9 } } ] }")
        assert isinstance(caught.value.__cause__, OverflowError)
        assert engine.power == 2


# ---- targets -------------------------------------------------------------------------------------------


def test_an_attached_object_follows_its_key_until_detached() -> None:
    with invivo.Runtime(pending_targets=True) as runtime:
        runtime.source("a.yaml", "traits: { stage.left: [ { Set: { tempo: 60 } } ] }")
        player = Player(Clock())
        target = runtime.attach_target(player, "stage.left")
        assert player.tempo == 60
        target.detach()
        assert player.tempo == 120
        target.detach()


def test_an_attached_object_is_not_kept_alive() -> None:
    with invivo.Runtime(pending_targets=True) as runtime:
        player = Player(Clock())
        gone = weakref.ref(player)
        runtime.attach_target(player, "stage.left")
        assert runtime.info.targets == 1
        del player
        gc.collect()
        assert gone() is None
        assert runtime.info.targets == 0


# ---- views ---------------------------------------------------------------------------------------------


def test_a_view_reads_a_block_of_one_generation() -> None:
    with invivo.Runtime() as runtime:
        runtime.define_block("synth.lead", gain=invivo.tunable(1.0, min=0, max=2), count=3, on=True)
        with runtime.view() as view:
            block = view.block("synth.lead")
            assert dict(block) == {"gain": 1.0, "count": 3, "on": True}
            assert block.gain == 1.0
            generation = view.generation
        runtime.source("a.yaml", "traits: { synth.lead: [ { Set: { gain: 0.5, on: false } } ] }")
        with runtime.view() as view:
            assert view.generation > generation
            assert dict(view.block("synth.lead")) == {"gain": 0.5, "count": 3, "on": False}
            with pytest.raises(KeyError):
                view.block("synth.nothing")
        assert dict(block) == {"gain": 1.0, "count": 3, "on": True}
        with pytest.raises(invivo.StaleError):
            view.block("synth.lead")


def test_a_view_belongs_to_its_thread() -> None:
    with invivo.Runtime() as runtime:
        runtime.define_block("synth.lead", gain=1.0)
        problems: list[BaseException] = []

        def elsewhere(view: invivo.View) -> None:
            try:
                view.block("synth.lead")
            except invivo.DomainError as problem:
                problems.append(problem)

        with runtime.view() as view:
            thread = threading.Thread(target=elsewhere, args=(view,))
            thread.start()
            thread.join()
        assert len(problems) == 1


# ---- hearing -------------------------------------------------------------------------------------------


def test_an_observer_hears_of_commits_and_failures_in_order_until_it_is_closed() -> None:
    heard: list[invivo.Report] = []
    with invivo.Runtime(assembly()) as runtime:
        _ = runtime[Player]
        observer = runtime.observe(heard.append)
        source = runtime.source("a.yaml", SLOW)
        with pytest.raises(invivo.Error):
            source.update("traits: [")
        observer.close()
        observer.close()
        source.update(SLOW.replace("60", "61"))
        assert [report.committed for report in heard] == [True, False]
        assert heard[0].generation == heard[1].generation == runtime.info.generation - 1
        assert "a.yaml" in heard[0].cause
        assert heard[0].nanoseconds["total"] > 0
        assert str(heard[0]) == heard[0].text != ""


def test_reloads_end_when_the_runtime_closes() -> None:
    runtime = invivo.Runtime(assembly())
    reloads = runtime.reloads()
    found: list[invivo.Report] = []
    thread = threading.Thread(target=lambda: found.extend(reloads))
    thread.start()
    runtime.source("a.yaml", SLOW)
    runtime.close()
    thread.join(30)
    assert not thread.is_alive()
    assert len(found) == 1


def test_the_log_gets_level_message_and_fields() -> None:
    entries: list[Any] = []
    with invivo.Runtime(assembly(), log=lambda *entry: entries.append(entry), log_level="trace") as runtime:
        runtime.source("a.yaml", SLOW)
    assert entries
    level, message, path, fields = entries[0]
    assert isinstance(level, invivo.LogLevel)
    assert isinstance(message, str)
    assert isinstance(path, str)
    assert isinstance(fields, dict)


def test_the_numbers_of_a_runtime() -> None:
    with invivo.Runtime(assembly()) as runtime:
        assert runtime.info.definitions == 3
        _ = runtime[Player], runtime["synth.clock"]
        assert runtime.info.objects == 2
        leases = runtime.info.leases
        _ = runtime["synth.player"], [runtime.resolve(Voice, note) for note in range(9)]
        assert runtime.info.leases == leases, "Python keeps none for plain Python objects"


def test_polling_runs_what_waits_and_does_not_wait_unless_asked() -> None:
    with invivo.Runtime() as runtime:
        assert runtime.poll() == 0
        assert runtime.poll(0.001) == 0
        assert runtime.fileno() >= 0


# ---- sharing -------------------------------------------------------------------------------------------


def test_an_attached_runtime_works_on_the_same_objects_and_is_not_closed_by_its_guest() -> None:
    with invivo.Runtime(assembly()) as runtime:
        guest = invivo.attach(runtime.share())
        assert guest["synth.player"] is runtime[Player]
        guest.define(Clock, "guest.clock")
        assert type(runtime["guest.clock"]) is Clock
        guest.close()
        guest.close()
        with pytest.raises(invivo.ClosedError):
            guest["synth.player"]
        assert runtime[Player].tempo == 120


def test_a_runtime_of_another_copy_of_the_library_works_through_its_own_table(tmp_path: Path) -> None:
    copy = tmp_path / "libother.so"
    shutil.copyfile(library.find(), copy)
    image = ctypes.CDLL(str(copy))
    other = library.library_at(ctypes.PYFUNCTYPE(ctypes.c_void_p)(("invivo_table_get", image))())
    assert other is not library.own_library()
    handle = c.invivo_runtime()
    other.call("runtime_open", ctypes.byref(handle), None)
    try:
        token = ctypes.POINTER(c.invivo_token)()
        other.call("share", handle, ctypes.byref(token))
        address = ctypes.cast(token, ctypes.c_void_p).value
        assert address is not None
        with invivo.attach(address) as runtime:
            runtime.activate(assembly())
            player = runtime[Player]
            runtime.source("a.yaml", SLOW)
            assert player.tempo == 60
            runtime.define(Player, "synth.player")
            assert runtime[Player] is not player
            assert runtime[Player].tempo == 60
            with pytest.raises(KeyError):
                runtime["synth.nothing"]
    finally:
        other.call("runtime_close", handle)


def test_what_is_no_token_is_refused() -> None:
    nothing = (ctypes.c_uint64 * 4)()
    with pytest.raises(invivo.HandleError):
        invivo.attach(ctypes.addressof(nothing))
    with pytest.raises(invivo.HandleError):
        invivo.attach(0)


def test_a_forked_child_gets_a_clean_error() -> None:
    with invivo.Runtime(assembly()) as runtime:
        _ = runtime[Player]
        child = fork_marker.fork()
        if child == 0:
            status = 1
            try:
                runtime.define(Player, "synth.other")
            except invivo.ForkedError:
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_nul_in_a_path_or_name_is_refused() -> None:
    with invivo.Runtime() as runtime:
        for attempt in (
            lambda: runtime.watch("a\0b"),
            lambda: runtime.load_module("a\0b"),
            lambda: runtime.source("a\0b", ""),
            lambda: runtime["a\0b"],
        ):
            with pytest.raises(invivo.EncodingError, match="NUL"):
                attempt()


def test_an_unknown_level_of_the_log_names_the_known_ones() -> None:
    for level in ("loud", 17):
        with pytest.raises(ValueError, match=r"log_level is trace, debug, info, warning, error, silent"):
            invivo.Runtime(log_level=level)  # type: ignore[arg-type]


def test_waiting_without_limit_can_be_interrupted(script: Any) -> None:
    done = script(
        "import invivo, os, signal, threading\n"
        "runtime = invivo.Runtime()\n"
        "threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    runtime.poll(None)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
        "runtime.close()\n"
    )
    assert done.stdout == "interrupted\n", done.stderr


def test_what_goes_wrong_in_an_observer_is_logged_and_the_last_error() -> None:
    heard: list[tuple[int, str]] = []
    with invivo.Runtime(log=lambda level, message, path, fields: heard.append((level, message))) as runtime:
        runtime.observe(lambda report: 1 / 0)
        runtime.define_block("a.b", gain=1.0)
        assert (invivo.LogLevel.ERROR, "ZeroDivisionError: division by zero") in heard
        assert isinstance(runtime.last_error, invivo.HostError)
        assert runtime.last_error.message == "ZeroDivisionError: division by zero"


def test_a_change_set_that_is_not_used_is_reported_with_its_line():
    def leave(runtime):
        runtime.changes().configure("a.b", 1)  # not committed
        gc.collect()

    with invivo.Runtime() as runtime:
        with pytest.warns(ResourceWarning, match="the change set was neither committed nor discarded") as caught:
            leave(runtime)
        assert runtime.config("a.b", None) is None
        (one,) = caught
        with open(__file__) as file:
            line = file.readlines()[one.lineno - 1]
        assert (one.filename, line.strip()) == (__file__, 'runtime.changes().configure("a.b", 1)  # not committed')


def test_a_change_set_that_is_used_is_not_reported(recwarn):
    with invivo.Runtime() as runtime:
        for use in (
            lambda changes: changes.commit(),
            lambda changes: changes.submit(),
            lambda changes: changes.check(),
            lambda changes: changes.discard(),
            lambda changes: changes.__enter__(),
        ):
            changes = runtime.changes()
            changes.configure("a.b", 1)
            use(changes)
        with pytest.raises(ZeroDivisionError), runtime.changes() as changes:
            changes.configure("a.b", 1 // 0)
        with pytest.raises(invivo.NotFoundError):
            runtime.forget(invivo.Assembly("unknown"))
        changes = runtime.changes()
        runtime.close()
        with pytest.raises(invivo.ClosedError):
            changes.commit()
    del changes
    gc.collect()
    assert not recwarn.list
