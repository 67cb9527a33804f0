"""Python classes as types of a runtime: their registration, and the callbacks that serve their instances."""

from __future__ import annotations

import abc
import ctypes
import itertools
import sys
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _generated as c
from . import _trampolines, _values
from ._describe import Description, Method, Parameter, Property, call, describe
from ._hints import LATE, Hint, crossing_kind, is_assembly, is_protocol
from ._marks import Tunable, component_name
from .errors import Error, ExistsError, StaleError, WrongTypeError

if TYPE_CHECKING:
    from ._core import Core


class TypeRecord:
    """A class that a runtime knows."""

    def __init__(self, core: Core, description: Description, managed: bool = False) -> None:
        self.core, self.description, self.managed = core, description, managed
        self.bits = 0
        self.below: dict[int, list[Any]] = {}  # children of instances while a tree is walked
        self.keys: dict[int, bytes] = {}  # the key that an instance named last
        self.fills_needs = False  # whether the library fills what is marked; otherwise Python does
        self.numbers: list[int] = []  # user data of its properties and methods

    @property
    def stops(self) -> bool:
        return self.managed or self.description.stop is not None

    def destroyed(self) -> None:
        for number in self.numbers:
            _trampolines.dismiss(number)
        self.core.types_by_bits.pop(self.bits, None)
        for table in (self.core.types, self.core.managed_types):
            if table.get(self.description.cls) is self:
                table.pop(self.description.cls, None)


class PropertyItem:
    def __init__(self, core: Core, described: Property) -> None:
        self.core, self.described = core, described


class Kept:
    """What an attribute held, the object itself."""

    def __init__(self, core: Core, value: Any) -> None:
        self.core, self.value = core, value


class MethodItem:
    def __init__(self, core: Core, described: Method) -> None:
        self.core, self.described = core, described


def _instance(core: Core, number: int | None) -> Any:
    from ._core import entry_of

    entry = entry_of(number)
    thing = entry.target() if entry is not None else None
    if thing is None:
        raise StaleError("the Python object is gone")
    return thing


# ---- callbacks -----------------------------------------------------------------------------------------


def _abandon(record: TypeRecord, out: Any, *_: Any) -> None:
    record.core.abandon(out)


@_trampolines.answering(c.invivo_type_options, "make", user_data=4, undo=_abandon)
def _make(record: TypeRecord, out: Any, build: Any, arguments: Any, count: int, _: int, error: Any) -> None:
    key = build[0].key.bits if build else 0
    record.core.forget_for(build)
    values = record.core.arguments(record.description.parameters, arguments, count)
    with record.core.entered():
        given = build[0].given if build else -1
        thing = call(record.description.cls, record.description.parameters, values, given=given)
    if thing is None:
        raise WrongTypeError(f"{record.description.cls.__name__}(...) answered None, where it makes an object")
    if not key and record.description.injected and not record.fills_needs and record.core.faces:
        record.core.faces[0].fill(thing)
    record.core.adopt(thing, record, key, out)


@_trampolines.telling(c.invivo_type_options, "release", user_data=1, repeats=True)
def _release(record: TypeRecord, instance: int, _: int) -> None:
    record.keys.pop(instance, None)
    record.core.disposed(instance)


@_trampolines.answering(c.invivo_type_options, "start", user_data=1)
def _start(record: TypeRecord, instance: int, _: int, error: Any) -> None:
    if record.managed:
        _check_whole(record, instance)
    if record.description.start is not None:
        with record.core.entered():
            getattr(_instance(record.core, instance), record.description.start)()


@_trampolines.answering(c.invivo_type_options, "stop", user_data=1)
def _stop(record: TypeRecord, instance: int, _: int, error: Any) -> None:
    from ._core import entry_of

    entry = entry_of(instance) if record.managed else None
    with record.core._entered_to_end():
        try:
            if record.description.stop is not None:
                getattr(_instance(record.core, instance), record.description.stop)()
        finally:
            if entry is not None:
                entry.finish()


def _check_whole(record: TypeRecord, instance: int) -> None:
    """A resource starts once."""
    from ._core import entry_of

    entry = entry_of(instance)
    if entry is not None and entry.end is None:
        name = record.description.cls.__name__
        raise StaleError(f"the resource that gave the {name} has ended and cannot be started again: reset its key")


@_trampolines.answering(c.invivo_type_options, "count_references", user_data=1)
def _count_references(record: TypeRecord, instance: int, _: int, out: Any, error: Any) -> None:
    from ._core import entry_of

    entry = entry_of(instance)
    out[0] = 0 if entry is None else entry.references()


