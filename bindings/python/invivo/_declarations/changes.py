"""How an object follows changes of its dependencies."""

from __future__ import annotations

from typing import Any, Literal

from .. import _generated as c
from ..errors import ArgumentError

OnChange = Literal["follow", "keep", "rebuild", "refuse"]

_VALUES = {
    "follow": c.INVIVO_ON_CHANGE_FOLLOW,
    "keep": c.INVIVO_ON_CHANGE_KEEP,
    "rebuild": c.INVIVO_ON_CHANGE_REBUILD,
    "refuse": c.INVIVO_ON_CHANGE_REFUSE,
}
_FLAGS = {
    "follow": c.INVIVO_INJECT_FOLLOW,
    "keep": c.INVIVO_INJECT_KEEP,
    "rebuild": c.INVIVO_INJECT_REBUILD,
    "refuse": c.INVIVO_INJECT_REFUSE,
}

"""The flags of an injection as a whole."""
WHOLE_FLAGS = (
    c.INVIVO_INJECT_KEEP
    | c.INVIVO_INJECT_REBUILD
    | c.INVIVO_INJECT_REFUSE
    | c.INVIVO_INJECT_FOLLOW
    | c.INVIVO_INJECT_OWNS
)


def _checked(declared: str) -> str:
    if declared not in _VALUES:
        raise ArgumentError(f"on_change is one of {', '.join(map(repr, _VALUES))}, not {declared!r}")
    return declared


def on_change_value(declared: OnChange | None) -> int:
    """Returns the value for a definition."""
    return c.INVIVO_ON_CHANGE_DEFAULT if declared is None else _VALUES[_checked(declared)]


def whole_flags(declared: Any) -> int:
    """Returns the flags that a mark or a part of a recipe declares for an injection as a whole."""
    on_change = getattr(declared, "on_change", None)
    flags = 0 if on_change is None else _FLAGS[_checked(on_change)]
    return flags | (c.INVIVO_INJECT_OWNS if getattr(declared, "owns", False) else 0)
