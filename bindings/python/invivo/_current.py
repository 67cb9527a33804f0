"""The current runtime: what fills marked attributes of objects that no runtime has made."""

from __future__ import annotations

import contextvars
import threading
from typing import TYPE_CHECKING, Any

from ._marks import Injected, filled_by
from ._plans import place_of
from .errors import ClosedError, NotReadyError

if TYPE_CHECKING:
    from ._runtime import Runtime

    Entered = tuple["Runtime", "Entered"] | None

# What a thread or task has entered, the innermost first. A task has what was entered where it was made.
_entered: contextvars.ContextVar[Entered] = contextvars.ContextVar("invivo.current", default=None)
_default: list[Runtime] = []


class _Ends(threading.local):
    """While something ends on a thread, what was entered there is kept here and the context is left alone: a collection
    of garbage may have ended it, in the middle of another change of that context. CPython before 3.12 collects there,
    and then goes on with what the change in between has freed (gh-148891)."""

    depth = 0
    entered: Entered = None


_ends = _Ends()


def _innermost() -> Entered:
    return _ends.entered if _ends.depth else _entered.get()


def _enter(entered: Entered) -> None:
    if _ends.depth:
        _ends.entered = entered
    else:
        _entered.set(entered)


def enter(runtime: Runtime) -> None:
    _enter((runtime, _innermost()))


def leave(runtime: Runtime) -> None:
    """The innermost entry of it; a block that ends elsewhere than it began has none here."""
    _enter(_without(_innermost(), runtime))


def _without(entered: Entered, runtime: Runtime) -> Entered:
    if entered is None:
        return None
    return entered[1] if entered[0] is runtime else (entered[0], _without(entered[1], runtime))


class Entering:
    """A block in which a runtime is the current one."""

    __slots__ = ("runtime",)

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def __enter__(self) -> Runtime:
        enter(self.runtime)
        return self.runtime

    def __exit__(self, *_: object) -> None:
        leave(self.runtime)


class Ending:
    """The same while an object of it ends; a task that is made in there has what was entered around it."""

    __slots__ = ("former", "runtime")

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    def __enter__(self) -> None:
        self.former = _innermost()
        _ends.depth += 1
        _ends.entered = (self.runtime, self.former)

    def __exit__(self, *_: object) -> None:
        _ends.depth -= 1
        _ends.entered = self.former if _ends.depth else None


def set_default(runtime: Runtime | None) -> None:
    """Says which runtime is the current one where none was entered, in every thread; None: none."""
    _default[:] = [] if runtime is None else [runtime]


def ended(runtime: Runtime) -> None:
    """A runtime is closed: it is nobody's default any more."""
    if runtime in _default:
        _default.clear()


def current() -> Runtime:
    """The runtime whose ``with`` block, or `Runtime.entered`, the calling thread or task is in; else the default."""
    entered = _innermost()
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


def _fill(marked: Injected, thing: Any) -> Any:
    """What an attribute gets that is asked for before anybody filled it."""
    from ._core import cores

    for core in list(cores.values()):
        if core.planning and place_of(core.planning) == "plan":
            core.check()  # which gives the plan up: what it makes is the maker's to fill
    try:
        runtime = current()
    except NotReadyError as problem:
        raise NotReadyError(
            f"{type(thing).__name__}.{marked.name} is not injected: make the object by a runtime, or use "
            f"runtime.inject(object); {problem.message}",
            path=marked.name,
        ) from None
    return runtime._inject_one(thing, marked.name)


filled_by.append(_fill)
