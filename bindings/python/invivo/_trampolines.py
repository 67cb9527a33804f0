"""The C functions that the library calls: one for each signature, with a number from a table as its user data.

They come from any thread, take the GIL themselves, and let nothing escape: an exception becomes the caller's error.
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from . import _generated as c

if TYPE_CHECKING:
    from ._core import Core


class Item(Protocol):
    """What user data stands for."""

    @property
    def core(self) -> Core: ...


_items: dict[int, Any] = {}
_numbers = itertools.count(1)
_over = False


def enroll(item: Item) -> int:
    """Gives an item a number, which it keeps until `dismiss`."""
    number = next(_numbers)
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
                try:
                    body(item, *arguments)
                    return c.INVIVO_OK
                except BaseException as problem:  # KeyboardInterrupt too: it travels to whoever called
                    return int(item.core.library.failures.give(problem, arguments[-1]))
            except BaseException:
                return c.INVIVO_E_INTERNAL

        return signature(structure, field)(trampoline)

    return wrap


def telling(structure: type[ctypes.Structure], field: str, user_data: int) -> Callable[[Callable[..., None]], Any]:
    """A callback that answers nothing. What goes wrong in it reaches `sys.unraisablehook`."""

    def wrap(body: Callable[..., None]) -> Any:
        def trampoline(*arguments: Any) -> None:
            item = _items.get(arguments[user_data])
            if item is not None and not _over:
                body(item, *arguments)

        return signature(structure, field)(trampoline)

    return wrap


@signature(c.invivo_type_options, "destroy")  # type: ignore[untyped-decorator]
def destroy(user_data: int | None) -> None:
    """Of everything that has user data: the library is done with it."""
    item = dismiss(user_data)
    done = getattr(item, "destroyed", None)
    if done is not None and not _over:
        done()


def end() -> None:
    """From now on no callback reaches Python code."""
    global _over
    _over = True


atexit.register(end)
