"""Contexts: values and their order, kinds, typed keys, the chain, and the end."""

from __future__ import annotations

import datetime
import decimal
import enum
import gc
import sys
import types
import unittest.mock
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

import invivo
from invivo import ContextKey, ContextKind, Runtime


class User:
    def __init__(self, name: str = "ada") -> None:
        self.name = name


class Admin(User): ...


class Speaks(Protocol):
    def speak(self) -> str: ...


class Parrot:
    def speak(self) -> str:
        return "hello"


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Point(NamedTuple):
    x: int
    y: int


class Slotted:
    __slots__ = ()


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime(log=lambda *_: None) as runtime:
        yield runtime


# ---- values ---------------------------------------------------------------------------------------------


def test_the_nearest_value_upward_is_found(runtime: Runtime) -> None:
    with runtime.context(theme="light", user="ada") as outer, runtime.context(theme="dark") as inner:
        assert inner["theme"] == "dark"
        assert inner["user"] == "ada"
        assert outer["theme"] == "light"
        assert inner.local("theme") == "dark"
        with pytest.raises(KeyError, match="no value for the key 'user' of its own") as raised:
            inner.local("user")
        assert raised.value.path == "user"  # type: ignore[attr-defined]
        assert raised.value.code == invivo.NotFoundError.status  # type: ignore[attr-defined]
        assert inner.local("user", None) is None
        with pytest.raises(invivo.NotFoundError):
            inner["nothing"]
        assert inner.get("nothing") is None
        assert inner.get("nothing", 5) == 5
        assert "user" in inner
        assert "nothing" not in inner


def test_values_are_set_removed_and_hidden_here_only(runtime: Runtime) -> None:
    with runtime.context(theme="light") as outer, runtime.context() as inner:
        inner["theme"] = "dark"
        assert (inner["theme"], outer["theme"]) == ("dark", "light")
        del inner["theme"]
        assert inner["theme"] == "light"
        with pytest.raises(KeyError):
            del inner["theme"]
        inner.hide("theme")
        assert "theme" not in inner
        assert inner.get("theme", "none") == "none"
        assert outer["theme"] == "light"
        del inner["theme"]
        assert inner["theme"] == "light"


def test_several_keys_change_at_once_or_not_at_all(runtime: Runtime) -> None:
    with runtime.context(b=20, c=30, d=40) as outer, runtime.context(b=2) as inner:
        inner.update({"a-b": 1}, a=1, remove=["b"], hide=["c", ContextKey("d", int)])
        assert inner.items() == [("a", 1), ("a-b", 1), ("b", 20)]
        assert (outer["c"], outer["d"]) == (30, 40)
        with pytest.raises(KeyError):
            inner.update(a=5, remove=["b"])
        assert inner["a"] == 1
        with pytest.raises(ValueError, match="a: the key 'a' has two values"):
            inner.update({"a": 1}, a=2)
        with pytest.raises(invivo.ArgumentError, match="changed twice"):
            inner.update(a=1, hide=["a"])
        with pytest.raises(TypeError, match="remove= is a list"):
            inner.update(remove="b")
        inner.update()
        inner.update([("a", 7)])
        assert inner["a"] == 7


def test_none_is_no_value(runtime: Runtime) -> None:
    with runtime.context() as context:
        for change in (lambda: context.update(user=None), lambda: context.__setitem__("user", None)):
            with pytest.raises(invivo.NullError) as raised:
                change()
            assert raised.value.path == "user"
        with pytest.raises(invivo.NullError):
            runtime.context(user=None)
        assert "user" not in context


