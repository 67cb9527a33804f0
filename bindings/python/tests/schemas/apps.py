"""Applications with a valid document each, which tests change in every place."""

from __future__ import annotations

import contextlib
import datetime
import enum
import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import annotated_types
import pydantic

import invivo

from .compare import Check

ROOT = Path(__file__).resolve().parents[4]


@dataclass
class Tried:
    """An application: its schema, the check of a document, and a valid document."""

    schema: Any
    check: Check
    valid: Any
    choices: Mapping[str, str] = field(default_factory=dict)


def tested(runtime: invivo.Runtime, valid: Any, choices: Mapping[str, str]) -> Tried:
    """A runtime whose only document is replaced for each check."""

    def check(document: Any) -> None:
        changes = runtime.changes()
        try:
            changes.document("tested.json", json.dumps(document))
            changes.check()
        finally:
            changes.discard()

    return Tried(json.loads(runtime.schema_text()), check, valid, choices)


# ---- keys, traits and choices of Python ------------------------------------------------------------------


class Wave: ...


class Saw(Wave): ...


class Sine(Wave): ...


class Voice:
    gain: float = invivo.tunable(1.0, min=0, max=8, text="The gain.")
    cutoff: float = invivo.tunable(100.0, min=20, max=20000, unit="Hz")
    wave: Literal["saw", "sine"] = invivo.tunable("saw")
    number: int = invivo.tunable(3, min=-4, max=9)
    name: str = invivo.tunable("x")
    on: bool = invivo.tunable(True)
    delay: float = invivo.tunable(0.1, unit="s")
    type: str = invivo.tunable("lead")


class Player:
    volume: int = invivo.tunable(1, min=0, max=11)

    def __init__(self, voices: int, label: str = "") -> None: ...


def duck() -> type[invivo.Trait]:
    """A trait type, which other tests do not have."""

    class Duck(invivo.Trait, name="synth.Duck"):
        targets = (Voice,)
        amount: float = invivo.tunable(..., min=0, max=1)
        soft: bool = invivo.tunable(False)

        def layers(self, layers: invivo.Layers) -> None:
            layers.scale("gain", 1 - self.amount)

    return Duck


class Loop:
    def __init__(self, saw: Saw) -> None: ...


class Track:
    level: float = invivo.tunable(1.0, min=0, max=2)

    def __init__(self, gain: float) -> None: ...


SYNTH = {
    "config": {
        "synth": {"voices": 4, "label": "four", "wave": "saw", "tracks": {"low": {"gain": 0.5}}},
        "other": {"free": [1, {"a": None}]},
        "global": {"volume": 3},
        "profiles": ["stage"],
    },
    "traits": {
        "synth.lead": [
            {
                "Set": {
                    "gain": 0.5,
                    "cutoff": "1.2 kHz",
                    "wave": "saw",
                    "number": 4,
                    "name": "z",
                    "type": "a",
                    "on": True,
                }
            },
            {"type": "Set", "number": 1, "delay": "250 ms"},
            {"Scale": {"gain": 1, "cutoff": "100 %"}},
            {"Offset": {"cutoff": "0.2 kHz"}},
            {"Ramp": {"to": {"gain": 1}, "over": "2 s", "from": {"gain": 0}}},
            {"synth.Duck": {"amount": 0.5, "soft": True}},
            {"type": "synth.Duck", "amount": 0.25},
            {"Inherit": {"traits": [".quiet"]}},
            {"When": {"config": "synth.voices", "is": 4, "traits": [{"Set": {"number": 2}}], "otherwise": []}},
            {"When": {"profile": "stage", "traits": [{"Set": None}]}},
        ],
        ".quiet": [{"Set": {"gain": 0.2}}],
        "synth.player": [{"Set": {"volume": 2}}],
        "synth.track[low]": [{"Set": {"level": 1}}],
    },
    "wiring": {
        "synth.wave": {"choose": "sine"},
        "synth.saw": {"scope": "prototype"},
        "synth.second": {"alias": "synth.sine"},
    },
}


