"""Assemblies: named sets of definitions, as a class whose members are the definitions, or filled one by one."""

from __future__ import annotations

import builtins
import functools
import inspect
import threading
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from . import _generated as c
from ._describe import hints_of, parameters_of
from ._index import behaves
from ._processors import Processor, decorator, visitor
from ._recipes import Argument, Draft, Hook, Options, Recipe, Ref, Scope, options
from ._wiring import Definition, check_scope, definition, may_be_none, of_recipe, plain_class, snake
from .errors import (
    AmbiguousError,
    ArgumentError,
    ArityError,
    ClosedError,
    Error,
    ExistsError,
    NotFoundError,
    NotReadyError,
    WrongTypeError,
)

if TYPE_CHECKING:
    from ._core import Core
    from ._runtime import Runtime

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
W = TypeVar("W", bound=Callable[..., Any] | str)


class _Describing(threading.local):
    depth = 0


_describing = _Describing()


# ---- members -------------------------------------------------------------------------------------------


class Member:
    """A definition as an assembly's class has it: a method that describes it. Or a function that describes one which
    is defined by itself (then it gets no assembly)."""

    def __init__(
        self, function: Callable[..., Any], scope: Scope | None, said: Options, *, is_method: bool = True
    ) -> None:
        check_scope(scope)
        self.function, self.scope, self.options, self.is_method = function, scope, said, is_method
        self.name = getattr(function, "__name__", "?")
        self.owner = "?"
        functools.update_wrapper(self, function)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.owner = name, owner.__name__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else Bound(instance, self)

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            f"{self.owner}.{self.name} is a definition: call it on an assembly, an instance of {self.owner}"
        )

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
    """A member of one assembly. Called before activation it is the recipe, afterwards the factory."""

    __slots__ = ("assembly", "member")

    def __init__(self, assembly: Assembly, member: Member) -> None:
        self.assembly, self.member = assembly, member

    @property
    def key(self) -> str:
        return f"{self.assembly.name}.{self.member.name}"

    def __call__(self, *positional: Any, **named: Any) -> Any:
        active = self.assembly._core
        if active is not None and positional and not named and not _describing.depth:
            plan = active.plans.taking.get(f"{self.assembly.name}.{self.member.name}")
            if plan is not None and plan.takes == len(positional) and active.faces:
                return plan.make(active.faces[0], *positional)
        if _describing.depth:
            if inspect.getattr_static(type(self.assembly), self.member.name) is not self.member:
                return self._former(positional, named)
            return self.reference(*positional, **named)
        core = self.assembly._core
        if core is None:
            return self.reference(*positional, **named)
        if core.closed:
            raise ClosedError(f"the runtime of the assembly {self.assembly.name!r} is closed", path=self.key)
        face: Any = self.assembly.runtime
        if self.member.may_be_none:
            return face.resolve_optional(self.key, *positional, **named)
        return face.resolve(self.key, *positional, **named)

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
        """What ``super().member()`` says, for an override to go on with."""
        answer = self.member.function(self.assembly, *positional, **named)
        if isinstance(answer, Recipe) and isinstance(answer._node, Draft):
            answer._node.layer += 1
        return answer

    def __repr__(self) -> str:
        return f"<invivo definition {self.key}>"


def _decorator(scope: Scope | None) -> Any:
    def decorate(function: Any = None, /, **said: Any) -> Any:
        if function is None:
            return lambda function: Member(function, scope, options(**said))
        if not isinstance(function, types.FunctionType):
            raise WrongTypeError(f"a definition is a method of an assembly, not {function!r}")
        return Member(function, scope, options(**said))

    return decorate


if TYPE_CHECKING:
    # To a type checker a member stays the method that it is written as: names, arguments and result are checked, and
    # so is an override.
    from ._recipes import Hidden

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
            start_timeout: float | None = None,
            stop_timeout: float | None = None,
        ) -> Callable[[F], F]: ...
        def __call__(self, *_: Any, **__: Any) -> Any: ...


