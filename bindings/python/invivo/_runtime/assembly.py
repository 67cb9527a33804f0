"""Assemblies as Python programs use them."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable
from typing import Any, TypeVar, cast, overload

from .._assemblies.assembly import AssemblyDescription, checked_name, checked_secrets, location_of
from .._assemblies.definitions import snake
from .._assemblies.members import Member, member_in, member_of, plain
from ..errors import ArgumentError, NotReadyError
from .runtime import Runtime

T = TypeVar("T")


class Assembly(AssemblyDescription):
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

    A member runs once, when the assembly is activated, to describe its definition. Other members that it calls return
    recipes then. Afterwards it returns the object. Any other call before activation raises `NotReadyError`.

    Its name is that of the class in snake case, as in Swift: ``SynthVoice`` is ``synth_voice``, ``HTTPServer`` is
    ``http_server``, and leading underscores are left out. ``class Synth(invivo.Assembly, name="studio")`` gives it
    another one. A subclass overrides definitions by overriding members. It has the name of its base, unless it is
    declared as ``class Other(Synth, name="other")``.

    Or filled one by one::

        app = invivo.Assembly("synth")
        app.lazy_singleton(Clock)
        app.define(voice)                                    # a function that describes one, decorated like a member

    Missing arguments of a constructor (or factory) are found by its annotations among all definitions of the runtime.
    ``Annotated[T, invivo.Named("key")]`` names a key, and keyword arguments are passed as they are. A list, tuple or
    set of a class gets one object of each definition, and a ``dict[str, T]`` gets them by their keys. The name of a
    class's definition is that of the class, in snake case. A type of another language is named,
    ``app.singleton("Oscillator", name="lead", wave="saw")``: the keyword arguments are those of its initializer and
    its properties. It must be registered when the assembly is activated.

    ``secrets=["database.password"]``, of the class or of the constructor, are paths of the configuration that are
    secret while the assembly is active: messages and graphs do not show their values. A subclass has those of its base,
    too.
    """

    __invivo_name__ = cast("str | None", None)

    def __init_subclass__(cls, *, name: str | None = None, secrets: Iterable[str] = (), **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.__invivo_location__ = location_of(cls)
        cls.__invivo_secrets__ += checked_secrets(secrets)
        if name is not None or cls.__invivo_name__ is None:
            cls.__invivo_name__ = checked_name(snake(cls.__name__).lstrip("_") if name is None else name)
        for attribute, thing in list(vars(cls).items()):
            if isinstance(thing, types.FunctionType):
                former = member_of(cls.__mro__[1:], attribute)
                if former is not None:  # an override has the scope and options of its base
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
            taken = hasattr(Assembly, attribute) or attribute in inspect.get_annotations(AssemblyDescription)
            if isinstance(thing, Member) and taken:
                raise ArgumentError(
                    f"{cls.__name__}.{attribute}: every assembly has a {attribute}; give the definition another name",
                    path=attribute,
                    **thing.place,
                )

    # ---- active ------------------------------------------------------------------------------------------

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
        return cast(Runtime, self._core.runtime())

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
