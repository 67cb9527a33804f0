"""The kinds of values: their names, and the ranges of numbers."""

from __future__ import annotations

import enum
import math
from typing import Literal, get_args

from .. import _generated as c

KIND_NAMES: dict[int, str] = {number: name.removeprefix("INVIVO_KIND_").lower() for name, number in c.KINDS}
INTEGERS = range(c.INVIVO_KIND_INT8, c.INVIVO_KIND_UINT64 + 1)
Codec = Literal["none", "size", "point", "decibel", "percent", "color", "duration"]
CODECS: dict[str, int] = {name: getattr(c, f"INVIVO_CODEC_{name.upper()}") for name in get_args(Codec)}
CODEC_NAMES: dict[int, str] = {number: name for name, number in CODECS.items()}


def enum_number(member: enum.Enum) -> int:
    """Returns the number of a member: its value if that is an integer, else its index."""
    value = member.value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return list(type(member)).index(member)


SIGNED = {kind: 8 << place for place, kind in enumerate(range(c.INVIVO_KIND_INT8, c.INVIVO_KIND_INT64 + 1))}
UNSIGNED = {kind: 8 << place for place, kind in enumerate(range(c.INVIVO_KIND_UINT8, c.INVIVO_KIND_UINT64 + 1))}
FLOATS = (c.INVIVO_KIND_FLOAT, c.INVIVO_KIND_DOUBLE)


def limits(kind: int) -> tuple[float, float]:
    """Returns the least and the largest double that fit a kind of number."""
    if kind in SIGNED:
        bits = SIGNED[kind] - 1
        return -float(1 << bits), math.nextafter(float(1 << bits), 0) if bits > 53 else float((1 << bits) - 1)
    if kind in UNSIGNED:
        bits = UNSIGNED[kind]
        return 0.0, math.nextafter(float(1 << bits), 0) if bits > 53 else float((1 << bits) - 1)
    return -math.inf, math.inf
