"""Errors as Python sees them: one class for each status code, each also the builtin that a programmer would catch."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Iterator, Sequence
from typing import ClassVar

from . import _generated as c

__all__ = [
    "AbstractError",
    "AmbiguousError",
    "ArgumentError",
    "ArityError",
    "BusyError",
    "CaptiveError",
    "ChangedError",
    "ClosedError",
    "ColdError",
    "ConversionError",
    "CycleError",
    "DeadlineError",
    "DomainError",
    "DormantError",
    "EmptyError",
    "EncodingError",
    "Error",
    "ExistsError",
    "FileError",
    "ForkedError",
    "HandleError",
    "HostError",
    "InCallbackError",
    "InternalError",
    "MethodError",
    "MissingFileError",
    "ModuleError",
    "NotConfiguredError",
    "NotFoundError",
    "NotReadyError",
    "NotWellFormedError",
    "NullError",
    "OperatingSystemError",
    "OrphanedError",
    "OutOfMemoryError",
    "PropertyError",
    "RangeError",
    "ReadOnlyError",
    "Refused",
    "SpecError",
    "StaleError",
    "StopError",
    "TooLargeError",
    "UnsupportedError",
    "VersionError",
    "WouldWaitError",
    "WrongTypeError",
]

_NAMES: dict[int, str] = {number: name for name, number, _ in c.STATUS}
_TEXTS: dict[int, str] = {number: text for _, number, text in c.STATUS}
_CLASSES: dict[int, type[Error]] = {}


class Error(Exception):
    """An error: a status code, a message, and a location.

    ``code`` is the number of the C status, ``constant`` its name. ``path`` is the key path (``synth.lead.gain``).
    ``file``, ``line`` and ``column`` are the location in a document (0 = unknown). ``cause`` is the underlying error,
    and ``errors`` holds every error of the call, this one included. For errors of the wiring, ``rule`` is a stable name
    (``wiring.missing``), and ``needed_by`` lists the dependents (``app.main -> app.player``).
    """

    status: ClassVar[int] = c.INVIVO_E_HOST

    code: int
    message: str
    path: str
    file: str
    line: int
    column: int
    cause: Error | None
    errors: list[Error]
    rule: str
    needed_by: str

    def __init_subclass__(cls, status: int | None = None) -> None:
        super().__init_subclass__()
        if status is not None:
            cls.status = status
            _CLASSES[status] = cls

    def __init__(
        self,
        message: str = "",
        *,
        code: int | None = None,
        path: str = "",
        file: str = "",
        line: int = 0,
        column: int = 0,
        cause: Error | None = None,
        errors: Sequence[Error] = (),
    ) -> None:
        super().__init__(message)
        self.code = type(self).status if code is None else code
        self.message = message or _TEXTS.get(self.code, "")
        self.path, self.file, self.line, self.column = path, file, line, column
        self.cause = cause
        self.errors = list(errors) or [self]
        self.rule = self.needed_by = ""

    @property
    def constant(self) -> str:
        """The constant of the code: ``"INVIVO_E_RANGE"``."""
        return _NAMES.get(self.code, "INVIVO_E_UNKNOWN")

    def __str__(self) -> str:
        if len(self.errors) > 1:
            return "\n".join(error._line() for error in self.errors)
        return self._line()

    def _line(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        text = ": ".join(part for part in (place, self.path, self.message) if part)
        if self.needed_by:
            text += f" (needed by {self.needed_by})"
        return f"{text} (because {self.cause})" if self.cause is not None else text

    def place(self, within: str) -> None:
        """Adds the path of the containing item to the front of the error's path."""
        self.path = ".".join(part for part in (within, self.path) if part)

    def __reduce__(self) -> tuple[object, ...]:
        state = {key: value for key, value in self.__dict__.items() if key != "errors" or len(self.errors) > 1}
        return _make, (type(self), self.message), state

    def __setstate__(self, state: dict[str, object] | None) -> None:
        self.__dict__.update(state or {})


@contextlib.contextmanager
def within(path: str, file: str = "", line: int = 0) -> Iterator[None]:
    """Adds a path to errors of the block, and a location to errors without one."""
    try:
        yield
    except Error as problem:
        problem.place(path)
        if not problem.file:
            problem.file, problem.line = file, line
        raise


def _make(cls: type[Error], message: str) -> Error:
    return cls(message)


def error_class(code: int) -> type[Error]:
    """Returns the class of a status code; ``Error`` itself for an unknown number."""
    return _CLASSES.get(code, Error)


# If a builtin has the name that the code would give, the class has a more specific name instead.


class ArgumentError(Error, ValueError, status=c.INVIVO_E_ARGUMENT): ...


class HandleError(Error, ReferenceError, status=c.INVIVO_E_HANDLE): ...


