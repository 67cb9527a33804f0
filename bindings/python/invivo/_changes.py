"""Change sets: described first, then committed as one reload."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _generated as c
from . import _values
from ._assembly import Assembly, Gathering, _twice, describe_members
from ._recipes import Options, Scope
from ._wiring import Definition, define, definition, plan_all
from .errors import StaleError

if TYPE_CHECKING:
    from ._core import Core


class Changes:
    """What one reload is to change. In ``with`` it commits at the end of the block, and does nothing if that raises."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._definitions: dict[str, Definition] = {}
        self._removed: dict[str, None] = {}
        self._others: list[Callable[[c.invivo_changes], None]] = []
        self._done = False
        self._activated: dict[Assembly, tuple[dict[str, Any], tuple[str, ...]]] = {}  # collaborators, members' keys
        self._deactivated: list[Assembly] = []

    def define(
        self,
        what: Callable[..., Any] | str,
        /,
        key: str | None = None,
        scope: Scope = "lazy_singleton",
        options: Options | None = None,
        **overrides: Any,
    ) -> None:
        """Adds or replaces a definition of a class, of a factory whose annotation says what it makes, of a recipe, or
        of a type of another language by its name."""
        self.add(definition(key, what, scope, overrides, options=options))

    def activate(self, *assemblies: Assembly) -> None:
        """Adds assemblies, with the assemblies that they need. One that is active stays as it is; one that is active
        under the same name is replaced."""
        self._open()
        core = self._core
        gathering = Gathering(core, assemblies)
        seen: dict[str, Definition] = {}
        former = {each: each._collaborators for each in gathering.all}
        try:
            for each in gathering.all:
                each._collaborators = gathering.found[each]
            for each in gathering.all:
                fresh = each._core is not core and each not in self._activated
                known = {**core.known, **{type(one).__name__: type(one) for one in gathering.all}}
                members = describe_members(each, known) if fresh else []
                one_by_one = [made for made in each.definitions.values() if core.definitions.get(made.key) is not made]
                for made in (*members, *one_by_one):
                    other = seen.setdefault(made.key, made)
                    if other is not made:
                        raise _twice(made.key, other, made)
                if fresh:
                    keys = tuple(made.key for made in members)
                    self._replace(each, keys)
                    self._activated[each] = gathering.found[each], keys
        finally:
            for each in gathering.all:
                each._collaborators = former[each]
        for made in seen.values():
            self.add(made)

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
                if key in self._core.definitions:
                    self.remove(key)
            self._deactivated.append(each)

    def add(self, made: Definition) -> None:
        self._open()
        self._removed.pop(made.key, None)
        self._definitions[made.key] = made

    def remove(self, key: str) -> None:
        """Takes a definition away."""
        self._open()
        self._definitions.pop(key, None)
        self._removed[key] = None

    def document(self, name: str, text: str | None) -> None:
        """Gives or replaces the text of an in-memory document; None takes it away."""
        data = None if text is None else _values.text_bytes(text)
        self._other("changes_document", _values.name_bytes(name), data, len(data or b""))

    def set(self, key: str, property: str, value: Any) -> None:
        """Sets the base value of a tunable property, under whatever specs say on top."""
        self._open()

        def apply(changes: c.invivo_changes) -> None:
            with _values.Packer(self._core) as packer:
                made = packer.value(value)
                names = _values.name_bytes(key, "key"), _values.name_bytes(property)
                self._core.library.call("changes_set", changes, *names, ctypes.byref(made))

        self._others.append(apply)

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
        self._done = True

    def _open(self) -> None:
        self._core.check()
        if self._done:
            raise StaleError("the change set is committed or discarded: open another one")

    def _finish(self, function: str) -> None:
        self._open()
        self._done = True
        handle, defined, gone = self._fill()
        undo = self._bind(defined, gone)  # a singleton that is built now may already ask for its neighbours
        try:
            self._core.library.call(function, handle)
        except BaseException:
            undo()
            raise

    def _fill(self) -> tuple[c.invivo_changes, dict[str, Definition], list[str]]:
        """The set as the library has it: open, and the caller's."""
        core, library = self._core, self._core.library
        after = {key: made for key, made in core.definitions.items() if key not in self._removed}
        after.update(self._definitions)
        known = {made.made: made.makes for made in after.values() if isinstance(made.makes, type)}
        core.known.update(known)
        plans = plan_all(self._definitions.values(), after, core.known, core.find_type, marked=core.marked)
        defined = {plan.definition.key: plan.definition for plan in plans}
        gone = [*self._removed, *self._orphans(defined)]
        handle = c.invivo_changes()
        library.call("changes_open", core.handle, ctypes.byref(handle))
        try:
            for key in gone:
                library.call("changes_remove", handle, _values.name_bytes(key, "key"))
            for plan in plans:
                define(core, handle, plan)
            for apply in self._others:
                apply(handle)
        except BaseException:
            library.changes_discard(handle)
            raise
        return handle, defined, gone

    def _orphans(self, defined: dict[str, Definition]) -> list[str]:
        """What stood inline in a definition that goes, or that is another now."""
        found = []
        for key, made in self._core.definitions.items():
            owner: Definition | None = made
            while owner is not None and owner.owner and key not in defined:
                if owner.owner in self._removed or owner.owner in self._definitions:
                    found.append(key)
                    break
                owner = self._core.definitions.get(owner.owner)
        return found

    def _bind(self, defined: dict[str, Definition], gone: list[str]) -> Callable[[], None]:
        """Makes the definitions, and the assemblies with theirs, known; answers what takes that back."""
        core = self._core
        definitions = dict(core.definitions)
        assemblies = {name: list(several) for name, several in core.assemblies.items()}
        states = [
            (each, each._core, each._collaborators, each.members) for each in (*self._activated, *self._deactivated)
        ]
        for key in gone:
            core.definitions.pop(key, None)
        core.definitions.update(defined)
        for each in self._deactivated:
            core.assemblies[each.name].remove(each)
            each._core, each._collaborators, each.members = None, {}, ()
        for each, (found, keys) in self._activated.items():
            core.assemblies.setdefault(each.name, []).append(each)
            each._core, each._collaborators, each.members = core, found, keys

        def undo() -> None:
            core.definitions.clear()
            core.definitions.update(definitions)
            core.assemblies.clear()
            core.assemblies.update(assemblies)
            for each, active, found, members in states:
                each._core, each._collaborators, each.members = active, found, members

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
