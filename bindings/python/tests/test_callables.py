"""Whatever Python can call makes objects: classes of C and of Python, builtins, models, partials, `*args` and
`**kwargs`."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import functools
import inspect
import io
import sqlite3
import threading
from pathlib import Path
from typing import Any, TextIO

import pytest

import invivo


class Many:
    def __init__(self, first: Any, *rest: Any, flag: bool = False, **named: Any) -> None:
        self.got = first, rest, flag, named


class Maker:
    def __init__(self, first: str) -> None:
        self.first = first

    def __call__(self, number: int = 2) -> Many:
        return Many(self.first, number)


@dataclasses.dataclass
class Data:
    a: int
    b: str | None = "default"
    c: Any = 3


class Model:
    """As models of other packages are: one constructor for all, and a signature that says more."""

    name: str
    port: int

    def __init__(self, /, **data: Any) -> None:
        self.__dict__.update(data, port=int(data["port"]))


Model.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default="n", annotation=str),
        inspect.Parameter("port", inspect.Parameter.KEYWORD_ONLY, annotation=int),
    ]
)


def many(*rest: Any, **named: Any) -> Many:
    return Many(None, *rest, **named)


def assembly_of(what: Any, result: Any, *positional: Any, **named: Any) -> Any:
    def thing(self: invivo.Assembly) -> Any:
        return invivo.new(what, *positional, **named)

    thing.__annotations__["return"] = result
    return type("App", (invivo.Assembly,), {"thing": invivo.lazy_singleton(thing)})()


def made_by(what: Any, result: Any, *positional: Any, **named: Any) -> Any:
    with invivo.Runtime(app := assembly_of(what, result, *positional, **named)):
        return app.thing()


LOCK = type(threading.Lock())


@pytest.mark.parametrize(
    ("what", "result", "positional", "named", "wanted"),
    [
        (Path, Path, ["/tmp/x"], {}, Path("/tmp/x")),
        (dict, dict, [], {"a": 1}, {"a": 1}),
        (dict, dict[str, int], [{"a": 1}], {"b": 2}, {"a": 1, "b": 2}),
        (dict, dict, [{1: "a", 2: {3: 4}}], {}, {1: "a", 2: {3: 4}}),
        (int, int, ["5"], {}, 5),
        (float, float, ["5.5"], {}, 5.5),
        (str, str, [5], {}, "5"),
        (list, list, [(1, 2)], {}, [1, 2]),
        (tuple, tuple, [[1, 2]], {}, (1, 2)),
        (decimal.Decimal, decimal.Decimal, ["1.5"], {}, decimal.Decimal("1.5")),
        (datetime.date, datetime.date, [2020, 1, 2], {}, datetime.date(2020, 1, 2)),
        (datetime.timedelta, datetime.timedelta, [], {"seconds": 3}, datetime.timedelta(seconds=3)),
        (collections.deque, collections.deque, [[1, 2]], {"maxlen": 5}, collections.deque([1, 2], 5)),
        (collections.defaultdict, collections.defaultdict, [list], {}, collections.defaultdict(list)),
        (Data, Data, [1, None], {"c": None}, Data(1, None, None)),
        (Data, Data, [], {"a": 1, "b": None}, Data(1, None, 3)),
        (Data, Data, [1], {}, Data(1)),
        (functools.partial(Data, 1, c=5), Data, ["b"], {}, Data(1, "b", 5)),
    ],
)
def test_what_python_can_call_makes_the_same_object(
    what: Any, result: Any, positional: list[Any], named: dict[str, Any], wanted: Any
) -> None:
    found = made_by(what, result, *positional, **named)
    assert found == wanted
    assert type(found) is type(wanted)


def test_variable_arguments_arrive_as_they_are_given() -> None:
    assert made_by(Many, None, 1, 2, (3, 4), flag=True, x={5: 6}).got == (1, (2, (3, 4)), True, {"x": {5: 6}})
    assert made_by(many, None, 1, x=None).got == (None, (1,), False, {"x": None})
    assert made_by(functools.partial(Many, 1, x=3), None, 7, y=4).got == (1, (7,), False, {"x": 3, "y": 4})
    assert made_by(Maker("k"), None, 5).got == ("k", (5,), False, {})
    assert made_by(Maker("k").__call__, None).got == ("k", (2,), False, {})


def test_recipes_and_runtime_arguments_go_to_variable_arguments() -> None:
    class App(invivo.Assembly):
        @invivo.lazy_singleton
        def data(self) -> Data:
            return invivo.new(Data, 1)

        @invivo.prototype
        def many(self, number: int, name: str | None = "n") -> Many:
            return invivo.new(Many, self.data(), number, [self.data()], x=name, y=invivo.new(Data, 2))

    with invivo.Runtime(app := App()):
        for name in ("n", None, "other", None):  # by a resolve and by a plan
            data = app.data()
            assert app.many(7, name).got == (data, (7, [data]), False, {"x": name, "y": Data(2)})


def test_none_that_is_given_stays_none_and_what_is_left_out_is_the_default() -> None:
    class App(invivo.Assembly):
        @invivo.prototype
        def data(self, b: str | None = "member") -> Data:
            return invivo.new(Data, 1, b)

        @invivo.prototype
        def left(self) -> Data:
            return invivo.new(Data, 1, c=invivo.ref("app.nothing", optional=True))

    with invivo.Runtime(app := App()) as runtime:
        for _ in range(3):
            assert app.data() == Data(1, "member")
            assert app.data(None) == Data(1, None)
            assert app.left() == Data(1, "default", None)
        runtime.define(Data, "app.other", a=1, b=None)
        assert runtime["app.other"] == Data(1, None)


def test_a_model_gets_its_arguments_unchecked_by_the_library() -> None:
    assert vars(made_by(Model, None, port="8080")) == {"port": 8080}
    with pytest.raises(invivo.ArityError, match=r"no argument for the initializer parameter 'port'"):
        made_by(Model, None, name="x")
    with pytest.raises(invivo.PropertyError, match="prot"):
        made_by(Model, None, port=1, prot=1)


def test_models_of_pydantic_are_made_with_validation() -> None:
    pydantic = pytest.importorskip("pydantic")
    settings = pydantic.create_model("Settings", url=(str, "x"), port=(int, ...), extra=(str | None, "e"))
    found = made_by(settings, settings, url="y", port="80", extra=None)
    assert (found.url, found.port, found.extra) == ("y", 80, None)
    with pytest.raises(invivo.Error, match="int_parsing"):
        made_by(settings, settings, port="eighty")


def test_functions_and_classes_of_c_without_a_signature() -> None:
    connection = made_by(sqlite3.connect, sqlite3.Connection, ":memory:", check_same_thread=False)
    assert connection.execute("select 1").fetchone() == (1,)
    connection.close()
    assert made_by(io.BytesIO, io.BytesIO, b"abc").read() == b"abc"
    with made_by(open, TextIO, "/dev/null") as null:
        assert null.read() == ""


def test_a_lock_is_found_by_what_type_checkers_call_its_class() -> None:
    class Holder:
        def __init__(self, lock: threading.Lock) -> None:
            self.lock = lock

    class App(invivo.Assembly):
        @invivo.lazy_singleton
        def lock(self) -> threading.Lock:
            return invivo.new(threading.Lock)

        @invivo.lazy_singleton
        def holder(self) -> Holder:
            return invivo.wire(Holder)

    with invivo.Runtime(app := App()) as runtime:
        assert type(app.lock()) is LOCK
        assert app.holder().lock is app.lock() is runtime[threading.Lock]


def test_a_type_that_no_annotation_says_is_declared() -> None:
    with pytest.raises(invivo.ArgumentError, match=r"'connect' does not declare its type.*type=") as told:
        made_by(sqlite3.connect, None, ":memory:")
    assert told.value.path == "app.thing"

    class App(invivo.Assembly):
        @invivo.lazy_singleton(type=sqlite3.Connection)
        def db(self):  # type: ignore[no-untyped-def]
            return invivo.new(sqlite3.connect, ":memory:")

    by_one = invivo.Assembly("one")
    by_one.lazy_singleton(lambda: Many(1), name="many", options=invivo.options(type=Many))
    with invivo.Runtime(app := App(), by_one) as runtime:
        assert runtime[sqlite3.Connection] is app.db()
        assert runtime[Many].got == (1, (), False, {})
        app.db().close()


def test_an_annotation_that_names_nothing_is_named() -> None:
    def factory() -> Nowhere:  # type: ignore[name-defined]  # noqa: F821
        return None

    with pytest.raises(invivo.ArgumentError, match="'Nowhere' names nothing that is known"):
        made_by(factory, None)


def test_too_many_arguments_are_told_when_the_assembly_is_activated() -> None:
    with pytest.raises(invivo.ArityError, match="takes 3 arguments by position, got 4"):
        made_by(Data, None, 1, 2, 3, 4)
    with pytest.raises(invivo.ArityError, match="twice"):
        made_by(Many, None, 1, 2, first=3)


def test_a_plain_object_that_a_factory_makes_arrives_as_a_value() -> None:
    class Server:
        def __init__(self, port: int, tags: list[str]) -> None:
            self.port, self.tags = port, tags

    class App(invivo.Assembly):
        @invivo.lazy_singleton
        def port(self) -> int:
            return invivo.new(int, "80")

        @invivo.lazy_singleton
        def tags(self) -> list[str]:
            return invivo.new(list, "ab")

        @invivo.lazy_singleton
        def server(self) -> Server:
            return invivo.new(Server, self.port(), self.tags())

    with invivo.Runtime(app := App()):
        assert (app.server().port, app.server().tags) == (80, ["a", "b"])
