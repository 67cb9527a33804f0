"""Recipes: the description of an object before it is created.

To a type checker a recipe is the object that it stands for, so that names, arguments and types are checked where they
are written. At run time it only records the description, which the planning turns into a definition.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, ParamSpec, TypeVar

from .._values.fields import dataclass
from ..errors import ArgumentError, ExistsError, PropertyError
from .changes import OnChange

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Scope = Literal["graph", "prototype", "lazy_singleton", "singleton", "weak_singleton", "thread", "context"] | str
Hidden = bool | Literal["class", "interface"]


@dataclass(frozen=True, eq=False)
class Ref:
    """A reference to a key, or to the definition of a class."""

    to: str | type
    arguments: tuple[Any, ...] = ()
    optional: bool = False
    exact: bool = False
    greedy: bool = False
    on_change: OnChange | None = None
    owns: bool = False


@dataclass(frozen=True, eq=False)
class All:
    of: type
    exact: bool = False
    added: str | None = None
    removed: str | None = None
    on_change: OnChange | None = None
    owns: bool = False


@dataclass(frozen=True, eq=False)
class Argument:
    """A runtime argument of the member that is described."""

    index: int
    name: str


@dataclass(frozen=True, eq=False)
class Arguments: ...


@dataclass(frozen=True, eq=False)
class Path:
    """The property at a path of another object."""

    start: Recipe
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Late:
    """A deferred reference: a callable that resolves its target when it is called."""

    target: Any
    kind: Literal["provider", "lazy", "weak"]
    owns: bool = False


_MISSING: Any = object()


@dataclass(frozen=True, eq=False)
class Config:
    """The value of the configuration at a path."""

    path: str
    default: Any = _MISSING
    optional: bool = False
    on_change: OnChange | None = None
    owns: bool = False

    @property
    def has_default(self) -> bool:
        return self.default is not _MISSING


@dataclass(frozen=True, eq=False)
class Entry:
    """The value of a definition's own entry, or (path None) the name of the entry."""

    path: str | None
    default: Any = _MISSING
    optional: bool = False
    on_change: OnChange | None = None

    @property
    def has_default(self) -> bool:
        return self.default is not _MISSING


@dataclass(frozen=True, eq=False)
class Text:
    """A string that a converter reads."""

    text: Any
    converter: str | type | None


@dataclass(frozen=True, eq=False)
class Choice:
    """The first option that matches the value of the chooser."""

    chooser: Any
    options: tuple[tuple[int, Any, Any], ...]  # condition, value or class, source


@dataclass(frozen=True, eq=False)
class Own:
    what: Literal["resolver", "asker"]


@dataclass(frozen=True, eq=False)
class Constant:
    value: Any


@dataclass(frozen=True, eq=False)
class MadeBy:
    """The result of a method of another object."""

    start: Recipe
    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Call:
    """A method, or any function of the object, that is called while the object is created."""

    what: str | Callable[..., Any]
    positional: tuple[Any, ...] = ()
    named: Mapping[str, Any] = dataclasses.field(default_factory=dict)


Hook = str | Callable[[Any], Any] | Call


