"""Keys and the definitions in force for them, as the library describes them.

The library knows which definition is in force: overrides, replacements and removals by any language count. Its answers
are cached for a version of the key. The only table kept here is that of the declarations that Python has written, for
the annotations of their runtime arguments: the library has no more than the kind and the type's name of an argument.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from .. import _generated as c
from .._classes.callables import Parameter
from .._classes.hints import Hint, crossing_kind, for_python
from .._native import strings
from .._values import conversion
from .._values.exact import Exact, crosses
from .._values.fields import dataclass
from .._values.handles import Handles
from ..errors import ArityError, Error, HandleError, within
from .types import Types


class Declared(Protocol):
    """A definition as Python has written it."""

    @property
    def file(self) -> str: ...

    @property
    def line(self) -> int: ...

    @property
    def arguments(self) -> tuple[Parameter, ...]: ...


@dataclass(frozen=True)
class Facts:
    """The definition that is in force for a key."""

    key: str
    makes: type | str | None  # a class, or the name of a type of another language
    scope: int  # INVIVO_SCOPE_...
    making: str
    file: str
    line: int
    arguments: tuple[Parameter, ...]  # the runtime arguments
    stays: bool  # only objects of Python receive the runtime arguments

    @property
    def is_shared(self) -> bool:
        """Whether the graph holds its object, or that of a context."""
        return self.scope in (c.INVIVO_SCOPE_SINGLETON, c.INVIVO_SCOPE_LAZY_SINGLETON, c.INVIVO_SCOPE_CONTEXT)

    def bind(self, positional: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Returns the runtime arguments in order. The library completes arguments that are left out at the end."""
        given = list(positional)
        if not named:
            return given
        names = [each.name for each in self.arguments]
        left = dict(named)
        last = max((names.index(name) for name in named if name in names), default=-1)
        for index, each in enumerate(self.arguments[len(given) : last + 1], len(given)):
            if each.name in left:
                given.append(left.pop(each.name))
            elif each.optional:
                given.append(each.default.fresh() if isinstance(each.default, Exact) else each.default)
            else:
                raise self._misfit(f"missing a required argument: {each.name!r}")
            assert len(given) == index + 1
        for name in left:
            twice = name in names
            raise self._misfit(
                f"multiple values for argument {name!r}" if twice else f"got an unexpected keyword argument {name!r}"
            )
        return given

    def _misfit(self, problem: str) -> ArityError:
        names = ", ".join(each.name for each in self.arguments)
        return ArityError(f"{self.key}({names}): {problem}", path=self.key, file=self.file, line=self.line)


class Keys:
    """The keys of one runtime."""

    def __init__(self, core: Handles, types: Types) -> None:
        self._core, self._types = core, types
        self.declared: dict[str, Declared] = {}  # by key; another definition may be in force
        self._handles: dict[str, tuple[c.invivo_key, ctypes.c_uint64]] = {}
        self._facts: dict[str, tuple[int, Facts]] = {}  # each with the version of the key

    def handle(self, name: str) -> tuple[c.invivo_key, ctypes.c_uint64]:
        """Returns the handle of a key, and the word that holds its version."""
        known = self._handles.get(name)
        if known is None:
            library, handle = self._core.library, c.invivo_key()
            library.call("key_find", self._core.handle, strings.name_bytes(name, "key"), ctypes.byref(handle))
            address = ctypes.cast(library.key_version(handle), ctypes.c_void_p).value
            if not address:
                raise HandleError(f"the key {name} has no version")
            known = self._handles.setdefault(name, (handle, ctypes.c_uint64.from_address(address)))
        return known

    def name(self, key: c.invivo_key) -> str:
        """Returns the name of a key."""
        return strings.text(self._core.library.key_name(key))

    def facts(self, name: str) -> Facts | None:
        """Returns the definition in force for a key, or None if there is none or the library cannot be asked."""
        try:
            return self._describe(name)
        except Error:
            return None

    def bind(self, name: str, positional: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """Returns the runtime arguments for a key, in order."""
        return self._describe(name).bind(positional, named) if named else positional

    def pack(self, packer: conversion.Packer, name: str, arguments: Iterable[Any]) -> tuple[Any, int]:
        """Converts runtime arguments for a key. An error names the argument, and where the definition is."""
        things = list(arguments)
        made = self.facts(name) if things else None
        with within(name) if made is None else within(name, made.file, made.line):
            if made is None:
                return packer.array(things)
            kinds = [crossing_kind(each.hint) for each in made.arguments]
            if made.stays and not all(map(crosses, things)):
                hints = [each.hint for each in made.arguments]
                things = [
                    for_python(thing, hints[i] if i < len(hints) else None, is_argument=True)
                    for i, thing in enumerate(things)
                ]
            return packer.array(things, [each.name for each in made.arguments], kinds)

    def close(self) -> None:
        """Forgets everything: the runtime is closed."""
        self.declared.clear()
        self._handles.clear()
        self._facts.clear()

    def _describe(self, name: str) -> Facts:
        handle, word = self.handle(name)
        version, known = word.value, self._facts.get(name)
        # Code in a callback may be part of a commit, which sees the next generation.
        is_cached = not self._core.activity.calling
        if known is not None and known[0] == version and is_cached:
            return known[1]
        found = self._read(name, conversion.ask(self._core, "key_describe", self._core.handle, handle, wrapped=True))
        if is_cached:
            self._facts[name] = version, found
        return found

    def _read(self, name: str, facts: Mapping[str, Any]) -> Facts:
        arguments = tuple(self._parameter(each) for each in facts["parameters"])
        declared = self.declared.get(name)
        if (
            declared is not None
            and (declared.file, declared.line) == (facts["file"], facts["line"])
            and [each.name for each in declared.arguments] == [each.name for each in arguments]
        ):
            arguments = tuple(
                dataclasses.replace(each, hint=own.hint)
                for each, own in zip(arguments, declared.arguments, strict=True)
            )
        kind, receivers = facts["type"], facts["receivers"]
        return Facts(
            name,
            kind if kind is None or isinstance(kind, type) else kind.name,
            facts["scope"],
            facts["making"],
            facts["file"],
            facts["line"],
            arguments,
            receivers is not None and all(isinstance(each, type) for each in receivers),
        )

    def _parameter(self, facts: Mapping[str, Any]) -> Parameter:
        wanted = self._types.class_named(facts["type"])
        hint = Hint(kind=facts["kind"], optional=facts["optional"], wanted=wanted)
        return Parameter(facts["name"], hint, "default" in facts, False, facts.get("default"))
