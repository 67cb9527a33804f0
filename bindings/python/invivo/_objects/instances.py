"""Callbacks that serve instances of Python classes: creation, life cycle, properties, methods, weak references."""

from __future__ import annotations

import weakref
from typing import Any, Protocol

from .. import _generated as c
from .._classes.callables import call
from .._classes.classes import Method, Property
from .._classes.universal import ANY_CALL, call_any
from .._native import callbacks, signals, strings
from .._values import conversion
from ..errors import StaleError, WrongTypeError
from . import belongings
from .entries import entry_of
from .entries import instance as instance_at
from .objects import Objects
from .reading import Origin, origin_of, put_back_origin, reader_of
from .types import TypeRecord


class TypeItem:
    """A registered class, for the callbacks of its type."""

    def __init__(self, core: Objects, record: TypeRecord) -> None:
        self.core, self.record = core, record
        self.below: dict[int, list[Any]] = {}  # children of instances while a tree is walked
        self.keys: dict[int, bytes] = {}  # the key that an instance named last
        self.members: list[int] = []  # user data of its properties and methods

    def released(self, instance: int) -> None:
        self.keys.pop(instance, None)
        self.core.disposed(instance)

    def destroyed(self) -> None:
        for number in self.members:
            callbacks.dismiss(number)
        self.core.types.remove(self.record)


class Releasing(Protocol):
    """The item of something whose instances end: a class, or a binding of settings."""

    def released(self, instance: int) -> None: ...


class PropertyItem:
    def __init__(self, core: Objects, described: Property) -> None:
        self.core, self.described = core, described
        self.reader = reader_of(described, core.converters.of)

    def written(self, instance: int, held: Any) -> Any:
        """Returns a value of the attribute as it crosses to the library."""
        if self.reader is None:
            return self.described.hint.encode(held)
        return self.reader.written(entry_of(instance), held)


class Kept:
    """The value of an attribute, whether the object itself held it, and the value of a spec file that it came from."""

    def __init__(self, core: Objects, value: Any, is_own: bool, origin: Origin | None) -> None:
        self.core, self.value, self.is_own, self.origin = core, value, is_own, origin


class MethodItem:
    def __init__(self, core: Objects, described: Method) -> None:
        self.core, self.described = core, described


def _abandon(item: TypeItem, out: Any, *_: Any) -> None:
    item.core.abandon(out)


@callbacks.returns_status(c.invivo_type_options, "make", user_data=4, undo=_abandon)
def make(item: TypeItem, out: Any, build: Any, arguments: Any, count: int, _: int, error: Any) -> None:
    key = build[0].key.bits if build else 0
    item.core.purge_for(build)
    values = item.core.arguments(item.record.description.parameters, arguments, count)
    with item.core.creating(build):
        given = build[0].given if build else -1
        thing = call(item.record.description.cls, item.record.description.parameters, values, given=given)
    if thing is None:
        raise WrongTypeError(f"{item.record.description.cls.__name__}(...) returned None instead of an object")
    if not key and item.record.description.injected and not item.record.fills_needs and item.core.runtimes:
        item.core.runtimes[0].fill(thing)
    item.core.adopt(thing, item.record, key, out)


@callbacks.returns_nothing(c.invivo_type_options, "release", user_data=1, repeats=True)
def release(item: Releasing, instance: int, _: int) -> None:
    item.released(instance)


@callbacks.returns_status(c.invivo_type_options, "start", user_data=1)
def start(item: TypeItem, instance: int, _: int, error: Any) -> None:
    if item.record.is_managed:
        _check_startable(item.record, instance)
    if item.record.description.start is not None:
        with item.core.entered():
            getattr(instance_at(instance), item.record.description.start)()


@callbacks.returns_status(c.invivo_type_options, "stop", user_data=1)
def stop(item: TypeItem, instance: int, _: int, error: Any) -> None:
    item.core.run_to_end(_stop, item, instance)


def _stop(item: TypeItem, instance: int) -> None:
    entry = entry_of(instance) if item.record.is_managed else None
    try:
        if item.record.description.stop is not None:
            getattr(instance_at(instance), item.record.description.stop)()
    finally:
        if entry is not None and entry.end is not None:
            entry.finish(item.core.contexts.failure())


def _check_startable(record: TypeRecord, instance: int) -> None:
    """Checks that a resource has not ended: it starts once."""
    entry = entry_of(instance)
    if entry is not None and entry.end is None:
        name = record.description.cls.__name__
        raise StaleError(f"the resource that gave the {name} has ended and cannot be started again: reset its key")


@callbacks.returns_status(c.invivo_type_options, "count_references", user_data=1)
def count_references(item: TypeItem, instance: int, _: int, out: Any, error: Any) -> None:
    entry = entry_of(instance)
    out[0] = 0 if entry is None else entry.references()


@callbacks.returns_status(c.invivo_property, "get", user_data=1)
def get(item: PropertyItem, instance: int, _: int, out: Any, error: Any) -> None:
    thing = instance_at(instance)
    value = item.described.read(thing) if item.reader is None else item.written(instance, item.described.hold(thing))
    conversion.answer(item.core, out, value, item.described.hint.kind)


@callbacks.returns_status(c.invivo_property, "set", user_data=1)
def assign(item: PropertyItem, instance: int, _: int, value: Any, error: Any) -> None:
    thing, given = instance_at(instance), conversion.read(item.core, value[0])
    if item.described.offered:
        item.core.tunings.changing(instance)
    if item.reader is None:
        item.described.write(thing, given)
    else:
        setattr(thing, item.described.name, item.reader.read(given))
        item.reader.note(entry_of(instance), given, item.described.hold(thing))


