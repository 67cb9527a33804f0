"""Members: the definitions in the class of an assembly.

They are recipes while definitions are described, and factories when the assembly is active.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import inspect
import threading
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from .._classes.annotations import hints_of, may_be
from .._classes.callables import parameters_of
from .._declarations.changes import OnChange
from .._declarations.context_kinds import ContextKind
from .._declarations.recipes import Argument, Draft, Hidden, Hook, Options, Recipe, Ref, Scope, options
from .._objects.objects import RuntimeHandle
from ..errors import ArgumentError, ArityError, ClosedError, Error, NotReadyError, WrongTypeError
from .definitions import Definition, check_key, checked_scope, context_scope, may_be_none, of_recipe, plain_class

F = TypeVar("F", bound=Callable[..., Any])


class _Describing(threading.local):
    depth = 0


describing = _Describing()


class BuildPlan(Protocol):
    """A generated function that creates the object of a key."""

    takes: int  # how many runtime arguments
    make: Callable[..., Any]


class BuildPlans(Protocol):
    """The build plans of a runtime."""

    @property
    def taking(self) -> Mapping[str, BuildPlan]:
        """Those with runtime arguments, by key."""
        ...


class ActiveIn(Protocol):
    """The runtime that an assembly is active in."""

    @property
    def closed(self) -> bool: ...

    @property
    def runtimes(self) -> Sequence[RuntimeHandle]: ...

    @property
    def plans(self) -> BuildPlans: ...

    def runtime(self) -> RuntimeHandle: ...


class Home(Protocol):
    """An assembly, as its members need it."""

    name: str
    _core: ActiveIn | None


class Member:
    """A definition in the class of an assembly: a method that describes it. Or a function that describes one alone."""

    def __init__(
        self, function: Callable[..., Any], scope: Scope | None, declared: Options, *, is_method: bool = True
    ) -> None:
        self.function, self.options, self.is_method = function, declared, is_method
        self.scope: Scope | None = checked_scope(scope)
        self.name = getattr(function, "__name__", "?")
        self.owner = "?"
        functools.update_wrapper(self, function)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.owner = name, owner.__name__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else Bound(instance, self)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self} is a definition: call it on an assembly, an instance of its class")

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        signature = inspect.signature(self.function)
        mine = list(signature.parameters.values())[1 if self.is_method else 0 :]
        if any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in mine):
            raise ArgumentError(f"{self}: the runtime arguments of a definition have a name each", **self.place)
        return signature.replace(parameters=mine)

    @functools.cached_property
    def may_be_none(self) -> bool:
        return may_be_none(hints_of(self.function).get("return"))

    @property
    def place(self) -> dict[str, Any]:
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        return {"file": code.co_filename, "line": code.co_firstlineno} if code is not None else {}

    def __str__(self) -> str:
        return f"{self.owner}.{self.name}" if self.is_method else self.name

    def __repr__(self) -> str:
        return f"<invivo definition {self}>"


class Bound:
    """A member of one assembly: a recipe while another member is described, a factory after activation."""

    __slots__ = ("assembly", "member")

    def __init__(self, assembly: Home, member: Member) -> None:
        self.assembly, self.member = assembly, member

    @property
    def key(self) -> str:
        return f"{self.assembly.name}.{self.member.name}"

    def __call__(self, *positional: Any, **named: Any) -> Any:
        active = self.assembly._core
        if active is not None and positional and not named and not describing.depth:
            plan = active.plans.taking.get(f"{self.assembly.name}.{self.member.name}")
            if plan is not None and plan.takes == len(positional) and active.runtimes:
                return plan.make(active.runtimes[0], *positional)
        if describing.depth:
            if inspect.getattr_static(type(self.assembly), self.member.name) is not self.member:
                return self._former(positional, named)
            return self.reference(*positional, **named)
        core = self.assembly._core
        if core is None:
            raise NotReadyError(
                f"{self.key}() needs the assembly to be active, and it is not yet, was deactivated or another one took "
                "its place: give it to invivo.Runtime(...), or to runtime.activate()",
                path=self.key,
                **self.member.place,
            )
        if core.closed:
            raise ClosedError(f"the runtime of the assembly {self.assembly.name!r} is closed", path=self.key)
        runtime = core.runtime()
        if self.member.may_be_none:
            return runtime.resolve_optional(self.key, *positional, **named)
        return runtime.resolve(self.key, *positional, **named)

    def reference(self, *positional: Any, **named: Any) -> Recipe:
        try:
            bound = self.member.signature.bind(*positional, **named)
        except TypeError as problem:
            raise ArityError(
                f"{self.key}{self.member.signature}: {problem}", path=self.key, **self.member.place
            ) from None
        bound.apply_defaults()
        return Recipe(Ref(self.key, tuple(bound.arguments.values())))

    def _former(self, positional: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Returns the recipe of ``super().member()``, for an override that continues it."""
        answer = self.member.function(self.assembly, *positional, **named)
        if isinstance(answer, Recipe) and isinstance(answer._node, Draft):
            answer._node.layer += 1
        return answer

    def __repr__(self) -> str:
        return f"<invivo definition {self.key}>"


