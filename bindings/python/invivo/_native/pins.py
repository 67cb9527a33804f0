"""Pins: the generation that a thread or task reads.

A task may continue on another thread, and several tasks share one. So a pin of Python belongs to no thread of the
library: the context of the task has it, and each call of the library enters it for its own duration. Code that the
library calls meanwhile is in the pin of the library's thread, if it is in one, and not in that of the context.
"""

from __future__ import annotations

import contextvars
import ctypes
from types import CodeType, FrameType
from typing import Any, Protocol

from .. import _generated as c
from ..errors import BusyError, StaleError


class Library(Protocol):
    """The functions of a copy of the library that pins use."""

    @property
    def pin_hold(self) -> Any: ...
    @property
    def pin_end(self) -> Any: ...
    def bare(self, name: str) -> Any: ...
    def call(self, name: str, *arguments: Any) -> None: ...


_pin: contextvars.ContextVar[Pin | None] = contextvars.ContextVar("invivo.pin", default=None)
open_pins: set[int] = set()  # the handles of those of Python, in any runtime

# The source locations where pins begin, by code (its address, because its hash is slow) and instruction. The library
# keeps pointers to their file names. The code stays, so that no other one gets its address.
_places: dict[tuple[int, int], tuple[Any, bytes, CodeType]] = {}


def _place(frame: FrameType) -> Any:
    code = frame.f_code
    key = id(code), frame.f_lasti
    found = _places.get(key)
    if found is None:
        file = code.co_filename.encode("utf-8", "replace")
        place = c.invivo_place(file, frame.f_lineno or 0, 0)
        found = _places[key] = ctypes.byref(place), file, code
    return found[0]


class Pin:
    """A kept generation: ``with runtime.pinned():`` reads of the block answer from it. See `Runtime.pinned`."""

    __slots__ = ("_around", "_bits", "_handle", "_library", "_outer", "_place", "_runtime")

    def __init__(self, library: Library, runtime: c.invivo_runtime, frame: FrameType) -> None:
        self._library, self._runtime = library, runtime
        self._place = _place(frame)
        self._handle: c.invivo_pin | None = None
        self._bits = 0
        self._around: list[Pin | None] = []  # of each block that is open, the pin around it
        self._outer: Pin | None = None  # when it has ended, the pin around it

    def __enter__(self) -> Pin:
        around = _pin.get()
        if self._handle is None:
            self._begin(around)
        elif not self._around:
            raise StaleError("the pin has ended: runtime.pinned() begins another one")
        self._around.append(around)
        _pin.set(self)
        return self

    def _begin(self, around: Pin | None) -> None:
        library = self._library
        if around is None:
            handle = library.pin_hold(self._runtime, self._place)
        else:  # the same generation
            with Entered(library):
                handle = library.pin_hold(self._runtime, self._place)
        bits = handle.bits
        if not bits:
            library.call("runtime_generation", self._runtime, ctypes.byref(ctypes.c_uint64()))
            raise BusyError("the calling thread has an open view of another generation: end it before it begins a pin")
        self._handle, self._bits = handle, bits
        open_pins.add(bits)

    def __exit__(self, *_: object) -> None:
        around = self._outer = self._around.pop()
        if _pin.get() is self:  # otherwise the block ends in another context than it began in, or out of order
            while around is not None and not around._around:  # it ended out of order
                around = around._outer
            _pin.set(around)
        if not self._around:
            open_pins.discard(self._bits)
            self._library.pin_end(self._handle)

    @property
    def generation(self) -> int:
        """The generation; 0 if the pin has ended."""
        return 0 if self._handle is None else int(self._library.bare("pin_generation")(self._handle))

    def enter(self, inside: c.invivo_pin) -> bool:
        """Lets the calling thread enter the pin until ``inside`` ends. False if the pin has ended."""
        status = self._library.bare("pin_enter")(self._handle, ctypes.byref(inside), None)
        if status == c.INVIVO_E_BUSY:
            raise BusyError("the calling thread has an open view of another generation: end it before reads in a pin")
        return bool(inside.bits)

    def is_of(self, library: Library) -> bool:
        return self._library is library


class Entered:
    """A block in which the calling thread is in the pin of its context, if there is one."""

    __slots__ = ("_inside", "_library", "_pin")

    def __init__(self, library: Library) -> None:
        self._library = library
        self._inside = c.invivo_pin()
        self._pin: Pin | None = None

    def __enter__(self) -> None:
        pin = _pin.get()
        if pin is not None and pin.is_of(self._library):
            pin.enter(self._inside)  # not if it has ended: the block then reads the current generation
            self._pin = pin
            _pin.set(None)

    def __exit__(self, *_: object) -> None:
        if self._pin is not None:
            _pin.set(self._pin)
            self._library.bare("pin_end")(self._inside)


def is_pinned(library: Library) -> bool:
    """Whether the context is in a pin."""
    pin = _pin.get()
    return pin is not None and pin.is_of(library)
