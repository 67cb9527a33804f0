"""Assemblies: named sets of definitions, as a class whose members are the definitions, or filled one by one."""

from __future__ import annotations

import builtins
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from ._definitions import Definition, definition, snake
from ._hints import hints_of
from ._members import Member, describe_alone, member_in, member_of, members_of, plain, scope_of
from ._processors import Processor, decorator, visitor
from ._recipes import Options, Scope
from .errors import ArgumentError, ExistsError, NotReadyError, WrongTypeError

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._core import Core
    from ._runtime import Runtime

T = TypeVar("T")
W = TypeVar("W", bound=Callable[..., Any] | str)


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

    A member runs once, when the assembly is activated, to describe its definition; what it calls of other members are
    recipes then. Afterwards it answers the object. Called before that by anything else it raises `NotReadyError`.

    Its name is the class's in snake case, as in Swift: ``SynthVoice`` is ``synth_voice``, ``HTTPServer`` is
    ``http_server``, and underscores at its begin are left out. ``class Synth(invivo.Assembly, name="studio")`` gives it
    another one. A subclass overrides definitions by overriding members; it has its base's name unless it says ``class
    Other(Synth, name="other")``.

    Or filled one by one::

        app = invivo.Assembly("synth")
        app.lazy_singleton(Clock)
        app.define(voice)                                    # a function that describes one, decorated like a member

    What a constructor (or factory) wants and is not given is found by its annotations among all definitions of the
    runtime; ``Annotated[T, invivo.Named("key")]`` names a key, and keyword arguments are given as they are. A list,
    tuple or set of a class is one of each definition of it, as is a ``dict[str, T]``, by their keys. The name of a
    class's definition is the class's, in snake case. A type of another language is named,
    ``app.singleton("Oscillator", name="lead", wave="saw")``: the keyword arguments are what its making takes and its
    properties. It is registered by the time the assembly is activated.
    """

    __invivo_name__: ClassVar[str | None] = None
    __invivo_place__: ClassVar[tuple[str, int]] = "", 0  # the file and line of its class statement

    name: str
    definitions: dict[str, Definition]
    processors: list[Processor]
    members: tuple[str, ...]  # the keys of its members, while it is active
    _core: Core | None
    _collaborators: dict[str, Any]
    _own_name: str | None  # while it is mounted: its name is then the prefix

    def __init_subclass__(cls, *, name: str | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.__invivo_place__ = _place_of(cls)
        if name is not None or cls.__invivo_name__ is None:
            cls.__invivo_name__ = _checked(snake(cls.__name__).lstrip("_") if name is None else name)
        for attribute, thing in list(vars(cls).items()):
            if isinstance(thing, types.FunctionType):
                former = member_of(cls.__mro__[1:], attribute)
                if former is not None:  # an override need not say again what its base has said
                    thing = Member(thing, former.scope, former.options)
                    thing.__set_name__(cls, attribute)
                    setattr(cls, attribute, thing)
                elif not attribute.startswith("_") and not inspect.iscoroutinefunction(thing):
                    setattr(cls, attribute, plain(thing))
            inner = member_in(thing)
            if inner is not None:
                raise ArgumentError(
                    f"{cls.__name__}.{attribute}: the definition is wrapped in a {type(thing).__name__}: put its "
                    "decorator above all others",
                    path=attribute,
                    **inner.place,
                )
            taken = hasattr(Assembly, attribute) or attribute in inspect.get_annotations(Assembly)
            if isinstance(thing, Member) and taken:
                raise ArgumentError(
                    f"{cls.__name__}.{attribute}: every assembly has a {attribute}; give the definition another name",
                    path=attribute,
                    **thing.place,
                )

    def __new__(cls, *_: Any, **__: Any) -> Self:
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

    def define(self, described: W, /, name: str | None = None) -> W:
        """A function that describes a definition, as a member does. Its parameters are the runtime arguments::

        @invivo.prototype
        def voice(note: int) -> Voice:
            return invivo.wire(Voice, note=note)

        app.define(voice)
        """
        if not isinstance(described, Member):
            raise WrongTypeError(
                f"{described!r} does not describe a definition: decorate a function, as by @invivo.prototype"
            )
        key = described.name if name is None else name
        made = describe_alone(described, key if "." in key else f"{self.name}.{key}", {}, home=self.name)
        self._enter(made)
        return described

    def _add(self, what: W, scope: Scope, name: str | None, said: Options | None, overrides: Mapping[str, Any]) -> W:
        made = definition(name, what, scope, overrides, assembly=self.name, options=said, depth=3)
        self._enter(made)
        return what

    def _enter(self, made: Definition) -> None:
        former = self.definitions.get(made.key)
        if former is not None:
            raise _twice(made.key, former, made)
        self.definitions[made.key] = made

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
            message = f"the assembly {type(self).__name__} has no {name!r}"
            if any(name in inspect.get_annotations(each) for each in type(self).__mro__):
                message += (
                    ": it is annotated, and its class is no assembly. A definition is a method: "
                    f"@invivo.lazy_singleton, def {name}(self) -> ...; another assembly without a class of its own is "
                    f"{name} = invivo.collaborator()"
                )
            raise AttributeError(message)

    def __repr__(self) -> str:
        names = [*(f"{self.name}.{each}" for each in members_of(type(self))), *self.definitions]
        return f"<invivo.Assembly {self.name}: {', '.join(names) or 'empty'}>"


def _checked(name: str) -> str:
    if not name or name.startswith(".") or name.endswith("."):
        raise ArgumentError(f"{name!r} is no name for an assembly")
    return name


def _place_of(cls: type) -> tuple[str, int]:
    """Where the class statement is that is being executed. Its source need not be read for that: parsing, which
    `inspect` does, may fail while another thread parses (CPython 3.11)."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if frame.f_globals.get("__name__") == cls.__module__ and code.co_name != "__init_subclass__":
            return ("", 0) if code.co_filename.startswith("<") else (code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return "", 0


def _twice(key: str, one: Definition, other: Definition) -> ExistsError:
    return ExistsError(
        f"the key is defined twice, at {one.place} and at {other.place}; give one of the two another name",
        path=key,
        file=other.file,
        line=other.line,
    )


# ---- collaborators -------------------------------------------------------------------------------------


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


def _classes(base: type[Any]) -> Iterator[type]:
    for each in base.__subclasses__():
        yield from _classes(each)
        yield each
