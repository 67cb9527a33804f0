"""Weak pools, and scopes of the host's own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import _generated as c
from . import _trampolines, _values
from ._describe import check_callback
from ._leases import ObjectCell
from .errors import RangeError, WrongTypeError

if TYPE_CHECKING:
    from ._core import Core

D = TypeVar("D")


class _Maker:
    """What makes an entry."""

    def __init__(self, core: Core, make: Callable[[Any], Any]) -> None:
        self.core, self.make = core, make


@_trampolines.answering(c.invivo_callbacks, "pool_make", user_data=0)
def _make(item: _Maker, _: int, key: Any, out: Any, error: Any) -> None:
    thing = item.make(_key(_values.read(item.core, key[0])))
    item.core.hand_over(_checked(thing), out)


_NONE = _trampolines.signature(c.invivo_pool_options, "make")()


def _key(value: Any) -> Any:
    """A key as Python has it: lists are tuples."""
    return tuple(map(_key, value)) if isinstance(value, list) else value


def _checked(thing: Any) -> Any:
    if thing is None or not type(thing).__weakrefoffset__:
        raise WrongTypeError(f"a pool holds what can be referred to weakly, and a {type(thing).__name__} cannot")
    return thing


class Pool:
    """A table that finds what is alive by a key, and keeps nothing alive. An entry lives as long as somebody holds it.

    Shared with the other languages of the process by its name. Keys are numbers, texts, bytes, bools, and tuples
    of these.
    """

    def __init__(self, core: Core, handle: c.invivo_pool, name: str | None) -> None:
        self._core, self._handle, self.name = core, handle, name

    @classmethod
    def _open(cls, core: Core, name: str | None, make: Callable[[Any], Any] | None) -> Pool:
        options, handle = c.invivo_pool_options(), c.invivo_pool()
        options.struct_size = ctypes.sizeof(options)
        if name is not None:
            options.name = _values.name_bytes(name)
        number = None
        if make is not None:
            check_callback(make, ("key",), "the function that makes a pool's entries")
            number = _trampolines.enroll(_Maker(core, make))
            options.make, options.user_data = _make.of(core.library), number
            options.destroy = _trampolines.destroy.of(core.library)
        try:
            core.library.call("pool_open", core.handle, ctypes.byref(options), ctypes.byref(handle))
        except BaseException:
            _trampolines.dismiss(number)
            raise
        return cls(core, handle, name)

    @classmethod
    def _find(cls, core: Core, name: str) -> Pool:
        handle = c.invivo_pool()
        core.library.call("pool_find", core.handle, _values.name_bytes(name), ctypes.byref(handle))
        return cls(core, handle, name)

    def get(self, key: Any, make: Callable[[Any], Any] | None = None) -> Any:
        """The living object of a key, or a new one that ``make(key)`` (None: the pool's own) answers: called once,
        however many threads ask. Without one what is missing is a NotFoundError."""
        core = self._core
        core.check()
        out = core.cell()
        number = None if make is None else _trampolines.enroll(_Maker(core, make))
        try:
            with _values.Packer(core) as packer:
                value = packer.value(key)
                core.library.call(
                    "pool_get",
                    self._handle,
                    ctypes.byref(value),
                    _NONE if make is None else _make.of(core.library),
                    number,
                    ctypes.byref(out),
                )
            return core.take(out)
        except BaseException:
            core.drop(out.number)
            raise
        finally:
            _trampolines.dismiss(number)

    @overload
    def peek(self, key: Any) -> Any: ...
    @overload
    def peek(self, key: Any, default: D) -> Any | D: ...
    def peek(self, key: Any, default: Any = None) -> Any:
        """The living object of a key, or ``default``."""
        core = self._core
        core.check()
        out = core.cell()
        try:
            self._find_entry(key, out)
            if out.bits:
                return core.take(out)
        except BaseException:
            core.drop(out.number)
            raise
        core.drop(out.number)
        return default

    def _find_entry(self, key: Any, out: ObjectCell) -> None:
        """The living object of a key, leased."""
        with _values.Packer(self._core) as packer:
            value = packer.value(key)
            self._core.library.pool_peek(self._handle, ctypes.byref(value), ctypes.byref(out))

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __setitem__(self, key: Any, thing: Any) -> None:
        """Enters an object that exists, in the place of what the key had."""
        core = self._core
        core.check()
        held = core.cell()
        try:
            core.lease(_checked(thing), held)
            with _values.Packer(core) as packer:
                value = packer.value(key)
                core.library.call("pool_put", self._handle, ctypes.byref(value), held)
        finally:
            core.drop(held.number)

    def __delitem__(self, key: Any) -> None:
        """Forgets an entry; its object lives on."""
        self._core.check()
        with _values.Packer(self._core) as packer:
            value = packer.value(key)
            self._core.library.call("pool_remove", self._handle, ctypes.byref(value))

    def __contains__(self, key: Any) -> bool:
        core = self._core
        core.check()
        out = core.cell()
        try:
            self._find_entry(key, out)
            return bool(out.bits)
        finally:
            core.drop(out.number)

    def items(self) -> list[tuple[Any, Any]]:
        """The living entries, in no order: keys and objects."""
        self._core.check()
        return [(_key(key), thing) for key, thing in _values.ask(self._core, "pool_list", self._handle)]

    def keys(self) -> list[Any]:
        return [key for key, _ in self.items()]

    def values(self) -> list[Any]:
        return [thing for _, thing in self.items()]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __len__(self) -> int:
        """How many entries are alive, counted now."""
        self._core.check()
        count = ctypes.c_uint64()
        self._core.library.call("pool_count", self._handle, ctypes.byref(count))
        return count.value

    def __bool__(self) -> bool:
        return True

    def clear(self) -> int:
        """Forgets all entries, as a reload of which observers hear; how many lived."""
        self._core.check()
        count = ctypes.c_uint64()
        self._core.library.call("pool_clear", self._handle, ctypes.byref(count))
        return count.value

    def close(self) -> None:
        """Ends the pool; the objects are who holds them's. May be called again."""
        handle, self._handle = self._handle, c.invivo_pool()
        if handle.bits and not self._core.closed:
            self._core.library.call("pool_close", handle)

    def __repr__(self) -> str:
        return f"<invivo.Pool{' ' + self.name if self.name else ''}>"


class _Scope:
    """A scope of the host's: a function that says where the code is."""

    def __init__(
        self,
        core: Core,
        find: Callable[[], int | None],
        keep: Callable[[int, str], None] | None,
        drop: Callable[[int, str], None] | None,
    ) -> None:
        self.core, self.find, self.keep, self.drop = core, find, keep, drop


@_trampolines.answering(c.invivo_callbacks, "scope_find", user_data=0)
def _find(item: _Scope, _: int, place: Any, error: Any) -> None:
    found = item.find() or 0
    if not isinstance(found, int) or not 0 <= found < 1 << 64:
        raise RangeError(f"a place of a scope is a number of 1 to {(1 << 64) - 1}, or None, not {found!r}")
    place[0] = found


def _key_name(core: Core, key: Any) -> str:
    return (core.library.key_name(key) or b"").decode("utf-8", "replace")


@_trampolines.telling(c.invivo_callbacks, "scope_keep", user_data=0)
def _keep(item: _Scope, _: int, place: int, key: Any, __: Any) -> None:
    if item.keep is not None:
        item.keep(place, _key_name(item.core, key))


@_trampolines.telling(c.invivo_callbacks, "scope_drop", user_data=0)
def _drop(item: _Scope, _: int, place: int, key: Any, __: Any) -> None:
    if item.drop is not None:
        item.drop(place, _key_name(item.core, key))


def register_scope(
    core: Core,
    name: str,
    find: Callable[[], int | None],
    keep: Callable[[int, str], None] | None,
    drop: Callable[[int, str], None] | None,
) -> None:
    check_callback(find, (), "the function that finds a scope's place")
    for function in (keep, drop):
        if function is not None:
            check_callback(function, ("place", "key"), "a listener of a scope")
    options = c.invivo_scope_options()
    options.struct_size = ctypes.sizeof(options)
    options.name = _values.name_bytes(name)
    number = _trampolines.enroll(_Scope(core, find, keep, drop))
    options.find, options.user_data = _find.of(core.library), number
    if keep is not None:
        options.keep = _keep.of(core.library)
    if drop is not None:
        options.drop = _drop.of(core.library)
    options.destroy = _trampolines.destroy.of(core.library)
    try:
        core.library.call("scope_register", core.handle, ctypes.byref(options))
    except BaseException:
        _trampolines.dismiss(number)
        raise


def end_scope(core: Core, name: str, place: int) -> None:
    core.library.call("scope_end", core.handle, _values.name_bytes(name), place)
