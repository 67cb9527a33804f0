"""Changing what is defined, each time as one reload; and the life of what is kept."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from . import _blocks, _values
from . import _generated as c
from ._assembly import Assembly
from ._changes import Changes
from ._definitions import Definition, definition
from ._members import Member, describe_alone
from ._overrides import Override
from ._pools import Pool, end_scope, register_scope
from ._processors import Described
from ._recipes import Options, Scope
from ._resolving import Resolving
from .errors import ArgumentError

AnyAssembly = TypeVar("AnyAssembly", bound=Assembly)


@dataclasses.dataclass(frozen=True)
class State:
    """Where the shared instances of a key are in their life. ``state``: "cold", "building", "made", "prepared",
    "starting", "started", "stopping", "stopped", "failed" (then ``error`` says why) or "dormant" (then ``waits`` names
    what is not there)."""

    key: str
    state: str
    objects: int
    waits: tuple[str, ...]
    error: str


@dataclasses.dataclass(frozen=True)
class SourceState:
    """A document, and how its changes are noticed. ``follows``: "watching" (events announce them), "polling" (the
    file is looked at every ``interval_ms``, for the ``reason``) or "memory" (it changes by calls alone)."""

    name: str
    path: str
    follows: str
    interval_ms: int
    reason: str


@dataclasses.dataclass(frozen=True)
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


_ASSEMBLY_STATES: dict[int, Literal["unknown", "inactive", "active"]] = {
    c.INVIVO_ASSEMBLY_UNKNOWN: "unknown",
    c.INVIVO_ASSEMBLY_INACTIVE: "inactive",
    c.INVIVO_ASSEMBLY_ACTIVE: "active",
}


class Changing(Resolving):
    """A runtime as something whose definitions come, change and go."""

    # ---- changing --------------------------------------------------------------------------------------

    def changes(self) -> Changes:
        """A change set: everything in it takes effect as one reload when its ``with`` block ends, or nothing does."""
        self._open()
        return Changes(self._core)

    def activate(self, *assemblies: Assembly) -> None:
        """Adds assemblies and the ones that they need, in any order, as one reload. One that is active stays as it is;
        a class's instance replaces an active one of the same name."""
        with self.changes() as changes:
            changes.activate(*assemblies)

    def deactivate(self, *assemblies: Assembly) -> None:
        """Takes assemblies away, in one reload; their members are recipes again."""
        with self.changes() as changes:
            changes.deactivate(*assemblies)

    def assembly_state(self, name: str) -> Literal["unknown", "inactive", "active"]:
        """Whether an assembly of this name is active, or known, whatever language described it; also of mounts."""
        return _ASSEMBLY_STATES[self._open().assembly_state(name)]

    def describe(self, *assemblies: Assembly) -> None:
        """Makes assemblies known, with those that they need, without activating them: until somebody does (by
        ``activate``, or an application's manifest) resolving says which assembly must be activated."""
        self.changes().describe(*assemblies)

    def forget(self, *known: Assembly | str) -> None:
        """Takes descriptions back, by the assemblies or by their names, whatever language described them: nobody brings
        them along any more, and members of Python's are recipes again. What is active stays active."""
        for each in known:
            self.changes().forget(each)

    def remove(self, *gone: Assembly | str) -> None:
        """Takes assemblies away, with all their definitions, and single definitions by their keys, in one reload."""
        with self.changes() as changes:
            for each in gone:
                if isinstance(each, str):
                    changes.remove(each)
                else:
                    changes.deactivate(each)

    def mount(
        self, assembly: AnyAssembly, prefix: str, /, remap: Mapping[str, str | Assembly] | None = None
    ) -> AnyAssembly:
        """Activates an assembly under a prefix of its own, beside others of its class::

            left = runtime.mount(Voice(), "left", remap={"clock.main": "studio.clock"})
            left.filter()  # the key left.filter

        What it refers to outside of itself follows ``remap``: keys, or the first parts of keys, and what they become;
        an assembly stands for its name. Configuration is looked for under the prefix, then under the assembly's own
        name, then in what is global. Answers the assembly, which has the prefix as its name until it is removed."""
        with self.changes() as changes:
            changes.mount(assembly, prefix, remap)
        return assembly

    def define(
        self,
        what: Any,
        /,
        key: str | None = None,
        scope: Scope = "lazy_singleton",
        options: Options | None = None,
        **overrides: Any,
    ) -> None:
        """Adds or replaces one definition, in one reload: of a class, of a factory whose annotation says what it makes,
        of a recipe, of a type of another language by its name, or of a function that describes it with its runtime
        arguments: see `Changes.define`.
        """
        with self.changes() as changes:
            if isinstance(what, Member):
                changes.define(what, key, scope, options, **overrides)
            else:
                changes.add(definition(key, what, scope, overrides, options=options))

    def decorate(
        self,
        what: Callable[..., Any] | str,
        /,
        *,
        key: str | None = None,
        type: builtins.type | str | None = None,
        name: str | None = None,
        priority: int = 0,
        method: str | None = None,
    ) -> str:
        """Adds a decorator, in one reload: see `Changes.decorate`. Answers its name, for `unprocess`."""
        with self.changes() as changes:
            return changes.decorate(what, key=key, type=type, name=name, priority=priority, method=method)

    def process(
        self,
        visit: Callable[[Described], Any],
        /,
        *,
        key: str | None = None,
        type: builtins.type | str | None = None,
        name: str | None = None,
        priority: int = 0,
    ) -> str:
        """Adds a processor of definitions, in one reload: see `Changes.process`."""
        with self.changes() as changes:
            return changes.process(visit, key=key, type=type, name=name, priority=priority)

    def unprocess(self, name: str) -> None:
        """Takes a decorator or processor away, in one reload."""
        with self.changes() as changes:
            changes.unprocess(name)

    def override(
        self, key: str | Callable[..., Any], what: Any = None, /, *, instance: Any = None, **overrides: Any
    ) -> Override:
        """Puts another recipe (a class, a factory, a recipe, a function that describes one as for `Changes.define`) or
        an object in a key's place, for tests and trials, in one reload, with the key's scope and visibility; dependents
        follow. The key is a name, a class or a member of an assembly:
        ``runtime.override(camelot.stable, instance=Horse())``.

        ``with`` takes it back, as `Override.end` does. Several lie on each other, the last one counts, and may be taken
        back in any order.
        """
        core, name = self._open(), self._name(key)
        if (what is None) == (instance is None):
            raise ArgumentError("an override needs either what makes the object, or instance=...", path=name)
        if isinstance(what, Member):
            made: Definition | None = describe_alone(what, name, core.known)
        else:
            made = None if what is None else definition(name, what, None, overrides)
        return Override(core, made, name, instance)

    def reset(self, key: str | Callable[..., Any], *, dependencies: bool = False) -> None:
        """Lets go of a key's shared instances, as a reload: who holds them follows, and another is made when somebody
        asks. With ``dependencies`` also of everything that they got."""
        name = self._name(key)
        with self.changes() as changes:
            changes.reset(name, dependencies=dependencies)

    def reset_scope(self, scope: Scope) -> None:
        """Lets go of all instances of a scope, as a reload. It costs what is held, not what is defined."""
        with self.changes() as changes:
            changes.reset_scope(scope)

    def start(self, key: str | Callable[..., Any]) -> None:
        """Starts a shared instance again after `stop`; one that is not there is made. What is started stays so."""
        core = self._open()
        core.library.call("start", core.handle, self._key(self._name(key))[0])

    def stop(self, key: str | Callable[..., Any]) -> None:
        """Stops a shared instance, which stays where it is; one that is not started is left alone."""
        core = self._open()
        core.library.call("stop", core.handle, self._key(self._name(key))[0])

    @property
    def states(self) -> list[State]:
        """Where the shared instances are in their life, and what dormant definitions wait for; sorted by key."""
        core = self._open()
        found = _values.ask(core, "runtime_states", core.handle)
        return [
            State(each["key"], each["name"], each["objects"], tuple(each["waits"]), each["error"]) for each in found
        ]

    @property
    def sources(self) -> list[SourceState]:
        """The documents, in the order in which later ones win, and how their changes are noticed."""
        core = self._open()
        found = _values.ask(core, "runtime_sources", core.handle)
        return [SourceState(**each) for each in found]

    @property
    def retired(self) -> list[Retired]:
        """The objects that reloads have replaced or removed and that have not been stopped yet, because something uses
        them; in order of creation."""
        core = self._open()
        found = _values.ask(core, "runtime_retired", core.handle)
        return [
            Retired(
                each["key"],
                each["type"],
                each["reason"],
                each["leases"],
                each["retired_ns"] / 1e9,
                each["idle_ns"] / 1e9,
            )
            for each in found
        ]

    def define_block(self, key: str, /, type_name: str | None = None, **tunables: Any) -> None:
        """A key that is nothing but tunable numbers, read through views: ``gain=invivo.tunable(1.0, max=2)``."""
        _blocks.define_block(self._open(), key, type_name, tunables)

    # ---- pools and scopes ------------------------------------------------------------------------------

    def pool(self, name: str | None = None, make: Callable[[Any], Any] | None = None) -> Pool:
        """Opens a weak pool. ``make(key)`` makes what is missing, where a get does not say how."""
        return Pool._open(self._open(), name, make)

    def find_pool(self, name: str) -> Pool:
        """The pool of a name, whatever language opened it."""
        return Pool._find(self._open(), name)

    def scope(
        self,
        name: str,
        find: Callable[[], int | None],
        keep: Callable[[int, str], None] | None = None,
        drop: Callable[[int, str], None] | None = None,
    ) -> None:
        """A scope of the program's own. ``find()`` says where the calling code is (a request, a document: a number of
        the program's choosing; None: nowhere). ``keep`` and ``drop`` hear of each object that is kept there, and of its
        end, by place and key. Before the first definition that names it."""
        register_scope(self._open(), name, find, keep, drop)

    def end_scope(self, name: str, place: int) -> None:
        """Ends a place of a scope: what was made there is let go, last made first."""
        end_scope(self._open(), name, place)
