"""Setup and teardown: effects and children that belong to objects."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from typing import Any

import pytest

import invivo
from invivo import ArgumentError, HostError, Runtime, WrongTypeError

trace: list[str] = []


class Leaf:
    def __init__(self, name: str, size: int = 0) -> None:
        former = invivo.former()
        self.name, self.size = name, size
        self.handed_over = 0 if former is None else former.handed_over + 1

    @invivo.on_setup
    def set_up(self) -> None:
        trace.append(f"setup {self.name}")
        invivo.current().effect(lambda: trace.append(f"undo {self.name}"))


class Root:
    fails = False

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.reports = 0

    @invivo.on_setup
    def set_up(self) -> None:
        runtime = invivo.current()
        self.leaves = [runtime.child("ui.leaf", name) for name in ("x", "y")]
        runtime.observe(self.note)
        runtime.effect(lambda: trace.append("undo root"))
        trace.append("setup root")
        if self.fails:
            type(self).fails = False
            raise ValueError("not today")

    @invivo.on_teardown
    def tear_down(self) -> None:
        trace.append("teardown root")

    def note(self, report: Any) -> None:
        self.reports += 1


class Painter:
    """Stays when its brush is replaced, and notes the calls."""

    brush: Brush = invivo.injected()
    size = invivo.tunable(1)

    @invivo.on_refresh
    def refreshed(self) -> None:
        trace.append("refresh")

    @invivo.on_finalize
    def finalized(self) -> None:
        trace.append("finalize")


class Brush:
    def __init__(self, width: int = 0) -> None:
        self.width = width


@invivo.keeps_children
class Keeper(Root):
    pass


def define_leaf(runtime: Runtime, size: int) -> None:
    @invivo.prototype
    def leaf(name: str) -> Leaf:
        return invivo.new(Leaf, name, size)

    runtime.define(leaf, "ui.leaf")


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    trace.clear()
    with Runtime() as opened:
        define_leaf(opened, 0)
        yield opened


def test_ten_reloads_leave_one_of_everything(runtime: Runtime) -> None:
    runtime.define(Root, "ui.root")
    root = runtime["ui.root"]
    for size in range(1, 11):
        trace.clear()
        define_leaf(runtime, size)
        assert runtime["ui.root"] is root
        assert [(leaf.name, leaf.size, leaf.handed_over) for leaf in root.leaves] == [
            ("x", size, size),
            ("y", size, size),
        ]
        assert root.reports == size
        assert trace == [
            "teardown root",
            "undo root",
            "setup x",
            "setup y",
            "setup root",
            "undo y",
            "undo x",
        ]
    trace.clear()
    del root
    gc.collect()
    runtime.close()
    assert trace == ["teardown root", "undo root", "undo y", "undo x"]


def test_a_setup_that_fails_is_restored(runtime: Runtime) -> None:
    runtime.define(Root, "ui.root")
    root = runtime["ui.root"]
    Root.fails = True
    with pytest.raises(HostError, match="not today"):
        define_leaf(runtime, 1)
    assert [(leaf.size, leaf.handed_over) for leaf in root.leaves] == [(0, 1), (0, 1)]
    define_leaf(runtime, 2)
    assert [(leaf.size, leaf.handed_over) for leaf in root.leaves] == [(2, 2), (2, 2)]


def test_an_effect_outside_of_a_setup_is_undone_at_once(runtime: Runtime) -> None:
    undone: list[int] = []
    with pytest.raises(ArgumentError, match="outside of a setup"):
        runtime.effect(lambda: undone.append(1))
    assert undone == [1]
    with pytest.raises(ArgumentError, match="outside of a setup"):
        runtime.child("ui.leaf", "z")
    with pytest.raises(ArgumentError, match="outside of a setup"):
        runtime.make_child(Brush)
    with pytest.raises(WrongTypeError):
        runtime.effect(7)  # type: ignore[arg-type]


def test_an_owner_that_keeps_its_children_is_passed_over(runtime: Runtime) -> None:
    runtime.define(Keeper, "ui.keeper")
    keeper = runtime["ui.keeper"]
    leaves = list(keeper.leaves)
    trace.clear()
    define_leaf(runtime, 3)
    assert keeper.leaves == leaves
    assert trace == ["undo x", "setup x", "undo y", "setup y"]


def test_kept_objects_are_refreshed_and_finalized(runtime: Runtime) -> None:
    runtime.define(Brush, "ui.brush")
    runtime.define(Painter, "ui.painter")
    painter = runtime["ui.painter"]
    assert trace == ["finalize"]
    runtime.define(Brush, "ui.brush", width=2)
    assert painter.brush.width == 2
    assert trace == ["finalize", "refresh", "finalize"]
    with runtime.source("tuning.yaml", "traits: {ui.painter: [Set: {size: 4}]}"):
        assert trace == ["finalize", "refresh", "finalize", "finalize"]


def test_a_child_without_a_definition(runtime: Runtime) -> None:
    class Owner:
        @invivo.on_setup
        def set_up(self) -> None:
            self.brush = invivo.current().make_child(Brush, 5)
            assert self.brush.width == 5

    runtime.define(Owner, "ui.owner")
    assert isinstance(runtime["ui.owner"].brush, Brush)


def test_a_prototype_ends_although_its_effects_refer_to_it(runtime: Runtime) -> None:
    class Panel:
        reports = 0

        @invivo.on_setup
        def set_up(self) -> None:
            invivo.current().effect(self.undo)
            invivo.current().observe(self.note)

        def undo(self) -> None:
            trace.append("undo panel")

        def note(self, report: Any) -> None:
            self.reports += 1

    runtime.define(Panel, "ui.panel", scope="prototype")
    panel = runtime["ui.panel"]
    define_leaf(runtime, 1)
    assert panel.reports == 1
    assert trace == []
    del panel
    gc.collect()
    assert trace == ["undo panel"]


def test_a_replaced_object_is_torn_down_at_once(runtime: Runtime) -> None:
    runtime.define(Root, "ui.root")
    assert runtime["ui.root"].reports == 0
    for size in range(3):
        define_leaf(runtime, size)
    trace.clear()
    runtime.define(Root, "ui.root", scope="singleton")
    assert trace[-4:] == ["teardown root", "undo root", "undo y", "undo x"]


def test_an_object_that_a_setup_resolves_keeps_its_own_observers(runtime: Runtime) -> None:
    class Bus:
        def __init__(self) -> None:
            self.reports = 0
            invivo.current().observe(self.note)

        def note(self, report: Any) -> None:
            self.reports += 1

    class Window:
        @invivo.on_setup
        def set_up(self) -> None:
            self.bus: Bus = invivo.current()["ui.bus"]
            self.leaf = invivo.current().child("ui.leaf", "x")

    runtime.define(Bus, "ui.bus")
    runtime.define(Window, "ui.window")
    bus = runtime["ui.window"].bus
    for size in range(1, 4):
        define_leaf(runtime, size)
        assert bus.reports == size


def test_a_failing_undo_function_is_reported(runtime: Runtime) -> None:
    class Window:
        broken = False

        @invivo.on_setup
        def set_up(self) -> None:
            self.leaf = invivo.current().child("ui.leaf", "x")
            invivo.current().effect(self.undo)

        def undo(self) -> None:
            trace.append("undo window")
            if self.broken:
                type(self).broken = False
                raise RuntimeError("no undo")

    runtime.define(Window, "ui.window")
    window = runtime["ui.window"]
    Window.broken = True
    with pytest.raises(HostError, match="no undo"):
        define_leaf(runtime, 1)
    assert window.leaf.size == 0
    define_leaf(runtime, 2)
    assert window.leaf.size == 2


def test_the_host_is_notified_of_the_work_of_commits():
    seen: list[str] = []

    class Part:
        def __init__(self, number: int) -> None:
            seen.append(f"init {number}")

    app = invivo.Assembly("app")
    app.singleton(Part, "part", number=invivo.config("number", default=0))
    with Runtime(commit_begin=lambda: seen.append("begin"), commit_end=lambda: seen.append("end")) as runtime:
        runtime.configure("other", 1)
        assert seen == []
        runtime.activate(app)
        assert seen == ["begin", "init 0", "end"]
        runtime.configure("app.number", 1)
        assert seen[3:] == ["begin", "init 1", "end"]
        runtime.configure("other", 2)
        assert len(seen) == 6


def test_the_host_is_notified_of_the_end_of_a_failed_commit():
    seen: list[str] = []

    class Part:
        def __init__(self, number: int) -> None:
            if number:
                raise ValueError("on purpose")

    app = invivo.Assembly("app")
    app.singleton(Part, "part", number=invivo.config("number", default=0))
    with Runtime(app, commit_begin=lambda: seen.append("begin"), commit_end=lambda: seen.append("end")) as runtime:
        seen.clear()
        with pytest.raises(HostError, match="on purpose"):
            runtime.configure("app.number", 1)
        assert seen == ["begin", "end"]


def test_an_event_loop_is_notified_of_a_commit_on_another_thread():
    seen: list[str] = []

    class Part:
        pass

    async def main() -> None:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def end() -> None:
            seen.append("end")
            ended.set()

        app = invivo.Assembly("app")
        app.singleton(Part, "part")
        with Runtime(
            commit_begin=lambda: loop.call_soon_threadsafe(seen.append, "begin"),
            commit_end=lambda: loop.call_soon_threadsafe(end),
        ) as runtime:
            await asyncio.to_thread(runtime.activate, app)
            await ended.wait()

    asyncio.run(main())
    assert seen == ["begin", "end"]


def test_notices_belong_together_and_their_exceptions_are_logged(caplog):
    with pytest.raises(ArgumentError, match="give both or none"):
        Runtime(commit_begin=lambda: None)

    def fails() -> None:
        raise ValueError("on purpose")

    class Part:
        pass

    app = invivo.Assembly("app")
    app.singleton(Part, "part")
    with Runtime(app, commit_begin=fails, commit_end=lambda: None) as runtime:
        assert isinstance(runtime[Part], Part)
    assert "on purpose" in caplog.text


class Ink:
    pass


class Owner:
    """Owns its brush, and counts its setups."""

    brush: Ink = invivo.injected(owns=True)

    def __init__(self) -> None:
        self.setups = 0

    @invivo.on_setup
    def set_up(self) -> None:
        self.setups += 1


class LateOwner(Owner):
    brush: invivo.Provider[Ink] = invivo.injected(owns=True)  # type: ignore[assignment]


def test_an_owner_of_an_injected_object() -> None:
    with Runtime() as runtime:
        runtime.define(Ink, "a.brush", "singleton")
        runtime.define(Owner, "a.owner", "singleton")
        runtime.define(LateOwner, "a.late", "singleton")
        owner, late = runtime["a.owner"], runtime["a.late"]
        first = owner.brush
        runtime.define(Ink, "a.brush", "singleton", options=invivo.options(rank=1))
        assert owner.brush is not first
        assert (owner.setups, late.setups) == (2, 2)
        assert runtime["a.owner"] is owner


class Dial:
    level = invivo.tunable(1)


class Desk:
    """Attaches its dial in each setup."""

    ink: Ink = invivo.injected(owns=True)

    def __init__(self) -> None:
        self.dial = Dial()

    @invivo.on_setup
    def set_up(self) -> None:
        invivo.current().attach_target(self.dial, "desk.dial")


def test_a_target_of_a_setup() -> None:
    with Runtime() as runtime:

        def wait_for(level: int) -> None:
            end = time.monotonic() + 20
            while dial.level != level and time.monotonic() < end:
                runtime.poll(0.01)
            assert dial.level == level

        runtime.declare_target("desk.dial", Dial)
        with runtime.changes() as changes:
            changes.document("a.yaml", "traits: { desk.dial: [Set: { level: 5 }] }")
        runtime.define(Ink, "a.ink", "singleton")
        runtime.define(Desk, "a.desk", "singleton")
        dial = runtime["a.desk"].dial
        for rank in range(3):
            runtime.define(Ink, "a.ink", "singleton", options=invivo.options(rank=rank))
            wait_for(5)
            assert runtime.info.targets == 1
        runtime.remove("a.desk")
        wait_for(1)
        assert runtime.info.targets == 0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda runtime: runtime.effect(lambda: None), "effect"),
        (lambda runtime: runtime.make_child(Leaf), "make_child"),
        (lambda runtime: runtime.child("a.leaf"), "child"),
    ],
)
def test_a_call_outside_of_a_setup_is_refused_by_its_name_in_python(call, name):
    with invivo.Runtime() as runtime:
        runtime.define(Leaf, "a.leaf", "prototype", name="x")
        with pytest.raises(invivo.ArgumentError) as caught:
            call(runtime)
        assert caught.value.message.startswith(f"runtime.{name}() was called outside of a setup: call it in a method")
        assert "invivo_" not in str(caught.value)
