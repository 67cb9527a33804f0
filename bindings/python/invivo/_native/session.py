"""Sessions: runtimes of the library that this package has open or has joined."""

from __future__ import annotations

import abc
import atexit
import contextlib
import ctypes
import os
import threading
from collections.abc import Callable, Container
from typing import Any, TypeAlias

from .. import _generated as c
from ..errors import ClosedError
from . import callbacks
from .activity import Activity
from .leases import Leases, ObjectCell
from .library import Library
from .pins import Keeper

Notices: TypeAlias = tuple[Callable[[], None], Callable[[], None]]


class Session(abc.ABC):
    """The handle of a runtime, the leases that Python holds, and whether the runtime is open."""

    pins: Keeper  # when it is open

    def __init__(self, library: Library) -> None:
        self.library = library
        self.handle = c.invivo_runtime()
        self.domain = c.invivo_domain()  # of Python's objects
        self.leases = Leases(library)
        self.activity = Activity()
        self.opener = threading.get_ident()
        self.is_owned = False  # opened by this package, which therefore closes it
        self.is_silent = False  # opened with the log level "silent"
        self.closed = False
        self.is_parents = False  # opened by the process that this one was forked from
        self.closing: list[Callable[[], None]] = []  # called when the runtime closes; must not fail

    def opened(self, *, in_default: bool = False, notices: Notices | None = None) -> None:
        """Registers the session by its handle, which has been set. ``in_default``: without a domain for Python.
        ``notices`` are called before and after the work of a commit in that domain."""
        if not in_default:
            self._register_domain(notices)
        self.pins = Keeper(self.library, self.handle)
        sessions[self.library.table, self.handle.bits] = self

    def _register_domain(self, notices: Notices | None) -> None:
        options = c.invivo_domain_options()
        options.struct_size = ctypes.sizeof(options)
        options.name = b"python"
        options.flags = c.INVIVO_DOMAIN_ANY_THREAD
        options.post = _post.of(self.library)
        if notices is not None:
            options.begin, options.end = _begin.of(self.library), _end.of(self.library)
        options.user_data = number = callbacks.enroll(_Domain(self, notices))
        options.destroy = callbacks.destroy.of(self.library)
        try:
            self.library.call("domain_register", self.handle, ctypes.byref(options), ctypes.byref(self.domain))
        except BaseException:
            callbacks.dismiss(number)
            raise

    def check(self) -> None:
        """Checks that the runtime may be used: it is open, and the calling code is not in a build plan."""
        if self.closed:
            raise ClosedError("the runtime is closed")
        self.activity.use()

    def cell(self) -> ObjectCell:
        """Returns a new cell for an object with a lease."""
        return self.leases.cell(ObjectCell)

    def drop(self, number: int) -> None:
        """Returns a lease to the library, once."""
        self.leases.drop(number)

    def give_back(self, besides: Container[int] = ()) -> None:
        """Returns every lease that Python holds, the last one first, so that objects end in reverse order.

        ``besides``: the objects whose leases stay.
        """
        self.leases.give_back(besides)

    def descriptor(self) -> int:
        """Returns a file descriptor that is readable while jobs wait for the opening thread."""
        found = ctypes.c_int(-1)
        self.library.call("runtime_descriptor", self.handle, ctypes.byref(found))
        return found.value

    def forked(self) -> None:
        """In a forked child: the runtime is the parent's. Nothing is built here any more, and nothing ends."""
        self.is_parents = True
        self.leases.clear()
        self.activity.forked()

    @abc.abstractmethod
    def close(self) -> None:
        """Closes the runtime, or leaves one that this package has not opened."""

    @abc.abstractmethod
    def key_of(self, thing: Any) -> str | None:
        """Returns the key that an object was created for ("" = none), or None if the object is not of this runtime."""

    @abc.abstractmethod
    def ending(self, thing: Any) -> None:
        """Is notified that a Python object is about to end."""

    @abc.abstractmethod
    def collected(self) -> None:
        """Is notified that the garbage collector has run."""


class _Domain:
    """The domain of Python's objects. Any thread that holds the GIL may use them, so a job runs where it is posted."""

    def __init__(self, core: Session, notices: Notices | None) -> None:
        self.core, self.notices = core, notices


@callbacks.returns_status(c.invivo_domain_options, "post", user_data=0)
def _post(item: _Domain, _: int, job: c.invivo_job, error: Any) -> None:
    # An exception of a signal handler in the job is raised by the library call that posted the job.
    item.core.library.bare("job_run")(job)


@callbacks.returns_nothing(c.invivo_domain_options, "begin", user_data=0)
def _begin(item: _Domain, _: int) -> None:
    if item.notices is not None:
        item.notices[0]()


@callbacks.returns_nothing(c.invivo_domain_options, "end", user_data=0)
def _end(item: _Domain, _: int) -> None:
    if item.notices is not None:
        item.notices[1]()


sessions: dict[tuple[int, int], Session] = {}  # open ones, by table and handle


def key_of(thing: Any) -> str:
    """Returns the key that an object was created for, or ""."""
    for each in list(sessions.values()):
        found = each.key_of(thing)
        if found is not None:
            return found
    return ""


def close_all() -> None:
    """At the end of the interpreter: Python code can no longer be called afterwards."""
    for each in list(sessions.values()):
        with contextlib.suppress(Exception):
            each.close()


atexit.register(close_all)


def _forked() -> None:
    """In a forked child only built objects can be read. Everything else fails with INVIVO_E_FORKED."""
    for each in list(sessions.values()):
        each.forked()


os.register_at_fork(after_in_child=_forked)
