"""Processors in the library: their registration and their callbacks."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from .. import _generated as c
from .._assemblies.definitions import SCOPES, checked_scope, context_kind, context_scope, scope_number
from .._assemblies.processors import Processor
from .._declarations import recipes
from .._declarations.recipes import Scope
from .._native import callbacks, strings
from .._objects.objects import Objects
from .._values import conversion
from ..errors import ArgumentError, within
from .descriptors import injections
from .injections import Injection

_NAMES = {number: name for name, number in SCOPES.items()}


def give(core: Objects, processor: Processor, changes: c.invivo_changes) -> None:
    """Adds a processor to a change set of the library."""
    options = c.invivo_processor()
    options.struct_size = ctypes.sizeof(options)
    options.name = strings.name_bytes(processor.name)
    options.key = None if processor.key is None else strings.name_bytes(processor.key, "key")
    wanted = (
        processor.type
        if processor.type is None or isinstance(processor.type, str)
        else core.types.query(processor.type)
    )
    options.type = None if wanted is None else strings.name_bytes(wanted)
    options.priority = processor.priority
    number = 0
    if isinstance(processor.what, str):
        options.component = strings.name_bytes(processor.what, "key")
        options.method = None if processor.method is None else strings.name_bytes(processor.method, "method")
    else:
        number = callbacks.enroll(ProcessorItem(core, processor))
        options.user_data, options.destroy = number, callbacks.destroy.of(core.library)
        if processor.what is not None:
            options.decorate = _decorate.of(core.library)
        if processor.visit is not None:
            options.process = _process.of(core.library)
    try:
        core.library.call("changes_process", changes, ctypes.byref(options))
    except BaseException:
        callbacks.dismiss(number)
        raise


class ProcessorItem:
    def __init__(self, core: Objects, processor: Processor) -> None:
        self.core, self.processor = core, processor


@callbacks.returns_status(c.invivo_processor, "decorate", user_data=3)
def _decorate(item: ProcessorItem, handle: c.invivo_object, build: Any, out: Any, _: int, error: Any) -> None:
    core, what = item.core, item.processor.what
    assert callable(what)
    thing = core.receive(handle.bits)
    with core.entered():
        answered = what(thing)
    if answered is not None and answered is not thing:
        core.hand_over(answered, out)


@callbacks.returns_status(c.invivo_processor, "process", user_data=2)
def _process(item: ProcessorItem, lent: Any, changes: c.invivo_changes, _: int, error: Any) -> None:
    core, visit = item.core, item.processor.visit
    assert visit is not None
    with conversion.Packer(core) as packer:
        described = Described(core, packer, lent[0])
        visit(described)
        described._done(changes)


class Described:
    """A definition of any language while a processor visits it. Values that are set here replace its own.

    ``described.scope = "singleton"``; ``described.inject("log", invivo.ref("app.log"))``. Only during the visit.
    """

    __slots__ = ("_changed", "_core", "_options", "_packer")  # a misspelled name is an error

    def __init__(self, core: Objects, packer: conversion.Packer, lent: c.invivo_definition) -> None:
        self._core, self._packer = core, packer
        self._options = c.invivo_definition.from_buffer_copy(lent)
        self._changed = False

    def _done(self, changes: c.invivo_changes) -> None:
        if self._changed:
            self._core.library.call("changes_define", changes, ctypes.byref(self._options), None)

    @property
    def key(self) -> str:
        return _text(self._options.key)

    @property
    def type(self) -> str | None:
        """The name of its type, if the definition declares it itself."""
        bits = self._options.type
        return _text(self._core.library.type_name(bits)) if bits.bits else _text(self._options.type_name) or None

    @property
    def parent(self) -> str | None:
        return _text(self._options.parent) or None

    @property
    def alias(self) -> str | None:
        return _text(self._options.alias) or None

    @property
    def scope(self) -> Scope | None:
        """None: the parent's, or graph."""
        found: Any = _NAMES.get(self._options.scope)
        return context_scope(_text(self._options.scope_name) or None) if found == "context" else found

    @scope.setter
    def scope(self, scope: Scope | None) -> None:
        with within(self.key):
            kind = context_kind(checked_scope(scope))
            if kind is None:
                self._options.scope = c.INVIVO_SCOPE_DEFAULT if scope is None else scope_number(scope)
                self._options.scope_name = None
            else:
                self._options.scope = c.INVIVO_SCOPE_CONTEXT
                self._options.scope_name = strings.name_bytes(kind, "kind")
        self._changed = True

    @property
    def rank(self) -> int:
        return int(self._options.rank)

    @rank.setter
    def rank(self, rank: int) -> None:
        self._options.rank = rank
        self._changed = True

    @property
    def properties(self) -> list[str]:
        """The names of the properties that it injects, in order."""
        return [_text(self._options.properties[index].name) for index in range(self._options.property_count)]

    def inject(self, name: str, thing: Any) -> None:
        """Injects a property: a `ref` to a key, or a value. It replaces an injection of the same property."""
        made = Injection(name, value=thing)
        if isinstance(thing, recipes.Recipe):
            node = thing._node
            if not isinstance(node, recipes.Ref) or not isinstance(node.to, str) or node.arguments:
                raise ArgumentError("a processor injects values and invivo.ref('key')", path=f"{self.key}.{name}")
            key = node.to if "." in node.to else f"{self.key.rpartition('.')[0]}.{node.to}"
            made = Injection(name, key, flags=c.INVIVO_INJECT_OPTIONAL if node.optional else 0)
        self._replace(name, [made])

    def leave_out(self, name: str) -> None:
        """Injects nothing into a property."""
        self._replace(name, [])

    def _replace(self, name: str, made: Sequence[Injection]) -> None:
        fresh, count = injections(self._core, self._packer, made)
        kept = [index for index, each in enumerate(self.properties) if each != name]
        array = (c.invivo_injection * (len(kept) + count))()
        for place, index in enumerate(kept):
            ctypes.pointer(array[place])[0] = self._options.properties[index]
        for place in range(count):
            ctypes.pointer(array[len(kept) + place])[0] = fresh[place]
        self._packer.hold(array)
        self._options.properties, self._options.property_count = array, len(array)
        self._changed = True

    def __repr__(self) -> str:
        return f"<invivo.Described {self.key}>"


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
