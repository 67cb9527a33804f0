"""Values of the configuration, read as an annotation demands: readers for types that the library cannot check.

Nothing here calls the library. A reader gets a value and its path, as in ``value.hosts.0``. An error has that path, by
which the library finds the location in the document.
"""

from __future__ import annotations

import base64
import binascii
import collections.abc
import dataclasses
import datetime
import decimal
import difflib
import enum
import fractions
import ipaddress
import pathlib
import re
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from .._native import signals
from .._values.members import Members
from ..errors import ConversionError, Error, RangeError, WrongTypeError
from .annotations import hints_of

Reader: TypeAlias = Callable[[Any, str], Any]
Find: TypeAlias = Callable[[type], "Callable[[str], Any] | None"]
_LISTS = (list, collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Iterable)
_SETS = (set, collections.abc.Set, collections.abc.MutableSet)
_MAPS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_PLAIN = (bool, int, float, str, bytes)
_NOTHING: Any = object()


def needs_reader(annotation: Any) -> bool:
    """Whether the kinds of values of the library cannot express an annotation."""
    annotation = _bare(annotation)
    if annotation is Any or annotation is None or annotation in _PLAIN + _LISTS + _MAPS:
        return False
    if isinstance(annotation, (str, typing.TypeVar, typing.ForwardRef)) or annotation in (type(None), object, type):
        return False
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        rest = [each for each in arguments if each is not type(None)]
        return len(rest) > 1 or needs_reader(rest[0])
    if origin in _LISTS:
        return _says_more(arguments[0])
    if origin in _MAPS:
        return _says_more(arguments[1])
    if annotation in _SETS or annotation in (tuple, frozenset) or origin in (*_SETS, tuple, frozenset, Literal):
        return True
    cls = origin if isinstance(origin, type) else annotation
    if not isinstance(cls, type) or typing.is_typeddict(cls):
        return False
    others: tuple[Any, ...] = (type, collections.abc.Callable)
    if cls in others or cls.__module__ == "typing":
        return False
    return not f"{cls.__module__}.".startswith("invivo.")


def has_conditions(annotation: Any) -> bool:
    """Whether `Annotated` has conditions of annotated_types or pydantic, such as ``Gt(0)``."""
    if typing.get_origin(annotation) is not typing.Annotated:
        return False
    return any(not isinstance(note, str) and not _is_own(note) for note in annotation.__metadata__)


def _is_own(note: Any) -> bool:
    return type(note).__module__.startswith("invivo.") or getattr(note, "__module__", "").startswith("invivo.")


def _says_more(annotation: Any) -> bool:
    annotation = _bare(annotation)
    return annotation in _PLAIN or needs_reader(annotation)


def _bare(annotation: Any) -> Any:
    while True:
        if isinstance(annotation, dataclasses.InitVar):
            annotation = annotation.type
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif typing.get_origin(annotation) in (typing.Annotated, typing.Final):
            annotation = typing.get_args(annotation)[0]
        else:
            break
    try:
        hash(annotation)
    except TypeError:
        return Any
    return annotation


def shown(annotation: Any) -> str:
    """Returns an annotation as it is written."""
    if isinstance(annotation, type) and not typing.get_args(annotation):
        return annotation.__name__
    return re.sub(r"\b(?:typing|collections\.abc|[a-z_]+(?:\.[a-z_<>]+)*)\.(?=[A-Za-z])", "", str(annotation))


def displayed(value: Any) -> str:
    """Returns a value of the configuration and its type, for messages."""
    kinds = {bool: "a bool", int: "a whole number", float: "a number", str: "a string", bytes: "bytes", list: "a list"}
    return f"{value!r} ({kinds.get(type(value), 'a map')})"


