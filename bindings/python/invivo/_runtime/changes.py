"""Change sets: described first, then committed as one reload."""

from __future__ import annotations

import builtins
import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _generated as c
from .._assemblies.assembly import AssemblyDescription, defined_twice
from .._assemblies.definitions import Definition, definition, scope_number
from .._assemblies.members import Member, describe_alone, describe_members
from .._assemblies.processors import Processor, decorator, visitor
from .._declarations.recipes import Options, Scope
from .._native import signals, strings
from .._planning.gathering import Gathering
from .._planning.processing import Described
from .._services import bindings
from .._services.documents import Path, Source, file_options
from .._services.rules import Rule, rule
from .._services.traits import TraitType, trait_type_of
from .._state import writing
from .._state.binding import bind, roll_back
from .._state.contents import Activation, Contents
from .._state.core import Core
from .._values import conversion
from ..errors import ArgumentError, ExistsError, NotFoundError, StaleError, within
from .configuring import ConfigChanges
from .traits import Trait


class Changes(ConfigChanges):
    """The changes of one reload. In ``with`` they are committed at the end of the block, and discarded if it raises."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._contents = Contents()
        self._sources: list[Source] = []
        self._done = False
        self._restored: int | None = None  # the generation to which it rolls back

    def define(
        self,
        what: Any,
        /,
        key: str | None = None,
        scope: Scope = "lazy_singleton",
        options: Options | None = None,
        **overrides: Any,
    ) -> None:
        """Adds or replaces a definition: of a class, an annotated factory, a recipe, or a type by its name.

        Or of a function that describes it, as a member of an assembly does. Such a one may have runtime arguments::

            @invivo.prototype
            def voice(note: int) -> Voice:
                return invivo.new(Voice, note, invivo.ref("synth.clock"))

            changes.define(voice, "synth.voice")
        """
        if isinstance(what, Member):
            if options is not None or overrides or scope != "lazy_singleton":
                raise ArgumentError(
                    f"{what.name} says its scope and options itself, where it is decorated", path=key or ""
                )
            self.add(describe_alone(what, key, self._core.types.known))
            return
        self.add(definition(key, what, scope, overrides, options=options))

    def activate(self, *assemblies: AssemblyDescription) -> None:
        """Adds assemblies, with the assemblies that they depend on.

        One that is active stays as it is; one that is active under the same name is replaced.
        """
        self._open()
        core = self._core
        for each in assemblies:
            if isinstance(each, AssemblyDescription) and each not in self._contents.activated and self._is_lost(each):
                _leave(core, [each])
        contents = self._contents
        gathering = Gathering(core, core.active, assemblies, contents.mounted)
        seen: dict[str, tuple[Definition, AssemblyDescription]] = {}
        former = {each: each._collaborators for each in gathering.all}
        try:
            for each in gathering.all:
                each._collaborators = gathering.found[each]
            for each in gathering.all:
                fresh = each._core is not core and each not in self._contents.activated
                known = {**core.types.known, **{type(one).__name__: type(one) for one in gathering.all}}
                members = describe_members(each, known) if fresh else []
                declared = core.keys.declared
                single = [made for made in each.definitions.values() if declared.get(made.key) is not made]
                for made in (*members, *single):
                    other, _ = seen.setdefault(made.key, (made, each))
                    if other is not made:
                        raise defined_twice(made.key, other, made)
                if each in core.active.described and not fresh:
                    self._contents.described.append(each)
                if fresh:
                    keys = tuple(made.key for made in members)
                    self._check_name(each)
                    self._replace(each, (*keys, *each.definitions))
                    contents.activated[each] = Activation(gathering.found[each], keys)
        finally:
            for each in gathering.all:
                each._collaborators = former[each]
        for made, home in seen.values():
            contents.add(made, home)
        for each in gathering.all:
            contents.processors += [one for one in each.processors if one not in core.processors.values()]

    def _is_lost(self, assembly: AssemblyDescription) -> bool:
        """Whether it is active only in Python: a submitted set has failed, or another language has removed it."""
        core = self._core
        return (
            assembly._core is core
            and assembly not in core.active.described
            and core.active.state(assembly.name) == c.INVIVO_ASSEMBLY_UNKNOWN
        )

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
        """Adds a decorator: a function that gets each created object, and returns its replacement (or None).

        It applies to one ``key``, a ``type`` (or the annotation of the function's parameter), or everything. Instead of
        a function it may be the key of a component: its object replaces the other one and gets it as its argument, or
        its ``method`` is called with it. Lower priorities come first. Returns its name, for `unprocess`.
        """
        return self._process(decorator(what, key=key, type=type, name=name, priority=priority, method=method))

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
        """Adds a function that visits each definition before it is compiled, and may change it."""
        return self._process(visitor(visit, key=key, type=type, name=name, priority=priority))

    def _process(self, processor: Processor) -> str:
        self._open()
        self._contents.processors.append(processor)
        return processor.name

    def unprocess(self, name: str) -> None:
        """Removes a decorator or processor by its name. The objects concerned are rebuilt."""
        self._open()
        self._contents.unprocessed.append(name)

    def add_rule(self, name: str, inputs: Sequence[str], function: Callable[..., Any]) -> None:
        """Adds a rule, or replaces the one with the same name. The values after this change set must satisfy it.

        ``inputs`` are configuration paths (``"audio.rate"``), and properties of keys (``"synth.lead.gain"``).
        ``function`` gets their values in this order, None for one without a value. It refuses them by raising
        (`invivo.Refused`, or any other exception), or by returning False. It runs on a thread of the library for each
        change of an input. It must not wait, and must not call this runtime.
        """
        self._add_rule(rule(name, inputs, function))

    def _add_rule(self, described: Rule) -> None:
        self._open()
        core = self._core
        self._contents.others.append(lambda handle: described.give(core, handle))

    def remove_rule(self, name: str) -> None:
        """Removes a rule by its name."""
        self._other("changes_remove_rule", strings.name_bytes(name))

    def add_trait(self, trait: builtins.type[Trait]) -> None:
        """Adds a trait type, or replaces the one with the same name. `Trait` does so by itself for each subclass."""
        self._add_trait(trait_type_of(trait))

    def _add_trait(self, described: TraitType) -> None:
        self._open()
        core = self._core
        self._contents.others.append(lambda handle: described.give(core, handle))

    def remove_trait(self, trait: builtins.type[Trait] | str) -> None:
        """Removes a trait type, by its class or name. Its changes of objects are reversed."""
        name = trait if isinstance(trait, str) else trait_type_of(trait).name
        self._other("changes_remove_trait", strings.name_bytes(name))

    def bind_settings(self, what: Any, path: str, /, *, name: str | None = None) -> None:
        """Binds a section of the configuration to a class, whose value each generation then has: `Runtime.settings`.

        See `Runtime.bind_settings`.
        """
        self._open()
        binding = bindings.Binding(self._core, what, path, name)
        self._contents.others.append(binding.give)
        made = binding.definition()
        if made is not None:
            self._contents.add(made)

    def unbind_settings(self, what: Any) -> None:
        """Removes the binding of a class, or one by its name."""
        self._open()
        name = bindings.name_of(self._core, what)
        if bindings.key_of(name) in self._core.keys.declared:
            self._contents.remove(bindings.key_of(name))
        self._other("changes_unbind_settings", strings.name_bytes(name))

    def mount(
        self,
        assembly: AssemblyDescription,
        prefix: str,
        /,
        remap: Mapping[str, str | AssemblyDescription] | None = None,
    ) -> None:
        """Adds an assembly under a prefix of its own, beside others of its class: its members are then
        ``prefix.member``.

        References to other assemblies follow ``remap``: keys, or prefixes of keys, and their replacements.
        """
        self._open()
        if isinstance(assembly, AssemblyDescription) and self._is_lost(assembly):
            _leave(self._core, [assembly])
        if assembly._core is not None:
            raise ExistsError(
                f"the assembly {assembly.name!r} is active: mount another instance of {type(assembly).__name__}",
                path=prefix,
            )
        for key, made in assembly.definitions.items():
            if not key.startswith(f"{assembly.name}."):
                raise ArgumentError(
                    f"the assembly {assembly.name!r} cannot be mounted: the key {key!r} is not under its name",
                    path=prefix,
                    file=made.file,
                    line=made.line,
                )
        assembly._mount(prefix)
        self._contents.mounted[assembly] = dict(remap or {})
        self.activate(assembly)

    def _check_name(self, assembly: AssemblyDescription) -> None:
        for other in self._contents.activated:
            if other.name == assembly.name and other is not assembly:
                raise ExistsError(
                    f"two assemblies of one change set have the name {assembly.name!r}, and the second would replace "
                    "the first: activate one of them, or give one another name",
                    path=assembly.name,
                )

    def _replace(self, assembly: AssemblyDescription, keys: tuple[str, ...]) -> None:
        """Removes the active assembly of the same name, with its definitions that the new one does not have."""
        declared = self._core.keys.declared
        for former in self._core.active.by_name.get(assembly.name, []):
            if former is not assembly and former not in self._contents.deactivated:
                for key in (*former.members, *former.definitions):
                    if key not in keys and key in declared:
                        self.remove(key)
                self._contents.deactivated.append(former)

    def deactivate(self, *assemblies: AssemblyDescription) -> None:
        """Removes assemblies, with all their definitions."""
        self._open()
        for each in assemblies:
            if each._core is not self._core:
                raise StaleError(f"the assembly {each.name!r} is not active here", path=each.name)
            for key in (*each.members, *each.definitions):
                if key in self._core.keys.declared:
                    self.remove(key)
            self._contents.deactivated.append(each)
            own = [one.name for one in each.processors if self._core.processors.get(one.name) is one]
            self._contents.unprocessed += own

    def add(self, made: Definition) -> None:
        """Adds or replaces a definition."""
        self._open()
        self._contents.add(made)

    def remove(self, key: str) -> None:
        """Removes a definition."""
        self._open()
        self._contents.remove(key)

    def document(self, name: str, text: str | None) -> None:
        """Adds or replaces the text of an in-memory document; None removes it."""
        data = None if text is None else strings.text_bytes(text)
        self._other("changes_document", strings.name_bytes(name), data, len(data or b""))

    def watch(self, path: Path, *, wait: bool = False, keep_going: bool = False) -> Source:
        """Follows a spec file from the commit on. Its content is part of the same reload.

        A value that a definition of the set requires may come from it, and it may have traits for keys of the set. A
        set that fails or is discarded follows nothing. ``wait``: the set is committed without the file if that is
        missing or invalid. ``keep_going``: traits with errors are skipped, with a warning each.
        """
        self._open()
        options = file_options(path, wait=wait, keep_going=keep_going)
        source = Source(self._core, c.invivo_source(), os.fspath(path), pending=True)

        def apply(changes: c.invivo_changes) -> None:
            handle = c.invivo_source()
            self._core.library.call("changes_watch", changes, ctypes.byref(options), ctypes.byref(handle))
            source._handle = handle
            if source._closed_early:
                self._core.library.call("source_close", handle)

        self._sources.append(source)
        self._contents.others.append(apply)
        return source

    def set(self, key: str, property: str, value: Any) -> None:
        """Sets the base value of a tunable property, below the layers of specs."""
        self._open()

        def apply(changes: c.invivo_changes) -> None:
            with conversion.Packer(self._core) as packer:
                with within(f"{key}.{property}"):
                    made = packer.value(value)
                names = strings.name_bytes(key, "key"), strings.name_bytes(property)
                self._core.library.call("changes_set", changes, *names, ctypes.byref(made))

        self._contents.others.append(apply)

    def reset(self, key: str, *, dependencies: bool = False) -> None:
        """Drops a key's shared instances, also (``dependencies``) all their dependencies.

        Dependents are updated; a new instance is created on demand.
        """
        self._other("changes_reset", strings.name_bytes(key, "key"), c.INVIVO_RESET_DEPENDENCIES if dependencies else 0)

    def reset_scope(self, scope: Scope) -> None:
        """Drops all instances of a scope: ``"lazy_singleton"``, ``"singleton"``, ``"weak_singleton"``."""
        self._other("changes_reset_scope", scope_number(scope))

    def expect(self, generation: int) -> None:
        """Makes the set depend on the generation that it was written for (`Runtime.generation`).

        If another generation is current when its reload begins, the set is refused with `StaleError`. A submitted set
        that expects a generation is a reload of its own. The last call wins.
        """
        self._other("changes_expect", generation_number(generation))

    def rollback(self, generation: int) -> None:
        """Makes the set roll back to a kept generation (`Runtime.rollback`). It changes nothing else then.

        For ``submit``, which does not wait, and for ``check``.
        """
        self._restored = generation_number(generation)
        self._other("changes_rollback", self._restored)

    def _other(self, function: str, *arguments: Any) -> None:
        self._open()
        self._contents.others.append(lambda changes: self._core.library.call(function, changes, *arguments))

    def check(self) -> None:
        """Raises all errors of the set so far, each with its ``rule`` and its dependents.

        Creates nothing and runs no class or factory; the set stays open.
        """
        self.__class__ = Changes
        self._open()
        handle = c.invivo_changes()
        try:
            try:
                writing.fill(self._core, self._contents, handle)
                self._core.library.call("changes_check", handle)
            finally:
                self._core.library.changes_discard(handle)
        except BaseException:  # a signal handler may have raised in the block above
            self._core.library.changes_discard(handle)
            raise

    def commit(self) -> None:
        """Commits, and waits until the reload is done. Raises all errors at once."""
        self._finish("changes_commit")

    def submit(self) -> None:
        """Submits the set without waiting: observers are notified of the outcome. Allowed in callbacks."""
        self._finish("changes_submit")

    def discard(self) -> None:
        """Drops the set: nothing in it takes effect."""
        self._end()
        self._unmount()
        self._drop_sources()

    def _drop_sources(self) -> None:
        for source in self._sources:
            source._handle = c.invivo_source()

    def _end(self) -> None:
        """Ends the description of the set. From here on the library is responsible for the sources."""
        self.__class__ = Changes
        self._done = True
        for source in self._sources:
            source._pending = False

    def describe(self, *assemblies: AssemblyDescription) -> None:
        """Makes assemblies known to the library, at once and without activating them."""
        self.activate(*assemblies)
        if self._contents.deactivated:
            names = ", ".join(each.name for each in self._contents.deactivated)
            raise ExistsError(f"another assembly is active as {names}: activate the new one, which replaces it")
        self._done = True
        core = self._core
        written = writing.describe(core, self._contents)
        bind(core, self._contents, written)
        core.active.described.update(self._contents.activated)

    def forget(self, known: AssemblyDescription | str) -> None:
        """Removes a description, at once. An active assembly stays active."""
        self._open()
        core, name = self._core, known if isinstance(known, str) else known.name
        if isinstance(known, AssemblyDescription) and known not in core.active.described:
            raise NotFoundError(f"the assembly {name!r} was not described here", path=name)
        core.library.call("assembly_forget", core.handle, strings.name_bytes(name))
        its = [each for each in core.active.described if each.name == name]
        core.active.described.difference_update(its)
        if core.active.state(name) != c.INVIVO_ASSEMBLY_ACTIVE:
            _leave(core, its)
        self._done = True

    def _unmount(self) -> None:
        for assembly in self._contents.mounted:
            assembly._unmount()

    def _open(self) -> None:
        self._core.check()
        if self._done:
            raise StaleError("the change set is committed or discarded: open another one")

    def _finish(self, function: str) -> None:
        self.__class__ = Changes
        self._open()
        handle = c.invivo_changes()
        try:
            self._end()
            written = writing.fill(self._core, self._contents, handle)
            undo = bind(self._core, self._contents, written)
            try:
                self._core.library.call(function, handle)
            except BaseException as problem:
                if not signals.took_effect(problem):
                    undo()
                raise
        except BaseException as problem:
            self._core.library.changes_discard(handle)  # does nothing if it is committed
            if not signals.took_effect(problem):
                self._unmount()
                self._drop_sources()
            raise
        if self._restored is not None and function == "changes_commit":
            roll_back(self._core, self._restored)

    def write(self, handle: c.invivo_changes) -> None:
        """Writes the changes into another set of the library, whose owner commits it."""
        self.__class__ = Changes
        self._open()
        self._end()
        bind(self._core, self._contents, writing.write(self._core, self._contents, handle))

    def __enter__(self) -> Changes:
        self.__class__ = Changes
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._done:
            return
        if kind is None:
            self.commit()
        else:
            self.discard()


def _leave(core: Core, assemblies: list[AssemblyDescription]) -> None:
    """Makes the members of assemblies recipes again that the library no longer has."""
    changes = Changes(core)
    changes.deactivate(*assemblies)
    bind(core, changes._contents, writing.Written({}, list(changes._contents.removed)))
    changes._done = True


def generation_number(generation: int) -> int:
    """Returns the number of a generation, checked."""
    if isinstance(generation, bool) or not isinstance(generation, int) or not 0 <= generation < 2**64:
        raise ArgumentError(f"generation is {generation!r}, which is no number of a generation (Runtime.generation)")
    return generation
