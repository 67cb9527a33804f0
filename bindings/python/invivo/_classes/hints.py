"""Hints: the value that an annotation demands.

Nothing here calls the library.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, ForwardRef, Literal, TypeVar

from .. import _generated as c
from .._declarations.from_context import FromContextMark
from .._declarations.marks import Asker, Inject, Kind, Named
from .._declarations.references import Lazy, Provider, Resolver, Weak
from .._declarations.secrets import has_secret
from .._native.session import key_of
from .._values.enumeration import Enumeration
from .._values.exact import wrapped
from .._values.fields import dataclass
from .._values.kinds import enum_number
from .._values.members import Members, nearest
from ..errors import RangeError, WrongTypeError
from .annotations import CLASSES, is_protocol, is_runtime
from .configured import needs_reader


def same(value: Any) -> Any:
    return value


Late = Literal["provider", "lazy", "weak", "all", "resolver", "asker", "runtime"]

# Deferred references, which resolve their target when they are called.
LATE: dict[str, int] = {
    "provider": c.INVIVO_INJECT_PROVIDER,
    "lazy": c.INVIVO_INJECT_LAZY,
    "weak": c.INVIVO_INJECT_WEAK,
}


@dataclass(frozen=True)
class Hint:
    """The value that an annotation demands."""

    kind: int = c.INVIVO_KIND_ANY
    optional: bool = False
    wanted: type | None = None  # a class whose instances are wanted
    key: str | None = None  # Annotated[T, "key"]
    choices: tuple[tuple[str, int], ...] = ()
    decode: Callable[[Any], Any] = same  # from the value that crossed to that of the attribute or parameter
    encode: Callable[[Any], Any] = same
    late: Late | None = None  # the demanded value is not the object itself, but this
    item: Hint | None = None  # the hint of its target
    inject: Inject | None = None
    context: FromContextMark | None = None  # the value is one of a context
    generic: Any = None  # Repository[User], if `wanted` is its class
    unresolved: str | None = None  # an annotation that is a string and cannot be resolved
    missing: bool = False  # there is no annotation
    is_listed: bool = False  # a tuple or set crosses as a list, as those of properties do
    secret: bool = False  # errors do not show its values
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


def crossing_kind(hint: Hint) -> int:
    """Returns the kind of a parameter for the library. A tuple or set crosses as an object."""
    is_whole = hint.kind == c.INVIVO_KIND_LIST and hint.decode is not same and not hint.is_listed
    return c.INVIVO_KIND_ANY if is_whole else hint.kind


def for_python(
    value: Any, hint: Hint | None, *, whole: bool = False, is_same: bool = False, is_argument: bool = False
) -> Any:
    """Returns a value in the form in which it crosses to a Python receiver.

    ``whole``: the receiver is a function, whose parameters the library does not know. Then a parameter that is
    annotated as a list or map may get any object.
    """
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


def _enum_hint(cls: type[enum.Enum]) -> Hint:
    numbered = {member.name: enum_number(member) for member in cls}
    if len(set(numbered.values())) < len(numbered):  # the index of one is the value of another
        numbered = {member.name: index for index, member in enumerate(cls)}
    members = Members(cls)
    choices = members.choices(numbered)
    numbers = {number: cls[name] for name, number in numbered.items()}
    known = dict(choices)
    words = {number: word for word, number in reversed(choices)}

    def decode(value: Any) -> Any:
        if isinstance(value, cls):
            return value
        if isinstance(value, Enumeration):
            word = value.name
            if word is not None and known.get(word) == int(value):
                return members.find(word)
            found = numbers.get(int(value)) if word is None else cls.__members__.get(word)
        else:
            found = members.find(value)
            if found is None and type(value) is int:
                found = numbers.get(value)
        if found is not None:
            return found
        kind = RangeError if isinstance(value, (int, str)) else WrongTypeError
        near = nearest(value, members.words)
        raise kind(f"expected a {cls.__name__}, one of {members.accepted}, got {value!r}{near}")

    def encode(value: Any) -> Any:
        number = numbered.get(value.name) if isinstance(value, cls) else None
        return value if number is None else Enumeration(number, words[number])

    is_plain = all(words[number] == name for name, number in numbered.items())
    return Hint(kind=c.INVIVO_KIND_INT64, choices=choices, decode=decode, encode=same if is_plain else encode)


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
    """Returns the hint of a parameter or attribute, which may also get a value of the configuration."""
    hint = hint_of(annotation)
    if has_secret(annotation):
        hint = dataclasses.replace(hint, secret=True)
    is_read = not hint.missing and needs_reader(annotation)
    return dataclasses.replace(hint, annotation=annotation) if is_read else hint


def hint_of(annotation: Any) -> Hint:
    """Returns the hint of an annotation. One without an exact kind (a union, a type variable) is INVIVO_KIND_ANY."""
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
            elif isinstance(note, FromContextMark) or note is FromContextMark:
                mark = note if isinstance(note, FromContextMark) else FromContextMark()
                hint = dataclasses.replace(hint, context=mark, inject=hint.inject or Inject())
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


def _late_hint(plain: Any, arguments: tuple[Any, ...]) -> Hint | None:
    """Returns the hint of a deferred reference, of all objects of a type, a resolver or the runtime; else None."""
    if plain is Resolver:
        return Hint(kind=c.INVIVO_KIND_CALLABLE, late="resolver")
    if plain in (Provider, Lazy, Weak):
        item = hint_of(arguments[0]) if arguments else Hint()
        if plain is Lazy:
            return Hint(kind=c.INVIVO_KIND_CALLABLE, late="lazy", item=item, decode=_as_lazy)
        return Hint(kind=c.INVIVO_KIND_CALLABLE, late="weak" if plain is Weak else "provider", item=item)
    if is_runtime(plain):
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
    """Returns all objects of a type by the keys of their definitions. A map that a definition provides is kept."""
    return {key_of(thing): thing for thing in things} if isinstance(things, list) else things


def _as_lazy(value: Any) -> Any:
    return value if value is None or isinstance(value, Lazy) else Lazy(value)


def _optional(hint: Hint) -> Hint:
    decode = hint.decode
    if decode is same:
        return dataclasses.replace(hint, optional=True)
    return dataclasses.replace(hint, optional=True, decode=lambda value: None if value is None else decode(value))
