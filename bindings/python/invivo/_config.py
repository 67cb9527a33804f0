"""The configuration as Python reads, observes and changes it; converters."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _generated as c
from . import _reading, _trampolines, _values
from ._describe import check_callback
from ._hints import Hint, crossing_kind, for_python
from .errors import ArgumentError, within

if TYPE_CHECKING:
    from ._core import Core

_KINDS: dict[type | None, int] = {
    None: c.INVIVO_KIND_ANY,
    bool: c.INVIVO_KIND_BOOL,
    int: c.INVIVO_KIND_INT64,
    float: c.INVIVO_KIND_DOUBLE,
    str: c.INVIVO_KIND_STRING,
    list: c.INVIVO_KIND_LIST,
    dict: c.INVIVO_KIND_MAP,
}


def config_id(core: Core, path: str, kind: type | None) -> int:
    """The number of a path; what is there must be of the kind, now and later."""
    known = core.config_ids.get((path, kind))
    if known is None:
        if kind not in _KINDS:
            raise ArgumentError(
                f"a value of the configuration is no {kind!r}; there are bool, int, float, str, list, dict"
            )
        found = c.invivo_config()
        core.library.call("config_id", core.handle, _values.name_bytes(path, "path"), _KINDS[kind], ctypes.byref(found))
        known = core.config_ids[path, kind] = found.bits
    return known


def read(core: Core, path: str) -> Any:
    return _values.ask(core, "config_read", core.handle, _values.name_bytes(path, "path"))


def configure(core: Core, changes: c.invivo_changes, path: str, value: Any, *, is_said: bool) -> None:
    name = _values.name_bytes(path, "path")
    if not is_said:
        core.library.call("changes_configure", changes, name, None)
        return
    with _values.Packer(core) as packer:
        with within(path):
            made = packer.value(value)
        core.library.call("changes_configure", changes, name, ctypes.byref(made))


class ConfigObserver:
    """A callback, ``callback(value, generation)``, that hears what the configuration says at a path, whenever that
    changes. Closed with its runtime, or before."""

    def __init__(self, core: Core, path: str, callback: Callable[[Any, int], Any]) -> None:
        self.core, self.path = core, path
        self._callback = callback
        options = c.invivo_config_observer_options()
        options.struct_size = ctypes.sizeof(options)
        options.changed = _changed.of(core.library)
        options.user_data = number = _trampolines.enroll(self)
        options.destroy = _trampolines.destroy.of(core.library)
        self._handle = c.invivo_observer()
        try:
            core.library.call(
                "config_observe",
                core.handle,
                _values.name_bytes(path, "path"),
                ctypes.byref(options),
                ctypes.byref(self._handle),
            )
        except BaseException:
            _trampolines.dismiss(number)
            raise

    def heard(self, value: Any, generation: int) -> None:
        self._callback(value, generation)

    def destroyed(self) -> None:
        self._handle = c.invivo_observer()

    def close(self) -> None:
        """After it returns the callback is not called again. May be called again."""
        handle, self._handle = self._handle, c.invivo_observer()
        if handle.bits and not self.core.closed:
            self.core.library.call("observer_close", handle)

    def __enter__(self) -> ConfigObserver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@_trampolines.telling(c.invivo_config_observer_options, "changed", user_data=0)
def _changed(item: ConfigObserver, _: int, path: bytes, value: Any, generation: int) -> None:
    item.heard(_values.read(item.core, value[0]), generation)


class ConverterItem:
    def __init__(self, core: Core, function: Callable[[str], Any]) -> None:
        self.core, self.function = core, function


@_trampolines.answering(c.invivo_converter_options, "convert", user_data=0)
def _convert(item: ConverterItem, _: int, data: bytes, length: int, out: Any, error: Any) -> None:
    _values.answer(item.core, out, item.function(data[:length].decode("utf-8")))


class ReaderItem:
    def __init__(self, core: Core, hint: Hint) -> None:
        self.core, self.hint = core, hint


@_trampolines.answering(c.invivo_converter_options, "read", user_data=0)
def _read(item: ReaderItem, _: int, value: Any, out: Any, error: Any) -> None:
    hint = item.hint
    made = _reading.read(hint.annotation, _values.read(item.core, value[0]), "value", item.core.converter_of)
    _values.answer(item.core, out, made if hint.choices else for_python(made, hint), crossing_kind(hint))


def register_reader(core: Core, name: str, hint: Hint) -> None:
    """A converter that reads whatever the configuration says for places of an annotation."""
    options = c.invivo_converter_options()
    options.struct_size = ctypes.sizeof(options)
    options.name = _values.name_bytes(name, "converter")
    options.read = _read.of(core.library)
    options.user_data = number = _trampolines.enroll(ReaderItem(core, hint))
    options.destroy = _trampolines.destroy.of(core.library)
    try:
        core.library.call("converter_register", core.handle, ctypes.byref(options))
    except BaseException:
        _trampolines.dismiss(number)
        raise


def converter_name(core: Core, what: str | type) -> str:
    return core.name_of(what) if isinstance(what, type) else what


def register(core: Core, what: str | type, function: Callable[[str], Any]) -> None:
    check_callback(function, ("string",), "a converter")
    options = c.invivo_converter_options()
    options.struct_size = ctypes.sizeof(options)
    options.name = _values.name_bytes(converter_name(core, what))
    options.convert = _convert.of(core.library)
    options.user_data = number = _trampolines.enroll(ConverterItem(core, function))
    options.destroy = _trampolines.destroy.of(core.library)
    try:
        core.library.call("converter_register", core.handle, ctypes.byref(options))
    except BaseException:
        _trampolines.dismiss(number)
        raise
    core.converters[what] = function


def convert(core: Core, what: str | type, said: str) -> Any:
    data = _values.text_bytes(said)
    name = _values.name_bytes(converter_name(core, what))
    return _values.ask(core, "convert", core.handle, name, data, len(data))


def in_view(core: Core, view: c.invivo_view, number: int) -> Any:
    """The value that a view has at the path of an id; None when there is none."""
    graph = view.graph[0]
    index = number & 0xFFFFFFFF
    if number >> 32 != graph.owner or index >= graph.count:
        return None
    entry = graph.chunks[index >> c.INVIVO_CHUNK_SHIFT][index & c.INVIVO_CHUNK_MASK]
    if entry.type == c.INVIVO_ENTRY_CONFIG:
        value = ctypes.cast(entry.block, ctypes.POINTER(c.invivo_value))
    elif entry.type == c.INVIVO_ENTRY_CONFIG_LATE:
        value = core.library.view_config_late(view, c.invivo_config(number))
    else:
        return None
    return _values.read(core, value[0]) if value else None


__all__ = ["ConfigObserver", "config_id", "configure", "convert", "in_view", "read", "register"]
