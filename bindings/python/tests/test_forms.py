"""Classes, factories and annotations of every form that Python has."""

from __future__ import annotations

import asyncio
import dataclasses
import decimal
import fractions
import functools
from typing import Any, Generic, NamedTuple, NewType, TypeVar

import pytest

import invivo

T = TypeVar("T")


class Clock:
    pass


class User:
    clock: Clock | None = None


@dataclasses.dataclass
class Data:
    clock: Clock
    number: int = 3


class Pair(NamedTuple):
    clock: Clock
    number: int = 2


class Repository(Generic[T]):
    def __init__(self, clock: Clock) -> None:
        self.clock = clock


class Ints(Repository[int]):
    pass


class Service:
    def __init__(self, users: Repository[User], ints: Repository[int]) -> None:
        self.users, self.ints = users, ints


class Maker:
    def __call__(self, clock: Clock) -> User:
        user = User()
        user.clock = clock
        return user


MainClock = NewType("MainClock", Clock)


def test_partials_callable_objects_and_named_tuples_are_wired_by_their_annotations() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.prototype(functools.partial(Data, number=9), name="data")
    app.prototype(functools.partial(functools.partial(Maker())), name="user")
    app.prototype(Maker(), name="other")
    app.prototype(Pair)
    with invivo.Runtime(app) as runtime:
        clock = runtime[Clock]
        for _ in range(4):  # resolved, and by a plan
            assert runtime["app.data"] == Data(clock, 9)
            assert runtime["app.user"].clock is clock
            assert runtime["app.other"].clock is clock
            assert runtime[Pair] == (clock, 2)


def test_what_a_generic_class_is_of_decides_between_several() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.lazy_singleton(Repository[User], name="users")
    app.lazy_singleton(Ints)
    app.lazy_singleton(Service)
    with invivo.Runtime(app) as runtime:
        service = runtime[Service]
        assert service.users is runtime["app.users"] is runtime[Repository[User]]
        assert service.ints is runtime[Ints] is runtime[Repository[int]]

    class Members(invivo.Assembly):
        @invivo.lazy_singleton
        def clock(self) -> Clock:
            return invivo.new(Clock)

        @invivo.lazy_singleton
        def users(self) -> Repository[User]:
            return invivo.new(Repository[User], self.clock())

        @invivo.lazy_singleton
        def ints(self) -> Repository[int]:
            return invivo.new(Repository[int], self.clock())

        @invivo.lazy_singleton
        def service(self) -> Service:
            return invivo.wire(Service)

    with invivo.Runtime(members := Members()):
        assert members.service().users is members.users()
        assert members.service().ints is members.ints()


def test_a_new_type_is_the_class_behind_it() -> None:
    def main_clock() -> MainClock:
        return MainClock(Clock())

    app = invivo.Assembly("app")
    app.lazy_singleton(main_clock)
    with invivo.Runtime(app) as runtime:
        assert isinstance(runtime[Clock], Clock)


def test_a_factory_may_name_a_class_that_is_local_where_it_is_defined() -> None:
    class Local:
        pass

    def local() -> Local:
        return Local()

    app = invivo.Assembly("app")
    app.prototype(local)
    with invivo.Runtime(app) as runtime:
        assert isinstance(runtime[Local], Local)


def test_exact_numbers_stay_what_they_are() -> None:
    class Priced:
        def __init__(self, price: decimal.Decimal, share: fractions.Fraction) -> None:
            self.price, self.share = price, share

    app = invivo.Assembly("app")
    app.prototype(Priced, price=decimal.Decimal("1.10"), share=fractions.Fraction(1, 3))
    with invivo.Runtime(app) as runtime:
        for _ in range(4):
            found = runtime[Priced]
            assert str(found.price) == "1.10"
            assert found.share == fractions.Fraction(1, 3)


def test_an_asynchronous_factory_is_refused_where_it_is_defined() -> None:
    async def make() -> User:
        return User()

    app = invivo.Assembly("app")
    with pytest.raises(invivo.ArgumentError, match="asynchronous"):
        app.prototype(make, name="user")


def test_coroutines_resolve_and_what_blocks_goes_to_a_thread() -> None:
    built = 0

    class Slow:
        def __init__(self) -> None:
            nonlocal built
            built += 1

    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    app.lazy_singleton(Slow)
    app.prototype(Data)

    async def main() -> list[Any]:
        with invivo.Runtime(app) as runtime:
            found = await asyncio.gather(*(asyncio.to_thread(lambda: runtime[Slow]) for _ in range(8)))
            assert runtime[Data].clock is runtime[Clock]
            return found

    found = asyncio.run(main())
    assert built == 1
    assert all(each is found[0] for each in found)