def plain(function: types.FunctionType) -> types.FunctionType:
    """Wraps a method of an assembly that is not a definition.

    Members may use it while they describe. Otherwise it must not return a recipe.
    """

    @functools.wraps(function)
    def method(self: Any, /, *positional: Any, **named: Any) -> Any:
        answer = function(self, *positional, **named)
        if isinstance(answer, Recipe) and not describing.depth:
            raise NotReadyError(
                f"{type(self).__name__}.{function.__name__}() describes an object, and is no definition: decorate it, "
                "as by @invivo.lazy_singleton",
                path=f"{self.name}.{function.__name__}",
                file=function.__code__.co_filename,
                line=function.__code__.co_firstlineno,
            )
        return answer

    return method  # type: ignore[return-value]


def member_decorator(scope: Scope | None) -> Any:
    def decorate(function: Any = None, /, **keywords: Any) -> Any:
        if function is None:
            return lambda function: Member(function, scope, options(**keywords))
        if not isinstance(function, types.FunctionType):
            raise WrongTypeError(f"a definition is a method of an assembly, not {function!r}")
        return Member(function, scope, options(**keywords))

    return decorate


if TYPE_CHECKING:
    # To a type checker a member stays the method that it is written as: names, arguments and result are checked, and
    # so is an override.
    Hooks = Hook | tuple[Hook, ...] | list[Hook]

    class _Decorator:
        @overload
        def __call__(self, function: F, /) -> F: ...
        @overload
        def __call__(
            self,
            *,
            rank: int = 0,
            hidden: Hidden = False,
            abstract: bool = False,
            nullable: bool = False,
            before: Hooks = (),
            after: Hooks = (),
            after_all: Hooks = (),
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
        ) -> Callable[[F], F]: ...
        def __call__(self, *_: Any, **__: Any) -> Any: ...


define: _Decorator = member_decorator(None)
define.__doc__ = "A member of an assembly: a definition of graph scope, or of its parent's."
graph: _Decorator = member_decorator("graph")
graph.__doc__ = "A member of an assembly: one object for each outermost resolve, for everything that is made in it."
prototype: _Decorator = member_decorator("prototype")
prototype.__doc__ = "A member of an assembly: a new object for each reference; inside its own making that is itself."
lazy_singleton: _Decorator = member_decorator("lazy_singleton")
lazy_singleton.__doc__ = "A member of an assembly: one object for each set of arguments, built by the first resolve."
singleton: _Decorator = member_decorator("singleton")
singleton.__doc__ = "A member of an assembly: one object, built when the assembly is activated."
weak_singleton: _Decorator = member_decorator("weak_singleton")
weak_singleton.__doc__ = "A member of an assembly: one object for as long as somebody holds it."

for _each in (define, graph, prototype, lazy_singleton, singleton, weak_singleton):
    _each.__doc__ = f"{_each.__doc__} Its keywords are those of `options`."


def in_scope(name: str) -> _Decorator:
    """A member of an assembly in a scope with several instances.

    ``@in_scope("thread")`` is one object for each thread, until the thread ends. Another name is that of a scope of the
    runtime (:meth:`Runtime.scope`).
    """
    if not isinstance(name, str):
        raise ArgumentError(f'in_scope takes the name of a scope: @invivo.in_scope("request"), not {name!r}')
    made: _Decorator = member_decorator(scope_of(name))
    return made


def scope_of(name: str) -> Scope:
    """Returns the name of a scope with several instances, as definitions have it."""
    if name in ("thread", "context") or name.startswith("context("):
        return name
    return f"in {name}"


