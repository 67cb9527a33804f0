"""View.block: the tunable values of one generation, of Python's objects too."""

from __future__ import annotations

import threading
from concurrent import futures
from typing import Any

import pytest

import invivo
from invivo import _generated as generated


class Lead:
    gain: float = invivo.tunable(1.0, min=0)
    cutoff: float = invivo.tunable(1.0, min=0)
    name: str = "lead"  # not tunable

    def __init__(self) -> None:
        self.made = True


class Plain:
    size: int = 3


def document(gain: float, cutoff: float) -> str:
    return f"traits: {{ synth.lead: [Set: {{ gain: {gain}, cutoff: {cutoff} }}] }}"


@pytest.fixture
def app() -> invivo.Assembly:
    app = invivo.Assembly("synth")
    app.lazy_singleton(Lead)
    app.lazy_singleton(Plain)
    return app


def test_a_view_reads_the_tunable_attributes_of_an_object(app: invivo.Assembly) -> None:
    with invivo.Runtime(app) as runtime:
        with runtime.view() as view, pytest.raises(invivo.errors.NotFoundError, match="Resolve the key first"):
            view.block("synth.lead")
        lead = runtime[Lead]
        with runtime.source("a.yaml", document(0.5, 2)), runtime.view() as view:
            assert dict(view.block("synth.lead")) == {"gain": 0.5, "cutoff": 2.0}
            assert view.block(Lead).cutoff == 2.0
        lead.gain = 7  # the program's own changes are read as they are
        with runtime.view() as view:
            assert view.block(Lead).gain == 7


def test_older_views_read_the_former_values(app: invivo.Assembly) -> None:
    with invivo.Runtime(app) as runtime, futures.ThreadPoolExecutor(1) as other:
        lead = runtime[Lead]
        source = runtime.source("a.yaml", "{}")
        first, second = runtime.view(), runtime.view()  # of two threads: in one, both are of one generation
        with first:
            source.update(document(2, 2))
            other.submit(second.__enter__).result(30)
            source.update(document(3, 3))
            source.update(document(4, 4))
            assert (lead.gain, lead.cutoff) == (4, 4)
            assert other.submit(second.block, Lead).result(30) == {"gain": 2, "cutoff": 2}
            other.submit(second.__exit__).result(30)
            assert first.block(Lead) == {"gain": 1, "cutoff": 1}
        source.update(document(5, 5))
        with runtime.view() as view:
            assert view.block(Lead) == {"gain": 5, "cutoff": 5}
        assert not any(runtime._core.tunings._kept.values()), "nothing is kept that no view reads"


class Watched:
    """Looks at itself through a view while its attributes are set."""

    runtime: Any = None
    seen: list[dict[str, Any]] = []  # noqa: RUF012

    gain: float = invivo.tunable(1.0)
    cutoff: float = invivo.tunable(1.0)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if self.runtime is not None:
            self.look()

    def look(self) -> None:
        with self.runtime.view() as view:
            self.seen.append(dict(view.block("a.watched")))


def test_a_view_in_the_middle_of_a_commit_reads_the_former_values() -> None:
    app = invivo.Assembly("a")
    app.lazy_singleton(Watched)
    with invivo.Runtime(app) as runtime:
        watched = runtime[Watched]
        source = runtime.source("a.yaml", "{}")
        Watched.runtime, Watched.seen = runtime, []
        try:
            source.update("traits: { a.watched: [Set: { gain: 2, cutoff: 2 }] }")
            assert Watched.seen == [{"gain": 1, "cutoff": 1}] * 2
            watched.look()
            assert Watched.seen.pop() == {"gain": 2, "cutoff": 2}
            Watched.seen.clear()
            source.update("{}")
            assert len(Watched.seen) == 2
            assert Watched.seen == [{"gain": 2, "cutoff": 2}] * 2
            watched.look()
            assert Watched.seen.pop() == {"gain": 1, "cutoff": 1}
        finally:
            Watched.runtime = None


class Fails:
    gain: float = invivo.tunable(1.0)
    cutoff: float = invivo.tunable(1.0)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "cutoff" and value == 2:
            raise ValueError("on purpose")
        object.__setattr__(self, name, value)


