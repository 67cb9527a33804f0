"""Traits of live objects of Python against a model: each attribute is a base value and a stack of layers.

    python test_traits_model.py [--seed N] [--sequences N] [--trace]   runs sequences with consecutive seeds

A sequence attaches, detaches and ends objects, edits and removes documents, sets and deletes attributes as other code
does, lets setters fail, begins and ends pins, and rolls back. After each operation each attribute has the value of the
model, and the object itself holds it or not, as in the model. At the end all layers are removed: an object that no
other code has changed has its first attributes again, in their order.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
from collections.abc import Callable
from typing import Any

import pytest

import invivo

NAMES = ("gain", "pan", "code")
KEYS = ("t.one", "t.two")
DEFAULTS = {"gain": 1.0, "pan": 2.0, "code": 3}


class Inheriting:
    """An object that holds some of its attributes; its class has the others."""

    gain: float = invivo.tunable(1.0)
    pan: float = invivo.tunable(2.0)
    code: int = invivo.tunable(3)

    def __init__(self, own: list[str]) -> None:
        self.first = "first"
        for name in own:
            setattr(self, name, DEFAULTS[name] + 10)
        self.last = "last"


class Watched:
    __slots__ = ("__weakref__",)


@dataclasses.dataclass(slots=True)
class Slotted(Watched):
    gain: float = invivo.tunable(1.0)
    pan: float = invivo.tunable(2.0)
    code: int = invivo.tunable(3)


class Failing:
    """The number of calls of setters until one fails; 0: none."""

    left = 0


def _described(name: str, kind: type) -> property:
    def read(self: Any) -> Any:
        return self._values[name]

    def write(self: Any, value: Any) -> None:
        Failing.left -= 1
        if Failing.left == 0:
            raise ValueError("a setter fails on purpose")
        self._values[name] = value

    read.__annotations__["return"] = kind
    write.__annotations__["value"] = kind
    return property(read, write)


class Described:
    gain = invivo.tunable(_described("gain", float))
    pan = invivo.tunable(_described("pan", float))
    code = invivo.tunable(_described("code", int))

    def __init__(self) -> None:
        self._values: dict[str, Any] = dict(DEFAULTS)


@dataclasses.dataclass
class Attribute:
    value: Any
    is_own: bool
    base: Any = None
    base_is_own: bool = False
    seen: Any = None
    layers: tuple[Any, ...] = ()
    wanted: Any = None


@dataclasses.dataclass
class Subject:
    """An object, its first attributes, and the model of it."""

    thing: Any
    first: list[tuple[str, Any]]
    attributes: dict[str, Attribute]
    key: str | None = None
    target: Any = None
    is_touched: bool = False


def define_code() -> None:
    def apply_to(target: Any, by: int) -> None:
        target.code = target.code * 3 + by

    class Code(invivo.Trait, name="t.Code"):
        """Reverses what it does itself."""

        targets = ("*",)
        by: int = 1

        def apply(self, target: Any) -> Callable[[], None]:
            was_own = "code" in getattr(target, "__dict__", ("code",)) or isinstance(target, Described)
            former = target.code
            apply_to(target, self.by)

            def reverse() -> None:
                if was_own:
                    target.code = former
                else:
                    del target.code

            return reverse

    class Auto(invivo.Trait, name="t.Auto"):
        """Leaves the reversal to the library."""

        targets = ("*",)
        by: int = 1

        def apply(self, target: Any) -> None:
            apply_to(target, self.by)


class Sequence:
    def __init__(self, seed: int, trace: bool) -> None:
        self.random = random.Random(seed)
        self.seed, self.trace = seed, trace
        self.with_code = self.random.random() < 0.4
        self.documents: list[dict[str, list[Any]] | None] = [None, None]
        self.order: list[int] = []
        self.worlds: dict[int, Any] = {}
        self.pin: Any = None
        self.runtime = invivo.Runtime(pending_targets=True, ramp_tick="manual", log_level="silent")
        self.subjects = [self.create() for _ in range(3)]

    def note(self, text: str) -> None:
        if self.trace:
            print(text)

    def chance(self, percent: int) -> bool:
        return self.random.random() * 100 < percent

    # ---- the model -------------------------------------------------------------------------------------

    def create(self) -> Subject:
        kind = self.random.randrange(3)
        own = [name for name in NAMES if self.chance(50)]
        self.random.shuffle(own)
        thing: Any = Inheriting(own) if kind == 0 else Slotted() if kind == 1 else Described()
        attributes = {name: Attribute(getattr(thing, name), kind > 0 or name in vars(thing)) for name in NAMES}
        return Subject(thing, list(getattr(thing, "__dict__", {}).items()), attributes)

    def traits_of(self, key: str | None) -> list[Any]:
        return [trait for number in self.order for trait in (self.documents[number] or {}).get(key or "", [])]

    def change(self, subject: Subject, is_new: bool = False) -> None:
        traits_here = self.traits_of(subject.key)
        for name in NAMES:
            layers: list[Any] = []
            for what, of, number in traits_here:
                if of == name and what in ("Set", "Ramp"):
                    layers = [(what, number)]
                elif of == name:
                    layers.append((what, number))
            self.change_attribute(subject.attributes[name], tuple(layers), is_new)

    def change_attribute(self, it: Attribute, layers: tuple[Any, ...], is_new: bool) -> None:
        is_ours = it.value == it.seen
        if not layers:
            if it.layers and is_ours:
                it.value, it.is_own = it.base, it.base_is_own
            it.layers = ()
            return
        had = bool(it.layers)
        if not had:
            it.base, it.base_is_own = it.value, it.is_own
        if had and same(it.layers, layers):
            return
        former, it.layers, it.wanted = it.wanted, layers, applied(it.base, layers)
        moves = layers[0][0] == "Ramp" and not is_new and it.value != it.wanted
        if not moves and had and former == it.wanted:
            return
        it.value = it.seen = it.wanted
        it.is_own = True

    def change_all(self) -> None:
        for subject in self.subjects:
            self.change(subject)

    def code_of(self, subject: Subject) -> tuple[Any, bool]:
        """The value of the attribute that code changes, and whether the object holds it."""
        it = subject.attributes["code"]
        value, is_own = it.value, it.is_own
        for what, _, number in self.traits_of(subject.key):
            if what in ("t.Code", "t.Auto"):
                value, is_own = value * 3 + number, True
        return value, is_own

    def check(self) -> None:
        for subject in self.subjects:
            thing = subject.thing
            for name, it in subject.attributes.items():
                value, is_own = self.code_of(subject) if name == "code" and self.with_code else (it.value, it.is_own)
                found = getattr(thing, name)
                has = name in vars(thing) if isinstance(thing, Inheriting) else True
                where = f"seed {self.seed}: {type(thing).__name__}.{name}"
                assert (found, type(found)) == (value, type(value)), f"{where} is {found!r}, in the model {value!r}"
                assert has == is_own, f"{where}: the object {'holds' if has else 'does not hold'} it"
            if subject.key is None and not subject.is_touched:
                assert list(getattr(thing, "__dict__", {}).items()) == subject.first, f"seed {self.seed}: {vars(thing)}"

    # ---- operations ------------------------------------------------------------------------------------

    def random_trait(self) -> Any:
        what = self.random.choice(("Set", "Scale", "Offset", "t.Code" if self.with_code else "Ramp", "Set"))
        if what == "t.Code":
            return self.random.choice(("t.Code", "t.Auto")), "", self.random.randint(1, 9)
        name = self.random.choice(NAMES[:2] if self.with_code else NAMES)
        number = self.random.randint(1, 9)
        return what, name, number

    def edit(self, number: int, is_there: bool) -> None:
        former, order = self.documents[number], list(self.order)
        made = {key: [self.random_trait() for _ in range(self.random.randint(0, 3))] for key in KEYS}
        if former and self.chance(30):
            made[KEYS[0]] = former[KEYS[0]]
        self.documents[number] = made if is_there else None
        if is_there and number not in order:
            self.order = [*order, number]
        if not is_there:
            self.order = [each for each in order if each != number]
        is_wrong = is_there and self.chance(5)
        text = written(made) + ("  t.nobody: [Sing: {}]\n" if is_wrong else "") if is_there else None
        # A reversal that fails has not reversed everything.
        Failing.left = self.random.randint(1, 6) if self.chance(25) and not self.with_code else 0
        self.note(f"document {number}, a setter fails after {Failing.left}:\n{text}")
        is_armed = Failing.left > 0
        try:
            with self.runtime.changes() as changes:
                changes.document("ab"[number], text)
        except invivo.Error as error:
            self.note(f"  {error}")
            self.documents[number], self.order = former, order
            has_failed = True
        else:
            self.change_all()
            has_failed = False
        assert not is_wrong or has_failed, f"seed {self.seed}"
        assert not has_failed or is_wrong or (is_armed and Failing.left <= 0), f"seed {self.seed}"
        Failing.left = 0
        self.settle()

    def settle(self) -> None:
        """Properties that move reach their ends."""
        self.runtime.advance(1)

    def roll_back(self) -> None:
        current = self.runtime.generation
        to = current - self.random.randrange(10)
        if to not in self.worlds:
            return
        self.note(f"rollback to {to}")
        try:
            self.runtime.rollback(to)
        except invivo.Error as error:
            self.note(f"  {error}")
            return
        self.documents, self.order = list(self.worlds[to][0]), list(self.worlds[to][1])
        self.change_all()
        self.settle()

    def write(self, subject: Subject) -> None:
        if self.with_code:
            return
        name = self.random.choice(NAMES)
        it, thing = subject.attributes[name], subject.thing
        subject.is_touched = True
        if isinstance(thing, Inheriting) and name in vars(thing) and self.chance(40):
            self.note(f"del {name}")
            delattr(thing, name)
            it.value, it.is_own = getattr(thing, name), False
            return
        value = type(it.value)(self.random.randint(100, 200))
        self.note(f"{type(thing).__name__}.{name} = {value}")
        setattr(thing, name, value)
        it.value, it.is_own = value, True

    def operate(self) -> None:
        what, number = self.random.randrange(100), self.random.randrange(3)
        subject = self.subjects[number]
        if what < 40:
            self.edit(self.random.randrange(2), self.chance(80))
        elif what < 58:
            subject.key = self.random.choice(KEYS)
            self.note(f"attach {number}, {type(subject.thing).__name__}, to {subject.key}")
            subject.target = self.runtime.attach_target(subject.thing, subject.key)
            self.change(subject, is_new=True)
        elif what < 66:
            if subject.key is not None:
                self.note(f"detach {number}")
                subject.target.detach()
                subject.key = None
                self.change(subject)
        elif what < 70:
            self.note(f"object {number} ends")
            del subject
            self.subjects[number] = self.create()
        elif what < 82:
            self.write(subject)
        elif what < 92:
            self.roll_back()
        elif self.pin is None:
            self.pin = self.runtime.pinned()
            self.pin.__enter__()
        else:
            self.end_pin()
        self.worlds[self.runtime.generation] = (list(self.documents), list(self.order))
        self.check()

    def end_pin(self) -> None:
        if self.pin is not None:
            self.pin.__exit__(None, None, None)
            self.pin = None

    def run(self, operations: int) -> None:
        with self.runtime:
            for _ in range(operations):
                self.operate()
            self.end_pin()
            for number in range(2):
                self.edit_away(number)
                self.check()
            for subject in self.subjects:
                if not subject.is_touched:
                    assert list(getattr(subject.thing, "__dict__", {}).items()) == subject.first

    def edit_away(self, number: int) -> None:
        with self.runtime.changes() as changes:
            changes.document("ab"[number], None)
        self.documents[number] = None
        self.order = [each for each in self.order if each != number]
        self.change_all()
        self.settle()


def applied(base: Any, layers: tuple[Any, ...]) -> Any:
    for what, number in layers:
        if what in ("Set", "Ramp"):
            base = type(base)(number)
        elif what == "Offset":
            base = base + number
        else:
            base = base * number
    return base


def same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Layers that do not depend on the base are one value."""

    def normal(layers: tuple[Any, ...]) -> Any:
        if layers and layers[0][0] in ("Set", "Ramp"):
            return layers[0][0], applied(0.0, layers)
        return layers

    return bool(normal(one) == normal(other))


def written(document: dict[str, list[Any]]) -> str:
    def one(what: str, name: str, number: int) -> str:
        if what in ("t.Code", "t.Auto"):
            return f"{what}: {{ by: {number} }}"
        if what == "Ramp":
            return f"Ramp: {{ to: {{ {name}: {number} }}, over: 20 ms }}"
        return f"{what}: {{ {name}: {number} }}"

    lines = [f"  {key}: [{', '.join(one(*trait) for trait in document[key])}]\n" for key in KEYS]
    return "traits:\n" + "".join(lines)


@pytest.fixture(autouse=True)
def declared(no_other_traits: None) -> None:
    define_code()


@pytest.mark.parametrize("first", range(1, 61, 20))
def test_random_sequences_agree_with_the_model(first: int) -> None:
    for seed in range(first, first + 20):
        Sequence(seed, trace=False).run(30)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    define_code()
    for seed in range(options.seed, options.seed + options.sequences):
        Sequence(seed, options.trace).run(40)
    print(f"{options.sequences} sequences agree with the model")


if __name__ == "__main__":
    main()
