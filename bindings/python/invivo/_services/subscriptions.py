"""Callbacks that the runtime calls until they are closed. Equal ones are one."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from .. import _generated as c
from .._objects import belongings
from .._state.core import Core
from ..errors import HandleError

S = TypeVar("S", bound="Subscription")


class Subscription:
    """A callback of a runtime. It is closed with its runtime, or before."""

    def __init__(self, core: Core, callback: Callable[..., Any], place: Hashable) -> None:
        self.core = core
        self.place = place  # among the subscriptions of the runtime
        self._callback = belongings.kept(callback)
        self._handle = c.invivo_observer()
        self._closing = False

    @property
    def generation(self) -> int:
        """The generation that was current when it was added: it is notified of the commits of later ones."""
        found = ctypes.c_uint64()
        self.core.library.call("observer_generation", self._handle, ctypes.byref(found))
        return found.value

    def calls(self, callback: Callable[..., Any]) -> bool:
        """Whether it is open and calls an equal callback."""
        return bool(self._handle.bits) and not self._closing and self._callback() == callback

    def notify(self, *given: Any) -> None:
        callback = self._callback()
        if callback is not None:
            callback(*given)

    def destroyed(self) -> None:
        self._handle = c.invivo_observer()
        with self.core.subscribing:
            others = self.core.subscriptions.get(self.place, [])
            if self in others:
                others.remove(self)
            if not others:
                self.core.subscriptions.pop(self.place, None)

    def close(self) -> None:
        """After it returns the callback is not called again. May be called again, also after an error."""
        self._closing = True  # an equal callback that comes from here on is another subscription
        if self._handle.bits and not self.core.closed:
            with contextlib.suppress(HandleError):  # another thread has closed it
                self.core.library.call("observer_close", self._handle)
        self._handle = c.invivo_observer()

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def subscribed(core: Core, subject: Hashable, callback: Callable[..., Any], make: Callable[[Hashable], S]) -> S:
    """Returns the open subscription of an equal callback to a subject, for the same owner, or makes one."""
    place = (subject, belongings.owner())
    with core.subscribing:
        for known in core.subscriptions.get(place, []):
            if known.calls(callback):
                return known  # type: ignore[no-any-return]
        made = make(place)
        core.subscriptions.setdefault(place, []).append(made)
    return made
