"""The driver of the pairs, in Python: exercises a probe of any language through the Python package."""

import ctypes
import enum
import gc
import math
import sys
import traceback
from functools import partial

import invivo
from invivo import _generated as c
from invivo._values import conversion, foreign

COMPONENTS = ("C", "Swift", "Python")


class Wave(enum.Enum):
    sine = 0
    saw = 1
    square = 7


def report(language, component, outcome):
    if outcome > 0:
        print(f"pair {language}->{component}: ok, {outcome} checks", flush=True)
    else:
        print(f"pair {language}->{component}: FAILED, {-outcome} checks do not hold", flush=True)
    return outcome > 0


def plus_one(number):
    return number + 1


class Driver:
    def __init__(self, runtime, component):
        self.runtime, self.component = runtime, component
        self.checks = self.failures = 0
        self.type = runtime.find_type(f"{component}Probe")
        self.core = runtime._open()

    # ---- a probe of Python itself is a plain object here: the way through the library is checked -------------

    def get(self, probe, name):
        if isinstance(probe, invivo.Object):
            return getattr(probe, name)
        return self.border(probe, "object_get", name.encode())

    def set(self, probe, name, thing):
        if isinstance(probe, invivo.Object):
            return setattr(probe, name, thing)
        with conversion.Packer(self.core) as packer:
            handle = packer.value(probe)
            value = packer.value(thing)
            self.core.library.call("object_set", getattr(handle, "as").object, name.encode(), ctypes.byref(value))

    def call(self, probe, name, *arguments):
        if isinstance(probe, invivo.Object):
            return foreign.call_method(probe, name, *arguments)
        with conversion.Packer(self.core) as packer:
            array, count = packer.array(arguments)
            return self.border(probe, "object_call", name.encode(), array, count)

    def border(self, probe, function, *arguments):
        with conversion.Packer(self.core) as packer:
            handle = packer.value(probe)
            return conversion.ask(self.core, function, getattr(handle, "as").object, *arguments)

    # ---- checks -----------------------------------------------------------------------------------------------

    def check(self, holds, what):
        self.checks += 1
        if not holds:
            self.failures += 1
            print(f"pair Python->{self.component}: does not hold: {what}", file=sys.stderr)

    def same(self, back, thing, what):
        if isinstance(thing, float):
            equal = type(back) is float and back == thing and math.copysign(1, back) == math.copysign(1, thing)
        elif isinstance(thing, (invivo.Object, invivo.Type)) or callable(thing):
            equal = back is thing
        elif isinstance(thing, enum.Enum):
            equal = back is thing or (back, getattr(back, "name", None)) == (thing.value, thing.name)
        else:
            equal = type(back) is type(thing) and back == thing
        self.check(equal, f"{what}: {back!r} came back for {thing!r}")

    def refused(self, code, do, *arguments):
        try:
            answer = do(*arguments)
        except invivo.Error as error:
            self.check(error.code == code and error.message, f"{arguments[1:]}: {error.code} for {code}: {error}")
        else:
            self.check(False, f"{arguments[1:]} was accepted: {answer!r}")

    def round_trip(self, probe, member, thing):
        self.set(probe, member, thing)
        self.same(self.get(probe, member), thing, member)
        self.same(self.call(probe, f"echo_{member}", thing), thing, f"echo_{member}")
        self.same(self.call(probe, "echo", thing), thing, f"echo of {member}")
        self.set(probe, "anything", thing)
        self.same(self.get(probe, "anything"), thing, f"anything as {member}")

    def refuse(self, probe, member, thing, code):
        self.refused(code, self.set, probe, member, thing)
        self.refused(code, self.call, probe, f"echo_{member}", thing)

    def integers(self, probe):
        for bits in (8, 16, 32, 64):
            for member, low, high in (
                (f"i{bits}", -(1 << bits - 1), (1 << bits - 1) - 1),
                (f"u{bits}", 0, (1 << bits) - 1),
            ):
                self.round_trip(probe, member, low)
                self.round_trip(probe, member, high)
                self.refuse(probe, member, low - 1, c.INVIVO_E_RANGE)
                self.refuse(probe, member, high + 1, c.INVIVO_E_RANGE)
                self.refuse(probe, member, 0.5, c.INVIVO_E_RANGE)
                self.refuse(probe, member, "7", c.INVIVO_E_TYPE)
        self.refuse(probe, "u8", 300, c.INVIVO_E_RANGE)

    def plain_values(self, probe):
        nested = [None, True, -(1 << 63), (1 << 64) - 1, 0.5, "x", b"\0\xff", [[]], {}]
        for member, things in {
            "flag": (False, True),
            "number": (0.1, sys.float_info.max, -sys.float_info.min, 5e-324, -0.0, -math.inf),
            "label": ("", "text \N{MUSICAL KEYBOARD}", "a\0b"),
            "data": (b"", b"\0\xff\1\0"),
            "items": ([], nested),
            "table": ({}, {"a": {"b": nested}, "": 1, "\u00e4": None}),
            "single": (0.5, -0.0, math.inf, 2.0**-149),
        }.items():
            for thing in things:
                self.round_trip(probe, member, thing)
        for member, thing, code in (
            ("single", 1e300, c.INVIVO_E_RANGE),
            ("number", (1 << 64) - 1, c.INVIVO_E_RANGE),
            ("flag", 1, c.INVIVO_E_TYPE),
            ("label", 1, c.INVIVO_E_TYPE),
            ("items", {}, c.INVIVO_E_TYPE),
        ):
            self.refuse(probe, member, thing, code)

    def enumerations(self, probe):
        for wave in Wave:
            self.round_trip(probe, "wave", wave)
        self.set(probe, "wave", 7)
        self.same(self.get(probe, "wave"), Wave.square, "a wave by its number")
        self.set(probe, "wave", "saw")
        self.same(self.get(probe, "wave"), Wave.saw, "a wave by its name")
        self.refused(c.INVIVO_E_RANGE, self.set, probe, "wave", "noise")
        self.refused(c.INVIVO_E_RANGE, self.set, probe, "wave", 5)

    def handles(self, probe):
        def own(number):
            return number + 1

        class Thing:
            pass

        thing = Thing()
        kind = type(probe) if self.component == "Python" else self.type
        for other in (probe, thing):
            self.set(probe, "other", other)
            self.check(self.get(probe, "other") is other, "an object is the identical one")
            self.check(self.call(probe, "echo_other", other) is other, "an object comes back identical")
            self.check(self.call(probe, "echo", [other])[0] is other, "an object in a list comes back identical")
        for each in (kind, Thing):
            self.set(probe, "kind", each)
            self.check(self.get(probe, "kind") is each, "a type is the identical one")
            self.check(self.call(probe, "echo_kind", each) is each, "a type comes back identical")
        self.check(self.call(probe, "apply", own, 41) == 42, "a callable is called")
        self.check(self.call(probe, "apply", partial(lambda a, b: a * b, 3), 4) == 12, "a partial is called")
        self.set(probe, "function", own)
        self.check(self.get(probe, "function") is own, "a callable is the identical one")
        self.check(self.call(probe, "echo_function", own) is own, "a callable comes back identical")
        doubler = self.call(probe, "doubler")
        self.check(doubler(21) == 42, "their callable is called")
        self.check(self.call(probe, "apply", doubler, 4) == 8, "their callable, passed back, is called")
        for member in ("other", "kind", "function", "anything"):
            self.set(probe, member, None)

    def errors(self, probe):
        def failing(_):
            cause = invivo.BusyError("the clock said so")
            raise invivo.DeadlineError(
                "too late", path="driver.clock", file="driver.mid", line=2, column=5, cause=cause
            )

        def lost(_):
            raise LookupError("nothing there")

        for do, code, message, path, place, cause in (
            (
                partial(self.call, probe, "fail"),
                *(c.INVIVO_E_RANGE, "too loud", "probe.gain", ("probe.wav", 3, 7), "the amplifier said so"),
            ),
            (
                partial(self.call, probe, "apply", failing, 0),
                *(c.INVIVO_E_TIMEOUT, "too late", "driver.clock", ("driver.mid", 2, 5), "the clock said so"),
            ),
        ):
            try:
                do()
                self.check(False, f"{message}: no error")
            except invivo.Error as error:
                self.check(error.code == code, f"{error.code} for {code}")
                self.check(error.message == message, f"{error.message!r} for {message!r}")
                self.check(error.path == path, f"{error.path!r} for {path!r}")
                found = (error.file, error.line, error.column)
                self.check(found == place, f"{found} for {place}")
                under = error.cause
                self.check(under is not None and under.code == c.INVIVO_E_BUSY, f"the cause: {under!r}")
                self.check(under is not None and under.message == cause, f"the cause: {under!r}")
        try:
            self.call(probe, "apply", lost, 0)
            self.check(False, "no error")
        except Exception as error:  # the library's error, or the original exception of this driver
            self.check("nothing there" in str(error), f"{error!r}")
        self.refused(c.INVIVO_E_PROPERTY, self.get, probe, "nowhere")
        self.refused(c.INVIVO_E_PROPERTY, self.set, probe, "nowhere", 1)
        self.refused(c.INVIVO_E_READ_ONLY, self.set, probe, "made", 1)
        self.refused(c.INVIVO_E_METHOD, self.call, probe, "nowhere")
        self.refused(c.INVIVO_E_ARITY, self.call, probe, "echo", 1, 2, 3)
        self.refused(c.INVIVO_E_ARITY, self.call, probe, "echo_u8")

    def constructor(self, probe):
        given = {
            "label": "made",
            "flag": True,
            "i8": -(1 << 7),
            "i16": -(1 << 15),
            "i32": -(1 << 31),
            "i64": -(1 << 63),
            "u8": (1 << 8) - 1,
            "u16": (1 << 16) - 1,
            "u32": (1 << 32) - 1,
            "u64": (1 << 64) - 1,
            "single": 0.25,
            "number": 0.1,
            "data": b"\0\xff",
            "items": [(1 << 64) - 1],
            "table": {"a": (1 << 64) - 1},
            "other": probe,
            "kind": type(probe) if self.component == "Python" else self.type,
            "function": plus_one,
            "wave": Wave.square,
            "anything": (1 << 64) - 1,
        }
        made = self.type(*given.values())
        for member, thing in given.items():
            back = self.get(made, member)
            if member in ("other", "kind", "function"):
                self.check(back is thing, f"argument {member}: {back!r}")
            else:
                self.same(back, thing, f"argument {member}")
        for wrong, code in ((300, c.INVIVO_E_RANGE), ("7", c.INVIVO_E_TYPE)):
            self.refused(code, self.type, *{**given, "u8": wrong}.values())

    def disposal(self, witness):
        names = ("made", "disposed", "stopped")
        gc.collect()
        before = [self.get(witness, name) for name in names]
        probes = [self.type() for _ in range(8)]
        self.set(probes[0], "other", probes[7])
        held = probes[1]
        del probes
        gc.collect()
        after = [self.get(witness, name) for name in names]
        self.check(after[0] == before[0] + 8, f"made: {before} -> {after}")
        self.check(after[1] == before[1] + 7, f"disposed of: {before} -> {after}")
        del held
        gc.collect()
        after = [self.get(witness, name) for name in names]
        self.check(after[1] == before[1] + 8, f"disposed of: {before} -> {after}")
        self.check(after[2] == before[2] + 8, f"stopped: {before} -> {after}")

    def plain_struct(self, probe):
        self.set(probe, "spot", {"x": 0.1, "y": -(1 << 31)})
        self.same(self.get(probe, "spot"), {"x": 0.1, "y": -(1 << 31)}, "a nested struct")
        self.refused(c.INVIVO_E_RANGE, self.set, probe, "spot", {"x": 0.1, "y": 1 << 31})
        self.set(probe, "block", b"\1\0\xff\4")
        self.same(self.get(probe, "block"), b"\1\0\xff\4", "bytes of a fixed size")
        self.set(probe, "short_label", "short")
        self.same(self.get(probe, "short_label"), "short", "text of a fixed size")
        self.refused(c.INVIVO_E_RANGE, self.set, probe, "short_label", "longer than its sixteen bytes")

    def run(self):
        probe = self.type()
        for part in (
            *(self.integers, self.plain_values, self.enumerations, self.handles, self.errors, self.constructor),
            self.disposal,
        ):
            try:
                part(probe)
            except Exception:
                traceback.print_exc()
                self.check(False, f"{part.__name__} ends with an exception")
        if self.component == "C":
            self.plain_struct(probe)
        return -self.failures if self.failures else self.checks


def drive_all(runtime):
    """Whether Python's side of the pairs holds."""
    held = [report("Python", each, Driver(runtime, each).run()) for each in COMPONENTS]
    return all(held)
