"""Exceptions of callbacks that have no caller to raise to: observers, scope listeners, log functions.

Each is logged once, with its traceback. A runtime whose log is a logger has it there, in the record of the library's
message; else the logger "invivo" has it.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from ._failures import describe

if TYPE_CHECKING:
    from ._core import Core

LOGGER = "invivo"  # the logger of runtimes that are given none


class _Thread(threading.local):
    noted: BaseException | None = None  # the library is about to log this
    is_logging = False


_thread = _Thread()


def report(core: Core, problem: BaseException, handled: BaseException | None) -> None:
    """Logs an exception, and keeps it as the runtime's last error. ``handled``: what was being handled before."""
    outer, _thread.noted = _thread.noted, problem
    try:
        core.library.failures.note(problem, core.handle, handled)
        is_logged = _thread.noted is None
    finally:
        _thread.noted = outer
    if not is_logged and not core.is_silent:
        log(problem, describe(problem))


def take() -> BaseException | None:
    """The exception that the message about to be logged is about. Answered once."""
    noted, _thread.noted = _thread.noted, None
    return noted


def log(problem: BaseException, message: str) -> None:
    """Logs an exception without the library. Raises it where a handler of the logger has led to it."""
    if _thread.is_logging:
        raise problem
    _thread.is_logging = True
    try:
        logging.getLogger(LOGGER).error("%s", message, exc_info=problem)
    finally:
        _thread.is_logging = False
