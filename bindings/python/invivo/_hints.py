"""What an annotation asks for.

Nothing here calls the library.
"""

from __future__ import annotations

import builtins
import collections.abc
import dataclasses
import enum
import functools
import inspect
import sys
import threading
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ForwardRef, Literal, TypeVar

from . import _generated as c
from . import _signals
from ._exact import wrapped
from ._marks import Asker, Enumeration, Inject, Kind, Named
from ._reading import member, needs_reader
from ._recipes import Lazy, Provider, Resolver, Weak
from .errors import RangeError, WrongTypeError

KIND_NAMES: dict[int, str] = {number: name.removeprefix("INVIVO_KIND_").lower() for name, number in c.KINDS}


def same(value: Any) -> Any:
    return value


Late = Literal["provider", "lazy", "weak", "all", "resolver", "asker", "runtime"]

# What asks for its target when it is called.
LATE: dict[str, int] = {
    "provider": c.INVIVO_INJECT_PROVIDER,
    "lazy": c.INVIVO_INJECT_LAZY,
    "weak": c.INVIVO_INJECT_WEAK,
}


@dataclasses.dataclass(frozen=True)
class Hint:
    """What an annotation asks for."""

    kind: int = c.INVIVO_KIND_ANY
    optional: bool = False
    wanted: type | None = None  # a class whose instances are wanted
    key: str | None = None  # Annotated[T, "key"]
    choices: tuple[tuple[str, int], ...] = ()
    decode: Callable[[Any], Any] = same  # from what crossed to what the attribute or parameter holds
    encode: Callable[[Any], Any] = same
    late: Late | None = None  # what is wanted is not the object itself but this
    item: Hint | None = None  # of what
    inject: Inject | None = None
    generic: Any = None  # Repository[User], where that is what `wanted` stands for
    unresolved: str | None = None  # an annotation that is only text, and names nothing that is known
    missing: bool = False  # there is no annotation
    is_listed: bool = False  # a tuple or set crosses as a list, as those of properties do
    annotation: Any = dataclasses.field(default=None, compare=False)  # where a reader must look at a configured value

    @property
    def of(self) -> Any:
        """The class, or generic class with arguments, to look for."""
        return self.generic or self.wanted


_SCALARS: dict[Any, int] = {
    bool: c.INVIVO_KIND_BOOL,
    int: c.INVIVO_KIND_INT64,
    float: c.INVIVO_KIND_DOUBLE,
    str: c.INVIVO_KIND_STRING,
    bytes: c.INVIVO_KIND_BYTES,
    bytearray: c.INVIVO_KIND_BYTES,
    memoryview: c.INVIVO_KIND_BYTES,
    type(None): c.INVIVO_KIND_NULL,
    type: c.INVIVO_KIND_TYPE,
    collections.abc.Callable: c.INVIVO_KIND_CALLABLE,
    types.FunctionType: c.INVIVO_KIND_CALLABLE,
    typing.Callable: c.INVIVO_KIND_CALLABLE,
}
_LISTS = {list, tuple, collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Iterable}
_SETS = {set, frozenset, collections.abc.Set, collections.abc.MutableSet}
_MAPS = {dict, collections.abc.Mapping, collections.abc.MutableMapping}
# What annotations name as classes, as type checkers know them, and are functions before Python 3.13.
CLASSES: dict[Any, type] = {
    made: type(made()) for made in (threading.Lock, threading.RLock) if not isinstance(made, type)
}


def crossing_kind(hint: Hint) -> int:
    """The kind of a parameter as the library has it. A tuple or set crosses as the object that it is."""
    is_whole = hint.kind == c.INVIVO_KIND_LIST and hint.decode is not same and not hint.is_listed
    return c.INVIVO_KIND_ANY if is_whole else hint.kind


