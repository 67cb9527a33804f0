"""Overrides: for tests and trials, stackable, taken back in any order."""

from __future__ import annotations

import gc
import weakref

import pytest

import invivo


class Clock:
    def __init__(self, rate: int = 1) -> None:
        self.rate = rate


class FakeClock(Clock): ...


class Player:
    clock: Clock

    def __init__(self, voice: Voice) -> None:
        self.voice = voice


class Voice: ...


class Synth(invivo.Assembly):
    @invivo.lazy_singleton
    def clock(self) -> Clock:
        return invivo.new(Clock)

    @invivo.lazy_singleton
    def voice(self) -> Voice:
        return invivo.new(Voice)

    @invivo.lazy_singleton
    def player(self) -> Player:
        player = invivo.new(Player, self.voice())
        player.clock = self.clock()
        return player


def test_an_override_holds_for_a_block_also_when_it_fails() -> None:
    with invivo.Runtime(synth := Synth()) as runtime:
        player, clock = synth.player(), synth.clock()
        with pytest.raises(ZeroDivisionError), runtime.override("synth.clock", FakeClock, rate=7):
            assert type(synth.clock()) is FakeClock
            assert synth.clock() is runtime[Clock] is player.clock
            assert synth.clock().rate == 7
            assert synth.player() is player, "it was injected again"
            raise ZeroDivisionError
        assert type(synth.clock()) is Clock
        assert player.clock is synth.clock()
        assert clock.rate == 1


def test_an_override_whose_end_fails_stays_and_can_be_ended_again() -> None:
    class Fragile(Clock):
        breaks = False

        def __init__(self) -> None:
            if Fragile.breaks:
                raise ValueError("no clock now")

    class Hall(invivo.Assembly):
        @invivo.singleton
        def clock(self) -> Clock:
            return invivo.new(Fragile)

    with invivo.Runtime(hall := Hall()) as runtime:
        override = runtime.override("hall.clock", FakeClock)
        Fragile.breaks = True
        with pytest.raises(invivo.HostError, match="no clock now"):
            override.end()
        assert type(hall.clock()) is FakeClock
        Fragile.breaks = False
        override.end()
        assert type(hall.clock()) is Fragile
        override.end()


def test_an_object_can_be_put_in_a_keys_place_and_is_let_go() -> None:
    with invivo.Runtime(synth := Synth()) as runtime:
        fake = FakeClock(3)
        with runtime.override(Clock, instance=fake):
            assert synth.clock() is synth.player().clock is fake
        assert type(synth.clock()) is Clock
        gone = weakref.ref(fake)
        del fake
        gc.collect()
        assert gone() is None


def test_an_object_in_the_place_of_a_recipe_is_told_how_it_is_given() -> None:
    with invivo.Runtime(synth := Synth()) as runtime:
        with pytest.raises(invivo.WrongTypeError, match=r"instance=\.\.\."):
            runtime.override("synth.clock", Clock(9))
        with runtime.override("synth.clock", instance=Clock(9)):
            assert synth.clock().rate == 9
        assert synth.clock().rate == 1


def test_overrides_lie_on_each_other_and_are_taken_back_in_any_order() -> None:
    with invivo.Runtime(synth := Synth()) as runtime:
        one = runtime.override("synth.clock", Clock, rate=2)
        two = runtime.override("synth.clock", invivo.wire(Clock, rate=3))
        assert synth.clock().rate == 3
        one.end()
        assert synth.clock().rate == 3
        two.end()
        two.end()
        assert synth.clock().rate == 1
        assert "taken back" in repr(two)


def test_who_got_it_through_the_constructor_is_remade() -> None:
    class Fake(Voice): ...

    with invivo.Runtime(synth := Synth()) as runtime:
        player = synth.player()
        with runtime.override(Voice, Fake):
            assert synth.player() is not player
            assert type(synth.player().voice) is Fake


