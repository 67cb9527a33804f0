"""Classes and values as nobody should write them, and what the runtime answers."""

from __future__ import annotations

import re
from typing import Any

import pytest

import invivo


class Clock:
    def __init__(self, rate: int = 3) -> None:
        self.rate = rate


class Hooked:
    """What each of its hooks takes the current runtime for."""

    def __init__(self) -> None:
        self.seen = {"init": invivo.current()}

    @invivo.will_inject
    def will(self) -> None:
        self.seen["will"] = invivo.current()

    @invivo.did_inject
    def did(self) -> None:
        self.seen["did"] = invivo.current()

    @invivo.on_prepare
    def prepare(self) -> None:
        self.seen["prepare"] = invivo.current()

    @invivo.on_start
    def start(self) -> None:
        self.seen["start"] = invivo.current()

    @invivo.on_stop
    def stop(self) -> None:
        self.seen["stop"] = invivo.current()
        assert "closed" in repr(self.seen["stop"])

    def plain(self):  # type: ignore[no-untyped-def]
        self.seen["plain"] = invivo.current()

    def typed(self) -> None:
        self.seen["typed"] = invivo.current()


def test_in_every_hook_the_runtime_that_makes_the_object_is_the_current_one() -> None:
    class App(invivo.Assembly):
        @invivo.lazy_singleton(before="plain", after="typed", inject=lambda it: it.seen.update(inject=invivo.current()))
        def it(self) -> Hooked:
            return invivo.new(Hooked)

    runtime = invivo.Runtime(app := App())
    it = app.it()
    runtime.close()
    assert {*it.seen} == {"init", "will", "did", "prepare", "start", "stop", "plain", "typed", "inject"}
    assert all(each is runtime for each in it.seen.values())
    with pytest.raises(invivo.NotReadyError):
        invivo.current()


def test_a_class_whose_doc_is_no_text_is_a_class_like_others() -> None:
    class Told:
        @property
        def __doc__(self) -> Any:  # type: ignore[override]
            return 3

    class Odd:
        names: [int]  # type: ignore[valid-type]
        table: {1: int}  # type: ignore
        __doc__ = 5  # type: ignore[assignment]

    app = invivo.Assembly("app")
    app.graph(Told)
    app.graph(Odd)
    with invivo.Runtime(app) as runtime:
        assert isinstance(runtime[Told], Told)
        assert isinstance(runtime[Odd], Odd)


def test_a_class_that_makes_nothing_is_an_error_that_says_so() -> None:
    class Nothing:
        def __new__(cls) -> Any:
            return None

    app = invivo.Assembly("app")
    app.graph(Nothing)
    with invivo.Runtime(app) as runtime, pytest.raises(invivo.WrongTypeError, match="returned None") as caught:
        runtime[Nothing]
    assert caught.value.path == "app.nothing"


@pytest.mark.parametrize("kind", [list, dict])
def test_a_list_or_map_that_holds_itself_is_an_error(kind: Any) -> None:
    class App(invivo.Assembly):
        @invivo.prototype
        def clock(self, what: Any) -> Clock:
            return invivo.new(Clock)

    endless = kind()
    endless.update(a=endless) if kind is dict else endless.append(endless)
    with invivo.Runtime(app := App()) as runtime:
        with pytest.raises(invivo.TooLargeError, match="deeper than 64") as caught:
            app.clock(endless)
        assert caught.value.path.startswith("app.clock.what")
        with pytest.raises(invivo.TooLargeError):
            runtime.configure("app.what", endless)
        deep: Any = 1
        for _ in range(64):
            deep = [deep]
        assert app.clock(deep).rate == 3


def test_a_parameter_that_is_set_as_an_attribute_is_told_apart() -> None:
    class App(invivo.Assembly):
        @invivo.graph
        def clock(self) -> Clock:
            clock = invivo.new(Clock)
            clock.rate = 7
            return clock

    with pytest.raises(invivo.PropertyError, match=r"'rate' is a parameter of Clock\(\.\.\.\)"):
        invivo.Runtime(App())


def test_what_was_being_handled_is_no_cause_of_what_a_callback_raises() -> None:
    class Stubborn:
        @invivo.on_stop
        def stop(self) -> None:
            raise ValueError("stays")

    class Twice:
        @invivo.on_stop
        def stop(self) -> None:
            try:
                raise KeyError("first")
            except KeyError:
                raise ValueError("second")  # noqa: B904

    app = invivo.Assembly("app")
    app.singleton(Stubborn)
    app.singleton(Twice)
    with pytest.raises(invivo.StopError) as caught, invivo.Runtime(app):
        raise LookupError("of the block")
    said = str(caught.value)
    assert "ValueError: stays" in said
    assert "of the block" not in said
    assert re.search(r"ValueError: second \(.*, in stop\) \(because KeyError: 'first'", said)


def test_what_decides_what_to_skip_of_a_tree_may_fail() -> None:
    class Leaf:
        clock: Clock = invivo.injected()

    def skip(_: Any) -> bool:
        raise ValueError("undecided")

    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    with invivo.Runtime(app) as runtime, pytest.raises(ValueError, match="undecided"):
        runtime.inject_tree(Leaf(), children=lambda _: [], skip=skip)


def test_a_processor_that_misspells_what_it_says_is_an_error() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)

    @app.process
    def turn(described: invivo.Described) -> None:
        described.scoop = "singleton"  # type: ignore[attr-defined]

    with pytest.raises(invivo.HostError, match="scoop"):
        invivo.Runtime(app)


@pytest.mark.parametrize("place", [2**64 + 1, -1, "here"])
def test_a_place_of_a_scope_is_a_number_that_fits(place: Any) -> None:
    class App(invivo.Assembly):
        @invivo.in_scope("request")
        def clock(self) -> Clock:
            return invivo.new(Clock)

    with invivo.Runtime() as runtime:
        runtime.scope("request", lambda: place)
        runtime.activate(app := App())
        with pytest.raises(invivo.RangeError, match="a scope instance is a number"):
            app.clock()


def test_a_forked_child_may_leave_the_block_of_its_parents_runtime(script: Any) -> None:
    ran = script(
        """
import os, fork_marker, invivo
faulthandler.cancel_dump_traceback_later()  # which cannot end in a forked child
try:
    with invivo.Runtime():
        pid = fork_marker.fork()
        if pid == 0:
            raise SystemExit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
except SystemExit:
    raise
"""
    )
    assert ran.stdout.strip() == "7", ran.stderr
