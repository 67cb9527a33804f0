"""The errors of one reading: all of them are collected, each with the path of the part at fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ..errors import Error, WrongTypeError

_MOST = 99  # errors of one reading that are reported one by one, as the library does

NOTHING: Final[Any] = object()
"""The result of a reader that has found an error."""


class Variable:
    """A value that errors do not show: one with environment variables, a secret, or the content of a file.

    ``value`` is what the library has read. ``text`` is the whole string of a value with environment variables; None for
    the others, and for a part of a list or map of a variable.
    """

    __slots__ = ("text", "value")

    def __init__(self, value: Any, text: str | None) -> None:
        self.value, self.text = value, text


class Fault:
    """One error: its class, its message, and the names to the part at fault, the innermost first."""

    __slots__ = ("cause", "kind", "message", "names")

    def __init__(self, kind: type[Error], message: str, names: list[str], cause: BaseException | None = None) -> None:
        self.kind, self.message, self.names, self.cause = kind, message, names, cause

    def error(self) -> Error:
        made = self.kind(self.message, path=".".join(reversed(self.names)))
        made.__cause__ = self.cause
        return made


class Faults(list[Fault]):
    """The errors of one reading, in the order of the section."""

    HIDDEN: Final = "(its message is not shown, because it could quote a hidden value)"
    """Stands for the message of code of the host."""

    def __init__(self, *, hides: bool = False) -> None:
        super().__init__()
        self.hides = hides  # messages do not quote values

    def add(
        self, message: str, *names: str, kind: type[Error] = WrongTypeError, cause: BaseException | None = None
    ) -> Any:
        """Adds an error. ``names`` lead from the value to the part at fault. Returns `NOTHING`."""
        self.append(Fault(kind, message, list(reversed(names)), cause))
        return NOTHING

    def expected(self, what: str, value: Any, kind: type[Error] = WrongTypeError) -> Any:
        """Adds the error of a value that is not what is expected. Returns `NOTHING`."""
        return self.add(f"expected {what}, got {self.shown(value)}", kind=kind)

    def shown(self, value: Any) -> str:
        """Returns a value as messages show it: a secret one, and the content of a file, by its kind."""
        if type(value) is Variable:
            if value.text is not None:
                return "the value of an environment variable"
            return _KINDS.get(type(value.value), "another value")
        if self.hides or isinstance(value, (list, dict)):
            return _KINDS.get(type(value), "another value")
        return f"{value!r}" if value is not None else "null"

    def within(self, name: str, since: int) -> None:
        """Puts the errors since a count under the name of the part that has them."""
        for fault in self[since:]:
            fault.names.append(name)

    def error(self) -> Error:
        """Returns all of them as one."""
        errors = [each.error() for each in self[:_MOST]]
        if len(self) > _MOST:
            errors.append(type(errors[0])(f"and {len(self) - _MOST} more errors"))
        first = errors[0]
        if len(errors) > 1:
            first.errors = errors
        return first


Reader: TypeAlias = Callable[[Any, Faults], Any]
"""Reads a value, or adds errors and returns `NOTHING`."""

_KINDS = {
    type(None): "null",
    bool: "a bool",
    int: "a whole number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a map",
}
