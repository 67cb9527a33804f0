"""Readers of single values: numbers, strings, choices, and classes that are written as strings."""

from __future__ import annotations

import base64
import binascii
import datetime
import decimal
import enum
import fractions
import re
from collections.abc import Callable
from typing import Any

from .._classes import configured
from .._native import signals
from .._native.failures import describe, frame_of, shown_file
from .._values.members import Members
from ..errors import ConversionError, Error, RangeError
from .faults import NOTHING, Faults, Reader, Variable, nearest


def anything(value: Any, _: Faults) -> Any:
    return plain(value)


def null(value: Any, faults: Faults) -> Any:
    return None if plain(value) is None else faults.expected("null", value)


def plain(value: Any) -> Any:
    """Returns a value as the library has read it."""
    kind = type(value)
    if kind is Variable:
        return value.value
    if kind is list:
        return [plain(each) for each in value]
    if kind is dict:
        return {name: plain(each) for name, each in value.items()}
    return value


def string(value: Any, faults: Faults) -> Any:
    if type(value) is str:
        return value
    if type(value) is Variable:
        if value.text is not None:
            return value.text
        if type(value.value) is str:
            return value.value
    return faults.expected("a string", value)


def boolean(value: Any, faults: Faults) -> Any:
    if type(value) is bool:
        return value
    said = _said(value)
    if type(said) is bool:
        return said
    if said in ("true", "false"):
        return said == "true"
    return faults.expected("true or false", value)


def integer(value: Any, faults: Faults) -> Any:
    if type(value) is int:
        return value
    said = _said(value)
    if type(said) is int:
        return said
    if type(said) is float and said.is_integer():
        return int(said)
    if type(said) is str and configured.WHOLE.fullmatch(said):
        return configured.whole(said)
    return faults.expected("a whole number", value)


def number(value: Any, faults: Faults) -> Any:
    if type(value) is float:
        return value
    said = _said(value)
    if type(said) is int or type(said) is float:
        return float(said)
    if type(said) is str and configured.NUMBER.fullmatch(said):
        return float(said)
    return faults.expected("a number", value)


def data(value: Any, faults: Faults) -> Any:
    said = _string_of(value)
    if said is not None:
        try:
            return base64.b64decode(said, validate=True)
        except (ValueError, binascii.Error):
            pass
    return faults.expected("bytes in base64", value)


def _said(value: Any) -> Any:
    return value.value if type(value) is Variable else value


def _string_of(value: Any) -> str | None:
    """Returns the string that a value is, or None."""
    if type(value) is Variable:
        return value.text if value.text is not None else value.value if type(value.value) is str else None
    return value if type(value) is str else None


SCALARS: dict[Any, Reader] = {
    bool: boolean,
    int: integer,
    float: number,
    str: string,
    bytes: data,
    object: anything,
    Any: anything,
    None: null,
    type(None): null,
}


# The types of values that these readers return as they are.
EXACT: dict[Reader, type] = {boolean: bool, integer: int, number: float, string: str}


def literal(choices: tuple[Any, ...]) -> Reader:
    """Reads one of the values of a `Literal`."""
    known = {(type(each), each): each for each in choices if not isinstance(each, enum.Enum)}
    members = {each.name: each for each in choices if isinstance(each, enum.Enum)}
    members.update({each.value: each for each in members.values() if isinstance(each.value, str)})
    what = "one of " + ", ".join(repr(each.name if isinstance(each, enum.Enum) else each) for each in choices)

    def read(value: Any, faults: Faults) -> Any:
        for said in (_said(value), _string_of(value)):
            try:
                if (type(said), said) in known:
                    return known[type(said), said]
                if said in members:
                    return members[said]
            except TypeError:  # a list or map
                pass
        near = (
            "" if faults.hides or type(value) is Variable else nearest(value, [*(each for _, each in known), *members])
        )
        return faults.add(f"expected {what}, got {faults.shown(value)}{near}", kind=RangeError)

    return read