define: _Decorator = _decorator(None)
define.__doc__ = "A member of an assembly: a definition of graph scope, or of its parent's."
graph: _Decorator = _decorator("graph")
graph.__doc__ = "A member of an assembly: one object for each outermost resolve, for everything that is made in it."
prototype: _Decorator = _decorator("prototype")
prototype.__doc__ = "A member of an assembly: a new object for each reference; inside its own making that is itself."
lazy_singleton: _Decorator = _decorator("lazy_singleton")
lazy_singleton.__doc__ = "A member of an assembly: one object for each set of arguments, built by the first resolve."
singleton: _Decorator = _decorator("singleton")
singleton.__doc__ = "A member of an assembly: one object, built when the assembly is activated."
weak_singleton: _Decorator = _decorator("weak_singleton")
weak_singleton.__doc__ = "A member of an assembly: one object for as long as somebody holds it."


def in_scope(name: str) -> _Decorator:
    """A member of an assembly in a scope with places: ``@in_scope("thread")`` is one object for each thread, until it
    ends; another name is that of a scope that the runtime was given (:meth:`Runtime.scope`)."""
    made: _Decorator = _decorator(scope_of(name))
    return made


def scope_of(name: str) -> Scope:
    """What definitions say of a scope with places."""
    return name if name in ("thread", "context") else f"in {name}"


class Collaborator:
    """Another assembly, found when the one that has this attribute is activated."""

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.name = "?"

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else instance._collaborator(self.name)


def collaborator(key: str | None = None) -> Any:
    """An attribute of an assembly that is another assembly: the one of this name, or one that says that it is that (as
    a class that derives from it does), or (by its annotation) one that is or behaves as the class or protocol."""
    return Collaborator(key)


class ByName:
    """An assembly that is known by its name alone."""

    def __init__(self, name: str, core: Core, leads_to: str | None = None) -> None:
        """``leads_to``: where a mount remaps it."""
        self._name, self._core, self._leads_to = name, core, leads_to or name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        key = f"{self._name}.{name}"

        def member(*positional: Any, **named: Any) -> Any:
            if _describing.depth:
                made = self._core.definitions.get(f"{self._leads_to}.{name}")
                given = positional if made is None else made.bind(positional, named)
                return Recipe(Ref(key, tuple(given)))
            face: Any = self._core.face()
            return face.resolve(f"{self._leads_to}.{name}", *positional, **named)

        return member


# ---- assemblies ----------------------------------------------------------------------------------------