@_trampolines.answering(c.invivo_property, "get", user_data=1)
def _get(item: PropertyItem, instance: int, _: int, out: Any, error: Any) -> None:
    value = item.described.read(_instance(item.core, instance))
    _values.answer(item.core, out, value, item.described.hint.kind)


@_trampolines.answering(c.invivo_property, "set", user_data=1)
def _set(item: PropertyItem, instance: int, _: int, value: Any, error: Any) -> None:
    thing, given = _instance(item.core, instance), _values.read(item.core, value[0])
    if item.described.offered:
        item.core.tunings.changing(instance)
    item.described.write(thing, given)


@_trampolines.answering(c.invivo_property, "capture", user_data=1)
def _capture(item: PropertyItem, instance: int, _: int, out: Any, kept: Any, error: Any) -> None:
    held = item.described.hold(_instance(item.core, instance))
    _values.answer(item.core, out, item.described.hint.encode(held), item.described.hint.kind)
    kept[0] = _trampolines.enroll(Kept(item.core, held))


@_trampolines.answering(c.invivo_property, "restore", user_data=1)
def _restore(item: PropertyItem, instance: int, _: int, kept: int, error: Any) -> None:
    held = _trampolines.item_of(kept)
    thing = _instance(item.core, instance)
    if item.described.offered:
        item.core.tunings.changing(instance)
    item.described.put_back(thing, held.value)
    if item.described.offered:
        item.core.tunings.put_back(instance)


# By its own number alone: it may come after the property is gone.
_forget = _trampolines.plain(c.invivo_property, "forget", lambda _, kept: _trampolines.dismiss(kept))


@_trampolines.answering(c.invivo_method, "call", user_data=1)
def _call(item: MethodItem, instance: int, _: int, arguments: Any, count: int, result: Any, error: Any) -> None:
    thing = _instance(item.core, instance)
    with item.core.entered():
        if item.described is ANY_CALL:
            return call_any(thing, *_values.read_all(item.core, arguments, count))
        method = getattr(thing, item.described.name)
        answered = call(method, item.described.parameters, _values.read_all(item.core, arguments, count))
    _values.answer(item.core, result, answered, item.described.result.kind)


def _hook(name: str) -> Any:
    @_trampolines.answering(c.invivo_type_options, name, user_data=1)
    def hook(record: TypeRecord, instance: int, _: int, error: Any) -> None:
        with record.core.entered():
            getattr(_instance(record.core, instance), getattr(record.description, name))()

    return hook


_will_inject, _did_inject, _prepare = _hook("will_inject"), _hook("did_inject"), _hook("prepare")


@_trampolines.answering(c.invivo_type_options, "take_runtime", user_data=1)
def _take_runtime(record: TypeRecord, instance: int, _: int, runtime: Any, error: Any) -> None:
    assert record.description.take_runtime is not None
    getattr(_instance(record.core, instance), record.description.take_runtime)(record.core.faces[0])


# ---- trees ---------------------------------------------------------------------------------------------


@_trampolines.answering(c.invivo_type_options, "child", user_data=1)
def _child(record: TypeRecord, instance: int, _: int, index: int, out: Any, error: Any) -> None:
    if index == 0:
        assert record.description.children is not None
        record.below[instance] = list(getattr(_instance(record.core, instance), record.description.children)())
    below = record.below[instance]
    if index < len(below):
        record.core.hand_over(below[index], out)
    else:
        del record.below[instance]


@_trampolines.answering(c.invivo_type_options, "key_name", user_data=1)
def _key_name(record: TypeRecord, instance: int, _: int, out: Any, error: Any) -> None:
    assert record.description.key_name is not None
    said = getattr(_instance(record.core, instance), record.description.key_name)()
    if said is not None:
        out[0] = record.keys[instance] = _values.name_bytes(said, "key")


# ---- weak references -----------------------------------------------------------------------------------

_weak: dict[int, weakref.ref[Any]] = {}


@_trampolines.leading(c.invivo_type_options, "weak_make", user_data=1)
def _weak_make(record: TypeRecord, instance: int, _: int) -> int:
    number = next(_trampolines.numbers)
    _weak[number] = weakref.ref(_instance(record.core, instance))
    return number


@_trampolines.leading(c.invivo_type_options, "weak_load", user_data=1)
def _weak_load(record: TypeRecord, weak: int, _: int) -> int:
    reference = _weak.get(weak)
    thing = reference() if reference is not None else None
    return 0 if thing is None else record.core.adopt(thing, record).number


