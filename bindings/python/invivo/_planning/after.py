"""Definitions as they will be after a change set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from .._assemblies.definitions import Definition
from .._objects.keys import Facts
from .._objects.objects import Objects

Known: TypeAlias = "After"
Target: TypeAlias = "Definition | Facts"


class After:
    """Keys as they will be when some definitions have been added and others removed."""

    def __init__(self, core: Objects, new: Mapping[str, Definition], gone: Iterable[str] = ()) -> None:
        self._core, self._new, self._gone = core, new, set(gone)

    def get(self, key: str) -> Target | None:
        found = self._new.get(key)
        return found if found is not None or key in self._gone else self._core.keys.facts(key)
