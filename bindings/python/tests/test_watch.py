"""Assemblies and the files that they need as one reload."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import invivo


class Voice:
    gain: float = invivo.tunable(1, min=0, max=2)

    def __init__(self, count: int) -> None:
        self.count = count


class Synth(invivo.Assembly):
    @invivo.singleton
    def lead(self) -> Voice:
        return invivo.new(Voice, count=invivo.config("count"))


def text(count: int, gain: float) -> str:
    return f"config: {{ synth: {{ count: {count} }} }}\ntraits:\n  synth.lead:\n    - Set: {{ gain: {gain} }}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.yaml"
    path.write_text(text(3, 0.5))
    return path


def test_a_required_value_and_a_trait_come_from_one_file(file: Path) -> None:
    synth = Synth()
    with invivo.Runtime(synth, watch=file, quiet=0) as runtime:
        assert (synth.lead().count, synth.lead().gain) == (3, 0.5)
        assert (runtime.info.generation, runtime.info.reloads) == (1, 1)
        with runtime.reloads() as reloads:
            file.write_text(text(4, 0.25))
            while synth.lead().count != 4:
                assert reloads.wait(60) is not None
        assert (synth.lead().count, synth.lead().gain) == (4, 0.25)


def test_several_files_in_one_change_set(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("config: { synth: { count: 5 } }")
    with invivo.Runtime(Synth(), watch=[file, other]) as runtime:
        assert (runtime[Voice].count, runtime[Voice].gain) == (5, 0.5)
        assert [each.name for each in runtime.sources] == [str(file), str(other)]


@pytest.mark.parametrize("said", ["config: {", "config: { synth: {} }", text(1, 3), text(1, 1).replace("lead", "laed")])
def test_what_is_wrong_leaves_nothing(file: Path, said: str) -> None:
    file.write_text(said)
    descriptors = len(os.listdir("/proc/self/fd"))
    synth = Synth()
    with invivo.Runtime() as runtime:
        with pytest.raises(invivo.Error) as caught, runtime.changes() as changes:
            changes.activate(synth)
            source = changes.watch(file)
        assert said.startswith("config: { synth: {} }") or caught.value.file == str(file)
        assert runtime.sources == []
        assert runtime.assembly_state("synth") == "unknown"
        with pytest.raises(invivo.HandleError):
            source.refresh()
        source.close()
    assert len(os.listdir("/proc/self/fd")) == descriptors
    with pytest.raises(invivo.Error):
        invivo.Runtime(synth, watch=file)
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_a_source_of_a_change_set(file: Path) -> None:
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.activate(Synth())
            source = changes.watch(file)
            changes.check()
            assert runtime.sources == []
            with pytest.raises(invivo.NotReadyError, match="is not committed yet"):
                source.refresh()
        file.write_text(text(4, 0.25))
        source.refresh()
        assert (runtime[Voice].count, runtime[Voice].gain) == (4, 0.25)
        with pytest.raises(invivo.NotConfiguredError):
            source.close()


def test_a_source_that_is_closed_before_the_commit_is_an_error(file: Path) -> None:
    with invivo.Runtime() as runtime:
        message = "closed before its change set was committed"
        with pytest.raises(invivo.ArgumentError, match=message) as caught, runtime.changes() as changes:
            changes.activate(Synth())
            with changes.watch(file):
                pass
            with pytest.raises(invivo.ArgumentError, match=message):
                changes.check()
        assert caught.value.file == str(file)
        assert runtime.sources == []
        assert runtime.assembly_state("synth") == "unknown"


def test_a_set_that_is_discarded_follows_nothing(file: Path) -> None:
    with invivo.Runtime() as runtime:
        changes = runtime.changes()
        source = changes.watch(file)
        changes.discard()
        assert runtime.sources == []
        with pytest.raises(invivo.HandleError):
            source.refresh()
        with pytest.raises(invivo.StaleError):
            changes.watch(file)


def test_a_file_may_come_later(file: Path) -> None:
    file.unlink()
    with invivo.Runtime(quiet=0) as runtime, runtime.reloads() as reloads:
        with runtime.changes() as changes:
            changes.define(Voice, "synth.lead", count=invivo.config("count", 1))
            changes.watch(file, wait=True)
        assert runtime[Voice].count == 1
        file.write_text(text(4, 0.25))
        while runtime[Voice].count != 4:
            assert reloads.wait(60) is not None
        assert runtime[Voice].gain == 0.25


def test_an_observer_submits_a_file(file: Path) -> None:
    with invivo.Runtime(quiet=0) as runtime, runtime.reloads() as reloads:
        sources: list[invivo.Source] = []

        def callback(report: invivo.Report) -> None:
            if not sources:
                changes = runtime.changes()
                sources.append(changes.watch(file))
                changes.submit()

        runtime.observe(callback)
        runtime.define(Voice, "synth.lead", count=1)
        while not runtime.sources or runtime.config("synth.count", None) != 3:
            assert reloads.wait(60) is not None
        assert runtime[Voice].gain == 0.5
        sources[0].close()
        assert runtime[Voice].gain == 1
