"""Leases that Python holds.

Each lease has a cell, which is registered before the library writes the lease into it. Therefore no lease is lost,
whatever a signal handler raises: the code that catches the exception returns it, or the closing runtime does.
"""

from __future__ import annotations

import collections
import ctypes
import threading
from collections.abc import Container
from typing import Any, ClassVar, TypeAlias, TypeVar

from .. import _generated as c
from . import callbacks, signals
from .failures import forget_since, sent
from .library import Library


class ObjectCell(c.invivo_object):
    """Room for an object with a lease."""

    release: ClassVar[str] = "object_release"
    retain: ClassVar[str] = "object_retain"
    bits: int
    number: int  # by which it is registered
    retained: list[int] | None = None  # the result of `retain`, if the library did not write it

    @property
    def is_held(self) -> bool:
        return bool(self.bits) and (self.retained is None or self.retained == [c.INVIVO_OK])


class CallableCell(c.invivo_callable):
    """Room for a callable with a lease."""

    release: ClassVar[str] = "callable_release"
    retain: ClassVar[str] = "callable_retain"
    bits: int
    number: int
    retained: list[int] | None = None

    @property
    def is_held(self) -> bool:
        return bool(self.bits) and (self.retained is None or self.retained == [c.INVIVO_OK])


class ValueCell(c.invivo_value):
    """Room for an owned value."""

    release: ClassVar[str] = "value_clear"
    kind: int
    number: int

    @property
    def is_held(self) -> bool:
        return self.kind >= c.INVIVO_KIND_STRING


Cell: TypeAlias = ObjectCell | CallableCell | ValueCell
C = TypeVar("C", ObjectCell, CallableCell, ValueCell)


class Leases:
    """The leases of one runtime."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._cells: dict[int, Cell] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._cells

    def __len__(self) -> int:
        """How many leases and values there are."""
        return sum(each.is_held for each in list(self._cells.values()))

    def cell(self, kind: type[C]) -> C:
        """A new cell."""
        made = kind()
        made.number = next(callbacks.numbers)
        self._cells[made.number] = made
        return made

    def retain(self, cell: ObjectCell | CallableCell, bits: int) -> bool:
        """Takes another lease of an object or callable into a cell. Returns False if it is gone."""
        cell.retained = []
        cell.bits = bits
        # Called and noted within one call into C.
        cell.retained.extend(map(self._library.bare(cell.retain), (cell,)))
        return cell.is_held

    def forget(self, cell: Cell) -> None:
        """Forgets a lease that has another owner now."""
        self._cells.pop(cell.number, None)

    def drop(self, number: int) -> None:
        """Returns a lease to the library, once.

        The garbage collector calls this too, at any point of any thread: the library's function releases the GIL, and
        no lock of this package is held.
        """
        cell = self._cells.get(number)
        if cell is None:
            return
        if not cell.is_held:
            self._cells.pop(number, None)
            return
        release = self._library.bare(cell.release)
        if threading.get_ident() != signals.main:
            self._give_back(release, number, cell)
        else:
            depth = signals.depth()
            try:
                signals.enter()
                self._give_back(release, number, cell)
            finally:
                signals.leave(depth)
        if sent:
            forget_since()

    def _give_back(self, release: Any, number: int, cell: Cell) -> None:
        try:
            # Taken out and given back within one call into C.
            collections.deque(map(release, map(self._cells.pop, (number,))), 0)
        except KeyError:  # another thread has done it
            pass
        except ctypes.ArgumentError:  # at the limit of recursion, before the call
            self._cells[number] = cell
            raise RecursionError("maximum recursion depth exceeded") from None

    def give_back(self, besides: Container[int] = ()) -> None:
        """Returns all leases, the last one first, so that objects end in reverse order of creation.

        ``besides``: the objects whose leases stay.
        """
        while True:
            try:
                number = next((each for each in reversed(self._cells) if not self._is_of(each, besides)), None)
            except (KeyError, RuntimeError):  # others give some back meanwhile
                continue
            if number is None:
                return
            self.drop(number)

    def _is_of(self, number: int, objects: Container[int]) -> bool:
        cell = self._cells[number]
        return isinstance(cell, ObjectCell) and cell.bits in objects

    def clear(self) -> None:
        """Forgets all leases: they belong to the parent process."""
        self._cells.clear()
