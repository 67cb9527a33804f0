"""The assemblies that one reload activates: the given ones and their collaborators."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import _generated as c
from .._assemblies.active import ActiveAssemblies
from .._assemblies.assembly import AssemblyDescription, collaborators_of, kinds_of
from .._assemblies.members import describing
from .._classes.annotations import behaves, is_assembly
from .._declarations.recipes import Recipe, Ref
from .._objects.objects import Objects
from ..errors import AmbiguousError, ExistsError, NotFoundError, WrongTypeError


class ByName:
    """An assembly that is known by its name alone."""

    def __init__(self, name: str, core: Objects, leads_to: str | None = None) -> None:
        """``leads_to``: where a mount remaps it."""
        self._name, self._core, self._leads_to = name, core, leads_to or name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        key = f"{self._name}.{name}"

        def member(*positional: Any, **named: Any) -> Any:
            if describing.depth:
                given = self._core.keys.bind(f"{self._leads_to}.{name}", positional, named)
                return Recipe(Ref(key, tuple(given)))
            return self._core.runtime().resolve(f"{self._leads_to}.{name}", *positional, **named)

        return member


class Gathering:
    """The assemblies that one reload activates: those given, and their collaborators."""

    def __init__(
        self,
        core: Objects,
        active: ActiveAssemblies,
        given: Iterable[AssemblyDescription],
        mounted: Mapping[AssemblyDescription, Mapping[str, Any]],
    ) -> None:
        self.core, self.active, self.mounted = core, active, mounted
        self.given = list(dict.fromkeys(given))
        self.all = list(self.given)
        self.found: dict[AssemblyDescription, dict[str, Any]] = {}
        for each in self.all:  # grows meanwhile
            if not isinstance(each, AssemblyDescription):
                hint = "; make one of the class" if is_assembly(each) else ""
                raise WrongTypeError(f"an invivo.Assembly is wanted, not {each!r}{hint}")
            if each._core is not None and not each.is_active_in(core) and not each._core.closed:
                raise ExistsError(
                    f"the assembly {each.name!r} is active in another runtime: make another instance of it",
                    path=each.name,
                )
            self.found[each] = {
                name: self._collaborator(each, name, wanted) for name, wanted in collaborators_of(type(each)).items()
            }

    def _collaborator(self, owner: AssemblyDescription, name: str, wanted: Any) -> Any:
        own = vars(owner).get(name)
        if own is not None:  # set by hand
            if isinstance(own, AssemblyDescription) and own not in self.all:
                self.all.append(own)
            return own
        # A collaborator that a mount remaps need not exist.
        remap = self.mounted.get(owner, {})
        known_as = wanted if isinstance(wanted, str) else getattr(wanted, "__invivo_name__", None)
        if known_as is not None and known_as in remap:
            to = remap[known_as]
            return ByName(known_as, self.core, to.name if isinstance(to, AssemblyDescription) else to)
        if isinstance(wanted, str):
            if wanted in self.active.by_name or any(each.name == wanted for each in self.all):
                return ByName(wanted, self.core)
            found = self._found(owner, name, wanted, lambda cls: wanted in kinds_of(cls, ""))
            if found is not None:
                return found
            if self.active.state(wanted) != c.INVIVO_ASSEMBLY_UNKNOWN:  # of another language
                return ByName(wanted, self.core)
            raise self._unmet(owner, name, f"named {wanted!r}")
        if not isinstance(wanted, type):
            raise self._unmet(owner, name, "and its annotation says nothing that could be found")
        found = self._found(owner, name, wanted, lambda cls: self._fits(cls, wanted))
        if found is not None:
            return found
        if issubclass(wanted, AssemblyDescription) and not inspect.isabstract(wanted):
            try:
                made = wanted()
            except TypeError:
                made = None
            if made is not None:
                self.all.append(made)
                return made
        raise self._unmet(owner, name, f"that is a {wanted.__name__}")

    def _found(
        self, owner: AssemblyDescription, name: str, wanted: type | str, fits: Callable[[type], bool]
    ) -> AssemblyDescription | None:
        """Returns the only matching assembly, of the given ones before the active ones."""
        for among in (self.given, self.active.all(), self.all):
            fitting = [each for each in among if each is not owner and fits(type(each))]
            exact = [each for each in fitting if type(each) is wanted]
            derived = [each for each in fitting if type(each) is not wanted]
            fitting = derived if among is self.given and derived else exact or derived
            if len(fitting) == 1:
                return fitting[0]
            if fitting:
                names = ", ".join(f"{each.name} ({type(each).__name__})" for each in fitting)
                raise AmbiguousError(
                    f"{type(owner).__name__}.{name} wants a {wanted if isinstance(wanted, str) else wanted.__name__}, "
                    f"and several are: {names}; set it by hand",
                    **self._at(owner, name),
                )
        return None

    def _fits(self, cls: type, wanted: type) -> bool:
        return wanted in cls.__mro__ or (not issubclass(wanted, AssemblyDescription) and behaves(cls, wanted))

    def _unmet(self, owner: AssemblyDescription, name: str, what: str) -> NotFoundError:
        there = ", ".join(dict.fromkeys(each.name for each in (*self.all, *self.active.all()))) or "none"
        return NotFoundError(
            f"{type(owner).__name__}.{name} is an assembly {what}, and none is given or active; there are: {there}. "
            "Activate it together with this one",
            **self._at(owner, name),
        )

    def _at(self, owner: AssemblyDescription, name: str) -> dict[str, Any]:
        file, line = owner.__invivo_location__
        return {"path": f"{owner.name}.{name}", "file": file, "line": line}
