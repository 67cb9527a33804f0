"""Errors in both directions: a library error becomes an exception, an exception becomes a library error."""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import os
import sys
import threading
import types
from collections import OrderedDict
from typing import Any, NamedTuple, Protocol

from .. import _generated as c
from ..errors import Error, HostError, MissingFileError, NotFoundError, error_class
from . import signals
from .strings import encode, text

# Exceptions that were given to the library and may come back, the newest last. The error that comes back has the same
# code and message, on any thread. Exceptions hold the variables of their callers' frames, so they are forgotten at the
# end of the library call in which their callback ran. On a thread of the library there is no such call. There the
# variables are cleared, and the newest exceptions are kept.
_KEPT = 32
sent: OrderedDict[tuple[int, str], Sent] = OrderedDict()
_DEPTH = 16
_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_NEEDED = "; needed by "
_CONFIGURED = "; configured by "
_ENDED = " has ended: "  # after the name of a context, before the errors of its stops
_LINKS = 16  # as many as the library names


class Functions(Protocol):
    """The functions of a library, by their names without the prefix."""

    def __getattr__(self, name: str) -> Any: ...

    def bare(self, name: str) -> Any: ...


class Sent(NamedTuple):
    """An exception that is in the library."""

    exception: BaseException
    thread: int
    depth: int  # how many callbacks were under way in that thread


def _callbacks() -> tuple[int, bool]:
    """Returns how many callbacks are under way in this thread, and whether Python called the library before them."""
    count, is_called = 0, False
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in signals.entries:
            count, is_called = count + 1, frame.f_back is not None
        frame = frame.f_back
    return count, is_called


