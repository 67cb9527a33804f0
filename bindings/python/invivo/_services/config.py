"""The configuration as Python reads, observes and changes it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable
from typing import Any

from .. import _generated as c
from .._native import callbacks, strings
from .._objects.objects import Objects
from .._state.core import Core
from .._values import conversion
from ..errors import ArgumentError, within
from .subscriptions import Subscription, subscribed

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


class ConfigObserver(Subscription):
    """A callback, ``callback(value, generation)``, that is notified when the configuration at a path changes.

    It is closed with its runtime, or before.
    """

    def __init__(self, core: Core, path: str, callback: Callable[[Any, int], Any], place: Hashable) -> None:
        super().__init__(core, callback, place)
        self.path = path
        options = c.invivo_config_observer_options()
        options.struct_size = ctypes.sizeof(options)
        options.changed = _changed.of(core.library)
        options.user_data = number = callbacks.enroll(self)
        options.destroy = callbacks.destroy.of(core.library)
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


def config_observer(core: Core, path: str, callback: Callable[[Any, int], Any]) -> ConfigObserver:
    """Returns an observer of a path: the known one if it calls an equal callback for the same owner."""
    return subscribed(core, ("path", path), callback, lambda place: ConfigObserver(core, path, callback, place))


@callbacks.returns_nothing(c.invivo_config_observer_options, "changed", user_data=0)
def _changed(item: ConfigObserver, _: int, path: bytes, value: Any, generation: int) -> None:
    item.notify(conversion.read(item.core, value[0]), generation)


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
