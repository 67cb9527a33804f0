"""Exceptions of callbacks that have no caller to raise to: observers, scope listeners, log functions.

Each is logged once, with its traceback. If the runtime logs to a logger, the traceback is in the record of the
library's message. Otherwise the logger "invivo" has it.
"""

from __future__ import annotations

import logging
import threading
from typing import Protocol

from .. import _generated as c
from .failures import describe
from .library import Library

LOGGER = "invivo"  # the logger of runtimes that are opened without one


class Reporter(Protocol):
    """A runtime to which exceptions of its callbacks are reported."""

    @property
    def library(self) -> Library: ...

    @property
    def handle(self) -> c.invivo_runtime: ...

    @property
    def is_silent(self) -> bool: ...


class _Thread(threading.local):
    noted: BaseException | None = None  # the library is about to log this
    is_logging = False


_thread = _Thread()


def report(core: Reporter, problem: BaseException, handled: BaseException | None) -> None:
    """Logs an exception, and keeps it as the last error of the runtime. ``handled``: being handled before."""
    outer, _thread.noted = _thread.noted, problem
    try:
        core.library.failures.note(problem, core.handle, handled)
        is_logged = _thread.noted is None
    finally:
        _thread.noted = outer
    if not is_logged and not core.is_silent:
        log(problem, describe(problem))


def take() -> BaseException | None:
    """Returns the exception of the message that is about to be logged, once."""
    noted, _thread.noted = _thread.noted, None
    return noted


def warn(message: str) -> None:
    """Logs a warning about the use of the package."""
    logging.getLogger(LOGGER).warning("%s", message)


def log(problem: BaseException, message: str) -> None:
    """Logs an exception without the library. Raises it instead if a handler of the logger has caused it."""
    if _thread.is_logging:
        raise problem
    _thread.is_logging = True
    try:
        logging.getLogger(LOGGER).error("%s", message, exc_info=problem)
    finally:
        _thread.is_logging = False