def for_python(
    value: Any, hint: Hint | None, *, whole: bool = False, is_same: bool = False, is_argument: bool = False
) -> Any:
    """A value as it goes to a place of Python's; ``whole``: the place is a function's, of which the library knows no
    parameters, so what is annotated as a list or map may be any object too."""
    kind = c.INVIVO_KIND_ANY if hint is None else crossing_kind(hint)
    is_list = kind in (c.INVIVO_KIND_LIST, c.INVIVO_KIND_MAP)
    is_open = kind == c.INVIVO_KIND_ANY or (kind == c.INVIVO_KIND_OBJECT and hint is not None and hint.wanted is None)
    if not is_list and not is_open:
        return value
    return wrapped(value, whole=whole or is_open, is_same=is_same, is_argument=is_argument)


def _as_tuple(value: Any) -> Any:
    return value if isinstance(value, tuple) else tuple(_listed(value))


def _as_set(value: Any) -> Any:
    return value if isinstance(value, collections.abc.Set) else set(_listed(value))


def _as_frozenset(value: Any) -> Any:
    return value if isinstance(value, frozenset) else frozenset(_listed(value))


def _listed(value: Any) -> Any:
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise WrongTypeError(f"{value!r} ({type(value).__name__}) is not a list")
    return value


INTEGERS = range(c.INVIVO_KIND_INT8, c.INVIVO_KIND_UINT64 + 1)


def enum_number(member: enum.Enum) -> int:
    """The number of a member: its value where that is an integer, else its place."""
    value = member.value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return list(type(member)).index(member)


def _enum_hint(cls: type[enum.Enum]) -> Hint:
    choices = tuple((member.name, enum_number(member)) for member in cls)
    names, numbers = cls.__members__, {number: cls[name] for name, number in choices}

    def decode(value: Any) -> Any:
        if isinstance(value, cls):
            return value
        name = value if isinstance(value, str) else getattr(value, "name", None)
        if isinstance(value, str) and name not in names:
            return member(cls, value)
        if name is not None:
            if name in names:
                return names[name]
        elif isinstance(value, int) and int(value) in numbers:
            return numbers[int(value)]
        elif not isinstance(value, int):
            raise WrongTypeError(f"a {cls.__name__} is wanted, one of {', '.join(names)}; this is {value!r}")
        raise RangeError(f"{value!r} is not a {cls.__name__}: it is one of {', '.join(names)}")

    return Hint(kind=c.INVIVO_KIND_INT64, choices=choices, decode=decode)


def choice_hint(choices: tuple[tuple[str, int], ...]) -> Hint:
    """Choices given to `tunable` for an attribute that holds the name."""
    numbers = dict(choices)
    names = {number: name for name, number in choices}

    def decode(value: Any) -> Any:
        name = value if isinstance(value, str) else getattr(value, "name", None) or names.get(int(value))
        if name not in numbers:
            raise RangeError(f"{value!r} is none of the choices {', '.join(numbers)}")
        return name

    def encode(value: Any) -> Any:
        if value not in numbers:
            raise RangeError(f"{value!r} is none of the choices {', '.join(numbers)}")
        return Enumeration(numbers[value], value)

    return Hint(kind=c.INVIVO_KIND_INT64, choices=choices, decode=decode, encode=encode)


def place_hint(annotation: Any) -> Hint:
    """What the annotation of a parameter or attribute asks for, also of a value of the configuration."""
    hint = hint_of(annotation)
    is_read = not hint.missing and needs_reader(annotation)
    return dataclasses.replace(hint, annotation=annotation) if is_read else hint


