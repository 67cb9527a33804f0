"""Reads of typed settings: the runtime keeps what was read, and never answers from another generation than it must."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest

import invivo
from invivo._services import bindings


@dataclasses.dataclass(frozen=True)
class Audio:
    rate: int = 1


@pytest.fixture
def runtime() -> Iterator[invivo.Runtime]:
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.configure("audio.rate", 1)
        runtime.configure("numbers", [1])
        runtime.bind_settings(Audio, "audio")
        runtime.bind_settings(list[int], "numbers", name="numbers")
        yield runtime


def read(runtime: invivo.Runtime) -> tuple[int, int]:
    """Reads by each kind of request, twice. No definition depends on the numbers."""
    values = set()
    for _ in range(2):
        assert runtime.settings(Audio) is runtime.settings("Audio")
        values.add((runtime.settings(Audio).rate, runtime.settings("numbers")[0], runtime.settings(list[int])[0]))
    (found,) = values
    assert found[1] == found[2]
    return found[:2]


def elsewhere(function: Callable[[], Any]) -> Any:
    """Returns the result of a function on another thread."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_a_second_read_asks_nothing(runtime: invivo.Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    first = runtime.settings(Audio), runtime.settings("Audio"), runtime.settings(list[int])
    monkeypatch.setattr(bindings, "current", None)
    assert all(runtime.settings(what) is value for what, value in zip((Audio, "Audio", list[int]), first, strict=True))
    monkeypatch.undo()
    runtime.configure("audio.rate", 2)
    monkeypatch.setattr(bindings, "current", None)
    with pytest.raises(TypeError):  # nothing is kept
        runtime.settings(Audio)


def test_a_read_follows_each_commit(runtime: invivo.Runtime) -> None:
    for number in range(2, 12):
        assert read(runtime) == (number - 1, number - 1)
        runtime.configure("audio.rate", number)
        assert read(runtime) == (number, number - 1)
        runtime.configure("numbers", [number])
    runtime.unconfigure("audio")
    assert read(runtime) == (1, 11)


def test_a_read_follows_a_document(runtime: invivo.Runtime) -> None:
    runtime.unconfigure("audio")
    document = runtime.source("audio.yaml", "{config: {audio: {rate: 5}}}")
    assert read(runtime) == (5, 1)
    document.update("{config: {audio: {rate: 6}}}")
    assert read(runtime) == (6, 1)
    document.close()
    assert read(runtime) == (1, 1)


def test_a_refused_commit_leaves_what_was_read(runtime: invivo.Runtime) -> None:
    first = runtime.settings(Audio)
    with pytest.raises(invivo.Error):
        runtime.configure("audio.rate", "no number")
    assert runtime.settings(Audio) is first


def test_a_pin_keeps_its_generation_and_others_read_the_current_one(runtime: invivo.Runtime) -> None:
    first = runtime.settings(Audio)
    with runtime.pinned() as pin:
        assert runtime.settings(Audio) is first
        runtime.configure("audio.rate", 2)
        runtime.configure("numbers", [2])
        assert runtime.settings(Audio) is first
        assert read(runtime) == (1, 1)
        assert elsewhere(lambda: read(runtime)) == (2, 2)
        assert read(runtime) == (1, 1)

        def enter() -> tuple[int, int]:
            with pin:
                return read(runtime)

        assert elsewhere(enter) == (1, 1)
        runtime.configure("audio.rate", 3)
        with runtime.pinned():
            assert read(runtime) == (1, 1)
    assert read(runtime) == (3, 2)
    runtime.configure("audio.rate", 4)
    assert read(runtime) == (4, 2)


def test_a_view_keeps_its_generation_and_others_read_the_current_one(runtime: invivo.Runtime) -> None:
    first = runtime.settings(Audio)
    with runtime.view() as view:
        assert runtime.settings(Audio) is first
        elsewhere(lambda: runtime.configure("audio.rate", 2))
        assert runtime.settings(Audio) is view.settings(Audio) is first
        assert elsewhere(lambda: read(runtime)) == (2, 1)
        assert read(runtime) == (1, 1)
        with runtime.view() as inner:
            assert runtime.settings(Audio) is inner.settings(Audio) is first
        assert read(runtime) == (1, 1)
    assert read(runtime) == (2, 1)
    assert not runtime._views


def test_a_view_that_another_thread_leaves_still_answers(runtime: invivo.Runtime) -> None:
    view = runtime.view()
    view.__enter__()
    elsewhere(lambda: runtime.configure("audio.rate", 2))
    elsewhere(lambda: view.__exit__(None, None, None))
    assert read(runtime) == (1, 1)  # it ends where its thread begins another one
    with runtime.view():
        pass
    assert read(runtime) == (2, 1)


def test_a_read_follows_a_rollback(runtime: invivo.Runtime) -> None:
    runtime.unconfigure("audio")
    document = runtime.source("audio.yaml", "{config: {audio: {rate: 5}}}")
    former = runtime.generation
    assert read(runtime) == (5, 1)
    document.update("{config: {audio: {rate: 6}}}")
    assert read(runtime) == (6, 1)
    runtime.rollback(former)
    assert read(runtime) == (5, 1)


