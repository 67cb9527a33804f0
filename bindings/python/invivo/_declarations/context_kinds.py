"""The declarations of contexts: their kinds, and keys with a type and a default."""

from __future__ import annotations

import builtins
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

from .._native.strings import listed
from .._values.fields import dataclass
from ..errors import ArgumentError, NullError, WrongTypeError
from .marks import Kind

T = TypeVar("T")
Policy: TypeAlias = Literal["follows"]
MISSING: Any = object()


class ContextKey(Generic[T]):
    """A key of contexts with a type, and perhaps a default::

        WORKERS = invivo.ContextKey("workers", int, default=8)

        context[WORKERS] = 4
        count = context[WORKERS]  # an int, also for type checkers

    A value of another type is refused, also for the plain name of the key. The default is the result of a lookup that
    finds no value. A runtime learns the key when it is first used there.
    """

    __slots__ = ("default", "name", "type")

    def __init__(self, name: str, type: builtins.type[T], /, *, default: T = MISSING) -> None:
        if not isinstance(name, str):
            raise WrongTypeError(f"the name of a context key is a str, not {name!r}")
        if default is None:
            raise NullError(f"the default of the context key {name!r} is None: leave it out, and read by get()")
        self.name = name
        self.type = type
        self.default = default

    @property
    def has_default(self) -> bool:
        return self.default is not MISSING

    @property
    def cls(self) -> builtins.type | None:
        """The class that values must have; None if the type is no class, such as ``int | str``."""
        cls: Any = self.type
        while typing.get_origin(cls) is not None:  # Int32, list[int]
            cls = typing.get_args(cls)[0] if typing.get_origin(cls) is Annotated else typing.get_origin(cls)
        return cls if isinstance(cls, builtins.type) else None

    @property
    def kind(self) -> int | None:
        """The kind of a number with a width, such as `Int32`; None for other types."""
        given = typing.get_args(self.type)[1:] if typing.get_origin(self.type) is Annotated else ()
        return next((each.number for each in given if isinstance(each, Kind)), None)

    def is_same(self, other: ContextKey[Any]) -> bool:
        """Whether another key declares the same."""
        if self is other:
            return True
        return (self.name, self.type) == (other.name, other.type) and (
            self.default is other.default or (self.has_default and other.has_default and self.default == other.default)
        )

    def __repr__(self) -> str:
        return f"<invivo.ContextKey {self.name}>"


Key: TypeAlias = "str | ContextKey[Any]"


def name_of(key: Key) -> str:
    """Returns the name of a key."""
    name = key.name if isinstance(key, ContextKey) else key
    if not isinstance(name, str):
        raise WrongTypeError(f"a key of a context is a str or an invivo.ContextKey, not {key!r}")
    return name


def merged(values: Mapping[Any, Any] | Iterable[tuple[Any, Any]], named: Mapping[str, Any]) -> list[tuple[Key, Any]]:
    """Returns the values of a mapping and of named arguments. A key that has two is an error."""
    found = list(values.items() if isinstance(values, Mapping) else values)
    known = {name_of(key) for key, _ in found}
    for name, value in named.items():
        if name in known:
            raise ArgumentError(f"the key {name!r} has two values", path=name)
        found.append((name, value))
    return found


@dataclass(frozen=True)
class ContextKind:
    """A kind of contexts: ``ContextKind("request", provides=["user"], live=["locale"])``.

    ``provides`` and ``live``: the keys that each context of the kind has from its opening on. A value of ``provides``
    is fixed while the context is open; one of ``live`` may change. ``policy``: how the contexts take part in reloads.
    With "follows", their objects follow reloads.
    """

    name: str
    provides: Iterable[Key] = ()
    live: Iterable[Key] = ()
    policy: Policy = "follows"

    def keys(self) -> list[tuple[Key, bool]]:
        """Returns the keys, each with whether its value may change."""
        fixed = listed(self.provides, "provides=", "['user']")
        return [*((key, False) for key in fixed), *((key, True) for key in listed(self.live, "live=", "['locale']"))]


def kind_of(kind: str | ContextKind) -> ContextKind:
    """Returns a kind. A name stands for one that provides nothing."""
    if isinstance(kind, str):
        return ContextKind(kind)
    if not isinstance(kind, ContextKind):
        raise WrongTypeError(f"a kind of contexts is an invivo.ContextKind or a name, not {kind!r}")
    if kind.policy != "follows":
        raise ArgumentError(f"the policy of the kind {kind.name!r} is {kind.policy!r}: choose 'follows'")
    return kind
