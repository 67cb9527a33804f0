"""The configuration as Python reads, observes and changes it."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from typing import Any

from .. import _generated as c
from .._native import callbacks, strings
from .._objects import belongings
from .._objects.objects import Objects
from .._values import conversion
from ..errors import ArgumentError, HandleError, within

_KINDS: dict[type | None, int] = {
    None: c.INVIVO_KIND_ANY,
    bool: c.INVIVO_KIND_BOOL,
    int: c.INVIVO_KIND_INT64,
    float: c.INVIVO_KIND_DOUBLE,
    str: c.INVIVO_KIND_STRING,
    list: c.INVIVO_KIND_LIST,
    dict: c.INVIVO_KIND_MAP,
}


def config_id(core: Objects, path: str, kind: type | None) -> int:
    """Returns the number of a path. Its value must be of the kind, now and later."""
    known = core.config_ids.get((path, kind))
    if known is None:
        if kind not in _KINDS:
            raise ArgumentError(
                f"a value of the configuration is no {kind!r}; there are bool, int, float, str, list, dict"
            )
        found = c.invivo_config()
        core.library.call("config_id", core.handle, strings.name_bytes(path, "path"), _KINDS[kind], ctypes.byref(found))
        known = core.config_ids[path, kind] = found.bits
    return known


def read(core: Objects, path: str) -> Any:
    return conversion.ask(core, "config_read", core.handle, strings.name_bytes(path, "path"))


def configure(core: Objects, changes: c.invivo_changes, path: str, value: Any, *, is_described: bool) -> None:
    name = strings.name_bytes(path, "path")
    if not is_described:
        core.library.call("changes_configure", changes, name, None)
        return
    with conversion.Packer(core) as packer:
        with within(path):
            made = packer.value(value)
        core.library.call("changes_configure", changes, name, ctypes.byref(made))


class ConfigObserver:
    """A callback, ``callback(value, generation)``, that is notified when the configuration at a path changes.

    It is closed with its runtime, or before.
    """

    def __init__(self, core: Objects, path: str, callback: Callable[[Any, int], Any]) -> None:
        self.core, self.path = core, path
        self._callback = belongings.kept(callback)
        options = c.invivo_config_observer_options()
        options.struct_size = ctypes.sizeof(options)
        options.changed = _changed.of(core.library)
        options.user_data = number = callbacks.enroll(self)
        options.destroy = callbacks.destroy.of(core.library)
        self._handle = c.invivo_observer()
        try:
            core.library.call(
                "config_observe",
                core.handle,
                strings.name_bytes(path, "path"),
                ctypes.byref(options),
                ctypes.byref(self._handle),
            )
        except BaseException:
            callbacks.dismiss(number)
            raise

    def heard(self, value: Any, generation: int) -> None:
        callback = self._callback()
        if callback is not None:
            callback(value, generation)

    def destroyed(self) -> None:
        self._handle = c.invivo_observer()

    def close(self) -> None:
        """After it returns the callback is not called again. May be called again, also after an error."""
        if self._handle.bits and not self.core.closed:
            with contextlib.suppress(HandleError):  # another thread has closed it
                self.core.library.call("observer_close", self._handle)
        self._handle = c.invivo_observer()

    def __enter__(self) -> ConfigObserver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@callbacks.returns_nothing(c.invivo_config_observer_options, "changed", user_data=0)
def _changed(item: ConfigObserver, _: int, path: bytes, value: Any, generation: int) -> None:
    item.heard(conversion.read(item.core, value[0]), generation)


def in_view(core: Objects, view: c.invivo_view, number: int) -> Any:
    """Returns the value that a view has for the id of a path, or None."""
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
    return conversion.read(core, value[0]) if value else None
