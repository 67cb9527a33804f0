"""The things that cases are about, and what is heard of them."""

from __future__ import annotations

import dataclasses
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Generic, TypeVar

from annotated_types import Predicate

import invivo

T = TypeVar("T")

SECONDS = 60.0  # that something is waited for


@dataclasses.dataclass
class Rule:
    """What a case says beforehand of an event."""

    fails: int = 0  # how often it still fails; -1: always
    holds: bool = False
    meets: int = 0
    takes: float = 0.0  # seconds
    arrived: int = 0


class World:
    """What happens in one case."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.heard: list[str] = []
        self.gone: list[str] = []
        self.reported: list[str] = []
        self.warned: tuple[str, ...] = ()
        self.alive: Counter[str] = Counter()
        self.rules: dict[str, Rule] = {}
        self.resolve: Callable[[str], Any] = lambda key: None

    def rule(self, event: str) -> Rule:
        return self.rules.setdefault(event, Rule())

    def wait(self, condition: Callable[[], bool]) -> None:
        if not self.changed.wait_for(condition, SECONDS):
            raise TimeoutError("waited too long")

    def event(self, text: str) -> None:
        """Says that something is about to happen; may wait, and may fail."""
        with self.changed:
            self.heard.append(text)
            self.changed.notify_all()
            rule = self.rules.get(text)
            if rule is None:
                return
            rule.arrived += 1
            self.changed.notify_all()
            self.wait(lambda: not rule.holds)
            self.wait(lambda: rule.arrived >= rule.meets)
            fails = rule.fails != 0
            rule.fails -= 1 if rule.fails > 0 else 0
        end = time.monotonic() + rule.takes  # busy until then
        while time.monotonic() < end:
            pass
        if fails:
            raise invivo.HostError(f"{text} fails on purpose")

    def begin(self, kind: str) -> None:
        with self.changed:
            self.alive[kind] += 1

    def end(self, kind: str) -> None:
        with self.changed:
            self.alive[kind] -= 1
            self.gone.append(kind)
            self.changed.notify_all()


world = World()


def fresh() -> World:
    """Another one, for another case."""
    global world
    world = World()
    return world


class Thing:
    """What all things of the world have."""

    left: object = None
    right: object = None
    any: Any = None
    number: int = 0
    input: Final[object]
    given: Final[Any]
    _held: Any = None  # what code has resolved for it

    def __init__(self, input: object = None, number: int = 0, given: Any = None) -> None:
        self._say("init")
        self.input = input
        self.number = number
        self.given = given
        self._below: list[object] = []
        kind = type(self).__name__
        world.begin(kind)
        weakref.finalize(self, world.end, kind).atexit = False

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("left", "right"):
            self._say(name)
        object.__setattr__(self, name, value)

    def _say(self, what: str) -> None:
        world.event(f"{type(self).__name__}.{what}")

    def note(self, text: str) -> None:
        self._say(f"note({text})")

    def add(self, number: int) -> None:
        self._say(f"add({number})")
        self.number += number

    def resolve(self, text: str) -> None:
        self._say("resolve")
        world.resolve(text)

    def make(self, number: int) -> Any:
        return Quest(number=number) if number else None

    def wrap(self, object: object) -> object:
        return type(object)(object, self.number)  # type: ignore[call-arg]

    def come(self, object: object) -> None:
        self._say("come")

    def go(self, object: object) -> None:
        self._say("go")

    def grow(self, object: object) -> None:
        self._below.append(object)


class Weapon: ...


class Knight(Thing): ...


class Squire(Knight): ...


class Quest(Thing): ...


class Sword(Thing, Weapon): ...


class Lance(Thing, Weapon): ...


class _Hooked(Thing):
    @invivo.will_inject
    def will(self) -> None:
        self._say("will")

    @invivo.did_inject
    def did(self) -> None:
        self._say("did")


class Page(_Hooked): ...


class Branch(_Hooked):
    @invivo.children
    def _children(self) -> list[object]:
        return self._below

    @invivo.injection_key
    def _key(self) -> str | None:
        return self.given if isinstance(self.given, str) else None

    @invivo.parent
    def _above(self) -> object:
        return self.left


class Needy(Thing):
    left: Annotated[Sword, invivo.Inject()] = None  # type: ignore[assignment]


class Strict(Thing):
    def __init__(self, input: object, number: int = 0, given: Any = None) -> None:
        super().__init__(input, number, given)


class _Runs(Thing):
    @invivo.on_start
    def start(self) -> None:
        self._say("start")

    @invivo.on_stop
    def stop(self) -> None:
        self._say("stop")


class Port(_Runs): ...


@invivo.shared
class Castle(Thing): ...


@invivo.shared
class Tower(Thing): ...


@invivo.shared
class Mill(_Runs): ...


@invivo.shared
class Pump(_Runs): ...


@invivo.shared
class Loom(_Runs):
    @invivo.on_prepare
    def prepare(self) -> None:
        self._say("prepare")


def add_effect(runtime: invivo.Runtime, name: str) -> None:
    here = world
    here.event(f"effect({name})")
    runtime.effect(lambda: here.event(f"undo({name})"))


class _SetUp(Thing):
    _children: tuple[object, ...] = ()  # of its setup: in left and right

    @invivo.on_setup
    def set_up(self) -> None:
        self._say("setup")
        self._adopt()
        for step in self.any if isinstance(self.any, list) else ():
            self._perform(*step.split(" "))

    @invivo.on_teardown
    def tear_down(self) -> None:
        self._say("teardown")
        self._adopt()

    @invivo.on_refresh
    def refreshed(self) -> None:
        self._say("refresh")

    def _adopt(self, *children: object) -> None:
        for name in ("left", "right")[: len(self._children)]:
            object.__setattr__(self, name, None)
        for name, child in zip(("left", "right"), children, strict=False):
            object.__setattr__(self, name, child)
        self._children = children

    def _perform(self, verb: str, name: str, *arguments: str) -> None:
        """A step of the setup: ``effect a``, ``child a.tent x``, ``make Tent``, ``observe a``."""
        here, runtime = world, invivo.current()
        if verb == "effect":
            add_effect(runtime, name)
        elif verb == "observe":
            runtime.observe(lambda report: here.event(f"reloaded({name})"))
        else:
            child = runtime.child(name, *arguments) if verb == "child" else runtime.make_child(KINDS[name])
            self._adopt(*self._children, child)


class Camp(_SetUp): ...


class Tent(_SetUp): ...


@invivo.keeps_children
class Court(_SetUp): ...


class Forge(_SetUp, _Runs):
    number = invivo.tunable(0)

    @invivo.on_finalize
    def finalized(self) -> None:
        self._say("finalize")


class Lamp(Thing):
    gain: float = invivo.tunable(0.0, codec="decibel")
    share: float = invivo.tunable(0.0, codec="percent")
    after: float = invivo.tunable(0.0, codec="duration")
    color: int = invivo.tunable(0, codec="color")
    frame: dict[str, float] = invivo.tunable({}, codec="size")
    place: dict[str, float] = invivo.tunable({}, codec="point")


def even(value: int) -> bool:
    return value % 2 == 0


class Label(Thing):
    columns: Annotated[int, Predicate(even)] = invivo.tunable(0)
    radius: float = invivo.tunable(0.0)
    masks: bool = invivo.tunable(False)
    shadow: int = invivo.tunable(0, codec="color")
    offset: dict[str, float] = invivo.tunable({}, codec="size")
    opacity: float = invivo.tunable(0.0, min=0, max=1)
    background: int = invivo.tunable(0, codec="color")
    font: str = invivo.tunable("")
    size: float = invivo.tunable(0.0)
    text_color: str = invivo.tunable("")


class Gap(Thing):
    constant: float = invivo.tunable(0.0)


@invivo.shared
class Inn(_SetUp): ...


class Chest(Thing, Generic[T]): ...


class Ledger(Chest[Quest]): ...


class Vault(Chest[Any]): ...


def vault(input: object = None, number: int = 0, given: Any = None) -> Iterator[Chest[Any]]:
    yield Vault(input, number, given)


RESOURCES: dict[str, Any] = {"Vault": vault}
KINDS: dict[str, type] = {
    each.__name__: each
    for each in (
        *(Thing, Weapon, Knight, Squire, Quest, Sword, Lance, Page, Branch, Needy, Strict, Port),
        *(Castle, Tower, Mill, Pump, Loom, Chest, Ledger, Camp, Tent, Court, Forge, Lamp, Label, Gap, Inn),
    )
}


def kind(name: str) -> Any:
    """The type of a name, of ``Chest[Knight]`` too; one that nobody has is a new one."""
    outer, bracket, argument = name.partition("[")
    if bracket:
        return kind(outer)[kind(argument.removesuffix("]"))]
    return KINDS.get(name) or type(name, (), {})