@_trampolines.telling(c.invivo_type_options, "weak_free", user_data=1, repeats=True)
def _weak_free(record: TypeRecord, weak: int, _: int) -> None:
    _weak.pop(weak, None)


# ---- calling anything ----------------------------------------------------------------------------------

# A method that every Python type has besides its own: a function of the object, or one of its methods that says nothing
# of its parameters, called while the object is made.
CALL = "invivo:call"
ANY_CALL = Method(
    CALL,
    None,
    (
        Parameter("what", Hint(), False, False),
        Parameter("arguments", Hint(kind=c.INVIVO_KIND_LIST), False, False),
        Parameter("names", Hint(kind=c.INVIVO_KIND_LIST), False, False),
    ),
    Hint(kind=c.INVIVO_KIND_NULL),
)


def call_any(thing: Any, what: Any, arguments: Sequence[Any], names: Sequence[str]) -> None:
    """The last arguments are named."""
    count = len(arguments) - len(names)
    named = dict(zip(names, arguments[count:], strict=True))
    if isinstance(what, str):
        getattr(thing, what)(*arguments[:count], **named)
    else:
        what(thing, *arguments[:count], **named)


# ---- plain values --------------------------------------------------------------------------------------

# A plain value may be a constant of a definition, and is then an object like any other. What is given to others is the
# value, which this property of it is.
VALUE = "invivo:value"
_PLAIN: dict[type, int] = {
    bool: c.INVIVO_KIND_BOOL,
    int: c.INVIVO_KIND_ANY,  # of any width
    float: c.INVIVO_KIND_DOUBLE,
    str: c.INVIVO_KIND_STRING,
    bytes: c.INVIVO_KIND_BYTES,
    list: c.INVIVO_KIND_LIST,
    tuple: c.INVIVO_KIND_LIST,
    set: c.INVIVO_KIND_LIST,
    frozenset: c.INVIVO_KIND_LIST,
    dict: c.INVIVO_KIND_MAP,
}


def is_plain(cls: Any) -> bool:
    return isinstance(cls, type) and cls in _PLAIN


class Itself(Property):
    """The property of a plain value that is the value."""

    def read(self, instance: Any) -> Any:
        return instance


def itself(cls: type) -> list[Property]:
    return [Itself(VALUE, Hint(kind=_PLAIN[cls]), Tunable(None), True)] if cls in _PLAIN else []


# ---- registration --------------------------------------------------------------------------------------


def possible_names(cls: type) -> Iterator[str]:
    """Names for a class, best first: a name that another type has already taken cannot be used."""
    yield component_name(cls) or cls.__name__
    full = f"{cls.__module__}.{cls.__qualname__}"
    yield full
    for number in itertools.count(2):
        yield f"{full}#{number}"


def register(core: Core, cls: type, description: Description | None = None, *, managed: bool = False) -> TypeRecord:
    """Registers a class with a runtime; ``managed``: the type of resources that give its objects."""
    record = TypeRecord(core, description or describe(cls, core.known), managed)
    name = f"{core.name_of(cls)} (managed)" if managed else core.name_of(cls)
    table_of = core.managed_types if managed else core.types
    table = _Tables(core, record)
    options = table.options(name)
    number = _trampolines.enroll(record)
    options.user_data = number
    out = c.invivo_type()
    try:
        core.library.call("type_register", core.handle, ctypes.byref(options), ctypes.byref(out))
    except Error as problem:
        _trampolines.dismiss(number)
        for each in record.numbers:
            _trampolines.dismiss(each)
        if isinstance(problem, ExistsError):
            if cls in table_of:
                return table_of[cls]  # another thread was quicker
            if managed:
                raise
            core.names_of.pop(cls, None)
            core.names[name] = type(None)  # somebody else's
            return register(core, cls, description)
        raise
    record.bits = out.bits
    core.types_by_bits[out.bits] = record
    table_of[cls] = record
    core.grant(record, core.wished)
    return record


def bounds(said: Tunable, kind: int) -> tuple[float, float]:
    """The range of a tunable. C has none, or both ends: an end left open is that of the kind."""
    if said.min is None and said.max is None:
        return 0.0, 0.0
    low, high = _values.limits(kind)
    return (low if said.min is None else said.min), (high if said.max is None else said.max)


def last_needed(parameters: Sequence[Parameter]) -> int:
    """The place of the last parameter that cannot be left out, or -1."""
    return max((index for index, each in enumerate(parameters) if not each.optional), default=-1)


