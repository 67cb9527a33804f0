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


_FIELDS = {name for name, *_ in c.invivo_callbacks._fields_} - {"struct_size"}
_guards: dict[int, dict[str, Any]] = {}  # by the library's table
_guarded: list[Library] = []


def _guard(library: Library) -> dict[str, Any]:
    ours, guards = c.invivo_callbacks(), c.invivo_callbacks()
    ours.struct_size = ctypes.sizeof(ours)
    for name, trampoline in Trampoline.named.items():
        setattr(ours, name, trampoline.thunk)
    with _guarding:
        if library.table not in _guards:
            try:
                library.call("callbacks_guard", ctypes.byref(ours), ctypes.byref(guards))
            except ExistsError:
                raise ExistsError(
                    "another interpreter of this process, or another copy of this package, has the library already: "
                    "there can be one"
                ) from None
            _guards[library.table] = {name: getattr(guards, name) for name in Trampoline.named}
            _guarded.append(library)
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


def item_of(number: int | None) -> Any:
    return _items.get(number) if number else None


def signature(structure: type[ctypes.Structure], field: str) -> Any:
    return {entry[0]: entry[1] for entry in structure._fields_}[field]


def answering(structure: type[ctypes.Structure], field: str, user_data: int) -> Callable[[Callable[..., None]], Any]:
    """A callback that answers a status and takes an error last. Its body gets the item and the C arguments."""

    def wrap(body: Callable[..., None]) -> Any:
        def trampoline(*arguments: Any) -> int:
            try:
                item = _items.get(arguments[user_data])
                if item is None or _over:
                    return c.INVIVO_E_CLOSED
                calling = item.core.calling
                try:
                    calling.append(None)
                    body(item, *arguments)
                    return c.INVIVO_OK
                except BaseException as problem:  # KeyboardInterrupt too: it travels to whoever called
                    failed = problem
                finally:
                    calling.pop()
                # Here again: what was being handled when the library was called.
                try:
                    return int(item.core.library.failures.give(failed, arguments[-1], sys.exc_info()[1]))
                finally:
                    del failed  # which holds this frame
            except BaseException:
                return c.INVIVO_E_INTERNAL

        return Trampoline(structure, field, trampoline)

    return wrap


def leading(structure: type[ctypes.Structure], field: str, user_data: int) -> Callable[[Callable[..., int]], Any]:
    """A callback that answers a number in the place of a pointer; 0 when something goes wrong."""

    def wrap(body: Callable[..., int]) -> Any:
        def trampoline(*arguments: Any) -> int:
            try:
                item = _items.get(arguments[user_data])
                return 0 if item is None or _over else body(item, *arguments)
            except BaseException:
                return 0

        return Trampoline(structure, field, trampoline)

    return wrap


def telling(structure: type[ctypes.Structure], field: str, user_data: int) -> Callable[[Callable[..., None]], Any]:
    """A callback that answers nothing. What goes wrong in it reaches `sys.unraisablehook`."""

    def wrap(body: Callable[..., None]) -> Any:
        def trampoline(*arguments: Any) -> None:
            item = _items.get(arguments[user_data])
            if item is not None and not _over:
                body(item, *arguments)

        return Trampoline(structure, field, trampoline)

    return wrap


def _destroy(user_data: int | None) -> None:
    item = dismiss(user_data)
    done = getattr(item, "destroyed", None)
    if done is not None and not _over:
        done()


# Of everything that has user data: the library is done with it.
destroy = Trampoline(c.invivo_type_options, "destroy", _destroy)


def end() -> None:
    """From now on no callback reaches Python code, and none is on its way when this returns."""
    global _over
    _over = True
    for library in _guarded:
        library.callbacks_end(None)


atexit.register(end)
