"""Registration of Python classes as types of a runtime."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from .. import _generated as c
from .._classes.annotations import is_assembly
from .._classes.callables import Parameter, last_needed
from .._classes.classes import Description, Method, Property, bounds, describe, has_weak_references
from .._classes.hints import LATE, crossing_kind
from .._classes.universal import ANY_CALL, itself
from .._declarations.changes import whole_flags
from .._native import callbacks, strings
from .._values import conversion
from .._values.kinds import CODECS
from ..errors import ArgumentError, Error, ExistsError
from . import instances
from .instances import MethodItem, PropertyItem, TypeItem
from .objects import Objects
from .types import TypeRecord, Types, is_nominal


def register(core: Objects, cls: type, description: Description | None, is_managed: bool) -> TypeRecord:
    """Registers a class with a runtime. ``is_managed``: as the type of resources that provide its objects."""
    types = core.types
    record = TypeRecord(description or describe(cls, types.known), is_managed)
    own = types.name_of(cls)
    item = TypeItem(core, record)
    options = _Tables(item).options(f"{own} (managed)" if is_managed else own)
    options.user_data = number = callbacks.enroll(item)
    out = c.invivo_type()
    try:
        core.library.call("type_register", core.handle, ctypes.byref(options), ctypes.byref(out))
    except Error as problem:
        callbacks.dismiss(number)
        for each in item.members:
            callbacks.dismiss(each)
        if isinstance(problem, ExistsError):
            known = types.find(cls, is_managed=is_managed)
            if known is not None:
                return known  # another thread was faster
            if is_managed:
                raise
            types.refuse_name(cls, own)
            return register(core, cls, description, is_managed)
        raise
    record.bits = out.bits
    types.add(record)
    return record


def parameter_table(types: Types, parameters: Sequence[Parameter]) -> Any:
    """Returns parameters as C has them: optional ones come last. One that may be None before that is of any kind."""
    array = (c.invivo_parameter * len(parameters))()
    needed = last_needed(parameters)
    for index, (slot, parameter) in enumerate(zip(array, parameters, strict=True)):
        slot.name = strings.name_bytes(parameter.name)
        slot.flags = c.INVIVO_PARAMETER_SECRET if parameter.hint.secret else 0
        if parameter.optional and index < needed:
            slot.kind = c.INVIVO_KIND_ANY
            continue
        slot.kind = crossing_kind(parameter.hint)
        slot.flags |= c.INVIVO_PARAMETER_OPTIONAL if parameter.optional else 0
        wanted = parameter.hint.wanted
        if wanted is not None and is_nominal(wanted):
            slot.type_name = strings.name_bytes(types.name_of(wanted))
    return array


class PropertyTables:
    """The C tables of properties. They live while a registration runs; the library copies them."""

    def __init__(self, core: Objects) -> None:
        self._core = core
        self._held: list[Any] = []
        self._packer = conversion.Packer(core)

    def text(self, text: str | None) -> bytes | None:
        return None if text is None else text.replace("\0", " ").encode("utf-8", "replace")

    def names(self, names: Sequence[str]) -> tuple[Any, int]:
        array = (ctypes.c_char_p * len(names))(*(strings.name_bytes(name) for name in names))
        self._held.append(array)
        return array, len(names)

    def describe(self, slot: c.invivo_property, prop: Property) -> None:
        """Describes the values of a property, but not how it is read and set."""
        tunable = prop.tunable
        slot.struct_size = ctypes.sizeof(slot)
        slot.name = strings.name_bytes(prop.name)
        slot.kind = prop.hint.kind
        initial = tunable.initial
        if prop.hint.choices and initial is not None:
            encoded = prop.hint.encode(initial)
            initial = getattr(encoded, "name", encoded)
        if isinstance(initial, (bool, int, float, str)) and prop.hint.kind != c.INVIVO_KIND_ANY:
            if isinstance(initial, (bool, int)) and not prop.hint.choices:
                initial = bool(initial) if prop.hint.kind == c.INVIVO_KIND_BOOL else int(initial)
            value = self._packer.value(initial, prop.hint.kind)
            self._held.append(value)
            slot.initial_value = ctypes.pointer(value)
        slot.min, slot.max = bounds(tunable, prop.hint.kind)
        slot.step = tunable.step or 0
        slot.unit, slot.text = self.text(tunable.unit), self.text(tunable.text)
        slot.codec = CODECS[tunable.codec]
        choices = (c.invivo_choice * len(prop.hint.choices))()
        for choice, (name, number) in zip(choices, prop.hint.choices, strict=True):
            choice.name, choice.number = strings.name_bytes(name), number
        self._held.append(choices)
        slot.choices, slot.choice_count = choices, len(choices)
        slot.was, slot.was_count = self.names(tunable.was)
        if prop.secret:
            slot.flags |= c.INVIVO_PROPERTY_SECRET


class _Tables(PropertyTables):
    """The C tables of a description."""

    def __init__(self, item: TypeItem) -> None:
        super().__init__(item.core)
        self._record, self._members = item.record, item.members
        self._types = item.core.types

    def options(self, name: str) -> c.invivo_type_options:
        described = self._record.description
        options = c.invivo_type_options()
        options.struct_size = ctypes.sizeof(options)
        options.name = strings.name_bytes(name)
        options.text = self.text(described.text)
        names = [self._types.name_of(each) for each in described.supertypes if each.__module__ != "builtins"]
        names += self._types.generics_of(described.cls)
        if self._record.is_managed:
            names.insert(0, self._types.name_of(described.cls))
            options.lookup_name = strings.name_bytes(names[0])
        options.supertypes, options.supertype_count = self.names(names)
        options.concurrency = c.INVIVO_SHARED if described.shared else c.INVIVO_CONFINED
        if not described.shared:
            options.domain = self._core.domain
        library = self._core.library
        options.make, options.release = instances.make.of(library), instances.release.of(library)
        options.parameters, options.parameter_count = self._parameters(described.parameters)
        offered = [*described.properties, *itself(described.cls)]
        properties = (c.invivo_property * len(offered))()
        for slot, prop in zip(properties, offered, strict=True):
            self._property(slot, prop)
        methods = (c.invivo_method * (len(described.methods) + 1))()
        for entry, method in zip(methods, (*described.methods, ANY_CALL), strict=True):
            self._method(entry, method)
        self._held += [properties, methods]
        options.properties, options.property_count = properties or None, len(properties)
        options.methods, options.method_count = methods or None, len(methods)
        if described.prepare is not None:
            options.prepare = instances.prepare.of(library)
        if described.start is not None or self._record.is_managed:
            options.start = instances.start.of(library)
        if self._record.is_managed or described.stop is not None:
            options.stop = instances.stop.of(library)
        if self._record.stops:
            options.count_references = instances.count_references.of(library)
        if described.will_inject is not None:
            options.will_inject = instances.will_inject.of(library)
        if described.did_inject is not None:
            options.did_inject = instances.did_inject.of(library)
        if described.take_runtime is not None:
            options.take_runtime = instances.take_runtime.of(library)
        for name, hook in instances.SETUP_HOOKS.items():
            if getattr(described, name) is not None:
                setattr(options, name, hook.of(library))
        options.keeps_children = described.keeps_children
        if described.children is not None:
            options.child = instances.child.of(library)
        if described.key_name is not None:
            options.key_name = instances.key_name.of(library)
        if described.parent is not None:
            options.parent = instances.parent.of(library)
        needs = self._needs(described.injected)
        if needs is not None:
            options.needs, options.need_count = needs, len(needs)
            self._held.append(needs)
            self._record.fills_needs = len(needs) > 0
        if has_weak_references(described.cls):
            options.weak_make, options.weak_load = instances.weak_make.of(library), instances.weak_load.of(library)
            options.weak_free = instances.weak_free.of(library)
        options.destroy = callbacks.destroy.of(library)
        return options

    def _needs(self, marked: Sequence[Property]) -> Any:
        """Returns the marked attributes for the library to fill, or None if only Python can find their values.

        Those are found by a protocol or by a name within an assembly, or are an assembly or the runtime itself.
        """
        found = (c.invivo_injection * len(marked))()
        for slot, each in zip(found, marked, strict=True):
            hint, inner = each.hint, each.hint.item or each.hint
            key, wanted = hint.key or inner.key, inner.wanted
            if hint.late not in (None, *LATE, "all", "resolver") or each.read_only:
                return None
            slot.name = strings.name_bytes(each.name)
            slot.flags = whole_flags(hint.inject)
            if hint.context is not None:
                return None
            if hint.late == "resolver":
                slot.how = c.INVIVO_INJECT_RESOLVER
                continue
            if key is None and is_assembly(wanted):
                return None
            if (key is None or "." not in key) and (key is not None or wanted is None or not is_nominal(wanted)):
                return None
            target = slot
            if hint.late in LATE:
                items = (c.invivo_injection * 1)()
                self._held.append(items)
                slot.how, slot.items, slot.item_count = LATE[hint.late], items, 1
                target = items[0]
            assert hint.inject is not None
            target.flags |= c.INVIVO_INJECT_OPTIONAL if hint.optional or inner.optional else 0
            if key is not None:
                target.how, target.reference = c.INVIVO_INJECT_REFERENCE, strings.name_bytes(key, "key")
                continue
            target.how = c.INVIVO_INJECT_ALL if hint.late == "all" else c.INVIVO_INJECT_TYPE
            target.flags |= c.INVIVO_INJECT_EXACT if hint.inject.exact else 0
            target.flags |= c.INVIVO_INJECT_GREEDY if hint.inject.greedy and hint.late != "all" else 0
            target.reference = strings.name_bytes(self._types.query(inner.of))
        return found

    def _parameters(self, parameters: Sequence[Parameter]) -> tuple[Any, int]:
        array = parameter_table(self._types, parameters)
        self._held.append(array)
        return array, len(parameters)

    def _property(self, slot: c.invivo_property, prop: Property) -> None:
        if prop.tunable.initial is ...:
            cls = self._record.description.cls.__name__
            raise ArgumentError(f"{cls}.{prop.name} has no initial value: tunable(...) is for fields of invivo.Trait")
        self.describe(slot, prop)
        if prop.read_only:
            slot.flags |= c.INVIVO_PROPERTY_READ_ONLY
        if not prop.offered:
            slot.flags |= c.INVIVO_PROPERTY_NOT_TUNABLE
        if prop.tunable.restart:
            slot.flags |= c.INVIVO_PROPERTY_RESTART
        slot.get = instances.get.of(self._core.library)
        if not prop.read_only:
            slot.set = instances.assign.of(self._core.library)
            if prop.annotation is not None:
                slot.verify = instances.verify.of(self._core.library)
            slot.capture = instances.capture.of(self._core.library)
            slot.restore = instances.restore.of(self._core.library)
            slot.forget = instances.forget.of(self._core.library)
        slot.user_data = self._enroll(PropertyItem(self._core, prop))

    def _method(self, slot: c.invivo_method, method: Method) -> None:
        slot.struct_size = ctypes.sizeof(slot)
        slot.name, slot.text = strings.name_bytes(method.name), self.text(method.text)
        slot.parameters, slot.parameter_count = self._parameters(method.parameters)
        slot.result = method.result.kind
        slot.call = instances.invoke.of(self._core.library)
        slot.user_data = self._enroll(MethodItem(self._core, method))

    def _enroll(self, item: PropertyItem | MethodItem) -> int:
        number = callbacks.enroll(item)
        self._members.append(number)
        return number
