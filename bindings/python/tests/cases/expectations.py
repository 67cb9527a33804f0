"""What cases expect, and what they say beforehand of events."""

from __future__ import annotations

import gc
import time
from typing import Any

import invivo

from . import world
from .assemblies import Assemblies
from .build import Names, Wrong
from .script import Line, Word


class Expectations:
    patience = 20.0  # seconds to wait for expected events
    case: Any
    names: Names
    assemblies: Assemblies
    runtime: invivo.Runtime
    runtimes: dict[str, invivo.Runtime]
    open: invivo.Changes | None
    view: invivo.View | None
    places: dict[str, int]
    failed: Any

    def run(self, line: Line) -> None: ...

    # ---- events ------------------------------------------------------------------------------------------

    def do_hold(self, line: Line, event: Word) -> None:
        rule = world.world.rule(event.event)
        rule.holds, rule.arrived = True, 0

    def do_await(self, line: Line, event: Word) -> None:
        here = world.world
        with here.changed:
            rule = here.rule(event.event)
            here.wait(lambda: rule.arrived > 0)

    def do_let(self, line: Line, event: Word) -> None:
        here = world.world
        with here.changed:
            here.rule(event.event).holds = False
            here.changed.notify_all()

    def do_meet(self, line: Line, event: Word, many: Word) -> None:
        rule = world.world.rule(event.event)
        rule.meets, rule.arrived = int(many.text), 0

    def do_slow(self, line: Line, event: Word, milliseconds: Word) -> None:
        world.world.rule(event.event).takes = int(milliseconds.text) / 1000

    def do_fail(self, line: Line, event: Word, *_: Word) -> None:
        times = line.labelled("times")
        world.world.rule(event.event).fails = int(times) if times is not None else -1

    def do_mend(self, line: Line, event: Word) -> None:
        world.world.rule(event.event).fails = 0

    # ---- what is expected --------------------------------------------------------------------------------

    def compare(self, found: list[str], words: tuple[Word, ...], *, ordered: bool = True) -> None:
        expected = [each.event for each in words]
        # A thread of the runtime may be the one that checks the references to a retired object, and stops it.
        with world.world.changed:
            world.world.changed.wait_for(lambda: len(found) >= len(expected), self.patience)
        there = list(found)
        found.clear()
        if not ordered:
            there, expected = sorted(there), sorted(expected)
        if there != expected:
            raise Wrong(f"what is expected\n    {' '.join(expected)}\nwhat came\n    {' '.join(there)}")

    def do_log(self, line: Line, *events: Word) -> None:
        self.compare(world.world.heard, events)

    def do_log_in_any_order(self, line: Line, *events: Word) -> None:
        self.compare(world.world.heard, events, ordered=False)

    def do_disposed(self, line: Line, *types: Word) -> None:
        gc.collect()
        self.compare(world.world.gone, types)

    def do_warns(self, line: Line, *words: Word) -> None:
        found, expected = world.world.warned, [word.text for word in words]
        if len(found) != len(expected) or any(part not in text for part, text in zip(expected, found, strict=True)):
            raise Wrong(f"the warnings are {found}, not {expected}")

    def do_report(self, line: Line, *words: Word) -> None:
        texts = [each.text for each in words]
        expected = sorted(f"{key} {what}" for key, what in zip(texts[::2], texts[1::2], strict=True))
        if expected != world.world.reported:
            raise Wrong(f"the report says something else: {world.world.reported}, not {expected}")

    def do_alive(self, line: Line, many: Word, *types: Word) -> None:
        alive = world.world.alive
        limit = time.monotonic() + 1
        while True:
            gc.collect()
            count = sum(alive[each.text] for each in types) if types else sum(alive.values())
            # The thread that has stopped an object refers to it until its callback has returned.
            if count == int(many.text) or time.monotonic() > limit:
                break
        if count != int(many.text):
            raise Wrong(f"{count} are alive: {+alive}")

    def objects(self, words: tuple[Word, ...]) -> list[Any]:
        found = [self.names.at(each.text) for each in words]
        for each, word in zip(found, words, strict=True):
            if not isinstance(each, world.Thing):
                raise Wrong(f"{word.text} is {each!r}, no object")
        return found

    def do_same(self, line: Line, *words: Word) -> None:
        if len({id(each) for each in self.objects(words)}) != 1:
            raise Wrong("they are different objects")

    def do_different(self, line: Line, *words: Word) -> None:
        if len({id(each) for each in self.objects(words)}) != len(words):
            raise Wrong("some are the same object")

    def do_is(self, line: Line, path: Word, value: Word) -> None:
        found, wanted = self.names.at(path.text), self.names.value(value)
        if not equal(found, wanted):
            raise Wrong(f"{path.text} is {found!r}, not {wanted!r}")

    def items(self, path: Word) -> list[Any]:
        found = self.names.at(path.text)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def do_types(self, line: Line, path: Word, *types: Word) -> None:
        self.compare([type(each).__name__ for each in self.items(path)], types)

    def do_distinct(self, line: Line, path: Word, many: Word) -> None:
        count = len({id(each) for each in self.items(path)})
        if count != int(many.text):
            raise Wrong(f"{count} are distinct")

    def do_size(self, line: Line, path: Word, many: Word) -> None:
        found = self.names.at(path.text)
        if len(found) != int(many.text):
            raise Wrong(f"{path.text} has {len(found)} items")

    def do_state(self, line: Line, key: Word, *words: Word) -> None:
        found = [[each.state, *each.waits] for each in self.runtime.states if each.key == key.text]
        wanted = [each.text for each in words]
        if (found[0] if found else []) != wanted:
            raise Wrong(f"{key.text} is {found}, not {wanted}")

    def do_listed(self, line: Line, key: Word, *words: Word) -> None:
        found = []
        for each in self.runtime.wiring:
            if each.key == key.text:
                needs = sorted(need.key for need in each.needs)
                found = ["alias", each.alias] if each.alias else [each.type, each.scope, *needs]
        self.compare([str(each) for each in found], words)


def equal(one: Any, other: Any) -> bool:
    """Numbers are equal whatever their kinds; a truth value is no number."""
    if isinstance(one, (set, frozenset)) and isinstance(other, list):  # Python's own, of which the cases know lists
        one = list(one)
    if isinstance(one, (list, tuple)) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(each, other[name]) for name, each in one.items())
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other
    return type(one) is type(other) and (one is other if isinstance(one, world.Thing) else one == other)
