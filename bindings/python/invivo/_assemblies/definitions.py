"""Definitions: the description of an object for a key, before it is planned."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from .. import _generated as c
from .._classes.annotations import CLASSES, annotated, hints_of
from .._classes.callables import Parameter, parameters_of, without_recipes
from .._classes.classes import constructor_of
from .._declarations import recipes
from .._declarations.context_kinds import ContextKind, kind_of
from .._declarations.recipes import Call, Draft, MadeBy, Options, Recipe, Ref, Scope
from .._declarations.resources import Existing, is_generator, yielded
from .._values.fields import dataclass
from .._values.foreign import Type
from ..errors import ArgumentError, WrongTypeError

SCOPES: dict[str, int] = {
    "graph": c.INVIVO_SCOPE_GRAPH,
    "prototype": c.INVIVO_SCOPE_PROTOTYPE,
    "lazy_singleton": c.INVIVO_SCOPE_LAZY_SINGLETON,
    "singleton": c.INVIVO_SCOPE_SINGLETON,
    "weak_singleton": c.INVIVO_SCOPE_WEAK_SINGLETON,
    "thread": c.INVIVO_SCOPE_THREAD,
    "context": c.INVIVO_SCOPE_CONTEXT,
}

PLACED = "in "  # before the name of a scope of the host's
_IN_CONTEXT = re.compile(r"context\s*\(\s*(.*?)\s*\)")  # context(request)
PLAIN = Options()


def snake(name: str) -> str:
    """``HTTPServer`` -> ``http_server``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@dataclass(frozen=True, eq=False)
class Definition:
    """The description of an object for a key, before it is planned."""

    key: str
    scope: Scope | None  # None: the parent's, or graph
    makes: type | str | None  # a Python class, or a registered type by its name; None: an alias', or the parent's
    factory: Callable[..., Any] | None
    overrides: Mapping[str, Any]
    file: str
    line: int
    positional: tuple[Any, ...] = ()
    properties: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    arguments: tuple[Parameter, ...] = ()  # the runtime arguments it takes
    parent: str | None = None
    alias: Ref | None = None
    maker: MadeBy | None = None
    choice: recipes.Choice | None = None
    constant: recipes.Constant | None = None
    options: Options = PLAIN
    home: str | None = None  # its assembly, if that is not the prefix of the key
    owner: str = ""  # the key of the definition that contains it
    generic: Any = None  # Repository[User], if that was given
    managed: bool = False  # a resource: the factory returns a generator or a context manager
    keeps_defaults: bool = False  # parameters that have a default keep it, where nothing is given or marked

    @property
    def made(self) -> str:
        return self.makes.__name__ if isinstance(self.makes, type) else self.makes or self.key

    @property
    def assembly(self) -> str:
        return self.key.rpartition(".")[0] if self.home is None else self.home

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    def parameters(self, known: Mapping[str, type]) -> tuple[Parameter, ...]:
        if self.factory is not None:
            return without_recipes(self.factory, parameters_of(self.factory, known, bound=False))
        return constructor_of(self.makes, known) if isinstance(self.makes, type) else ()

    def moved(self, old: str, new: str) -> Definition:
        """Returns the same definition in an assembly of another name."""
        key = f"{new}.{self.key.removeprefix(f'{old}.')}" if self.key.startswith(f"{old}.") else self.key
        return dataclasses.replace(self, key=key, home=new if self.home == old else self.home)

    def absolute(self, key: str) -> str:
        return key if "." in key or not self.assembly else f"{self.assembly}.{key}"


def definition(
    key: str | None,
    what: Callable[..., Any] | str,
    scope: Scope | None,
    overrides: Mapping[str, Any],
    *,
    assembly: str | None = None,
    options: Options | None = None,
    depth: int = 2,
) -> Definition:
    """Returns a definition of a class, of a factory with an annotated result, or of a registered type.

    Its location is that of the code ``depth`` frames up.
    """
    scope = checked_scope(scope)
    check_key(key)
    check_options(options)
    caller = sys._getframe(depth)
    file, line = caller.f_code.co_filename, caller.f_lineno
    more: dict[str, Any] = {}
    if isinstance(what, Recipe):
        if key is None:
            raise ArgumentError("a recipe has no name of its own: say which by name=...")
        more = of_recipe(what, None, None if options is None else options.type)
        makes, factory, given = more.pop("makes"), more.pop("factory"), more.pop("overrides")
        overrides = {**given, **overrides}
        options = options or more.pop("options", None)
        more.pop("options", None)
    else:
        declared = None if options is None else options.type
        makes, factory, more["managed"] = _made_by(what, near=lambda: locals_of(caller), declared=declared)
        if isinstance(typing.get_origin(what), type):
            more["generic"] = what
        if factory is not None and may_be_none(hints_of(annotated(what)).get("return")):
            options = dataclasses.replace(options or PLAIN, nullable=True)
    if key is None:
        key = snake(makes if isinstance(makes, str) else makes.__name__)
    if assembly is not None and "." not in key:
        key = f"{assembly}.{key}"
    return Definition(
        key, scope, makes, factory, dict(overrides), file, line, options=options or Options(), home=assembly, **more
    )