def test_settings_that_are_unbound_are_not_found(runtime: invivo.Runtime) -> None:
    read(runtime)
    runtime.unbind_settings("numbers")
    runtime.unbind_settings(Audio)
    for what in (Audio, "Audio", "numbers", list[int]):
        with pytest.raises(invivo.NotFoundError, match="are not bound in generation"):
            runtime.settings(what)
    runtime.bind_settings(list[int], "numbers", name="numbers")
    runtime.bind_settings(Audio, "audio")
    assert read(runtime) == (1, 1)


def test_what_is_read_before_a_commit_becomes_visible_is_not_kept_after_it(runtime: invivo.Runtime) -> None:
    seen: list[Any] = []

    def note(progress: invivo.Progress) -> None:
        if progress.phase == "planned":
            seen.append(elsewhere(lambda: runtime.settings("numbers")))

    runtime.on_progress(note)
    runtime.bind_settings(dict[str, int], "audio", name="numbers")
    assert seen == [[1]]
    assert runtime.settings("numbers") == {"rate": 1}
    runtime.unbind_settings("numbers")
    assert seen[1:] == [{"rate": 1}]
    with pytest.raises(invivo.NotFoundError):
        runtime.settings("numbers")


def test_a_class_that_is_defined_again_takes_the_place_of_the_former_one(runtime: invivo.Runtime) -> None:
    read(runtime)
    former = Audio

    @dataclasses.dataclass(frozen=True)
    class Other:
        rate: int = 1
        channels: int = 2

    Other.__name__ = Other.__qualname__ = "Audio"
    runtime.bind_settings(Other, "audio", name="Audio")
    found = runtime.settings(Other)
    assert found == Other(1, 2)
    assert runtime.settings("Audio") is runtime.settings(former) is found
    runtime.configure("audio.channels", 3)
    assert runtime.settings(Other).channels == runtime.settings("Audio").channels == 3


def test_the_last_binding_of_a_class_answers(runtime: invivo.Runtime) -> None:
    assert runtime.settings(Audio).rate == 1
    runtime.bind_settings(Audio, "second", name="second")
    runtime.configure("second.rate", 7)
    assert runtime.settings(Audio).rate == 7
    assert runtime.settings("Audio").rate == 1


def test_a_factory_reads_the_generation_that_it_is_built_for(runtime: invivo.Runtime) -> None:
    seen = []

    class Player:
        def __init__(self, audio: Annotated[Audio, invivo.Inject()]) -> None:
            seen.append((audio.rate, runtime.settings(Audio).rate, elsewhere(lambda: runtime.settings(Audio).rate)))

    runtime.define(Player, "player", scope="singleton")
    assert seen == [(1, 1, 1)]
    read(runtime)
    runtime.configure("audio.rate", 2)
    assert seen[1:] == [(2, 2, 1)]
    assert read(runtime) == (2, 1)


def test_a_constructor_reads_the_current_settings_each_time(runtime: invivo.Runtime) -> None:
    class Voice:
        def __init__(self) -> None:
            self.audio = runtime.settings(Audio)

    runtime.define(Voice, "voice", scope="prototype")
    for number in range(2, 8):
        runtime.configure("audio.rate", number)
        assert [runtime["voice"].audio.rate for _ in range(3)] == [number] * 3
        assert runtime.settings(Audio) is runtime["voice"].audio


def test_a_hook_and_an_observer_read_the_new_generation(runtime: invivo.Runtime) -> None:
    seen: list[int] = []
    runtime.observe(lambda report: seen.append(runtime.settings(Audio).rate))
    runtime.observe_settings(Audio, lambda audio, _: seen.append(audio.rate))
    for number in range(2, 5):
        read(runtime)
        runtime.configure("audio.rate", number)
    assert seen == [2, 2, 3, 3, 4, 4]


def test_each_thread_reads_what_is_committed(runtime: invivo.Runtime) -> None:
    committed, is_over, wrong = 1, False, list[tuple[int, int]]()

    def reads() -> None:
        last = 0
        while not is_over:
            least = max(committed, last)
            last = runtime.settings(Audio).rate
            if last < least:
                wrong.append((least, last))

    threads = [threading.Thread(target=reads) for _ in range(3)]
    for each in threads:
        each.start()
    for number in range(2, 150):
        runtime.configure("audio.rate", number)
        committed = number
        if number % 10 == 0:
            with runtime.pinned():
                runtime.configure("numbers", [number])
                assert runtime.settings(Audio).rate == number
    is_over = True
    for each in threads:
        each.join()
    assert wrong == []


def test_an_annotation_that_cannot_be_hashed_is_read(runtime: invivo.Runtime) -> None:
    what = Annotated[int, []]
    runtime.bind_settings(what, "audio.rate", name="rate")
    assert runtime.settings(what) == runtime.settings("rate") == 1
    runtime.configure("audio.rate", 2)
    assert runtime.settings(what) == runtime.settings("rate") == 2


def test_a_closed_runtime_refuses_what_was_read(runtime: invivo.Runtime) -> None:
    assert runtime.settings(Audio).rate == 1
    runtime.close()
    with pytest.raises(invivo.ClosedError):
        runtime.settings(Audio)
