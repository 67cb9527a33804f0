"""`new` keeps the defaults of parameters; `wire`, and classes of an assembly, look for definitions first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

import invivo


class Clock: ...


OWN = Clock()


class Job:
    def __init__(
        self,
        clock: Clock,
        root: Path = Path("/default"),
        other: Clock | None = None,
        own: Clock = OWN,
        provider: invivo.Provider[Clock] | None = None,
        every: tuple[Clock, ...] = (),
    ) -> None:
        self.clock, self.root, self.other, self.own = clock, root, other, own
        self.provider, self.every = provider, every


def job(clock: Clock, root: Path = Path("/default"), other: Clock | None = None) -> Job:
    return Job(clock, root, other)


def opened(clock: Clock, root: Path = Path("/default"), other: Clock | None = None) -> Iterator[Job]:
    yield Job(clock, root, other)


class Unrelated(invivo.Assembly):
    @invivo.lazy_singleton
    def folder(self) -> Path:
        return invivo.new(Path, "/var/lib/other")

    @invivo.lazy_singleton
    def clock(self) -> Clock:
        return invivo.new(Clock)


@pytest.mark.parametrize("what", [Job, job, opened])
def test_another_assembly_does_not_replace_a_default_of_new(what: Any) -> None:
    class Jobs(invivo.Assembly):
        @invivo.prototype
        def new(self) -> Job:
            return invivo.new(what)

        @invivo.prototype
        def inline(self) -> Job:
            return invivo.new(job, invivo.ref(Clock), other=invivo.new(Clock))

        @invivo.prototype
        def wired(self) -> Job:
            return invivo.wire(what)

    with invivo.Runtime(jobs := Jobs(), other := Unrelated()):
        made = jobs.new()
        assert made.clock is other.clock(), "what has no default is found"
        assert (made.root, made.other, made.own, made.provider, made.every) == (Path("/default"), None, OWN, None, ())
        assert isinstance(jobs.inline().other, Clock)
        wired = jobs.wired()
        assert (wired.root, wired.other) == (Path("/var/lib/other"), other.clock())


def test_new_finds_a_default_that_is_marked() -> None:
    class Marked:
        def __init__(
            self,
            marked: Annotated[Clock | None, invivo.Inject] = None,
            named: Annotated[Clock | None, "unrelated.clock"] = None,
        ) -> None:
            self.marked, self.named = marked, named

    class Jobs(invivo.Assembly):
        @invivo.prototype
        def new(self) -> Marked:
            return invivo.new(Marked)

    with invivo.Runtime(jobs := Jobs(), other := Unrelated()):
        made = jobs.new()
        assert made.marked is made.named is other.clock()


def test_a_recipe_is_no_default_of_a_class_or_factory() -> None:
    class Player:
        def __init__(self, level: int = invivo.config("level", 1)) -> None:  # type: ignore[assignment]
            self.level = level

    def clock(level: int = invivo.config("level", 1)) -> Clock:  # type: ignore[assignment]
        return Clock()

    app = invivo.Assembly("app")
    with pytest.raises(
        invivo.errors.ArgumentError, match=r"'level' is <invivo recipe.*which only a definition can use"
    ):
        app.lazy_singleton(Player)
        invivo.Runtime(app).close()
    with pytest.raises(invivo.errors.ArgumentError, match="clock: the default of the parameter 'level'"):
        other = invivo.Assembly("other")
        other.lazy_singleton(clock)
        invivo.Runtime(other).close()
