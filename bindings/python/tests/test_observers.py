"""Observers of keys, types and objects."""

from __future__ import annotations

import pickle
import threading
import typing
from typing import Protocol

import pytest

import invivo
from invivo import Runtime
from invivo._services import kinds


class Tone:
    def __init__(self, pitch: float = 1.0) -> None:
        self.pitch = pitch

    def sound(self) -> None: ...


class Chord:
    def __init__(self, tone: Tone) -> None:
        self.tone = tone


class Broken:
    def __init__(self) -> None:
        raise ZeroDivisionError("on purpose")


class Pitched(Protocol):
    def sound(self) -> None: ...


class Ear:
    """Hears reports as "name: key what, ..."."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def hear(self, report: invivo.Report) -> None:
        self.heard.append(", ".join(f"{change.key} {change.what}" for change in report.changes))

    def take(self) -> list[str]:
        heard, self.heard = self.heard, []
        return heard


@pytest.fixture
def runtime():
    with Runtime() as opened:
        yield opened


def test_a_key(runtime):
    ear = Ear()
    with runtime.observe(ear.hear, key="a.tone") as observer:
        assert observer.generation == runtime.info.generation
        runtime.define(Tone, "a.tone")
        runtime.define(Tone, "a.other")
        assert ear.take() == ["a.tone defined"]
        assert runtime["a.tone"].pitch == 1.0
        runtime.define(Tone, "a.tone", scope="singleton")
        assert ear.take() == ["a.tone remade"]
    runtime.define(Tone, "a.tone")
    assert ear.take() == []


def test_a_type(runtime):
    ear, open_ear = Ear(), Ear()
    runtime.observe(ear.hear, type=Tone)
    runtime.observe(open_ear.hear, type=Pitched)
    runtime.define(Tone, "a.tone")
    runtime.define(Chord, "a.chord")
    assert ear.take() == ["a.tone defined"]
    assert open_ear.take() == ["a.tone defined"]


def test_an_object(runtime):
    ear = Ear()
    runtime.define(Tone, "a.tone")
    tone = runtime["a.tone"]
    runtime.observe(ear.hear, object=tone)
    runtime.define(Tone, "a.other")
    assert ear.take() == []
    runtime.define(Tone, "a.tone", scope="singleton")
    assert ear.take() == ["a.tone remade"]


def test_an_equal_observer_is_the_same(runtime):
    ear, other = Ear(), Ear()
    first = runtime.observe(ear.hear, key="a.tone")
    assert runtime.observe(ear.hear, key="a.tone") is first  # bound methods are equal
    assert runtime.observe(other.hear, key="a.tone") is not first
    assert runtime.observe(ear.hear, key="a.other") is not first
    assert runtime.observe(ear.hear) is not first
    first.close()
    runtime.define(Tone, "a.tone")
    assert ear.take() == ["a.tone defined"]  # of the observer of everything
    assert runtime.observe(ear.hear, key="a.tone") is not first


def test_an_equal_observer_of_a_path_is_the_same(runtime):
    heard: list[object] = []

    def hear(value: object, generation: int) -> None:
        heard.append(value)

    first = runtime.observe_config("a.n", hear)
    assert runtime.observe_config("a.n", hear) is first
    assert runtime.observe_config("a.m", hear) is not first
    runtime.configure("a.n", 1)
    assert heard == [1]
    first.close()
    runtime.configure("a.n", 2)
    assert heard == [1]


def test_threads_that_subscribe_equally_get_one_observer(runtime):
    ear = Ear()
    made: list[object] = []
    for number in range(40):
        start = threading.Barrier(4)

        def subscribe(key: str = f"a.k{number}", start: threading.Barrier = start) -> None:
            start.wait()
            made.append(runtime.observe(ear.hear, key=key))

        threads = [threading.Thread(target=subscribe) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(set(map(id, made[-4:]))) == 1


def test_an_observer_whose_close_failed_is_no_equal_one(runtime):
    ear = Ear()
    first = runtime.observe(ear.hear, key="a.tone")
    library = first.core.library

    class Late:  # the library while a callback does not return in time
        def call(self, name: str, *given: object) -> None:
            raise invivo.DeadlineError("late")

    first.core.library = Late()
    try:
        with pytest.raises(invivo.DeadlineError):
            first.close()
    finally:
        first.core.library = library
    second = runtime.observe(ear.hear, key="a.tone")
    assert second is not first
    first.close()
    runtime.define(Tone, "a.tone")
    assert ear.take() == ["a.tone defined"]


def test_an_observer_of_the_first_reload_ends(runtime):
    heard: list[int] = []
    with runtime.on_ready(lambda generation, error: heard.append(generation)):
        pass
    runtime.define(Tone, "a.tone")
    assert heard == []


def test_the_first_reload_is_announced_once(runtime):
    heard: list[tuple[int, object]] = []
    runtime.on_ready(lambda generation, error: heard.append((generation, error)))
    assert heard == []
    runtime.define(Tone, "a.tone")
    runtime.define(Tone, "a.other")
    assert heard == [(1, None)]


def test_a_first_reload_that_fails_is_announced():
    heard: list[tuple[int, object]] = []
    with Runtime() as runtime:
        runtime.on_ready(lambda generation, error: heard.append((generation, type(error))))
        with pytest.raises(invivo.HostError, match="on purpose"):
            runtime.define(Broken, "a.broken", "singleton")
        runtime.define(Tone, "a.tone")
        assert heard == [(0, invivo.HostError)]


def test_reports_are_data(runtime, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("config:\n  n: 1\n")
    runtime.watch(file)
    report = runtime.reports[-1]
    assert [(cause.kind, cause.name) for cause in report.causes] == [("file", str(file))]
    change = report.changes[0]
    assert (change.key, change.origin, change.layer) == ("n", "file", str(file))
    assert (change.file, change.line, change.column) == (str(file), 2, 6)
    runtime.configure("n", 2)
    change = runtime.reports[-1].changes[0]
    assert (change.origin, change.layer, change.file, change.line) == ("call", "", "", 0)


def test_a_warning_is_a_string_with_a_kind(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("traits:\n  a.later: [ Set: { number: 1 } ]\n")
    with Runtime(pending_targets=True) as runtime:
        runtime.watch(file)
        (warning,) = runtime.reports[-1].warnings
    assert isinstance(warning, str)
    assert warning.endswith("its traits wait for one")
    assert (warning.kind, warning.file, warning.line, warning.column) == ("no_target", str(file), 2, 3)
    again = pickle.loads(pickle.dumps(warning))
    assert (again, again.kind, again.line) == (warning, warning.kind, warning.line)


def test_phases_are_announced(runtime):
    heard: list[invivo.Progress] = []
    observer = runtime.on_progress(heard.append)
    assert runtime.on_progress(heard.append) is observer
    runtime.define(Tone, "a.tone")
    assert [progress.phase for progress in heard] == ["detected", "planned", "committed", "retired"]
    assert len({progress.reload for progress in heard[:3]}) == 1
    assert {progress.cause for progress in heard[:3]} == {"define a.tone"}
    assert [progress.generation for progress in heard] == [0, 0, 1, 0]
    heard.clear()
    with pytest.raises(invivo.HostError, match="on purpose"):
        runtime.define(Broken, "a.broken", "singleton")
    assert [progress.phase for progress in heard] == ["detected", "planned", "refused"]
    assert isinstance(heard[2].error, invivo.HostError)
    observer.close()
    heard.clear()
    runtime.define(Tone, "a.tone", "singleton")
    assert heard == []


def test_an_exception_of_an_observer_of_phases_changes_nothing(runtime):
    def fail(progress: invivo.Progress) -> None:
        raise ValueError(progress.phase)

    with runtime.on_progress(fail):
        runtime.define(Tone, "a.tone")
    assert runtime.generation == 1
    assert "ValueError" in str(runtime.last_error)


def test_bad_input(runtime):
    ear = Ear()
    with pytest.raises(invivo.ArgumentError, match=r"key= and type=: an observer observes one of them"):
        runtime.observe(ear.hear, key="a.tone", type=Tone)
    with pytest.raises(invivo.Error):
        runtime.observe(ear.hear, key="a\0b")
    with pytest.raises(invivo.ArgumentError, match="holds no Tone that is this object: observe its key or type"):
        runtime.observe(ear.hear, object=Tone())
    runtime.define(Tone, "a.tone")
    assert ear.take() == []


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        (kinds.CauseKind, kinds.CAUSES),
        (kinds.ChangeKind, kinds.CHANGES),
        (kinds.NoticeKind, kinds.NOTICES),
        (kinds.Origin, kinds.ORIGINS),
        (kinds.ProgressPhase, kinds.PROGRESS),
    ],
)
def test_the_types_of_kinds_have_the_names_of_the_constants(declared, found):
    assert set(typing.get_args(declared)) == {*found.values(), "other" if declared is kinds.NoticeKind else "unknown"}


@pytest.mark.parametrize(
    ("cls", "field", "declared"),
    [
        (invivo.Cause, "kind", kinds.CauseKind),
        (invivo.Change, "what", kinds.ChangeKind),
        (invivo.Change, "origin", kinds.Origin),
        (invivo.Notice, "kind", kinds.NoticeKind),
        (invivo.Progress, "phase", kinds.ProgressPhase),
    ],
)
def test_kinds_in_reports_have_their_types_and_are_documented(cls, field, declared):
    assert typing.get_type_hints(cls)[field] == declared
    if cls is not invivo.Cause:
        assert all(f'"{each}"' in cls.__doc__ for each in typing.get_args(declared))
