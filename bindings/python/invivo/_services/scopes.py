"""Scopes of the program's own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .. import _generated as c
from .._classes.callables import check_callback
from .._native import callbacks, strings
from .._objects.objects import Objects
from ..errors import RangeError


class _Scope:
    """A scope of the program: a function that returns the current scope instance."""

    def __init__(
        self,
        core: Objects,
        find: Callable[[], int | None],
        keep: Callable[[int, str], None] | None,
        drop: Callable[[int, str], None] | None,
    ) -> None:
        self.core, self.find, self.keep, self.drop = core, find, keep, drop


@callbacks.returns_status(c.invivo_callbacks, "scope_find", user_data=0)
def _find(item: _Scope, _: int, place: Any, error: Any) -> None:
    found = item.find() or 0
    if not isinstance(found, int) or not 0 <= found < 1 << 64:
        raise RangeError(f"a scope instance is a number from 1 to {(1 << 64) - 1}, or None, not {found!r}")
    place[0] = found


def _key_name(core: Objects, key: Any) -> str:
    return (core.library.key_name(key) or b"").decode("utf-8", "replace")


@callbacks.returns_nothing(c.invivo_callbacks, "scope_keep", user_data=0)
def _keep(item: _Scope, _: int, place: int, key: Any, __: Any) -> None:
    if item.keep is not None:
        item.keep(place, _key_name(item.core, key))


@callbacks.returns_nothing(c.invivo_callbacks, "scope_drop", user_data=0)
def _drop(item: _Scope, _: int, place: int, key: Any, __: Any) -> None:
    if item.drop is not None:
        item.drop(place, _key_name(item.core, key))


def register_scope(
    core: Objects,
    name: str,
    find: Callable[[], int | None],
    keep: Callable[[int, str], None] | None,
    drop: Callable[[int, str], None] | None,
) -> None:
    check_callback(find, (), "the function that finds the scope instance")
    for function in (keep, drop):
        if function is not None:
            check_callback(function, ("place", "key"), "a listener of a scope")
    options = c.invivo_scope_options()
    options.struct_size = ctypes.sizeof(options)
    options.name = strings.name_bytes(name)
    number = callbacks.enroll(_Scope(core, find, keep, drop))
    options.find, options.user_data = _find.of(core.library), number
    if keep is not None:
        options.keep = _keep.of(core.library)
    if drop is not None:
        options.drop = _drop.of(core.library)
    options.destroy = callbacks.destroy.of(core.library)
    try:
        core.library.call("scope_register", core.handle, ctypes.byref(options))
    except BaseException:
        callbacks.dismiss(number)
        raise


def end_scope(core: Objects, name: str, place: int) -> None:
    core.library.call("scope_end", core.handle, strings.name_bytes(name), place)
