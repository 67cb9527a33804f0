"""Rollbacks and marks, and files whose bytes a rollback refused."""

from __future__ import annotations

import datetime
import gc
import pathlib
import weakref

import pytest

import invivo


class Beat:
    def __init__(self, rate: int = 0) -> None:
        self.rate = rate


class Song:
    def __init__(self, beat: Beat) -> None:
        self.beat = beat


def define(runtime: invivo.Runtime, rate: int) -> None:
    runtime.define(Beat, "song.beat", rate=rate, scope="lazy_singleton")


def test_a_rollback_brings_a_generation_back() -> None:
    with invivo.Runtime() as runtime:
        define(runtime, 1)
        first = runtime.mark("first")
        runtime.define(Song, "song.song", scope="lazy_singleton")
        define(runtime, 2)
        assert runtime[Song].beat.rate == 2
        runtime.rollback(to=first + 1)
        assert runtime[Song].beat.rate == 1
        assert runtime["song.beat"].rate == 1
        runtime.rollback(to="first")
        with pytest.raises(invivo.NotFoundError):
            runtime[Song]
        runtime.rollback(to=first + 2)
        assert runtime[Song].beat.rate == 2
        assert runtime.marked("first") == first
        kept = runtime.history
        assert [each.generation for each in kept] == [0, 1, 2, 3, 4, 5, 6]
        assert (kept[1].marks, kept[1].cause, kept[1].first) == (("first",), "define song.beat", 1)
        now = datetime.datetime.now(datetime.timezone.utc)
        assert now - datetime.timedelta(minutes=10) < kept[0].time <= kept[-1].time <= now
        runtime.unmark("first")
        with pytest.raises(invivo.NotFoundError, match="no generation is marked 'first'"):
            runtime.rollback(to="first")


def test_assemblies_come_back() -> None:
    with invivo.Runtime() as runtime:
        song = invivo.Assembly("song")

        @invivo.lazy_singleton
        def beat() -> Beat:
            return invivo.wire(Beat, rate=3)

        song.define(beat)
        runtime.activate(song)
        active = runtime.generation
        runtime.deactivate(song)
        with pytest.raises(invivo.NotFoundError):
            runtime["song.beat"]
        runtime.rollback(to=active)
        assert runtime["song.beat"].rate == 3
        assert runtime.assembly_state("song") == "active"
        runtime.deactivate(song)
        runtime.rollback(to=active)
        assert runtime["song.beat"].rate == 3
        runtime.rollback(to=0)
        runtime.activate(song)
        assert runtime["song.beat"].rate == 3


class Songs(invivo.Assembly):
    @invivo.lazy_singleton
    def beat(self) -> Beat:
        return invivo.wire(Beat, rate=5)


class OtherSongs(invivo.Assembly):
    @invivo.lazy_singleton
    def beat(self) -> Beat:
        return invivo.wire(Beat, rate=6)


def test_members_of_assemblies_resolve_as_in_the_generation() -> None:
    first, second = Songs("song"), OtherSongs("song")
    with invivo.Runtime(first) as runtime:
        start = runtime.generation
        runtime.activate(second)
        with pytest.raises(invivo.NotReadyError):
            first.beat()
        runtime.rollback(to=start)
        assert first.beat() is runtime["song.beat"]
        with pytest.raises(invivo.NotReadyError):
            second.beat()
        runtime.rollback(to=start + 1)
        assert second.beat().rate == 6
        with pytest.raises(invivo.NotReadyError):
            first.beat()
        with runtime.changes() as changes:
            changes.rollback(start)
        assert first.beat().rate == 5


def test_wrong_generations_are_refused() -> None:
    with invivo.Runtime() as runtime:
        define(runtime, 1)
        for wrong in (-1, True, 1.0, None, 2**64):
            with pytest.raises(invivo.ArgumentError, match="is no number of a generation"):
                runtime.rollback(to=wrong)  # type: ignore[arg-type]
        with pytest.raises(invivo.NotFoundError, match="there is no generation 7 yet"):
            runtime.rollback(to=7)
        with pytest.raises(invivo.ArgumentError, match="a mark needs a name"):
            runtime.mark("")
        with pytest.raises(invivo.ArgumentError, match="changes nothing else"), runtime.changes() as changes:
            changes.rollback(0)
            changes.configure("n", 1)
    for wrong in (-1, 1001, "many"):
        with pytest.raises(invivo.ArgumentError, match="history is"):
            invivo.Runtime(history=wrong)  # type: ignore[arg-type]


def test_a_kept_generation_keeps_its_factories() -> None:
    class Counting:
        def __call__(self) -> Beat:
            return Beat(7)

    with invivo.Runtime(history=1) as runtime:
        factory = Counting()
        gone = weakref.ref(factory)
        runtime.define(factory, "song.beat")
        del factory
        define(runtime, 1)
        gc.collect()
        assert gone() is not None
        runtime.rollback(to=1)
        assert runtime["song.beat"].rate == 7
        define(runtime, 1)
        define(runtime, 2)
        gc.collect()
        assert gone() is None


def test_refused_bytes_are_shown_and_tried_again(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("config: { n: 1 }\n")
    with invivo.Runtime() as runtime:
        source = runtime.watch(file)
        good = runtime.generation
        file.write_text("config: { n: 2 }\n")
        source.refresh()
        assert runtime.config("n") == 2
        runtime.rollback(to=good)
        source.refresh()
        (state,) = runtime.sources
        assert runtime.config("n") == 1
        assert state.diverged
        assert len(state.live_hash) == 32
        assert state.live_hash != state.file_hash
        assert "the file has other bytes" in runtime.reports[-1].warnings[0]
        source.refresh(retry=True)
        assert runtime.config("n") == 2
        assert not runtime.sources[0].diverged
