"""The assemblies of one runtime that are active, or that the library knows."""

from __future__ import annotations

import ctypes
import weakref

from .._native import strings
from .._native.session import Session
from .assembly import AssemblyDescription

_MOST = 1000  # changes of assemblies that are noted for rollbacks


class State:
    """How an assembly is bound to a runtime, if it is."""

    def __init__(self, assembly: AssemblyDescription) -> None:
        # The library keeps the definitions of the generations to which a rollback is possible, and these the assembly.
        self.assembly = weakref.ref(assembly)
        self.active, self.collaborators, self.members = assembly._core, assembly._collaborators, assembly.members
        self.prefix = assembly.name if assembly._own_name is not None else None

    def restore(self, by_name: dict[str, list[AssemblyDescription]]) -> State | None:
        """Binds the assembly so again. Returns how it was bound before, or None if it is gone."""
        assembly = self.assembly()
        if assembly is None:
            return None
        before = State(assembly)
        several = by_name.get(assembly.name, [])
        if assembly in several:
            several.remove(assembly)
        if self.prefix is None:
            assembly._unmount()
        elif assembly._own_name is None:
            assembly._mount(self.prefix)
        assembly._core, assembly._collaborators, assembly.members = self.active, self.collaborators, self.members
        if self.active is not None:
            by_name.setdefault(assembly.name, []).append(assembly)
        return before


class ActiveAssemblies:
    """The assemblies of Python in one runtime: the objects behind the descriptions that the library has."""

    def __init__(self, core: Session) -> None:
        self._core = core
        self.by_name: dict[str, list[AssemblyDescription]] = {}  # active ones
        self.described: set[AssemblyDescription] = set()  # known to the library, and perhaps not active
        # Before each change of them: the generation, and how the assemblies of the change were bound.
        self._former: list[tuple[int, list[State]]] = []

    def note(self, generation: int, states: list[State]) -> None:
        """Notes how assemblies were bound in a generation, before a change of them."""
        self._former.append((generation, states))
        if len(self._former) > _MOST:
            gone = [entry for entry in self._former if all(each.assembly() is None for each in entry[1])]
            self._former = [entry for entry in self._former if entry not in gone][-_MOST:]

    def drop(self, states: list[State]) -> None:
        """The change did not take effect."""
        self._former = [entry for entry in self._former if entry[1] is not states]

    def roll_back(self, generation: int, current: int) -> bool:
        """Binds assemblies as they were in a generation. Returns whether any is bound differently."""
        undone: list[State] = []
        for base, states in reversed(self._former):
            if base < generation:
                break
            undone += [before for each in states if (before := each.restore(self.by_name)) is not None]
        if undone:
            self.note(current, undone[::-1])
        return bool(undone)

    def all(self) -> list[AssemblyDescription]:
        """Returns the active assemblies."""
        return [each for several in self.by_name.values() for each in several]

    def state(self, name: str) -> int:
        """Returns the state of a name in the library, whatever language described the assembly."""
        state = ctypes.c_uint32()
        self._core.library.call("assembly_state", self._core.handle, strings.name_bytes(name), ctypes.byref(state))
        return state.value

    def close(self) -> None:
        """Forgets everything: the runtime is closed."""
        self.by_name.clear()
        self.described.clear()
        self._former.clear()
