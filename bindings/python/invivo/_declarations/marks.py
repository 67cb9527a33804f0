"""Marks for the author of a class: kinds of numbers, tunables, injected attributes and hooks.

Nothing here calls the library.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar

from .. import _generated as c
from .._values.fields import dataclass
from .._values.kinds import CODECS, Codec
from ..errors import ArgumentError, WrongTypeError
from . import context
from .changes import OnChange

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


def is_class(what: Any) -> bool:
    """Whether it is a class, or a generic one with arguments: ``Repository[User]``."""
    return isinstance(what, type) or isinstance(typing.get_origin(what), type)


@dataclass(frozen=True)
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
TUNABLES = "__invivo_tunables__"
MARK = "__invivo__"
COMPONENT = "__invivo_component__"
SETTINGS = "__invivo_settings__"
SHARED = "__invivo_shared__"
KEEPS_CHILDREN = "__invivo_keeps_children__"


@dataclass(frozen=True)
class Tunable:
    """The arguments of `tunable`."""

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
    codec: Codec = "none"
    secret: bool = False

    def __set_name__(self, owner: type, name: str) -> None:
        # The class keeps the plain initial value, so that reading and writing cost the same as for other attributes.
        if TUNABLES not in owner.__dict__:
            setattr(owner, TUNABLES, {})
        owner.__dict__[TUNABLES][name] = self
        setattr(owner, name, self.initial)


class TunableOptions(TypedDict, total=False):
    """The options of `tunable`."""

    min: float | None
    max: float | None
    unit: str | None
    step: float | None
    choices: Sequence[str] | Mapping[str, int] | None
    text: str | None
    was: str | Sequence[str]
    restart: bool
    read_only: bool
    codec: Codec
    secret: bool


@typing.overload
def tunable(initial: types.EllipsisType, **options: Unpack[TunableOptions]) -> Any: ...
@typing.overload
def tunable(initial: T, **options: Unpack[TunableOptions]) -> T: ...
def tunable(
    initial: Any,
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
    codec: Codec = "none",
    secret: bool = False,
) -> Any:
    """Declares an attribute that specs may change while the program runs.

    Specs may change no other attribute: annotated ones, fields of dataclasses and models, and properties are set by
    definitions and by the program. A property is offered by ``gain = invivo.tunable(property(get_gain, set_gain),
    max=2)``.

    Specs set the attributes of an object one by one. `View.block` reads them as they are in one generation.

    ``min`` and ``max`` are inclusive. ``step`` is a hint for editors. ``unit`` allows a spec to contain ``1.2 kHz``.
    ``choices`` are the allowed names, ``was`` are former names. ``restart``: a new value takes effect when the object
    is created again. ``codec`` is the text form of its values in a spec: ``"decibel"`` for ``-6 dB``, ``"percent"``
    for ``50 %``, ``"duration"`` for ``250 ms``, ``"color"`` for ``#ff8800``, ``"size"`` for ``640 x 480`` and
    ``"point"`` for ``10, 20``. In a spec the value of a ``bytes`` attribute is base64. In the class the attribute is
    the plain initial value. ``secret``: messages do not show its values. ``...`` is for a field of a `Trait` that a
    spec must give.
    """
    if min is not None and max is not None and not min < max:
        raise ArgumentError(f"tunable: min ({min}) must be less than max ({max})")
    if codec not in CODECS:
        raise ArgumentError(f"tunable: the codec {codec!r} is unknown; expected one of {', '.join(CODECS)}")
    if isinstance(choices, str):
        raise WrongTypeError(f"tunable: choices are a list of names, such as ['saw', 'sine'], not {choices!r}")
    pairs = (
        tuple(choices.items()) if isinstance(choices, Mapping) else tuple((n, i) for i, n in enumerate(choices or ()))
    )
    if pairs and isinstance(initial, str) and initial not in dict(pairs):
        raise ArgumentError(f"tunable: the initial value {initial!r} is not among the choices {', '.join(dict(pairs))}")
    former = (was,) if isinstance(was, str) else tuple(was)
    return Tunable(initial, min, max, unit, step, pairs, text, former, restart, read_only, codec, secret)


@dataclass(frozen=True)
class Named:
    """In ``Annotated[T, Named("lead")]``: the key that is meant, in the same assembly or as ``"assembly.name"``."""

    key: str


@dataclass(frozen=True)
class Inject:
    """Marks an attribute, ``clock: Annotated[Clock, Inject()]``, that is injected wherever an object of the class is
    created.

    ``added``, ``removed``: for an attribute that is a list, the names of methods that take one object. They are
    called when an object is added or removed later, instead of setting the whole list again. ``on_change``: how the
    object follows a change of the injected one (`options`). ``owns``: the object is set up again (`on_setup`) when
    the injected one changes.
    """

    key: str | None = None
    exact: bool = False
    greedy: bool = False
    added: str | None = None
    removed: str | None = None
    on_change: OnChange | None = None
    owns: bool = False


class Asker:
    """In ``Annotated[str | None, Asker]``: the key of the definition that requests the object."""


class Injected:
    """The class attribute behind `injected`, until an instance has its own."""

    def __init__(self, mark: Inject) -> None:
        self.mark = mark
        self.name = "?"

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else context.fill(instance, self.name)


def injected(
    key: str | None = None,
    *,
    exact: bool = False,
    greedy: bool = False,
    on_change: OnChange | None = None,
    owns: bool = False,
) -> Any:
    """Declares an attribute that is injected wherever an object of the class is created or injected.

    It is found by its annotation, or by a key. A definition may override it. If no runtime has injected the object, the
    attribute is filled when it is first read, by the current runtime (`current`).
    """
    return Injected(Inject(key, exact, greedy, on_change=on_change, owns=owns))


def method(function: F) -> F:
    """Makes a method callable from other languages, even without annotations or with a leading underscore."""
    setattr(function, MARK, "method")
    return function


def will_inject(function: F) -> F:
    """Marks a method that runs before anything is injected into the object."""
    setattr(function, MARK, "will_inject")
    return function


def did_inject(function: F) -> F:
    """Marks a method that runs when all objects created together are complete, children before parents."""
    setattr(function, MARK, "did_inject")
    return function


def takes_runtime(function: F) -> F:
    """Marks a method that gets the runtime, for objects that are resolved later.

    It runs when all objects created together are complete, after the last hooks of the definition and before
    `did_inject`.
    """
    setattr(function, MARK, "take_runtime")
    return function


def children(function: F) -> F:
    """Marks a method that returns the children of the object, for `Runtime.inject_tree`."""
    setattr(function, MARK, "children")
    return function


def injection_key(function: F) -> F:
    """Marks a method that returns the key by which the object is injected in a tree, or None."""
    setattr(function, MARK, "key_name")
    return function


def parent(function: F) -> F:
    """Marks a method that returns the object in which this one stands, such as its window, or None.

    `Runtime.context_of` follows it to the nearest context. An object that is moved finds its new surroundings.
    """
    setattr(function, MARK, "parent")
    return function


def on_prepare(function: F) -> F:
    """Marks a method that runs when all objects created together are complete, before any of them is started.

    It may fail, and must have no effect outside.
    """
    setattr(function, MARK, "prepare")
    return function


def on_start(function: F) -> F:
    """Marks a method that starts the object before it is available to others, after its dependencies have started."""
    setattr(function, MARK, "start")
    return function


def on_stop(function: F) -> F:
    """Marks a method that stops the object before it is disposed of, and before its dependencies are stopped."""
    setattr(function, MARK, "stop")
    return function


def on_setup(function: F) -> F:
    """Marks a method that sets the object up, after its start, and again when something that belongs to it changes.

    Everything that it registers belongs to the object: undo functions (`effect`), children (`child`, `make_child`) and
    observers. It is undone in reverse order before the method runs again, and when the object ends.
    """
    setattr(function, MARK, "setup")
    return function


def on_teardown(function: F) -> F:
    """Marks a method that runs before the object is set up again or stopped; then its effects are undone."""
    setattr(function, MARK, "teardown")
    return function


def on_refresh(function: F) -> F:
    """Marks a method that runs after a commit in which the object stays, and something that it uses was replaced.

    An exception is a warning of the report.
    """
    setattr(function, MARK, "refresh")
    return function


def on_finalize(function: F) -> F:
    """Marks a method for values that depend on other values.

    It runs after `on_setup` and `on_refresh`, and after a commit that set properties of the object.
    """
    setattr(function, MARK, "finalize")
    return function


def keeps_children(cls: C) -> C:
    """Marks a class whose objects are not set up again when their children change. They are refreshed instead."""
    setattr(cls, KEEPS_CHILDREN, True)
    return cls


@typing.overload
def component(cls: C) -> C: ...


@typing.overload
def component(*, name: str | None = None) -> Callable[[C], C]: ...


def component(cls: C | None = None, *, name: str | None = None) -> C | Callable[[C], C]:
    """Marks a class that an application manifest may name as ``type``: by the name of the class, or by ``name``."""
    return _named(COMPONENT, cls, name)


@typing.overload
def settings_type(cls: C) -> C: ...


@typing.overload
def settings_type(*, name: str | None = None) -> Callable[[C], C]: ...


def settings_type(cls: C | None = None, *, name: str | None = None) -> C | Callable[[C], C]:
    """Marks a class that an application manifest may name under ``settings``: by its name, or by ``name``.

    The class is a dataclass, a pydantic model or another class that `Runtime.bind_settings` accepts.
    """

    return _named(SETTINGS, cls, name)


def _named(mark: str, cls: C | None, name: str | None) -> C | Callable[[C], C]:
    """Gives a class a name for manifests, or returns the decorator that does."""

    def give(target: C) -> C:
        setattr(target, mark, name or target.__name__)
        return target

    return give if cls is None else give(cls)


def shared(cls: C) -> C:
    """Marks a class whose objects, and those of its subclasses, several threads may use at the same time.

    Independent objects are started and stopped concurrently on threads of their own. A reload does not change them
    while they are in use: if one of their dependencies changes, they are rebuilt.
    """
    setattr(cls, SHARED, True)
    return cls


def component_name(cls: type) -> str | None:
    """Returns the name that `component` gave to this very class."""
    return cls.__dict__.get(COMPONENT)


def settings_name(cls: type) -> str | None:
    """Returns the name that `settings_type` gave to this very class."""
    return cls.__dict__.get(SETTINGS)
