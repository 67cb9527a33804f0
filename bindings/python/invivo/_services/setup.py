"""The undo functions of effects, which belong to an object."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .. import _generated as c
from .._classes.callables import check_callback
from .._native import callbacks, signals
from .._objects import belongings
from .._objects.objects import Objects
from ..errors import ArgumentError

_METHODS = {"effect": "effect", "child": "child", "child_make": "make_child"}  # of a runtime, by functions in C


@contextlib.contextmanager
def in_setup(function: str) -> Iterator[None]:
    """Names the method of Python, and not ``function``, in the error for a call outside of a setup."""
    try:
        yield
    except ArgumentError as problem:
        if not problem.message.startswith(f"invivo_{function} was called outside of a setup"):
            raise
        raise ArgumentError(
            f"runtime.{_METHODS[function]}() was called outside of a setup: call it in a method marked by "
            "invivo.on_setup, of the object to which the result belongs, on the thread that runs the method"
        ) from None


class _Item:
    def __init__(self, core: Objects, undo: Callable[[], Any]) -> None:
        self.core, self.undo = core, belongings.kept(undo)


def effect(core: Objects, undo: Callable[[], Any]) -> None:
    """Registers an undo function with the object whose setup runs on the calling thread."""
    check_callback(undo, (), "an undo function")
    number = callbacks.enroll(_Item(core, undo))
    # The library calls it exactly once, also if it refuses it.
    with in_setup("effect"):
        core.library.call("effect", core.handle, _undo.of(core.library), number)


def _dismiss(item: _Item, number: int, error: Any) -> None:
    callbacks.dismiss(number)


def _run(done: list[Any], item: _Item) -> None:
    undo = item.undo()
    if undo is not None:
        signals.run(done, undo)


@callbacks.returns_status(c.invivo_callbacks, "undo", user_data=0, undo=_dismiss, completes=True)
def _undo(done: list[Any], item: _Item, number: int, error: Any) -> None:
    item.core.run_to_end(_run, done, item)
    callbacks.dismiss(number)
