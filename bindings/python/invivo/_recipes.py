"""Recipes: what is said of an object before it is made.

To a type checker a recipe is the object that it stands for, so that names, arguments and types are checked where they
are written. At run time it only remembers what was said; `_wiring` turns that into a definition.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast, overload

from . import _generated as c
from ._managed import Existing
from ._marks import is_class
from .errors import ArgumentError, ExistsError, PropertyError

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Scope = Literal["graph", "prototype", "lazy_singleton", "singleton", "weak_singleton", "thread", "context"] | str
Hidden = bool | Literal["class", "interface"]


class Provider(Generic[T_co]):
    """Makes or finds a ``T`` each time it is called; its arguments are those of the definition behind it."""

    def __call__(self, *arguments: Any) -> T_co:
        raise TypeError("an invivo.Provider comes from a runtime: annotate a parameter or an attribute with it")


class Lazy(Generic[T_co]):
    """A ``T`` that is resolved when it is first asked for, and again when a reload has changed it."""

    __slots__ = ("_resolve",)

    def __init__(self, resolve: Callable[[], T_co]) -> None:
        self._resolve = resolve

    @property
    def value(self) -> T_co:
        return self._resolve()

    def __call__(self) -> T_co:
        return self._resolve()

    def __repr__(self) -> str:
        return "<invivo.Lazy>"


class Weak(Generic[T_co]):
    """Answers the ``T`` that there is when it is called, None when there is none; its arguments are those of the
    definition behind it. It makes nothing and keeps nothing alive."""

    def __call__(self, *arguments: Any) -> T_co | None:
        raise TypeError("an invivo.Weak comes from a runtime: annotate a parameter or an attribute with it")


class Resolver:
    """Resolves the key that it is called with; further arguments are passed on."""

    def __call__(self, key: str, *arguments: Any) -> Any:
        raise TypeError("an invivo.Resolver comes from a runtime: annotate a parameter or an attribute with it")


# ---- what was said -------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class Ref:
    """What a key, or the definition of a class, resolves to."""

    to: str | type
    arguments: tuple[Any, ...] = ()
    optional: bool = False
    exact: bool = False
    greedy: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class All:
    of: type
    exact: bool = False
    added: str | None = None
    removed: str | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Argument:
    """A runtime argument of the member that is described."""

    index: int
    name: str


@dataclasses.dataclass(frozen=True, eq=False)
class Arguments: ...


@dataclasses.dataclass(frozen=True, eq=False)
class Path:
    """The property at a path of another object."""

    start: Recipe
    names: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Late:
    """A callable that asks for its target when it is called."""

    target: Any
    kind: Literal["provider", "lazy", "weak"]


_MISSING: Any = object()


@dataclasses.dataclass(frozen=True, eq=False)
class Config:
    """What the configuration says at a path."""

    path: str
    default: Any = _MISSING
    optional: bool = False

    @property
    def has_default(self) -> bool:
        return self.default is not _MISSING


@dataclasses.dataclass(frozen=True, eq=False)
class Entry:
    """What the entry says for which a definition is, or (path None) its name."""

    path: str | None
    default: Any = _MISSING
    optional: bool = False

    @property
    def has_default(self) -> bool:
        return self.default is not _MISSING


@dataclasses.dataclass(frozen=True, eq=False)
class Text:
    """A text that a converter reads."""

    text: Any
    converter: str | type | None


@dataclasses.dataclass(frozen=True, eq=False)
class Choice:
    """What the first option is that fits what the chooser gives."""

    chooser: Any
    options: tuple[tuple[int, Any, Any], ...]  # when, value or class, what it then is


@dataclasses.dataclass(frozen=True, eq=False)
class Own:
    what: Literal["resolver", "asker"]


@dataclasses.dataclass(frozen=True, eq=False)
class Constant:
    value: Any


@dataclasses.dataclass(frozen=True, eq=False)
class MadeBy:
    """What a method of another object answers."""

    start: Recipe
    method: str
    arguments: tuple[Any, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """A method, or any function of the object, called while the object is made."""

    what: str | Callable[..., Any]
    positional: tuple[Any, ...] = ()
    named: Mapping[str, Any] = dataclasses.field(default_factory=dict)


Hook = str | Callable[[Any], Any] | Call


@dataclasses.dataclass(frozen=True)
class Options:
    """What a definition says besides how its object is made.

    ``rank``: higher comes first in lists and wins lookups by type. ``hidden``: not found by type, or only not by its
    ``"class"``, or by what it is besides (``"interface"``). ``abstract``: for children only. ``nullable``: its factory
    may answer None. ``before``, ``after``: run before and after the injection; ``after_all``: when everything that the
    outermost resolve makes is complete, children before parents. Each is the name of a method, a function of the
    object, a `call`, or several of them. ``inject`` injects by code, between the methods and ``after``. ``each``: a
    path of the configuration; there is then one object's definition for each entry of the map or list there, with the
    key ``assembly.name[entry]``, and `entry` and `entry_name` say what goes into it.
    ``exclusive``: there can be only one at a time, taken in `on_start` and given back in `on_stop`; a reload stops the
    former one before it makes the new one. ``waits``: lies dormant while something that it needs (a
    definition, a value of the configuration, the type it names) is not there.
    ``type``: the class that is made, where no annotation says it. ``tracked``: prototypes into which a reload injects
    what is new. ``start_timeout``, ``stop_timeout``: seconds that its objects may take, None as the runtime says.
    """

    rank: int = 0
    hidden: Hidden = False
    abstract: bool = False
    nullable: bool = False
    before: tuple[Hook, ...] = ()
    after: tuple[Hook, ...] = ()
    after_all: tuple[Hook, ...] = ()
    inject: Callable[[Any], Any] | None = None
    each: str | None = None
    exclusive: bool = False
    waits: bool = False
    tracked: bool = False
    start_timeout: float | None = None
    stop_timeout: float | None = None
    type: builtins.type[Any] | None = None


def options(
    *,
    rank: int = 0,
    hidden: Hidden = False,
    abstract: bool = False,
    nullable: bool = False,
    before: Hook | tuple[Hook, ...] | list[Hook] = (),
    after: Hook | tuple[Hook, ...] | list[Hook] = (),
    after_all: Hook | tuple[Hook, ...] | list[Hook] = (),
    inject: Callable[[Any], Any] | None = None,
    each: str | None = None,
    exclusive: bool = False,
    waits: bool = False,
    tracked: bool = False,
    start_timeout: float | None = None,
    stop_timeout: float | None = None,
    type: builtins.type[Any] | None = None,
) -> Options:
    """`Options`, with a single hook where there is only one."""

    def several(given: Hook | tuple[Hook, ...] | list[Hook]) -> tuple[Hook, ...]:
        return tuple(given) if isinstance(given, (tuple, list)) else (given,)

    return Options(
        rank,
        hidden,
        abstract,
        nullable,
        several(before),
        several(after),
        several(after_all),
        inject,
        each,
        exclusive,
        waits,
        tracked,
        start_timeout,
        stop_timeout,
        type,
    )


class Draft:
    """A definition that is being described."""

    def __init__(
        self,
        what: Any,
        positional: tuple[Any, ...],
        named: Mapping[str, Any],
        place: tuple[str, int],
        *,
        parent: Recipe | None = None,
    ) -> None:
        while isinstance(what, functools.partial) and any(map(holds_recipe, (*what.args, *what.keywords.values()))):
            what, positional, named = what.func, (*what.args, *positional), {**what.keywords, **named}
        refuse_recipes_inside(what)
        self.what, self.positional, self.named, self.parent = what, positional, dict(named), parent
        self.file, self.line = place
        self.properties: dict[str, tuple[Any, int]] = {}
        self.calls: list[Call] = []
        self.layer = 0  # one more for each override that goes on describing it
        self.scope: Scope | None = None
        self.options: Options | None = None
        self.managed = False
        self.wires = False  # what is not given is found by annotations, also where there is a default

    def set(self, name: str, thing: Any) -> None:
        former = self.properties.get(name)
        if former is not None and former[1] == self.layer:
            raise ExistsError(f"the property {name!r} is set twice", path=name, file=self.file, line=self.line)
        self.properties[name] = thing, self.layer


def holds_recipe(thing: Any) -> bool:
    return isinstance(thing, Recipe) or (isinstance(thing, (list, tuple, set)) and any(map(holds_recipe, thing)))


def refuse_recipes_inside(thing: Any, place: Mapping[str, Any] | None = None) -> None:
    """A recipe inside of a function or an object would stay one: only what a definition is given becomes an object."""
    found: Iterable[tuple[str, Any]] = ()
    advice = "give it as an argument"
    if isinstance(thing, types.FunctionType):
        code, cells = thing.__code__, thing.__closure__ or ()
        place = {"file": code.co_filename, "line": code.co_firstlineno, **(place or {})}
        found = [*zip(code.co_freevars, map(_content, cells), strict=False)]
        found += [("a default", each) for each in (*(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values())]
        advice = "give it as an argument: invivo.new(function, ...)"
    elif isinstance(thing, functools.partial):
        found = [(f"argument {index}", each) for index, each in enumerate(thing.args)]
        found += list(thing.keywords.items())
        advice = "describe the call: invivo.new(function, ...)"
    elif not isinstance(thing, (Recipe, type)):
        try:
            found = list(vars(thing).items())
        except TypeError:
            return
        advice = f"describe the object: invivo.new({type(thing).__name__}, ...)"
    for name, each in found:
        if holds_recipe(each):
            shown = getattr(thing, "__qualname__", None) or type(thing).__name__
            message = f"{shown} holds {each!r} ({name}), and would never get the object; {advice}"
            raise ArgumentError(message, **(place or {}))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


# ---- what is handed to the author ----------------------------------------------------------------------


class Recipe:
    """What stands for an object while definitions are described."""

    __slots__ = ("__weakref__", "_node")

    _node: Any

    def __init__(self, node: Any) -> None:
        object.__setattr__(self, "_node", node)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        node = self._node
        if isinstance(node, Draft):
            return Step(self, name)
        if isinstance(node, Path):
            return Recipe(Path(node.start, (*node.names, name)))
        return Recipe(Path(self, (name,)))

    def __setattr__(self, name: str, thing: Any) -> None:
        node = self._node
        if not isinstance(node, Draft):
            raise PropertyError(
                f"{self!r} is described elsewhere: set {name!r} there, or describe another one with invivo.new()",
                path=name,
            )
        node.set(name, thing)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a recipe's {name!r} cannot be deleted")

    def __call__(self, *positional: Any, **named: Any) -> Any:
        node = self._node
        if not isinstance(node, Path):
            raise TypeError(f"{self!r} is a recipe, and cannot be called")
        start = node.start if len(node.names) == 1 else Recipe(Path(node.start, node.names[:-1]))
        return Recipe(MadeBy(start, node.names[-1], (*positional, *named.values())))

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} is a recipe, not the object itself: what it will be is not known yet")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self!r} is a recipe, not the object itself: it cannot be iterated over")

    def __format__(self, _: str) -> str:
        raise TypeError(f"{self!r} is a recipe, not the object itself: it has no text yet; {_BY_FUNCTION}")

    def __repr__(self) -> str:
        return f"<invivo recipe: {said(self._node)}>"


_BY_FUNCTION = "a function that the definition calls, new(function, ...), gets the object"


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(self: Recipe, *_: Any) -> Any:
        raise TypeError(f"{self!r} is a recipe, not the object itself: it has no {name} yet; {_BY_FUNCTION}")

    return refuse


_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or"),
)
_OTHER = (
    *("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert"),
    *("int", "float", "index", "round", "len", "getitem", "contains"),
)
# A member describes once: what it would work out from an object, or compare with one, is refused and not wrong.
for _name in (*_BINARY, *(f"r{each}" for each in _BINARY), *_OTHER):
    setattr(Recipe, f"__{_name}__", _refusing(f"__{_name}__"))


class Step(Recipe):
    """An attribute of an object under description: called, it is a method to be called; else the property's value."""

    __slots__ = ()

    def __init__(self, owner: Recipe, name: str) -> None:
        super().__init__(Path(owner, (name,)))

    def __call__(self, *positional: Any, **named: Any) -> Any:
        path = self._node
        path.start._node.calls.append(Call(path.names[0], positional, named))


