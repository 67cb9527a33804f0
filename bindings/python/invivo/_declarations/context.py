"""The current runtime of a thread or task: it fills marked attributes of objects that no runtime has created."""

from __future__ import annotations

import contextvars
import threading
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from .._native.activity import give_up_plan
from ..errors import ClosedError, NotReadyError


class Filler(Protocol):
    """A runtime that can be the current one."""

    @property
    def closed(self) -> bool: ...

    def _inject_one(self, thing: Any, name: str) -> Any:
        """Fills one marked attribute of an object and returns its value."""
        ...


class Receiver(Protocol):
    """The objects of a runtime."""

    def borrow(self, bits: int) -> Any:
        """Returns the object of a borrowed handle. References of Python do not keep it from ending."""
        ...


R = TypeVar("R", bound=Filler)
Former: TypeAlias = "tuple[Receiver, int] | None"
Entered: TypeAlias = "tuple[Filler, Entered, Former] | None"

# The runtimes that a thread or task has entered, the innermost first. A task inherits those of its creator. An entry
# for the creation of an object has the object that this one replaces, with handle 0 if there is none.
_entered: contextvars.ContextVar[Entered] = contextvars.ContextVar("invivo.current", default=None)
_default: list[Filler] = []


class _Ending(threading.local):
    """The runtimes entered on a thread while an object ends there.

    The context is left alone then: a garbage collection in the middle of another change of that context may have ended
    the object. CPython before 3.12 collects there, and then continues with memory that the change in between has freed
    (gh-148891).
    """

    depth = 0
    entered: Entered = None


_ending = _Ending()


def innermost() -> Entered:
    """Returns the innermost entry of the calling thread or task."""
    return _ending.entered if _ending.depth else _entered.get()


def _enter(entered: Entered) -> None:
    if _ending.depth:
        _ending.entered = entered
    else:
        _entered.set(entered)


def enter(runtime: Filler, former: Former = None) -> None:
    """Makes a runtime the current one. ``former``: for the creation of an object."""
    _enter((runtime, innermost(), former))


def leave(runtime: Filler) -> None:
    """Leaves the innermost entry of a runtime. There is none here if a block ends elsewhere than it began."""
    _enter(_without(innermost(), runtime))


def _without(entered: Entered, runtime: Filler) -> Entered:
    if entered is None:
        return None
    return entered[1] if entered[0] is runtime else (entered[0], _without(entered[1], runtime), entered[2])


class Entering(Generic[R]):
    """A block in which a runtime is the current one."""

    __slots__ = ("former", "runtime")

    def __init__(self, runtime: R, former: Former = None) -> None:
        self.runtime, self.former = runtime, former

    def __enter__(self) -> R:
        enter(self.runtime, self.former)
        return self.runtime

    def __exit__(self, *_: object) -> None:
        leave(self.runtime)


class Ending:
    """The same while an object of the runtime ends. A task that is created in the block does not inherit the entry."""

    __slots__ = ("former", "runtime")

    def __init__(self, runtime: Filler) -> None:
        self.runtime = runtime

    def __enter__(self) -> None:
        self.former = innermost()
        _ending.depth += 1
        _ending.entered = (self.runtime, self.former, None)

    def __exit__(self, *_: object) -> None:
        _ending.depth -= 1
        _ending.entered = self.former if _ending.depth else None


def set_default(runtime: Filler | None) -> None:
    """Sets the runtime that is current where none was entered."""
    _default[:] = [] if runtime is None else [runtime]


def ended(runtime: Filler) -> None:
    """A closed runtime is no longer the default."""
    if runtime in _default:
        _default.clear()


def current() -> Filler:
    """Returns the innermost runtime that the calling thread or task has entered, else the default."""
    entered = innermost()
    if entered is not None:
        if entered[0].closed:
            raise ClosedError("the runtime that was entered here is closed")
        return entered[0]
    if _default:
        return _default[0]
    raise NotReadyError(
        "there is no current runtime: enter one by 'with runtime:' or 'with runtime.entered():', or say a default by "
        "invivo.set_default(runtime)"
    )


def former() -> Any:
    """Returns the object that the one under construction replaces, or None."""
    give_up_plan()  # a build plan creates objects without the library
    entered = innermost()
    while entered is not None and entered[2] is None:
        entered = entered[1]
    if entered is None or entered[2] is None:
        return None
    receiver, bits = entered[2]
    return receiver.borrow(bits) if bits else None


def fill(thing: Any, name: str) -> Any:
    """Fills a marked attribute that is read before a runtime has injected the object. Returns its value."""
    give_up_plan()  # an object that a build plan creates is filled by the library
    try:
        runtime = current()
    except NotReadyError as problem:
        raise NotReadyError(
            f"{type(thing).__name__}.{name} is not injected: make the object by a runtime, or use "
            f"runtime.inject(object); {problem.message}",
            path=name,
        ) from None
    return runtime._inject_one(thing, name)
