"""Processors as they are described: functions that change definitions, or replace objects when they are created."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from .._classes.annotations import hints_of
from .._classes.callables import check_callback
from .._values.fields import dataclass
from ..errors import ArgumentError, WrongTypeError
from .definitions import plain_class


@dataclass(frozen=True, eq=False)
class Processor:
    """A processor. ``what`` decorates (a function, or the key of a component); ``visit`` is called with definitions."""

    name: str
    what: Callable[..., Any] | str | None
    visit: Callable[..., Any] | None
    key: str | None
    type: type | str | None
    priority: int
    method: str | None = None

    def moved(self, old: str, new: str) -> Processor:
        """The same in an assembly of another name."""

        def renamed(name: str | None) -> str | None:
            return new + name[len(old) :] if name is not None and name.startswith(f"{old}.") else name

        what = renamed(self.what) if isinstance(self.what, str) else self.what
        return dataclasses.replace(self, name=renamed(self.name) or "", what=what, key=renamed(self.key))


def decorator(
    what: Callable[..., Any] | str,
    *,
    key: str | None = None,
    type: type | str | None = None,
    name: str | None = None,
    priority: int = 0,
    method: str | None = None,
    home: str = "",
) -> Processor:
    """Describes a decorator. Without ``key`` and ``type`` the annotation of the parameter selects the objects."""
    if isinstance(what, str):
        return Processor(name or f"decorator {what}", what, None, key, type, priority, method)
    if method is not None:
        raise ArgumentError("a method is called on a component: say its key in the place of the function")
    if not callable(what):
        raise WrongTypeError(f"a function, or the key of a component, decorates, not {what!r}")
    check_callback(what, ("object",), "a decorator")
    if key is None and type is None:
        type = _first_class(what)
    return Processor(_named(what, name, home), what, None, key, type, priority)


def visitor(
    visit: Callable[..., Any],
    *,
    key: str | None = None,
    type: type | str | None = None,
    name: str | None = None,
    priority: int = 0,
    home: str = "",
) -> Processor:
    """Describes a function that visits definitions."""
    check_callback(visit, ("described",), "a processor of definitions")
    return Processor(_named(visit, name, home), None, visit, key, type, priority)


def _named(what: Callable[..., Any], name: str | None, home: str) -> str:
    if name is not None:
        return name
    own = str(getattr(what, "__qualname__", None) or type(what).__name__)
    return f"{home}.{own.rpartition('.')[2]}" if home else own


def _first_class(what: Callable[..., Any]) -> type | None:
    try:
        first = next(iter(inspect.signature(what).parameters), None)
    except (TypeError, ValueError):
        return None
    target = what.__init__ if isinstance(what, type) else what  # type: ignore[misc]
    found = plain_class(hints_of(target).get(first or ""))
    return None if found in (object, Any) else found
