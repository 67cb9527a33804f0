"""The cost of trait types that are written in Python: defining, adding, applying by a spec file, opening with many."""

from __future__ import annotations

import dataclasses
import time
import typing
from collections.abc import Callable
from typing import Any

import invivo

COUNT = 1_000


class Voice:
    gain: float = invivo.tunable(1.0, min=0, max=8)


def _fields() -> dict[str, Any]:
    return {
        "__module__": __name__,
        "__annotations__": {"amount": float, "steps": int, "name": str},
        "amount": 0.5,
        "steps": 3,
        "name": "a",
    }


def _layers(self: Any, layers: invivo.Layers) -> None:
    layers.scale("gain", self.amount)


def _apply(self: Any, target: Voice) -> Callable[[Voice], None]:
    target.gain = self.amount
    return lambda target: setattr(target, "gain", 1.0)


def _trait(name: str, *, everywhere: bool = False, **functions: Any) -> type[invivo.Trait]:
    members = {**_fields(), "targets": (Voice,), **functions}
    found = type(invivo.Trait)(name.rpartition(".")[2], (invivo.Trait,), members, name=name, everywhere=everywhere)
    return typing.cast(type[invivo.Trait], found)


def best(action: Callable[[int], Any], count: int) -> float:
    """Returns the shortest time of an action in microseconds."""
    found = float("inf")
    for number in range(count):
        begun = time.perf_counter()
        action(number)
        found = min(found, time.perf_counter() - begun)
    return found * 1e6


def define() -> None:
    """A class statement with three fields; beside that of a dataclass with the same fields."""
    import bench

    ours = best(lambda number: _trait(f"bench.Trait{number}", layers=_layers), 200)
    floor = best(lambda number: dataclasses.dataclass(frozen=True)(type("Plain", (), _fields())), 200)
    bench.row("python.trait.define", ours, "us", "a dataclass", floor, "<= 1.2 times", ours <= 1.2 * floor)


def apply() -> None:
    """A reload of a spec file that changes the fields of one trait; beside one that sets the property itself."""
    import bench

    app = invivo.Assembly("bench")
    app.lazy_singleton(Voice)
    with invivo.Runtime(app, log_level="silent") as runtime:
        added = best(lambda number: runtime.add_trait(_trait(f"bench.Added{number}", layers=_layers)), 50)
        plain = best(lambda number: runtime.configure("a", number), 50)
        bench.row("python.trait.add", added, "us", "a reload of one value", plain, "<= 7 times", added <= 7 * plain)
        runtime.add_trait(_trait("bench.Layered", layers=_layers))
        runtime.add_trait(_trait("bench.Applied", apply=_apply))
        voice = runtime[Voice]
        document = runtime.source("bench.yaml", "{}")

        def measured(text: str) -> float:
            def update(number: int) -> None:
                document.update(text % (1 + number % 7))

            found = best(update, 100)
            assert voice.gain > 1
            return found

        floor = measured("traits: {bench.voice: [{Set: {gain: %d}}]}")
        for name, kind in (("layers", "Layered"), ("code", "Applied")):
            value = measured(f"traits: {{bench.voice: [{{bench.{kind}: {{amount: %d}}}}]}}")
            bench.row(f"python.trait.{name}", value, "us", "the trait Set", floor, "<= 2.5 times", value <= 2.5 * floor)


def opening() -> None:
    """Opening a runtime that has 1,000 trait types, for each of them; beside one definition of a class."""
    import bench

    def opened(*assemblies: invivo.Assembly) -> None:
        invivo.Runtime(*assemblies, log_level="silent").close()

    app = invivo.Assembly("bench")
    for number in range(COUNT):
        app.lazy_singleton(type(f"C{number}", (), {}))
    bare = best(lambda _: opened(), 5)
    defined = (best(lambda _: opened(app), 5) - bare) / COUNT
    traits = [_trait(f"bench.Opened{number}", everywhere=True, layers=_layers) for number in range(COUNT)]
    value = (best(lambda _: opened(), 5) - bare) / COUNT
    for each in traits:
        each.remove()
    bench.row("python.open.trait", value, "us", "a definition of a class", defined, "<= once", value <= defined)


def main() -> None:
    define()
    apply()
    opening()