class Assembly:
    """A named set of definitions. Keys are ``assembly.name``.

    As a class::

        class Synth(invivo.Assembly):
            tuning: Tuning                                   # another assembly, a collaborator

            @invivo.lazy_singleton
            def clock(self) -> Clock:
                return invivo.new(SystemClock, rate=48_000)

            @invivo.prototype
            def voice(self, note: int) -> Voice:
                voice = invivo.new(Voice, note, self.clock())
                voice.scale = self.tuning.scale()
                return voice

        with invivo.Runtime(synth := Synth()) as runtime:
            synth.voice(60)

    A member runs once, when the assembly is activated, to describe its definition. Before activation it answers the
    recipe, afterwards the object. A subclass overrides definitions by overriding members; it has its base's name unless
    it says ``class Other(Synth, name="other")``.

    Or filled one by one::

        app = invivo.Assembly("synth")
        app.lazy_singleton(Clock)

    What a constructor (or factory) wants and is not given is found by its annotations among all definitions of the
    runtime; ``Annotated[T, invivo.Named("key")]`` names a key, and keyword arguments are given as they are. A list,
    tuple or set of a class is one of each definition of it, as is a ``dict[str, T]``, by their keys. The name of a
    class's definition is the class's, in snake case. A type of another language is named,
    ``app.singleton("Oscillator", name="lead", wave="saw")``: the keyword arguments are what its making takes and its
    properties. It is registered by the time the assembly is activated.
    """

    __invivo_name__: ClassVar[str | None] = None

    name: str
    definitions: dict[str, Definition]
    processors: list[Processor]
    members: tuple[str, ...]  # the keys of its members, while it is active
    _core: Core | None
    _collaborators: dict[str, Any]
    _own_name: str | None  # while it is mounted: its name is then the prefix

    def __init_subclass__(cls, *, name: str | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if name is not None or cls.__invivo_name__ is None:
            cls.__invivo_name__ = _checked(snake(cls.__name__).lstrip("_") if name is None else name)
        for attribute, thing in list(vars(cls).items()):
            if isinstance(thing, types.FunctionType):
                former = _member(cls.__mro__[1:], attribute)
                if former is not None:  # an override need not say again what its base has said
                    thing = Member(thing, former.scope, former.options)
                    thing.__set_name__(cls, attribute)
                    setattr(cls, attribute, thing)
            taken = hasattr(Assembly, attribute) or attribute in inspect.get_annotations(Assembly)
            if isinstance(thing, Member) and taken:
                raise ArgumentError(
                    f"{cls.__name__}.{attribute}: every assembly has a {attribute}; give the definition another name",
                    path=attribute,
                    **thing.place,
                )

    def __new__(cls, *_: Any, **__: Any) -> Any:
        self = super().__new__(cls)
        self.name = cls.__invivo_name__ or ""
        self.definitions = {}
        self.processors = []
        self.members = ()
        self._core = None
        self._collaborators = {}
        self._own_name = None
        return self

    def __init__(self, name: str | None = None) -> None:
        if name is not None or not self.name:
            self.name = _checked(name or "")

    # ---- filling it one by one ---------------------------------------------------------------------------

    def graph(self, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any) -> W:
        """One for each outermost resolve, for everything that is made in it."""
        return self._add(what, "graph", name, options, overrides)

    def prototype(self, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any) -> W:
        """A new one for each resolve."""
        return self._add(what, "prototype", name, options, overrides)

    def lazy_singleton(
        self, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any
    ) -> W:
        """One, built by the first resolve."""
        return self._add(what, "lazy_singleton", name, options, overrides)

    def singleton(self, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any) -> W:
        """One, built when the assembly is activated."""
        return self._add(what, "singleton", name, options, overrides)

    def weak_singleton(
        self, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any
    ) -> W:
        """One, as long as somebody holds it."""
        return self._add(what, "weak_singleton", name, options, overrides)

    def in_scope(
        self, scope: str, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any
    ) -> W:
        """One for each place of a scope: ``"thread"``, or one of :meth:`Runtime.scope`."""
        return self._add(what, scope_of(scope), name, options, overrides)

    def _add(self, what: W, scope: Scope, name: str | None, said: Options | None, overrides: Mapping[str, Any]) -> W:
        made = definition(name, what, scope, overrides, assembly=self.name, options=said, depth=3)
        former = self.definitions.get(made.key)
        if former is not None:
            raise _twice(made.key, former, made)
        self.definitions[made.key] = made
        return what

    @overload
    def decorate(
        self,
        *,
        key: str | None = None,
        type: builtins.type | str | None = None,
        name: str | None = None,
        priority: int = 0,
    ) -> Callable[[W], W]: ...
    @overload
    def decorate(
        self,
        what: W,
        /,
        *,
        key: str | None = None,
        type: builtins.type | str | None = None,
        name: str | None = None,
        priority: int = 0,
        method: str | None = None,
    ) -> W: ...
    def decorate(  # type: ignore[misc]
        self,
        what: Any = None,
        /,
        *,
        key: str | None = None,
        type: builtins.type | str | None = None,
        name: str | None = None,
        priority: int = 0,
        method: str | None = None,
    ) -> Any:
        """A function of the assembly that gets each object that is made, and answers what takes its place (or None)::

            @app.decorate
            def logged(store: Store) -> Store:
                return LoggingStore(store)

        For what its parameter is annotated with, a ``type``, a ``key``, or everything; or a component by its key, as
        `Changes.decorate` says. It comes and goes with the assembly.
        """
        if what is None:
            return lambda function: self.decorate(
                function, key=key, type=type, name=name, priority=priority, method=method
            )
        component = self._key(what) if isinstance(what, str) else what
        one = decorator(
            component, key=self._key(key), type=type, name=name, priority=priority, method=method, home=self.name
        )
        self.processors.append(one)
        return what

    @overload
    def process(
        self,
        *,
        key: str | None = None,
        type: builtins.type | str | None = None,
        name: str | None = None,
        priority: int = 0,
    ) -> Callable[[W], W]: ...
    @overload
    def process(
        self,
        visit: W,
        /,
        *,
        key: str | None = None,
        type: builtins.type | str | None = None,
        name: str | None = None,
        priority: int = 0,
    ) -> W: ...
    def process(  # type: ignore[misc]
        self,
        visit: Any = None,
        /,
        *,
        key: str | None = None,
        type: builtins.type | str | None = None,
        name: str | None = None,
        priority: int = 0,
    ) -> Any:
        """A function of the assembly that visits each definition before it is compiled, and may change it: it gets a
        `Described`."""
        if visit is None:
            return lambda function: self.process(function, key=key, type=type, name=name, priority=priority)
        self.processors.append(
            visitor(visit, key=self._key(key), type=type, name=name, priority=priority, home=self.name)
        )
        return visit

    # ---- activated ---------------------------------------------------------------------------------------

    @property
    def runtime(self) -> Runtime:
        """The runtime that it is active in."""
        return self._active("runtime")

    def _active(self, what: str) -> Runtime:
        if self._core is None:
            raise NotReadyError(
                f"{what} needs the assembly {self.name!r} to be activated: give it to invivo.Runtime(...), or to "
                "runtime.activate()",
                path=self.name,
            )
        face: Any = self._core.face()
        return face  # type: ignore[no-any-return]

    def _mount(self, prefix: str) -> None:
        """It is called by the prefix from now on, and so is what it says of its own."""
        own, self._own_name = self.name, self.name
        self._rename(own, _checked(prefix))

    def _unmount(self) -> None:
        if self._own_name is not None:
            prefix, own, self._own_name = self.name, self._own_name, None
            self._rename(prefix, own)

    def _rename(self, old: str, new: str) -> None:
        self.name = new
        self.definitions = {made.key: made for made in (each.moved(old, new) for each in self.definitions.values())}
        self.processors = [each.moved(old, new) for each in self.processors]

    def _key(self, key: Any) -> Any:
        return f"{self.name}.{key}" if isinstance(key, str) and "." not in key else key

    @overload
    def __getitem__(self, key: type[T]) -> T: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        """The object of a class, or of a key: ``app["knight"]`` is ``app["camelot.knight"]``."""
        return self._active(f"app[{getattr(key, '__name__', key)!s}]")[self._key(key)]

    @overload
    def resolve(self, key: type[T], *arguments: Any, **named: Any) -> T: ...
    @overload
    def resolve(self, key: str, *arguments: Any, **named: Any) -> Any: ...
    def resolve(self, key: Any, *arguments: Any, **named: Any) -> Any:
        return self._active("resolve()").resolve(self._key(key), *arguments, **named)

    @overload
    def resolve_optional(self, key: type[T], *arguments: Any, **named: Any) -> T | None: ...
    @overload
    def resolve_optional(self, key: str, *arguments: Any, **named: Any) -> Any: ...
    def resolve_optional(self, key: Any, *arguments: Any, **named: Any) -> Any:
        return self._active("resolve_optional()").resolve_optional(self._key(key), *arguments, **named)

    def resolve_all(self, of: type[T], *, exact: bool = False) -> list[T]:
        return self._active("resolve_all()").resolve_all(of, exact=exact)

    def resolve_type(self, of: type[T], name: str | None = None, *, exact: bool = False) -> T:
        return self._active("resolve_type()").resolve_type(of, name, exact=exact)

    def inject(self, thing: Any, key: str | None = None) -> None:
        self._active("inject()").inject(thing, self._key(key))

    def _collaborator(self, name: str) -> Any:
        found = self._collaborators.get(name)
        if found is None:
            raise NotReadyError(
                f"{type(self).__name__}.{name} is another assembly, which is found when this one is activated: give "
                "it to invivo.Runtime(...), or to runtime.activate()",
                path=f"{self.name}.{name}",
            )
        return found

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if not name.startswith("_") and name in collaborators_of(type(self)):
                return self._collaborator(name)
            raise AttributeError(f"the assembly {type(self).__name__} has no {name!r}")

    def __repr__(self) -> str:
        names = [*(f"{self.name}.{each}" for each in members_of(type(self))), *self.definitions]
        return f"<invivo.Assembly {self.name}: {', '.join(names) or 'empty'}>"


def _checked(name: str) -> str:
    if not name or name.startswith(".") or name.endswith("."):
        raise ArgumentError(f"{name!r} is no name for an assembly")
    return name


def _member(classes: Iterable[type], name: str) -> Member | None:
    for each in classes:
        if name in vars(each):
            found = vars(each)[name]
            return found if isinstance(found, Member) else None
    return None


def members_of(cls: type) -> dict[str, Member]:
    """The members, base classes' first, each as the most derived class has it."""
    names: dict[str, None] = {}
    for each in reversed(cls.__mro__):
        names.update((name, None) for name, thing in vars(each).items() if isinstance(thing, Member))
    found = {name: _member(cls.__mro__, name) for name in names}
    return {name: member for name, member in found.items() if member is not None}


def _twice(key: str, one: Definition, other: Definition) -> ExistsError:
    return ExistsError(
        f"the key is defined twice, at {one.place} and at {other.place}; give one of the two another name",
        path=key,
        file=other.file,
        line=other.line,
    )


# ---- describing ----------------------------------------------------------------------------------------


def describe_members(assembly: Assembly, known: Mapping[str, type]) -> list[Definition]:
    """The definitions of an assembly's members."""
    found = []
    for name, member in members_of(type(assembly)).items():
        path = f"{assembly.name}.{name}"
        try:
            found.append(_describe(assembly, path, member, known))
        except Error as problem:
            _locate(problem, path, member)
            raise
    return found


def describe_alone(member: Member, key: str | None, known: Mapping[str, type]) -> Definition:
    """The definition of a function that stands in no assembly."""
    member = Member(member.function, member.scope, member.options, is_method=False)
    key = member.name if key is None else key
    try:
        return _describe(None, key, member, known)
    except Error as problem:
        _locate(problem, key, member)
        raise


def _locate(problem: Error, path: str, member: Member) -> None:
    if "." not in problem.path:  # of the function: it says a property's name
        problem.path = f"{path}.{problem.path}" if problem.path else path
    if not problem.file:
        problem.file, problem.line = member.place.get("file", ""), member.place.get("line", 0)


def _describe(assembly: Assembly | None, key: str, member: Member, known: Mapping[str, type]) -> Definition:
    signature = member.signature
    parameters = parameters_of(member.function, known, bound=member.is_method)
    positional, named = [], {}
    for index, each in enumerate(parameters):
        placeholder = Recipe(Argument(index, each.name))
        if each.keyword:
            named[each.name] = placeholder
        else:
            positional.append(placeholder)
    _describing.depth += 1
    try:
        answer = member.function(*([] if assembly is None else [assembly]), *positional, **named)
    finally:
        _describing.depth -= 1
    if not isinstance(answer, Recipe):
        raise WrongTypeError(
            f"{member} answered {answer!r}, which is no recipe: a member describes its object, by "
            "invivo.new(...), wire(...), child(...), constant(...) or another member"
        )
    result = hints_of(member.function, known).get("return")
    what = of_recipe(answer, plain_class(result))
    said = what.pop("options", None) or member.options
    if may_be_none(result):
        said = options(**{**vars(said), "nullable": True})
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
        signature=signature,
        options=said,
        home=None if assembly is None else assembly.name,
        generic=result if isinstance(typing.get_origin(result), type) else None,
        **what,
    )


