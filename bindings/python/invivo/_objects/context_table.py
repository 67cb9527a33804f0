"""The contexts and the keys of contexts that Python uses in one runtime."""

from __future__ import annotations

import collections.abc
import ctypes
import enum
import functools
import weakref
from typing import Any, NamedTuple

from .. import _generated as c
from .._declarations.context_kinds import ContextKey, Key, name_of
from .._native import strings
from .._values import conversion
from .._values.exact import Exact, crosses
from .._values.foreign import Object
from .._values.handles import Handles
from ..errors import WrongTypeError, error_class, within
from .types import Types, is_nominal

# Types whose values cross as values that other languages read.
_KINDS: dict[type | None, int] = {
    bool: c.INVIVO_KIND_BOOL,
    int: c.INVIVO_KIND_INT64,
    float: c.INVIVO_KIND_DOUBLE,
    str: c.INVIVO_KIND_STRING,
    bytes: c.INVIVO_KIND_BYTES,
    list: c.INVIVO_KIND_LIST,
    dict: c.INVIVO_KIND_MAP,
}

# Classes whose instances have another form in the library than that of an object.
_NO_OBJECTS = (
    *(int, float, complex, str, bytes, bytearray, memoryview, tuple, list, set, frozenset, type, enum.Enum, Exact),
    collections.abc.Mapping,
)


class Interned(NamedTuple):
    """A key as the library has it. ``word`` is the argument of a function without declared types."""

    handle: c.invivo_key
    word: Any
    cls: type | None  # the class that Python checks values against


class ContextTable:
    """The contexts of one runtime that Python refers to, and its keys."""

    def __init__(self, core: Handles, types: Types) -> None:
        self._core, self._types = core, types
        self.keys: dict[Key, Interned] = {}
        self.open: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # contexts by their handles
        self._declared: dict[str, ContextKey[Any]] = {}
        self.failures: dict[int, BaseException] = {}  # what ended the blocks of contexts that are ending, by handle

    @functools.cached_property
    def get(self) -> Any:
        """The function that reads a value. Its handles are words, and the error is NULL: it calls no Python."""
        return ctypes.PYFUNCTYPE(ctypes.c_int32)(self._core.library.address("invivo_context_get"))

    @functools.cached_property
    def get_local(self) -> Any:
        """The same for the values of a context itself."""
        return ctypes.PYFUNCTYPE(ctypes.c_int32)(self._core.library.address("invivo_context_get_local"))

    @functools.cached_property
    def _current(self) -> tuple[Any, Any]:
        function = ctypes.PYFUNCTYPE(ctypes.c_uint64)(self._core.library.address("invivo_context_current"))
        return function, ctypes.c_uint64.from_param(self._core.handle.bits)

    def current(self) -> int:
        """Returns the handle of the current context of the calling thread, as the library knows it; 0 for none."""
        function, runtime = self._current
        found: int = function(runtime)
        return found

    def failure(self) -> BaseException | None:
        """Returns why the work in the current context failed, for a stop while the context ends."""
        library, context, message = self._core.library, c.invivo_context(self.current()), ctypes.c_char_p()
        if not context.bits:
            return None
        status = library.context_failure(context, ctypes.byref(message))
        if not status:
            return None
        above = c.invivo_context(context.bits)
        while above.bits:
            known = self.failures.get(above.bits)
            if known is not None:
                return known
            if library.context_parent(above, ctypes.byref(above), None):
                break
        return error_class(status)(strings.text(message.value), code=status)

    def key(self, key: Key) -> Interned:
        """Returns a key, which is interned and declared at its first use."""
        found = self.keys.get(key)
        return found if found is not None else self._learn(key)

    def close(self) -> None:
        """Forgets everything: the runtime is closed."""
        self.keys.clear()
        self._declared.clear()

    def _learn(self, key: Key) -> Interned:
        name = name_of(key)
        if isinstance(key, ContextKey):
            self._declare(key)
        handle = c.invivo_key()
        self._core.library.call("key_intern", self._core.handle, strings.name_bytes(name, "key"), ctypes.byref(handle))
        declared = self._declared.get(name)
        cls = None if declared is None or declared.cls in _KINDS else declared.cls
        found = Interned(handle, ctypes.c_uint64.from_param(handle.bits), cls)
        if isinstance(key, ContextKey):
            self.keys[name] = found  # its name demands the same class
        return self.keys.setdefault(key, found)

    def _declare(self, key: ContextKey[Any]) -> None:
        cls = key.cls
        known = self._declared.get(key.name)
        if known is not None and known.is_same(key):
            return
        options = c.invivo_context_key()
        options.struct_size = ctypes.sizeof(options)
        options.name = strings.name_bytes(key.name, "key")
        options.kind = c.INVIVO_KIND_ANY if key.kind is None else key.kind
        if cls in _KINDS and key.kind is None:
            options.kind = _KINDS[cls]
        elif cls is not None and _has_object_form(cls):
            options.kind = c.INVIVO_KIND_OBJECT
            options.type_name = strings.name_bytes(self._types.query(cls), "type")
        with conversion.Packer(self._core) as packer:
            if key.has_default:
                with within(key.name):
                    value = c.invivo_value()
                    self.fill(packer, value, key.default, cls)
                options.initial = ctypes.pointer(value)
            self._core.library.call("context_declare_key", self._core.handle, ctypes.byref(options))
        self._declared.setdefault(key.name, key)

    def fill(self, packer: conversion.Packer, slot: Any, value: Any, cls: type | None) -> None:
        """Writes a value of a context. One that has no exact form in the library crosses as an opaque object.

        ``cls``: the class that the key demands.
        """
        if cls is not None and not _may_be(value, cls):
            raise WrongTypeError(f"the value of the key is a {cls.__name__}, not {value!r}")
        packer.fill(slot, value if _stays(value) else Exact(value, is_same=True))


def _stays(value: Any) -> bool:
    return type(value) is Exact or (not isinstance(value, type) and crosses(value))


def _has_object_form(cls: type) -> bool:
    """Whether instances of a class cross as objects of its type."""
    converts = any(hasattr(cls, name) for name in ("__index__", "__float__", "__call__"))
    return is_nominal(cls) and not converts and not issubclass(cls, _NO_OBJECTS)


def _may_be(value: Any, cls: type) -> bool:
    """Whether a value may be of a class. A protocol that cannot be checked accepts everything."""
    try:
        return isinstance(value, (cls, Object))
    except TypeError:
        return True
