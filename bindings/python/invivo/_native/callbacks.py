"""The C functions that the library calls: one for each signature, with a number from a table as its user data.

Callbacks come from any thread and take the GIL themselves. No exception escapes: it becomes the error of the caller.
The library is given guards of its own instead of these functions. The guards do nothing once the interpreter is about
to end, because a runtime of a host may outlive the interpreter.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from .. import _generated as c
from ..errors import ExistsError
from . import activity, signals, uncaught
from .library import Library


class Caller(uncaught.Reporter, Protocol):
    """A runtime whose library calls Python."""

    @property
    def activity(self) -> activity.Activity: ...


class Item(Protocol):
    """The Python object behind user data."""

    @property
    def core(self) -> Caller: ...


_items: dict[int, Any] = {}

# Numbers that an earlier interpreter of the process has left in a runtime must not be mistaken for those of this one.
numbers = itertools.count(time.monotonic_ns())
_over = False


class Trampoline:
    """A function of Python for the library."""

    named: ClassVar[dict[str, Trampoline]] = {}

    def __init__(self, structure: type[ctypes.Structure], field: str, function: Callable[..., Any]) -> None:
        self.field = field
        self.thunk = signature(structure, field)(function)
        if field in _FIELDS:
            Trampoline.named[field] = self

    def of(self, library: Library) -> Any:
        """Its guard in a copy of the library."""
        guards = _guards.get(library.table)
        return (_guard(library) if guards is None else guards)[self.field]


_FIELDS = {name for name, *_ in c.invivo_callbacks._fields_} - {"struct_size", "cell"}
_guards: dict[int, dict[str, Any]] = {}  # by the library's table
_guarded: list[Library] = []


def _guard(library: Library) -> dict[str, Any]:
    global _cells
    ours, guards = c.invivo_callbacks(), c.invivo_callbacks()
    ours.struct_size = ctypes.sizeof(ours)
    for name, trampoline in Trampoline.named.items():
        setattr(ours, name, trampoline.thunk)
    with _guarding:
        if library.table not in _guards:
            # One cell a thread serves all copies of the library.
            first = _guarded[0] if _guarded else library
            ours.cell = signature(c.invivo_callbacks, "cell")(first.address("invivo_callbacks_cell"))
            try:
                library.call("callbacks_guard", ctypes.byref(ours), ctypes.byref(guards))
            except ExistsError:
                raise ExistsError(
                    "another interpreter of this process, or another copy of this package, has the library already: "
                    "there can be one"
                ) from None
            _guards[library.table] = {name: getattr(guards, name) for name in Trampoline.named}
            _guarded.append(library)
            if _cells is None:
                _cells = _Cells()
    return _guards[library.table]


_guarding = threading.Lock()


def _forked() -> None:
    """In a forked child another thread may have held the lock."""
    global _guarding
    _guarding = threading.Lock()


os.register_at_fork(after_in_child=_forked)


def enroll(item: Item, number: int = 0) -> int:
    """Gives an item a number, which it keeps until `dismiss`. ``number``: a new one of `numbers`."""
    number = number or next(numbers)
    _items[number] = item
    return number


def dismiss(number: int | None) -> Any:
    return _items.pop(number, None) if number else None


def dismiss_all(core: Caller) -> None:
    """Dismisses the items of a closed runtime, which calls no callback any more. An exception of a signal handler may
    have prevented that.
    """
    for number, item in list(_items.items()):
        if item.core is core:
            dismiss(number)


def item_of(number: int | None) -> Any:
    return _items.get(number) if number else None


def signature(structure: type[ctypes.Structure], field: str) -> Any:
    return {entry[0]: entry[1] for entry in structure._fields_}[field]


class _Cells(threading.local):
    """Where the library looks for the status of this thread's callback."""

    def __init__(self) -> None:
        self.cell = _guarded[0].callbacks_cell()


_cells: _Cells = None  # type: ignore[assignment]  # created when the first library is guarded


