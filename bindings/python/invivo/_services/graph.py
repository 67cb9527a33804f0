"""The wiring of a runtime and the state of its objects, as values."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal

from .. import _generated as c
from .._declarations.changes import OnChange
from .._values.fields import dataclass

GraphFormat = Literal["json", "dot", "mermaid"]

GRAPH_FORMATS: Final[Mapping[str, int]] = {
    "json": c.INVIVO_GRAPH_JSON,
    "dot": c.INVIVO_GRAPH_DOT,
    "mermaid": c.INVIVO_GRAPH_MERMAID,
}

DocumentFormat = Literal["yaml", "json"]

DOCUMENT_FORMATS: Final[Mapping[str, int]] = {"yaml": c.INVIVO_FORMAT_YAML, "json": c.INVIVO_FORMAT_JSON}

KeysLanguage = Literal["c", "swift", "python"]

KEYS_LANGUAGES: Final[Mapping[str, int]] = {
    "c": c.INVIVO_GRAPH_KEYS_C,
    "swift": c.INVIVO_GRAPH_KEYS_SWIFT,
    "python": c.INVIVO_GRAPH_KEYS_PYTHON,
}

SCHEMA: Final[int] = c.INVIVO_GRAPH_SCHEMA


@dataclass(frozen=True)
class Need:
    """A dependency of a key, and its form.

    ``how``: "initializer", "injection" (attribute or method), "late" (a provider, a lazy or a weak reference), "asked"
    (resolved while the shared instance was created), "alias" or "configuration" (the key is a path). ``on_change``: how
    the objects follow its changes (`options`). ``kept_since``: if the object keeps a former object or value, the
    generation that first replaced it. ``secret``: whether it is a path of the configuration whose value is secret, or a
    part of it.
    """

    key: str
    how: str
    on_change: OnChange = "follow"
    kept_since: int | None = None
    secret: bool = False


@dataclass(frozen=True)
class WiringNode:
    """A key and its definition, at one moment."""

    key: str
    type: str
    scope: str
    generation: int
    """The one that brought what the key has now."""
    live: int
    """How many of its objects are alive, as far as the runtime knows them."""
    needs: Sequence[Need]
    alias: str | None = None
    abstract: bool = False
    rank: int = 0
    built_ns: int | None = None
    """The time that the creation of its shared instance took, including objects that were created for it."""
    file: str = ""
    line: int = 0
    column: int = 0
    spec_key: str | None = None
    """The key whose traits apply to its objects, or "none"; None: its own key."""
    wired: bool = False
    """Whether a document has decided about it (``wiring:``), at this location."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Facts of a newer library that this package does not know."""

    @property
    def secret(self) -> bool:
        """Whether its objects receive a secret of the configuration."""
        return any(need.secret for need in self.needs)


_NEED = tuple(Need.__dataclass_fields__)


def nodes(facts: Sequence[Mapping[str, Any]]) -> list[WiringNode]:
    """Returns the facts of the library as nodes."""
    known = set(WiringNode.__dataclass_fields__) - {"more", "needs"}
    found = list[WiringNode]()
    for fact in facts:
        needs = tuple(Need(**{name: need[name] for name in _NEED if name in need}) for need in fact["needs"])
        fields = {name: value for name, value in fact.items() if name in known}
        more = {name: value for name, value in fact.items() if name not in known and name != "needs"}
        found.append(WiringNode(**fields, needs=needs, more=more))
    return found


@dataclass(frozen=True)
class State:
    """The state of the shared instances of a key.

    ``state``: "cold", "building", "made", "prepared", "starting", "started", "stopping", "stopped", "failed" (then
    ``error`` is the reason) or "dormant" (then ``waits`` lists the missing dependencies).
    """

    key: str
    state: str
    objects: int
    waits: tuple[str, ...]
    error: str


@dataclass(frozen=True)
class SourceState:
    """A document, and how its changes are noticed.

    ``follows``: "watching" (by events), "polling" (the file is checked every ``interval_ms``, for the ``reason``),
    "memory" (it changes by calls alone) or "closed" (a rollback has brought the content of a closed source back).
    ``diverged``: the file has bytes that a rollback refused, with the hash ``file_hash``; that of the live content is
    ``live_hash``. ``role``: "source", "include" (a file that spec files include) or "value" (the value of a string).
    ``refused``: the present content of the file was refused and is not live: it is tried again in each change set.
    """

    name: str
    path: str
    follows: str
    interval_ms: int
    reason: str
    diverged: bool = False
    live_hash: str = ""
    file_hash: str = ""
    role: str = "source"
    refused: bool = False


