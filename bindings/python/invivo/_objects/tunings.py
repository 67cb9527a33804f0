"""Tunable attributes as they were in earlier generations, for views.

A commit sets the attributes of a live object one by one, before its generation becomes visible. Therefore it first
keeps their values, and a view of the former generation reads those. Lists and dicts are changed by single operations,
which are atomic under the GIL. Nothing is locked while attributes are read or set.
"""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from typing import Any, Protocol

from .. import _generated as c
from .._native import views
from .._native.session import Session
from ..errors import NotFoundError
from .entries import Entry, entry_of
from .types import Types


class Reading(Protocol):
    """A view that may be open."""

    generation: int

    views: list[c.invivo_view | None]


class Snapshot:
    """The tunable attributes of an object up to a generation."""

    __slots__ = ("until", "values")

    def __init__(self, until: int, values: dict[str, Any]) -> None:
        self.until, self.values = until, values


class Tunings:
    """The earlier attributes of the objects of one runtime."""

    def __init__(self, core: Session, types: Types) -> None:
        self._core, self._types = core, types
        self._kept: dict[int, list[Snapshot]] = {}  # by the number of the object's entry, the oldest first
        self._used: dict[int, None] = {}  # those with kept attributes
        self.views: dict[int, weakref.ref[Reading]] = {}  # those that may be open

    def opening(self, begun: Reading) -> None:
        """Notes that a view is about to begin: nothing that it may read is dropped from now on."""
        self.views[id(begun)] = weakref.ref(begun)

    def changing(self, number: int) -> None:
        """Keeps the attributes of an object before one of them is set, unless nobody has the object yet."""
        entry = entry_of(number)
        generation = self._generation()
        if entry is None or not generation or not self._is_current(entry, generation):
            return
        kept = self._kept.setdefault(number, [])
        if not kept or kept[-1].until < generation:
            values = held(entry)
            if values is not None:
                kept.append(Snapshot(generation, values))
                self._used[number] = None

    def put_back(self, number: int) -> None:
        """Notes that an attribute was restored. After a commit that failed all of them are as before."""
        entry, kept = entry_of(number), self._kept.get(number)
        if entry is not None and kept:
            values, last = held(entry), kept[-1]
            if values is not None and all(value is last.values.get(name) for name, value in values.items()):
                with contextlib.suppress(ValueError):
                    kept.remove(last)

    def prune(self) -> None:
        """Drops everything that no view can read any more."""
        oldest = self._visible() if self._used else 0
        for number, reference in list(self.views.items()):
            begun = reference()
            if begun is not None and begun.views:
                oldest = min(oldest, begun.generation)
            elif self.views.get(number) is reference:
                self.views.pop(number, None)
        for number in list(self._used):
            # The list stays: a commit may be about to add to it.
            kept = self._kept.get(number, [])
            for each in [each for each in kept if each.until < oldest]:
                with contextlib.suppress(ValueError):  # another thread was faster
                    kept.remove(each)
            if not kept:
                self._used.pop(number, None)
                if kept:
                    self._used[number] = None

    def disposed(self, number: int) -> None:
        """Drops everything about an object that is gone."""
        self._kept.pop(number, None)
        self._used.pop(number, None)

    def _generation(self) -> int:
        """Returns the current generation; 0: the runtime is closed. A view of this thread may have an older one."""
        found, core = ctypes.c_uint64(), self._core
        failed = core.library.runtime_generation(core.handle, ctypes.byref(found), None)
        return 0 if failed else found.value

    def _visible(self) -> int:
        """Returns the generation that this thread reads; 0: the runtime is closed.

        It keeps the GIL. A thread that reads in a loop and releases the GIL each time would delay the other threads:
        CPython asks for a switch only if the GIL was not released for a whole switch interval.
        """
        return views.reading(self._core.library, self._core.handle, _generation_of)

    def _is_current(self, entry: Entry, generation: int) -> bool:
        """Whether others may have the object: the graph shows it, or it existed before the runtime had it."""
        if not entry.key:
            return True
        library = self._core.library

        def is_current(view: c.invivo_view) -> bool:
            if not view.graph:
                return False
            if instance_of(library, view, c.invivo_key(entry.key)) == entry.number:
                return True
            # In a view of this thread the graph is an older one, without objects that were built since.
            return bool(view.graph[0].generation != generation and entry.bits != 0)

        return views.reading(library, self._core.handle, is_current)

    def at(self, entry: Entry, generation: int) -> dict[str, Any] | None:
        """Returns the tunable attributes of an object in a generation, or None if it is gone."""
        kept = self._find(entry.number, generation)
        if kept is None:
            values = held(entry)
            # A commit that began meanwhile has kept them before it set the first one.
            kept = self._find(entry.number, generation)
            if kept is None:
                return values
        return kept

    def _find(self, number: int, generation: int) -> dict[str, Any] | None:
        kept = list(self._kept.get(number, ()))
        return next((each.values for each in kept if each.until >= generation), None)

    def block(self, view: c.invivo_view, key: c.invivo_key, name: str) -> dict[str, Any]:
        """Returns the tunable attributes of a Python object in the generation of a view."""
        number = instance_of(self._core.library, view, key)
        if not number:
            raise NotFoundError(
                "there is no block: no shared instance is built in this generation. Resolve the key first; a "
                "prototype's objects have no block: read their attributes, or keep the values in a singleton",
                path=name,
            )
        record = self._types.by_bits.get(entry_in(view, key).type)
        entry = entry_of(number) if record is not None else None
        values = None
        if entry is not None and entry.record.description.offered:
            values = self.at(entry, int(view.graph[0].generation))
        if values is None:
            what = "its type" if record is None else record.description.cls.__name__
            raise NotFoundError(
                f"there is no block: {what} has no tunable attributes; declare them by invivo.tunable(), or define a "
                "block of values by runtime.define_block()",
                path=name,
            )
        return dict(values)


def _generation_of(view: c.invivo_view) -> int:
    return int(view.graph[0].generation) if view.graph else 0


def held(entry: Entry) -> dict[str, Any] | None:
    """Returns the tunable attributes of an object as they are now."""
    thing = entry.target()
    if thing is None:
        return None
    return {each.name: each.hold(thing) for each in entry.record.description.offered}


def instance_of(library: Any, view: c.invivo_view, key: c.invivo_key) -> int:
    """Returns the built shared instance of a key, as `invivo_view_get` does, or 0."""
    entry = entry_in(view, key)
    if entry is None or not entry.cell:
        return 0
    return entry.cell[0].instance or library.view_get_confined(view, key) or 0


def entry_in(view: c.invivo_view, key: c.invivo_key) -> Any:
    """Returns the entry of a key, as `invivo_view_entry` does."""
    graph, number = view.graph[0], key.bits & 0xFFFFFFFF
    if not key.bits or key.bits >> 32 != graph.owner or number >= graph.count:
        return None
    return graph.chunks[number >> c.INVIVO_CHUNK_SHIFT][number & c.INVIVO_CHUNK_MASK]