class ClosedError(Error, RuntimeError, status=c.INVIVO_E_CLOSED): ...


class OutOfMemoryError(Error, MemoryError, status=c.INVIVO_E_MEMORY): ...


class NotFoundError(Error, KeyError, status=c.INVIVO_E_NOT_FOUND): ...


class ExistsError(Error, ValueError, status=c.INVIVO_E_EXISTS): ...


class WrongTypeError(Error, TypeError, status=c.INVIVO_E_TYPE): ...


class RangeError(Error, ValueError, status=c.INVIVO_E_RANGE): ...


class ReadOnlyError(Error, AttributeError, status=c.INVIVO_E_READ_ONLY): ...


class PropertyError(Error, AttributeError, status=c.INVIVO_E_PROPERTY): ...


class MethodError(Error, AttributeError, status=c.INVIVO_E_METHOD): ...


class ArityError(Error, TypeError, status=c.INVIVO_E_ARITY): ...


class ColdError(Error, LookupError, status=c.INVIVO_E_COLD): ...


class StaleError(Error, ReferenceError, status=c.INVIVO_E_STALE): ...


class DomainError(Error, RuntimeError, status=c.INVIVO_E_DOMAIN): ...


class WouldWaitError(Error, BlockingIOError, status=c.INVIVO_E_WOULD_WAIT): ...


class InCallbackError(Error, RuntimeError, status=c.INVIVO_E_IN_CALLBACK): ...


class BusyError(Error, RuntimeError, status=c.INVIVO_E_BUSY): ...


class DeadlineError(Error, builtins.TimeoutError, status=c.INVIVO_E_TIMEOUT): ...


class CycleError(Error, RuntimeError, status=c.INVIVO_E_CYCLE): ...


class NotWellFormedError(Error, ValueError, status=c.INVIVO_E_SYNTAX): ...


class SpecError(Error, ValueError, status=c.INVIVO_E_SPEC): ...


class EncodingError(Error, ValueError, status=c.INVIVO_E_ENCODING): ...


class EmptyError(Error, ValueError, status=c.INVIVO_E_EMPTY): ...


class TooLargeError(Error, ValueError, status=c.INVIVO_E_TOO_LARGE): ...


class FileError(Error, OSError, status=c.INVIVO_E_FILE): ...


class OperatingSystemError(Error, OSError, status=c.INVIVO_E_SYSTEM): ...


class ModuleError(Error, ImportError, status=c.INVIVO_E_MODULE): ...  # type: ignore[misc]  # its own `path` is ours


class VersionError(Error, ImportError, status=c.INVIVO_E_VERSION): ...  # type: ignore[misc]


class HostError(Error, RuntimeError, status=c.INVIVO_E_HOST): ...


class Refused(HostError):
    """Raised by a rule, or by the check of a `Trait`: the values do not satisfy it.

    Any other exception refuses them, too, but as a failure of the code. ``input`` is the input or field at fault, by
    its name or index: the error has its source location. Without it, that is the first input that changes, or the
    trait.
    """

    def __init__(self, message: str, /, *, input: str | int | None = None) -> None:
        super().__init__(message)
        self.input = input


class ForkedError(Error, RuntimeError, status=c.INVIVO_E_FORKED): ...


class NotReadyError(Error, RuntimeError, status=c.INVIVO_E_NOT_READY): ...


class ChangedError(Error, RuntimeError, status=c.INVIVO_E_CHANGED): ...


class NullError(Error, ValueError, status=c.INVIVO_E_NULL): ...


class UnsupportedError(Error, NotImplementedError, status=c.INVIVO_E_UNSUPPORTED): ...


class InternalError(Error, RuntimeError, status=c.INVIVO_E_INTERNAL): ...


class AmbiguousError(Error, LookupError, status=c.INVIVO_E_AMBIGUOUS): ...


class AbstractError(Error, TypeError, status=c.INVIVO_E_ABSTRACT): ...


class StopError(Error, RuntimeError, status=c.INVIVO_E_STOP): ...


class DormantError(Error, LookupError, status=c.INVIVO_E_DORMANT): ...


class CaptiveError(Error, TypeError, status=c.INVIVO_E_CAPTIVE): ...


class ChangeRefusedError(Error, RuntimeError, status=c.INVIVO_E_REFUSED):
    """A definition refuses a change of its dependency (``on_change="refuse"``)."""


class NotConfiguredError(Error, LookupError, status=c.INVIVO_E_NOT_CONFIGURED): ...


class ConversionError(Error, ValueError, status=c.INVIVO_E_CONVERSION): ...


class OrphanedError(Error, LookupError, status=c.INVIVO_E_ORPHANED): ...


class MissingFileError(NotFoundError, FileNotFoundError):
    """INVIVO_E_NOT_FOUND about a file, rather than about a name in one."""
