"""Entries: Python objects that a runtime holds."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .._native import callbacks
from ..errors import StaleError
from .types import TypeRecord


class Entry:
    """A Python object that a runtime holds: its instance pointer is the number of the entry.

    Normally the entry keeps the object alive for as long as the runtime has it. If only Python holds a lease, for the
    sake of the object, it is the reverse: the entry is weak, and the lease ends when the object is about to end. If
    anything else still holds the object, it lives on until that is released.
    """

    __slots__ = (
        "applied",
        "bits",
        "end",
        "ended",
        "finalizing",
        "given",
        "held",
        "key",
        "lease",
        "number",
        "record",
        "strong",
        "turn",
        "weak",
    )

    def __init__(self, record: TypeRecord, thing: Any) -> None:
        self.record, self.strong = record, thing
        self.weak: weakref.ref[Any] | None = None
        self.bits = 0
        self.key = 0
        self.lease = 0
        self.turn = [True]  # the thread that takes the element out keeps a lease
        self.ended = False
        self.end: Callable[[BaseException | None], None] | None = (
            None  # ends a resource, with an error that ends its use
        )
        self.held = 0  # how many references to it the resource itself has
        self.finalizing = False  # its finalizer is running
        self.given: dict[str, tuple[Any, Any, Any]] | None = None  # values of spec files, by attribute: see `reading`
        self.applied: list[Callable[[], int]] = []  # the references to it of the applied traits that are suspended
        self.number = next(callbacks.numbers)

    def target(self) -> Any:
        """Returns the object, or None if it is gone."""
        thing = self.strong
        return thing if thing is not None or self.weak is None else self.weak()

    def finish(self, raised: BaseException | None = None) -> None:
        """Ends a resource, once. ``raised``: the error that ended the context in which it lives."""
        end, self.end = self.end, None
        if end is not None:
            end(raised)

    def references(self) -> int:
        """Returns how many references Python has to the object, without those of the entry and of its traits."""
        if self.strong is None:
            return 0 if self.target() is None else sys.maxsize
        own = finalizer_references if self.finalizing else _OWN_REFERENCES
        return max(0, count(self) - own - sum(references() for references in self.applied))


def count(entry: Entry | SimpleNamespace) -> int:
    """Returns the reference count of the object."""
    return sys.getrefcount(entry.strong)


# The count of an object to which only an entry refers.
_OWN_REFERENCES = count(SimpleNamespace(strong=object()))
# The same while the finalizer of the object runs, measured by `finalizers`. Other threads may refer to it again.
finalizer_references = 0
entries: dict[int, Entry] = {}  # by number


def entry_of(number: int | None) -> Entry | None:
    """Returns the entry with a number."""
    return entries.get(number) if number else None


def instance(number: int | None) -> Any:
    """Returns the object of an instance pointer."""
    entry = entry_of(number)
    thing = entry.target() if entry is not None else None
    if thing is None:
        raise StaleError("the Python object is gone")
    return thing
