"""What goes to a place is what its annotation says: told at activation, where both are known."""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol
from unittest import mock

import pytest

import invivo
from invivo import Lazy, Runtime

if TYPE_CHECKING:
    from typing_extensions import Self


class Animal: ...


class Horse(Animal): ...


class Pony(Horse): ...


class Donkey: ...


class Runs(Protocol):
    def run(self) -> None: ...


class Stable:
    horse: Horse
    spare: Horse | None
    any: Any
    runner: Runs
    several: list[Horse]
    make: Callable[[], Horse]
    later: Lazy[Horse]
    label: str
    weight: float

    def name(self, label: str) -> None:
        self.label = label


class Label:
    def __init__(self, text: str) -> None:
        self.text = text


def some_animal() -> Animal:
    return Horse()


class Animals(invivo.Assembly, name="farm"):
    @invivo.lazy_singleton
    def horse(self) -> Horse:
        return invivo.new(Horse)

    @invivo.lazy_singleton
    def pony(self) -> Pony:
        return invivo.new(Pony)

    @invivo.lazy_singleton
    def donkey(self) -> Donkey:
        return invivo.new(Donkey)

    @invivo.lazy_singleton
    def beast(self) -> Animal:
        return invivo.new(some_animal)

    @invivo.define
    def grey(self) -> Donkey:
        return self.donkey()


def stable_with(name: str, thing: Callable[[Any], Any]) -> Stable:
    class Farm(Animals, name="farm"):
        @invivo.lazy_singleton
        def stable(self) -> Stable:
            made = invivo.new(Stable)
            setattr(made, name, thing(self))
            return made

    with Runtime(farm := Farm()):
        return farm.stable()


@pytest.mark.parametrize(
    ("name", "thing"),
    [
        ("horse", lambda farm: farm.donkey()),
        ("horse", lambda farm: farm.grey()),
        ("horse", lambda farm: invivo.new(Donkey)),
        ("horse", lambda farm: invivo.ref(Donkey)),
        ("horse", lambda farm: Donkey()),
        ("spare", lambda farm: farm.donkey()),
        ("several", lambda farm: [farm.horse(), farm.donkey()]),
        ("make", lambda farm: farm.donkey),
        ("make", lambda farm: invivo.provider(farm.donkey())),
        ("later", lambda farm: invivo.lazy(farm.donkey())),
    ],
)
def test_an_attribute_of_another_class_is_refused_at_activation(name: str, thing: Callable[[Any], Any]) -> None:
    with pytest.raises(
        invivo.WrongTypeError,
        match=f"the property '{name}' needs an object of type 'Horse', and .* is of type 'Donkey'",
    ) as info:
        stable_with(name, thing)
    assert info.value.path == f"farm.stable.{name}"
    assert info.value.rule == "wiring.type"


@pytest.mark.parametrize(
    ("name", "thing"),
    [
        ("horse", lambda farm: farm.pony()),
        ("horse", lambda farm: farm.beast()),  # its factory may make one
        ("horse", lambda farm: mock.Mock(spec=Horse)),
        ("spare", lambda farm: None),
        ("any", lambda farm: farm.donkey()),
        ("runner", lambda farm: farm.donkey()),
        ("several", lambda farm: [farm.horse(), farm.pony()]),
        ("make", lambda farm: farm.pony),
        ("later", lambda farm: invivo.lazy(farm.pony())),
        ("weight", lambda farm: 3),
    ],
)
def test_what_may_be_right_is_taken(name: str, thing: Callable[[Any], Any]) -> None:
    assert hasattr(stable_with(name, thing), name)


def test_a_runtime_argument_of_another_kind_is_refused_at_activation() -> None:
    class Farm(Animals, name="farm"):
        @invivo.prototype
        def stable(self, number: int) -> Stable:
            made = invivo.new(Stable)
            made.label = number  # type: ignore[assignment]
            return made

        @invivo.prototype
        def label(self, number: int) -> Label:
            return invivo.new(Label, number)  # type: ignore[arg-type]

        @invivo.prototype
        def named(self, number: int) -> Stable:
            made = invivo.new(Stable)
            made.name(number)  # type: ignore[arg-type]
            return made

        @invivo.prototype
        def ridden(self, donkey: Donkey) -> Stable:
            made = invivo.new(Stable)
            made.horse = donkey  # type: ignore[assignment]
            return made

        @invivo.prototype
        def right(self, number: int, pony: Pony, text: str | None) -> Stable:
            made = invivo.new(Stable)
            made.weight, made.horse = number, pony
            made.name(text)  # type: ignore[arg-type]
            return made

    with pytest.raises(invivo.WrongTypeError) as info:
        Runtime(Farm())
    assert {each.path for each in info.value.errors} == {
        "farm.stable.label",
        "farm.label.text",
        "farm.named.name",
        "farm.ridden.horse",
    }
    assert "of the kind string, and the argument 'number' that goes there of the kind int64" in str(info.value)