def returns_status(
    structure: type[ctypes.Structure],
    field: str,
    user_data: int,
    *,
    undo: Callable[..., None] | None = None,
    completes: bool = False,
    is_located: bool = False,
) -> Callable[[Callable[..., None]], Any]:
    """Declares a callback that returns a status and takes an error last.

    Its body gets the item and the C arguments. ``undo`` gets the same if the body, or the code that follows it, has
    failed. ``completes``: the body gets a list before them, see `signals.complete`. ``is_located``: the error of an
    exception that is no refusal has the source location of the code.
    """

    def wrap(body: Callable[..., None]) -> Any:
        def run(cell: Any, *arguments: Any) -> None:
            item = _items.get(arguments[user_data])
            if item is None or _over:
                cell[0] = c.INVIVO_E_CLOSED
                return
            calling = item.core.activity.calling
            done: list[Any] = []
            try:
                calling.append(None)
                if completes:
                    signals.complete(body, done, item, *arguments)
                else:
                    body(item, *arguments)
                cell[0] = c.INVIVO_OK
                return
            except BaseException as problem:  # KeyboardInterrupt too: it reaches the caller
                if completes and not signals.has_begun(problem, done) and signals.note(problem):
                    if done:
                        cell[0] = c.INVIVO_OK
                    return  # otherwise nothing is stored: the library calls this again
                failed = problem
            finally:
                calling.pop()
            # Here the exception that was being handled when the library was called is current again.
            try:
                signals.note(failed)
                if undo is not None:
                    undo(item, *arguments)
                cell[0] = item.core.library.failures.give(
                    failed, arguments[-1], sys.exc_info()[1], is_located=is_located
                )
            finally:
                del failed  # which holds this frame

        activity.bodies.add(run.__code__)
        return Trampoline(structure, field, _storing(run, 0))

    return wrap


def returns_number(
    structure: type[ctypes.Structure], field: str, user_data: int
) -> Callable[[Callable[..., int]], Any]:
    """Declares a callback that returns a number instead of a pointer; 0 after an error."""

    def wrap(body: Callable[..., int]) -> Any:
        def run(cell: Any, *arguments: Any) -> int:
            item = _items.get(arguments[user_data])
            answer = 0
            try:
                answer = 0 if item is None or _over else body(item, *arguments)
            except BaseException as problem:
                signals.note(problem)
            cell[0] = c.INVIVO_OK
            return answer

        return Trampoline(structure, field, _storing(run, 0))

    return wrap


def returns_nothing(
    structure: type[ctypes.Structure],
    field: str,
    user_data: int,
    *,
    repeats: bool = False,
    failed: Callable[[Any, BaseException], None] | None = None,
) -> Callable[[Callable[..., None]], Any]:
    """Declares a callback that returns nothing.

    An exception in it is logged, or given to ``failed`` with the item. An exception of these reaches
    `sys.unraisablehook`. ``repeats``: the body runs again from its beginning when a signal handler raises in it.
    """

    def wrap(body: Callable[..., None]) -> Any:
        def run(cell: Any, *arguments: Any) -> None:
            item = _items.get(arguments[user_data])
            if not repeats:
                cell[0] = c.INVIVO_OK
            if item is None or _over:
                cell[0] = c.INVIVO_OK
                return
            try:
                body(item, *arguments)
                cell[0] = c.INVIVO_OK
                return
            except BaseException as problem:
                if signals.is_kept(problem):
                    raise
                raised = problem
            try:
                if failed is None:
                    uncaught.report(item.core, raised, sys.exc_info()[1])
                else:
                    failed(item, raised)
            finally:
                del raised  # which holds this frame
            cell[0] = c.INVIVO_OK

        return Trampoline(structure, field, _storing(run, None))

    return wrap


def plain(structure: type[ctypes.Structure], field: str, body: Callable[..., Any]) -> Trampoline:
    """Declares a callback that returns nothing and finds its item itself. It runs again as with ``repeats``."""

    def run(cell: Any, *arguments: Any) -> None:
        body(*arguments)
        cell[0] = c.INVIVO_OK

    return Trampoline(structure, field, _storing(run, None))


def _storing(run: Callable[..., Any], nothing: int | None) -> Callable[..., Any]:
    """Returns the function that ctypes calls.

    Its result is never a status. The status is what `run` stores in the cell, so that a callback which a signal handler
    ended early is not mistaken for one that succeeded.
    """

    def trampoline(*arguments: Any) -> Any:
        try:
            cell = _cells.cell
            answer = run(cell, *arguments)
            return nothing if answer is None else answer
        except BaseException as problem:
            if signals.note(problem) or nothing is not None:
                return nothing
            cell[0] = c.INVIVO_OK  # pyright: ignore[reportPossiblyUnboundVariable]
            signals.report(problem)
            raise

    signals.entries.add(trampoline.__code__)
    return trampoline


def _destroy(user_data: int | None) -> None:
    item = _items.get(user_data) if user_data else None
    done = getattr(item, "destroyed", None)
    if done is not None and not _over:
        done()
    dismiss(user_data)


# Of everything that has user data: the library is done with it.
destroy = plain(c.invivo_type_options, "destroy", _destroy)


def end() -> None:
    """From now on no callback reaches Python code, and none is on its way when this returns."""
    global _over
    _over = True
    for library in _guarded:
        library.callbacks_end(None)


atexit.register(end)
