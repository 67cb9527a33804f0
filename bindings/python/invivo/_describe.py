"""What a Python class tells of itself: parameters, properties and methods, read from annotations.

Nothing here calls the library.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast

from . import _generated as c
from ._recipes import Lazy, Provider, Resolver
from .errors import ArgumentError, RangeError, WrongTypeError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

KIND_NAMES: dict[int, str] = {number: name.removeprefix("INVIVO_KIND_").lower() for name, number in c.KINDS}


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


# ---- what the author of a class writes -----------------------------------------------------------------

_TUNABLES = "__invivo_tunables__"
_MARK = "__invivo__"
_COMPONENT = "__invivo_component__"
_SHARED = "__invivo_shared__"


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
        if _TUNABLES not in owner.__dict__:
            setattr(owner, _TUNABLES, {})
        owner.__dict__[_TUNABLES][name] = self
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
    """An attribute that specs may change while the program runs.

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
    setattr(function, _MARK, "method")
    return function


def will_inject(function: F) -> F:
    """The method runs before anything is injected into the object."""
    setattr(function, _MARK, "will_inject")
    return function


def did_inject(function: F) -> F:
    """The method runs when everything that was made together with the object is complete, children before parents."""
    setattr(function, _MARK, "did_inject")
    return function


def takes_runtime(function: F) -> F:
    """The method gets the runtime, for what the object asks for later.

    When all that was made together with it is complete, after its definition's last hooks and before `did_inject`.
    """
    setattr(function, _MARK, "take_runtime")
    return function


def children(function: F) -> F:
    """The method answers what is below the object: for `Runtime.inject_tree`."""
    setattr(function, _MARK, "children")
    return function


def injection_key(function: F) -> F:
    """The method answers the key by which the object wants to be injected in a tree, or None."""
    setattr(function, _MARK, "key_name")
    return function


def on_prepare(function: F) -> F:
    """The method runs when everything that was made together with the object is complete, before any of it is started.
    It may fail, and has no effect outside."""
    setattr(function, _MARK, "prepare")
    return function


def on_start(function: F) -> F:
    """The method runs before anybody else gets the object, after those of what was injected into it."""
    setattr(function, _MARK, "start")
    return function


def on_stop(function: F) -> F:
    """The method runs before the object is disposed, and before those of what was injected into it."""
    setattr(function, _MARK, "stop")
    return function


@typing.overload
def component(cls: C) -> C: ...
@typing.overload
def component(*, name: str | None = None) -> Callable[[C], C]: ...
def component(cls: C | None = None, *, name: str | None = None) -> C | Callable[[C], C]:
    """Marks a class that an application manifest may name by ``type``: by the class's own name, or by ``name``."""

    def mark(target: C) -> C:
        setattr(target, _COMPONENT, name or target.__name__)
        return target

    return mark if cls is None else mark(cls)


def shared(cls: C) -> C:
    """Marks a class whose objects several threads may use at the same time, and those of what derives from it:
    independent ones are started, and stopped, at the same time on threads of their own. A reload does not change them
    while they are in use: where something else goes into one, it is made anew."""
    setattr(cls, _SHARED, True)
    return cls


def component_name(cls: type) -> str | None:
    """The name that `component` gave this very class."""
    name = cls.__dict__.get(_COMPONENT)
    return name if isinstance(name, str) else None


# ---- what is read from it ------------------------------------------------------------------------------


def same(value: Any) -> Any:
    return value


Late = Literal["provider", "lazy", "all", "resolver", "asker", "runtime"]


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


@dataclasses.dataclass(frozen=True)
class Parameter:
    name: str
    hint: Hint
    has_default: bool
    keyword: bool  # passed by name

    @property
    def optional(self) -> bool:
        return self.has_default or self.hint.optional


@dataclasses.dataclass(frozen=True)
class Property:
    name: str
    hint: Hint
    tunable: Tunable
    read_only: bool

    def read(self, instance: Any) -> Any:
        return self.hint.encode(getattr(instance, self.name))

    def write(self, instance: Any, value: Any) -> None:
        setattr(instance, self.name, self.hint.decode(value))

    def hold(self, instance: Any) -> Any:
        return getattr(instance, self.name)

    def put_back(self, instance: Any, held: Any) -> None:
        setattr(instance, self.name, held)


