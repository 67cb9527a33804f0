"""The wiring as it stands: what there is, what holds what, what is alive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from . import _generated as c

GraphFormat = Literal["json", "dot", "mermaid"]
GRAPH_FORMATS: Final[Mapping[str, int]] = {
    "json": c.INVIVO_GRAPH_JSON,
    "dot": c.INVIVO_GRAPH_DOT,
    "mermaid": c.INVIVO_GRAPH_MERMAID,
}

KeysLanguage = Literal["c", "swift", "python"]
KEYS_LANGUAGES: Final[Mapping[str, int]] = {
    "c": c.INVIVO_GRAPH_KEYS_C,
    "swift": c.INVIVO_GRAPH_KEYS_SWIFT,
    "python": c.INVIVO_GRAPH_KEYS_PYTHON,
}


@dataclass(frozen=True)
class Need:
    """What a key needs, and how it comes: "initializer", "injection" (attribute or method), "late" (a provider, a lazy
    or a weak reference), "asked" (resolved while the shared instance was made) or "alias"."""

    key: str
    how: str


@dataclass(frozen=True)
class WiringNode:
    """A key and what is behind it, at one moment."""

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
    """How long making its shared instance took, with all that was made for it first."""
    file: str = ""
    line: int = 0
    column: int = 0
    more: Mapping[str, Any] = field(default_factory=dict)
    """What a newer library says besides."""


def nodes(facts: Sequence[Mapping[str, Any]]) -> list[WiringNode]:
    """The library's facts as nodes."""
    known = set(WiringNode.__dataclass_fields__) - {"more", "needs"}
    found = list[WiringNode]()
    for fact in facts:
        needs = tuple(Need(need["key"], need["how"]) for need in fact["needs"])
        said = {name: value for name, value in fact.items() if name in known}
        more = {name: value for name, value in fact.items() if name not in known and name != "needs"}
        found.append(WiringNode(**said, needs=needs, more=more))
    return found