def read(annotation: Any, value: Any, path: str, find: Find) -> Any:
    """Converts a value of the configuration to an annotated type."""
    annotation = _bare(annotation)
    if annotation is Any or isinstance(annotation, (str, typing.TypeVar, typing.ForwardRef)) or annotation is object:
        return value
    if annotation in (None, type(None)):
        if value is not None:
            raise WrongTypeError(f"{displayed(value)} is not null", path=path)
        return None
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _one_of(annotation, arguments, value, path, find)
    if origin is Literal:
        for each in arguments:
            if type(each) is type(value) and each == value:
                return each
        if isinstance(value, str) and any(isinstance(each, enum.Enum) for each in arguments):
            return next(
                (each for each in arguments if getattr(each, "name", _NOTHING) == value), _none(arguments, value, path)
            )
        return _none(arguments, value, path)
    if annotation in _PLAIN:
        return _plain(annotation, value, path)
    cls = origin or annotation
    if cls in (*_LISTS, *_SETS, tuple, frozenset):
        return _listed(cls, arguments, value, path, find)
    if cls in _MAPS:
        if not isinstance(value, dict):
            raise WrongTypeError(f"{displayed(value)} is not a map", path=path)
        inner = arguments[1] if arguments else Any
        return {name: read(inner, each, f"{path}.{name}", find) for name, each in value.items()}
    if not isinstance(cls, type) or typing.is_typeddict(cls):
        return value
    if issubclass(cls, enum.Enum):
        return member(cls, value, path)
    return _object(cls, value, path, find)


def _none(choices: tuple[Any, ...], value: Any, path: str) -> Any:
    raise RangeError(
        f"{displayed(value)} is none of {', '.join(map(repr, choices))}{nearest(value, choices)}", path=path
    )


def nearest(value: Any, names: Any) -> str:
    if not isinstance(value, str):
        return ""
    found = difflib.get_close_matches(value, [each for each in names if isinstance(each, str)], 1)
    return f"; did you mean {found[0]!r}?" if found else ""


def member(cls: type[enum.Enum], value: Any, path: str = "") -> Any:
    """Returns the member with a value, else the one with a name."""
    if isinstance(value, cls):
        return value
    members = Members(cls)
    found = members.find(value)
    if found is None:
        near = nearest(value, members.words)
        raise RangeError(f"expected a {cls.__name__}, one of {members.accepted}, got {value!r}{near}", path=path)
    return found


def _one_of(annotation: Any, choices: tuple[Any, ...], value: Any, path: str, find: Find) -> Any:
    if value is None and type(None) in choices:
        return None
    for each in choices:  # types that need no conversion are tried first
        if _bare(each) in _PLAIN and type(value) is _bare(each):
            return value
    first: Error | None = None
    rest = [each for each in choices if each is not type(None)]
    for each in rest:
        try:
            return read(each, value, path, find)
        except Error as problem:
            first = first or problem
    if len(rest) == 1 and first is not None:
        raise first
    raise WrongTypeError(f"expected {shown(annotation)}, got {displayed(value)}", path=path)


# The numbers in strings: those of YAML without its underscores, infinities and 'nan'.
WHOLE = re.compile(r"[+-]?(?:0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+|[0-9]+)")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def whole(text: str) -> int:
    """Returns the number that a string of `WHOLE` says: '0x10', '007'."""
    return int(text, 0 if text.lstrip("+-")[1:2] in ("x", "o", "b") else 10)


def _plain(cls: type, value: Any, path: str) -> Any:
    if type(value) is cls:
        return value
    if cls is float and type(value) is int:
        return float(value)
    if cls is int and type(value) is float and value.is_integer():
        return int(value)
    if isinstance(value, str):
        try:
            if cls is int and WHOLE.fullmatch(value):
                return whole(value)
            if cls is float and NUMBER.fullmatch(value):
                return float(value)
            if cls is bytes:
                return base64.b64decode(value, validate=True)
        except (ValueError, binascii.Error):
            pass
        if cls is bool and value in ("true", "false"):
            return value == "true"
    wanted = {
        bool: "'true' or 'false'",
        int: "a whole number",
        float: "a number",
        str: "a string",
        bytes: "bytes in base64",
    }
    raise WrongTypeError(f"{displayed(value)} is not {wanted[cls]}", path=path)


