"""Handles of objects, types and functions of other languages."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from .. import _generated as c
from .._native import strings
from ..errors import StaleError, within
from . import conversion, kinds
from .fields import dataclass
from .handles import Handles
from .kinds import CODEC_NAMES, KIND_NAMES


class Object:
    """An object of another language: its properties are attributes, its methods are methods.

    The same object has the same proxy while one exists. The proxy holds one lease, which ends when it is collected.
    """

    __slots__ = ("__weakref__", "_bits", "_core", "_lease", "_type")

    _core: Handles
    _bits: int
    _lease: int
    _type: Type

    def __init__(self) -> None:
        raise TypeError("an invivo.Object comes from a runtime")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        core, handle = self._handle()
        if name in self._type.method_names:
            return functools.partial(call_method, self, name)
        return conversion.ask(core, "object_get", handle, strings.name_bytes(name))

    def __setattr__(self, name: str, thing: Any) -> None:
        core, handle = self._handle()
        with conversion.Packer(core) as packer:
            with within(name):
                value = packer.value(thing)
            core.library.call("object_set", handle, strings.name_bytes(name), ctypes.byref(value))

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"the property {name!r} cannot be deleted")

    def __dir__(self) -> list[str]:
        return sorted({*(each.name for each in self._type.properties), *self._type.method_names})

    def __repr__(self) -> str:
        if self._core.closed or self._lease not in self._core.leases:
            return "<invivo.Object, closed>"
        key = self._core.key_of_object(self._bits)
        return f"<invivo.Object {key + ': ' if key else ''}{self._type.name}>"

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None:
            core.drop(self._lease)

    def _handle(self) -> tuple[Handles, c.invivo_object]:
        core = self._core
        core.check()
        if self._lease not in core.leases:
            raise StaleError("the object was given back")
        return core, c.invivo_object(self._bits)


def make_proxy(core: Handles, bits: int, lease: int, kind: Type) -> Object:
    proxy = object.__new__(Object)
    for name, thing in (("_core", core), ("_bits", bits), ("_lease", lease), ("_type", kind)):
        object.__setattr__(proxy, name, thing)
    return proxy


def call_method(target: Object, name: str, /, *arguments: Any) -> Any:
    """Calls a method of an object of another language."""
    core, handle = target._handle()
    with conversion.Packer(core) as packer:
        with within(name):
            array, count = packer.array(arguments)
        return conversion.ask(core, "object_call", handle, strings.name_bytes(name), array, count)


class ForeignCallable:
    """A function of another language."""

    __slots__ = ("__weakref__", "_bits", "_core", "_lease")

    def __init__(self, core: Handles, bits: int, lease: int) -> None:
        self._core, self._bits, self._lease = core, bits, lease

    def __call__(self, *arguments: Any) -> Any:
        core = self._core
        core.check()
        with conversion.Packer(core) as packer:
            array, count = packer.array(arguments)
            return conversion.ask(core, "callable_call", c.invivo_callable(self._bits), array, count)

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None:
            core.drop(self._lease)


@dataclass(frozen=True)
class PropertyInfo:
    """The description of a property."""

    name: str
    kind: str
    read_only: bool
    restart: bool
    in_block: bool
    min: float | None
    max: float | None
    step: float | None
    unit: str | None
    codec: str
    text: str | None
    initial: Any
    choices: dict[str, int]
    was: tuple[str, ...]
    fields: tuple[PropertyInfo, ...]
    offset: int
    size: int
    number: int
    secret: bool = False
    """Messages do not show its values. The initial value is then None."""


@dataclass(frozen=True)
class MethodInfo:
    """The description of a method."""

    name: str
    text: str | None
    parameters: tuple[str, ...]
    result: str


class Type:
    """A registered type of any language. Calling it creates an object."""

    def __init__(self, core: Handles, bits: int) -> None:
        self._core = core
        self._bits = bits
        self.name: str = strings.text(core.library.type_name(c.invivo_type(bits))) or "?"

    @functools.cached_property
    def properties(self) -> tuple[PropertyInfo, ...]:
        library, handle = self._core.library, c.invivo_type(self._bits)
        found = []
        for index in range(library.type_property_count(handle)):
            one = c.invivo_property()
            if library.type_property_at(handle, index, ctypes.byref(one)) == c.INVIVO_OK:
                found.append(_property_info(self._core, one))
        return tuple(found)

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters of its initializer."""
        library, handle = self._core.library, c.invivo_type(self._bits)
        found = []
        for index in range(library.type_parameter_count(handle)):
            one = c.invivo_parameter()
            if library.type_parameter_at(handle, index, ctypes.byref(one)) == c.INVIVO_OK:
                found.append(_text(one.name) or "")
        return tuple(found)

    @functools.cached_property
    def methods(self) -> tuple[MethodInfo, ...]:
        library, handle = self._core.library, c.invivo_type(self._bits)
        found = []
        for index in range(library.type_method_count(handle)):
            one = c.invivo_method()
            if library.type_method_at(handle, index, ctypes.byref(one)) == c.INVIVO_OK:
                names = tuple(_text(one.parameters[place].name) or "" for place in range(one.parameter_count))
                result = KIND_NAMES.get(one.result, "unknown")
                if b":" in (one.name or b""):
                    continue  # not of the type's author
                found.append(MethodInfo(_text(one.name) or "", _text(one.text), names, result))
        return tuple(found)

    @functools.cached_property
    def method_names(self) -> frozenset[str]:
        return frozenset(each.name for each in self.methods)

    def text_of(self, name: str, value: Any) -> str:
        """Writes a value of a property as text: by its codec, with its unit, or by the name of a choice.

        `value_of` reads an equal value from it. ``frame.width`` is a field of a nested struct.
        """
        core = self._core
        core.check()
        with conversion.Packer(core) as packer:
            array, _ = packer.array((value,))
            text: str = conversion.ask(
                core, "property_text", c.invivo_type(self._bits), strings.name_bytes(name, "name"), array
            )
            return text

    def value_of(self, name: str, text: str) -> Any:
        """Reads a value of a property from text, as a spec does."""
        core = self._core
        core.check()
        data = text.encode()
        return conversion.ask(
            core, "property_read", c.invivo_type(self._bits), strings.name_bytes(name, "name"), data, len(data)
        )

    def __call__(self, *arguments: Any) -> Any:
        core = self._core
        core.check()
        out = core.cell()
        try:
            with conversion.Packer(core) as packer:
                array, count = packer.array(arguments)
                handle = c.invivo_type(self._bits)
                core.library.call("object_make", core.handle, handle, array, count, ctypes.byref(out))
            return core.take(out)
        except BaseException:
            core.drop(out.number)
            raise

    def __repr__(self) -> str:
        return f"<invivo.Type {self.name}>"


