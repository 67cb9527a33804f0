"""Observers of the values of contexts."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from .. import _generated as c
from .._native import callbacks
from .._state.core import Core
from .._values import conversion
from ..errors import NotFoundError, OrphanedError, StaleError
from .subscriptions import Subscription, subscribed

if TYPE_CHECKING:
    import asyncio


class ContextObserver(Subscription):
    """A callback, ``callback(value)``, that is notified when the value of a key changes in a context or above it.

    It is closed with its context, or before.
    """

    def __init__(
        self,
        core: Core,
        context: c.invivo_context,
        key: tuple[str, c.invivo_key],
        callback: Callable[[Any], Any],
        loop: asyncio.AbstractEventLoop | None,
        place: Hashable,
    ) -> None:
        super().__init__(core, callback, place)
        self.key, self._key_handle = key
        self._context = context  # the handle: an observer does not keep a context open
        self._loop = loop
        self._contextvars = None if loop is None else contextvars.copy_context()
        self._is_posted = False
        options = c.invivo_context_observer()
        options.struct_size = ctypes.sizeof(options)
        options.changed = ctypes.cast(_changed.of(core.library), type(options.changed))
        options.user_data = number = callbacks.enroll(self)
        options.destroy = callbacks.destroy.of(core.library)
        try:
            core.library.call(
                "context_observe", context, self._key_handle, ctypes.byref(options), ctypes.byref(self._handle)
            )
        except BaseException:
            callbacks.dismiss(number)
            raise

    def changed(self, value: Any) -> None:
        """Is called on the thread of the change. ``value``: a pointer, NULL if there is none."""
        if self._loop is None:
            self.notify(conversion.read(self.core, value[0]) if value else None)
        elif not self._is_posted:
            self._is_posted = True
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._deliver, context=self._contextvars)

    def _deliver(self) -> None:
        """Is called on the thread of the loop. Reads the newest value."""
        self._is_posted = False
        if self._closing or not self._handle.bits or self.core.closed:
            return
        try:
            value = conversion.ask(self.core, "context_get", self._context, self._key_handle)
        except (NotFoundError, OrphanedError):
            value = None
        except StaleError:  # the context has just ended, and the observer with it
            return
        self.notify(value)


@callbacks.returns_nothing(c.invivo_callbacks, "context_changed", user_data=0)
def _changed(item: ContextObserver, _: int, context: Any, key: Any, value: Any) -> None:
    item.changed(value)


def context_observer(
    core: Core,
    context: c.invivo_context,
    key: tuple[str, c.invivo_key],
    callback: Callable[[Any], Any],
    loop: asyncio.AbstractEventLoop | None,
) -> ContextObserver:
    """Returns an observer of a key: the known one if it calls an equal callback for the same owner."""
    subject = ("context", context.bits, key[0], loop)
    return subscribed(core, subject, callback, lambda place: ContextObserver(core, context, key, callback, loop, place))
