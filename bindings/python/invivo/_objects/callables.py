"""Functions of Python that the library holds, and handles of functions of other languages."""

from __future__ import annotations

import ctypes
import types
import weakref
from collections.abc import Callable
from typing import Any

from .. import _generated as c
from .._native import callbacks
from .._native.leases import CallableCell
from .._values import conversion
from .._values.foreign import ForeignCallable
from .._values.handles import Handles
from ..errors import error_class


class Callables:
    """The functions of one runtime."""

    def __init__(self, core: Handles) -> None:
        self._core = core
        self._held: dict[Any, _Item] = {}  # by identity
        self._foreign: weakref.WeakValueDictionary[int, ForeignCallable] = weakref.WeakValueDictionary()

    def lease(self, function: Callable[..., Any], cell: CallableCell) -> CallableCell:
        """Returns a handle for a function, with a lease in the cell."""
        core = self._core
        if isinstance(function, ForeignCallable):
            function._core.check()
            self._retain(cell, function._bits)
            return cell
        known = self._held.get(_identity(function))
        if known is not None and known.bits:
            if core.leases.retain(cell, known.bits):
                return cell
            cell.bits, cell.retained = 0, None
        item = _Item(core, self, function)
        options = c.invivo_callable_options()
        options.struct_size = ctypes.sizeof(options)
        options.name = str(getattr(function, "__qualname__", type(function).__name__)).encode("utf-8", "replace")
        options.invoke = _invoke.of(core.library)
        options.user_data = number = callbacks.enroll(item)
        options.destroy = callbacks.destroy.of(core.library)
        try:
            core.library.call("callable_make", core.handle, ctypes.byref(options), ctypes.byref(cell))
        except BaseException:
            if not cell.is_held:
                callbacks.dismiss(number)
            raise
        item.bits = cell.bits
        self._held[_identity(function)] = item
        return cell

    def receive(self, bits: int) -> Callable[..., Any] | None:
        """Returns the function of a borrowed handle."""
        if not bits:
            return None
        known = self._foreign.get(bits)
        if known is not None:
            return known
        library, handle = self._core.library, c.invivo_callable(bits)
        item = callbacks.item_of(library.callable_user_data(handle, _invoke.of(library)))
        if isinstance(item, _Item):
            return item.function
        cell = self._core.leases.cell(CallableCell)
        try:
            self._retain(cell, bits)
            return self._foreign.setdefault(bits, ForeignCallable(self._core, bits, cell.number))
        except BaseException:
            self._core.drop(cell.number)
            raise

    def forget(self, function: Callable[..., Any], item: _Item) -> None:
        """Forgets a function that the library has dropped."""
        key = _identity(function)
        if self._held.get(key) is item:
            self._held.pop(key, None)

    def _retain(self, cell: CallableCell, bits: int) -> None:
        if not self._core.leases.retain(cell, bits):
            assert cell.retained is not None
            if cell.retained[0]:
                raise error_class(cell.retained[0])(code=cell.retained[0])


class _Item:
    """A function that the library holds."""

    def __init__(self, core: Handles, callables: Callables, function: Callable[..., Any]) -> None:
        self.core, self.callables, self.function = core, callables, function
        self.bits = 0

    def destroyed(self) -> None:
        self.callables.forget(self.function, self)


def _identity(function: Any) -> Any:
    """Returns the identity of a function. Each access to a method creates another object for the same method."""
    if isinstance(function, types.MethodType):
        return id(function.__self__), id(function.__func__)
    return id(function)


@callbacks.returns_status(c.invivo_callable_options, "invoke", user_data=0)
def _invoke(item: _Item, _: int, arguments: Any, count: int, result: Any, error: Any) -> None:
    conversion.answer(item.core, result, item.function(*conversion.read_all(item.core, arguments, count)))
