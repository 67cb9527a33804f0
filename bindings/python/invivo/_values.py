"""Values both ways, exactly: what is Python's becomes an `invivo_value`, and back."""

from __future__ import annotations

import ctypes
import decimal
import enum
import fractions
import functools
import math
import operator
import os
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _generated as c
from ._exact import Exact
from ._hints import KIND_NAMES, enum_number
from ._leases import CallableCell, Cell, ValueCell
from ._marks import Enumeration
from .errors import EncodingError, Error, InternalError, RangeError, TooLargeError, WrongTypeError, within

if TYPE_CHECKING:
    from ._core import Core

_parts: Callable[[Any], Any] = operator.attrgetter("as")  # the union's name is a word that Python keeps for itself

_SIGNED = {kind: 8 << place for place, kind in enumerate(range(c.INVIVO_KIND_INT8, c.INVIVO_KIND_INT64 + 1))}
_UNSIGNED = {kind: 8 << place for place, kind in enumerate(range(c.INVIVO_KIND_UINT8, c.INVIVO_KIND_UINT64 + 1))}
_FLOATS = (c.INVIVO_KIND_FLOAT, c.INVIVO_KIND_DOUBLE)
_FLOAT_MAX = 3.4028235677973366e38  # where rounding to a float goes past its largest number
_DEEPEST = 64  # as the library has it
_EXACT = (decimal.Decimal, fractions.Fraction)  # a double would be another number
_FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    functools.partial,
)


def text_bytes(text: str, what: str = "text") -> bytes:
    """UTF-8; a lone surrogate is an error, not a replacement."""
    try:
        return text.encode()
    except UnicodeEncodeError as problem:
        raise EncodingError(f"{what} {text!r} cannot be written as UTF-8: {problem.reason}") from None


def name_bytes(text: str, what: str = "name") -> bytes:
    """A NUL-terminated text: one with a NUL inside would be cut."""
    if "\0" in text:
        raise EncodingError(f"{what} {text!r} has a NUL in it")
    return text_bytes(text, what)


def path_bytes(path: str | os.PathLike[str]) -> bytes:
    """A path as the system takes it."""
    data = os.fsencode(path)
    if b"\0" in data:
        raise EncodingError(f"the path {os.fspath(path)!r} has a NUL in it")
    return data


# ---- to the library ------------------------------------------------------------------------------------


# What is a value of its own also where an object is wanted, for the library to say that it is none.
_PLAIN = {bool, int, float, complex, str, bytes, bytearray, memoryview, list, tuple, dict, set, frozenset}
_NO_OBJECTS = (type(None), type, enum.Enum, Enumeration, *_FUNCTIONS)