def test_a_member_that_describes_another_class_than_it_says_is_refused() -> None:
    class Farm(invivo.Assembly):
        @invivo.lazy_singleton
        def horse(self) -> Horse:
            return invivo.new(Donkey)  # type: ignore[return-value]

    with pytest.raises(invivo.WrongTypeError, match="says that it makes a Horse, and describes a Donkey") as info:
        Runtime(Farm())
    assert info.value.path == "farm.horse"

    class Numbers(invivo.Assembly):
        @invivo.define
        def weight(self) -> float:
            return invivo.constant(3)

    with Runtime(numbers := Numbers()):
        assert numbers.weight() == 3


# ---- assemblies as parameters --------------------------------------------------------------------------


class Meadow(invivo.Assembly):
    @invivo.lazy_singleton
    def horse(self) -> Horse:
        return invivo.new(Horse)

    @invivo.lazy_singleton
    def rider(self) -> Rider:
        return invivo.wire(Rider)


class Rider:
    home: Meadow = invivo.injected()

    def __init__(self, meadow: Meadow) -> None:
        self.meadow = meadow


class Visitor:
    def __init__(self, meadow: Meadow, other: Farmyard | None = None) -> None:
        self.meadow, self.other = meadow, other


class Farmyard(invivo.Assembly):
    meadow: Meadow

    @invivo.lazy_singleton
    def visitor(self) -> Visitor:
        return invivo.wire(Visitor)


class Alps(Meadow): ...


def test_a_parameter_that_is_an_assembly_gets_the_own_one() -> None:
    with Runtime(Meadow(), Alps(name="alps")) as runtime:
        rider: Rider = runtime["alps.rider"]
        assert rider.meadow.name == rider.home.name == "alps"
        assert rider.meadow.horse() is runtime["alps.horse"]


def test_a_parameter_that_is_an_assembly_gets_the_collaborator() -> None:
    yard = Farmyard()
    with Runtime(yard, alps := Alps()):
        assert yard.visitor().meadow is alps
        assert yard.visitor().other is yard


def test_a_parameter_that_is_an_assembly_which_is_not_there_is_an_error() -> None:
    alone = invivo.Assembly("alone")
    alone.lazy_singleton(Visitor)
    with pytest.raises(invivo.NotFoundError, match="an assembly that is a Meadow, and none is given or active"):
        Runtime(alone)
    with pytest.raises(invivo.AmbiguousError, match="several assemblies are: meadow, alps"):
        Runtime(alone, Meadow(), Alps(name="alps"))


def test_an_object_of_the_hosts_gets_the_assembly() -> None:
    with Runtime(meadow := Meadow()) as runtime:
        rider = Rider(meadow)
        runtime.inject(rider)
        assert vars(rider)["home"] is meadow
        assert Rider(meadow).home is meadow  # by the current runtime


# ---- objects that could be taken for values ---------------------------------------------------------------


class Handler:
    def __call__(self, number: int) -> int:
        return number


class Note(NamedTuple):
    pitch: int


class Hertz(float): ...


class Name(str): ...


class Bag(dict[str, int]): ...


class Money:
    def __float__(self) -> float:
        return 3.0


class Index:
    def __index__(self) -> int:
        return 3


class Called(Protocol):
    def __call__(self, number: int, /) -> int: ...


class Desk:
    handler: Handler
    note: Note
    hertz: Hertz
    name: Name
    bag: Bag
    money: Money
    index: Index

    def __init__(self) -> None:
        self.got: list[Any] = []

    def put(self, handler: Handler, note: Note, hertz: Hertz, name: Name, bag: Bag, money: Money, index: Index) -> None:
        self.got = [handler, note, hertz, name, bag, money, index]


class FullDesk:
    def __init__(
        self, handler: Handler, note: Note, hertz: Hertz, name: Name, bag: Bag, money: Money, index: Index
    ) -> None:
        self.got = [handler, note, hertz, name, bag, money, index]


THINGS: Any = (Handler(), Note(1), Hertz(2.5), Name("n"), Bag(a=1), Money(), Index())


class Desks(invivo.Assembly):
    @invivo.prototype
    def desk(self) -> Desk:
        made = invivo.new(Desk)
        made.handler, made.note, made.hertz, made.name, made.bag, made.money, made.index = THINGS
        made.put(*THINGS)
        return made

    @invivo.prototype
    def constant(self) -> FullDesk:
        return invivo.new(FullDesk, *THINGS)

    @invivo.prototype
    def full(
        self, handler: Handler, note: Note, hertz: Hertz, name: Name, bag: Bag, money: Money, index: Index
    ) -> FullDesk:
        return invivo.new(FullDesk, handler, note, hertz, name, bag, money, index)


