"""The assemblies of one runtime that are active, or that the library knows."""

from __future__ import annotations

import ctypes

from .._native import strings
from .._native.session import Session
from .assembly import AssemblyDescription


class ActiveAssemblies:
    """The assemblies of Python in one runtime: the objects behind the descriptions that the library has."""

    def __init__(self, core: Session) -> None:
        self._core = core
        self.by_name: dict[str, list[AssemblyDescription]] = {}  # active ones
        self.described: set[AssemblyDescription] = set()  # known to the library, and perhaps not active

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
