"""The contexts that code is in: in blocks, and as code of objects that live in contexts.

A task may continue on another thread, and several tasks share one. So Python keeps the contexts in a context variable,
and each call of the library enters them for its own duration. Code that the library calls meanwhile is in the context
of the object to which it belongs, which the library knows.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol

from .. import _generated as c


class Library(Protocol):
    """The functions of a copy of the library that are used here."""

    def untyped(self, name: str) -> Any: ...
    def bare(self, name: str) -> Any: ...


class Session(Protocol):
    """A runtime."""

    @property
    def library(self) -> Library: ...


class Inside(Protocol):
    """A context that code is in."""

    @property
    def core(self) -> Any: ...
    @property
    def bits(self) -> int: ...
    @property
    def is_over(self) -> bool:
        """Whether Python knows that the context has ended."""
        ...

    @property
    def has_ended(self) -> bool: ...
    def note_end(self) -> None: ...


Blocks = tuple[Any, Any]  # the innermost context, an `Inside`, and the others
_blocks: ContextVar[Blocks | None] = ContextVar("invivo.context", default=None)
get_blocks, set_blocks = _blocks.get, _blocks.set


class Home:
    """The context in which an object lives, while its code runs."""

    __slots__ = ("bits", "core", "is_over")

    def __init__(self, core: Any, bits: int) -> None:
        self.core, self.bits, self.is_over = core, bits, False

    @property
    def has_ended(self) -> bool:
        if not self.is_over:
            found = c.invivo_runtime()
            status = self.core.library.bare("context_runtime")(c.invivo_context(self.bits), ctypes.byref(found), None)
            self.is_over = status == c.INVIVO_E_STALE
        return self.is_over or bool(self.core.closed)

    def note_end(self) -> None:
        self.is_over = True


def at_home(core: Any, bits: int, blocks: Blocks | None) -> Blocks | None:
    """Returns what code of an object is in that lives in a context; 0: in none.

    ``blocks``: what the code is in that caused this. Contexts of other runtimes stay.
    """
    others = None if blocks is None else _of_others(core, blocks)
    return (Home(core, bits), others) if bits else others


def _of_others(core: Any, blocks: Blocks) -> Blocks | None:
    kept: list[Any] = []
    left: Blocks | None = blocks
    while left is not None:
        if left[0].core is not core:
            kept.append(left[0])
        left = left[1]
    for each in reversed(kept):
        left = (each, left)
    return left


def innermost(core: Any, *, is_checked: bool) -> Inside | None:
    """Returns the innermost context of a runtime that the caller is in, or None.

    ``is_checked``: the library is asked whether it has ended.
    """
    blocks = get_blocks()
    while blocks is not None:
        found: Inside = blocks[0]
        if found.core is core and not (found.has_ended if is_checked else found.is_over):
            return found
        blocks = blocks[1]
    return None


def call_inside(library: Library, call: Callable[..., None], name: str, arguments: tuple[Any, ...]) -> None:
    """Calls a function of the library. The calling thread is meanwhile in the contexts of its caller.

    The thread leaves them wherever a signal handler raises.
    """
    entered: list[tuple[int, Any]] = []
    left: list[int] = []
    try:
        try:
            _enter(library, entered)
            call(name, *arguments, is_inside=True)
        finally:
            _leave(library, entered, left)
    except BaseException:  # a signal handler may have raised in the block above
        _leave(library, entered, left)
        raise


def _enter(library: Library, entered: list[tuple[int, Any]]) -> None:
    """Enters the innermost open context of each runtime."""
    enter = library.untyped("context_enter")
    blocks, seen = get_blocks(), list[Any]()
    while blocks is not None:
        found: Inside = blocks[0]
        core = found.core
        if core.library is library and not found.is_over and not any(each is core for each in seen):
            word = ctypes.c_uint64(found.bits)
            # Called and noted within one call into C.
            entered.extend(zip(map(enter, (word,), (None,)), (word,), strict=True))
            if entered[-1][0] == c.INVIVO_E_STALE:
                found.note_end()
            else:
                seen.append(core)
        blocks = blocks[1]


def _leave(library: Library, entered: list[tuple[int, Any]], left: list[int]) -> None:
    if not left:
        words = [word for status, word in entered if status == c.INVIVO_OK]
        left.extend(map(library.untyped("context_leave"), words, itertools.repeat(None)))
