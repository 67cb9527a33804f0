"""The C functions that the library calls: one for each signature, with a number from a table as its user data.

They come from any thread, take the GIL themselves, and let nothing escape: an exception becomes the caller's error.
The library is given guards of its own in their place, which do nothing once the interpreter is about to end: a runtime
of a host may outlive it.
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
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from . import _generated as c
from . import _signals, _uncaught
from .errors import ExistsError

if TYPE_CHECKING:
    from ._core import Core
    from ._library import Library


class Item(Protocol):
    """What user data stands for."""

    @property
    def core(self) -> Core: ...


_items: dict[int, Any] = {}
# What an interpreter before this one in the process has left in a runtime must not be taken for something of ours.
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


def enroll(item: Item) -> int:
    """Gives an item a number, which it keeps until `dismiss`."""
    number = next(numbers)
    _items[number] = item
    return number


def dismiss(number: int | None) -> Any:
    return _items.pop(number, None) if number else None


def dismiss_all(core: Core) -> None:
    """A runtime has closed and calls nobody any more: drops what a signal's handler kept from being dismissed."""
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


_cells: _Cells = None  # type: ignore[assignment]  # made when the first library is guarded


def answering(
    structure: type[ctypes.Structure], field: str, user_data: int, *, undo: Callable[..., None] | None = None
) -> Callable[[Callable[..., None]], Any]:
    """A callback that answers a status and takes an error last. Its body gets the item and the C arguments. ``undo``:
    gets the same when the body, or what follows it, has failed."""

    def wrap(body: Callable[..., None]) -> Any:
        def run(cell: Any, *arguments: Any) -> None:
            item = _items.get(arguments[user_data])
            if item is None or _over:
                cell[0] = c.INVIVO_E_CLOSED
                return
            calling = item.core.calling
            try:
                calling.append(None)
                body(item, *arguments)
                cell[0] = c.INVIVO_OK
                return
            except BaseException as problem:  # KeyboardInterrupt too: it travels to whoever called
                failed = problem
            finally:
                calling.pop()
            # Here again: what was being handled when the library was called.
            try:
                _signals.note(failed)
                if undo is not None:
                    undo(item, *arguments)
                cell[0] = item.core.library.failures.give(failed, arguments[-1], sys.exc_info()[1])
            finally:
                del failed  # which holds this frame

        return Trampoline(structure, field, _storing(run, 0))

    return wrap


def leading(structure: type[ctypes.Structure], field: str, user_data: int) -> Callable[[Callable[..., int]], Any]:
    """A callback that answers a number in the place of a pointer; 0 when something goes wrong."""

    def wrap(body: Callable[..., int]) -> Any:
        def run(cell: Any, *arguments: Any) -> int:
            item = _items.get(arguments[user_data])
            answer = 0
            try:
                answer = 0 if item is None or _over else body(item, *arguments)
            except BaseException as problem:
                _signals.note(problem)
            cell[0] = c.INVIVO_OK
            return answer

        return Trampoline(structure, field, _storing(run, 0))

    return wrap


def telling(
    structure: type[ctypes.Structure],
    field: str,
    user_data: int,
    *,
    repeats: bool = False,
    failed: Callable[[Any, BaseException], None] | None = None,
) -> Callable[[Callable[..., None]], Any]:
    """A callback that answers nothing. An exception in it is logged, or given to ``failed`` with the item; what these
    raise reaches `sys.unraisablehook`. ``repeats``: the body is run again from its begin when a signal's handler raises
    in it."""

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
                if _signals.is_kept(problem):
                    raise
                raised = problem
            try:
                if failed is None:
                    _uncaught.report(item.core, raised, sys.exc_info()[1])
                else:
                    failed(item, raised)
            finally:
                del raised  # which holds this frame
            cell[0] = c.INVIVO_OK

        return Trampoline(structure, field, _storing(run, None))

    return wrap


def plain(structure: type[ctypes.Structure], field: str, body: Callable[..., Any]) -> Trampoline:
    """A callback that answers nothing and finds its item by itself. It is run again as with ``repeats``."""

    def run(cell: Any, *arguments: Any) -> None:
        body(*arguments)
        cell[0] = c.INVIVO_OK

    return Trampoline(structure, field, _storing(run, None))


def _storing(run: Callable[..., Any], nothing: int | None) -> Callable[..., Any]:
    """The function that ctypes calls. Nothing that it returns or raises is a status: that is what `run` stores in the
    cell, so that a callback which a signal's handler ended early is not mistaken for one that succeeded."""

    def trampoline(*arguments: Any) -> Any:
        try:
            cell = _cells.cell
            answer = run(cell, *arguments)
            return nothing if answer is None else answer
        except BaseException as problem:
            if _signals.note(problem) or nothing is not None:
                return nothing
            cell[0] = c.INVIVO_OK
            _signals.report(problem)
            raise

    _signals.entries.add(trampoline.__code__)
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