def said(node: Any) -> str:
    """A recipe in a few words."""
    match node:
        case Ref(to=to):
            return to if isinstance(to, str) else to.__name__
        case Draft(what=what, parent=parent):
            return f"a {name_of(what)}" if what is not None else f"a child of {said(node_of(parent))}"
        case Path(start=start, names=names):
            return ".".join((said(start._node), *names))
        case MadeBy(start=start, method=method):
            return f"{said(start._node)}.{method}(...)"
        case Argument(name=name):
            return f"the argument {name}"
        case Late(target=target, kind=kind):
            of = said(node_of(target)) if isinstance(target, Recipe) else repr(target)
            return f"a {kind}{' reference' if kind == 'weak' else ''} of {of}"
        case All(of=of):
            return f"all {of.__name__}"
        case Constant(value=value):
            return repr(value)
        case Config(path=path):
            return f"the configuration {path!r}"
        case Entry(path=path):
            return "the entry's name" if path is None else f"the entry's {path!r}" if path else "the entry"
        case Text(text=text):
            return f"what the text {text!r} says"
        case Choice():
            return "a choice"
        case Own(what=what):
            return f"the {what}"
    return "all arguments"


def name_of(what: Any) -> str:
    return what if isinstance(what, str) else str(getattr(what, "__qualname__", what))


