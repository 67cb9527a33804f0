"""Data of the runtime in an object of the program: the garbage collector finds it there, and nothing shows it.

A table of the package would hold it from outside: an object whose reversal refers to the object would never end.
Therefore the `__dict__` of the object becomes a subclass of dict with a slot. Its content stays the same for `vars`,
comparisons and copies. It is a plain dict again when nothing is kept any more.
"""

from __future__ import annotations

import collections
import sys
from collections.abc import Callable
from typing import Any


class _Attributes(dict[str, Any]):
    """The attributes of an object that keeps something. Copies of them are plain dicts."""

    __slots__ = ("kept",)
    kept: dict[int, Any]

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def keep(thing: Any, number: int, value: Any) -> bool:
    """Keeps a value in an object, by a number. It may be repeated. False: the object cannot keep it."""
    if not isinstance(_attributes_of(thing), _Attributes):
        _exchange(thing, dict, _Attributes)
    attributes = _attributes_of(thing)
    if not isinstance(attributes, _Attributes):
        return False
    if not hasattr(attributes, "kept"):
        attributes.kept = {}
    attributes.kept[number] = value
    return True


def kept(thing: Any, number: int) -> Any:
    """Returns a value that an object keeps, or None."""
    return getattr(_attributes_of(thing), "kept", {}).get(number)


def drop(thing: Any, number: int) -> None:
    """Drops a value that an object keeps, if there is one."""
    attributes = _attributes_of(thing)
    if isinstance(attributes, _Attributes):
        values = getattr(attributes, "kept", {})
        values.pop(number, None)
        del attributes
        if not values:
            _exchange(thing, _Attributes, dict)


def _attributes_of(thing: Any) -> Any:
    """Returns the attributes of an object, also if its class has other code for that; None: it has none."""
    try:
        return object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):
        return None


def _references(thing: Any) -> int:
    """Returns how many references there are to the attributes of an object."""
    return sys.getrefcount(_attributes_of(thing))


class _Probe: ...


_alone = _references(_Probe())


def _exchange(thing: Any, former: type[dict[str, Any]], kind: Callable[[Any], dict[str, Any]]) -> None:
    """Exchanges the dict of an object for a copy, unless something else refers to it, as an object that shares it."""
    if type(_attributes_of(thing)) is not former or _references(thing) > _alone:
        return
    try:
        # One call into C: no other thread can set an attribute in between.
        copied = map(kind, map(object.__getattribute__, (thing,), ("__dict__",)))
        collections.deque(map(object.__setattr__, (thing,), ("__dict__",), copied), maxlen=0)
    except (AttributeError, TypeError):
        pass  # its class does not permit it
