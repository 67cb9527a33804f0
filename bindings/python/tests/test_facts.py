"""The definition in force is the library's: overrides, replacements and removals count everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import pytest

import invivo


class Ticking(Protocol):
    def tick(self) -> None: ...


class Clock:
    pass


class Other:
    def tick(self) -> None: ...


class Voice:
    def __init__(self, note: Any, gain: Any = None) -> None:
        self.note, self.gain = note, gain


@invivo.prototype
def voice(note: int, gain: float = 0.5) -> Voice:
    return invivo.new(Voice, note, gain)


@invivo.prototype
def louder(pitch: int, level: float = 2.0) -> Voice:
    return invivo.new(Voice, pitch, level)


@pytest.fixture
def runtime() -> Iterator[invivo.Runtime]:
    with invivo.Runtime(log_level="silent") as runtime:
        runtime.define(voice, "app.voice")
        yield runtime


def test_arguments_by_name_are_those_of_the_definition_in_force(runtime: invivo.Runtime) -> None:
    assert vars(runtime.resolve("app.voice", gain=1.0, note=3)) == {"note": 3, "gain": 1.0}
    with runtime.override("app.voice", louder):
        for _ in range(4):  # a plan follows it, too
            assert vars(runtime.resolve("app.voice", pitch=3)) == {"note": 3, "gain": 2.0}
            assert vars(runtime.resolve("app.voice", 3)) == {"note": 3, "gain": 2.0}
        with pytest.raises(invivo.ArityError, match=r"\(pitch, level\): got an unexpected keyword argument 'note'"):
            runtime.resolve("app.voice", note=3)
        with pytest.raises(invivo.ArityError, match="missing a required argument: 'pitch'"):
            runtime.resolve("app.voice", level=3.0)
        with pytest.raises(invivo.ArityError, match="multiple values for argument 'pitch'"):
            runtime.resolve("app.voice", 3, pitch=3)
    assert vars(runtime.resolve("app.voice", note=3)) == {"note": 3, "gain": 0.5}


def test_what_is_left_out_is_completed_by_plans_too(runtime: invivo.Runtime) -> None:
    @invivo.prototype
    def noted(note: Any = (1, 2), gain: Any = None) -> Voice:
        return invivo.new(Voice, note, gain)

    runtime.define(noted, "app.noted")
    for _ in range(5):
        assert vars(runtime["app.noted"]) == {"note": (1, 2), "gain": None}
        assert vars(runtime.resolve("app.noted", 5)) == {"note": 5, "gain": None}
        assert vars(runtime.resolve("app.noted", gain=5)) == {"note": (1, 2), "gain": 5}


def test_an_argument_stays_the_object_that_it_is_under_an_override(runtime: invivo.Runtime) -> None:
    @invivo.prototype
    def any_voice(note: Any) -> Voice:
        return invivo.new(Voice, note)

    @invivo.prototype
    def other_voice(pitch: Any) -> Voice:
        return invivo.new(Voice, gain=pitch, note=0)

    runtime.define(any_voice, "app.any")
    assert runtime.resolve("app.any", (1, 2)).note == (1, 2)
    with runtime.override("app.any", other_voice):
        assert runtime.resolve("app.any", (1, 2)).gain == (1, 2)
        assert runtime.resolve("app.any", pitch={1}).gain == {1}


def test_a_plan_of_definitions_sees_what_an_override_makes(runtime: invivo.Runtime) -> None:
    class Fast(Clock):
        pass

    runtime.define(Clock, "app.clock")

    @invivo.prototype
    def holder() -> Voice:
        return invivo.new(Voice, invivo.ref("app.clock"))

    with runtime.override("app.clock", Fast):
        assert isinstance(runtime[Fast], Fast)
        assert Fast in runtime
        assert runtime.resolve_type(Fast) is runtime[Clock]
        runtime.define(holder, "app.holder")
        assert isinstance(runtime["app.holder"].note, Fast)
    assert type(runtime["app.holder"].note) is Clock
    with pytest.raises(invivo.NotFoundError):
        runtime[Fast]


def test_a_definition_that_is_removed_says_nothing_any_more(runtime: invivo.Runtime) -> None:
    assert runtime.resolve("app.voice", note=3).note == 3
    with runtime.changes() as changes:
        changes.remove("app.voice")
    with pytest.raises(invivo.NotFoundError):
        runtime.resolve("app.voice", note=3)
    runtime.define(louder, "app.voice")
    assert runtime.resolve("app.voice", pitch=3).note == 3


def test_facts_say_the_scope_and_the_runtime_arguments(runtime: invivo.Runtime) -> None:
    runtime.define(Clock, "app.clock", scope="lazy_singleton")
    core = runtime._core
    facts = core.keys.facts("app.clock")
    assert facts is not None
    assert facts.is_shared
    other = core.keys.facts("app.voice")
    assert other is not None
    assert not other.is_shared
    assert [each.name for each in other.arguments] == ["note", "gain"]
    assert core.keys.facts("app.nothing") is None


def test_a_class_that_comes_later_behaves_too() -> None:
    app = invivo.Assembly("app")
    app.lazy_singleton(Clock)
    with invivo.Runtime(app) as runtime:
        with pytest.raises(invivo.NotFoundError):
            runtime[Ticking]  # type: ignore[type-abstract]
        runtime.define(Other)
        assert isinstance(runtime[Ticking], Other)  # type: ignore[type-abstract]
        with runtime.changes() as changes:
            changes.remove("other")
        with pytest.raises(invivo.NotFoundError):
            runtime[Ticking]  # type: ignore[type-abstract]


class Marked:
    clock = invivo.injected("app.clock")


class Unmarked:
    clock = invivo.injected()


def test_a_key_needs_no_annotation(runtime: invivo.Runtime) -> None:
    runtime.define(Clock, "app.clock", scope="lazy_singleton")
    clock = runtime[Clock]
    made, found = Marked(), Marked()
    assert runtime.fill(made)
    assert made.clock is clock
    runtime.inject(found)
    assert found.clock is clock
    runtime.define(Marked, "app.marked")
    assert runtime["app.marked"].clock is clock
    with pytest.raises(invivo.ArgumentError, match=r"Unmarked.clock: injected\(\) does not know the type"):
        runtime.define(Unmarked, "app.unmarked")


def test_every_error_is_exported() -> None:
    assert set(invivo.errors.__all__) <= set(invivo.__all__)
    assert all(getattr(invivo, name) is getattr(invivo.errors, name) for name in invivo.errors.__all__)
