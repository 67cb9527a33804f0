"""Changes of definitions, each as one reload, and the life cycle of shared objects."""

from __future__ import annotations

import builtins
import ctypes
import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar, overload

from .. import _generated as c
from .._assemblies.assembly import AssemblyDescription
from .._assemblies.definitions import Definition, definition
from .._assemblies.members import Member, describe_alone
from .._declarations.recipes import Options, Scope
from .._declarations.words import here
from .._native.strings import name_bytes
from .._planning.processing import Described
from .._services import blocks
from .._services.graph import (
    _ASSEMBLY_STATES,
    DOCUMENT_FORMATS,
    DocumentFormat,
    Generation,
    Retired,
    SourceState,
    State,
)
from .._services.pools import Pool
from .._services.rules import rule
from .._services.scopes import end_scope, register_scope
from .._services.setup import effect as register_effect
from .._services.setup import in_setup
from .._state.binding import roll_back
from .._values import conversion
from ..errors import ArgumentError
from .changes import Changes, generation_number
from .overrides import Override
from .resolving import Resolving
from .traits import Trait
from .unused import UnusedChanges

T = TypeVar("T")
AnyRule = TypeVar("AnyRule", bound=Callable[..., Any])
AnyAssembly = TypeVar("AnyAssembly", bound=AssemblyDescription)