def enumeration(cls: type[enum.Enum]) -> Reader:
    """Reads a member by its value, else by its name."""
    members = Members(cls)

    def read(value: Any, faults: Faults) -> Any:
        for said in (_said(value), _string_of(value)):
            found = members.find(said)
            if found is not None:
                return found
        hidden = faults.hides or type(value) is Variable
        near = "" if hidden else nearest(value, members.words)
        return faults.add(f"expected one of {members.accepted}, got {faults.shown(value)}{near}", kind=RangeError)

    return read


_EXPECTED: dict[type, str] = {
    datetime.timedelta: "a duration such as '250 ms' or '1 h 30 min', or a number of seconds",
    datetime.date: "a date such as '2026-01-31'",
    datetime.datetime: "a date with a time such as '2026-01-31T12:00'",
    datetime.time: "a time such as '12:00'",
}
_NUMBERS = (decimal.Decimal, fractions.Fraction)


def written(cls: type) -> Reader | None:
    """Returns a reader for a class whose objects are written as strings, if it is one of those that are known."""
    convert = configured.CONVERTERS.get(cls)
    if convert is None:
        return re_pattern if cls is re.Pattern else None
    what = _EXPECTED.get(cls, f"a {cls.__name__}")
    takes_numbers = cls in _NUMBERS
    takes_seconds = cls is datetime.timedelta

    def read(value: Any, faults: Faults) -> Any:
        said: Any = _string_of(value)
        if said is None and type(_said(value)) in (int, float):
            if takes_numbers:
                said = str(_said(value))
            elif takes_seconds:
                try:
                    return datetime.timedelta(seconds=_said(value))
                except (OverflowError, ValueError):
                    return faults.expected(what, value, ConversionError)
        if said is None:
            return faults.expected(what, value)
        try:
            return convert(said)
        except Exception as problem:
            signals.pass_on(problem)
        return faults.expected(what, value, ConversionError)

    return read


def re_pattern(value: Any, faults: Faults) -> Any:
    said = _string_of(value)
    if said is not None:
        try:
            return re.compile(said)
        except re.error:
            pass
    return faults.expected("a regular expression", value, ConversionError)


def converted(cls: type, find: Callable[[type], Callable[[str], Any] | None]) -> Reader:
    """Reads objects of a class with a converter of the runtime, from strings."""
    name = cls.__name__

    def read(value: Any, faults: Faults) -> Any:
        function = find(cls)
        if function is None:
            return faults.add(
                f"nothing reads a {name}: make it a dataclass or a pydantic model, or register a converter by "
                f"runtime.converter({name}, function)"
            )
        said = _string_of(value)
        if said is None:
            return faults.expected(f"a string for the converter of {name}", value)
        try:
            return function(said)
        except Exception as problem:
            signals.pass_on(problem)
            return refused(faults, name, problem)

    return read


def secret(cls: Any) -> Reader:
    """Reads a string that errors do not show (`pydantic.SecretStr`, `pydantic.SecretBytes`)."""
    is_bytes = any(each.__name__ == "SecretBytes" for each in cls.__mro__)

    def read(value: Any, faults: Faults) -> Any:
        said = _string_of(value)
        if said is None:
            return faults.add("expected a string, got another value")
        return cls(said.encode() if is_bytes else said)

    return read


def refused(faults: Faults, name: str, problem: Exception) -> Any:
    """Adds the exception with which code of the host refuses a value. Its text could quote a hidden value."""
    if faults.hides:
        return faults.add(f"{name} refuses the values {faults.HIDDEN}", kind=ConversionError)
    if isinstance(problem, Error):
        for each in problem.errors:
            faults.add(each.message, *filter(None, each.path.split(".")), kind=type(each), cause=each)
        return NOTHING
    said = describe(problem)
    if isinstance(problem, (ValueError, AssertionError)):
        return faults.add(f"{name} refuses it: {said}", kind=ConversionError, cause=problem)
    file, line, function = frame_of(problem)
    where = f" ({shown_file(file)}:{line}, in {function})" if file else ""
    return faults.add(f"{name} failed: {said}{where}", kind=ConversionError, cause=problem)