@dataclasses.dataclass(frozen=True)
class Method:
    name: str
    text: str | None
    parameters: tuple[Parameter, ...]
    result: Hint


@dataclasses.dataclass(frozen=True)
class Description:
    cls: type
    name: str
    text: str | None
    supertypes: tuple[type, ...]
    parameters: tuple[Parameter, ...]
    properties: tuple[Property, ...]
    methods: tuple[Method, ...]
    start: str | None = None
    stop: str | None = None
    will_inject: str | None = None
    did_inject: str | None = None
    children: str | None = None
    key_name: str | None = None
    prepare: str | None = None
    take_runtime: str | None = None
    shared: bool = False

    @property
    def injected(self) -> tuple[Property, ...]:
        return tuple(each for each in self.properties if each.hint.inject is not None)

    @property
    def tunables(self) -> dict[str, Property]:
        return {each.name: each for each in self.properties}


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
_INTEGERS = range(c.INVIVO_KIND_INT8, c.INVIVO_KIND_UINT64 + 1)


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
        if name is not None:
            if name in names:
                return names[name]
        elif isinstance(value, int) and int(value) in numbers:
            return numbers[int(value)]
        elif not isinstance(value, int):
            raise WrongTypeError(f"a {cls.__name__} is wanted, one of {', '.join(names)}; this is {value!r}")
        raise RangeError(f"{value!r} is not a {cls.__name__}: it is one of {', '.join(names)}")

    return Hint(kind=c.INVIVO_KIND_INT64, choices=choices, decode=decode)


def _choice_hint(choices: tuple[tuple[str, int], ...]) -> Hint:
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


def hint_of(annotation: Any) -> Hint:
    """What an annotation asks for; what it cannot say (a union, a type variable) is INVIVO_KIND_ANY."""
    if annotation is inspect.Parameter.empty or annotation is Any or isinstance(annotation, (str, TypeVar)):
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
    late = _late_hint(plain, typing.get_args(annotation))
    if late is not None:
        return late
    if plain in _SCALARS:
        return Hint(kind=_SCALARS[plain])
    if plain in _LISTS:
        return Hint(kind=c.INVIVO_KIND_LIST, decode=tuple if plain is tuple else same)
    if plain in _SETS:
        return Hint(kind=c.INVIVO_KIND_LIST, decode=frozenset if plain is frozenset else set)
    if plain in _MAPS:
        return Hint(kind=c.INVIVO_KIND_MAP)
    if isinstance(plain, type):
        if issubclass(plain, enum.Enum):
            return _enum_hint(plain)
        generic = annotation if origin is not None else None
        return Hint(kind=c.INVIVO_KIND_OBJECT, wanted=None if plain is object else plain, generic=generic)
    return Hint()


_CALLABLES = {collections.abc.Callable, typing.Callable}
_RUNTIME: list[type] = []  # the class of runtimes, which needs this module


def _late_hint(plain: Any, arguments: tuple[Any, ...]) -> Hint | None:
    """A provider, a lazy, all of a type, a resolver or the runtime; None for anything else."""
    if plain is Resolver:
        return Hint(kind=c.INVIVO_KIND_CALLABLE, late="resolver")
    if plain is Provider or plain is Lazy:
        item = hint_of(arguments[0]) if arguments else Hint()
        if plain is Lazy:
            return Hint(kind=c.INVIVO_KIND_CALLABLE, late="lazy", item=item, decode=_as_lazy)
        return Hint(kind=c.INVIVO_KIND_CALLABLE, late="provider", item=item)
    if plain in _RUNTIME:
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
            return Hint(kind=c.INVIVO_KIND_LIST, late="all", item=item, decode=tuple if plain is tuple else same)
    elif plain in _SETS:
        item = hint_of(arguments[0])
        if item.wanted is not None and item.late is None:
            return Hint(kind=c.INVIVO_KIND_LIST, late="all", item=item, decode=frozenset if plain is frozenset else set)
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


