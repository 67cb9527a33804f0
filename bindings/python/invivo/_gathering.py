"""The assemblies that one reload activates: those given, and their collaborators."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _generated as c
from ._assembly import Assembly, collaborators_of
from ._hints import behaves, is_assembly
from ._members import describing
from ._recipes import Recipe, Ref
from .errors import AmbiguousError, ExistsError, NotFoundError, WrongTypeError

if TYPE_CHECKING:
    from ._core import Core


class ByName:
    """An assembly that is known by its name alone."""

    def __init__(self, name: str, core: Core, leads_to: str | None = None) -> None:
        """``leads_to``: where a mount remaps it."""
        self._name, self._core, self._leads_to = name, core, leads_to or name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        key = f"{self._name}.{name}"

        def member(*positional: Any, **named: Any) -> Any:
            if describing.depth:
                given = self._core.bind(f"{self._leads_to}.{name}", positional, named)
                return Recipe(Ref(key, tuple(given)))
            face: Any = self._core.face()
            return face.resolve(f"{self._leads_to}.{name}", *positional, **named)

        return member


class Gathering:
    """The assemblies that one reload activates: those given, and their collaborators."""

    def __init__(
        self, core: Core, given: Iterable[Assembly], mounted: Mapping[Assembly, Mapping[str, Any]] | None = None
    ) -> None:
        self.core = core
        self.mounted = mounted or {}
        self.given = list(dict.fromkeys(given))
        self.all = list(self.given)
        self.found: dict[Assembly, dict[str, Any]] = {}
        for each in self.all:  # grows meanwhile
            if not isinstance(each, Assembly):
                hint = "; make one of the class" if is_assembly(each) else ""
                raise WrongTypeError(f"an invivo.Assembly is wanted, not {each!r}{hint}")
            if each._core is not None and each._core is not core and not each._core.closed:
                raise ExistsError(
                    f"the assembly {each.name!r} is active in another runtime: make another instance of it",
                    path=each.name,
                )
            self.found[each] = {
                name: self._collaborator(each, name, wanted) for name, wanted in collaborators_of(type(each)).items()
            }

    def _collaborator(self, asking: Assembly, name: str, wanted: Any) -> Any:
        own = vars(asking).get(name)
        if own is not None:  # set by hand
            if isinstance(own, Assembly) and own not in self.all:
                self.all.append(own)
            return own
        # What a mount leads elsewhere needs not be there.
        remap = self.mounted.get(asking, {})
        known_as = wanted if isinstance(wanted, str) else getattr(wanted, "__invivo_name__", None)
        if known_as is not None and known_as in remap:
            to = remap[known_as]
            return ByName(known_as, self.core, to.name if isinstance(to, Assembly) else to)
        if isinstance(wanted, str):
            if wanted in self.core.assemblies or any(each.name == wanted for each in self.all):
                return ByName(wanted, self.core)
            found = self._found(asking, name, wanted, lambda cls: wanted in kinds_of(cls, ""))
            if found is not None:
                return found
            if self.core.assembly_state(wanted) != c.INVIVO_ASSEMBLY_UNKNOWN:  # of another language
                return ByName(wanted, self.core)
            raise self._unmet(asking, name, f"named {wanted!r}")
        if not isinstance(wanted, type):
            raise self._unmet(asking, name, "and its annotation says nothing that could be found")
        found = self._found(asking, name, wanted, lambda cls: self._fits(cls, wanted))
        if found is not None:
            return found
        if issubclass(wanted, Assembly) and not inspect.isabstract(wanted):
            try:
                made = wanted()
            except TypeError:
                made = None
            if made is not None:
                self.all.append(made)
                return made
        raise self._unmet(asking, name, f"that is a {wanted.__name__}")

    def _found(self, asking: Assembly, name: str, wanted: type | str, fits: Callable[[type], bool]) -> Assembly | None:
        """The one that fits, of those that are given before those that are active."""
        for among in (self.given, self.core.active(), self.all):
            fitting = [each for each in among if each is not asking and fits(type(each))]
            exact = [each for each in fitting if type(each) is wanted]
            derived = [each for each in fitting if type(each) is not wanted]
            fitting = derived if among is self.given and derived else exact or derived
            if len(fitting) == 1:
                return fitting[0]
            if fitting:
                names = ", ".join(f"{each.name} ({type(each).__name__})" for each in fitting)
                raise AmbiguousError(
                    f"{type(asking).__name__}.{name} wants a {wanted if isinstance(wanted, str) else wanted.__name__}, "
                    f"and several are: {names}; set it by hand",
                    **self._at(asking, name),
                )
        return None

    def _fits(self, cls: type, wanted: type) -> bool:
        return wanted in cls.__mro__ or (not issubclass(wanted, Assembly) and behaves(cls, wanted))

    def _unmet(self, asking: Assembly, name: str, what: str) -> NotFoundError:
        there = ", ".join(dict.fromkeys(each.name for each in (*self.all, *self.core.active()))) or "none"
        return NotFoundError(
            f"{type(asking).__name__}.{name} is an assembly {what}, and none is given or active; there are: {there}. "
            "Activate it together with this one",
            **self._at(asking, name),
        )

    def _at(self, asking: Assembly, name: str) -> dict[str, Any]:
        file, line = asking.__invivo_place__
        return {"path": f"{asking.name}.{name}", "file": file, "line": line}


def kinds_of(cls: type, name: str) -> list[str]:
    """What an assembly of a class is, by name: its base classes, and the protocols that they say they are."""
    found: dict[str, None] = {}
    for each in cls.__mro__:
        if each is Assembly:
            break
        found[each.__name__] = None
        own = getattr(each, "__invivo_name__", None) if issubclass(each, Assembly) else None
        if own:
            found[own] = None
    found.pop(name, None)
    return list(found)