def check_key(key: object) -> None:
    if key is not None and not isinstance(key, str):
        raise ArgumentError(
            f"expected a string as the key, got {key!r}: the first argument is the definition, the second its key"
        )


def check_options(options: object) -> None:
    if options is not None and not isinstance(options, Options):
        raise WrongTypeError(
            f"expected invivo.options(...) as the options, got {options!r}: write them as in "
            "options=invivo.options(restart=True)"
        )


def checked_scope(scope: str | None) -> str | None:
    """Returns a scope as definitions have it: a standard one, also with hyphens, or the name of a host scope."""
    if scope is None:
        return None
    there = ", ".join(SCOPES)
    if not isinstance(scope, str):
        raise ArgumentError(
            f"expected the name of a scope, got an object of type {type(scope).__name__}: one of {there}, or a name "
            "given to Runtime.scope (invivo.in_scope(...) decorates functions)"
        )
    name = scope.replace("-", "_")
    if name in SCOPES or scope.startswith(PLACED):
        return name if name in SCOPES else scope
    if scope.startswith("context("):
        return context_scope(context_kind(scope))
    import difflib  # for messages, and names of scopes of the program

    near = difflib.get_close_matches(name.lower(), SCOPES, n=1, cutoff=0.75)
    if near or not scope:
        meant = (
            f"; did you mean {near[0]!r}?" if near else f"; expected one of {there}, or a name given to Runtime.scope"
        )
        raise ArgumentError(f"unknown scope {scope!r}{meant}")
    return PLACED + scope


def context_scope(kind: str | ContextKind | None) -> str:
    """Returns the scope of objects that live in contexts of a kind, or in the context of the resolve."""
    if kind is None:
        return "context"
    name = kind_of(kind).name
    if not name.strip():
        raise ArgumentError("the scope 'context()' names no kind: write 'context(request)', or 'context' for any")
    return f"context({name})"


def context_kind(scope: str | None) -> str | None:
    """Returns the kind of a scope such as ``context(request)``; None for other scopes."""
    if scope is None or not scope.startswith("context("):
        return None
    found = _IN_CONTEXT.fullmatch(scope)
    if found is None:
        raise ArgumentError(f"unknown scope {scope!r}; expected a form such as 'context(request)'")
    return found[1]


def of_recipe(recipe: Recipe, wanted: type | None, declared: type | None = None) -> dict[str, Any]:
    """Returns the parts of a definition that a recipe describes.

    ``wanted`` is the class that the target demands, ``declared`` the type in the options.
    """
    node = recipe._node
    found: dict[str, Any] = {"makes": wanted, "factory": None, "overrides": {}}
    match node:
        case Draft():
            what = node.what
            if what is not None:
                declared = declared if node.options is None or node.options.type is None else node.options.type
                found["makes"], found["factory"], found["managed"] = _made_by(
                    what, wanted, declared=declared, managed=node.managed
                )
            found["positional"], found["overrides"] = node.positional, node.named
            found["keeps_defaults"] = not node.wires
            found["properties"] = {name: thing for name, (thing, _) in node.properties.items()}
            found["calls"] = tuple(node.calls)
            if node.parent is not None:
                found["parent"] = node.parent._node.to
                if what is None:
                    found["makes"] = None
            if node.options is not None:
                found["options"] = node.options
        case Ref(to=str()):
            found["alias"], found["makes"] = node, None
        case MadeBy():
            found["maker"] = node
        case recipes.Choice():
            found["choice"], found["makes"] = node, None
        case recipes.Constant(value=value):
            found["constant"], found["makes"] = node, type(value)
        case _:
            raise ArgumentError(
                f"{recipe!r} is no definition: that is made by invivo.new(), wire(), child(), choice() or constant(), "
                "is another member, or what a method of another member answers"
            )
    return found


