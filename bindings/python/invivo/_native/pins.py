"""Pins: the generation that a thread or task reads.

A task may continue on another thread, and several tasks share one. So a pin of Python belongs to no thread of the
library: the context of the task has it, and each call of the library enters it for its own duration. Code that the
library calls meanwhile is in the pin of the library's thread, if it is in one, and not in that of the context.
"""

from __future__ import annotations

import contextvars
import ctypes
import warnings
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NoReturn, Protocol, TypeVar

from .. import _generated as c
from ..errors import BusyError, StaleError
from .strings import text

T = TypeVar("T")


class Library(Protocol):
    """The functions of a copy of the library that pins use."""

    def address(self, full: str) -> int: ...
    def bare(self, name: str) -> Any: ...
    def call(self, name: str, *arguments: Any) -> None: ...


_pin: contextvars.ContextVar[Pin | None] = contextvars.ContextVar("invivo.pin", default=None)
_get, _set = _pin.get, _pin.set
open_pins: dict[int, Pin] = {}  # those of Python, in any runtime, by their handles
_discard = open_pins.pop

# The source locations where pins and contexts begin, by code (its address, because its hash is slow) and instruction.
# The library keeps pointers to their file names. The code stays, so that no other one gets its address.
_places: dict[tuple[int, int], tuple[Any, bytes, CodeType]] = {}

# The functions that concern the whole runtime, whatever generation their caller reads. A pin is not entered for them:
# it would be a second open pin, which a status lists and a close logs.
_OF_NO_GENERATION = frozenset(
    {
        "changes_commit",
        "rollback",
        "runtime_close",
        "runtime_close_deferred",
        "runtime_inspect",
        "runtime_poll",
        "runtime_reports",
        "runtime_retired",
        "runtime_status",
    }
)


def place_of(frame: FrameType) -> Any:
    """Returns a reference to the source location of a frame, as C has it. It stays valid."""
    code = frame.f_code
    key = id(code), frame.f_lasti
    found = _places.get(key)
    if found is None:
        file = code.co_filename.encode("utf-8", "replace")
        place = c.invivo_place(file, frame.f_lineno or 0, 0)
        found = _places[key] = ctypes.byref(place), file, code
    return found[0]


class Keeper:
    """Keeps and releases generations of one runtime.

    A structure of one word is passed to a function as the word is. A structure for each handle would take most of the
    time of a pin, so handles are integers here.
    """

    __slots__ = ("end", "handle", "hold", "library", "runtime")

    def __init__(self, library: Library, handle: c.invivo_runtime) -> None:
        self.library, self.handle = library, handle
        # Without types of arguments: both arguments are converted already.
        self.hold = ctypes.PYFUNCTYPE(ctypes.c_uint64)(library.address("invivo_pin_hold"))
        self.runtime = ctypes.c_uint64.from_param(handle.bits)
        self.end = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_uint64)(library.address("invivo_pin_end"))

    def refuse(self) -> NoReturn:
        """Raises the error for a pin that does not begin."""
        self.library.call("runtime_generation", self.handle, ctypes.byref(ctypes.c_uint64()))
        raise BusyError("the calling thread has an open view of another generation: end it before it begins a pin")