class Packer:
    """Makes values for one call, and holds until its end what they point at and the leases they carry."""

    __slots__ = ("_cells", "_core", "_depth", "_held")

    def __init__(self, core: Core) -> None:
        self._core = core
        self._held: list[Any] = []
        self._depth = 0
        self._cells: list[Cell] = []

    def __enter__(self) -> Packer:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.clear()
        for each in reversed(self._cells):
            self._core.drop(each.number)
        self._cells.clear()

    def hold(self, thing: Any) -> None:
        self._held.append(thing)

    def value(self, thing: Any, kind: int = c.INVIVO_KIND_ANY) -> c.invivo_value:
        made = c.invivo_value()
        self.fill(made, thing, kind)
        return made

    def array(self, things: Iterable[Any], names: Sequence[str] = (), kinds: Sequence[int] = ()) -> tuple[Any, int]:
        """An error in it says which it is, by its name or number; ``kinds`` are those of the places."""
        items = list(things)
        if not items:
            return None, 0
        array = (c.invivo_value * len(items))()
        done = 0
        try:
            for slot, item in zip(array, items, strict=True):
                self.fill(slot, item, kinds[done] if done < len(kinds) else c.INVIVO_KIND_ANY)
                done += 1
        except Error as problem:
            problem.place(names[done] if done < len(names) else str(done))
            raise
        self._held.append(array)
        return array, len(items)

    def fill(self, value: Any, thing: Any, kind: int = c.INVIVO_KIND_ANY) -> None:
        """Writes a thing into a zeroed value; ``kind`` is what the place says: of a number the width, and whether what
        could be a text, a list or a callable goes there as the object that it is."""
        if kind == c.INVIVO_KIND_OBJECT and not isinstance(thing, _NO_OBJECTS) and type(thing) not in _PLAIN:
            self._object(value, thing)
            return
        if put_scalar(value, thing, kind):
            return
        if type(thing) is Exact:
            self._object(value, thing)
        elif isinstance(thing, enum.Enum):
            self._enumeration(value, enum_number(thing), thing.name)
        elif isinstance(thing, Enumeration):
            self._enumeration(value, int(thing), thing.name)
        elif isinstance(thing, str):
            value.kind = c.INVIVO_KIND_STRING
            self._data(_parts(value).string, text_bytes(thing))
        elif isinstance(thing, (bytes, bytearray, memoryview)):
            value.kind = c.INVIVO_KIND_BYTES
            self._data(_parts(value).bytes, bytes(thing))
        elif isinstance(thing, (list, tuple, Mapping)):
            self._depth += 1
            if self._depth > _DEEPEST:  # one that holds itself has no end
                raise TooLargeError(f"lists and maps are nested deeper than {_DEEPEST}")
            if isinstance(thing, Mapping):
                self._map(value, thing)
            else:
                self._list(value, thing)
            self._depth -= 1
        else:
            self._handle(value, thing, kind)

    def _data(self, place: Any, data: bytes) -> None:
        self._held.append(data)
        place.data = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
        place.length = len(data)

    def _enumeration(self, value: Any, number: int, name: str | None) -> None:
        if not -(1 << 63) <= number < 1 << 63:
            raise RangeError(f"the number {number} of an enumeration does not fit into 64 bits")
        value.kind = c.INVIVO_KIND_ENUMERATION
        whole = _parts(value).enumeration
        whole.number = number
        if name is not None:
            data = name_bytes(name)
            self._held.append(data)
            whole.name = data

    def _list(self, value: Any, thing: Sequence[Any]) -> None:
        array, count = self.array(thing)
        value.kind = c.INVIVO_KIND_LIST
        whole = _parts(value).list
        whole.items, whole.count = array, count

    def _map(self, value: Any, thing: Mapping[Any, Any]) -> None:
        pairs = (c.invivo_pair * len(thing))()
        for pair, (name, item) in zip(pairs, thing.items(), strict=True):
            if not isinstance(name, str):
                raise WrongTypeError(f"the keys of a map are texts; {name!r} is {_a(type(name))}")
            data = text_bytes(name, "key")
            self._held.append(data)
            pair.name = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
            pair.length = len(data)
            with within(name):
                self.fill(pair.value, item)
        self._held.append(pairs)
        value.kind = c.INVIVO_KIND_MAP
        whole = _parts(value).map
        whole.pairs, whole.count = pairs if len(thing) else None, len(thing)

    def _handle(self, value: Any, thing: Any, kind: int) -> None:
        core = self._core
        if kind == c.INVIVO_KIND_CALLABLE and callable(thing):
            self._callable(value, thing)
            return
        if isinstance(thing, type) or core.is_type(thing):
            value.kind = c.INVIVO_KIND_TYPE
            _parts(value).type.bits = core.type_bits(thing)
            return
        known = core.is_object(thing)
        if not known and (isinstance(thing, _FUNCTIONS) or callable(thing)):
            self._callable(value, thing)
        elif not known and hasattr(type(thing), "__index__"):
            self.fill(value, operator.index(thing))
        elif not known and hasattr(type(thing), "__float__") and (kind in _FLOATS or not isinstance(thing, _EXACT)):
            self.fill(value, float(thing))
        else:
            self._object(value, thing)

    def _callable(self, value: Any, thing: Any) -> None:
        cell = self._core.leases.cell(CallableCell)
        self._cells.append(cell)
        self._core.lease_callable(thing, cell)
        value.kind = c.INVIVO_KIND_CALLABLE
        _parts(value).callable = cell

    def _object(self, value: Any, thing: Any) -> None:
        if type(thing) is Exact and thing.is_argument:
            thing = self._core.known_exact(thing)
        cell = self._core.cell()
        self._cells.append(cell)
        self._core.lease(thing, cell)
        value.kind = c.INVIVO_KIND_OBJECT
        _parts(value).object = cell