def test_a_commit_that_fails_leaves_nothing_behind() -> None:
    app = invivo.Assembly("a")
    app.lazy_singleton(Fails)
    with invivo.Runtime(app) as runtime:
        fails = runtime[Fails]
        source = runtime.source("a.yaml", "{}")
        with pytest.raises(invivo.Error, match="on purpose"):
            source.update("traits: { a.fails: [Set: { gain: 2, cutoff: 2 }] }")
        fails.gain = 5
        with runtime.view() as view:
            assert dict(view.block(Fails)) == {"gain": 5, "cutoff": 1}


@pytest.mark.usefixtures("frequent_switches")
def test_no_view_reads_a_mix_while_documents_change(app: invivo.Assembly) -> None:
    with invivo.Runtime(app) as runtime:
        runtime[Lead]
        source = runtime.source("a.yaml", document(1, 1))
        mixed: list[invivo.Block] = []
        seen: set[float] = set()
        is_over, has_read = threading.Event(), threading.Event()

        def read() -> None:
            while not is_over.is_set():
                with runtime.view() as view:
                    block = view.block("synth.lead")
                    seen.add(block.gain)
                    if block.gain != block.cutoff or dict(block) != dict(view.block("synth.lead")):
                        mixed.append(block)
                has_read.set()

        reader = threading.Thread(target=read)
        reader.start()
        for number in range(2, 302):
            source.update(document(number, number))
            has_read.clear()
            if number % 10 == 0:
                assert has_read.wait(30)
        is_over.set()
        reader.join()
        assert mixed == []
        assert len(seen) > 10


def test_a_view_keeps_the_gil(app: invivo.Assembly, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that releases the GIL in each view of a loop delays other threads for several switch intervals."""

    def fail(*_: Any) -> None:
        raise AssertionError("releases the GIL")

    with invivo.Runtime(app) as runtime, futures.ThreadPoolExecutor(1) as other:
        runtime[Lead]
        source = runtime.source("a.yaml", document(2, 2))
        first = runtime.view()
        first.__enter__()
        other.submit(source.update, document(3, 3)).result(30)
        library = runtime._core.library
        monkeypatch.setattr(library, "call", fail)
        for name, (_, _, nowait) in generated.FUNCTIONS.items():
            if not nowait:
                monkeypatch.setattr(library, name.removeprefix("invivo_"), fail)
        with runtime.view() as second:
            assert second.block("synth.lead").gain == first.block("synth.lead").gain == 2
        assert any(runtime._core.tunings._kept.values())
        first.__exit__(None, None, None)
        assert not any(runtime._core.tunings._kept.values())
        monkeypatch.undo()


def test_what_has_no_tunables_says_so(app: invivo.Assembly) -> None:
    with invivo.Runtime(app) as runtime, runtime.view() as view:
        runtime[Plain]
        with pytest.raises(invivo.errors.NotFoundError, match="Plain has no tunable attributes"):
            view.block(Plain)
        with pytest.raises(invivo.errors.NotFoundError, match="no definition creates a 'int'"):
            view.block(int)


def test_a_new_object_that_a_commit_builds_is_read_whole(app: invivo.Assembly) -> None:
    with invivo.Runtime(app, log_level="silent") as runtime, futures.ThreadPoolExecutor(1) as other:
        runtime[Lead]
        source = runtime.source("a.yaml", document(3, 3))
        with runtime.view() as view:
            runtime.reset("synth.lead")
            lead = other.submit(runtime.resolve, "synth.lead").result(30)  # here it would be that of the view
            assert lead.gain == 3
            lead.gain = 4
            assert view.block("synth.lead").gain == 3, "of the former object"
            second = runtime.view()
            other.submit(second.__enter__).result(30)
            source.update(document(5, 5))
            assert other.submit(second.block, "synth.lead").result(30) == {"gain": 4, "cutoff": 3}
            other.submit(second.__exit__).result(30)
        with runtime.view() as view:
            assert view.block("synth.lead") == {"gain": 5, "cutoff": 5}
