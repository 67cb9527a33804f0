"""The component of the pairs, in Python. Its members are those of probe.c and Probe.swift."""

import enum
from collections.abc import Callable
from typing import Any, ClassVar

import invivo


class Wave(enum.Enum):
    sine = 0
    saw = 1
    square = 7


@invivo.component(name="PythonProbe")
class Probe:
    counts: ClassVar[dict[str, int]] = {"made": 0, "stopped": 0, "disposed": 0}

    label: str
    flag: bool
    i8: invivo.Int8
    i16: invivo.Int16
    i32: invivo.Int32
    i64: invivo.Int64
    u8: invivo.UInt8
    u16: invivo.UInt16
    u32: invivo.UInt32
    u64: invivo.UInt64
    single: invivo.Float32
    number: float
    data: bytes
    items: list
    table: dict
    other: Any
    kind: Any
    function: Any
    wave: Wave
    anything: Any

    def __init__(
        self,
        label: str = "",
        flag: bool = False,
        i8: invivo.Int8 = 0,
        i16: invivo.Int16 = 0,
        i32: invivo.Int32 = 0,
        i64: invivo.Int64 = 0,
        u8: invivo.UInt8 = 0,
        u16: invivo.UInt16 = 0,
        u32: invivo.UInt32 = 0,
        u64: invivo.UInt64 = 0,
        single: invivo.Float32 = 0.0,
        number: float = 0.0,
        data: bytes = b"",
        items: list | None = None,
        table: dict | None = None,
        other: object | None = None,
        kind: type | None = None,
        function: Callable[..., Any] | None = None,
        wave: Wave = Wave.sine,
        anything: Any = None,
    ) -> None:
        self.label, self.flag = label, flag
        self.i8, self.i16, self.i32, self.i64 = i8, i16, i32, i64
        self.u8, self.u16, self.u32, self.u64 = u8, u16, u32, u64
        self.single, self.number, self.data = single, number, data
        self.items = [] if items is None else items
        self.table = {} if table is None else table
        self.other, self.kind, self.function, self.wave, self.anything = other, kind, function, wave, anything
        self.counts["made"] += 1

    def __del__(self) -> None:
        self.counts["disposed"] += 1

    @invivo.on_stop
    def stop(self) -> None:
        self.counts["stopped"] += 1

    @property
    def made(self) -> int:
        return self.counts["made"]

    @property
    def stopped(self) -> int:
        return self.counts["stopped"]

    @property
    def disposed(self) -> int:
        return self.counts["disposed"]

    def echo_label(self, value: str) -> str:
        return value

    def echo_flag(self, value: bool) -> bool:
        return value

    def echo_i8(self, value: invivo.Int8) -> invivo.Int8:
        return value

    def echo_i16(self, value: invivo.Int16) -> invivo.Int16:
        return value

    def echo_i32(self, value: invivo.Int32) -> invivo.Int32:
        return value

    def echo_i64(self, value: invivo.Int64) -> invivo.Int64:
        return value

    def echo_u8(self, value: invivo.UInt8) -> invivo.UInt8:
        return value

    def echo_u16(self, value: invivo.UInt16) -> invivo.UInt16:
        return value

    def echo_u32(self, value: invivo.UInt32) -> invivo.UInt32:
        return value

    def echo_u64(self, value: invivo.UInt64) -> invivo.UInt64:
        return value

    def echo_single(self, value: invivo.Float32) -> invivo.Float32:
        return value

    def echo_number(self, value: float) -> float:
        return value

    def echo_data(self, value: bytes) -> bytes:
        return value

    def echo_items(self, value: list) -> list:
        return value

    def echo_table(self, value: dict) -> dict:
        return value

    def echo_other(self, value: object) -> object:
        return value

    def echo_kind(self, value: type) -> type:
        return value

    def echo_function(self, value: Callable[..., Any]) -> Callable[..., Any]:
        return value

    def echo_wave(self, value: Wave) -> Wave:
        return value

    def echo(self, value: Any = None) -> Any:
        return value

    def apply(self, function: Callable[..., Any], value: Any = None) -> Any:
        return function(value)

    def doubler(self) -> Callable[..., Any]:
        return lambda number: 2 * number

    def fail(self) -> None:
        cause = invivo.BusyError("the amplifier said so")
        raise invivo.RangeError("too loud", path="probe.gain", file="probe.wav", line=3, column=7, cause=cause)