def test_an_override_of_what_is_not_there_or_by_what_does_not_fit_is_an_error() -> None:
    with invivo.Runtime(Synth()) as runtime:
        with pytest.raises(invivo.NotFoundError):
            runtime.override("synth.clokc", Clock)
        with pytest.raises(invivo.ArgumentError):
            runtime.override("synth.clock")
        runtime.override("synth.clock", Clock, rate=2)  # goes with the runtime


def test_a_member_of_an_assembly_is_a_key() -> None:
    with invivo.Runtime(synth := Synth()) as runtime:
        first = synth.clock()
        with runtime.override(synth.clock, Clock, rate=2):
            assert runtime[synth.clock].rate == 2
            assert synth.clock in runtime
        assert synth.clock().rate == 1
        runtime.reset(synth.clock)
        assert synth.clock() is not first


def test_an_override_that_does_not_fit_is_refused() -> None:
    with invivo.Runtime(synth := Synth()) as runtime:
        for made in range(2):
            with pytest.raises(
                invivo.WrongTypeError,
                match=r"'voice' needs an object of type 'Voice', and 'synth.voice' is of type 'Clock'",
            ):
                runtime.override("synth.voice", Clock)
            with pytest.raises(
                invivo.WrongTypeError,
                match=r"'voice' needs an object of type 'Voice', and 'synth.voice' is of type 'Clock'",
            ):
                runtime.override("synth.voice", instance=Clock())
            assert type(synth.player().voice) is Voice, made


@pytest.mark.xfail(strict=True, reason="ending an override builds a new instance")
def test_an_instance_that_an_override_set_aside_returns_with_its_identity() -> None:
    synth = Synth()
    with invivo.Runtime(synth) as runtime:
        former = runtime["synth.clock"]
        with runtime.override("synth.clock", FakeClock):
            assert type(runtime["synth.clock"]) is FakeClock
        assert runtime["synth.clock"] is former


def test_an_instance_that_an_override_set_aside_is_dropped_when_its_definition_has_changed() -> None:
    synth = Synth()
    with invivo.Runtime(synth) as runtime:
        former = runtime["synth.clock"]
        with runtime.override("synth.clock", FakeClock):
            runtime.define(Clock, "synth.clock", rate=5)
        assert runtime["synth.clock"] is not former
        assert runtime["synth.clock"].rate == 5


def test_an_override_of_an_alias_or_a_choice_is_one_object() -> None:
    class Named(invivo.Assembly):
        @invivo.lazy_singleton
        def clock(self) -> Clock:
            return invivo.new(Clock)

        @invivo.define
        def alias(self) -> Clock:
            return self.clock()

        @invivo.define
        def choice(self) -> Clock:
            return invivo.choice(invivo.config("rate", "slow"), {"slow": self.clock()})

    @invivo.prototype
    def separate() -> FakeClock:
        return invivo.new(FakeClock)

    named = Named()
    with invivo.Runtime(named) as runtime:
        for key in ("named.alias", "named.choice"):
            with runtime.override(key, FakeClock):
                assert type(runtime[key]) is FakeClock
                assert runtime[key] is runtime[key]
            with runtime.override(key, separate):
                assert runtime[key] is not runtime[key]
            assert runtime[key] is named.clock()


def test_an_override_keeps_its_object_when_a_change_lies_below() -> None:
    with invivo.Runtime(Synth()) as runtime:
        lower = runtime.override("synth.clock", FakeClock)
        with runtime.override("synth.clock", FakeClock, rate=3):
            fake = runtime["synth.clock"]
            runtime.define(Clock, "synth.clock", rate=5)
            assert runtime["synth.clock"] is fake
            lower.end()
            assert runtime["synth.clock"] is fake
        assert runtime["synth.clock"].rate == 5


def test_an_override_can_always_end() -> None:
    class Keeper:
        def __init__(self, clock: object = None) -> None:
            self.clock = clock

    with invivo.Runtime() as runtime:
        runtime.define(Clock, "a.clock", "thread")
        runtime.define(Keeper, "a.keeper")
        with (
            runtime.override("a.keeper", Keeper),
            pytest.raises(invivo.CaptiveError, match="below an override"),
        ):
            runtime.define(Keeper, "a.keeper", clock=invivo.ref("a.clock"))
