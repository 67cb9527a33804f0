"""The functions that describe a definition: `new`, `wire`, `ref`, `config` and others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, cast, overload

from .. import _generated as c
from .._values.fields import dataclass
from ..errors import ArgumentError
from .changes import OnChange
from .marks import is_class
from .recipes import (
    _MISSING,
    All,
    Arguments,
    Call,
    Choice,
    Config,
    Constant,
    Draft,
    Entry,
    Late,
    Own,
    P,
    Recipe,
    Ref,
    Scope,
    T,
    Text,
    node_of,
    options,
)
from .references import Lazy, Provider, Resolver, Weak
from .resources import Existing


def here(depth: int = 2) -> tuple[str, int]:
    """The file and line of the caller's caller."""
    frame = sys._getframe(depth)
    return frame.f_code.co_filename, frame.f_lineno


def new(what: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> T:
    """In a definition: an object that a class, a function or any other callable creates with these arguments.

    A parameter that is not given keeps its default. One without a default is found by its annotation, as is one that is
    marked (``Annotated[Clock, invivo.Inject]``, or with a key). `wire` also finds those with a default.

    A generator function is a resource: the object is the value that it yields, and the rest of it runs when the object
    ends, also after an error. `managed` does the same, and type checkers then see the type of the yielded value.

    Afterwards attributes may be set on the recipe and methods called. They are applied to each object, in this order.
    An argument may be another recipe, also an inline one. A member that is not called is passed as a provider.
    """
    return cast(T, Recipe(Draft(what, arguments, named, here())))


@overload
def managed(what: AbstractContextManager[T], /) -> T: ...


@overload
def managed(what: Callable[P, AbstractContextManager[T]], /, *arguments: P.args, **named: P.kwargs) -> T: ...


@overload
def managed(what: Callable[P, Iterator[T]], /, *arguments: P.args, **named: P.kwargs) -> T: ...


def managed(what: Any, /, *arguments: Any, **named: Any) -> Any:
    """In a definition: the object that a context manager provides, or that a generator function yields::

        return invivo.managed(open_session, self.engine())          # a function of @contextmanager, or a class
        return invivo.managed(invivo.new(Session, self.engine()))   # the same
        return invivo.managed(TemporaryDirectory())                 # an existing one, for one object

    It is entered when the object is created. It is left when the object ends: when the runtime closes, when a reload, a
    reset or an override replaces it, when its scope ends, or when its creation fails after that.
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
                f"managed() takes a context manager or a factory of one, with its arguments, not {what!r}"
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
    """Like `new`, but also finds parameters with a default by their annotations, if there is a matching definition.

    Names are those of parameters, else of properties. ``what`` may also be the name of a type of another language.
    """
    made = Recipe(Draft(what, (), given, here()))
    made._node.wires = True
    return made


@overload
def child(parent: T, /, **named: Any) -> T: ...


@overload
def child(parent: Any, what: Callable[..., T], /, *arguments: Any, **named: Any) -> T: ...


def child(parent: Any, what: Any = None, /, *arguments: Any, **named: Any) -> Any:
    """In a definition: an object that inherits everything that is not given here from another definition.

    ``what`` is a class that replaces the parent's; arguments replace those of the parent's constructor.
    """
    if not isinstance(parent, Recipe) or not isinstance(parent._node, Ref) or not isinstance(parent._node.to, str):
        raise ArgumentError("the parent of a definition is another member, called: invivo.child(self.base())")
    return Recipe(Draft(what, arguments, named, here(), parent=parent))


def constant(value: T) -> T:
    """In a definition: this very object, which belongs to the program.

    Nothing is injected into it, no hook of it runs, it is not decorated, and a child does not inherit it.
    """
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
def ref(
    to: type[T],
    /,
    *,
    optional: bool = False,
    exact: bool = False,
    greedy: bool = False,
    on_change: OnChange | None = None,
    owns: bool = False,
) -> T: ...


@overload
def ref(
    to: str, /, *arguments: Any, optional: bool = False, on_change: OnChange | None = None, owns: bool = False
) -> Any: ...


def ref(
    to: Any,
    /,
    *arguments: Any,
    optional: bool = False,
    exact: bool = False,
    greedy: bool = False,
    on_change: OnChange | None = None,
    owns: bool = False,
) -> Any:
    """In a definition: the object of a key (``"synth.lead"``), with arguments, or of a class.

    ``optional``: None if there is none. ``exact``: the class itself, no subclass. ``greedy``: a better candidate that
    is added later is taken. ``on_change``: how the object follows a change of this one (`options`); None: as its
    definition declares. ``owns``: the object is set up again (`on_setup`) when this one changes.
    """
    if arguments and not isinstance(to, str):
        raise ArgumentError("arguments go to a key: the definition that a class will find is not known")
    return Recipe(Ref(to, arguments, optional, exact, greedy, on_change, owns))


def every(
    of: type[T],
    /,
    *,
    exact: bool = False,
    added: str | None = None,
    removed: str | None = None,
    on_change: OnChange | None = None,
    owns: bool = False,
) -> list[T]:
    """In a definition: one object of each definition of a class, by rank, then in order of declaration.

    ``added``, ``removed``: for a property, the names of methods that take one object. They are called when an object is
    added or removed later, instead of setting the whole list again.
    """
    return cast("list[T]", Recipe(All(of, exact, added, removed, on_change, owns)))


def provider(recipe: T, /, *, owns: bool = False) -> Provider[T]:
    """In a definition: a callable that resolves the recipe each time."""
    return cast("Provider[T]", Recipe(Late(recipe, "provider", owns)))


def lazy(recipe: T, /, *, owns: bool = False) -> Lazy[T]:
    """In a definition: resolves the recipe at its first use."""
    return cast("Lazy[T]", Recipe(Late(recipe, "lazy", owns)))


def weak(recipe: T, /, *, owns: bool = False) -> Weak[T]:
    """In a definition: a callable that returns the existing object of the recipe, or None."""
    return cast("Weak[T]", Recipe(Late(recipe, "weak", owns)))


def arguments() -> list[Any]:
    """In a definition: all its runtime arguments, as a list."""
    return cast("list[Any]", Recipe(Arguments()))


def config(
    path: str,
    /,
    default: Any = _MISSING,
    *,
    optional: bool = False,
    on_change: OnChange | None = None,
    owns: bool = False,
) -> Any:
    """In a definition: the value of the configuration at a path, converted to the annotated type of its target.

    The type is a number, bool, str or bytes, a member of an Enum (by its name, else its value), a Literal, a list,
    tuple, set or dict of these, `Path`, `Decimal`, `timedelta`, `UUID`, an IP address or a date from a string, a
    dataclass or a class with ``model_validate`` from a map, or any type with a converter (`Runtime.converter`). A value
    that does not fit is an error with its location in the document.

    The path is looked up in the definition's own assembly, then globally; ``"/drums.voices"`` is a whole path. Without
    a ``default`` a missing value is an error, unless it is ``optional``: then it is None. A change of the value is
    followed like a change of a definition, or as ``on_change`` declares (`options`). ``owns``: the object is set up
    again (`on_setup`) when the value changes.
    """
    return Recipe(Config(path, default, optional, on_change, owns))


def entry(
    path: str = "", /, default: Any = _MISSING, *, optional: bool = False, on_change: OnChange | None = None
) -> Any:
    """In a definition with ``each``: the value of its entry at a path below it, in the type of its target.

    Without a path it is the entry itself. As for `config`, a missing value is an error without ``default`` or
    ``optional``.
    """
    return Recipe(Entry(path, default, optional, on_change))


def entry_name() -> str:
    """In a definition with ``each``: the name of its entry."""
    return cast("str", Recipe(Entry(None)))


def text(string: Any, /, converter: str | type | None = None) -> Any:
    """In a definition: a string, read by the converter of a name or class, or by that of its target.

    ``string`` is a string, or one of the configuration: ``text(config("limit"), "bytes")``.
    """
    if not isinstance(string, str) and not (isinstance(string, Recipe) and isinstance(string._node, Config)):
        raise ArgumentError(f"a converter reads a text, or config(...), not {string!r}")
    return Recipe(Text(string, converter))


@dataclass(frozen=True)
class Exactly:
    cls: type


def exactly(cls: type) -> Exactly:
    """In a choice: matches an object of this very class."""
    return Exactly(cls)


def choice(
    chooser: Any,
    options: Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None = None,
    /,
    *,
    named: bool = False,
    otherwise: Any = None,
) -> T:  # type: ignore[type-var]  # of the type that is expected there: the options may have different classes
    """In a definition: the first option that matches the value of ``chooser``: `config`, or an argument.

        return invivo.choice(invivo.config("wave"), {"saw": self.saw(), None: self.noise()}, otherwise=self.sine())

    The keys are values, which are compared, classes, which match their objects and those of subclasses, or
    ``exactly(cls)``. Pairs may be given instead of the dict. ``named``: a string that matches no option is the name of
    a definition. A value that matches no option is an error.
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
    """In a definition: a callable that resolves the key that it is called with."""
    return cast(Resolver, Recipe(Own("resolver")))


def asker() -> str | None:
    """In a definition: the key of the requester. The object that gets it is never shared."""
    return cast("str | None", Recipe(Own("asker")))


def call(what: str | Callable[..., Any], /, *arguments: Any, **named: Any) -> Call:
    """Describes a hook with arguments: the name of a method, or a function that gets the object first."""
    return Call(what, arguments, named)
