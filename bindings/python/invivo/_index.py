"""Definitions by key and by what they make, so that finding one costs the same however many there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ._hints import is_protocol

if TYPE_CHECKING:
    from ._definitions import Definition

Known: TypeAlias = "Definitions | After"

_OPERATORS = {"__call__", "__iter__", "__next__", "__len__", "__getitem__", "__contains__", "__enter__", "__exit__"}


class Definitions:
    """A set of definitions."""

    def __init__(self, every: Mapping[str, Definition] | None = None, parents: Definitions | None = None) -> None:
        self._parents = parents  # where parents are that are not in here
        self._by_key: dict[str, Definition] = {}
        self._classes: dict[str, type] = {}  # what each makes, or its parents where it says none
        self._children: dict[str, dict[str, None]] = {}  # of a parent, those that say no class
        self._by_class: dict[type, dict[str, Definition]] = {}  # by each class that what is made is
        self._exact: dict[type, dict[str, Definition]] = {}  # by the class that is made
        self._behaving: dict[type, list[type]] = {}  # what was found, until there is another class
        self.inline: dict[str, Definition] = {}  # what stands in the recipe of another
        for made in sorted((every or {}).values(), key=lambda made: made.parent is not None):
            self.put(made)

    def get(self, key: str) -> Definition | None:
        return self._by_key.get(key)

    def __getitem__(self, key: str) -> Definition:
        return self._by_key[key]

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def values(self) -> Iterable[Definition]:
        return self._by_key.values()

    def put(self, made: Definition) -> None:
        self.drop(made.key)
        self._by_key[made.key] = made
        if made.owner:
            self.inline[made.key] = made
        if made.makes is None and made.parent is not None:
            self._children.setdefault(made.absolute(made.parent), {})[made.key] = None
        self._enter(made)

    def _enter(self, made: Definition) -> None:
        """By its class, and those that take it over."""
        cls = self.class_of(made)
        if cls is not None:
            self._classes[made.key] = cls
            for each in cls.__mro__:
                self._by_class.setdefault(each, {})[made.key] = made
            if cls not in self._exact:
                self._behaving.clear()
            self._exact.setdefault(cls, {})[made.key] = made
        for child in self._children.get(made.key, ()):
            its = self._by_key.get(child)
            if its is not None and self._classes.get(child) is not cls:
                self._leave(child)
                self._enter(its)

    def class_of(self, made: Definition) -> type | None:
        """The class that a definition makes; that of its parents where it says none."""
        for _ in range(64):
            if isinstance(made.makes, type):
                return made.makes
            if made.makes is not None or made.parent is None or made.alias is not None:
                return None
            key = made.absolute(made.parent)
            parent = self._by_key.get(key) or (self._parents.get(key) if self._parents is not None else None)
            if parent is None:
                return None
            made = parent
        return None

    def drop(self, key: str) -> None:
        made = self._by_key.pop(key, None)
        self.inline.pop(key, None)
        if made is None:
            return
        if made.parent is not None:
            self._children.get(made.absolute(made.parent), {}).pop(key, None)
        self._leave(key)

    def _leave(self, key: str) -> None:
        cls = self._classes.pop(key, None)
        if cls is None:
            return
        # A signal's handler may have raised in the middle of an earlier change: what is gone already is no error.
        for each in cls.__mro__:
            its = self._by_class.get(each, {})
            its.pop(key, None)
            if not its:
                self._by_class.pop(each, None)
        its = self._exact.get(cls, {})
        its.pop(key, None)
        if not its:
            self._exact.pop(cls, None)
            self._behaving.clear()

    def clear(self) -> None:
        for table in (
            self._by_key,
            self._by_class,
            self._exact,
            self._behaving,
            self.inline,
            self._classes,
            self._children,
        ):
            table.clear()

    def of(self, wanted: type) -> list[Definition]:
        """Those of a class and of what is derived from it."""
        return list(self._by_class.get(wanted, {}).values())

    def like(self, wanted: type) -> list[Definition]:
        """Those of what counts as a class without being derived from it."""
        classes = self._behaving.get(wanted)
        if classes is None:
            classes = self._behaving[wanted] = [each for each in list(self._exact) if behaves(each, wanted)]
        return [made for each in classes for made in list(self._exact.get(each, {}).values())]


class After:
    """Definitions as they will be when some have come and some have gone."""

    def __init__(self, former: Definitions, new: Mapping[str, Definition], gone: Iterable[str] = ()) -> None:
        self._former, self._new = former, Definitions(new, former)
        self._gone = {*gone, *new}

    def get(self, key: str) -> Definition | None:
        found = self._new.get(key)
        return found if found is not None or key in self._gone else self._former.get(key)

    def __getitem__(self, key: str) -> Definition:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def _staying(self, among: Iterable[Definition]) -> list[Definition]:
        return [each for each in among if each.key not in self._gone]

    def values(self) -> list[Definition]:
        return [*self._staying(self._former.values()), *self._new.values()]

    def class_of(self, made: Definition) -> type | None:
        return self._new.class_of(made)

    def of(self, wanted: type) -> list[Definition]:
        return [*self._staying(self._former.of(wanted)), *self._new.of(wanted)]

    def like(self, wanted: type) -> list[Definition]:
        return [*self._staying(self._former.like(wanted)), *self._new.like(wanted)]


def candidates(
    wanted: type, among: Known, near: str = "", *, exact: bool = False, generic: Any = None
) -> list[Definition]:
    """The definitions of a class, or else of its subclasses: those of the highest rank, then of the exact class, then
    those of the assembly ``near``. Of ``generic`` (``Repository[User]``) those that say it are the exact ones."""
    fitting = all_candidates(wanted, among)
    if exact:
        fitting = [each for each in fitting if among.class_of(each) is wanted]
    else:
        fitting = fitting or [each for each in among.like(wanted) if _is_found(each, wanted, among)]
    best = max((each.options.rank for each in fitting), default=0)
    fitting = [each for each in fitting if each.options.rank == best]
    for closer in (
        lambda each: generic is not None and _says(each, generic),
        lambda each: among.class_of(each) is wanted,
        lambda each: each.assembly == near,
    ):
        narrowed = [each for each in fitting if closer(each)]
        fitting = narrowed or fitting
    return fitting


def _says(made: Definition, generic: Any) -> bool:
    return made.generic == generic or any(
        generic in getattr(each, "__orig_bases__", ()) for each in getattr(made.makes, "__mro__", ())
    )


def all_candidates(wanted: type, among: Known) -> list[Definition]:
    """Every definition of a class and of what is derived from it."""
    return [each for each in among.of(wanted) if _is_found(each, wanted, among)]


def _is_found(each: Definition, wanted: type, among: Known) -> bool:
    hidden = each.options.hidden
    if each.options.abstract or each.options.each is not None or hidden is True or each.owner:
        return False
    return hidden != ("class" if among.class_of(each) is wanted else "interface")


def ambiguous(wanted: type, found: Iterable[Definition]) -> str:
    keys = ", ".join(sorted(each.key for each in found))
    return f"several definitions make a {wanted.__name__}: {keys}"


def behaves(makes: type, wanted: type) -> bool:
    """Whether a class counts as another that it does not derive from: by registration, or as a protocol says."""
    if is_protocol(wanted):
        names = {
            name
            for each in wanted.__mro__
            if is_protocol(each) and not _is_the_protocol(each)
            for name in (*vars(each), *vars(each).get("__annotations__", ()))
            if not name.startswith("_") or name in _OPERATORS
        }
        # Not what the class has as an object itself: every class can be called.
        there = {name for each in makes.__mro__ for name in (*vars(each), *vars(each).get("__annotations__", ()))}
        return bool(names) and all(name in there or (name not in _OPERATORS and hasattr(makes, name)) for name in names)
    try:
        return issubclass(makes, wanted)
    except TypeError:
        return False


def _is_the_protocol(cls: Any) -> bool:
    return bool(cls.__module__ == "typing" and cls.__name__ == "Protocol")