PLAIN: list[Any] = [
    *(True, False, 0, -5, 1 << 40, (1 << 64) - 1, 2.5, float("inf"), "", "text", "\u00e9\0x", b"", b"\0\1"),
    *([], [1, "two", [3.5]], {}, {"x": 1, "y": {"z": [b"1"]}}),
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_come_back_equal(runtime: Runtime, value: Any) -> None:
    with runtime.context(value=value) as context:
        assert context["value"] == value
        assert type(context["value"]) is type(value)
        context["again"] = value
        assert context["again"] == value


OBJECTS: list[Any] = [
    *(User(), Slotted(), object(), Parrot(), unittest.mock.Mock(User), Path("/tmp"), datetime.date(2026, 1, 1)),
    *((1, 2), Point(1, 2), {1, 2}, frozenset({1}), {1: 2}, [(1,)], bytearray(b"x"), memoryview(b"x"), 1 << 80, 2j),
    *(Color.RED, Level.LOW, decimal.Decimal("1.5"), "\ud800", types.SimpleNamespace(), types.MappingProxyType({})),
    *(User, int, len, lambda: 5, User().__init__, sys, range(3), iter([1]), NotImplemented, ..., ValueError("x")),  # type: ignore[misc]
]


@pytest.mark.parametrize("value", OBJECTS, ids=lambda each: type(each).__name__)
def test_any_object_comes_back_as_the_same_object(runtime: Runtime, value: Any) -> None:
    with runtime.context(value=value) as outer, runtime.context() as inner:
        assert inner["value"] is value
        inner["other"] = value
        assert inner["other"] is value
        assert outer.entries()[0].value is value
        del inner["other"]
        assert "other" not in inner


def test_objects_live_as_long_as_their_value(runtime: Runtime) -> None:
    with runtime.context(user=User(), list=[User()]) as context:
        user, listed = weakref.ref(context["user"]), weakref.ref(context["list"][0])
        gc.collect()
        assert context["user"] is user()
        context["user"] = 5
        gc.collect()
        assert user() is None
        assert listed() is context["list"][0]
    gc.collect()
    assert listed() is None


def test_entries_have_their_origin(runtime: Runtime) -> None:
    with runtime.context(a=1, b=2, c=3) as root, runtime.context(b=20) as middle, runtime.context(d=4) as leaf:
        leaf.hide("c")
        assert leaf.entries() == [
            invivo.ContextEntry("a", 1, 2),
            invivo.ContextEntry("b", 20, 1),
            invivo.ContextEntry("d", 4, 0),
        ]
        assert [each.key for each in leaf.entries(local=True)] == ["d"]
        assert list(leaf) == leaf.keys() == ["a", "b", "d"]
        assert leaf.values() == [1, 20, 4]
        assert dict(leaf) == {"a": 1, "b": 20, "d": 4}
        assert len(leaf) == 3
        assert bool(runtime.context(parent=None).__enter__())
        assert len(root) == 3
        assert middle


def test_keys_are_strings(runtime: Runtime) -> None:
    with runtime.context(values={"a key with spaces": 1, "values": 2}, x=3) as context:
        assert context["a key with spaces"] == 1
        assert context["values"] == 2
        for wrong in (5, None, b"x"):
            with pytest.raises(invivo.WrongTypeError, match="a key of a context is a str"):
                context[wrong]  # type: ignore[call-overload]
        with pytest.raises(invivo.NotFoundError, match="no definition creates a 'User'"):
            context[User]  # a class is resolved
        with pytest.raises(TypeError):
            context[[]]  # type: ignore[call-overload]
        with pytest.raises(invivo.EncodingError):
            context["\0"]
        with pytest.raises(ValueError, match="the key 'x' has two values"):
            runtime.context(values={"x": 1}, x=3)


# ---- typed keys and kinds -------------------------------------------------------------------------------

WORKERS = ContextKey("workers", int, default=8)
USER = ContextKey("user", User)


def test_a_key_has_a_type_and_a_default(runtime: Runtime) -> None:
    with runtime.context() as outer, runtime.context() as inner:
        assert inner[WORKERS] == 8
        assert inner["workers"] == 8
        assert inner.get(WORKERS) == 8
        with pytest.raises(KeyError):
            inner.local(WORKERS)
        outer[WORKERS] = 4
        assert inner[WORKERS] == 4
        for key in (WORKERS, "workers"):
            with pytest.raises(TypeError) as raised:
                outer[key] = "many"  # type: ignore[index]
            assert raised.value.path == "workers"  # type: ignore[attr-defined]
        inner.hide(WORKERS)
        assert WORKERS not in inner
        assert inner.get(WORKERS, 3) == 3


@pytest.mark.parametrize(
    ("cls", "value", "wrong"),
    [
        (bool, True, 5),
        (float, 2.5, "x"),
        (str, "x", 5),
        (bytes, b"x", "x"),
        (list, [1], 5),
        (list[int], [1], 5),
        (dict, {"a": 1}, [1]),
        (tuple, (1, 2), [1, 2]),
        (Point, Point(1, 2), (1, 2)),
        (set, {1}, [1]),
        (Color, Color.RED, 1),
        (Level, Level.LOW, 1),
        (decimal.Decimal, decimal.Decimal(1), 1.5),
        (datetime.date, datetime.date(2026, 1, 1), "2026-01-01"),
        (User, User(), Parrot()),
        (User, Admin(), "ada"),
        (Path, Path("/tmp"), "/tmp"),
        (type, User, User()),
        (Speaks, Parrot(), None),
    ],
    ids=repr,
)
def test_values_must_have_the_type_of_their_key(runtime: Runtime, cls: Any, value: Any, wrong: Any) -> None:
    with runtime.context() as context:
        key = ContextKey("key", cls)
        context[key] = value
        assert context[key] == value
        assert type(context["key"]) is type(value)
        for each in (key, "key"):
            with pytest.raises((TypeError, invivo.NullError)) as raised:
                context[each] = wrong
            assert raised.value.path == "key"  # type: ignore[union-attr]
        assert context[key] == value


def test_an_object_can_be_a_default(runtime: Runtime) -> None:
    everybody = User("everybody")
    key = ContextKey("user", User, default=everybody)
    with runtime.context() as context:
        assert context[key] is everybody
        assert context["user"] is everybody
        assert context[ContextKey("user", User, default=everybody)] is everybody
    with pytest.raises(invivo.NullError, match="leave it out"):
        ContextKey("user", User, default=None)  # type: ignore[arg-type]


def test_a_default_must_have_the_type_of_its_key(runtime: Runtime) -> None:
    with runtime.context() as context:
        for key in (
            ContextKey("a", int, default="x"),
            ContextKey("b", User, default=5),
            ContextKey("c", invivo.Int8, default=300),
        ):
            with pytest.raises((TypeError, invivo.RangeError)) as raised:
                context[key]
            assert raised.value.path == key.name  # type: ignore[union-attr]


def test_a_key_has_one_declaration(runtime: Runtime) -> None:
    with runtime.context(values={ContextKey("n", int): 1}) as context:
        assert context[ContextKey("n", int)] == 1
        with pytest.raises(invivo.ExistsError):
            context[ContextKey("n", str)]
        with pytest.raises(invivo.ExistsError):
            context[ContextKey("n", int, default=3)]
    with Runtime() as other, other.context(values={ContextKey("n", str): "x"}) as second:
        assert second["n"] == "x"


def test_kinds_have_an_order_and_provide_values() -> None:
    locale = ContextKey("locale", str)
    request_kind = ContextKind("request", provides=["user"], live=[locale])
    with Runtime(contexts=["application", "session", request_kind]) as runtime:
        runtime.declare_contexts("session", request_kind)
        with pytest.raises(invivo.ExistsError):
            runtime.declare_contexts(ContextKind("request"))
        with pytest.raises(invivo.ArgumentError, match="choose 'follows'"):
            runtime.declare_contexts(ContextKind("job", policy="sometimes"))  # type: ignore[arg-type]
        with pytest.raises(invivo.WrongTypeError):
            runtime.declare_contexts(5)  # type: ignore[arg-type]
        with pytest.raises(KeyError, match="did you mean 'session'"):
            runtime.context("sesion")
        with runtime.context("session") as session:
            with pytest.raises(KeyError, match="opened with 'user', 'locale': give the values"):
                runtime.context("request")
            with runtime.context("request", user="ada", locale="de") as request:
                assert (request.kind, session.kind) == ("request", "session")
                with pytest.raises(invivo.ReadOnlyError, match=r"test_contexts\.py:\d+"):
                    request["user"] = "bob"
                request[locale] = "fr"
                with pytest.raises(invivo.WrongTypeError):
                    request["locale"] = 5
                with pytest.raises(invivo.ArgumentError, match="an inner kind"):
                    runtime.context("session")
                with runtime.context(request_kind, user="eve", locale="en") as inner:
                    assert inner.find(kind="request") is inner
                    assert inner.find(kind=request_kind, above=True) is request
                    assert inner.find(kind="session") is session
                    with pytest.raises(invivo.NotFoundError):
                        inner.find(kind="application")
        assert request.ended
        assert runtime.context(parent=None).kind is None or True


# ---- the chain ------------------------------------------------------------------------------------------


def test_the_parent_is_the_given_one_or_the_current_one(runtime: Runtime) -> None:
    with runtime.context(a=1) as outer:
        with runtime.context(b=2) as inner:
            assert inner.parent is outer
            assert runtime.current_context is inner
            with runtime.context(parent=outer) as other:
                assert other.parent is outer
                assert runtime.current_context is other
            with runtime.context(parent=None) as detached:
                assert detached.parent is None
                assert "a" not in detached
            assert runtime.current_context is inner
        assert runtime.current_context is outer
        assert outer.parent is None
        with pytest.raises(invivo.StaleError, match="ended"):
            runtime.context(parent=inner)
        with pytest.raises(invivo.WrongTypeError):
            runtime.context(parent="x")  # type: ignore[arg-type]
    assert runtime.current_context is None


def test_each_runtime_has_its_own_current_context(runtime: Runtime) -> None:
    with Runtime() as other, runtime.context() as one, other.context() as two:
        assert two.parent is None
        assert (runtime.current_context, other.current_context) == (one, two)
        with runtime.context() as inner:
            assert inner.parent is one
        with pytest.raises(invivo.HandleError, match="another runtime"):
            runtime.context(parent=two)
        assert (one.runtime, two.runtime) == (runtime, other)


def test_a_parent_that_is_not_held_leaves_orphans(runtime: Runtime) -> None:
    parent = runtime.context(a=1, parent=None)
    child = runtime.context(b=2, parent=parent)
    parent.end()
    assert child["b"] == 2
    for read in (lambda: child["a"], lambda: child.get("a"), lambda: "a" in child, lambda: child.parent, child.keys):
        with pytest.raises(invivo.OrphanedError) as raised:
            read()
        assert isinstance(raised.value, LookupError)
    assert [each.key for each in child.entries(local=True)] == ["b"]
    child.end()


def test_a_child_can_hold_its_parent(runtime: Runtime) -> None:
    parent = runtime.context(a=1)
    child = runtime.context(parent=parent, holds_parent=True)
    parent.release()
    assert not parent.ended
    assert child["a"] == 1
    child.end()
    assert parent.ended


def test_the_end_of_a_context_ends_those_that_hold_it(runtime: Runtime) -> None:
    runtime.declare_contexts("session", "request")
    session = runtime.context("session")
    request = runtime.context("request", parent=session)
    loose = runtime.context("request", parent=session, holds_parent=False)
    session.end()
    assert session.ended
    assert request.ended
    assert not loose.ended
    loose.end()
    del session, request, loose
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.collect()


def test_a_context_is_an_object_with_methods(runtime: Runtime) -> None:
    class Router:
        def __init__(self, step: str) -> None:
            self.step = step

        def next(self) -> str:
            return self.step

    class IntroRouter(Router): ...

    intro = IntroRouter("intro")
    with (
        runtime.context(object=Router("plain")) as plain,
        runtime.context(object=intro) as outer,
        runtime.context(object=Parrot()) as parrot,
        runtime.context() as inner,
    ):
        assert inner.find(IntroRouter).object.next() == "intro"
        assert inner.find(Router).object is intro
        assert inner.find("IntroRouter") is outer
        assert inner.find(runtime.type(Router)) is outer
        assert inner.find(Router, exact=True) is plain
        assert inner.find(Speaks) is parrot
        assert inner.find(Parrot).object.speak() == "hello"
        assert outer.find(Router, above=True) is plain
        assert inner.object is None
        with pytest.raises(invivo.NotFoundError):
            inner.find(User)
        with pytest.raises(invivo.ArgumentError):
            inner.find()
        with pytest.raises(invivo.ArgumentError):
            inner.find(User, kind="x")


# ---- the end --------------------------------------------------------------------------------------------


def test_a_context_is_open_without_a_block(runtime: Runtime) -> None:
    context = runtime.context(a=1)
    assert context["a"] == 1
    assert runtime.current_context is None
    with context as same:
        assert same is context
        assert runtime.current_context is context
        with pytest.raises(invivo.BusyError, match="entered"), context:
            pass
    assert context.ended
    assert repr(context) == "<invivo.Context, ended>"
    context.end()
    context.end()
    uses = [
        lambda: context["a"],
        lambda: context.get("a", 5),
        lambda: "a" in context,
        lambda: context.__setitem__("a", 1),
        lambda: context.hide("a"),
        lambda: context.update(a=1),
        context.entries,
        lambda: context.parent,
        lambda: context.object,
        lambda: context.find(kind="x"),
        lambda: context.observe("a", print),
        lambda: context.attach(User()),
        context.__enter__,
        context.entered().__enter__,
    ]
    for use in uses:
        with pytest.raises(invivo.StaleError):
            use()


def test_everything_is_an_error_after_the_close() -> None:
    with Runtime() as runtime:
        context, entered = runtime.context(a=1), runtime.context()
        entered.__enter__()
        child = runtime.context(parent=context)
    assert context.ended
    for use in (lambda: context["a"], lambda: "a" in context, lambda: context["new"], lambda: child.parent):
        with pytest.raises(invivo.StaleError, match="ended"):
            use()
    with pytest.raises(invivo.ClosedError):
        runtime.context()
    with pytest.raises(invivo.ClosedError):
        runtime.current_context  # noqa: B018
    with pytest.raises(invivo.StaleError):
        context.__enter__()
    entered.__exit__(None, None, None)
    context.end()
    context.release()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        context = entered = child = runtime  # type: ignore[assignment]  # nothing refers to them any more
        gc.collect()


def test_a_closed_runtime_keeps_no_values_and_defaults() -> None:
    values = [User("value"), User("default"), User("object")]
    held = [weakref.ref(each) for each in values]
    with Runtime() as runtime:
        context = runtime.context(user=values[0], object=values[2])
        assert context[ContextKey("other", User, default=values[1])] is values[1]
    values.clear()
    gc.collect()
    assert [each() for each in held] == [None, None, None]
    with pytest.raises(invivo.StaleError):
        context["user"]


def test_an_exception_of_the_block_passes(runtime: Runtime) -> None:
    with pytest.raises(ZeroDivisionError), runtime.context() as context:
        raise ZeroDivisionError
    assert context.ended
    assert runtime.current_context is None


def test_a_context_that_is_dropped_without_an_end_is_reported(runtime: Runtime) -> None:
    runtime.declare_contexts("session")
    before = invivo.live().contexts
    for kind, what in ((None, "a context was"), ("session", "the context 'session' was")):
        line = sys._getframe().f_lineno + 2
        with pytest.warns(ResourceWarning, match=what) as found:
            runtime.context(kind, values={"user": User()})
        (warning,) = found
        assert (warning.filename, warning.lineno) == (__file__, line)
        if kind is None:
            assert invivo.live().contexts == before


def test_borrowed_contexts_and_released_ones_are_not_reported(runtime: Runtime) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        context = runtime.context()
        context.release()
        assert context.ended
        with runtime.context() as outer, runtime.context() as inner:
            assert inner.parent is outer
        del context, inner, outer
        gc.collect()


def test_contexts_cannot_be_created_copied_or_pickled(runtime: Runtime) -> None:
    import copy
    import pickle

    with pytest.raises(TypeError, match=r"runtime\.context"):
        invivo.Context()
    with runtime.context() as context:
        for function in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                function(context)
        assert repr(context) == "<invivo.Context>"


def test_contexts_end_with_a_chain_of_ten_thousand(runtime: Runtime) -> None:
    chain = [runtime.context(deep=1, parent=None)]
    for _ in range(10_000):
        chain.append(runtime.context(parent=chain[-1]))
    assert chain[-1]["deep"] == 1
    for each in chain:
        each.end()


# ---- objects --------------------------------------------------------------------------------------------


class Widget:
    def __init__(self, above: Widget | None = None) -> None:
        self.above = above

    @invivo.parent
    def surroundings(self) -> Widget | None:
        return self.above


def test_an_object_finds_its_context_and_that_of_its_surroundings(runtime: Runtime) -> None:
    window, other = Widget(), Widget()
    button = Widget(Widget(window))
    assert runtime.context_of(button) is None
    with runtime.context() as of_window, runtime.context() as of_other, runtime.context() as of_button:
        of_window.attach(window)
        of_other.attach(other)
        gc.collect()
        assert runtime.context_of(button) is of_window
        button.above = other
        assert runtime.context_of(button) is of_other
        of_button.attach(button)
        assert runtime.context_of(button) is of_button
        of_window.attach(button)
        assert runtime.context_of(button) is of_window
        runtime.detach_context(button)
        runtime.detach_context(button)
        assert runtime.context_of(button) is of_other
        button.above = button
        with pytest.raises(invivo.CycleError):
            runtime.context_of(button)
    button.above = other
    assert runtime.context_of(button) is None
    runtime.detach_context(Widget())


def test_a_parent_that_raises_is_an_error(runtime: Runtime) -> None:
    class Broken:
        @invivo.parent
        def above(self) -> Any:
            raise ZeroDivisionError("broken")

    with pytest.raises(invivo.HostError, match="ZeroDivisionError: broken"):
        runtime.context_of(Broken())


def test_an_attached_context_ends_with_its_last_holder(runtime: Runtime) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = Widget(), Widget()
        context = runtime.context(a=1)
        context.attach(first)
        context.attach(second)
        del context
        gc.collect()
        found = runtime.context_of(first)
        assert found is not None
        assert found["a"] == 1
        del first
        gc.collect()
        assert not found.ended
        assert runtime.context_of(second) is found
        del second
        gc.collect()
        assert found.ended


def test_shared_objects_and_those_of_other_languages_have_contexts(runtime: Runtime, native: Path) -> None:
    runtime.define(Widget, "a.widget")
    runtime.load_module(native)
    widget = runtime["a.widget"]
    voice = runtime.find_type("Voice")()
    with runtime.context(a=1) as context:
        context.attach(widget)
        assert runtime.context_of(widget) is context
        context.attach(voice)
        assert runtime.context_of(voice) is context
        context["voice"] = voice
        assert context["voice"] is voice
        assert runtime.context(object=voice).__enter__().find("Voice").object is voice
        runtime.detach_context(voice)
        assert runtime.context_of(voice) is None
        del widget
        gc.collect()
        assert runtime.context_of(runtime["a.widget"]) is context


# ---- processes ------------------------------------------------------------------------------------------


def test_a_forked_child_leaves_the_contexts_of_its_parent_alone(script: Any) -> None:
    result = script(
        """
import os, sys, warnings
import invivo
warnings.simplefilter("error")
runtime = invivo.Runtime()
with runtime.context(a=1) as context:
    other = runtime.context()
    child = os.fork()
    if child == 0:
        try:
            context["a"]
        except invivo.ForkedError:
            pass
        else:
            os._exit(3)
        del other
    else:
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7, status
        assert context["a"] == 1
        other.end()
        assert other.ended
if child == 0:
    os._exit(7)
runtime.close()
print("done")
"""
    )
    assert (result.stdout, result.stderr, result.returncode) == ("done\n", "", 0)
