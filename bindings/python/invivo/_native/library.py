"""The functions of one copy of the library, reached through its function table.

Every call on a runtime goes through the table that the runtime belongs to, so that a runtime of another copy of the
library (of a Swift host, for example) works as well. A function tagged NOWAIT keeps the GIL. Every other function
releases it, because it may wait for a thread that needs the GIL.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from .. import _generated as c
from ..errors import FileError, VersionError
from . import signals
from .current_context import call_inside, get_blocks
from .failures import ErrorCell, Failures, forget_since, sent
from .pins import entered, is_pinned, open_pins

if TYPE_CHECKING:
    from pathlib import Path

_INDEX = {name: index for index, name in enumerate(c.TABLE)}
_FIRST = c.invivo_table._fields_[3][0]
_OFFSET: int = getattr(c.invivo_table, _FIRST).offset
_POINTER = ctypes.sizeof(ctypes.c_void_p)
_ONE_REFERENCE = sys.getrefcount(object()) + 1  # the count of an object that one list holds


class Library:
    """A function table as methods: ``library.resolve(...)`` is ``invivo_resolve``. Bound at first use."""

    def __init__(self, table: int) -> None:
        head = c.invivo_table.from_address(table)
        if head.abi_version != c.INVIVO_ABI_VERSION:
            raise VersionError(
                f"the library has version {head.abi_version} of the ABI; this package needs {c.INVIVO_ABI_VERSION}: "
                "use the package and the library of one release"
            )
        self.table = table
        self._count: int = min(head.function_count, (head.struct_size - _OFFSET) // _POINTER)
        self.failures = Failures(self)
        self._bare: dict[str, Any] = {}
        self._untyped: dict[str, Any] = {}
        self._errors: list[ErrorCell] = []  # of calls of the main thread

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    else:

        def __getattr__(self, name):
            function = self.bare(name)
            if not c.FUNCTIONS["invivo_" + name][2]:
                function = _entering(function)
            elif not name.startswith(
                ("view_", "pin_")
            ):  # these are called by C alone, see `_views`, or take handles only
                function = _checked(function)
            setattr(self, name, function)
            return function

    def address(self, full: str) -> int:
        """Returns the address of a function."""
        index = _INDEX.get(full)
        if index is None:
            raise AttributeError(full)
        if index >= self._count:
            raise VersionError(f"this copy of the library is older than {full}(): use a newer one")
        address: int | None = ctypes.c_void_p.from_address(self.table + _OFFSET + index * _POINTER).value
        if not address:
            raise VersionError(f"this copy of the library lacks {full}(): use a whole one")
        return address

    def bare(self, name: str) -> Any:
        """Returns a function as ctypes has it."""
        function = self._bare.get(name)
        if function is None:
            full = "invivo_" + name
            if full not in _INDEX:
                raise AttributeError(name)
            result, arguments, nowait = c.FUNCTIONS[full]
            kind = ctypes.PYFUNCTYPE if nowait else ctypes.CFUNCTYPE
            function = self._bare.setdefault(name, kind(result, *arguments)(self.address(full)))
        return function

    def untyped(self, name: str) -> Any:
        """Returns a function that returns a status, without types of arguments: handles are words."""
        function = self._untyped.get(name)
        if function is None:
            made = ctypes.CFUNCTYPE(ctypes.c_int32)(self.address("invivo_" + name))
            function = self._untyped.setdefault(name, made)
        return function

    def call(self, name: str, *arguments: Any, is_inside: bool = False) -> None:
        """Calls a function that returns a status and takes an error last. Raises the error.

        An exception of a signal handler in a callback is raised itself, whatever error the library reports. In a pin of
        the context, the call answers from its generation. The thread is in the contexts of its caller meanwhile, except
        for functions of contexts themselves. ``is_inside``: it has entered them.
        """
        if open_pins and is_pinned(self):
            entered(self, self.call, name, *arguments, name=name)
            return
        if get_blocks() is not None and not is_inside and not name.startswith("context_"):
            call_inside(self, self.call, name, arguments)
            return
        function = self.bare(name)
        error = ErrorCell()
        reference = ctypes.byref(error)
        if threading.get_ident() != signals.main:
            try:
                status = function(*arguments, reference)
            except ctypes.ArgumentError as problem:
                raise _real(problem) from None
            if status:
                raise self.failures.take(status, error)
            if sent:
                forget_since()
            return
        status, called, depth = c.INVIVO_OK, False, signals.depth()
        interrupted: BaseException | None
        self._drop_errors()
        self._errors.append(error)
        try:
            try:
                signals.enter()
                called = True
                status = function(*arguments, reference)
            finally:
                signals.leave(depth)
            interrupted = signals.take()
        except BaseException as problem:
            interrupted = _real(problem)
        if interrupted is None:
            if status:
                raise self.failures.take(status, error)
            if sent:
                forget_since()
            return
        if error.value:
            self.failures.take(status, error)
        elif called and not status:
            signals.effective(interrupted)
        raise interrupted

    def _drop_errors(self) -> None:
        """Releases the errors of finished calls of the main thread, if a signal handler raised before that was done.

        Each step may be interrupted: the next call continues.
        """
        errors = self._errors
        while errors and sys.getrefcount(errors[-1]) == _ONE_REFERENCE:  # no call has it any more
            error = errors[-1]
            error.release(self.bare("error_release"))
            with contextlib.suppress(ValueError):
                errors.remove(error)
            del error


def _real(problem: BaseException) -> BaseException:
    """Replaces the error that ctypes raises at the recursion limit, when it cannot convert an argument."""
    if isinstance(problem, ctypes.ArgumentError) and "RecursionError" in str(problem):
        return RecursionError("maximum recursion depth exceeded in a call of the library")
    return problem


def _checked(function: Any) -> Any:
    """Wraps a function that does not call Python."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except ctypes.ArgumentError as problem:
            raise _real(problem) from None

    return call


