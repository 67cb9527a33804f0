"""The current runtime of a thread or task."""

from __future__ import annotations

from typing import Any, cast

from .._declarations import context
from .runtime import Runtime


def set_default(runtime: Runtime | None) -> None:
    """Sets the runtime that is the current one in every thread where none was entered; None: none."""
    context.set_default(runtime)


def former() -> Any:
    """The object that the one under construction replaces, for a constructor, factory or ``inject`` function.

    It has the same key, runtime arguments and scope instance. None at first creation, for another class, outside of a
    construction, and for objects that are not shared.

    It is for copying: the replacement can still fail, and then the former object stays. It is in use meanwhile, so
    what it collects after the call is lost. State that must not be lost belongs to an object of its own, or the
    definition is exclusive: its former object is stopped before.
    """
    return context.former()


def current() -> Runtime:
    """The runtime whose ``with`` block, or `Runtime.entered`, the calling thread or task is in; else the default."""
    return cast(Runtime, context.current())
