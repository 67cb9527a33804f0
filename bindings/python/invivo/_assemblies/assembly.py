"""Assemblies: named sets of definitions, as a class whose members are the definitions, or filled one by one."""

from __future__ import annotations

import builtins
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from .._classes.annotations import hints_of
from .._declarations.context_kinds import ContextKind
from .._declarations.recipes import Options, Scope
from .._native import strings
from ..errors import ArgumentError, ExistsError, NotReadyError, WrongTypeError
from .definitions import Definition, context_scope, definition
from .members import ActiveIn, Member, describe_alone, members_of, scope_of
from .processors import Processor, decorator, visitor

if TYPE_CHECKING:
    from typing_extensions import Self

W = TypeVar("W", bound=Callable[..., Any] | str)


class AssemblyDescription:
    """A named set of definitions: the part of an assembly that describes them."""

    __invivo_name__: ClassVar[str | None] = None
    __invivo_secrets__: ClassVar[tuple[str, ...]] = ()  # the secret paths of its class, those of its bases included
    __invivo_location__: ClassVar[tuple[str, int]] = "", 0  # the file and line of its class statement

    name: str
    definitions: dict[str, Definition]
    processors: list[Processor]
    members: tuple[str, ...]  # the keys of its members, while it is active
    _core: ActiveIn | None
    _collaborators: dict[str, Any]
    _secrets: tuple[str, ...]
    _own_name: str | None  # while it is mounted: its name is then the prefix

    def __new__(cls, *_: Any, **__: Any) -> Self:
        self = super().__new__(cls)
        self.name = cls.__invivo_name__ or ""
        self.definitions = {}
        self.processors = []
        self.members = ()
        self._core = None
        self._collaborators = {}
        self._secrets = cls.__invivo_secrets__
        self._own_name = None
        return self

    def __init__(self, name: str | None = None, *, secrets: Iterable[str] = ()) -> None:
        if name is not None or not self.name:
            self.name = checked_name(name or "")
        self._secrets += checked_secrets(secrets)

    def is_active_in(self, core: object) -> bool:
        """Whether it is active in a runtime."""
        return self._core is core

    # ---- filling it one by one ---------------------------------------------------------------------------

    def graph(self, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any) -> W:
        """Adds a definition with one object for each outermost resolve, shared by everything that is created in it."""
        return self._add(what, "graph", name, options, overrides)

    def prototype(self, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any) -> W:
        """Adds a definition with a new object for each resolve."""
        return self._add(what, "prototype", name, options, overrides)

    def lazy_singleton(
        self, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any
    ) -> W:
        """Adds a definition with one object, built by the first resolve."""
        return self._add(what, "lazy_singleton", name, options, overrides)

    def singleton(self, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any) -> W:
        """Adds a definition with one object, built when the assembly is activated."""
        return self._add(what, "singleton", name, options, overrides)

    def weak_singleton(
        self, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any
    ) -> W:
        """Adds a definition with one object that lives as long as it is held."""
        return self._add(what, "weak_singleton", name, options, overrides)

    def in_scope(
        self, scope: str, what: W, /, name: str | None = None, options: Options | None = None, **overrides: Any
    ) -> W:
        """Adds a definition with one object for each instance of a scope: ``"thread"``, or one of
        :meth:`Runtime.scope`.
        """
        return self._add(what, scope_of(scope), name, options, overrides)

    def in_context(
        self,
        kind: str | ContextKind | None,
        what: W,
        /,
        name: str | None = None,
        options: Options | None = None,
        **overrides: Any,
    ) -> W:
        """Adds a definition with one object for each context of a kind, such as ``"request"``; None: for each context
        in which it is resolved.
        """
        return self._add(what, context_scope(kind), name, options, overrides)

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
        return described  # pyright: ignore[reportReturnType]  # to type checkers a member is the function

    def _add(self, what: W, scope: Scope, name: str | None, options: Options | None, overrides: Mapping[str, Any]) -> W:
        made = definition(name, what, scope, overrides, assembly=self.name, options=options, depth=3)
        self._enter(made)
        return what

    def _enter(self, made: Definition) -> None:
        former = self.definitions.get(made.key)
        if former is not None:
            raise defined_twice(made.key, former, made)
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
        """Adds a decorator: a function that gets each created object, and returns its replacement (or None)::

            @app.decorate
            def logged(store: Store) -> Store:
                return LoggingStore(store)

        It applies to objects of the class in its parameter's annotation, of a ``type``, of a ``key``, or to all. Or a
        component decorates, by its key: see `Changes.decorate`. It is active as long as the assembly is.
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
        """Adds a function that visits each definition before it is compiled. It gets a `Described` to change."""
        if visit is None:
            return lambda function: self.process(function, key=key, type=type, name=name, priority=priority)
        self.processors.append(
            visitor(visit, key=self._key(key), type=type, name=name, priority=priority, home=self.name)
        )
        return visit

    # ---- activated ---------------------------------------------------------------------------------------

    def _mount(self, prefix: str) -> None:
        """Gives the assembly a prefix instead of its name, also in the keys of its definitions."""
        own, self._own_name = self.name, self.name
        self._rename(own, checked_name(prefix))

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


def checked_name(name: str) -> str:
    if not name or name.startswith(".") or name.endswith("."):
        raise ArgumentError(f"{name!r} is no name for an assembly")
    return name


def checked_secrets(paths: Iterable[str]) -> tuple[str, ...]:
    """Returns the secret paths of an assembly."""
    return tuple(strings.listed(paths, "secrets", '["database.password"]'))


def location_of(cls: type) -> tuple[str, int]:
    """Where the class statement is that is being executed. Its source need not be read for that: parsing, which
    `inspect` does, may fail while another thread parses (CPython 3.11)."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if frame.f_globals.get("__name__") == cls.__module__ and code.co_name != "__init_subclass__":
            return ("", 0) if code.co_filename.startswith("<") else (code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return "", 0


def defined_twice(key: str, one: Definition, other: Definition) -> ExistsError:
    return ExistsError(
        f"the key is defined twice, at {one.place} and at {other.place}; give one of the two another name",
        path=key,
        file=other.file,
        line=other.line,
    )


class Collaborator:
    """Another assembly, found when the assembly with this attribute is activated."""

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.name = "?"

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else instance._collaborator(self.name)


def collaborator(key: str | None = None) -> Any:
    """Declares an attribute of an assembly that is another assembly.

    It is the one with this name, or one that declares this name (as a class that derives from such a one does), or (by
    the annotation) one that is an instance of the class or conforms to the protocol.
    """
    return Collaborator(key)


def collaborators_of(cls: type) -> dict[str, Any]:
    """Returns the attributes that are other assemblies: each with its class or protocol, or the name of an assembly."""
    found: dict[str, Any] = {}
    hints: dict[str, Any] | None = None
    for owner in reversed(cls.__mro__):
        if not (isinstance(owner, type) and issubclass(owner, AssemblyDescription)) or is_root(owner):
            continue
        for name in inspect.get_annotations(owner):
            declared = inspect.getattr_static(cls, name, None)
            if name.startswith("_") or (declared is not None and not isinstance(declared, Collaborator)):
                continue
            hints = hints_of(cls) if hints is None else hints
            wanted = hints.get(name)
            if isinstance(wanted, str):
                wanted = next((each for each in _classes(AssemblyDescription) if each.__name__ == wanted), wanted)
            if isinstance(declared, Collaborator):
                found[name] = declared.key if declared.key is not None else wanted
            elif isinstance(wanted, type) and issubclass(wanted, AssemblyDescription):
                found[name] = wanted
        for name, thing in vars(owner).items():
            if isinstance(thing, Collaborator) and name not in found:
                found[name] = thing.key
    return found


def _classes(base: type[Any]) -> Iterator[type]:
    for each in base.__subclasses__():
        yield from _classes(each)
        if not is_root(each):
            yield each


def is_root(cls: type) -> bool:
    """Whether it is a class that assemblies derive from, and not the class of an assembly."""
    return "__invivo_name__" in vars(cls) and vars(cls)["__invivo_name__"] is None


def kinds_of(cls: type, name: str) -> list[str]:
    """Returns the supertypes of an assembly's class by name: its base classes, and its declared protocols."""
    found: dict[str, None] = {}
    for each in cls.__mro__:
        if is_root(each):
            break
        found[each.__name__] = None
        own = getattr(each, "__invivo_name__", None) if issubclass(each, AssemblyDescription) else None
        if own:
            found[own] = None
    found.pop(name, None)
    return list(found)
