"""What the author of a class writes: kinds of numbers, tunables, what is injected, and which methods are hooks.

Nothing here calls the library.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar, cast

from . import _generated as c
from .errors import ArgumentError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


def is_class(what: Any) -> bool:
    """Whether it is a class, or a generic one with arguments: ``Repository[User]``."""
    return isinstance(what, type) or isinstance(typing.get_origin(what), type)


@dataclasses.dataclass(frozen=True)
class Kind:
    """In ``Annotated[int, Kind(...)]``: the exact kind of a number. Use the names below."""

    number: int


Int8 = Annotated[int, Kind(c.INVIVO_KIND_INT8)]
Int16 = Annotated[int, Kind(c.INVIVO_KIND_INT16)]
Int32 = Annotated[int, Kind(c.INVIVO_KIND_INT32)]
Int64 = Annotated[int, Kind(c.INVIVO_KIND_INT64)]
UInt8 = Annotated[int, Kind(c.INVIVO_KIND_UINT8)]
UInt16 = Annotated[int, Kind(c.INVIVO_KIND_UINT16)]
UInt32 = Annotated[int, Kind(c.INVIVO_KIND_UINT32)]
UInt64 = Annotated[int, Kind(c.INVIVO_KIND_UINT64)]
Float32 = Annotated[float, Kind(c.INVIVO_KIND_FLOAT)]


class Enumeration(int):
    """A named number of an enumeration that Python has no class for: an ``int`` with a ``name``."""

    name: str | None

    def __new__(cls, number: int, name: str | None = None) -> Enumeration:
        self = super().__new__(cls, number)
        self.name = name
        return self

    def __repr__(self) -> str:
        return f"Enumeration({int(self)}, {self.name!r})"


TUNABLES = "__invivo_tunables__"
MARK = "__invivo__"
COMPONENT = "__invivo_component__"
SHARED = "__invivo_shared__"


@dataclasses.dataclass(frozen=True)
class Tunable:
    """What `tunable` was told."""

    initial: Any
    min: float | None = None
    max: float | None = None
    unit: str | None = None
    step: float | None = None
    choices: tuple[tuple[str, int], ...] = ()
    text: str | None = None
    was: tuple[str, ...] = ()
    restart: bool = False
    read_only: bool = False

    def __set_name__(self, owner: type, name: str) -> None:
        # The class keeps the plain initial value, so that reading and writing cost what they always cost.
        if TUNABLES not in owner.__dict__:
            setattr(owner, TUNABLES, {})
        owner.__dict__[TUNABLES][name] = self
        setattr(owner, name, self.initial)


def tunable(
    initial: T,
    *,
    min: float | None = None,
    max: float | None = None,
    unit: str | None = None,
    step: float | None = None,
    choices: Sequence[str] | Mapping[str, int] | None = None,
    text: str | None = None,
    was: str | Sequence[str] = (),
    restart: bool = False,
    read_only: bool = False,
) -> T:
    """An attribute that specs may change while the program runs. They may change no other: an attribute that is only
    annotated, a field of a dataclass or of a model and a property are set by definitions and the program. A property is
    offered by ``gain = invivo.tunable(property(get_gain, set_gain), max=2)``.

    Specs set the attributes of an object one by one. `View.block` reads them as they are in one generation.

    ``min`` and ``max`` are inclusive, ``step`` is a hint for editors, ``unit`` lets a spec say ``1.2 kHz``, ``choices``
    are the names allowed, ``was`` are former names, ``restart``: a new value takes effect at the next making.
    A spec says the value of a ``bytes`` attribute in base64.
    In the class the attribute is the plain initial value.
    """
    if min is not None and max is not None and not min < max:
        raise ArgumentError(f"tunable: min ({min}) must be less than max ({max})")
    pairs = (
        tuple(choices.items()) if isinstance(choices, Mapping) else tuple((n, i) for i, n in enumerate(choices or ()))
    )
    if pairs and isinstance(initial, str) and initial not in dict(pairs):
        raise ArgumentError(f"tunable: the initial value {initial!r} is not among the choices {', '.join(dict(pairs))}")
    former = (was,) if isinstance(was, str) else tuple(was)
    made = Tunable(initial, min, max, unit, step, pairs, text, former, restart, read_only)
    return cast(T, made)


@dataclasses.dataclass(frozen=True)
class Named:
    """In ``Annotated[T, Named("lead")]``: the key that is meant, in the same assembly or as ``"assembly.name"``."""

    key: str


@dataclasses.dataclass(frozen=True)
class Inject:
    """In ``clock: Annotated[Clock, Inject()]``: the attribute is filled wherever an object of the class is made.

    ``added``, ``removed``: of an attribute that is a list; the names of methods that take one object and are called
    when one comes or goes later, instead of setting the whole list again.
    """

    key: str | None = None
    exact: bool = False
    greedy: bool = False
    added: str | None = None
    removed: str | None = None


class Asker:
    """In ``Annotated[str | None, Asker]``: the key for which the object is made."""


class Injected:
    """The class attribute behind `injected`, until an instance has its own."""

    def __init__(self, mark: Inject) -> None:
        self.mark = mark
        self.name = "?"

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else filled_by[0](self, instance)


filled_by: list[Callable[[Injected, Any], Any]] = []  # by the current runtime, which needs this module


def injected(key: str | None = None, *, exact: bool = False, greedy: bool = False) -> Any:
    """An attribute that is filled wherever an object of the class is made or injected: by its annotation, or by a key.

    What a definition says of it wins. In an object that nobody has injected it is filled when it is first asked for,
    by the current runtime (`current`).
    """
    return Injected(Inject(key, exact, greedy))


def method(function: F) -> F:
    """Makes a method callable from other languages, also without annotations or with a leading underscore."""
    setattr(function, MARK, "method")
    return function


def will_inject(function: F) -> F:
    """The method runs before anything is injected into the object."""
    setattr(function, MARK, "will_inject")
    return function


def did_inject(function: F) -> F:
    """The method runs when everything that was made together with the object is complete, children before parents."""
    setattr(function, MARK, "did_inject")
    return function


def takes_runtime(function: F) -> F:
    """The method gets the runtime, for what the object asks for later.

    When all that was made together with it is complete, after its definition's last hooks and before `did_inject`.
    """
    setattr(function, MARK, "take_runtime")
    return function


def children(function: F) -> F:
    """The method answers what is below the object: for `Runtime.inject_tree`."""
    setattr(function, MARK, "children")
    return function


def injection_key(function: F) -> F:
    """The method answers the key by which the object wants to be injected in a tree, or None."""
    setattr(function, MARK, "key_name")
    return function


def on_prepare(function: F) -> F:
    """The method runs when everything that was made together with the object is complete, before any of it is started.
    It may fail, and has no effect outside."""
    setattr(function, MARK, "prepare")
    return function


def on_start(function: F) -> F:
    """The method runs before anybody else gets the object, after those of what was injected into it."""
    setattr(function, MARK, "start")
    return function


def on_stop(function: F) -> F:
    """The method runs before the object is disposed, and before those of what was injected into it."""
    setattr(function, MARK, "stop")
    return function


@typing.overload
def component(cls: C) -> C: ...
@typing.overload
def component(*, name: str | None = None) -> Callable[[C], C]: ...
def component(cls: C | None = None, *, name: str | None = None) -> C | Callable[[C], C]:
    """Marks a class that an application manifest may name by ``type``: by the class's own name, or by ``name``."""

    def mark(target: C) -> C:
        setattr(target, COMPONENT, name or target.__name__)
        return target

    return mark if cls is None else mark(cls)


def shared(cls: C) -> C:
    """Marks a class whose objects several threads may use at the same time, and those of what derives from it:
    independent ones are started, and stopped, at the same time on threads of their own. A reload does not change them
    while they are in use: where something else goes into one, it is made anew."""
    setattr(cls, SHARED, True)
    return cls


def component_name(cls: type) -> str | None:
    """The name that `component` gave this very class."""
    name = cls.__dict__.get(COMPONENT)
    return name if isinstance(name, str) else None