# ---- collaborators -------------------------------------------------------------------------------------


def collaborators_of(cls: type) -> dict[str, Any]:
    """The attributes that are other assemblies: class or protocol by name, or the name of an assembly."""
    found: dict[str, Any] = {}
    hints: dict[str, Any] | None = None
    for owner in reversed(cls.__mro__):
        if not (isinstance(owner, type) and issubclass(owner, Assembly)) or owner is Assembly:
            continue
        for name in inspect.get_annotations(owner):
            said = inspect.getattr_static(cls, name, None)
            if name.startswith("_") or (said is not None and not isinstance(said, Collaborator)):
                continue
            hints = hints_of(cls) if hints is None else hints
            wanted = hints.get(name)
            if isinstance(wanted, str):
                wanted = next((each for each in _classes(Assembly) if each.__name__ == wanted), wanted)
            if isinstance(said, Collaborator):
                found[name] = said.key if said.key is not None else wanted
            elif isinstance(wanted, type) and issubclass(wanted, Assembly):
                found[name] = wanted
        for name, thing in vars(owner).items():
            if isinstance(thing, Collaborator) and name not in found:
                found[name] = thing.key
    return found


def kinds_of(cls: type, name: str) -> list[str]:
    """What an assembly of a class is, by name: its base classes, and the protocols that they say they are."""
    found: dict[str, None] = {}
    for each in cls.__mro__:
        if each is Assembly:
            break
        found[each.__name__] = None
        own = getattr(each, "__invivo_name__", None) if issubclass(each, Assembly) else None
        if own:
            found[own] = None
    found.pop(name, None)
    return list(found)