@dataclass(frozen=True)
class Options:
    """The options of a definition.

    ``rank``: the highest one is first in lists and wins lookups by type. ``hidden``: it is not found by type, or only
    not by its ``"class"``, or only not by its supertypes (``"interface"``). ``abstract``: only children create objects.
    ``nullable``: its factory may return None.

    ``before``, ``after``: hooks that run before and after the injection. ``after_all``: hooks that run when all objects
    of the outermost resolve are complete, children before parents. Each hook is the name of a method, a function of the
    object, or a `call`; there may be several. ``inject`` injects by code, between the methods and ``after``.

    ``each``: a path of the configuration. There is one definition for each entry of the map or list at the path, with
    the key ``assembly.name[entry]``; `entry` and `entry_name` are its values. ``exclusive``: there is at most one
    object at a time, acquired in `on_start` and released in `on_stop`; a reload stops the old one before it creates the
    new one. ``waits``: it is blocked while a dependency is missing (a definition, a value of the configuration, its
    type). ``type``: the class of its objects, if no annotation declares it. ``tracked``: reloads inject new
    dependencies into its prototypes. ``restart``: a change of the definition takes effect when its object is next
    created, at the next start of the program or after a reset (`Runtime.status`); for singletons. ``start_timeout``,
    ``stop_timeout``: limits in seconds for its objects; None: those of the runtime.

    ``on_change``: how its objects follow changes of what they receive, unless that declares it. ``"follow"``: after a
    change of an argument of the class an object is made again; an attribute is injected again. ``"keep"``: it keeps
    what it has until it is made again for another reason. ``"rebuild"``: it is made again for an attribute, too.
    ``"refuse"``: the change fails (`ChangeRefusedError`), with ``on_change_reason``, unless it defines this one, too.
    None: as the parent's, or ``"follow"``. Objects that a factory resolves are always followed.

    ``spec_key``: the key in ``traits:`` of documents whose traits apply to its objects, instead of its own key. Several
    definitions may name one key. ``"none"``: no traits apply. None: as the parent's, or its own key.
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
    restart: bool = False
    start_timeout: float | None = None
    stop_timeout: float | None = None
    type: builtins.type[Any] | None = None
    on_change: OnChange | None = None
    on_change_reason: str | None = None
    spec_key: str | None = None


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
    restart: bool = False,
    start_timeout: float | None = None,
    stop_timeout: float | None = None,
    type: builtins.type[Any] | None = None,
    on_change: OnChange | None = None,
    on_change_reason: str | None = None,
    spec_key: str | None = None,
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
        restart,
        start_timeout,
        stop_timeout,
        type,
        on_change,
        on_change_reason,
        spec_key,
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
        self.layer = 0  # one more for each override that continues the description
        self.scope: Scope | None = None
        self.options: Options | None = None
        self.managed = False
        self.wires = False  # parameters are found by annotations even if they have a default

    def set(self, name: str, thing: Any) -> None:
        former = self.properties.get(name)
        if former is not None and former[1] == self.layer:
            raise ExistsError(f"the property {name!r} is set twice", path=name, file=self.file, line=self.line)
        self.properties[name] = thing, self.layer


def holds_recipe(thing: Any) -> bool:
    return isinstance(thing, Recipe) or (isinstance(thing, (list, tuple, set)) and any(map(holds_recipe, thing)))


def refuse_recipes_inside(thing: Any, place: Mapping[str, Any] | None = None) -> None:
    """Refuses a recipe inside a function or an object. It would stay a recipe: only direct arguments become objects."""
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


class Recipe:
    """Stands for an object while definitions are described."""

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
        raise TypeError(f"{self!r} is a recipe, not the object itself, which does not exist yet")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self!r} is a recipe, not the object itself: it cannot be iterated over")

    def __format__(self, _: str) -> str:
        raise TypeError(f"{self!r} is a recipe, not the object itself: it has no text yet; {_BY_FUNCTION}")

    def __repr__(self) -> str:
        return f"<invivo recipe: {summary(self._node)}>"


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

# A member describes once. Computations with the object, or comparisons, are refused, because they would be wrong.
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


def summary(node: Any) -> str:
    """Returns a short description of a recipe."""
    match node:
        case Ref(to=to):
            return to if isinstance(to, str) else to.__name__
        case Draft(what=what, parent=parent):
            return f"a {name_of(what)}" if what is not None else f"a child of {summary(node_of(parent))}"
        case Path(start=start, names=names):
            return ".".join((summary(start._node), *names))
        case MadeBy(start=start, method=method):
            return f"{summary(start._node)}.{method}(...)"
        case Argument(name=name):
            return f"the argument {name}"
        case Late(target=target, kind=kind):
            of = summary(node_of(target)) if isinstance(target, Recipe) else repr(target)
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
