"""The trait types that all runners know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import invivo

from . import world
from .build import Wrong


def trait_type(named: str, kind: str, target: str, times: int) -> type[invivo.Trait]:
    """Returns a trait type of a kind."""
    here = world.world

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

    class Added(invivo.Trait, name=named, everywhere=False):
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
