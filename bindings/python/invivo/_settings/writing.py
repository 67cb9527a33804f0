"""Python values as spec files contain them: the reverse of the readers of `Schema`.

Nothing here calls the library.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import re
from collections.abc import Mapping
from typing import Any

from .._declarations.secrets import is_secret_class
from .._values.enumeration import Enumeration
from .._values.foreign import Object
from ..errors import TooLargeError, WrongTypeError, within
from . import models, records, scalars

_PLAIN = (bool, int, float, str, type(None), Enumeration)
_DEEPEST = 64  # as the library has it


def written(value: Any) -> Any:
    """Returns a value as a spec file contains it: a duration as '5 s', a path as a string, a model as a map.

    A number, a string, bytes, a choice or an object of the library stays as it is.
    """
    if isinstance(value, (bytes, enum.Enum)):
        return value
    return _written(value, 0)


def _written(value: Any, depth: int) -> Any:
    if isinstance(value, enum.Enum):
        return value.value if type(value.value) in (bool, int, float, str) else value.name
    if isinstance(value, _PLAIN):
        return value
    if depth > _DEEPEST:  # one that contains itself has no end
        raise TooLargeError(f"lists and maps are nested deeper than {_DEEPEST}")
    fields = _fields(value)
    if fields is not None:
        return _map(fields, depth)
    if isinstance(value, Mapping):
        return _map(value, depth)
    if isinstance(value, (list, tuple)):
        return [_written(each, depth + 1) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_written(each, depth + 1) for each in value), key=repr)  # equal sets are equal lists
    return _single(value)


def _map(fields: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
    found = {}
    for name, each in fields.items():
        key = name if isinstance(name, str) else str(_written(name, depth + 1))
        with within(key):
            found[key] = _written(each, depth + 1)
    return found


def _fields(value: Any) -> Mapping[str, Any] | None:
    """Returns the fields of a model or record under their names in documents; None for another value."""
    cls = type(value)
    if models.is_model(cls):
        return {written: getattr(value, name) for name, written in models.written_names(cls)} | (
            getattr(value, "__pydantic_extra__", None) or {}
        )
    if dataclasses.is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.init}
    if isinstance(value, tuple) and records.fields_of(cls) is not None:
        return {name: getattr(value, name) for name in records.fields_of(cls) or ()}
    return None


def _single(value: Any) -> Any:
    """Returns a value of a class that documents write as a string or number."""
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, re.Pattern):
        return value.pattern
    if is_secret_class(type(value)):
        return _written(value.get_secret_value(), 0)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, tuple(scalars.CONVERTERS)):
        return str(value)
    if isinstance(value, (type, Object, bytearray, memoryview)) or _is_number(value):
        return value
    raise WrongTypeError(
        f"an object of class {type(value).__name__} cannot be written in a spec file; expected a number, a string, a "
        "list, a map, or an object of a dataclass or a pydantic model"
    )


def _is_number(value: Any) -> bool:
    return hasattr(type(value), "__index__") or hasattr(type(value), "__float__")


def _duration(value: datetime.timedelta) -> str:
    microseconds = value // datetime.timedelta(microseconds=1)
    for unit, count in (("s", 1_000_000), ("ms", 1_000)):
        if microseconds % count == 0:
            return f"{microseconds // count} {unit}"
    return f"{microseconds} us"


def _decimal(value: decimal.Decimal) -> Any:
    """Returns a number if it reads as the same decimal, so that an attribute of type float accepts it, too."""
    for number in (int, float):
        try:
            found = number(value)
        except (ValueError, OverflowError):  # infinite, or not a number
            continue
        if str(found) == str(value) and abs(found) < 1 << 63:
            return found
    return str(value)
