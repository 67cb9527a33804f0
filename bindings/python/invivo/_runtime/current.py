"""The current runtime of a thread or task."""

from __future__ import annotations

import typing
from typing import Any, TypeVar, cast, overload

from .._declarations import context
from ..errors import WrongTypeError
from .runtime import Runtime

T = TypeVar("T")


def set_default(runtime: Runtime | None) -> None:
    """Sets the runtime that is the current one in every thread where none was entered; None: none."""
    context.set_default(runtime)


@overload
def former() -> Any: ...
@overload
def former(cls: type[T], /) -> T | None: ...
def former(cls: type | None = None, /) -> Any:
    """The object that the one under construction replaces, for a constructor, factory or ``inject`` function.

    It has the same key, runtime arguments and scope instance. None at first creation, for another class, outside of a
    construction (also in hooks, such as `on_start` and `on_setup`), and for objects that are not shared. With a class,
    ``former(Hits)``, an object that is no instance of the class gives None, too.

    It is for copying: the replacement can still fail, and then the former object stays. It is in use meanwhile, so
    what it collects after the call is lost. State that must not be lost belongs to an object of its own, or the
    definition is exclusive: its former object is stopped before.
    """
    if cls is None:
        return context.former()
    plain = typing.get_origin(cls) or cls  # Box[int]
    if not isinstance(plain, type):
        raise WrongTypeError(f"former() takes the class of the former object, not {cls!r}")
    found = context.former()
    return found if isinstance(found, plain) else None


def current() -> Runtime:
    """The runtime whose ``with`` block, or `Runtime.entered`, the calling thread or task is in; else the default."""
    return cast(Runtime, context.current())