def hints_of(thing: Any, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The annotations of a class or function. One that cannot be resolved stays the text it is written as.

    ``known`` are names that count besides those of the module: classes defined inside a function, say.
    """
    try:
        # As it is, for there may be many; annotations are evaluated in it, and write nothing.
        return typing.get_type_hints(thing, localns=known or {}, include_extras=True)
    except Exception:
        found: dict[str, Any] = {}
        for owner in reversed(thing.__mro__) if isinstance(thing, type) else [inspect.unwrap(thing)]:
            space = dict(vars(inspect.getmodule(owner) or builtins_module()))
            space.update(known or {})
            for name, annotation in inspect.get_annotations(owner).items():
                found[name] = _evaluated(annotation, space)
        return found


def builtins_module() -> types.ModuleType:
    import builtins

    return builtins


def _evaluated(annotation: Any, space: dict[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, space)  # the author's own annotation, as typing.get_type_hints does
    except Exception:
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


def parameters_of(function: Any, known: Mapping[str, Any] | None = None, *, bound: bool) -> tuple[Parameter, ...]:
    """The parameters of a function; ``bound`` leaves out the first one. ``*rest`` and ``**rest`` are passed over."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ()
    hints = hints_of(annotated(function), known)
    found = []
    for parameter in list(signature.parameters.values())[1 if bound else 0 :]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        hint = hint_of(hints.get(parameter.name, parameter.annotation))
        if hint.choices:  # an enumeration comes as a name, a number or an enumeration: its class is known here alone
            hint = dataclasses.replace(hint, kind=c.INVIVO_KIND_ANY, choices=())
        has_default = parameter.default is not parameter.empty
        found.append(Parameter(parameter.name, hint, has_default, parameter.kind is parameter.KEYWORD_ONLY))
    return tuple(found)


def constructor_of(cls: type, known: Mapping[str, Any] | None = None) -> tuple[Parameter, ...]:
    """The parameters of a class's constructor."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):  # a named tuple: its class has the annotations
        return parameters_of(cls, known, bound=False)
    for name in ("__init__", "__new__"):
        function = getattr(cls, name)
        if isinstance(function, types.FunctionType):
            return parameters_of(function, known, bound=True)
    return ()


def call(function: Any, parameters: Sequence[Parameter], arguments: Sequence[Any], *first: Any) -> Any:
    """Calls with arguments in the order of the parameters. A null for a parameter with a default means the default."""
    positional, named = list(first), dict[str, Any]()
    by_name = False
    for index, value in enumerate(arguments):
        if index >= len(parameters):
            positional.append(value)
            continue
        parameter = parameters[index]
        if value is None and parameter.has_default:
            by_name = True
            continue
        value = parameter.hint.decode(value)
        if parameter.keyword or by_name:
            named[parameter.name] = value
        else:
            positional.append(value)
    return function(*positional, **named)


_OUTSIDE = {object, typing.Generic, typing.Protocol}


def describe(cls: type, known: Mapping[str, Any] | None = None, name: str | None = None) -> Description:
    """Reads a class."""
    tunables: dict[str, Tunable] = {}
    members: dict[str, Any] = {}
    for owner in reversed(cls.__mro__):
        if owner.__module__ in ("builtins", "typing", "abc"):
            continue
        tunables.update(owner.__dict__.get(_TUNABLES, {}))
        members.update(owner.__dict__)
    marked: dict[str, str] = {}
    methods = []
    properties: dict[str, Property] = {}
    hints = hints_of(cls, known)
    constants = _constants(cls)
    for attribute, annotation in hints.items():
        if _is_class_level(annotation) or isinstance(members.get(attribute), property):
            continue
        member = members.get(attribute)
        if isinstance(member, Injected):
            annotation, member = Annotated[annotation, member.mark], None
        if attribute.startswith("_") and not _is_injected(annotation):
            continue
        said = tunables.get(attribute, Tunable(member))
        final = attribute in constants or _is_final(annotation)
        properties[attribute] = _property(attribute, annotation, said, final=final)
    for attribute, said in tunables.items():
        if attribute not in properties:
            if said.initial is None:
                raise ArgumentError(
                    f"{cls.__name__}.{attribute}: tunable(None) does not say what it holds; annotate it, as in "
                    f"'{attribute}: str | None = tunable(None)'"
                )
            properties[attribute] = _property(attribute, type(said.initial), said)
    for attribute, member in members.items():
        if isinstance(member, property):
            if attribute.startswith("_") or member.fget is None:
                continue
            annotation = hints_of(member.fget, known).get("return")
            if annotation is not None:
                properties[attribute] = _property(attribute, annotation, Tunable(None), final=member.fset is None)
        elif isinstance(member, types.FunctionType):
            mark = getattr(member, _MARK, None)
            if mark in (
                "prepare",
                "start",
                "stop",
                "will_inject",
                "take_runtime",
                "did_inject",
                "children",
                "key_name",
            ):
                check_hook(member)
                marked[mark] = attribute
            elif mark == "method" or (not attribute.startswith("_") and member.__annotations__):
                methods.append(_method(attribute, member, known))
    supertypes = tuple(each for each in cls.__mro__[1:] if each not in _OUTSIDE and each.__module__ not in ("abc",))
    return Description(
        cls=cls,
        name=name or component_name(cls) or cls.__name__,
        text=_first_line(cls.__dict__.get("__doc__")),
        supertypes=supertypes,
        parameters=constructor_of(cls, known),
        properties=tuple(properties.values()),
        methods=tuple(methods),
        shared=getattr(cls, _SHARED, False) is True,
        **marked,
    )


def check_hook(function: Any) -> None:
    """What is called and not waited for cannot be a coroutine: nothing would happen."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ArgumentError(
            f"{function.__qualname__}() is asynchronous, and nobody would await it: hooks and methods of definitions "
            "are called at once. Make one that begins its work, and await that where it is used",
            file=function.__code__.co_filename,
            line=function.__code__.co_firstlineno,
        )