def _a(cls: type) -> str:
    return f"{'an' if cls.__name__[:1] in 'aeiou' else 'a'} {cls.__name__}"


def put_scalar(value: Any, thing: Any, kind: int) -> bool:
    """Writes what needs no memory besides the value itself; False when the thing is no such."""
    if thing is None:
        value.kind = c.INVIVO_KIND_NULL
    elif thing is True or thing is False:
        value.kind = c.INVIVO_KIND_BOOL
        _parts(value).boolean = thing
    elif isinstance(thing, float) and not isinstance(thing, enum.Enum):
        _put_float(value, thing, kind)
    elif isinstance(thing, int) and not isinstance(thing, (enum.Enum, Enumeration)):
        if kind in _FLOATS:
            _put_float(value, _exact(thing), kind)
        else:
            _put_integer(value, thing, kind)
    else:
        return False
    return True


def _exact(thing: int) -> float:
    try:
        number = float(thing)
    except OverflowError:
        raise RangeError(f"{thing} is too large for a double") from None
    if int(number) != thing:
        raise RangeError(f"{thing} has no exact double")
    return number


def _put_float(value: Any, thing: float, kind: int) -> None:
    if kind == c.INVIVO_KIND_FLOAT:
        if _FLOAT_MAX <= abs(thing) < float("inf"):
            raise RangeError(f"{thing} does not fit into a float")
        value.kind = kind
        _parts(value).single = thing
    else:
        value.kind = c.INVIVO_KIND_DOUBLE
        _parts(value).number = thing


def _put_integer(value: Any, thing: int, kind: int) -> None:
    bits = _SIGNED.get(kind)
    if bits is not None:
        low, high, signed = -(1 << (bits - 1)), (1 << (bits - 1)) - 1, True
    elif kind in _UNSIGNED:
        low, high, signed = 0, (1 << _UNSIGNED[kind]) - 1, False
    else:
        low, high = -(1 << 63), (1 << 64) - 1
        signed = thing < 1 << 63
        kind = c.INVIVO_KIND_INT64 if signed else c.INVIVO_KIND_UINT64
    if not low <= thing <= high:
        name = KIND_NAMES[kind] if kind in _SIGNED or kind in _UNSIGNED else "64 bits"
        if thing < -(1 << 63) or thing >= 1 << 64:
            name = "64 bits"
        raise RangeError(f"{thing} does not fit into {name}: {low} to {high}")
    value.kind = kind
    if signed:
        _parts(value).signed_integer = thing
    else:
        _parts(value).unsigned_integer = thing


def limits(kind: int) -> tuple[float, float]:
    """The least and the largest double that a kind of number holds."""
    if kind in _SIGNED:
        bits = _SIGNED[kind] - 1
        return -float(1 << bits), math.nextafter(float(1 << bits), 0) if bits > 53 else float((1 << bits) - 1)
    if kind in _UNSIGNED:
        bits = _UNSIGNED[kind]
        return 0.0, math.nextafter(float(1 << bits), 0) if bits > 53 else float((1 << bits) - 1)
    return -math.inf, math.inf


