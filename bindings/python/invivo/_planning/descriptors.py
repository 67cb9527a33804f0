"""Planned definitions as structures of the library."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import math
import sys
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from .. import _generated as c
from .._assemblies.definitions import PLACED, SCOPES, context_kind
from .._classes.annotations import is_protocol
from .._classes.callables import call, without_secrets
from .._classes.hints import crossing_kind
from .._classes.universal import CALL
from .._declarations import resources
from .._declarations.changes import on_change_value
from .._declarations.recipes import Options
from .._native import callbacks, signals, strings
from .._native.library import Library
from .._objects.entries import instance as instance_at
from .._objects.objects import Objects
from .._objects.registration import parameter_table
from .._objects.types import TypeRecord
from .._values import conversion
from ..errors import ArgumentError, WrongTypeError, within
from .injections import Injection, Invocation, Option, Plan


class FactoryItem:
    """A function that a definition holds: its factory, or one that injects by code."""

    def __init__(self, core: Objects, plan: Plan, record: TypeRecord | None) -> None:
        self.core, self.plan, self.record = core, plan, record


def _abandon(item: FactoryItem, out: Any, *_: Any) -> None:
    item.core.abandon(out)


@callbacks.returns_status(c.invivo_definition, "factory", user_data=4, undo=_abandon)
def _factory(item: FactoryItem, out: Any, build: Any, arguments: Any, count: int, _: int, error: Any) -> None:
    made = item.plan.definition
    assert isinstance(made.makes, type)
    assert item.record is not None
    key = build[0].key.bits if build else 0
    item.core.purge_for(build)
    end = None
    values = item.core.arguments(item.plan.parameters, arguments, count)
    with item.core.creating(build):
        try:
            thing = call(made.factory, item.plan.parameters, values, given=build[0].given if build else -1)
        except Exception as problem:
            signals.pass_on(problem)
            shown = without_secrets(problem, item.plan.parameters, values)
            if shown is problem:
                raise
            raise shown from None
        if made.managed:
            thing, end = resources.begin(thing, getattr(made.factory, "__qualname__", made.made))
        try:
            if thing is None and made.options.nullable and end is None:
                return
            if thing is None or not may_answer(thing, made.makes):
                source = "the resource yielded" if made.managed else "the factory returned"
                raise WrongTypeError(f"{source} {thing!r}, but declares that it creates a {made.made}")
        except BaseException:
            if end is not None:
                end(None)
            raise
    entry = item.core.adopt(thing, item.record, key, out)
    if end is not None:
        entry.end = end
        entry.held = sys.getrefcount(thing) - 2  # without `thing` and the argument; with that of the entry


def may_answer(thing: Any, makes: type) -> bool:
    """Whether a factory may return an object for its class. Of protocols and of typing.TextIO nothing is known."""
    return is_protocol(makes) or makes.__module__ == "typing" or isinstance(thing, makes)


@callbacks.returns_status(c.invivo_definition, "inject", user_data=4)
def _inject(item: FactoryItem, instance: int, build: Any, arguments: Any, count: int, _: int, error: Any) -> None:
    inject = item.plan.definition.options.inject
    assert inject is not None
    item.core.purge_for(build)
    with item.core.creating(build):
        inject(instance_at(instance))


_addresses: dict[int, int] = {}  # by the library's table


def factory_address(library: Library) -> int:
    """Returns the function that the library calls for every factory of Python."""
    known = _addresses.get(library.table)
    if known is None:
        address = ctypes.cast(_factory.of(library), ctypes.c_void_p).value or 0
        known = _addresses.setdefault(library.table, address)
    return known


def define(core: Objects, changes: c.invivo_changes, plan: Plan) -> None:
    """Adds a planned definition to a change set of the library."""
    with defined(core, plan) as options:
        core.library.call("changes_define", changes, ctypes.byref(options), None)


@contextlib.contextmanager
def defined(core: Objects, plan: Plan) -> Iterator[c.invivo_definition]:
    """Converts a planned definition to C, for the calls in the block. If they fail, its references are released."""
    made = plan.definition
    record = None
    if isinstance(made.makes, type):
        record = core.types.managed(made.makes) if made.managed else core.types.of(made.makes)
    with conversion.Packer(core) as packer:
        options = c.invivo_definition()
        with within(made.key, made.file, made.line):
            _write(core, packer, plan, record, options)
        number = 0
        makes = made.factory is not None
        if makes or made.options.inject is not None:
            number = callbacks.enroll(FactoryItem(core, plan, record))
            options.user_data, options.destroy = number, callbacks.destroy.of(core.library)
            if makes:
                options.factory = _factory.of(core.library)
            if made.options.inject is not None:
                options.inject = _inject.of(core.library)
        held = core.cell()
        try:
            if made.constant is not None:
                options.constant = core.lease(made.constant.value, held)
            yield options
        except BaseException:
            callbacks.dismiss(number)
            raise
        finally:
            core.drop(held.number)


def _write(
    core: Objects, packer: conversion.Packer, plan: Plan, record: TypeRecord | None, options: c.invivo_definition
) -> None:
    """Writes a planned definition, without its references."""
    made = plan.definition
    options.struct_size = ctypes.sizeof(options)
    options.key = strings.name_bytes(made.key, "key")
    options.scope = c.INVIVO_SCOPE_DEFAULT if made.scope is None else SCOPES.get(made.scope, c.INVIVO_SCOPE_HOST)
    kind = context_kind(made.scope)
    if kind is not None:
        options.scope, options.scope_name = c.INVIVO_SCOPE_CONTEXT, strings.name_bytes(kind, "kind")
    elif made.scope is not None and made.scope not in SCOPES:
        options.scope_name = strings.name_bytes(made.scope.removeprefix(PLACED), "scope")
    if made.constant is not None and made.scope is None:
        options.scope = c.INVIVO_SCOPE_LAZY_SINGLETON
    options.flags = _flags(made.options)
    options.rank = made.options.rank
    if made.options.each is not None:
        options.each = strings.name_bytes(made.options.each, "each")
    if made.owner:
        options.owner = strings.name_bytes(made.owner, "key")
    options.start_timeout_ms = _milliseconds(made.options.start_timeout)
    options.on_change = on_change_value(made.options.on_change)
    if made.options.on_change_reason is not None:
        options.on_change_reason = strings.name_bytes(made.options.on_change_reason, "reason")
    if made.options.spec_key is not None:
        options.spec_key = strings.name_bytes(made.options.spec_key, "spec_key")
    options.stop_timeout_ms = _milliseconds(made.options.stop_timeout)
    options.type.bits = plan.type_bits if record is None else record.bits
    if isinstance(made.makes, type) and typing.get_origin(made.generic) is made.makes:
        options.generic = strings.name_bytes(core.types.name_of(made.makes) + core.types.arguments_of(made.generic))
    options.file, options.line = made.file.encode("utf-8", "replace"), made.line
    if plan.alias is not None:
        options.alias = strings.name_bytes(plan.alias, "key")
    if made.parent is not None:
        options.parent = strings.name_bytes(made.absolute(made.parent), "key")
    initializer = _in_order(plan) if made.factory is not None else plan.initializer
    options.initializer, options.initializer_count = injections(core, packer, initializer)
    options.properties, options.property_count = injections(core, packer, plan.properties)
    options.methods, options.method_count = _invocations(core, packer, plan.methods)
    options.before, options.before_count = _invocations(core, packer, plan.before)
    options.after, options.after_count = _invocations(core, packer, plan.after)
    options.after_all, options.after_all_count = _invocations(core, packer, plan.after_all)
    if plan.choice is not None:
        chooser, several = plan.choice
        options.chooser, _ = injections(core, packer, (chooser,))
        options.options, options.option_count = _options(core, packer, several)
    if plan.maker is not None:
        options.maker_method = strings.name_bytes(plan.maker.method, "method")
        options.maker, options.maker_count = injections(core, packer, plan.maker.arguments)
    if made.arguments and (plan.alias is None or plan.initializer):
        table = parameter_table(core.types, made.arguments)
        packer.hold(table)
        options.parameters, options.parameter_count = table, len(table)
        if any(each is not None for each in plan.defaults):
            names = [each.name for each in made.arguments]
            kinds = [crossing_kind(each.hint) for each in made.arguments]
            options.defaults, _ = packer.array(plan.defaults, names, kinds)


def _milliseconds(seconds: float | None) -> int:
    """Returns a limit in milliseconds. It is at least one if there is a limit: zero stands for none."""
    if seconds is None:
        return 0
    if seconds == math.inf:
        return 0xFFFFFFFF  # INVIVO_TIMEOUT_UNLIMITED
    try:
        is_valid = 0 < seconds < (1 << 32) / 1000 - 1
    except TypeError:
        raise WrongTypeError(f"a limit of a start or stop is a number of seconds, not {seconds!r}") from None
    if not is_valid:
        raise ArgumentError(f"{seconds} s is no time that a start or stop may take")
    return max(1, round(seconds * 1000))


def _flags(options: Options) -> int:
    flags = c.INVIVO_DEFINITION_ABSTRACT if options.abstract else 0
    flags |= c.INVIVO_DEFINITION_NULLABLE if options.nullable else 0
    flags |= c.INVIVO_DEFINITION_EXCLUSIVE if options.exclusive else 0
    flags |= c.INVIVO_DEFINITION_WAITS if options.waits else 0
    flags |= c.INVIVO_DEFINITION_TRACKED if options.tracked else 0
    flags |= c.INVIVO_DEFINITION_RESTART if options.restart else 0
    flags |= c.INVIVO_DEFINITION_HIDDEN_CLASS if options.hidden in (True, "class") else 0
    return flags | (c.INVIVO_DEFINITION_HIDDEN_INTERFACE if options.hidden in (True, "interface") else 0)


def _in_order(plan: Plan) -> tuple[Injection, ...]:
    """Returns the arguments of a factory by position: null stands for a default. Names are for messages."""
    given = {injection.name: injection for injection in plan.initializer}
    last = max((i for i, each in enumerate(plan.parameters) if each.name in given), default=-1)
    names = [each.name for each in plan.parameters[: last + 1]]
    found = (given.get(name, Injection("")) for name in names)
    return tuple(
        dataclasses.replace(each, name=name, flags=each.flags | c.INVIVO_INJECT_BY_POSITION)
        for name, each in zip(names, found, strict=True)
    )


def injections(core: Objects, packer: conversion.Packer, injections: Sequence[Injection]) -> tuple[Any, int]:
    array = (c.invivo_injection * len(injections))()
    for index, (slot, injection) in enumerate(zip(array, injections, strict=True)):
        with within(injection.name or str(index)):
            _injection(core, packer, slot, injection)
    packer.hold(array)
    return array, len(array)


def _injection(core: Objects, packer: conversion.Packer, slot: Any, injection: Injection) -> None:
    slot.name = strings.name_bytes(injection.name) if injection.name else None
    slot.how, slot.flags, slot.index = injection.way, injection.flags, injection.index
    if injection.added is not None:
        slot.added = strings.name_bytes(injection.added, "method")
    if injection.removed is not None:
        slot.removed = strings.name_bytes(injection.removed, "method")
    if injection.converter is not None:
        name = injection.converter
        slot.reference = strings.name_bytes(core.types.name_of(name) if isinstance(name, type) else name, "converter")
    if injection.reader is not None:
        slot.reference = strings.name_bytes(core.converters.reader(injection.reader), "converter")
    if injection.context_key is not None:
        core.contexts.key(injection.context_key)  # which declares it
        if injection.value is not None:
            packer.fill(slot.value, injection.value)
    if slot.how == c.INVIVO_INJECT_TEXT:
        if not injection.items:
            packer.fill(slot.value, injection.value)
    elif injection.of is not None:
        slot.reference = strings.name_bytes(core.types.query(injection.of))
    elif injection.reference is not None:
        slot.reference = strings.name_bytes(injection.reference, "key")
    elif slot.how == c.INVIVO_INJECT_VALUE:
        packer.fill(slot.value, injection.value, injection.kind)
    slot.items, slot.item_count = injections(core, packer, injection.items)


def _options(core: Objects, packer: conversion.Packer, options: Sequence[Option]) -> tuple[Any, int]:
    array = (c.invivo_option * len(options))()
    for slot, option in zip(array, options, strict=True):
        slot.when = option.when
        if option.when == c.INVIVO_WHEN_EQUAL:
            packer.fill(slot.value, option.value)
        elif option.value is not None:
            slot.name = strings.name_bytes(core.types.query(option.value))
        if option.use is not None:
            made, _ = injections(core, packer, (option.use,))
            slot.use = made[0]
    packer.hold(array)
    return array, len(array)


def _invocations(core: Objects, packer: conversion.Packer, invocations: Sequence[Invocation]) -> tuple[Any, int]:
    array = (c.invivo_invocation * len(invocations))()
    for slot, one in zip(array, invocations, strict=True):
        slot.method = strings.name_bytes(one.method, "method")
        with within(one.method if one.method != CALL else str(one.arguments[0].value)):
            slot.arguments, slot.argument_count = injections(core, packer, one.arguments)
    packer.hold(array)
    return array, len(array)
