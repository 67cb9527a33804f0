"""Contexts are opened, found and declared."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from types import EllipsisType, FrameType
from typing import Any

from .. import _generated as c
from .._declarations.context_kinds import ContextKind, Key, kind_of, name_of
from .._native import strings
from .._native.current_context import innermost
from .._native.pins import place_of
from .._state.core import Core
from .._values import conversion
from .._values.foreign import Object
from ..errors import StaleError, WrongTypeError, within
from .contexts import Context, context_at, make


def open_context(
    core: Core,
    kind: str | ContextKind | None,
    parent: Context | EllipsisType | None,
    *,
    holds_parent: bool | None,
    thing: Any,
    values: list[tuple[Key, Any]],
    frame: FrameType,
) -> Context:
    """Opens a context. Without a parent that is given, it is the current one."""
    options, table = c.invivo_context_options(), core.contexts
    options.struct_size = ctypes.sizeof(options)
    name = None if kind is None else kind_of(kind).name
    if name is not None:
        options.kind = strings.name_bytes(name, "kind")
    if holds_parent is not None:
        options.flags = c.INVIVO_CONTEXT_STRONG_PARENT if holds_parent else c.INVIVO_CONTEXT_WEAK_PARENT
    if parent is None:
        options.flags |= c.INVIVO_CONTEXT_DETACHED
    elif isinstance(parent, Context):
        options.parent = parent._handle
    elif parent is not ...:
        raise WrongTypeError(f"parent= is a context or None, not {parent!r}")
    place = place_of(frame)
    options.place = place._obj
    array = (c.invivo_context_value * len(values))()
    options.values, options.value_count = array if values else None, len(values)
    held = core.cell()
    try:
        with conversion.Packer(core) as packer:
            for slot, (key, value) in zip(array, values, strict=True):
                interned = table.key(key)
                slot.key = interned.handle
                with within(name_of(key)):
                    table.fill(packer, slot.value, value, interned.cls)
            if thing is not None:
                options.object = core.lease(thing, held)
            opened = _opened(core, options, is_default=parent is ...)
    finally:
        core.drop(held.number)
    opened._kind, opened._place = name, place
    return opened


def _opened(core: Core, options: c.invivo_context_options, *, is_default: bool) -> Context:
    handle = c.invivo_context()
    try:
        parent = innermost(core, is_checked=False) if is_default else None
        while True:
            if parent is not None:
                options.parent.bits = parent.bits
            try:
                core.library.call("context_open", core.handle, ctypes.byref(options), ctypes.byref(handle))
                break
            except StaleError:
                if parent is None or not parent.has_ended:
                    raise
            parent = innermost(core, is_checked=True)
            options.parent = c.invivo_context()
        made = make(core, handle)
        made._holds = True
        core.contexts.open[handle.bits] = made
        return made
    except BaseException:
        if handle.bits:
            core.library.context_end(handle, None)
        raise


def context_of(core: Core, thing: Any) -> Context | None:
    """Returns the nearest context of an object: its own, or that of its parent, and so on."""
    found = c.invivo_context()
    cell = core.cell()
    try:
        core.lease(thing, cell)
        core.library.call("context_of", cell, ctypes.byref(found))
    finally:
        core.drop(cell.number)
    return context_at(core, found.bits)


def detach(core: Core, thing: Any) -> None:
    """Detaches the context of an object. One that the library does not know has none."""
    if not isinstance(thing, Object) and core.entry_for(thing) is None:
        return
    cell = core.cell()
    try:
        core.library.call("context_detach", core.lease(thing, cell))
    finally:
        core.drop(cell.number)


def declare_kinds(core: Core, kinds: Iterable[str | ContextKind]) -> None:
    """Declares kinds of contexts, from the outermost to the innermost."""
    given = [kind_of(each) for each in strings.listed(kinds, "contexts=", "[ContextKind('request')]")]
    array = (c.invivo_context_kind * len(given))()
    held: list[Any] = []
    for slot, each in zip(array, given, strict=True):
        keys = each.keys()
        provides = (c.invivo_context_provided * len(keys))()
        for provided, (key, is_live) in zip(provides, keys, strict=True):
            core.contexts.key(key)
            provided.key = strings.name_bytes(name_of(key), "key")
            provided.flags = c.INVIVO_PROVIDED_LIVE if is_live else 0
        held.append(provides)
        slot.struct_size = ctypes.sizeof(slot)
        slot.name = strings.name_bytes(each.name, "kind")
        slot.policy = c.INVIVO_CONTEXT_FOLLOWS
        slot.provides, slot.provided_count = provides if keys else None, len(keys)
    core.library.call("context_declare_kinds", core.handle, array, len(given))


def current(core: Core) -> Context | None:
    """Returns the current context of the calling thread or task, else the one that code of C has entered on it."""
    found = innermost(core, is_checked=True)
    return context_at(core, found.bits if found is not None else core.contexts.current())
