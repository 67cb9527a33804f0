"""What Python gives to Python arrives as it is: the very object, of its own class."""

from __future__ import annotations

import collections
import enum
import fractions
import types
from typing import Any, NamedTuple

import pytest

import invivo


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Word(str, enum.Enum):
    A = "a"


class Number(enum.IntEnum):
    ONE = 1


class Bits(enum.Flag):
    A = 1
    B = 2


class Pair(NamedTuple):
    a: int
    b: int


class MyInt(int): ...


class MyStr(str): ...


class Holds:
    def __init__(self, v: Any) -> None:
        self.v = v


class Unannotated:
    def __init__(self, v):  # type: ignore[no-untyped-def]
        self.v = v


class Signed:
    """Like a model: it says its parameters by a signature of its own."""

    def __init__(self, **named: Any) -> None:
        self.v = named["v"]

    __signature__ = __import__("inspect").Signature(
        [__import__("inspect").Parameter("v", __import__("inspect").Parameter.KEYWORD_ONLY, annotation=Level)]
    )


def made(v: Any) -> Holds:
    return Holds(v)


THINGS: list[Any] = [
    *(Level.HIGH, Word.A, Number.ONE, Bits.A | Bits.B, MyInt(3), MyStr("s"), Pair(1, 2), (1, 2), (1, (2, Level.LOW))),
    *(frozenset([1]), bytearray(b"x"), 2**70, collections.OrderedDict(a=1), collections.defaultdict(list, a=[1])),
    *("\ud800", types.MappingProxyType({"a": 1}), fractions.Fraction(1, 3), memoryview(b"x")),
]
PLACES = [Holds, Unannotated, Signed, made]


@pytest.mark.parametrize("what", PLACES)
@pytest.mark.parametrize("thing", THINGS, ids=repr)
def test_a_constant_arrives_as_it_is(what: Any, thing: Any) -> None:
    class App(invivo.Assembly):
        @invivo.prototype(type=Holds if what is made else what)
        def plain(self) -> Any:
            return invivo.new(what, v=thing)

        @invivo.prototype(type=Holds if what is made else what)
        def said(self) -> Any:
            return invivo.new(what, v=invivo.constant(thing))

        @invivo.prototype(type=Holds if what is made else what)
        def default(self) -> Any:
            return invivo.new(what, v=invivo.config("missing", thing))

    with invivo.Runtime(app := App()):
        for member in (app.plain, app.said, app.default):
            for _ in range(4):  # the later ones are made by a plan
                assert member().v is thing


@pytest.mark.parametrize("thing", [[Level.LOW, (1, {2})], {"a": Level.LOW, "b": [MyInt(1)]}, {1: 2}, {1, 2}], ids=repr)
def test_a_list_map_or_set_is_a_fresh_one_for_each_object_and_what_is_in_it_is_not(thing: Any) -> None:
    class Listed:
        def __init__(self, v: list[Any]) -> None:
            self.v = v

    class Mapped:
        def __init__(self, v: dict[str, Any]) -> None:
            self.v = v

    class App(invivo.Assembly):
        @invivo.prototype
        def some(self) -> Holds:
            return invivo.new(Holds, thing)

        @invivo.prototype
        def same(self) -> Holds:
            return invivo.new(Holds, invivo.constant(thing))

        @invivo.prototype
        def listed(self) -> Listed:
            return invivo.new(Listed, [thing, Level.HIGH])

        @invivo.prototype
        def mapped(self) -> Mapped:
            return invivo.new(Mapped, {"x": thing, "y": Level.HIGH})

    with invivo.Runtime(app := App()):
        for _ in range(4):
            one, other = app.some().v, app.some().v
            assert one == other == thing
            assert type(one) is type(thing)
            assert len({id(one), id(other), id(thing)}) == 3
            assert app.same().v is thing
            assert app.listed().v == [thing, Level.HIGH]
            assert app.mapped().v == {"x": thing, "y": Level.HIGH}


def test_runtime_arguments_arrive_as_they_are() -> None:
    class App(invivo.Assembly):
        @invivo.prototype
        def open(self, v: Any) -> Holds:
            return invivo.new(Holds, v)

        @invivo.prototype
        def level(self, v: Level = Level.HIGH) -> Holds:
            return invivo.new(Holds, v)

        @invivo.prototype
        def pair(self, v: tuple[int, int]) -> Holds:
            return invivo.new(Holds, v)

        @invivo.prototype
        def some(self, v: frozenset[int]) -> Holds:
            return invivo.new(Holds, v)

        @invivo.prototype
        def passed(self, v: Any) -> Holds:
            return invivo.new(Holds, [v, self.open(v), self.open(Level.LOW), self.pair((3, 4))])

    pair, some = (1, 2), frozenset([1])
    with invivo.Runtime(app := App()):
        for _ in range(4):
            for thing in THINGS:
                assert app.open(thing).v is thing
            assert app.level(Level.LOW).v is Level.LOW
            assert app.level().v is Level.HIGH
            assert app.pair(pair).v is pair
            assert app.some(some).v is some
            given, same, low, made_pair = app.passed(Pair(1, 2)).v
            assert (type(given), type(same.v), low.v, made_pair.v) == (Pair, Pair, Level.LOW, (3, 4))