class Changing(Resolving):
    """A runtime whose definitions are added, changed and removed."""

    # ---- changing --------------------------------------------------------------------------------------

    def changes(self) -> Changes:
        """Returns a change set: everything in it takes effect as one reload when its ``with`` block ends, or nothing
        does.
        """
        return UnusedChanges(self._open(), here())

    def activate(self, *assemblies: AssemblyDescription) -> None:
        """Adds assemblies and their dependencies, in any order, as one reload.

        One that is active stays as it is; an instance of a class replaces an active one of the same name.
        """
        with self.changes() as changes:
            changes.activate(*assemblies)

    def deactivate(self, *assemblies: AssemblyDescription) -> None:
        """Removes assemblies, in one reload. Their members are recipes again."""
        with self.changes() as changes:
            changes.deactivate(*assemblies)

    def assembly_state(self, name: str) -> Literal["unknown", "inactive", "active"]:
        """Whether an assembly of this name is active, or known, in any language; also for mounts."""
        return _ASSEMBLY_STATES[self._open().active.state(name)]

    def describe(self, *assemblies: AssemblyDescription) -> None:
        """Makes assemblies and their dependencies known without activating them.

        Until they are activated (by ``activate``, or by the manifest of an application), an error of a resolve names
        the assembly to activate.
        """
        Changes(self._open()).describe(*assemblies)

    def forget(self, *known: AssemblyDescription | str) -> None:
        """Removes descriptions, by the assemblies or by their names, in any language.

        They are not activated as dependencies any more, and their Python members are recipes again. Active assemblies
        stay active.
        """
        for each in known:
            Changes(self._open()).forget(each)

    def remove(self, *gone: AssemblyDescription | str) -> None:
        """Removes assemblies, with all their definitions, and single definitions by their keys, in one reload."""
        with self.changes() as changes:
            for each in gone:
                if isinstance(each, str):
                    changes.remove(each)
                else:
                    changes.deactivate(each)

    def mount(
        self, assembly: AnyAssembly, prefix: str, /, remap: Mapping[str, str | AssemblyDescription] | None = None
    ) -> AnyAssembly:
        """Activates an assembly under a prefix of its own, beside others of its class, and returns it::

            left = runtime.mount(Voice(), "left", remap={"clock.main": "studio.clock"})
            left.filter()  # the key left.filter

        References to other assemblies follow ``remap``: keys, or prefixes of keys, and their replacements; an assembly
        stands for its name. Configuration is looked up under the prefix, then under the assembly's own name, then
        globally. The prefix is the name of the assembly until it is removed.
        """
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
        """Adds or replaces one definition, in one reload.

        It is of a class, a factory with an annotated result, a recipe, a type of another language by its name, or a
        function that describes it with its runtime arguments: see `Changes.define`.
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
        """Adds a decorator, in one reload: see `Changes.decorate`. Returns its name, for `unprocess`."""
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
        """Removes a decorator or processor, in one reload."""
        with self.changes() as changes:
            changes.unprocess(name)

    def rule(self, *inputs: str, name: str | None = None) -> Callable[[AnyRule], AnyRule]:
        """Decorates a function that is a rule over inputs, and adds it in one reload: see `Changes.add_rule`.

        Its name is by default that of the function, with its module::

            @runtime.rule("band.low", "band.high")
            def low_is_below_high(low, high):
                return low is None or high is None or low < high
        """

        if not inputs or not all(isinstance(each, str) for each in inputs):
            raise ArgumentError(
                'the decorator of a rule gets its inputs, as in @runtime.rule("band.low", "band.high"), '
                f"not {inputs[0]!r}"
                if inputs
                else 'a rule has inputs, as in @runtime.rule("band.low", "band.high")'
            )

        def add(function: AnyRule) -> AnyRule:
            with self.changes() as changes:
                changes._add_rule(rule(name, inputs, function))
            return function

        return add

    def add_rule(self, name: str, inputs: Sequence[str], function: Callable[..., Any]) -> None:
        """Adds or replaces a rule, in one reload: see `Changes.add_rule`."""
        with self.changes() as changes:
            changes.add_rule(name, inputs, function)

    def remove_rule(self, name: str) -> None:
        """Removes a rule by its name, in one reload."""
        with self.changes() as changes:
            changes.remove_rule(name)

    def add_trait(self, trait: builtins.type[Trait]) -> None:
        """Adds or replaces a trait type, in one reload: see `Changes.add_trait`."""
        with self.changes() as changes:
            changes.add_trait(trait)

    def remove_trait(self, trait: builtins.type[Trait] | str) -> None:
        """Removes a trait type, by its class or name, in one reload."""
        with self.changes() as changes:
            changes.remove_trait(trait)

    def override(
        self, key: str | Callable[..., Any], what: Any = None, /, *, instance: Any = None, **overrides: Any
    ) -> Override:
        """Replaces the definition of a key, for tests and trials, in one reload. Dependents are updated.

        ``what`` is another recipe (a class, a factory, a recipe, or a function that describes one as for
        `Changes.define`); ``instance`` is an object. Scope and visibility are those of the key;
        for an alias or a choice, the scope is that of the recipe, or lazy singleton. The key is a name, a class or a
        member of an assembly: ``runtime.override(camelot.stable, instance=Horse())``.

        The override ends with its ``with`` block, or by `Override.end`. Several overrides of a key are stacked: the
        last one counts, and they may end in any order.
        """
        core, name = self._open(), self._name(key)
        if (what is None) == (instance is None):
            raise ArgumentError("an override needs either a definition or instance=...", path=name)
        if isinstance(what, Member):
            made: Definition | None = describe_alone(what, name, core.types.known)
        else:
            made = None if what is None else definition(name, what, None, overrides)
        return Override(core, made, name, instance)

    def reset(self, key: str | Callable[..., Any], *, dependencies: bool = False) -> None:
        """Drops a key's shared instances, as a reload. Dependents are updated; a new instance is created on demand.

        ``dependencies``: also drops all their dependencies.
        """
        name = self._name(key)
        with self.changes() as changes:
            changes.reset(name, dependencies=dependencies)

    def reset_scope(self, scope: Scope) -> None:
        """Drops all instances of a scope, as a reload. The cost is that of the instances, not of all definitions."""
        with self.changes() as changes:
            changes.reset_scope(scope)

    def start(self, key: str | Callable[..., Any]) -> None:
        """Starts a shared instance again after `stop`. A missing one is created. A started one stays as it is."""
        core = self._open()
        core.library.call("start", core.handle, core.keys.handle(self._name(key))[0])

    def stop(self, key: str | Callable[..., Any]) -> None:
        """Stops a shared instance, which is kept. One that is not started stays as it is."""
        core = self._open()
        core.library.call("stop", core.handle, core.keys.handle(self._name(key))[0])

    # ---- what belongs to an object -----------------------------------------------------------------------

    def effect(self, undo: Callable[[], Any]) -> None:
        """In a method marked `on_setup`: registers a function that undoes an effect of it.

        It is called exactly once: before the object is set up again, or when it ends. Elsewhere it is called at once,
        and `ArgumentError` is raised.
        """
        register_effect(self._open(), undo)

    @overload
    def child(self, key: builtins.type[T], *arguments: Any, **named: Any) -> T: ...
    @overload
    def child(self, key: str, *arguments: Any, **named: Any) -> Any: ...
    def child(self, key: Any, *arguments: Any, **named: Any) -> Any:
        """In a method marked `on_setup`: creates an object of a prototype that belongs to the object.

        It ends when the object does, or is set up again; a new child of the same key and arguments can copy from it
        then (`former`).
        """
        name = self._name(key)
        core = self._open()
        return self._own("child", core.keys.handle(name)[0], name, core.keys.bind(name, arguments, named))

    def make_child(self, cls: builtins.type[T], *arguments: Any) -> T:
        """Does the same for an object of a class without a definition."""
        core = self._open()
        made: T = self._own("child_make", c.invivo_type(core.types.of(cls).bits), cls.__name__, arguments)
        return made

    def _own(self, function: str, handle: Any, name: str, arguments: Iterable[Any]) -> Any:
        core = self._open()
        found = c.invivo_object()
        with conversion.Packer(core) as packer:
            array, count = core.keys.pack(packer, name, arguments)
            with in_setup(function):
                core.library.call(function, core.handle, handle, array, count, ctypes.byref(found))
        return core.borrow(found.bits)

    @property
    def states(self) -> list[State]:
        """The states of the shared instances, and the missing dependencies of blocked definitions; sorted by key."""
        core = self._open()
        found = conversion.ask(core, "runtime_states", core.handle)
        return [
            State(each["key"], each["name"], each["objects"], tuple(each["waits"]), each["error"]) for each in found
        ]

    @property
    def sources(self) -> list[SourceState]:
        """The documents, in the order in which later ones win, and how their changes are noticed."""
        core = self._open()
        found = conversion.ask(core, "runtime_sources", core.handle)
        return [SourceState(**each) for each in found]

    @property
    def retired(self) -> list[Retired]:
        """The objects that reloads have replaced or removed and that have not been stopped yet, because something uses
        them; in order of creation."""
        core = self._open()
        found = conversion.ask(core, "runtime_retired", core.handle)
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

    # ---- the environment ----------------------------------------------------------------------------------

    def refresh_environment(self) -> None:
        """Copies the environment again, on this thread: documents and values that depend on it change, as one reload.

        A runtime copies the environment when it opens and in this call, and reads it at no other time. If the reload
        fails, nothing changes, and the former copy stays.
        """
        core = self._open()
        core.library.call("runtime_refresh_environment", core.handle)

    # ---- properties that move ------------------------------------------------------------------------------

    def advance(self, seconds: float) -> None:
        """Advances the clock of the properties that move to their values, and makes one step of them.

        For programs that render faster or slower than real time, and for tests. The runtime must have been opened with
        ``ramp_tick="manual"``.
        """
        core = self._open()
        if not 0 <= seconds < 2**63 / 1e9:
            raise ArgumentError(f"the clock advances by a number of seconds that is not negative, not by {seconds!r}")
        core.library.call("runtime_advance", core.handle, round(seconds * 1e9))

    # ---- former content ----------------------------------------------------------------------------------

    def rollback(self, to: int | str) -> None:
        """Brings the content of a kept generation back, as a reload: the number of a generation, or the name of a mark.

        The content is that of documents, settings, assemblies and definitions. Everything else stays as it is. A
        rollback can undo a rollback. Files are not written: if a followed file has other bytes than the content that
        is live now, these bytes are refused until they change, or until ``source.refresh(retry=True)``.
        """
        core = self._open()
        generation = self.marked(to) if isinstance(to, str) else generation_number(to)
        core.library.call("rollback", core.handle, generation)
        roll_back(core, generation)

    @property
    def history(self) -> list[Generation]:
        """The generations to which a rollback is possible, the oldest first. The last one is the current one."""
        core = self._open()
        return [
            Generation(
                each["generation"],
                each["first"],
                each["cause"],
                datetime.datetime.fromtimestamp(each["time_ns"] / 1e9, datetime.timezone.utc),
                tuple(each["marks"]),
            )
            for each in conversion.ask(core, "runtime_history", core.handle)
        ]

    def mark(self, name: str) -> int:
        """Keeps the current generation under a name until `unmark`. Returns its number.

        A mark of the same name moves to it.
        """
        core = self._open()
        number = ctypes.c_uint64()
        core.library.call("mark", core.handle, name_bytes(name), ctypes.byref(number))
        return number.value

    def unmark(self, name: str) -> None:
        """Ends a mark."""
        core = self._open()
        core.library.call("unmark", core.handle, name_bytes(name))

    def marked(self, name: str) -> int:
        """Returns the number of the generation with a mark."""
        core = self._open()
        number = ctypes.c_uint64()
        core.library.call("marked", core.handle, name_bytes(name), ctypes.byref(number))
        return number.value

    # ---- documents as text -----------------------------------------------------------------------------

    def document_text(self, name: str, format: DocumentFormat = "yaml") -> str:
        """Writes a live document as text, with references to files and environment variables as they were written.

        Comments are dropped. Reading the text gives an equal document. JSON cannot express infinities, NaN, and an
        environment variable without quotes.
        """
        core = self._open()
        text: str = conversion.ask(
            core, "document_text", core.handle, name_bytes(name, "name"), DOCUMENT_FORMATS[format]
        )
        return text

    def traits_text(self, key: str | None = None, document: str | None = None, format: DocumentFormat = "yaml") -> str:
        """Writes the traits of live documents as a document with ``traits:``.

        ``key`` is the key, or ``None`` for all keys with traits. ``document`` is the only document to take traits from,
        or ``None`` for all live documents, the later ones on top.
        """
        core = self._open()
        wanted = [None if name is None else name_bytes(name) for name in (key, document)]
        text: str = conversion.ask(core, "traits_text", core.handle, *wanted, DOCUMENT_FORMATS[format])
        return text

    def define_block(self, key: str, /, type_name: str | None = None, **tunables: Any) -> None:
        """Defines a key that has only tunable numbers, read through views: ``gain=invivo.tunable(1.0, max=2)``."""
        blocks.define_block(self._open(), key, type_name, tunables)

    # ---- pools and scopes ------------------------------------------------------------------------------

    def pool(self, name: str | None = None, make: Callable[[Any], Any] | None = None) -> Pool:
        """Opens a weak pool. ``make(key)`` creates missing objects, unless a get has a function of its own."""
        return Pool._open(self._open(), name, make)

    def find_pool(self, name: str) -> Pool:
        """Returns the pool with a name, in any language."""
        return Pool._find(self._open(), name)

    def scope(
        self,
        name: str,
        find: Callable[[], int | None],
        keep: Callable[[int, str], None] | None = None,
        drop: Callable[[int, str], None] | None = None,
    ) -> None:
        """Registers a scope of the program, before the first definition that names it.

        ``find()`` returns the current scope instance (a request, a document: a number that the program chooses), or
        None. ``keep`` and ``drop`` are called with the scope instance and the key for each object that is kept there,
        and when it ends.
        """
        register_scope(self._open(), name, find, keep, drop)

    def end_scope(self, name: str, place: int) -> None:
        """Ends a scope instance: its objects are released, the last one first."""
        end_scope(self._open(), name, place)
