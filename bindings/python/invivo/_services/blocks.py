"""Keys that have nothing but tunable numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from .. import _generated as c
from .._classes.classes import bounds
from .._declarations.marks import Tunable
from .._native import strings
from .._objects.objects import Objects
from .._values.kinds import CODECS
from ..errors import RangeError, WrongTypeError

_BLOCK_FIELDS: list[tuple[type, Any, int]] = [
    (bool, ctypes.c_bool, c.INVIVO_KIND_BOOL),
    (int, ctypes.c_int64, c.INVIVO_KIND_INT64),
    (float, ctypes.c_double, c.INVIVO_KIND_DOUBLE),
]


def define_block(core: Objects, key: str, type_name: str | None, tunables: Mapping[str, Any]) -> None:
    """Defines a key whose fields are described by `tunable` or plain values."""
    fields: list[tuple[str, Any]] = []
    described: list[Tunable] = []
    kinds: list[int] = []
    for name, thing in tunables.items():
        one = thing if isinstance(thing, Tunable) else Tunable(thing)
        for cls, kind, number in _BLOCK_FIELDS:
            if isinstance(one.initial, cls) or (one.choices and cls is int):
                fields.append((name, kind))
                kinds.append(number)
                described.append(one)
                break
        else:
            raise WrongTypeError(f"{name}: a block holds numbers, truth values and choices, not {one.initial!r}")
    layout = type("Block", (ctypes.Structure,), {"_fields_": fields})
    properties, initial = (c.invivo_property * len(fields))(), layout()
    held: list[Any] = []
    for slot, (name, kind), number, one in zip(properties, fields, kinds, described, strict=True):
        slot.struct_size = ctypes.sizeof(slot)
        slot.name, slot.kind = strings.name_bytes(name), number
        slot.offset, slot.size = getattr(layout, name).offset, ctypes.sizeof(kind)
        value = dict(one.choices)[one.initial] if isinstance(one.initial, str) else one.initial
        if number == c.INVIVO_KIND_INT64 and not -(2**63) <= value < 2**63:
            raise RangeError(f"{name}: {value} is outside {-(2**63)}...{2**63 - 1} (int64)")
        setattr(initial, name, value)
        slot.min, slot.max = bounds(one, number)
        slot.step = one.step or 0
        slot.unit = None if one.unit is None else strings.name_bytes(one.unit)
        slot.codec = CODECS[one.codec]
        slot.text = None if one.text is None else strings.name_bytes(one.text)
        choices = (c.invivo_choice * len(one.choices))()
        for choice, (each, value) in zip(choices, one.choices, strict=True):
            choice.name, choice.number = strings.name_bytes(each), value
        slot.choices, slot.choice_count = choices, len(choices)
        former = (ctypes.c_char_p * len(one.was))(*(strings.name_bytes(each) for each in one.was))
        slot.was, slot.was_count = former, len(former)
        held += [choices, former]
    options = c.invivo_block_options()
    options.struct_size = ctypes.sizeof(options)
    options.type_name = strings.name_bytes(type_name or key)
    options.size = ctypes.sizeof(layout)
    options.initial = ctypes.addressof(initial)
    options.properties, options.property_count = properties or None, len(properties)
    core.library.call("define_block", core.handle, strings.name_bytes(key, "key"), ctypes.byref(options), None)