def node_of(recipe: Recipe | None) -> Any:
    return None if recipe is None else recipe._node


def here(depth: int = 2) -> tuple[str, int]:
    """The file and line of the caller's caller."""
    frame = sys._getframe(depth)
    return frame.f_code.co_filename, frame.f_lineno


# ---- the words of the author ---------------------------------------------------------------------------


def new(what: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T:
    """In a definition: an object made by a class, a function or anything else that can be called, with these arguments.

    A parameter that is not given keeps its default. One without a default is found by its annotation, as is one that is
    marked (``Annotated[Clock, invivo.Inject]``, or with a key); `wire` finds those with a default too.

    A generator function is a resource: the object is what it yields, and the rest of it runs when the object ends, also
    after an error. `managed` does the same, and type checkers see there what is yielded.

    Afterwards attributes may be set on it and methods called: they are done to each object, in this order. An argument
    may be another recipe, also an inline one; a member that is not called is handed over as a provider.
    """
    return cast(T, Recipe(Draft(what, arguments, named, here())))


@overload
def managed(what: AbstractContextManager[T], /) -> T: ...
@overload
def managed(what: Callable[P, AbstractContextManager[T]], /, *arguments: P.args, **named: P.kwargs) -> T: ...
@overload
def managed(what: Callable[P, Iterator[T]], /, *arguments: P.args, **named: P.kwargs) -> T: ...
def managed(what: Any, /, *arguments: Any, **named: Any) -> Any:
    """In a definition: the object that a context manager enters with, or that a generator function yields::

        return invivo.managed(open_session, self.engine())          # a function of @contextmanager, or a class
        return invivo.managed(invivo.new(Session, self.engine()))   # the same
        return invivo.managed(TemporaryDirectory())                 # one that is there already, for one object

    It is entered when the object is made and left when the object ends: when the runtime closes, when a reload, a reset
    or an override replaces it, when its scope ends, or when making it fails after that.
    """
    if isinstance(what, Recipe):
        node = what._node
        if not isinstance(node, Draft) or arguments or named:
            raise ArgumentError(
                f"managed() makes an object of a context manager: invivo.managed(open_session, ...) or "
                f"invivo.managed(invivo.new(Session, ...)), not of {what!r}"
            )
        node.managed = True
        return what
    if not callable(what) or (not isinstance(what, type) and hasattr(type(what), "__enter__")):
        if arguments or named or not hasattr(type(what), "__enter__"):
            raise ArgumentError(
                f"managed() takes a context manager, or what makes one, with its arguments, not {what!r}"
            )
        what = Existing(what)
    made = Recipe(Draft(what, arguments, named, here()))
    made._node.managed = True
    return made


@overload
def wire(what: Callable[..., T], /, **given: Any) -> T: ...
@overload
def wire(what: str, /, **given: Any) -> Any: ...
def wire(what: Any, /, **given: Any) -> Any:
    """Like `new`, but a parameter with a default is found by its annotation too, where a definition fits. Names are
    those of parameters, else of properties.

    ``what`` may also be the name of another language's type.
    """
    made = Recipe(Draft(what, (), given, here()))
    made._node.wires = True
    return made


@overload
def child(parent: T, /, **named: Any) -> T: ...
@overload
def child(parent: Any, what: Callable[..., T], /, *arguments: Any, **named: Any) -> T: ...
def child(parent: Any, what: Any = None, /, *arguments: Any, **named: Any) -> Any:
    """In a definition: an object that takes over from another definition all that is not said here.

    ``what`` is another class than the parent's; arguments replace those of the parent's constructor.
    """
    if not isinstance(parent, Recipe) or not isinstance(parent._node, Ref) or not isinstance(parent._node.to, str):
        raise ArgumentError("the parent of a definition is another member, called: invivo.child(self.base())")
    return Recipe(Draft(what, arguments, named, here(), parent=parent))


def constant(value: T) -> T:
    """In a definition: this very object, which belongs to the program: nothing is injected into it, no hook of it
    runs, it is not decorated, and a child does not inherit it."""
    return cast(T, Recipe(Constant(value)))


def scoped(recipe: T, scope: Scope, /, **more: Any) -> T:
    """Gives an inline recipe a scope, and `options`."""
    node = node_of(recipe) if isinstance(recipe, Recipe) else None
    if not isinstance(node, Draft):
        raise ArgumentError("scoped() is for inline recipes: invivo.scoped(invivo.new(Horse), 'prototype')")
    node.scope = scope
    if more:
        node.options = options(**more)
    return recipe


@overload
def ref(to: type[T], /, *, optional: bool = False, exact: bool = False, greedy: bool = False) -> T: ...
@overload
def ref(to: str, /, *arguments: Any, optional: bool = False) -> Any: ...
def ref(to: Any, /, *arguments: Any, optional: bool = False, exact: bool = False, greedy: bool = False) -> Any:
    """In a definition: inject what this key (``"synth.lead"``), with arguments, or this class resolves to.

    ``optional``: None where there is none. ``exact``: the class itself, no subclass. ``greedy``: a better candidate
    that comes later is taken.
    """
    if arguments and not isinstance(to, str):
        raise ArgumentError("arguments go to a key: the definition that a class will find is not known")
    return Recipe(Ref(to, arguments, optional, exact, greedy))


def every(of: type[T], /, *, exact: bool = False, added: str | None = None, removed: str | None = None) -> list[T]:
    """In a definition: one object of each definition of a class, by rank, then as declared.

    ``added``, ``removed``: for a property; the names of methods that take one object and are called when one comes or
    goes later, instead of setting the whole list again.
    """
    return cast("list[T]", Recipe(All(of, exact, added, removed)))


def provider(recipe: T, /) -> Provider[T]:
    """In a definition: a callable that resolves the recipe each time."""
    return cast("Provider[T]", Recipe(Late(recipe, "provider")))


def lazy(recipe: T, /) -> Lazy[T]:
    """In a definition: resolves the recipe when it is first asked for."""
    return cast("Lazy[T]", Recipe(Late(recipe, "lazy")))


def weak(recipe: T, /) -> Weak[T]:
    """In a definition: a callable that answers what there is of the recipe, and None when there is nothing."""
    return cast("Weak[T]", Recipe(Late(recipe, "weak")))


def arguments() -> list[Any]:
    """In a definition: all its runtime arguments, as a list."""
    return cast("list[Any]", Recipe(Arguments()))


def config(path: str, /, default: Any = _MISSING, *, optional: bool = False) -> Any:
    """In a definition: what the configuration says at a path, as the annotation of the place wants it.

    That is a number, bool, str or bytes, a member of an Enum (by its name, else its value), a Literal, a list, tuple,
    set or dict of these, `Path`, `Decimal`, `timedelta`, `UUID`, an IP address or a date from a string, a dataclass or
    a class with ``model_validate`` from a map, and what `Runtime.converter` reads. A value that does not fit is an
    error with its place in the document.

    The path is looked for in the definition's own assembly, then in what is global; ``"/drums.voices"`` says the whole
    path. Without a ``default`` a missing value is an error, unless it is ``optional``: then it is None. A value that
    changes is followed like a definition that does.
    """
    return Recipe(Config(path, default, optional))


def entry(path: str = "", /, default: Any = _MISSING, *, optional: bool = False) -> Any:
    """In a definition with ``each``: what its entry says at a path below it, in the type of the place; without a path
    the entry itself. As for `config`, a missing value is an error without ``default`` or ``optional``."""
    return Recipe(Entry(path, default, optional))


def entry_name() -> str:
    """In a definition with ``each``: the name of its entry."""
    return cast("str", Recipe(Entry(None)))


def text(said: Any, /, converter: str | type | None = None) -> Any:
    """In a definition: what a text says, read by the converter of that name or class, or that of the place it goes to.

    ``said`` is a text, or one of the configuration: ``text(config("limit"), "bytes")``.
    """
    if not isinstance(said, str) and not (isinstance(said, Recipe) and isinstance(said._node, Config)):
        raise ArgumentError(f"a converter reads a text, or config(...), not {said!r}")
    return Recipe(Text(said, converter))


@dataclasses.dataclass(frozen=True)
class Exactly:
    cls: type


def exactly(cls: type) -> Exactly:
    """In a choice: an object of this very class."""
    return Exactly(cls)


def choice(
    chooser: Any,
    options: Mapping[Any, T] | Iterable[tuple[Any, T]] | None = None,
    /,
    *,
    named: bool = False,
    otherwise: T | None = None,
) -> T:
    """In a definition: what the first option is that fits what ``chooser`` gives: `config`, or an argument.

        return invivo.choice(invivo.config("wave"), {"saw": self.saw(), None: self.noise()}, otherwise=self.sine())

    The keys are values, compared by what they are worth; classes, for objects of them and of what derives from them;
    or ``exactly(cls)``; pairs may stand in the place of the dict. ``named``: else a text is the name of a definition. A
    value that no option is for is an error.
    """
    found: list[tuple[int, Any, Any]] = []
    for when, use in options.items() if isinstance(options, Mapping) else options or ():
        if isinstance(when, Exactly):
            found.append((c.INVIVO_WHEN_EXACT, when.cls, use))
        elif is_class(when):
            found.append((c.INVIVO_WHEN_KIND, when, use))
        else:
            found.append((c.INVIVO_WHEN_EQUAL, when, use))
    if named:
        found.append((c.INVIVO_WHEN_NAMED, None, None))
    if otherwise is not None:
        found.append((c.INVIVO_WHEN_OTHERWISE, None, otherwise))
    return cast(T, Recipe(Choice(chooser, tuple(found))))


def resolver() -> Resolver:
    """In a definition: a callable that resolves the key it is called with."""
    return cast(Resolver, Recipe(Own("resolver")))


def asker() -> str | None:
    """In a definition: the key for which the object is made. What it goes into is never shared."""
    return cast("str | None", Recipe(Own("asker")))


def call(what: str | Callable[..., Any], /, *arguments: Any, **named: Any) -> Call:
    """A hook with arguments: a method's name, or a function that gets the object first."""
    return Call(what, arguments, named)