def are(found: Sequence[Any]) -> bool:
    return [id(each) for each in found] == [id(each) for each in THINGS]


def test_an_object_of_the_class_that_is_wanted_arrives_as_it_is() -> None:
    with Runtime(desks := Desks()):
        for _ in range(3):  # the later ones by a plan
            assert are(desks.constant().got)
            assert are(desks.full(*THINGS).got)
            desk = desks.desk()
            assert are(desk.got)
            assert are([getattr(desk, name) for name in Desk.__annotations__])


class Machine:
    def __init__(self, called: Called, function: Callable[[int], int]) -> None:
        self.called, self.function = called, function


class Machines(invivo.Assembly):
    @invivo.lazy_singleton
    def handler(self) -> Handler:
        return invivo.new(Handler)

    @invivo.prototype
    def machine(self, called: Called, function: Callable[[int], int]) -> Machine:
        return invivo.new(Machine, called, function)

    @invivo.prototype
    def wired(self) -> Machine:
        return invivo.wire(Machine, function=abs)


def test_a_function_is_what_a_protocol_with_a_call_wants_and_an_object_what_a_callable_wants() -> None:
    with Runtime(machines := Machines()):
        handler = machines.handler()
        for called, function in ((abs, handler), (handler, abs), (lambda number: number, Handler())):
            made = machines.machine(called, function)
            assert made.called is called
            assert made.function is function
        assert machines.wired().called is handler  # no other class has a call of its own


class Rides:
    def __init__(self, horse: Horse) -> None:
        self.horse = horse


class Riding(invivo.Assembly):
    @invivo.lazy_singleton
    def horse(self) -> Horse:
        return invivo.new(Horse)

    @invivo.prototype
    def ride(self) -> Rides:
        return invivo.wire(Rides)

    @invivo.prototype
    def other(self, horse: Horse) -> Rides:
        return invivo.new(Rides, horse)


def test_a_mock_of_a_class_stands_for_its_objects() -> None:
    with Runtime(riding := Riding()) as runtime:
        fake = mock.Mock(spec=Horse)
        assert riding.other(fake).horse is fake
        with runtime.override(riding.horse, instance=fake):
            assert riding.ride().horse is fake
        assert isinstance(riding.ride().horse, Horse)


# ---- results -----------------------------------------------------------------------------------------------


class Made:
    @classmethod
    def by_name(cls) -> Made:
        return cls()

    @classmethod
    def by_self(cls) -> Self:
        return cls()


class Remade(Made): ...


def annotated() -> Annotated[Horse, "with a note"]:
    return Horse()


def test_what_a_class_method_or_an_annotated_result_says_is_made() -> None:
    class Local:
        @classmethod
        def make(cls) -> Local:
            return cls()

    for factory, cls in ((Made.by_self, Made), (Remade.by_self, Remade), (Local.make, Local), (annotated, Horse)):
        with Runtime() as runtime:
            runtime.define(factory, "made.one")
            assert type(runtime["made.one"]) is cls
            assert runtime[cls] is runtime["made.one"]


def test_a_runtime_says_that_it_cannot_be_pickled() -> None:
    with Runtime() as runtime, pytest.raises(TypeError, match="a Runtime cannot be copied or pickled"):
        pickle.dumps(runtime)


# ---- names -----------------------------------------------------------------------------------------------

MODULE = """
from __future__ import annotations

class Clock: ...

class Player:
    class Mode: ...

    mode: Mode

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
"""


def test_a_name_in_an_annotation_means_what_it_means_in_its_module(tmp_path: Path, monkeypatch: Any) -> None:
    for name in ("clocks_of_one", "clocks_of_other"):
        (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    one, other = importlib.import_module("clocks_of_one"), importlib.import_module("clocks_of_other")
    try:
        first, second = invivo.Assembly("first"), invivo.Assembly("second")
        for assembly, module in ((first, one), (second, other)):
            assembly.lazy_singleton(module.Clock)
            assembly.lazy_singleton(module.Player)
        with Runtime(first, second) as runtime:
            assert type(runtime["first.player"].clock) is one.Clock
            assert type(runtime["second.player"].clock) is other.Clock
            with pytest.raises(invivo.WrongTypeError, match="needs an object of type 'Mode'"):
                runtime.define(invivo.new(one.Player, clock=one.Clock()), "first.player", mode=other.Clock())
    finally:
        del sys.modules["clocks_of_one"], sys.modules["clocks_of_other"]