def in_context(kind: str | ContextKind | None = None, /) -> _Decorator:
    """A member of an assembly in a context: one object for each context of a kind, such as ``"request"``.

    It is found from the current context upward. Without a kind, there is one object for each context in which it is
    resolved. Its end stops it.
    """
    made: _Decorator = member_decorator(context_scope(kind))
    return made


def member_in(thing: Any) -> Member | None:
    """Returns the member that another decorator has wrapped: a property, a static or class method, a cache."""
    inner: Any = None
    if isinstance(thing, property):
        inner = thing.fget
    elif isinstance(thing, functools.cached_property):
        inner = thing.func
    elif isinstance(thing, (staticmethod, classmethod)):
        inner = thing.__func__
    elif isinstance(thing, (types.FunctionType, functools._lru_cache_wrapper)):
        inner = getattr(thing, "__wrapped__", None)
    return inner if isinstance(inner, Member) else None


def member_of(classes: Iterable[type], name: str) -> Member | None:
    for each in classes:
        if name in vars(each):
            found = vars(each)[name]
            return found if isinstance(found, Member) else None
    return None


def members_of(cls: type) -> dict[str, Member]:
    """Returns the members of a class, those of base classes first, each as the most derived class has it."""
    names: dict[str, None] = {}
    for each in reversed(cls.__mro__):
        names.update((name, None) for name, thing in vars(each).items() if isinstance(thing, Member))
    found = {name: member_of(cls.__mro__, name) for name in names}
    return {name: member for name, member in found.items() if member is not None}


def describe_members(assembly: Home, known: Mapping[str, type]) -> list[Definition]:
    """Returns the definitions of an assembly's members."""
    found = []
    for name, member in members_of(type(assembly)).items():
        path = f"{assembly.name}.{name}"
        try:
            found.append(_describe(assembly, path, member, known))
        except Error as problem:
            _locate(problem, path, member)
            raise
    return found


def describe_alone(
    member: Member, key: str | None, known: Mapping[str, type], *, home: str | None = None
) -> Definition:
    """Returns the definition of a function that is in no class. ``home``: the assembly that gets it."""
    check_key(key)
    member = Member(member.function, member.scope, member.options, is_method=False)
    path: str = member.name if key is None else key
    try:
        return dataclasses.replace(_describe(None, path, member, known), home=home)
    except Error as problem:
        _locate(problem, path, member)
        raise


def _locate(problem: Error, path: str, member: Member) -> None:
    if "." not in problem.path:  # the name of a property, from the function
        problem.path = f"{path}.{problem.path}" if problem.path else path
    if not problem.file:
        problem.file, problem.line = member.place.get("file", ""), member.place.get("line", 0)


def _check_result(member: Member, declared: type | None, makes: Any) -> None:
    if declared is None or not isinstance(makes, type) or may_be(makes, declared):
        return
    if declared in (float, complex) and makes in (int, float):
        return
    raise WrongTypeError(f"{member} says that it makes a {declared.__name__}, and describes a {makes.__name__}")


def _describe(assembly: Home | None, key: str, member: Member, known: Mapping[str, type]) -> Definition:
    _ = member.signature  # which raises if it is invalid
    parameters = parameters_of(member.function, known, bound=member.is_method)
    positional, named = [], {}
    for index, each in enumerate(parameters):
        placeholder = Recipe(Argument(index, each.name))
        if each.keyword:
            named[each.name] = placeholder
        else:
            positional.append(placeholder)
    describing.depth += 1
    try:
        answer = member.function(*([] if assembly is None else [assembly]), *positional, **named)
    finally:
        describing.depth -= 1
    if not isinstance(answer, Recipe):
        raise WrongTypeError(
            f"{member} returned {answer!r}, which is no recipe: a member describes its object, by "
            "invivo.new(...), wire(...), child(...), constant(...) or another member"
        )
    result = hints_of(member.function, known).get("return")
    what = of_recipe(answer, plain_class(result), member.options.type)
    _check_result(member, plain_class(result), what["makes"])
    declared = what.pop("options", None) or member.options
    if may_be_none(result):
        declared = options(**{**vars(declared), "nullable": True})
    scope = member.scope
    if scope is None and isinstance(answer._node, Draft):
        scope = answer._node.scope
    place = member.place
    return Definition(
        key,
        scope,
        file=place.get("file", ""),
        line=place.get("line", 0),
        arguments=parameters,
        options=declared,
        home=None if assembly is None else assembly.name,
        generic=result if isinstance(typing.get_origin(result), type) else None,
        **what,
    )