def _listed(cls: Any, arguments: tuple[Any, ...], value: Any, path: str, find: Find) -> Any:
    if not isinstance(value, list):
        raise WrongTypeError(f"{displayed(value)} is not a list", path=path)
    if cls is tuple and arguments and arguments[-1] is not ...:
        if len(arguments) != len(value):
            raise WrongTypeError(f"{len(arguments)} items are wanted, and there are {len(value)}", path=path)
        inner: list[Any] = list(arguments)
    else:
        inner = [arguments[0] if arguments else Any] * len(value)
    items = [read(of, each, f"{path}.{i}", find) for i, (of, each) in enumerate(zip(inner, value, strict=True))]
    if cls is tuple:
        return tuple(items)
    if cls is frozenset:
        return frozenset(items)
    return set(items) if cls in _SETS else items


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
    return datetime.timedelta(microseconds=float(seconds * 1_000_000))


CONVERTERS: dict[type, Callable[[str], Any]] = {
    **{cls: cls for cls in (pathlib.Path, pathlib.PurePath, pathlib.PosixPath, pathlib.PurePosixPath)},
    **{cls: cls for cls in (decimal.Decimal, fractions.Fraction, uuid.UUID)},
    **{cls: cls for cls in (ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network)},
    **{cls: cls for cls in (ipaddress.IPv6Network, ipaddress.IPv4Interface, ipaddress.IPv6Interface)},
    **{cls: cls.fromisoformat for cls in (datetime.date, datetime.datetime, datetime.time)},
    datetime.timedelta: duration,
}

_NUMBERS = (decimal.Decimal, fractions.Fraction)  # from a number too, by its digits: 0.1 is 1/10


def _object(cls: type, value: Any, path: str, find: Find) -> Any:
    own = find(cls)
    if own is not None and isinstance(value, str):
        return own(value)
    if isinstance(value, str) or (cls in _NUMBERS and type(value) in (int, float)):
        convert = CONVERTERS.get(cls)
        if convert is not None:
            try:
                return convert(str(value))
            except Exception as problem:
                raise _refused(cls, value, problem, path) from problem
    validate = getattr(cls, "model_validate", None)
    if validate is not None:
        try:
            return validate(value)
        except Exception as problem:
            raise _refused(cls, value, problem, path) from problem
    if isinstance(value, dict) and dataclasses.is_dataclass(cls):
        return _dataclass(cls, value, path, find)
    name = cls.__name__
    if isinstance(value, str):
        raise WrongTypeError(
            f"{displayed(value)} is not an object, and nothing reads a {name} from a string: register one by "
            f"runtime.converter({name}, function), or give the {name} by invivo.new(function, invivo.config(...))",
            path=path,
        )
    raise WrongTypeError(
        f"{displayed(value)} is not an object, and no {name} is made of it: give the {name} by "
        "invivo.new(function, invivo.config(...)), with a function that makes it",
        path=path,
    )


def _refused(cls: type, value: Any, problem: Exception, path: str) -> Error:
    signals.pass_on(problem)
    if isinstance(problem, Error):
        problem.path = problem.path or path
        return problem
    return ConversionError(
        f"{displayed(value)} cannot be read as {cls.__name__}: {type(problem).__name__}: {problem}", path=path
    )


def _dataclass(cls: type, value: dict[str, Any], path: str, find: Find) -> Any:
    hints = hints_of(cls)
    fields = {each.name: each for each in dataclasses.fields(cls) if each.init}
    given = {}
    for name, each in value.items():
        if name not in fields:
            known = ", ".join(fields)
            message = f"{cls.__name__} has no field {name!r}; it has {known}{nearest(name, fields)}"
            raise WrongTypeError(message, path=f"{path}.{name}")
        given[name] = read(hints.get(name, Any), each, f"{path}.{name}", find)
    for name, field in fields.items():
        if name not in given and field.default is field.default_factory is dataclasses.MISSING:
            raise WrongTypeError(f"{cls.__name__} wants the field {name!r}, which is not there", path=path)
    try:
        return cls(**given)
    except Exception as problem:
        raise _refused(cls, value, problem, path) from problem