def _text(data: bytes | None) -> str | None:
    return data.decode("utf-8", "replace") if data else None


def _property_info(core: Handles, one: c.invivo_property) -> PropertyInfo:
    ranged = one.min < one.max
    low, high = kinds.limits(one.kind)
    choices = {_text(one.choices[i].name) or "": one.choices[i].number for i in range(one.choice_count)}
    kind = one.kind
    initial = conversion.read(core, one.initial_value[0]) if one.initial_value else None
    if one.choices and initial is not None:
        initial = initial.name
    return PropertyInfo(
        name=_text(one.name) or "",
        kind=KIND_NAMES.get(kind, "unknown"),
        read_only=bool(one.flags & c.INVIVO_PROPERTY_READ_ONLY),
        restart=bool(one.flags & c.INVIVO_PROPERTY_RESTART),
        in_block=bool(one.flags & c.INVIVO_PROPERTY_BLOCK),
        min=one.min if ranged and one.min > low else None,
        max=one.max if ranged and one.max < high else None,
        step=one.step or None,
        unit=_text(one.unit),
        codec=CODEC_NAMES.get(one.codec, "unknown"),
        text=_text(one.text),
        initial=None if one.flags & c.INVIVO_PROPERTY_SECRET else initial,
        choices=choices,
        was=tuple(_text(one.was[i]) or "" for i in range(one.was_count)),
        fields=tuple(_property_info(core, one.fields[i]) for i in range(one.field_count)),
        offset=one.offset,
        size=one.size,
        number=kind,
        secret=bool(one.flags & c.INVIVO_PROPERTY_SECRET),
    )