def test_equal_runtime_arguments_are_one_place_of_a_scope() -> None:
    class App(invivo.Assembly):
        @invivo.graph
        def thing(self, v: Any) -> Holds:
            return invivo.new(Holds, v)

        @invivo.prototype
        def two(self, a: Any, b: Any) -> Holds:
            return invivo.new(Holds, [self.thing(a), self.thing(b)])

        @invivo.prototype
        def said(self) -> Holds:
            return invivo.new(Holds, [self.thing((1, Level.LOW)), self.thing((1, Level.LOW)), self.thing((True, 2))])

    with invivo.Runtime(app := App()):
        for a, b in (
            (Level.LOW, Level.LOW),
            ((1, 2), tuple([1, 2])),  # noqa: C409
            (MyStr("a"), MyStr("a")),
            ([MyInt(1)], [MyInt(1)]),
        ):
            one, other = app.two(a, b).v
            assert one is other, a
        for a, b in (
            (Level.LOW, Level.HIGH),
            ((1, 2), (1, 3)),
            ((1,), (True,)),
            ((1,), (1.0,)),
            (MyStr("a"), "a"),
            ((0.0,), (-0.0,)),
        ):
            one, other = app.two(a, b).v
            assert one is not other, a
        one, other, third = app.said().v
        assert one is other is not third


def test_arguments_of_methods_and_properties_arrive_as_they_are() -> None:
    class Thing:
        any: Any = None

        def __init__(self) -> None:
            self.got: list[Any] = []

        def annotated(self, v: Any) -> None:
            self.got.append(v)

        def bare(self, v, w):  # type: ignore[no-untyped-def]
            self.got += [v, w]

    class App(invivo.Assembly):
        @invivo.prototype
        def thing(self, more: Any) -> Thing:
            thing = invivo.new(Thing)
            thing.any = Level.LOW
            thing.annotated(Pair(1, 2))
            thing.bare((1, 2), w=more)
            return thing

    with invivo.Runtime(app := App()):
        thing = app.thing(Number.ONE)
        assert thing.any is Level.LOW
        assert thing.got == [Pair(1, 2), (1, 2), Number.ONE]
        assert list(map(type, thing.got)) == [Pair, tuple, Number]


def test_a_choice_compares_what_its_argument_is_worth() -> None:
    class App(invivo.Assembly):
        @invivo.define
        def which(self, level: Level) -> Holds:
            return invivo.choice(level, {Level.LOW: self.low(), Level.HIGH: self.high()})

        @invivo.prototype
        def low(self) -> Holds:
            return invivo.new(Holds, 1)

        @invivo.prototype
        def high(self) -> Holds:
            return invivo.new(Holds, 2)

    with invivo.Runtime(app := App()):
        assert [app.which(Level.LOW).v, app.which(Level.HIGH).v] == [1, 2]


def test_a_tuple_or_set_is_no_number_of_the_configuration_or_of_an_argument() -> None:
    class Wants:
        def __init__(self, v: tuple[int, ...]) -> None:
            self.v = v

    class App(invivo.Assembly):
        @invivo.prototype
        def thing(self, v: Any) -> Wants:
            return invivo.new(Wants, v)

    with invivo.Runtime(app := App()):
        assert app.thing([1, 2]).v == (1, 2)
        with pytest.raises(invivo.WrongTypeError, match=r"3 \(int\) is not a list"):
            app.thing(3)


def test_a_property_of_tuples_or_sets_gets_them_and_specs_set_them() -> None:
    class Bag:
        pair: tuple[Any, ...] = invivo.tunable(())
        some: frozenset[Any] = frozenset()

    class App(invivo.Assembly):
        @invivo.lazy_singleton
        def bag(self) -> Bag:
            bag = invivo.new(Bag)
            bag.pair = (1, Level.LOW)
            bag.some = frozenset([Number.ONE])
            return bag

        @invivo.lazy_singleton
        def read(self) -> Bag:
            bag = invivo.new(Bag)
            bag.pair = invivo.config("pair", (1, (2, 3)))
            return bag

    with invivo.Runtime(app := App()) as runtime:
        bag = app.bag()
        assert (bag.pair, bag.some) == ((1, Level.LOW), frozenset([Number.ONE]))
        assert app.read().pair == (1, (2, 3))
        runtime.source("a.yaml", "config: { app: { pair: [4] } }\ntraits: { app.bag: [{ Set: { pair: [1, 2] } }] }")
        assert (bag.pair, app.read().pair) == ((1, 2), (4,))
