"""The contents of a change set, before they are planned."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from .. import _generated as c
from .._assemblies.assembly import AssemblyDescription
from .._assemblies.definitions import Definition
from .._assemblies.processors import Processor
from .._values.fields import dataclass


@dataclasses.dataclass
class Contents:
    """The changes that one reload is to make."""

    definitions: dict[str, Definition] = dataclasses.field(default_factory=dict)
    homes: dict[str, AssemblyDescription] = dataclasses.field(default_factory=dict)
    """The assemblies of those definitions that are added with one."""
    removed: dict[str, None] = dataclasses.field(default_factory=dict)
    withdrawn: set[str] = dataclasses.field(default_factory=set)
    """Removed keys that the set itself had defined. They may be undefined otherwise."""
    activated: dict[AssemblyDescription, Activation] = dataclasses.field(default_factory=dict)
    deactivated: list[AssemblyDescription] = dataclasses.field(default_factory=list)
    described: list[AssemblyDescription] = dataclasses.field(default_factory=list)
    """Assemblies to be activated as the library has their description."""
    mounted: dict[AssemblyDescription, Mapping[str, str | AssemblyDescription]] = dataclasses.field(
        default_factory=dict
    )
    """The remaps of mounted assemblies."""
    processors: list[Processor] = dataclasses.field(default_factory=list)
    unprocessed: list[str] = dataclasses.field(default_factory=list)
    """The names of processors to be removed."""
    others: list[Callable[[c.invivo_changes], None]] = dataclasses.field(default_factory=list)
    """Changes that go to the library unplanned."""

    def add(self, made: Definition, home: AssemblyDescription | None = None) -> None:
        """Adds or replaces a definition."""
        self.removed.pop(made.key, None)
        self.definitions[made.key] = made
        if home is None:
            self.homes.pop(made.key, None)
        else:
            self.homes[made.key] = home

    def remove(self, key: str) -> None:
        """Removes a definition."""
        if self.definitions.pop(key, None) is not None:
            self.withdrawn.add(key)
        self.homes.pop(key, None)
        self.removed[key] = None


@dataclass(frozen=True)
class Activation:
    """An assembly that becomes active."""

    collaborators: Mapping[str, Any]
    members: tuple[str, ...]  # their keys