def _classes(base: type[Any]) -> Iterator[type]:
    for each in base.__subclasses__():
        yield from _classes(each)
        yield each


class Gathering:
    """The assemblies that one reload activates: those given, and their collaborators."""

    def __init__(
        self, core: Core, given: Iterable[Assembly], mounted: Mapping[Assembly, Mapping[str, Any]] | None = None
    ) -> None:
        self.core = core
        self.mounted = mounted or {}
        self.given = list(dict.fromkeys(given))
        self.all = list(self.given)
        self.found: dict[Assembly, dict[str, Any]] = {}
        for each in self.all:  # grows meanwhile
            if not isinstance(each, Assembly):
                raise WrongTypeError(f"an invivo.Assembly is wanted, not {each!r}")
            if each._core is not None and each._core is not core and not each._core.closed:
                raise ExistsError(
                    f"the assembly {each.name!r} is active in another runtime: make another instance of it",
                    path=each.name,
                )
            self.found[each] = {
                name: self._collaborator(each, name, wanted) for name, wanted in collaborators_of(type(each)).items()
            }

    def _collaborator(self, asking: Assembly, name: str, wanted: Any) -> Any:
        own = vars(asking).get(name)
        if own is not None:  # set by hand
            if isinstance(own, Assembly) and own not in self.all:
                self.all.append(own)
            return own
        # What a mount leads elsewhere needs not be there.
        remap = self.mounted.get(asking, {})
        known_as = wanted if isinstance(wanted, str) else getattr(wanted, "__invivo_name__", None)
        if known_as is not None and known_as in remap:
            to = remap[known_as]
            return ByName(known_as, self.core, to.name if isinstance(to, Assembly) else to)
        if isinstance(wanted, str):
            if wanted in self.core.assemblies or any(each.name == wanted for each in self.all):
                return ByName(wanted, self.core)
            found = self._found(asking, name, wanted, lambda cls: wanted in kinds_of(cls, ""))
            if found is not None:
                return found
            if self.core.assembly_state(wanted) != c.INVIVO_ASSEMBLY_UNKNOWN:  # of another language
                return ByName(wanted, self.core)
            raise self._unmet(asking, name, f"named {wanted!r}")
        if not isinstance(wanted, type):
            raise self._unmet(asking, name, "and its annotation says nothing that could be found")
        found = self._found(asking, name, wanted, lambda cls: self._fits(cls, wanted))
        if found is not None:
            return found
        if issubclass(wanted, Assembly) and not inspect.isabstract(wanted):
            try:
                made = wanted()
            except TypeError:
                made = None
            if made is not None:
                self.all.append(made)
                return made
        raise self._unmet(asking, name, f"that is a {wanted.__name__}")

    def _found(self, asking: Assembly, name: str, wanted: type | str, fits: Callable[[type], bool]) -> Assembly | None:
        """The one that fits, of those that are given before those that are active."""
        for among in (self.given, self.core.active(), self.all):
            fitting = [each for each in among if each is not asking and fits(type(each))]
            exact = [each for each in fitting if type(each) is wanted]
            derived = [each for each in fitting if type(each) is not wanted]
            fitting = derived if among is self.given and derived else exact or derived
            if len(fitting) == 1:
                return fitting[0]
            if fitting:
                names = ", ".join(f"{each.name} ({type(each).__name__})" for each in fitting)
                raise AmbiguousError(
                    f"{type(asking).__name__}.{name} wants a {wanted if isinstance(wanted, str) else wanted.__name__}, "
                    f"and several are: {names}; set it by hand",
                    **self._at(asking, name),
                )
        return None

    def _fits(self, cls: type, wanted: type) -> bool:
        return wanted in cls.__mro__ or (not issubclass(wanted, Assembly) and behaves(cls, wanted))

    def _unmet(self, asking: Assembly, name: str, what: str) -> NotFoundError:
        there = ", ".join(dict.fromkeys(each.name for each in (*self.all, *self.core.active()))) or "none"
        return NotFoundError(
            f"{type(asking).__name__}.{name} is an assembly {what}, and none is given or active; there are: {there}. "
            "Activate it together with this one",
            **self._at(asking, name),
        )

    def _at(self, asking: Assembly, name: str) -> dict[str, Any]:
        try:
            file, line = inspect.getsourcefile(type(asking)) or "", inspect.getsourcelines(type(asking))[1]
        except (OSError, TypeError):
            file, line = "", 0
        return {"path": f"{asking.name}.{name}", "file": file, "line": line}


__all__ = [
    "Assembly",
    "Bound",
    "Collaborator",
    "Member",
    "collaborator",
    "define",
    "graph",
    "in_scope",
    "lazy_singleton",
    "prototype",
    "singleton",
    "weak_singleton",
]