def answer(core: Core, out: Any, thing: Any, kind: int = c.INVIVO_KIND_ANY) -> None:
    """Makes a callback's out parameter an owned value."""
    if not out:
        return
    if put_scalar(out[0], thing, kind):
        return
    with Packer(core) as packer:
        value = packer.value(thing, kind)
        core.library.call("value_copy", out, ctypes.byref(value))


# ---- from the library ----------------------------------------------------------------------------------


def _string(core: Core | Wrapped, parts: Any) -> str:
    whole = parts.string
    return ctypes.string_at(whole.data, whole.length).decode("utf-8") if whole.length else ""


def _bytes(core: Core | Wrapped, parts: Any) -> bytes:
    whole = parts.bytes
    return ctypes.string_at(whole.data, whole.length) if whole.length else b""


def _list(core: Core | Wrapped, parts: Any) -> list[Any]:
    whole = parts.list
    return [read(core, whole.items[index]) for index in range(whole.count)]


def pair_name(pair: Any) -> str:
    return ctypes.string_at(pair.name, pair.length).decode("utf-8", "replace") if pair.length else ""


def _map(core: Core | Wrapped, parts: Any) -> dict[str, Any]:
    whole = parts.map
    pairs = (whole.pairs[index] for index in range(whole.count))
    return {pair_name(pair): read(core, pair.value) for pair in pairs}


def _enumeration(core: Core | Wrapped, parts: Any) -> Enumeration:
    whole = parts.enumeration
    return Enumeration(whole.number, whole.name.decode("utf-8", "replace") if whole.name else None)


_READERS: dict[int, Callable[[Core | Wrapped, Any], Any]] = {
    c.INVIVO_KIND_NULL: lambda core, parts: None,
    c.INVIVO_KIND_BOOL: lambda core, parts: parts.boolean,
    **dict.fromkeys(_SIGNED, lambda core, parts: parts.signed_integer),
    **dict.fromkeys(_UNSIGNED, lambda core, parts: parts.unsigned_integer),
    c.INVIVO_KIND_FLOAT: lambda core, parts: parts.single,
    c.INVIVO_KIND_DOUBLE: lambda core, parts: parts.number,
    c.INVIVO_KIND_STRING: _string,
    c.INVIVO_KIND_BYTES: _bytes,
    c.INVIVO_KIND_LIST: _list,
    c.INVIVO_KIND_MAP: _map,
    c.INVIVO_KIND_OBJECT: lambda core, parts: core.receive_value(parts.object.bits),
    c.INVIVO_KIND_TYPE: lambda core, parts: core.receive_type(parts.type.bits),
    c.INVIVO_KIND_CALLABLE: lambda core, parts: core.receive_callable(parts.callable.bits),
    c.INVIVO_KIND_ENUMERATION: _enumeration,
}


class Wrapped:
    """Reads values in the place of a core, and leaves those that crossed as objects wrapped."""

    def __init__(self, core: Core) -> None:
        self.receive_value: Callable[[int], Any] = core.receive
        self.receive_type: Callable[[int], Any] = core.receive_type
        self.receive_callable: Callable[[int], Any] = core.receive_callable


def read(core: Core | Wrapped, value: Any) -> Any:
    """A borrowed value as Python's own."""
    reader = _READERS.get(value.kind)
    if reader is None:
        raise InternalError(f"a value has kind {value.kind}, which this package does not know")
    return reader(core, _parts(value))


def read_all(core: Core, values: Any, count: int) -> list[Any]:
    return [read(core, values[index]) for index in range(count)]


def ask(core: Core, function: str, *arguments: Any, wrapped: bool = False) -> Any:
    """Calls a function whose last argument is an owned value, and answers that as Python's own. ``wrapped``: what
    crossed as an object stays wrapped."""
    cell = core.leases.cell(ValueCell)
    try:
        core.library.call(function, *arguments, ctypes.byref(cell))
        return read(Wrapped(core) if wrapped else core, cell)
    finally:
        core.drop(cell.number)
