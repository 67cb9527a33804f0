"""Readers of single values: numbers, strings, choices, and classes that are written as strings."""

from __future__ import annotations

import base64
import binascii
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import uuid
from collections.abc import Callable
from typing import Any

from .._native import signals
from .._native.failures import describe, frame_of, shown_file
from .._values.members import Members, nearest
from ..errors import ConversionError, Error, RangeError
from .faults import NOTHING, Faults, Reader, Variable

# The numbers in strings: those of YAML without its underscores, infinities and 'nan'.
WHOLE = re.compile(r"[+-]?(?:0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+|[0-9]+)")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def whole(text: str) -> int:
    """Returns the number that a string of `WHOLE` says: '0x10', '007'."""
    return int(text, 0 if text.lstrip("+-")[1:2] in ("x", "o", "b") else 10)


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
    content = _content(value)
    if type(content) is bool:
        return content
    if content in ("true", "false"):
        return content == "true"
    return faults.expected("true or false", value)


def integer(value: Any, faults: Faults) -> Any:
    if type(value) is int:
        return value
    content = _content(value)
    if type(content) is int:
        return content
    if type(content) is float and content.is_integer():
        return int(content)
    if type(content) is str and WHOLE.fullmatch(content):
        return whole(content)
    return faults.expected("a whole number", value)


def number(value: Any, faults: Faults) -> Any:
    if type(value) is float:
        return value
    content = _content(value)
    if type(content) is int or type(content) is float:
        return float(content)
    if type(content) is str and NUMBER.fullmatch(content):
        return float(content)
    return faults.expected("a number", value)


def data(value: Any, faults: Faults) -> Any:
    if type(value) is bytes:  # of a trait, not of a document
        return value
    content = _string_of(value)
    if content is not None:
        try:
            return base64.b64decode(content, validate=True)
        except (ValueError, binascii.Error):
            pass
    return faults.expected("bytes in base64", value)


def _content(value: Any) -> Any:
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
        for content in (_content(value), _string_of(value)):
            try:
                if (type(content), content) in known:
                    return known[type(content), content]
                if content in members:
                    return members[content]
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
        for content in (_content(value), _string_of(value)):
            found = members.find(content)
            if found is not None:
                return found
        hidden = faults.hides or type(value) is Variable
        near = "" if hidden else nearest(value, members.words)
        return faults.add(f"expected one of {members.accepted}, got {faults.shown(value)}{near}", kind=RangeError)

    return read


_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,
    "\u03bcs": 1e-6,
    "ms": 1e-3,
    "s": 1,
    "min": 60,
    "h": 3600,
    "d": 86400,
}

_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([a-z\u00b5\u03bc]+)\s*")


def duration(text: str) -> datetime.timedelta:
    """``250 ms``, ``1 h 30 min``."""
    seconds, at, last = decimal.Decimal(0), 0, float("inf")
    while at < len(text) or at == 0:
        found = _PART.match(text, at)
        if found is None or not _UNITS.get(found[2], last) < last:
            raise ValueError("expected a duration such as '250 ms' or '1 h 30 min', in ns, us, ms, s, min, h or d")
        last, at = _UNITS[found[2]], found.end()
        part = decimal.Decimal(found[1]) * decimal.Decimal(str(last))
        seconds = seconds - part if seconds.is_signed() else seconds + part
    microseconds = seconds * 1_000_000
    is_whole = microseconds == microseconds.to_integral_value()  # a double may round a long duration
    return datetime.timedelta(microseconds=int(microseconds) if is_whole else float(microseconds))


CONVERTERS: dict[type, Callable[[str], Any]] = {
    **{cls: cls for cls in (pathlib.Path, pathlib.PurePath, pathlib.PosixPath, pathlib.PurePosixPath)},
    **{cls: cls for cls in (decimal.Decimal, fractions.Fraction, uuid.UUID)},
    **{cls: cls for cls in (ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network)},
    **{cls: cls for cls in (ipaddress.IPv6Network, ipaddress.IPv4Interface, ipaddress.IPv6Interface)},
    **{cls: cls.fromisoformat for cls in (datetime.date, datetime.datetime, datetime.time)},
    datetime.timedelta: duration,
}