def _clear(exception: BaseException) -> None:
    """Clears the variables of the frames that an exception has left."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [exception]
    while pending:
        problem = pending.pop()
        if problem is None or id(problem) in seen:
            continue
        seen.add(id(problem))
        pending += (problem.__cause__, problem.__context__)
        step = problem.__traceback__
        while step is not None:
            # A generator that continues would be closed.
            if not step.tb_frame.f_code.co_flags & (_RESUMED):
                with contextlib.suppress(RuntimeError):  # it is running
                    step.tb_frame.clear()
            step = step.tb_next


def forget_since() -> None:
    """Forgets the exceptions of a library call of this thread that has ended: they cannot come back."""
    depth, thread = _callbacks()[0], threading.get_ident()
    for key, one in list(sent.items()):
        if one.thread == thread and one.depth > depth and sent.get(key) is one:
            sent.pop(key, None)


def _origin(code: int, message: str, forget: bool) -> BaseException | None:
    """Returns the exception that an error began as. The dependents and values, which the library appends, are not part
    of it.
    """
    for known in (
        message,
        message.partition(_NEEDED)[0],
        message.partition(_CONFIGURED)[0],
        message.partition(_ENDED)[2],
    ):
        one = sent.pop((code, known), None) if forget else sent.get((code, known))
        if one is not None:
            return one.exception
    return None


class ErrorCell(ctypes.c_void_p):
    """Room for an owned error."""

    value: int | None
    released: list[None] | None = None  # the result of the library's function

    def release(self, function: Any) -> None:
        """Releases the error, once, also if a signal handler raises meanwhile."""
        if self.released is None:
            self.released = []
        if self.value and not self.released:
            # Called and noted within one call into C.
            self.released.extend(map(function, (self.value,)))


class Failures:
    """Errors of one copy of the library."""

    def __init__(self, library: Functions) -> None:
        self._library = library

    def take(self, status: int, cell: ErrorCell) -> BaseException:
        """Returns the exception to raise for a failed call, and releases the error."""
        if not cell.value:
            return error_class(status)(code=status)
        try:
            error = self.read(cell.value, forget=True)
        finally:
            cell.release(self._library.bare("error_release"))
            if sent:
                forget_since()
        origin = error.__cause__
        return error if origin is None or isinstance(origin, Exception) else origin

    def read(self, pointer: int, forget: bool = False) -> Error:
        """A borrowed error as an exception."""
        count = self._library.error_count(pointer)
        error = self._one(pointer, forget)
        if count > 1:
            error.errors = [self._one(self._library.error_at(pointer, index), forget) for index in range(count)]
            first = error.errors[0]  # the same error: one of them has the exception
            first.__cause__ = error.__cause__ = error.__cause__ or first.__cause__
        return error

    def _one(self, pointer: int, forget: bool, depth: int = 0) -> Error:
        library = self._library
        code, message = library.error_code(pointer), text(library.error_message(pointer))
        under = library.error_cause(pointer)
        cause = self._one(under, forget, depth + 1) if under and depth < _DEPTH else None
        cls, file, line = error_class(code), text(library.error_file(pointer)), library.error_line(pointer)
        if cls is NotFoundError and file and not line:
            cls = MissingFileError
        error = cls(
            message,
            code=code,
            path=text(library.error_path(pointer)),
            file=file,
            line=line,
            column=library.error_column(pointer),
            cause=cause,
        )
        error.rule, error.needed_by = text(library.error_rule(pointer)), text(library.error_needed_by(pointer))
        origin = _origin(code, message, forget)
        if origin is None and cause is not None:
            origin = cause.__cause__ if cause.__cause__ is not None and cause.__cause__ is not cause.cause else cause
        error.__cause__ = origin
        return error

    def give(
        self, exception: BaseException, out: Any, handled: BaseException | None = None, *, is_located: bool = False
    ) -> int:
        """Reports an exception to the caller of a callback: sets the error and returns the status.

        ``handled``: the exception that was being handled before, which is not the cause. ``is_located``: an error of
        the code has its source location. Otherwise the message of an exception names it.
        """
        pointer = self._make(exception, 0, handled, is_located=is_located)
        code = self._library.error_code(pointer) if pointer else c.INVIVO_E_MEMORY
        if pointer:
            if out:
                out[0] = pointer
                depth, is_called = _callbacks()
                if not is_called:
                    _clear(exception)
                thread = threading.get_ident() if is_called else 0
                sent[code, text(self._library.error_message(pointer))] = Sent(exception, thread, depth)
                while len(sent) > _KEPT:
                    sent.popitem(last=False)
            else:
                self._library.error_release(pointer)
        return int(code)

    def located(self, exception: Exception, made: tuple[str, str, int], needs: list[tuple[str, str, int]]) -> Error:
        """Returns the error that the library would report if creating an object raised: with its key, location and
        dependents.
        """
        pointer = self._make(exception, 0, is_located=False)
        if not pointer:
            return error_class(c.INVIVO_E_MEMORY)(code=c.INVIVO_E_MEMORY)
        try:
            error = self.read(pointer)
        finally:
            self._library.error_release(pointer)
        error.path = error.path or made[0]
        if not error.file:
            error.file, error.line = made[1], made[2]
        if needs and error.code != c.INVIVO_E_CYCLE:
            dependents = [
                f"'{key}'" + (f" ({file}{f':{line}' if line else ''})" if file else "") for key, file, line in needs
            ]
            more = ", ..." if len(dependents) > _LINKS else ""
            error.message += _NEEDED + ", by ".join(dependents[:_LINKS]) + more
            error.args = (error.message,)
        return error

    def note(self, exception: BaseException, runtime: c.invivo_runtime, handled: BaseException | None) -> None:
        """Reports an exception in a callback that returns nothing to a runtime. ``handled``: as for `give`."""
        pointer = self._make(exception, 0, handled)
        if pointer:
            self._library.runtime_note_error(runtime, pointer)
            self._library.error_release(pointer)

    def _make(
        self,
        exception: BaseException,
        depth: int,
        handled: BaseException | None = None,
        *,
        is_located: bool | None = None,
    ) -> int | None:
        if isinstance(exception, Error) and len(exception.errors) > 1:
            whole: int | None = None
            for error in exception.errors:
                whole = self._library.error_join(whole, self._one_made(error, depth, handled, is_located))
            return whole
        return self._one_made(exception, depth, handled, is_located)

    def _one_made(
        self, exception: BaseException, depth: int, handled: BaseException | None, is_located: bool | None
    ) -> int | None:
        under: BaseException | None
        file, line, column = "", 0, 0
        if isinstance(exception, Error):
            code, message, path, under = exception.code, exception.message, exception.path, exception.cause
            file, line, column = exception.file, exception.line, exception.column
            if is_located and not file and not isinstance(exception, HostError):
                file, line, _ = frame_of(exception)
        else:
            code, message, path = c.INVIVO_E_HOST, describe(exception), ""
            at = frame_of(exception) if is_located is not None and isinstance(exception, Exception) else _NOWHERE
            if at is not _NOWHERE:
                message += f" (in {at[2]})" if is_located else f" ({shown_file(at[0])}:{at[1]}, in {at[2]})"
            if is_located:
                file, line, _ = at
            under = exception.__cause__
            if under is None and not exception.__suppress_context__ and exception.__context__ is not handled:
                under = exception.__context__
        cause = self._make(under, depth + 1, handled) if under is not None and depth < _DEPTH else None
        pointer: int | None = self._library.error_make_at(
            code or c.INVIVO_E_HOST,
            encode(message),
            encode(path) if path else None,
            encode(file) if file else None,
            min(max(line, 0), 0xFFFFFFFF),
            min(max(column, 0), 0xFFFFFFFF),
            cause,
        )
        return pointer


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_NOWHERE = ("", 0, "")


def frame_of(exception: BaseException) -> tuple[str, int, str]:
    """Returns the file, line and function in which the program raised an exception: the last ones outside of the
    package and of the standard library.
    """
    found = _NOWHERE
    step = exception.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if not code.co_filename.startswith((_PACKAGE, _STANDARD, "<")):
            found = code.co_filename, step.tb_lineno or code.co_firstlineno, code.co_name
        step = step.tb_next
    return found


def shown_file(file: str) -> str:
    """Returns the path of a file as seen from the working directory, if the file is below it."""
    with contextlib.suppress(OSError, ValueError):
        here = os.getcwd() + os.sep
        return file.removeprefix(here)
    return file


def describe(exception: BaseException) -> str:
    """``ValueError: text``."""
    name = type(exception).__name__
    try:
        text_of = str(exception)
    except Exception as problem:
        signals.note(problem)
        text_of = ""
    return f"{name}: {text_of}" if text_of else name


def forget_sent() -> None:
    """Forgets the exceptions that are kept because they may come back."""
    sent.clear()