def hint_of(annotation: Any) -> Hint:
    """What an annotation asks for; what it cannot say (a union, a type variable) is INVIVO_KIND_ANY."""
    if annotation is inspect.Parameter.empty:
        return Hint(missing=True)
    if isinstance(annotation, (str, ForwardRef)):
        return Hint(unresolved=annotation if isinstance(annotation, str) else annotation.__forward_arg__)
    if annotation is Any or isinstance(annotation, TypeVar):
        return Hint()
    if annotation is None:
        return Hint(kind=c.INVIVO_KIND_NULL)
    if isinstance(annotation, dataclasses.InitVar):
        return hint_of(annotation.type)
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        inner, *notes = typing.get_args(annotation)
        hint = hint_of(inner)
        for note in notes:
            if isinstance(note, str):
                hint = dataclasses.replace(hint, key=note)
            elif isinstance(note, Named):
                hint = dataclasses.replace(hint, key=note.key)
            elif isinstance(note, Inject) or note is Inject:
                note = note if isinstance(note, Inject) else Inject()
                hint = dataclasses.replace(hint, inject=note, key=note.key or hint.key)
            elif note is Asker or isinstance(note, Asker):
                hint = dataclasses.replace(hint, late="asker")
            elif isinstance(note, Kind):
                hint = dataclasses.replace(hint, kind=note.number)
        return hint
    if origin is typing.Final:
        return hint_of(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        parts = typing.get_args(annotation)
        rest = [part for part in parts if part is not type(None)]
        if len(rest) == 1 and len(rest) < len(parts):
            return _optional(hint_of(rest[0]))
        return Hint(optional=len(rest) < len(parts))
    if origin is typing.Literal:
        kinds = {_SCALARS.get(type(value)) for value in typing.get_args(annotation)}
        kind = kinds.pop() if len(kinds) == 1 else None
        return Hint(kind=c.INVIVO_KIND_ANY if kind is None else kind)
    if hasattr(annotation, "__supertype__"):
        return hint_of(annotation.__supertype__)
    plain = origin if origin is not None else annotation
    if not isinstance(plain, collections.abc.Hashable):  # [int]
        return Hint()
    plain = CLASSES.get(plain, plain)
    late = _late_hint(plain, typing.get_args(annotation))
    if late is not None:
        return late
    if plain in _SCALARS:
        return Hint(kind=_SCALARS[plain])
    if plain in _LISTS:
        return Hint(kind=c.INVIVO_KIND_LIST, decode=_as_tuple if plain is tuple else same)
    if plain in _SETS:
        return Hint(kind=c.INVIVO_KIND_LIST, decode=_as_frozenset if plain is frozenset else _as_set)
    if plain in _MAPS:
        return Hint(kind=c.INVIVO_KIND_MAP)
    if isinstance(plain, type):
        if issubclass(plain, enum.Enum):
            return _enum_hint(plain)
        generic = annotation if origin is not None else None
        if is_protocol(plain) and any("__call__" in vars(each) for each in plain.__mro__ if is_protocol(each)):
            return Hint(wanted=plain, generic=generic)  # a function behaves so too
        return Hint(kind=c.INVIVO_KIND_OBJECT, wanted=None if plain is object else plain, generic=generic)
    return Hint()


_CALLABLES = {collections.abc.Callable, typing.Callable}
RUNTIMES: list[type] = []  # the class of runtimes, which needs this module


def _late_hint(plain: Any, arguments: tuple[Any, ...]) -> Hint | None:
    """A provider, a lazy, a weak reference, all of a type, a resolver or the runtime; None for anything else."""
    if plain is Resolver:
        return Hint(kind=c.INVIVO_KIND_CALLABLE, late="resolver")
    if plain in (Provider, Lazy, Weak):
        item = hint_of(arguments[0]) if arguments else Hint()
        if plain is Lazy:
            return Hint(kind=c.INVIVO_KIND_CALLABLE, late="lazy", item=item, decode=_as_lazy)
        return Hint(kind=c.INVIVO_KIND_CALLABLE, late="weak" if plain is Weak else "provider", item=item)
    if plain in RUNTIMES:
        return Hint(optional=True, late="runtime")
    if not arguments:
        return None
    if plain in _CALLABLES:
        item = hint_of(arguments[-1])
        if item.kind == c.INVIVO_KIND_OBJECT and item.late is None:
            return Hint(kind=c.INVIVO_KIND_CALLABLE, late="provider", item=item)
    elif plain in _LISTS and (plain is not tuple or arguments[1:] == (...,)) and arguments:
        item = hint_of(arguments[0])
        if item.wanted is not None and item.late is None:
            return Hint(kind=c.INVIVO_KIND_LIST, late="all", item=item, decode=_as_tuple if plain is tuple else same)
    elif plain in _SETS:
        item = hint_of(arguments[0])
        if item.wanted is not None and item.late is None:
            return Hint(
                kind=c.INVIVO_KIND_LIST, late="all", item=item, decode=_as_frozenset if plain is frozenset else _as_set
            )
    elif plain in _MAPS and arguments[0] is str:
        item = hint_of(arguments[1])
        if item.wanted is not None and item.late is None:
            return Hint(late="all", item=item, decode=_by_key)
    return None


def _by_key(things: Any) -> Any:
    """All of a type by the keys of their definitions. A map that a definition gives is that."""
    from ._core import key_of

    return {key_of(thing): thing for thing in things} if isinstance(things, list) else things


def _as_lazy(value: Any) -> Any:
    return value if value is None or isinstance(value, Lazy) else Lazy(value)


def _optional(hint: Hint) -> Hint:
    decode = hint.decode
    if decode is same:
        return dataclasses.replace(hint, optional=True)
    return dataclasses.replace(hint, optional=True, decode=lambda value: None if value is None else decode(value))


def is_protocol(cls: type) -> bool:
    return bool(getattr(cls, "_is_protocol", False))


def is_assembly(cls: Any) -> bool:
    """Whether a class is one of assemblies, which need this module."""
    return isinstance(cls, type) and hasattr(cls, "__invivo_name__")


def hints_of(thing: Any, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The annotations of a class or function. One that cannot be resolved stays the text it is written as.

    ``known`` are names that count where the module has none of that name: classes defined inside a function, say.
    """
    try:
        return typing.get_type_hints(thing, localns=_Names(thing, known or {}), include_extras=True)
    except Exception as problem:
        _signals.pass_on(problem)
        found: dict[str, Any] = {}
        for owner in reversed(thing.__mro__) if isinstance(thing, type) else [inspect.unwrap(thing)]:
            space = {**(known or {}), **vars(inspect.getmodule(owner) or builtins_module())}
            for name, annotation in inspect.get_annotations(owner).items():
                found[name] = _evaluated(annotation, space)
        return found


class _Names(Mapping[str, Any]):
    """What names in annotations mean besides those of the module: classes in the class's own body, and, for names that
    the module does not have, what is known. Nothing is copied, for there may be many."""

    def __init__(self, thing: Any, known: Mapping[str, Any]) -> None:
        self.known = known
        if isinstance(thing, type):
            self.bodies = [vars(each) for each in thing.__mro__[:-1]]
            modules = {each.__module__ for each in thing.__mro__[:-1]}
            self.spaces = [vars(sys.modules[each]) for each in modules if each in sys.modules]
        else:
            self.bodies = []
            self.spaces = [getattr(inspect.unwrap(thing), "__globals__", {})]

    def __getitem__(self, name: str) -> Any:
        for body in self.bodies:
            if isinstance(body.get(name), type):
                return body[name]
        if any(name in space for space in self.spaces):
            raise KeyError(name)
        return self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def builtins_module() -> types.ModuleType:

    return builtins


def _evaluated(annotation: Any, space: dict[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, space)  # the author's own annotation, as typing.get_type_hints does
    except Exception as problem:
        _signals.pass_on(problem)
        return annotation


def annotated(what: Any) -> Any:
    """The function whose annotations count: a partial's own, a class's constructor, the call of an object."""
    while isinstance(what, functools.partial):
        what = what.func
    if isinstance(what, type):
        if issubclass(what, tuple) and hasattr(what, "_fields"):
            return what
        made = (getattr(what, name) for name in ("__init__", "__new__"))
        return next((each for each in made if isinstance(each, types.FunctionType)), what)
    if callable(what) and not hasattr(what, "__annotations__"):
        return type(what).__call__
    return what


_OPERATORS = {"__call__", "__iter__", "__next__", "__len__", "__getitem__", "__contains__", "__enter__", "__exit__"}


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
