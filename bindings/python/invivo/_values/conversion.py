"""Conversion of values: a Python value becomes an `invivo_value`, and back, without loss."""

from __future__ import annotations

import ctypes
import decimal
import enum
import fractions
import functools
import operator
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .. import _generated as c
from .._native.leases import CallableCell, Cell, ValueCell
from .._native.strings import name_bytes, text_bytes
from ..errors import Error, InternalError, RangeError, TooLargeError, WrongTypeError, within
from .enumeration import Enumeration
from .exact import Exact
from .handles import Handles
from .kinds import FLOATS, KIND_NAMES, SIGNED, UNSIGNED, enum_number

_parts: Callable[[Any], Any] = operator.attrgetter("as")  # the name of the union is a keyword of Python
_FLOAT_MAX = 3.4028235677973366e38  # from here on a number is rounded beyond the largest float
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

# Types that stay values where an object is expected, so that the library reports that they are none.
_PLAIN = {bool, int, float, complex, str, bytes, bytearray, memoryview, list, tuple, dict, set, frozenset}
_NO_OBJECTS = (type(None), type, enum.Enum, Enumeration, *_FUNCTIONS)


class Packer:
    """Converts values for one call, and holds the memory and leases that they refer to until its end."""

    __slots__ = ("_cells", "_core", "_depth", "_held")

    def __init__(self, core: Handles) -> None:
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
        """Converts several values. An error names the value by its name or index. ``kinds`` are those of the
        parameters.
        """
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
        """Writes a value into zeroed memory.

        ``kind`` is the kind of the parameter: the width of a number, and whether an object that could be a string, a
        list or a callable crosses as an object.
        """
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
        elif not known and hasattr(type(thing), "__float__") and (kind in FLOATS or not isinstance(thing, _EXACT)):
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
    """Writes a value that needs no other memory. Returns False if it is another one."""
    if thing is None:
        value.kind = c.INVIVO_KIND_NULL
    elif thing is True or thing is False:
        value.kind = c.INVIVO_KIND_BOOL
        _parts(value).boolean = thing
    elif isinstance(thing, float) and not isinstance(thing, enum.Enum):
        _put_float(value, thing, kind)
    elif isinstance(thing, int) and not isinstance(thing, (enum.Enum, Enumeration)):
        if kind in FLOATS:
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
    bits = SIGNED.get(kind)
    if bits is not None:
        low, high, signed = -(1 << (bits - 1)), (1 << (bits - 1)) - 1, True
    elif kind in UNSIGNED:
        low, high, signed = 0, (1 << UNSIGNED[kind]) - 1, False
    else:
        low, high = -(1 << 63), (1 << 64) - 1
        signed = thing < 1 << 63
        kind = c.INVIVO_KIND_INT64 if signed else c.INVIVO_KIND_UINT64
    if not low <= thing <= high:
        name = KIND_NAMES[kind] if kind in SIGNED or kind in UNSIGNED else "64 bits"
        if thing < -(1 << 63) or thing >= 1 << 64:
            name = "64 bits"
        raise RangeError(f"{thing} does not fit into {name}: {low} to {high}")
    value.kind = kind
    if signed:
        _parts(value).signed_integer = thing
    else:
        _parts(value).unsigned_integer = thing


def answer(core: Handles, out: Any, thing: Any, kind: int = c.INVIVO_KIND_ANY) -> None:
    """Makes the out parameter of a callback an owned value."""
    if not out:
        return
    if put_scalar(out[0], thing, kind):
        return
    with Packer(core) as packer:
        value = packer.value(thing, kind)
        core.library.call("value_copy", out, ctypes.byref(value))


def _string(core: Handles | Wrapped, parts: Any) -> str:
    whole = parts.string
    return ctypes.string_at(whole.data, whole.length).decode("utf-8") if whole.length else ""


def _bytes(core: Handles | Wrapped, parts: Any) -> bytes:
    whole = parts.bytes
    return ctypes.string_at(whole.data, whole.length) if whole.length else b""


def _list(core: Handles | Wrapped, parts: Any) -> list[Any]:
    whole = parts.list
    return [read(core, whole.items[index]) for index in range(whole.count)]


def pair_name(pair: Any) -> str:
    return ctypes.string_at(pair.name, pair.length).decode("utf-8", "replace") if pair.length else ""


def _map(core: Handles | Wrapped, parts: Any) -> dict[str, Any]:
    whole = parts.map
    pairs = (whole.pairs[index] for index in range(whole.count))
    return {pair_name(pair): read(core, pair.value) for pair in pairs}


def _enumeration(core: Handles | Wrapped, parts: Any) -> Enumeration:
    whole = parts.enumeration
    return Enumeration(whole.number, whole.name.decode("utf-8", "replace") if whole.name else None)


_READERS: dict[int, Callable[[Handles | Wrapped, Any], Any]] = {
    c.INVIVO_KIND_NULL: lambda core, parts: None,
    c.INVIVO_KIND_BOOL: lambda core, parts: parts.boolean,
    **dict.fromkeys(SIGNED, lambda core, parts: parts.signed_integer),
    **dict.fromkeys(UNSIGNED, lambda core, parts: parts.unsigned_integer),
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
    """Reads values as `Handles` does, but leaves objects wrapped that crossed as wrappers."""

    def __init__(self, core: Handles) -> None:
        self.receive_value: Callable[[int], Any] = core.receive
        self.receive_type: Callable[[int], Any] = core.receive_type
        self.receive_callable: Callable[[int], Any] = core.receive_callable


def read(core: Handles | Wrapped, value: Any) -> Any:
    """Returns a borrowed value as a Python value."""
    reader = _READERS.get(value.kind)
    if reader is None:
        raise InternalError(f"a value has kind {value.kind}, which this package does not know")
    return reader(core, _parts(value))


def read_all(core: Handles, values: Any, count: int) -> list[Any]:
    return [read(core, values[index]) for index in range(count)]


def ask(core: Handles, function: str, *arguments: Any, wrapped: bool = False) -> Any:
    """Calls a function whose last argument is an owned value, and returns the value. ``wrapped``: wrappers stay
    wrapped.
    """
    cell = core.leases.cell(ValueCell)
    try:
        core.library.call(function, *arguments, ctypes.byref(cell))
        return read(Wrapped(core) if wrapped else core, cell)
    finally:
        core.drop(cell.number)
