"""Notification that an object is about to end, while it is still whole. A weak reference would notify too late."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any, cast

from .._native import signals
from .._native.session import Session, sessions
from . import entries


def _nothing(thing: Any) -> None: ...


def watch(cls: type) -> bool:
    """Gives a class a ``__del__`` that first notifies and then does what its own did. False: it takes none."""
    former = getattr(cls, "__del__", None)
    if getattr(former, "__invivo_former__", _nothing) is not _nothing:
        return True

    def __del__(self: Any) -> None:  # noqa: N807
        _ending(self)
        if former is not None:
            former(self)

    setattr(__del__, "__invivo_former__", former)  # noqa: B010
    try:
        setattr(cls, "__del__", __del__)  # noqa: B010
    except TypeError:
        return False
    return True


def _ending(thing: Any) -> None:
    for each in list(sessions.values()):
        each.ending(thing)


def watch_collector() -> None:
    """Notifies sessions when the garbage collector has run, from the first resource on.

    Not earlier: an exception of a signal handler at the entry of such a callback is lost.
    """
    if _collected not in gc.callbacks:
        gc.callbacks.append(_collected)


def _collected(phase: str, _: object) -> None:
    try:
        if phase == "stop":
            for each in list(sessions.values()):
                each.collected()
    except BaseException as problem:  # the collector drops it
        if not signals.defer(problem):
            raise


class _Probe:
    """Stands in for a session, to measure how often finalizing an object refers to it."""

    def ending(self, thing: Any) -> None:
        entries.finalizer_references = entries.count(SimpleNamespace(strong=thing))


def _probe() -> None:
    class Finalized: ...

    sessions[0, 0] = cast(Session, _Probe())
    watch(Finalized)
    Finalized()
    del sessions[0, 0]


_probe()
