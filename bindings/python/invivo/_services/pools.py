"""Weak pools."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, overload

from .. import _generated as c
from .._classes.callables import check_callback
from .._native import callbacks, strings
from .._native.leases import ObjectCell
from .._objects.objects import Objects
from .._values import conversion
from ..errors import WrongTypeError

D = TypeVar("D")


class _Maker:
    """A function that creates entries."""

    def __init__(self, core: Objects, make: Callable[[Any], Any]) -> None:
        self.core, self.make = core, make


@callbacks.returns_status(c.invivo_callbacks, "pool_make", user_data=0)
def _make(item: _Maker, _: int, key: Any, out: Any, error: Any) -> None:
    thing = item.make(_key(conversion.read(item.core, key[0])))
    item.core.hand_over(_checked(thing), out)


_NONE = callbacks.signature(c.invivo_pool_options, "make")()


def _key(value: Any) -> Any:
    """Returns a key as Python has it: lists become tuples."""
    return tuple(map(_key, value)) if isinstance(value, list) else value


def _checked(thing: Any) -> Any:
    if thing is None or not type(thing).__weakrefoffset__:
        raise WrongTypeError(f"a pool holds what can be referred to weakly, and a {type(thing).__name__} cannot")
    return thing


class Pool:
    """A table that finds living objects by a key, and keeps nothing alive. An entry lives as long as its object is
    held.

    It is shared with the other languages of the process by its name. Keys are numbers, strings, bytes, bools, and
    tuples of these.
    """

    def __init__(self, core: Objects, handle: c.invivo_pool, name: str | None) -> None:
        self._core, self._handle, self.name = core, handle, name

    @classmethod
    def _open(cls, core: Objects, name: str | None, make: Callable[[Any], Any] | None) -> Pool:
        options, handle = c.invivo_pool_options(), c.invivo_pool()
        options.struct_size = ctypes.sizeof(options)
        if name is not None:
            options.name = strings.name_bytes(name)
        number = None
        if make is not None:
            check_callback(make, ("key",), "the function that makes a pool's entries")
            number = callbacks.enroll(_Maker(core, make))
            options.make, options.user_data = _make.of(core.library), number
            options.destroy = callbacks.destroy.of(core.library)
        try:
            core.library.call("pool_open", core.handle, ctypes.byref(options), ctypes.byref(handle))
        except BaseException:
            callbacks.dismiss(number)
            raise
        return cls(core, handle, name)

    @classmethod
    def _find(cls, core: Objects, name: str) -> Pool:
        handle = c.invivo_pool()
        core.library.call("pool_find", core.handle, strings.name_bytes(name), ctypes.byref(handle))
        return cls(core, handle, name)

    def get(self, key: Any, make: Callable[[Any], Any] | None = None) -> Any:
        """Returns the living object of a key, or a new one from ``make(key)`` (None: the pool's own).

        ``make`` is called once, even if several threads request the object. Without one a missing object is a
        NotFoundError.
        """
        core = self._core
        core.check()
        out = core.cell()
        number = None if make is None else callbacks.enroll(_Maker(core, make))
        try:
            with conversion.Packer(core) as packer:
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
            callbacks.dismiss(number)

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
        with conversion.Packer(self._core) as packer:
            value = packer.value(key)
            self._core.library.pool_peek(self._handle, ctypes.byref(value), ctypes.byref(out))

    def __getitem__(self, key: Any) -> Any:
        return self.get(key)

    def __setitem__(self, key: Any, thing: Any) -> None:
        """Enters an existing object. It replaces the object that the key had."""
        core = self._core
        core.check()
        held = core.cell()
        try:
            core.lease(_checked(thing), held)
            with conversion.Packer(core) as packer:
                value = packer.value(key)
                core.library.call("pool_put", self._handle, ctypes.byref(value), held)
        finally:
            core.drop(held.number)

    def __delitem__(self, key: Any) -> None:
        """Forgets an entry; its object lives on."""
        self._core.check()
        with conversion.Packer(self._core) as packer:
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
        return [(_key(key), thing) for key, thing in conversion.ask(self._core, "pool_list", self._handle)]

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
        """Removes all entries, as a reload that observers are notified of. Returns how many were alive."""
        self._core.check()
        count = ctypes.c_uint64()
        self._core.library.call("pool_clear", self._handle, ctypes.byref(count))
        return count.value

    def close(self) -> None:
        """Closes the pool. Its objects live on as long as they are held. May be called again."""
        handle, self._handle = self._handle, c.invivo_pool()
        if handle.bits and not self._core.closed:
            self._core.library.call("pool_close", handle)

    def __repr__(self) -> str:
        return f"<invivo.Pool{' ' + self.name if self.name else ''}>"