@dataclass(frozen=True)
class Generation:
    """A generation to which a rollback is possible, or the current one.

    ``first``: the first of several generations with this content. ``cause``: that of the commit that made it; "" for
    the first generation. ``time``: when that was. ``marks``: the names under which it is kept.
    """

    generation: int
    first: int
    cause: str
    time: datetime.datetime
    marks: tuple[str, ...]


@dataclass(frozen=True)
class Retired:
    """An object that a reload has replaced or removed and that has not been stopped.

    ``reason``: "read" (a view reads its generation), "leased" (another language, or an object that has not ended, uses
    it) or "referenced" (at most its own language refers to it). ``leases``: how many there are. ``age``: seconds since
    it was replaced or removed. ``idle``: seconds for which only its own language has referred to it.
    """

    key: str
    type: str
    reason: Literal["read", "leased", "referenced"]
    leases: int
    age: float
    idle: float


@dataclass(frozen=True)
class Kept:
    """A dependency of which objects keep the former object or value (``on_change="keep"``).

    ``since``: the generation that replaced what is kept.
    """

    key: str
    dependency: str
    since: int


@dataclass(frozen=True)
class PendingRestart:
    """A change that takes effect when an object is next created (``restart=True``).

    ``property``: "" for the definition. ``since``: the generation that made the change.
    """

    key: str
    property: str
    since: int


@dataclass(frozen=True)
class Former:
    """A former generation that is read, pinned, or whose objects are in use.

    ``age``: seconds since it was replaced. ``bytes``: of the instances of its objects; those of Python count nothing.
    ``threads``: the kernel's ids of those that read it now.
    """

    generation: int
    age: float
    objects: int
    bytes: int
    threads: tuple[int, ...]


@dataclass(frozen=True)
class OpenPin:
    """An open pin. ``age``: in seconds. ``place``: "server.py:12"."""

    generation: int
    age: float
    thread: int
    place: str


@dataclass(frozen=True)
class Status:
    """The reasons why changes take effect late, or not at all.

    ``running``: the reload that runs, or None. ``waiting_sets``: how many submitted change sets no reload has begun
    with. ``waiting_jobs``: how many jobs wait for a thread. ``diverged``: the documents whose files have other bytes
    than the live content, since a rollback. ``unrestored``: the keys of objects that a failed commit could not restore
    or set up again; each commit tries again. ``former`` and ``pins``: the oldest first. ``step``: how many steps
    properties have moved in this generation (the trait Ramp). ``moving``: how many blocks and objects have properties
    that move.
    """

    generation: int
    step: int
    moving: int
    reloads: int
    failures: int
    running: str | None
    waiting_sets: int
    waiting_jobs: int
    diverged: tuple[str, ...]
    kept: tuple[Kept, ...]
    restart: tuple[PendingRestart, ...]
    unrestored: tuple[str, ...]
    former: tuple[Former, ...]
    pins: tuple[OpenPin, ...]


def status(found: dict[str, Any]) -> Status:
    """Returns the status that the library describes."""
    return Status(
        **{
            name: found[name]
            for name in (
                "generation",
                "step",
                "moving",
                "reloads",
                "failures",
                "running",
                "waiting_sets",
                "waiting_jobs",
            )
        },
        diverged=tuple(found["diverged"]),
        kept=tuple(Kept(each["key"], each["dependency"], each["since"]) for each in found["kept"]),
        restart=tuple(PendingRestart(each["key"], each["property"], each["since"]) for each in found["restart"]),
        unrestored=tuple(found["unrestored"]),
        former=tuple(
            Former(each["generation"], each["age_ns"] / 1e9, each["objects"], each["bytes"], tuple(each["threads"]))
            for each in found["former"]
        ),
        pins=tuple(
            OpenPin(each["generation"], each["age_ns"] / 1e9, each["thread"], each["place"]) for each in found["pins"]
        ),
    )


_ASSEMBLY_STATES: dict[int, Literal["unknown", "inactive", "active"]] = {
    c.INVIVO_ASSEMBLY_UNKNOWN: "unknown",
    c.INVIVO_ASSEMBLY_INACTIVE: "inactive",
    c.INVIVO_ASSEMBLY_ACTIVE: "active",
}