class Synth(invivo.Assembly):
    @invivo.lazy_singleton
    def lead(self) -> Voice:
        return invivo.new(Voice)

    @invivo.lazy_singleton
    def player(self) -> Player:
        return invivo.new(Player, invivo.config("voices", 4), invivo.config("label", "none"))

    @invivo.lazy_singleton
    def saw(self) -> Saw:
        return invivo.new(Saw)

    @invivo.lazy_singleton
    def sine(self) -> Sine:
        return invivo.new(Sine)

    @invivo.lazy_singleton
    def second(self) -> Wave:
        return invivo.new(Saw)

    @invivo.lazy_singleton
    def loop(self) -> Loop:
        return invivo.new(Loop, self.saw())

    @invivo.define
    def wave(self) -> Wave:
        return invivo.choice(invivo.config("wave", "saw"), {"saw": self.saw(), "sine": self.sine(), 3: self.saw()})

    @invivo.lazy_singleton(each="tracks")
    def track(self) -> Track:
        return invivo.new(Track, invivo.entry("gain", 1.0))


@contextlib.contextmanager
def synth() -> Iterator[Tried]:
    """Keys, traits, conditions, a choice, entries and wiring."""
    duck()
    with invivo.Runtime(Synth("synth")) as runtime:
        with runtime.changes() as changes:
            changes.document("tested.json", json.dumps(SYNTH))
        yield tested(runtime, SYNTH, {"synth.wave": "config.synth.wave"})


# ---- typed settings of dataclasses -----------------------------------------------------------------------


class Level(enum.Enum):
    low = "bottom"
    high = "top"


class Point(NamedTuple):
    x: float
    y: float = 0.0


class Extra(TypedDict, total=False):
    note: str
    size: int


@dataclass
class Output:
    port: int
    kind: Literal["out"] = "out"


@dataclass
class Bus:
    kind: Literal["bus"]
    width: Annotated[int, annotated_types.Ge(1), annotated_types.Le(8)] = 2


@dataclass(frozen=True)
class Audio:
    """The sound card."""

    rate: Annotated[int, annotated_types.Gt(0)]
    device: Literal["default", "usb", 3] = "default"
    buffer: datetime.timedelta = datetime.timedelta(milliseconds=10)
    outputs: list[Output] = field(default_factory=list)
    route: Output | Bus | None = None
    main: Output | None = None
    gain: float = 1.0
    on: bool = True
    names: dict[str, int] = field(default_factory=dict)
    level: Level = Level.low
    place: Point | None = None
    extra: Extra | None = None
    pair: tuple[int, str] = (1, "a")
    tags: set[str] = field(default_factory=set)
    mixed: int | str = 0
    data: bytes = b""
    path: Path = Path()
    free: Any = None


STUDIO = {
    "config": {
        "audio": {
            "rate": 48000,
            "device": "usb",
            "buffer": "10 ms",
            "outputs": [{"port": 1, "kind": "out"}, {"port": 2}],
            "route": {"kind": "bus", "width": 4},
            "main": {"port": 3},
            "gain": 0.5,
            "on": False,
            "names": {"a": 1},
            "level": "top",
            "place": {"x": 1.5, "y": 2},
            "extra": {"note": "n", "size": 2},
            "pair": [1, "b"],
            "tags": ["t"],
            "mixed": "m",
            "data": "AQID",
            "path": "/tmp",
            "free": {"a": [1]},
        },
        "backup": {"port": 7},
    }
}


@contextlib.contextmanager
def studio() -> Iterator[Tried]:
    """Sections that are bound to dataclasses, named tuples and typed dictionaries."""
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.bind_settings(Audio, "audio")
            changes.bind_settings(Output, "backup", name="backup")
            changes.document("tested.json", json.dumps(STUDIO))
        yield tested(runtime, STUDIO, {})


# ---- models of pydantic ----------------------------------------------------------------------------------


class Host(pydantic.BaseModel):
    name: str = pydantic.Field(min_length=1, description="Its name.")
    port: int = pydantic.Field(8080, ge=1, le=65535)
    weight: float = 1.0


class Login(pydantic.BaseModel):
    user: str
    password: pydantic.SecretStr = pydantic.SecretStr("initial")


class Server(pydantic.BaseModel):
    hosts: list[Host]
    login: Login | None = None
    mode: Literal["fast", "safe"] = "safe"
    limits: dict[str, int] = {}
    verbose: bool = False


SERVER = {
    "config": {
        "web": {
            "hosts": [{"name": "a", "port": 80, "weight": 0.5}],
            "login": {"user": "u", "password": "p"},
            "mode": "fast",
            "limits": {"a": 1},
            "verbose": True,
        }
    }
}


