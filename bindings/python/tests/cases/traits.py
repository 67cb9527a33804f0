"""The trait types that all runners know."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import invivo

from . import world
from .build import ANNOTATIONS, Names, Wrong
from .script import Line, Unreadable, Word


def trait_type(line: Line, names: Names) -> type[invivo.Trait]:
    """Returns a trait type of a kind, or one that the lines below describe."""
    if any(each.verb == "set" for each in line.below):
        return Described(line, names).type()
    named, kind, target = line.words[1].text, line.words[2].text, line.labelled("for") or "Thing"
    times, here = int(line.labelled("times") or 1), world.world
    repeats = any(word.text == "repeats" for word in line.words)

    class Layered(invivo.Trait, name=named, everywhere=False):
        targets = target
        amount: int = invivo.tunable(..., min=0, max=100)
        plus: int = 0

        def check(self) -> None:
            here.event(f"check({named})")
            if self.plus > self.amount:
                raise invivo.Refused("plus is above amount", input="plus")

        def layers(self, layers: invivo.Layers) -> None:
            layers.scale("number", self.amount * times)
            layers.offset("number", self.plus)

    class Added(invivo.Trait, name=named, everywhere=False, repeats=repeats):
        targets = target
        by: int = 1

        def apply(self, target: Any) -> Callable[[Any], None]:
            added = self.by * times
            here.event(f"apply({named})")
            target.number += added

            def reverse(target: Any) -> None:
                here.event(f"revert({named})")
                target.number -= added

            return reverse

    class Sets(invivo.Trait, name=named, everywhere=False):
        targets = target

        def apply(self, target: Any) -> None:
            here.event(f"apply({named})")
            target.number = 100 * times
            here.event(f"applied({named})")

    kinds: dict[str, type[invivo.Trait]] = {"layers": Layered, "code": Added, "sets": Sets}
    if kind not in kinds:
        raise Wrong(f"{kind!r} is no kind of a trait type")
    return kinds[kind]


PARTS = ("field", "refuse", "set", "event", "reversal", "fails", "finds")


class Described:
    """A trait type that a case describes by the lines below it."""

    def __init__(self, line: Line, names: Names) -> None:
        for each in line.below:
            if each.verb not in PARTS:
                raise Unreadable(f"{each.place}: a trait has no part {each.verb!r}")
        self.name, self.kind = line.words[1].text, line.words[2].text
        self.target, self.names, self.world = line.labelled("for"), names, world.world
        self.fields = [each for each in line.below if each.verb == "field"]
        self.steps = [each.words for each in line.below if each.verb in ("set", "event")]
        self.refusals = [each.words[1:] for each in line.below if each.verb == "refuse"]
        self.is_reversed = any(each.verb == "reversal" for each in line.below)

    def type(self) -> type[invivo.Trait]:
        members: dict[str, Any] = {"__annotations__": {}}
        if self.target != "none":
            members["targets"] = self.target or "Thing"
        for each in self.fields:
            name, annotation = each.words[1].text, ANNOTATIONS[each.words[2].text]
            default = next((word for word in each.words if word.label == "default"), None)
            initial = None if default is None else self.names.value(default)
            if each.says("required"):
                initial = ...
            codec: Any = each.labelled("codec") or "none"
            members[name] = invivo.tunable(initial, codec=codec) if initial is not None else None
            members["__annotations__"][name] = annotation if initial is not None else annotation | None
        described = self

        def check(self: invivo.Trait) -> None:
            for field, value, text in described.refusals:
                if getattr(self, field.text) == described.names.value(value):
                    raise invivo.Refused(text.text, input=field.text)

        def layers(self: invivo.Trait, layers: invivo.Layers) -> None:
            described.perform(self, layers.set)

        def apply(self: invivo.Trait, target: Any) -> Callable[[Any], None] | None:
            return described.apply(self, target)

        kinds: dict[str, Callable[..., Any]] = {"layers": layers, "code": apply}
        if self.kind not in kinds:
            raise Wrong(f"{self.kind!r} is no kind of a trait that a case describes")
        if self.refusals:
            members["check"] = check
        members[kinds[self.kind].__name__] = kinds[self.kind]
        return types.new_class(
            "Described", (invivo.Trait,), {"name": self.name, "everywhere": False}, lambda space: space.update(members)
        )

    def perform(self, given: invivo.Trait, set: Callable[[str, Any], None]) -> None:
        names = [each.words[1].text for each in self.fields]
        for verb, what, *value in self.steps:
            if verb.text == "event":
                self.world.event(what.event)
                continue
            found = self.value(given, value[0], names)
            if found is not None:
                set(what.text, found)

    def value(self, given: invivo.Trait, word: Word, names: list[str]) -> Any:
        """The value of a field, or the value of a word."""
        is_field = not word.quoted and not word.is_call and word.text in names
        return getattr(given, word.text) if is_field else self.names.value(word)

    def apply(self, given: invivo.Trait, target: Any) -> Callable[[Any], None] | None:
        former: list[tuple[str, Any]] = []

        def set(name: str, value: Any) -> None:
            former.append((name, getattr(target, name)))
            setattr(target, name, value)

        self.perform(given, set)

        def reverse(target: Any) -> None:
            self.world.event(f"revert({self.name})")
            for name, value in reversed(former):
                setattr(target, name, value)

        return reverse if self.is_reversed else None
