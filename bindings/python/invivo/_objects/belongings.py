"""Functions that belong to an object of Python, because its setup has registered them.

The object itself keeps them, so that the garbage collector finds cycles through them.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from .._declarations import context

F = TypeVar("F", bound=Callable[..., Any])
_KEPT = "__invivo_kept__"
_numbers = itertools.count()


class Entry(Protocol):
    """An object of Python in the library."""

    def target(self) -> Any:
        """Returns the object, also while it ends; None when it is gone."""
        ...


class _Running(threading.local):
    """The object whose setup runs on the thread."""

    entry: Entry | None = None
    entered: Any = None


_running = _Running()


@contextlib.contextmanager
def setting_up(entry: Entry | None) -> Iterator[None]:
    """Runs the setup of an object. The functions of its former setup have been undone."""
    thing = None if entry is None else entry.target()
    keeps = hasattr(thing, "__dict__")
    if keeps:
        thing.__dict__.pop(_KEPT, None)
    former = _running.entry, _running.entered
    _running.entry, _running.entered = entry if keeps else None, context.innermost()
    try:
        yield
    finally:
        _running.entry, _running.entered = former


def owner() -> Entry | None:
    """Returns the object whose setup runs; what it registers belongs to it."""
    entry = _running.entry
    return entry if context.innermost() is _running.entered else None


def kept(function: F) -> Callable[[], F | None]:
    """Returns a reference to a function. If a setup runs, its object keeps the function; None when that is gone.

    The reference is not a weak one: the collector clears these before an object of a cycle ends.
    """
    # An object that the setup creates or uses enters the runtime once more: its functions are its own.
    entry = owner()
    if entry is None:
        return lambda: function
    number = next(_numbers)
    entry.target().__dict__.setdefault(_KEPT, {})[number] = function
    return lambda: getattr(entry.target(), "__dict__", {}).get(_KEPT, {}).get(number)