def parameter_table(core: Core, parameters: Sequence[Parameter]) -> Any:
    """Parameters as C has them: what may be left out comes last. What may be None before that can be anything."""
    array = (c.invivo_parameter * len(parameters))()
    needed = last_needed(parameters)
    for index, (slot, parameter) in enumerate(zip(array, parameters, strict=True)):
        slot.name = _values.name_bytes(parameter.name)
        if parameter.optional and index < needed:
            slot.kind = c.INVIVO_KIND_ANY
            continue
        slot.kind = crossing_kind(parameter.hint)
        slot.flags = c.INVIVO_PARAMETER_OPTIONAL if parameter.optional else 0
        wanted = parameter.hint.wanted
        if wanted is not None and _is_nominal(wanted):
            slot.type_name = _values.name_bytes(core.name_of(wanted))
    return array


class _Tables:
    """The C tables of a description, alive while the registration runs; the library copies them."""

    def __init__(self, core: Core, record: TypeRecord) -> None:
        self._core, self._record = core, record
        self._held: list[Any] = []
        self._packer = _values.Packer(core)

    def options(self, name: str) -> c.invivo_type_options:
        described = self._record.description
        options = c.invivo_type_options()
        options.struct_size = ctypes.sizeof(options)
        options.name = _values.name_bytes(name)
        options.text = self._text(described.text)
        names = [self._core.name_of(each) for each in described.supertypes if each.__module__ != "builtins"]
        names += self._core.generics_of(described.cls)
        if self._record.managed:
            names.insert(0, self._core.name_of(described.cls))
            options.lookup_name = _values.name_bytes(names[0])
        options.supertypes, options.supertype_count = self._names(names)
        options.concurrency = c.INVIVO_SHARED if described.shared else c.INVIVO_CONFINED
        if not described.shared:
            options.domain = self._core.domain
        library = self._core.library
        options.make, options.release = _make.of(library), _release.of(library)
        options.parameters, options.parameter_count = self._parameters(described.parameters)
        said = [*described.properties, *itself(described.cls)]
        properties = (c.invivo_property * len(said))()
        for slot, prop in zip(properties, said, strict=True):
            self._property(slot, prop)
        methods = (c.invivo_method * (len(described.methods) + 1))()
        for entry, method in zip(methods, (*described.methods, ANY_CALL), strict=True):
            self._method(entry, method)
        self._held += [properties, methods]
        options.properties, options.property_count = properties or None, len(properties)
        options.methods, options.method_count = methods or None, len(methods)
        if described.prepare is not None:
            options.prepare = _prepare.of(library)
        if described.start is not None or self._record.managed:
            options.start = _start.of(library)
        if self._record.stops:
            options.stop = _stop.of(library)
            options.count_references = _count_references.of(library)
        if described.will_inject is not None:
            options.will_inject = _will_inject.of(library)
        if described.did_inject is not None:
            options.did_inject = _did_inject.of(library)
        if described.take_runtime is not None:
            options.take_runtime = _take_runtime.of(library)
        if described.children is not None:
            options.child = _child.of(library)
        if described.key_name is not None:
            options.key_name = _key_name.of(library)
        needs = self._needs(described.injected)
        if needs is not None:
            options.needs, options.need_count = needs, len(needs)
            self._held.append(needs)
            self._record.fills_needs = len(needs) > 0
        if has_weak_references(described.cls):
            options.weak_make, options.weak_load = _weak_make.of(library), _weak_load.of(library)
            options.weak_free = _weak_free.of(library)
        options.destroy = _trampolines.destroy.of(library)
        return options

    def _needs(self, marked: Sequence[Property]) -> Any:
        """What the class marks, for the library to fill. None where Python alone can find it: by a protocol, by a name
        within an assembly, an assembly, or the runtime itself."""
        found = (c.invivo_injection * len(marked))()
        for slot, each in zip(found, marked, strict=True):
            hint, inner = each.hint, each.hint.item or each.hint
            key, wanted = hint.key or inner.key, inner.wanted
            if hint.late not in (None, *LATE, "all", "resolver") or each.read_only:
                return None
            slot.name = _values.name_bytes(each.name)
            if hint.late == "resolver":
                slot.how = c.INVIVO_INJECT_RESOLVER
                continue
            if key is None and is_assembly(wanted):
                return None
            if (key is None or "." not in key) and (key is not None or wanted is None or not _is_nominal(wanted)):
                return None
            target = slot
            if hint.late in LATE:
                items = (c.invivo_injection * 1)()
                self._held.append(items)
                slot.how, slot.items, slot.item_count = LATE[hint.late], items, 1
                target = items[0]
            assert hint.inject is not None
            target.flags = c.INVIVO_INJECT_OPTIONAL if hint.optional or inner.optional else 0
            if key is not None:
                target.how, target.reference = c.INVIVO_INJECT_REFERENCE, _values.name_bytes(key, "key")
                continue
            target.how = c.INVIVO_INJECT_ALL if hint.late == "all" else c.INVIVO_INJECT_TYPE
            target.flags |= c.INVIVO_INJECT_EXACT if hint.inject.exact else 0
            target.flags |= c.INVIVO_INJECT_GREEDY if hint.inject.greedy and hint.late != "all" else 0
            target.reference = _values.name_bytes(self._core.wish(inner.of))
        return found

    def _text(self, text: str | None) -> bytes | None:
        return None if text is None else text.replace("\0", " ").encode("utf-8", "replace")

    def _names(self, names: Sequence[str]) -> tuple[Any, int]:
        array = (ctypes.c_char_p * len(names))(*(_values.name_bytes(name) for name in names))
        self._held.append(array)
        return array, len(names)

    def _parameters(self, parameters: Sequence[Parameter]) -> tuple[Any, int]:
        array = parameter_table(self._core, parameters)
        self._held.append(array)
        return array, len(parameters)

    def _property(self, slot: c.invivo_property, prop: Property) -> None:
        said = prop.tunable
        slot.struct_size = ctypes.sizeof(slot)
        slot.name = _values.name_bytes(prop.name)
        slot.kind = prop.hint.kind
        if prop.read_only:
            slot.flags |= c.INVIVO_PROPERTY_READ_ONLY
        if not prop.offered:
            slot.flags |= c.INVIVO_PROPERTY_NOT_TUNABLE
        if said.restart:
            slot.flags |= c.INVIVO_PROPERTY_RESTART
        initial = getattr(said.initial, "name", said.initial) if prop.hint.choices else said.initial
        if isinstance(initial, (bool, int, float, str)) and prop.hint.kind != c.INVIVO_KIND_ANY:
            if isinstance(initial, (bool, int)) and not prop.hint.choices:
                initial = bool(initial) if prop.hint.kind == c.INVIVO_KIND_BOOL else int(initial)
            value = self._packer.value(initial, prop.hint.kind)
            self._held.append(value)
            slot.initial_value = ctypes.pointer(value)
        slot.min, slot.max = bounds(said, prop.hint.kind)
        slot.step = said.step or 0
        slot.unit, slot.text = self._text(said.unit), self._text(said.text)
        choices = (c.invivo_choice * len(prop.hint.choices))()
        for choice, (name, number) in zip(choices, prop.hint.choices, strict=True):
            choice.name, choice.number = _values.name_bytes(name), number
        self._held.append(choices)
        slot.choices, slot.choice_count = choices, len(choices)
        slot.was, slot.was_count = self._names(said.was)
        slot.get = _get.of(self._core.library)
        if not prop.read_only:
            slot.set = _set.of(self._core.library)
            slot.capture = _capture.of(self._core.library)
            slot.restore = _restore.of(self._core.library)
            slot.forget = _forget.of(self._core.library)
        slot.user_data = self._enroll(PropertyItem(self._core, prop))

    def _method(self, slot: c.invivo_method, method: Method) -> None:
        slot.struct_size = ctypes.sizeof(slot)
        slot.name, slot.text = _values.name_bytes(method.name), self._text(method.text)
        slot.parameters, slot.parameter_count = self._parameters(method.parameters)
        slot.result = method.result.kind
        slot.call = _call.of(self._core.library)
        slot.user_data = self._enroll(MethodItem(self._core, method))

    def _enroll(self, item: PropertyItem | MethodItem) -> int:
        number = _trampolines.enroll(item)
        self._record.numbers.append(number)
        return number


def has_weak_references(cls: type) -> bool:
    return bool(cls.__weakrefoffset__)


def _is_nominal(cls: type) -> bool:
    """Whether an instance is known by its class: a protocol is met by anything, and proxies have no class here."""
    from ._objects import Object

    return not is_protocol(cls) and cls is not Object and cls.__module__ != "builtins" and not _is_virtual(cls)


def _is_virtual(cls: type) -> bool:
    """Whether an abstract class counts others as its own that do not derive from it."""
    if not isinstance(cls, abc.ABCMeta):
        return False
    if any("__subclasshook__" in vars(each) for each in cls.__mro__[:-1]):
        return True
    dump = getattr(sys.modules.get("_abc"), "_get_dump", None)
    return bool(dump(cls)[0] if dump is not None else getattr(cls, "_abc_registry", ()))