def _property(name: str, annotation: Any, said: Tunable, *, final: bool = False) -> Property:
    hint = hint_of(annotation)
    if said.choices:
        hint = _choice_hint(said.choices) if hint.kind in (c.INVIVO_KIND_STRING, c.INVIVO_KIND_ANY) else hint
        if not hint.choices:
            if hint.kind not in _INTEGERS:
                raise ArgumentError(f"{name}: choices are for str, int and Enum attributes, not {annotation!r}")
            hint = dataclasses.replace(hint, choices=said.choices, decode=int)
    if hint.optional and not hint.choices:
        hint = dataclasses.replace(hint, kind=c.INVIVO_KIND_ANY)
    return Property(name, hint, said, read_only=said.read_only or final)


def _method(name: str, function: types.FunctionType, known: Mapping[str, Any] | None) -> Method:
    result = hint_of(hints_of(function, known).get("return", Any))
    if result.optional or result.choices:
        result = Hint()
    parameters = parameters_of(function, known, bound=True)
    return Method(name, _first_line(function.__doc__), parameters, result)


def _constants(cls: type) -> Iterable[str]:
    """The attributes that nobody can set: the fields of a frozen dataclass and of a named tuple."""
    if issubclass(cls, tuple):
        return getattr(cls, "_fields", ())
    said = getattr(cls, "__dataclass_params__", None)
    if dataclasses.is_dataclass(cls) and said is not None and said.frozen:
        return {each.name for each in dataclasses.fields(cls)}
    return ()


def _is_class_level(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.replace("typing.", "").startswith(("ClassVar", "InitVar"))
    return (
        annotation is ClassVar
        or typing.get_origin(annotation) is ClassVar
        or isinstance(annotation, dataclasses.InitVar)
    )


def _is_injected(annotation: Any) -> bool:
    return typing.get_origin(annotation) is Annotated and hint_of(annotation).inject is not None


def _is_final(annotation: Any) -> bool:
    return annotation is typing.Final or typing.get_origin(annotation) is typing.Final


def _first_line(text: Any) -> str | None:
    return text.strip().split("\n", 1)[0] if isinstance(text, str) and text.strip() else None