class Pin:
    """A kept generation: ``with runtime.pinned():`` reads of the block answer from it. See `Runtime.pinned`."""

    __slots__ = ("_around", "_bits", "_keeper", "_outer", "_place")

    # The open blocks, innermost first: the pin around it, and the others. None if there are none; unset before one.
    _around: tuple[Pin | None, Any] | None
    _outer: Pin | None  # when it has ended, the pin around it

    def __init__(self, keeper: Keeper, frame: FrameType) -> None:
        self._keeper = keeper
        found = _places.get((id(frame.f_code), frame.f_lasti))
        self._place = place_of(frame) if found is None else found[0]
        self._bits = 0  # 0: it has not begun

    def __enter__(self) -> Pin:
        if not self._bits:
            return _begin(self)
        around = self._around
        if around is None:
            raise StaleError("the pin has ended: runtime.pinned() begins another one")
        outer = _get()
        try:
            self._around = outer, around
            _set(self)
            return self
        except BaseException:
            self._around = around
            _set(outer)
            raise

    def __exit__(self, *_: object) -> None:
        around = self._around
        try:
            if around is None:
                return
            outer, self._around = around
            self._outer = outer
            if _get() is self:  # otherwise the block ends in another context than it began in, or out of order
                while outer is not None and not outer._around:  # it ended out of order
                    outer = outer._outer
                _set(outer)
            if around[1] is None:
                _discard(self._bits, None)
                self._keeper.end(self._bits)
        except BaseException:  # of a signal handler: all steps can be repeated
            self._around = around
            self.__exit__()
            raise

    @property
    def generation(self) -> int:
        """The generation; 0 if the pin has ended."""
        return int(self._keeper.library.bare("pin_generation")(c.invivo_pin(self._bits))) if self._bits else 0

    def enter(self, inside: c.invivo_pin) -> bool:
        """Lets the calling thread enter the pin until ``inside`` ends. False if the pin has ended."""
        status = self._keeper.library.bare("pin_enter")(c.invivo_pin(self._bits), ctypes.byref(inside), None)
        if status == c.INVIVO_E_BUSY:
            raise BusyError("the calling thread has an open view of another generation: end it before reads in a pin")
        return bool(inside.bits)

    def is_of(self, library: Library) -> bool:
        return self._keeper.library is library


def _begin(pin: Pin) -> Pin:
    """Begins a pin at its first block."""
    around = _get()
    keeper = pin._keeper
    begun: list[int] = []
    try:
        # Called and noted within one call into C: wherever a signal handler raises, the pin is in the list.
        beginning = map(keeper.hold, (keeper.runtime,), (pin._place,))
        if around is None:
            begun.extend(beginning)
        else:  # the same generation
            entered(keeper.library, begun.extend, beginning)
        (bits,) = begun
        pin.__class__ = Pin
        if not bits:
            keeper.refuse()
        pin._around = around, None
        pin._bits = bits
        open_pins[bits] = pin
        _set(pin)
        return pin
    except BaseException:
        for bits in begun:
            _discard(bits, None)
            keeper.end(bits)
        pin._around = None
        _set(around)
        raise


class UnusedPin(Pin):
    """A pin that no block has entered. The first block makes it a `Pin`, whose end costs no call of Python."""

    __slots__ = ()

    __enter__ = _begin

    def __del__(self) -> None:
        if not hasattr(self, "_place"):  # a signal handler raised while it was created
            return
        place = self._place._obj
        warnings.warn_explicit(
            "runtime.pinned() began no pin, because its result was not entered: use it as 'with runtime.pinned():'",
            ResourceWarning,
            text(place.file),
            place.line,
        )


def entered(library: Library, function: Callable[..., T], *arguments: Any, name: str = "") -> T:
    """Calls a function. The calling thread is meanwhile in the pin of its context, if there is one.

    ``name``: the function of the library that is called. If it concerns no generation, the thread is in no pin. The
    thread leaves the pin wherever a signal handler raises.
    """
    pin = _get()
    if pin is None or not pin.is_of(library):
        return function(*arguments)
    inside, end = c.invivo_pin(), library.bare("pin_end")
    try:
        try:
            if name not in _OF_NO_GENERATION:
                pin.enter(inside)  # not if it has ended: the function then reads the current generation
            _set(None)
            return function(*arguments)
        finally:
            _set(pin)
            end(inside)
    except BaseException:  # a signal handler may have raised in the block above
        _set(pin)
        end(inside)  # does nothing if it has ended
        raise


def without_entered(keeper: Keeper, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leaves out the pins by which reads that run now have entered pins of Python.

    ``found``: the open pins of the runtime, the oldest first. Such a pin has the generation and place of the one that
    it was entered from, and is younger.
    """
    own: Counter[tuple[int, str]] = Counter()
    for pin in list(open_pins.values()):
        if pin._keeper is keeper:
            place = pin._place._obj
            own[pin.generation, f"{text(place.file)}:{place.line}"] += 1
    begun = Counter[tuple[int, str]]()
    for each in found:
        begun[each["generation"], each["place"]] += 1
    left = []
    for each in reversed(found):
        of = each["generation"], each["place"]
        if of in own and begun[of] > own[of]:
            begun[of] -= 1
        else:
            left.append(each)
    return left[::-1]


def is_pinned(library: Library) -> bool:
    """Whether the context is in a pin."""
    pin = _pin.get()
    return pin is not None and pin.is_of(library)