_EXPECTED: dict[type, str] = {
    datetime.timedelta: "a duration such as '250 ms' or '1 h 30 min', or a number of seconds",
    datetime.date: "a date such as '2026-01-31'",
    datetime.datetime: "a date with a time such as '2026-01-31T12:00'",
    datetime.time: "a time such as '12:00'",
}
_NUMBERS = (decimal.Decimal, fractions.Fraction)


def written(cls: type) -> Reader | None:
    """Returns a reader for a class whose objects are written as strings, if it is one of those that are known."""
    convert = CONVERTERS.get(cls)
    if convert is None:
        return re_pattern if cls is re.Pattern else None
    what = _EXPECTED.get(cls) or with_article(cls.__name__)
    takes_numbers = cls in _NUMBERS
    takes_seconds = cls is datetime.timedelta

    def read(value: Any, faults: Faults) -> Any:
        content: Any = _string_of(value)
        if content is None and type(_content(value)) in (int, float):
            if takes_numbers:
                content = str(_content(value))
            elif takes_seconds:
                try:
                    return datetime.timedelta(seconds=_content(value))
                except (OverflowError, ValueError):
                    return faults.expected(what, value, ConversionError)
        if content is None:
            return faults.expected(what, value)
        try:
            return convert(content)
        except Exception as problem:
            signals.pass_on(problem)
        return faults.expected(what, value, ConversionError)

    return read


def re_pattern(value: Any, faults: Faults) -> Any:
    content = _string_of(value)
    if content is not None:
        try:
            return re.compile(content)
        except re.error:
            pass
    return faults.expected("a regular expression", value, ConversionError)


def with_article(name: str) -> str:
    return f"an {name}" if name[:1] in "AEIOU" and not name.startswith("UUID") else f"a {name}"


def converted(cls: type, find: Callable[[type], Callable[[str], Any] | None]) -> Reader:
    """Reads objects of a class with a converter of the runtime, from strings."""
    name = cls.__name__

    def read(value: Any, faults: Faults) -> Any:
        function = find(cls)
        if function is None:
            return faults.add(
                f"nothing reads {with_article(name)}: make it a dataclass or a pydantic model, or register a converter "
                f"by runtime.converter({name}, function)"
            )
        content = _string_of(value)
        if content is None:
            return faults.expected(f"a string for the converter of {name}", value)
        try:
            return function(content)
        except Exception as problem:
            signals.pass_on(problem)
            return refused(faults, name, problem)

    return read


def validated(cls: Any) -> Reader:
    """Reads objects of a class with a function `model_validate`."""

    def read(value: Any, faults: Faults) -> Any:
        try:
            return cls.model_validate(plain(value))
        except Exception as problem:
            signals.pass_on(problem)
            return refused(faults, cls.__name__, problem)

    return read


def secret(cls: Any) -> Reader:
    """Reads a string that errors do not show (`pydantic.SecretStr`, `pydantic.SecretBytes`)."""
    is_bytes = any(each.__name__ == "SecretBytes" for each in cls.__mro__)

    def read(value: Any, faults: Faults) -> Any:
        content = _string_of(value)
        if content is None:
            return faults.add("expected a string, got another value")
        return cls(content.encode() if is_bytes else content)

    return read


def refused(faults: Faults, name: str, problem: Exception) -> Any:
    """Adds the exception with which code of the host refuses a value. Its text could quote a hidden value."""
    if faults.hides:
        return faults.add(f"{name} refuses the values {faults.HIDDEN}", kind=ConversionError)
    if isinstance(problem, Error):
        for each in problem.errors:
            faults.add(each.message, *filter(None, each.path.split(".")), kind=type(each), cause=each)
        return NOTHING
    reason = describe(problem)
    if isinstance(problem, (ValueError, AssertionError)):
        return faults.add(f"{name} refuses it: {reason}", kind=ConversionError, cause=problem)
    file, line, function = frame_of(problem)
    where = f" ({shown_file(file)}:{line}, in {function})" if file else ""
    return faults.add(f"{name} failed: {reason}{where}", kind=ConversionError, cause=problem)
