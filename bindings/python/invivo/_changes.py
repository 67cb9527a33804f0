"""Change sets: described first, then committed as one reload."""

from __future__ import annotations

import builtins
import ctypes
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import _config, _signals, _tables, _values
from . import _generated as c
from ._assembly import Assembly, _twice
from ._definitions import Definition, definition, scope_number
from ._descriptors import define
from ._documents import Path, Source, file_options
from ._facts import After
from ._findings import gathered, is_because
from ._gathering import Gathering
from ._injections import Plan
from ._members import Member, describe_alone, describe_members
from ._processors import Described, Processor, decorator, visitor
from ._recipes import Options, Scope
from ._wiring import plan_all
from .errors import ArgumentError, Error, ExistsError, NotFoundError, StaleError, within

if TYPE_CHECKING:
    from ._core import Core


class Changes:
    """What one reload is to change. In ``with`` it commits at the end of the block, and does nothing if that raises."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._definitions: dict[str, Definition] = {}
        self._removed: dict[str, None] = {}
        self._withdrawn: set[str] = set()  # removed after this set had defined them: they may be undefined otherwise
        self._others: list[Callable[[c.invivo_changes], None]] = []
        self._sources: list[Source] = []
        self._done = False
        self._activated: dict[Assembly, tuple[dict[str, Any], tuple[str, ...]]] = {}  # collaborators, members' keys
        self._deactivated: list[Assembly] = []
        self._homes: dict[str, Assembly] = {}  # of the definitions that come with an assembly
        self._mounted: dict[Assembly, Mapping[str, str | Assembly]] = {}
        self._processors: list[Processor] = []
        self._unprocessed: list[str] = []
        self._described: list[Assembly] = []  # to be activated as they were described

    def define(
        self,
        what: Any,
        /,
        key: str | None = None,
        scope: Scope = "lazy_singleton",
        options: Options | None = None,
        **overrides: Any,
    ) -> None:
        """Adds or replaces a definition of a class, of a factory whose annotation says what it makes, of a recipe, or
        of a type of another language by its name. Or of a function that describes it as a member of an assembly does,
        which is how one is defined that has runtime arguments::

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
            self.add(describe_alone(what, key, self._core.known))
            return
        self.add(definition(key, what, scope, overrides, options=options))

    def activate(self, *assemblies: Assembly) -> None:
        """Adds assemblies, with the assemblies that they need. One that is active stays as it is; one that is active
        under the same name is replaced."""
        self._open()
        core = self._core
        for each in assemblies:
            if isinstance(each, Assembly) and each not in self._activated and self._is_lost(each):
                _leave(core, [each])
        gathering = Gathering(core, assemblies, self._mounted)
        seen: dict[str, Definition] = {}
        former = {each: each._collaborators for each in gathering.all}
        try:
            for each in gathering.all:
                each._collaborators = gathering.found[each]
            for each in gathering.all:
                fresh = each._core is not core and each not in self._activated
                known = {**core.known, **{type(one).__name__: type(one) for one in gathering.all}}
                members = describe_members(each, known) if fresh else []
                one_by_one = [made for made in each.definitions.values() if core.given.get(made.key) is not made]
                for made in (*members, *one_by_one):
                    other = seen.setdefault(made.key, made)
                    if other is not made:
                        raise _twice(made.key, other, made)
                    self._homes[made.key] = each
                if each in core.described and not fresh:
                    self._described.append(each)
                if fresh:
                    keys = tuple(made.key for made in members)
                    self._replace(each, keys)
                    self._activated[each] = gathering.found[each], keys
        finally:
            for each in gathering.all:
                each._collaborators = former[each]
        for made in seen.values():
            self._add(made)
        for each in gathering.all:
            self._processors += [one for one in each.processors if one not in core.processors.values()]

    def _is_lost(self, assembly: Assembly) -> bool:
        """Whether it counts as active here alone: a submitted set has failed, or another language took it away."""
        core = self._core
        return (
            assembly._core is core
            and assembly not in core.described
            and core.assembly_state(assembly.name) == c.INVIVO_ASSEMBLY_UNKNOWN
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
        """Adds a decorator: a function that gets each object that is made, and answers what takes its place (or None).

        For one ``key``, a ``type`` (or what the function's parameter is annotated with), or everything. In the place
        of a function the key of a component: its object takes the other's place and gets it as its argument; or its
        ``method`` is called with it. Lower priorities come first. Answers its name, for `unprocess`.
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
        self._processors.append(processor)
        return processor.name

    def unprocess(self, name: str) -> None:
        """Takes a decorator or processor away by its name; what it concerned is made anew."""
        self._open()
        self._unprocessed.append(name)

    def mount(self, assembly: Assembly, prefix: str, /, remap: Mapping[str, str | Assembly] | None = None) -> None:
        """Adds an assembly under a prefix of its own, beside others of its class: its members are then
        ``prefix.member``. What it refers to outside of itself follows ``remap``: keys, or the first parts of keys, and
        what they become."""
        self._open()
        if isinstance(assembly, Assembly) and self._is_lost(assembly):
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
        self._mounted[assembly] = dict(remap or {})
        self.activate(assembly)

    def _replace(self, assembly: Assembly, keys: tuple[str, ...]) -> None:
        """An assembly of the same name whose members are definitions goes."""
        if not keys:
            return
        for former in self._core.assemblies.get(assembly.name, []):
            if former is not assembly and former not in self._deactivated and former.members:
                for key in former.members:
                    if key not in keys:
                        self.remove(key)
                self._deactivated.append(former)

    def deactivate(self, *assemblies: Assembly) -> None:
        """Takes assemblies away, with all their definitions."""
        self._open()
        for each in assemblies:
            if each._core is not self._core:
                raise StaleError(f"the assembly {each.name!r} is not active here", path=each.name)
            for key in (*each.members, *each.definitions):
                if key in self._core.given:
                    self.remove(key)
            self._deactivated.append(each)
            self._unprocessed += [one.name for one in each.processors if self._core.processors.get(one.name) is one]

    def add(self, made: Definition) -> None:
        self._open()
        self._homes.pop(made.key, None)
        self._add(made)

    def _add(self, made: Definition) -> None:
        self._removed.pop(made.key, None)
        self._definitions[made.key] = made

    def remove(self, key: str) -> None:
        """Takes a definition away."""
        self._open()
        if self._definitions.pop(key, None) is not None:
            self._withdrawn.add(key)
        self._homes.pop(key, None)
        self._removed[key] = None

    def document(self, name: str, text: str | None) -> None:
        """Gives or replaces the text of an in-memory document; None takes it away."""
        data = None if text is None else _values.text_bytes(text)
        self._other("changes_document", _values.name_bytes(name), data, len(data or b""))

    def watch(self, path: Path, *, wait: bool = False) -> Source:
        """Follows a spec file from the commit on. Its content is part of the same reload: a value that a definition of
        the set requires may come from it, and it may have traits for keys of the set. A set that fails or is discarded
        follows nothing. ``wait``: the set is committed without the file where that is not there or not good yet."""
        self._open()
        options = file_options(path, wait=wait)
        source = Source(self._core, c.invivo_source(), os.fspath(path), pending=True)

        def apply(changes: c.invivo_changes) -> None:
            handle = c.invivo_source()
            self._core.library.call("changes_watch", changes, ctypes.byref(options), ctypes.byref(handle))
            source._handle = handle
            if source._closed_early:
                self._core.library.call("source_close", handle)

        self._sources.append(source)
        self._others.append(apply)
        return source

    def set(self, key: str, property: str, value: Any) -> None:
        """Sets the base value of a tunable property, under whatever specs say on top."""
        self._open()

        def apply(changes: c.invivo_changes) -> None:
            with _values.Packer(self._core) as packer:
                with within(f"{key}.{property}"):
                    made = packer.value(value)
                names = _values.name_bytes(key, "key"), _values.name_bytes(property)
                self._core.library.call("changes_set", changes, *names, ctypes.byref(made))

        self._others.append(apply)

    def configure(self, path: str, value: Any) -> None:
        """Says what the configuration is at a whole path, over what documents say; None removes what is there."""
        self._open()
        self._others.append(lambda changes: _config.configure(self._core, changes, path, value, is_said=True))

    def unconfigure(self, path: str) -> None:
        """Takes back what was said by `configure` of the path and all below it: documents show again."""
        self._open()
        self._others.append(lambda changes: _config.configure(self._core, changes, path, None, is_said=False))

    def reset(self, key: str, *, dependencies: bool = False) -> None:
        """Lets go of a key's shared instances, also (``dependencies``) of all that they got: who holds them follows,
        and another is made when somebody asks."""
        self._other("changes_reset", _values.name_bytes(key, "key"), c.INVIVO_RESET_DEPENDENCIES if dependencies else 0)

    def reset_scope(self, scope: Scope) -> None:
        """The same for all instances of a scope: ``"lazy_singleton"``, ``"singleton"``, ``"weak_singleton"``."""
        self._other("changes_reset_scope", scope_number(scope))

    def _other(self, function: str, *arguments: Any) -> None:
        self._open()
        self._others.append(lambda changes: self._core.library.call(function, changes, *arguments))

    def check(self) -> None:
        """Raises all that would be wrong with the set so far, each error with its ``rule`` and who needs it.

        Makes nothing and runs no class or factory; the set stays open.
        """
        self._open()
        handle, _, _ = self._fill()
        try:
            self._core.library.call("changes_check", handle)
        finally:
            self._core.library.changes_discard(handle)

    def commit(self) -> None:
        """Commits, and waits until the reload is done. What is wrong is raised, all of it at once."""
        self._finish("changes_commit")

    def submit(self) -> None:
        """Hands the set over without waiting: the outcome reaches observers. Allowed from inside callbacks."""
        self._finish("changes_submit")

    def discard(self) -> None:
        self._end()
        self._unmount()
        self._drop_sources()

    def _drop_sources(self) -> None:
        for source in self._sources:
            source._handle = c.invivo_source()

    def _end(self) -> None:
        """From here on the library answers for the sources."""
        self._done = True
        for source in self._sources:
            source._pending = False

    def describe(self, *assemblies: Assembly) -> None:
        """Makes assemblies known to the library, at once and without activating them."""
        self.activate(*assemblies)
        if self._deactivated:
            names = ", ".join(each.name for each in self._deactivated)
            raise ExistsError(f"another assembly is active as {names}: activate the new one, which replaces it")
        self._done = True
        core = self._core
        plans = self._plan()
        alone, together = self._by_assembly(plans)
        assert not alone
        for assembly, its in together.items():
            with _tables.table(core, assembly, its, self._activated[assembly][0]) as options:
                core.library.call("assembly_describe", core.handle, ctypes.byref(options))
        self._bind({plan.definition.key: plan.definition for plan in plans}, [])
        core.described.update(self._activated)

    def forget(self, known: Assembly | str) -> None:
        """Takes a description back, at once; what is active stays active."""
        self._open()
        core, name = self._core, known if isinstance(known, str) else known.name
        if isinstance(known, Assembly) and known not in core.described:
            raise NotFoundError(f"the assembly {name!r} was not described here", path=name)
        core.library.call("assembly_forget", core.handle, _values.name_bytes(name))
        its = [each for each in core.described if each.name == name]
        core.described.difference_update(its)
        if core.assembly_state(name) != c.INVIVO_ASSEMBLY_ACTIVE:
            _leave(core, its)
        self._done = True

    def _unmount(self) -> None:
        for assembly in self._mounted:
            assembly._unmount()

    def _open(self) -> None:
        self._core.check()
        if self._done:
            raise StaleError("the change set is committed or discarded: open another one")

    def _finish(self, function: str) -> None:
        self._open()
        self._end()
        try:
            handle, defined, gone = self._fill()
            undo = self._bind(defined, gone)  # a singleton that is built now may already ask for its neighbours
            try:
                self._core.library.call(function, handle)
            except BaseException as problem:
                if not _signals.took_effect(problem):
                    undo()
                raise
        except BaseException as problem:
            if not _signals.took_effect(problem):
                self._unmount()
                self._drop_sources()
            raise

    def _plan(self, wrong: list[Error] | None = None) -> list[Plan]:
        core = self._core
        after = After(core, self._definitions, self._removed)
        known = {made.made: made.makes for made in self._definitions.values() if isinstance(made.makes, type)}
        core.known.update(known)
        remaps = {
            each.name: {start: to if isinstance(to, str) else to.name for start, to in remap.items()}
            for each, remap in self._mounted.items()
        }
        return plan_all(
            self._definitions.values(),
            after,
            core.known,
            core.find_type,
            marked=core.marked,
            remaps=remaps,
            assemblies=[*self._activated, *(each for each in core.active() if each not in self._deactivated)],
            wrong=wrong,
        )

    def _planned(self) -> list[Plan]:
        """What is to be defined; or all that is wrong, which the library alone can find of much."""
        wrong: list[Error] = []
        plans = self._plan(wrong)
        if not wrong:
            return plans
        left_out = self._definitions.keys() - {plan.definition.key for plan in plans}
        found = [each for each in self._found_wrong(plans) if not is_because(each, wrong, left_out)]
        raise gathered([*wrong, *found])

    def _found_wrong(self, plans: list[Plan]) -> list[Error]:
        """What the library finds wrong with a set of these definitions."""
        core, handle = self._core, c.invivo_changes()
        core.library.call("changes_open", core.handle, ctypes.byref(handle))
        try:
            self._write(handle, plans)
        except Error:  # it comes again when the rest is right
            core.library.changes_discard(handle)
            return []
        try:
            core.library.call("changes_check", handle)
        except Error as problem:
            return problem.errors
        finally:
            core.library.changes_discard(handle)
        return []

    def write(self, handle: c.invivo_changes) -> None:
        """Into a set of somebody else's, who commits it."""
        self._open()
        self._end()
        defined, gone = self._write(handle, self._planned())
        self._bind(defined, gone)

    def _fill(self) -> tuple[c.invivo_changes, dict[str, Definition], list[str]]:
        """The set as the library has it: open, and the caller's."""
        core, library = self._core, self._core.library
        handle = c.invivo_changes()
        library.call("changes_open", core.handle, ctypes.byref(handle))
        try:
            defined, gone = self._write(handle, self._planned())
        except BaseException:
            library.changes_discard(handle)
            raise
        return handle, defined, gone

    def _write(self, handle: c.invivo_changes, plans: list[Plan]) -> tuple[dict[str, Definition], list[str]]:
        core, library = self._core, self._core.library
        defined = {plan.definition.key: plan.definition for plan in plans}
        removed = [key for key in self._removed if key not in self._withdrawn or self._is_defined(key)]
        gone = [*removed, *self._orphans(defined)]
        for key in gone:
            library.call("changes_remove", handle, _values.name_bytes(key, "key"))
        for name in self._ended():
            library.call("changes_deactivate", handle, _values.name_bytes(name))
        alone, together = self._by_assembly(plans)
        for plan in alone:
            define(core, handle, plan)
        for assembly, its in together.items():
            self._give(handle, assembly, its)
        for assembly in self._described:
            library.call("changes_activate", handle, ctypes.byref(_tables.named(assembly.name)), None)
        for name in self._unprocessed:
            library.call("changes_unprocess", handle, _values.name_bytes(name))
        for processor in self._processors:
            processor.give(core, handle)
        for apply in self._others:
            apply(handle)
        return defined, gone

    def _is_defined(self, key: str) -> bool:
        found = c.invivo_key()
        name = _values.name_bytes(key, "key")
        status: int = self._core.library.key_find(self._core.handle, name, ctypes.byref(found), None)
        return status == 0

    def _by_assembly(self, plans: list[Plan]) -> tuple[list[Plan], dict[Assembly, list[Plan]]]:
        """What is defined by itself, and what comes with an assembly."""
        alone: list[Plan] = []
        together: dict[Assembly, list[Plan]] = {each: [] for each in self._activated}
        known = {plan.definition.key: plan.definition for plan in plans}
        for plan in plans:
            top = plan.definition
            while (owner := known.get(top.owner) or self._core.given.get(top.owner)) is not None:
                top = owner
            home = self._homes.get(top.key)
            (alone if home is None else together.setdefault(home, [])).append(plan)
        return alone, together

    def _ended(self) -> list[str]:
        """The names of which no assembly is left, or that others take."""
        again = {each.name for each in self._activated}
        names = dict.fromkeys(each.name for each in self._deactivated)
        return [name for name in names if name not in again and not self._staying(name)]

    def _staying(self, name: str) -> bool:
        return any(each not in self._deactivated for each in self._core.assemblies.get(name, []))

    def _give(self, handle: c.invivo_changes, assembly: Assembly, plans: list[Plan]) -> None:
        core = self._core
        first = next((each for each in self._activated if each.name == assembly.name), None)
        extends = assembly is not first or self._staying(assembly.name)
        found = self._activated[assembly][0] if assembly in self._activated else {}
        with _tables.table(core, assembly, plans, found, extends=extends) as options:
            if assembly in self._mounted:
                pairs, count = _tables.remaps_of(self._mounted[assembly])
                prefix = _values.name_bytes(assembly.name)
                core.library.call("changes_mount", handle, ctypes.byref(options), prefix, pairs, count)
            else:
                core.library.call("changes_activate", handle, ctypes.byref(options), None)

    def _orphans(self, defined: dict[str, Definition]) -> list[str]:
        """What stood inline in a definition that goes, or that is another now."""
        found = []
        for key, made in self._core.given.inline.items():
            owner: Definition | None = made
            while owner is not None and owner.owner and key not in defined:
                if owner.owner in self._removed or owner.owner in self._definitions:
                    found.append(key)
                    break
                owner = self._core.given.get(owner.owner)
        return found

    def _bind(self, defined: dict[str, Definition], gone: list[str]) -> Callable[[], None]:
        """Makes the definitions, and the assemblies with theirs, known; answers what takes that back."""
        core = self._core
        former = {key: core.given.get(key) for key in (*gone, *defined)}
        assemblies = {name: list(several) for name, several in core.assemblies.items()}
        states = [
            (each, each._core, each._collaborators, each.members) for each in (*self._activated, *self._deactivated)
        ]
        mounted = [(each, each.name) for each in self._deactivated if each._own_name is not None]
        for key in gone:
            core.given.drop(key)
        for made in defined.values():
            core.given.put(made)
        processors = dict(core.processors)
        for name in self._unprocessed:
            core.processors.pop(name, None)
        core.processors.update({each.name: each for each in self._processors})
        for each in self._deactivated:
            core.assemblies[each.name].remove(each)
            core.described.discard(each)
            each._core, each._collaborators, each.members = None, {}, ()
            each._unmount()
        for each, (found, keys) in self._activated.items():
            core.assemblies.setdefault(each.name, []).append(each)
            each._core, each._collaborators, each.members = core, found, keys
        core.outdate()

        def undo() -> None:
            for key, made in former.items():
                core.given.drop(key)
                if made is not None:
                    core.given.put(made)
            core.processors.clear()
            core.processors.update(processors)
            core.assemblies.clear()
            core.assemblies.update(assemblies)
            for each, active, found, members in states:
                each._core, each._collaborators, each.members = active, found, members
            for each, prefix in mounted:
                each._mount(prefix)
            core.outdate()

        return undo

    def __enter__(self) -> Changes:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._done:
            return
        if kind is None:
            self.commit()
        else:
            self.discard()


def _leave(core: Core, assemblies: list[Assembly]) -> None:
    """Their members are recipes again, without a word to the library."""
    changes = Changes(core)
    changes.deactivate(*assemblies)
    changes._bind({}, [*changes._removed, *changes._orphans({})])
    changes._done = True