def _made_by(
    what: Any,
    wanted: type | None = None,
    near: Callable[[], Mapping[str, Any]] | None = None,
    *,
    declared: type | None = None,
    managed: bool = False,
) -> tuple[type | str, Callable[..., Any] | None, bool]:
    """Returns the type of the object, the function that creates it, and whether it is a resource.

    ``near`` returns the names beside the definition, for an annotation that is a string. ``declared``: the type in the
    options, which wins.
    """
    if isinstance(what, Type):
        return what.name, None, False
    if isinstance(what, str):
        return what, None, False
    cls = what if isinstance(what, type) else typing.get_origin(what)  # Box[int]
    if isinstance(cls, type) and not managed:
        return (cls, None, False) if declared in (None, cls) else (declared or cls, cls, False)
    if not callable(what):
        raise WrongTypeError(
            f"a class, a factory or the name of a type is wanted, not {what!r}; an object that is there is given "
            "to an override as instance=..., and elsewhere as invivo.constant(...)"
        )
    function = annotated(what)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ArgumentError(
            f"the factory {_name(what)!r} is asynchronous: objects are made at once. Make one that begins its work, "
            "and await that where it is used"
        )
    managed = managed or is_generator(function)
    unwrapped = what
    while isinstance(unwrapped, functools.partial):
        unwrapped = unwrapped.func
    if isinstance(unwrapped, Existing):
        annotation: Any = type(unwrapped.manager)
    else:
        annotation = unwrapped if isinstance(unwrapped, type) else _result_of(function)
    makes = declared or plain_class(yielded(annotation) if managed else annotation)
    if makes is None and near is not None:
        annotation = hints_of(function, near()).get("return")
        makes = plain_class(yielded(annotation) if managed else annotation)
    makes = makes or CLASSES.get(_hashable(unwrapped)) or wanted
    if makes is None:
        raise ArgumentError(
            f"the factory {_name(what)!r} does not declare its type: annotate what it "
            f"{'yields' if managed else 'returns'} with the class{_unresolved(function)}, or what the member returns; "
            "or declare it by type=..., as in @invivo.lazy_singleton(type=Clock) or options=invivo.options(type=Clock)"
        )
    return makes, what, managed


def _name(what: Any) -> str:
    while isinstance(what, functools.partial):
        what = what.func
    return str(getattr(what, "__qualname__", what))


def _unresolved(function: Any) -> str:
    """Describes an annotation that is a string and cannot be resolved, for messages."""
    annotation = hints_of(function).get("return")
    return (
        f" (its annotation {annotation!r} names nothing that is known in its module)"
        if isinstance(annotation, str)
        else ""
    )


def _hashable(thing: Any) -> Any:
    return thing if isinstance(thing, Hashable) else None


def locals_of(frame: types.FrameType) -> dict[str, Any]:
    """The local variables of a frame. Nothing of them is kept: before Python 3.13 a function's frame has a dictionary
    that would hold them until it is written again."""
    written = frame.f_locals
    found = dict(written)
    # The frame, `written` and the argument refer to it. One more reference is that of a caller of locals().
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED and isinstance(written, dict) and sys.getrefcount(written) <= 3:
        written.clear()
    return found


def _result_of(function: Any) -> Any:
    """Returns the annotated result of a factory.

    A class method may use ``Self``, or the name of its class, which does not exist yet while the class is defined.
    """
    annotation = hints_of(function).get("return")
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type) and (
        annotation in (owner.__name__, "Self") or getattr(annotation, "__name__", "") == "Self"
    ):
        return owner
    return annotation


def plain_class(annotation: Any) -> type | None:
    """Returns the class that an annotation stands for, also as an optional one."""
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if annotation is Any:  # a class of its own since Python 3.11
        return None
    annotation = CLASSES.get(_hashable(annotation), annotation)
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(annotation) if part is not types.NoneType]
        annotation = parts[0] if len(parts) == 1 else None
    while hasattr(annotation, "__supertype__"):
        annotation = annotation.__supertype__
    if isinstance(typing.get_origin(annotation), type):
        annotation = typing.get_origin(annotation)
    return annotation if isinstance(annotation, type) and annotation is not types.NoneType else None


def may_be_none(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType) and types.NoneType in typing.get_args(
        annotation
    )


def scope_number(scope: Scope) -> int:
    """Returns the constant of a standard scope."""
    name = checked_scope(scope)
    if name not in SCOPES:
        raise ArgumentError(f"unknown scope {scope!r}; expected one of {', '.join(SCOPES)}")
    return SCOPES[name]