@contextlib.contextmanager
def server() -> Iterator[Tried]:
    """A section that is bound to a model of pydantic."""
    with invivo.Runtime() as runtime:
        with runtime.changes() as changes:
            changes.bind_settings(Server, "web")
            changes.document("tested.json", json.dumps(SERVER))
        yield tested(runtime, SERVER, {})


# ---- a manifest with a module of C -----------------------------------------------------------------------

DESK = {
    "config": {
        "station": {
            "rate": "44.1 kHz",
            "range": 0.5,
            "slots": 8,
            "mode": "dim",
            "frame": {"width": 640, "height": 480},
            "title": "night",
            "open": True,
        },
        "desk": {"hour": 12, "gain": 0.5},
        "room": {"mode": "day"},
    },
    "traits": {
        "desk.lamp": [
            {
                "Set": {
                    "gain": 0.5,
                    "share": "50 %",
                    "seconds": "1 h 30 min",
                    "hertz": "1.2 kHz",
                    "plain": 7,
                    "level": "-6 dB",
                    "small": -4,
                    "wide": "2 kB",
                    "milliseconds": 250,
                    "count": 3,
                    "packed": "#ff8800",
                    "mode": "full",
                    "frame": "640 x 480",
                    "place": {"x": 1, "y": 2},
                    "tint": {"red": 1, "green": 2, "blue": 3},
                    "light": "red",
                    "on": True,
                    "name": "desk",
                    "key": "AQID",
                    "later": 1,
                }
            },
            {"Set": {"loudness": "-6 dB", "mode": 3, "frame": {"width": 3}, "tint": "#123"}},
            {"Scale": {"gain": "50 %", "place": {"x": 2}, "count": 1}},
            {"Offset": {"hertz": "0.1 kHz", "share": "10 %", "milliseconds": "1 s"}},
            {"Ramp": {"to": {"hertz": 100}, "over": "300 ms"}},
            {"desk.Fade": {"amount": 0.5, "time": "250 ms", "mode": "dim", "curve": "soft"}},
            {"type": "desk.Fade", "amount": 1},
        ],
        "desk.clock": [{"Set": {"hour": 3}}],
        "desk.panel": [{"Set": {"level": 2}}, {"Scale": {"level": 2}}],
        "room.lights": [{"Set": {"gain": 1}}],
        "desk.other": [{"Inherit": {"traits": "base"}}],
        "base": [{"Set": {"gain": 1}}],
    },
    "wiring": {
        "desk.clock": {"scope": "singleton"},
        "room.lamp": {"choose": "night"},
        "desk.name": {"alias": "desk.clock"},
        "desk.panel": None,
    },
}

MANIFEST = """
modules: { desk: libdesk.so }
specs: [values.json]
components:
  desk.lamp: { type: Lamp, properties: { gain: { $config: gain, default: 1 } } }
  desk.clock: { type: Clock, init: { hour: { $config: hour, default: 1 } } }
  desk.panel: { type: Panel }
  desk.other: { type: Lamp }
  desk.name: { alias: desk.other }
  room.day: { type: Lamp, spec_key: room.lights }
  room.night: { type: Lamp, spec_key: room.lights }
  room.lamp:
    choose: { $config: mode, default: day }
    options: [{ when: day, use: $room.day }, { when: night, use: $room.night }]
"""


def compile_desk(folder: Path) -> None:
    """Compiles the module as its users would."""
    stubs = ROOT / "Sources" / "InvivoStubs"
    subprocess.run(
        ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread"]
        + ["-I", str(ROOT / "include"), "-I", str(stubs / "include")]
        + [str(Path(__file__).with_name("desk.c")), str(stubs / "stubs.c"), "-o", str(folder / "libdesk.so")],
        check=True,
    )


@contextlib.contextmanager
def desk(folder: Path) -> Iterator[Tried]:
    """A manifest with a module of C, and one spec file."""
    compile_desk(folder)
    manifest, values = folder / "app.yaml", folder / "values.json"
    manifest.write_text(MANIFEST)
    values.write_text(json.dumps(DESK))

    def check(document: Any) -> None:
        values.write_text(json.dumps(document))
        invivo.App.check(manifest)

    yield Tried(json.loads(invivo.App.schema(manifest)), check, DESK, {"room.lamp": "config.room.mode"})


APPLICATIONS: Mapping[str, Any] = {"synth": synth, "studio": studio, "server": server, "desk": desk}
