"""The state behind one open runtime."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable, Hashable
from typing import Any

from .. import _generated as c
from .._assemblies.active import ActiveAssemblies
from .._assemblies.processors import Processor
from .._native import callbacks, signals
from .._native.failures import forget_sent
from .._native.library import Library
from .._native.session import sessions
from .._objects.objects import Objects
from .._objects.registration import register
from ..errors import Error
from .build_plans import Plans


class Core(Objects):
    """The objects of a runtime, its assemblies and build plans, and the life cycle of all of them."""

    def __init__(self, library: Library, *, fills_marked: bool = True) -> None:
        super().__init__(library, register)
        self.fills_marked = fills_marked  # whether attributes that are marked for injection are filled
        self.epoch = 0  # counts events that outdate resolved objects; odd while a commit becomes visible
        self.plans = Plans(self, lambda: self.epoch)
        self.active = ActiveAssemblies(self)
        self.processors: dict[str, Processor] = {}  # those of Python, by name
        self.subscriptions: dict[Hashable, list[Any]] = {}  # by what they observe and their owner
        self.subscribing = threading.RLock()  # guards them
        self._is_closing = False
        self._missed: dict[str, Callable[[], bool]] = {}  # changes that a close under way has refused, by name

    def purge(self) -> None:
        """Drops resolved objects, and build plans that are outdated."""
        self.plans.purge()
        for each in list(self.runtimes):
            each.purge()

    def generation(self) -> int:
        """Returns the number of the current generation."""
        found = ctypes.c_uint64()
        self.library.call("runtime_generation", self.handle, ctypes.byref(found))
        return found.value

    def outdate(self) -> None:
        """Notes that the meaning of a class or name has changed, or changes with the next commit."""
        self.epoch += 2
        self.purge()

    def forked(self) -> None:
        super().forked()
        self.plans.forked()
        for each in list(self.runtimes):
            each.forked()

    def close(self) -> None:
        """Closes the runtime, or leaves one that this package has not opened. Its proxies and callables then raise.

        In a forked child it does nothing.
        """
        if self.closed or self.is_parents:
            return
        stopped: BaseException | None = None
        self._is_closing = True
        if self.is_owned:
            try:
                self._close_owned()
            except BaseException as problem:
                if _is_refusal(problem):
                    self._is_closing = False
                    self.catch_up()
                    raise
                stopped = problem
        else:
            for target in list(self.attached.values()):
                with contextlib.suppress(Error):  # of an object that is set up: it is detached with the teardown
                    self.library.call("target_detach", target)
            self.give_back()
        self.closed = True
        sessions.pop((self.library.table, self.handle.bits), None)
        for action in self.closing:
            action()
        self.closing.clear()
        self.purge()
        self.keys.close()
        self.contexts.close()
        self.processors.clear()
        self.active.close()
        forget_sent()
        if stopped is not None:
            raise stopped

    def miss(self, name: str, change: Callable[[], bool]) -> None:
        """Keeps a change that the runtime refuses because it is closing. It is made if the close is refused.

        ``name``: the change replaces an earlier one of this name. It returns whether it was made.
        """
        self._missed[name] = change
        if not self._is_closing:
            self.catch_up()

    def catch_up(self) -> None:
        """Makes the changes that the runtime has refused because it was closing."""
        for name in list(self._missed):
            change = self._missed.pop(name, None)
            if change is not None and not change():
                self._missed.setdefault(name, change)

    def _close_owned(self) -> None:
        self.plans.end()
        try:
            self.purge()
            self.library.call("runtime_close", self.handle)
            callbacks.dismiss_all(self)
        except BaseException as problem:
            if signals.took_effect(problem):
                self.give_back()
                raise
            if not isinstance(problem, Error) or problem.code != c.INVIVO_E_BUSY:
                self.plans.over = False
                raise
            # There are leases. Those of Python are returned first. An object that others hold ends with its last lease.
            # An attached object must be there while the runtime closes, because it gets its own values back.
            self.give_back(self.attached)
            try:
                self.library.call("runtime_close_deferred", self.handle)
            except BaseException as refusal:
                if _is_refusal(refusal):
                    self.plans.over = False
                else:
                    self.give_back()
                raise
            self.give_back()
        else:
            self.give_back()  # callables, for which the library does not wait


def _is_refusal(problem: BaseException) -> bool:
    """Whether an error of a close leaves the runtime open."""
    has_closed = isinstance(problem, Error) and problem.code == c.INVIVO_E_STOP
    return not has_closed and not signals.took_effect(problem)