@callbacks.returns_status(c.invivo_property, "verify", user_data=0)
def verify(item: PropertyItem, _: int, value: Any, error: Any) -> None:
    if item.reader is not None:
        item.reader.read(conversion.read(item.core, value[0]))


@callbacks.returns_status(c.invivo_property, "capture", user_data=1)
def capture(item: PropertyItem, instance: int, _: int, out: Any, kept: Any, error: Any) -> None:
    thing = instance_at(instance)
    held = item.described.hold(thing)
    conversion.answer(item.core, out, item.written(instance, held), item.described.hint.kind)
    origin = origin_of(entry_of(instance), item.described.name)
    kept[0] = callbacks.enroll(Kept(item.core, held, item.described.is_own(thing), origin))


@callbacks.returns_status(c.invivo_property, "restore", user_data=1, completes=True)
def restore(done: list[Any], item: PropertyItem, instance: int, _: int, kept: int, error: Any) -> None:
    held = callbacks.item_of(kept)
    thing = instance_at(instance)
    if item.described.offered:
        item.core.tunings.changing(instance)
    signals.run(done, item.described.put_back, thing, held.value, held.is_own)
    put_back_origin(entry_of(instance), item.described.name, held.origin)
    if item.described.offered:
        item.core.tunings.put_back(instance)


# By its own number alone: it may come after the property is gone.
forget = callbacks.plain(c.invivo_property, "forget", lambda _, kept: callbacks.dismiss(kept))


@callbacks.returns_status(c.invivo_method, "call", user_data=1)
def invoke(item: MethodItem, instance: int, _: int, arguments: Any, count: int, result: Any, error: Any) -> None:
    thing = instance_at(instance)
    with item.core.entered():
        if item.described is ANY_CALL:
            return call_any(thing, *conversion.read_all(item.core, arguments, count))
        method = getattr(thing, item.described.name)
        answered = call(method, item.described.parameters, conversion.read_all(item.core, arguments, count))
    conversion.answer(item.core, result, answered, item.described.result.kind)


def _hook(name: str) -> Any:
    @callbacks.returns_status(c.invivo_type_options, name, user_data=1)
    def hook(item: TypeItem, instance: int, _: int, error: Any) -> None:
        with item.core.entered():
            getattr(instance_at(instance), getattr(item.record.description, name))()

    return hook


will_inject, did_inject, prepare = _hook("will_inject"), _hook("did_inject"), _hook("prepare")
SETUP_HOOKS = {name: _hook(name) for name in ("refresh", "finalize")}


@callbacks.returns_status(c.invivo_type_options, "setup", user_data=1)
def setup(item: TypeItem, instance: int, _: int, error: Any) -> None:
    assert item.record.description.setup is not None
    with item.core.entered(), belongings.setting_up(entry_of(instance)):
        getattr(instance_at(instance), item.record.description.setup)()


@callbacks.returns_status(c.invivo_type_options, "teardown", user_data=1, completes=True)
def teardown(done: list[Any], item: TypeItem, instance: int, _: int, error: Any) -> None:
    assert item.record.description.teardown is not None
    item.core.run_to_end(signals.run, done, getattr(instance_at(instance), item.record.description.teardown))


SETUP_HOOKS |= {"setup": setup, "teardown": teardown}


@callbacks.returns_status(c.invivo_type_options, "take_runtime", user_data=1)
def take_runtime(item: TypeItem, instance: int, _: int, runtime: Any, error: Any) -> None:
    assert item.record.description.take_runtime is not None
    getattr(instance_at(instance), item.record.description.take_runtime)(item.core.runtimes[0])


@callbacks.returns_status(c.invivo_type_options, "child", user_data=1)
def child(item: TypeItem, instance: int, _: int, index: int, out: Any, error: Any) -> None:
    if index == 0:
        assert item.record.description.children is not None
        item.below[instance] = list(getattr(instance_at(instance), item.record.description.children)())
    below = item.below[instance]
    if index < len(below):
        item.core.hand_over(below[index], out)
    else:
        del item.below[instance]


@callbacks.returns_status(c.invivo_type_options, "key_name", user_data=1)
def key_name(item: TypeItem, instance: int, _: int, out: Any, error: Any) -> None:
    assert item.record.description.key_name is not None
    name = getattr(instance_at(instance), item.record.description.key_name)()
    if name is not None:
        out[0] = item.keys[instance] = strings.name_bytes(name, "key")


@callbacks.returns_status(c.invivo_callbacks, "parent", user_data=1)
def parent(item: TypeItem, instance: int, _: int, out: Any, error: Any) -> None:
    assert item.record.description.parent is not None
    found = getattr(instance_at(instance), item.record.description.parent)()
    if found is not None:
        item.core.hand_over(found, out)


_weak: dict[int, weakref.ref[Any]] = {}


@callbacks.returns_number(c.invivo_type_options, "weak_make", user_data=1)
def weak_make(item: TypeItem, instance: int, _: int) -> int:
    number = next(callbacks.numbers)
    _weak[number] = weakref.ref(instance_at(instance))
    return number


@callbacks.returns_number(c.invivo_type_options, "weak_load", user_data=1)
def weak_load(item: TypeItem, weak: int, _: int) -> int:
    reference = _weak.get(weak)
    thing = reference() if reference is not None else None
    return 0 if thing is None else item.core.adopt(thing, item.record).number


@callbacks.returns_nothing(c.invivo_type_options, "weak_free", user_data=1, repeats=True)
def weak_free(item: TypeItem, weak: int, _: int) -> None:
    _weak.pop(weak, None)
