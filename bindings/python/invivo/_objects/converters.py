"""Converters: functions that read strings and values of the configuration."""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from .. import _generated as c
from .._classes import configured
from .._classes.callables import check_callback
from .._classes.hints import Hint, crossing_kind, for_python
from .._native import callbacks, strings
from .._values import conversion
from .._values.handles import Handles
from ..errors import Error, ExistsError
from .types import Types

if TYPE_CHECKING:
    from .._settings.schema import Find, Schema


class Converters:
    """The converters of one runtime that are written in Python."""

    def __init__(self, core: Handles, types: Types) -> None:
        self._core, self._types = core, types
        self._functions: dict[str | type, Callable[[str], Any]] = {}  # by the name or class
        self._readers: dict[Hashable, str] = {}  # names of converters, by the annotation that they read

    def register(self, what: str | type, function: Callable[[str], Any]) -> None:
        """Registers a function that reads strings, by a name or for places of a class."""
        check_callback(function, ("string",), "a converter")
        options = self._options(self._name(what))
        options.convert = _convert.of(self._core.library)
        self._register(options, _Function(self._core, function))
        self._functions[what] = function

    def remove(self, what: str | type) -> None:
        """Removes a converter. Values that it has converted stay."""
        core = self._core
        core.library.call("converter_unregister", core.handle, strings.name_bytes(self._name(what)))
        self._functions.pop(what, None)

    def convert(self, what: str | type, text: str) -> Any:
        """Converts one string."""
        data, name = strings.text_bytes(text), strings.name_bytes(self._name(what))
        return conversion.ask(self._core, "convert", self._core.handle, name, data, len(data))

    def reader(self, hint: Hint) -> str:
        """Returns the name of the converter that reads any value of the configuration for an annotation."""
        try:
            place: Hashable = (hint.annotation, crossing_kind(hint), bool(hint.choices))
            known = self._readers.get(place)
        except TypeError:
            place, known = (id(hint), hint), None
        if known is None:
            known = self._readers[place] = self._register_reader(hint)
        return known

    def _register_reader(self, hint: Hint) -> str:
        """Registers a converter under a name that errors may show, and returns the name."""
        name = shown = f"annotation: {configured.shown(hint.annotation)}"
        for number in itertools.count(2):
            options = self._options(name)
            options.read = _read.of(self._core.library)
            try:
                self._register(options, _Reader(self._core, self.of, hint))
                break
            except ExistsError:  # of another class with this name, or of an earlier interpreter
                name = f"{shown} #{number}"
        return name

    def of(self, cls: type) -> Callable[[str], Any] | None:
        """Returns the function that was registered for a class."""
        found = self._functions.get(cls)
        return found if found is not None else self._functions.get(self._types.known_name(cls))

    def _name(self, what: str | type) -> str:
        return self._types.name_of(what) if isinstance(what, type) else what

    def _options(self, name: str) -> c.invivo_converter_options:
        options = c.invivo_converter_options()
        options.struct_size = ctypes.sizeof(options)
        options.name = strings.name_bytes(name, "converter")
        options.destroy = callbacks.destroy.of(self._core.library)
        return options

    def _register(self, options: c.invivo_converter_options, item: _Function | _Reader) -> None:
        options.user_data = number = callbacks.enroll(item)
        try:
            self._core.library.call("converter_register", self._core.handle, ctypes.byref(options))
        except BaseException:
            callbacks.dismiss(number)
            raise


class _Function:
    def __init__(self, core: Handles, function: Callable[[str], Any]) -> None:
        self.core, self.function = core, function


@callbacks.returns_status(c.invivo_converter_options, "convert", user_data=0)
def _convert(item: _Function, _: int, data: bytes, length: int, out: Any, error: Any) -> None:
    conversion.answer(item.core, out, item.function(data[:length].decode("utf-8")))


class _Reader:
    def __init__(self, core: Handles, find: Find, hint: Hint) -> None:
        self.core, self.find, self.hint = core, find, hint

    @functools.cached_property
    def schema(self) -> Schema:
        from .._settings.schema import Schema  # slow to import, and rarely needed

        return Schema(self.hint.annotation, self.find)


@callbacks.returns_status(c.invivo_converter_options, "read", user_data=0)
def _read(item: _Reader, _: int, value: Any, out: Any, error: Any) -> None:
    hint = item.hint
    try:
        made = item.schema.read(conversion.read(item.core, value[0]))
    except Error as problem:
        for each in problem.errors:
            each.path = f"value.{each.path}".removesuffix(".")  # the library expects a name for the whole
        raise
    conversion.answer(item.core, out, made if hint.choices else for_python(made, hint), crossing_kind(hint))
