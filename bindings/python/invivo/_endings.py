"""Hearing that an object is about to end, while it is still whole: a weak reference would tell only afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def nobody(thing: Any) -> None: ...


heard_by: Callable[[Any], None] = nobody


def watch(cls: type) -> bool:
    """Gives a class a ``__del__`` that tells first and then does what the class's own did. False: it takes none."""
    former = getattr(cls, "__del__", None)
    if getattr(former, "__invivo_former__", nobody) is not nobody:
        return True

    def __del__(self: Any) -> None:  # noqa: N807
        heard_by(self)
        if former is not None:
            former(self)

    setattr(__del__, "__invivo_former__", former)  # noqa: B010
    try:
        setattr(cls, "__del__", __del__)  # noqa: B010
    except TypeError:
        return False
    return True