def _entering(function: Any) -> Any:
    """Wraps a function that may call Python.

    Exceptions of signal handlers are left to `Library.call`: the caller may be the garbage collector, which drops
    exceptions.
    """

    def call(*arguments: Any) -> Any:
        try:
            if threading.get_ident() != signals.main:
                answer = function(*arguments)
            else:
                depth = signals.depth()
                try:
                    signals.enter()
                    answer = function(*arguments)
                finally:
                    signals.leave(depth)
        except ctypes.ArgumentError as problem:
            raise _real(problem) from None
        if sent:
            forget_since()
        return answer

    return call


_lock = threading.Lock()


def _forked() -> None:
    """In a forked child another thread may have held the lock."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)

_own: Library | None = None
_libraries: dict[int, Library] = {}


def library_at(table: int) -> Library:
    """Returns the library of a table."""
    library = _libraries.get(table)
    return library if library is not None else _libraries.setdefault(table, Library(table))


def own_library() -> Library:
    """Returns this package's own copy of the library, which the first call opens."""
    global _own
    if _own is None:
        with _lock:
            if _own is None:
                image = ctypes.CDLL(str(find()))
                table_get = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("invivo_table_get", image))
                _own = library_at(table_get())
    return _own


def find() -> Path:
    """Returns the path of the library: INVIVO_LIBRARY, the copy in this package, or a development build beside it."""
    from pathlib import Path

    asked = os.environ.get("INVIVO_LIBRARY")
    if asked:
        path = Path(asked).absolute()
        if not path.is_file():
            raise FileError(f"INVIVO_LIBRARY names {asked}, which is not a file", file=asked)
        return path
    package = Path(__file__).resolve().parents[1]
    bundled = package / "_lib" / "libinvivo.so.0"
    if bundled.is_file():
        return bundled
    builds = [path for path in development_builds(package) if path.is_file()]
    if builds:
        return max(builds, key=lambda path: path.stat().st_mtime_ns)
    raise FileError(
        f"no library: there is no {bundled}, and no development build beside the package; "
        "install the package with pip, or set INVIVO_LIBRARY to the path of libinvivo.so.0"
    )


def development_builds(package: Path) -> list[Path]:
    """Returns the paths of builds by `swift build --product InvivoC` and CMake in the repository of this package."""
    if len(package.parents) < 3 or not (package.parents[2] / "Package.swift").is_file():
        return []
    root = package.parents[2]
    return [
        *(root / ".build" / configuration / "libInvivoC.so" for configuration in ("release", "debug")),
        root / "build" / "libinvivo.so.0",
    ]
