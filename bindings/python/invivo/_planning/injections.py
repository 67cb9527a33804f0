"""Injections: the outcome of planning a definition, in the terms of the library."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

from .. import _generated as c
from .._assemblies.definitions import Definition, plain_class
from .._classes.callables import Parameter
from .._classes.hints import Hint
from .._declarations.context_kinds import Key
from .._values.fields import dataclass

Rename: TypeAlias = Callable[[str], str]


@dataclass(frozen=True)
class Injection:
    """A value for one parameter, property or list item, as in wiring.h."""

    name: str
    reference: str | None = None  # a key or a path
    value: Any = None
    how: int | None = None
    items: tuple[Injection, ...] = ()
    index: int = 0
    flags: int = 0
    of: Any = None  # of lookups by type: a class, or Repository[User]
    converter: str | type | None = None
    reader: Hint | None = None  # of a TEXT: the target, whose annotation reads values of every kind
    added: str | None = None  # of lists of all of a type
    removed: str | None = None
    kind: int = c.INVIVO_KIND_ANY  # of a value: the kind of the target
    context_key: Key | None = None  # of a value of a context, whose kind is `value`

    @property
    def cls(self) -> type | None:
        """The class that is looked up."""
        return plain_class(self.of)

    @property
    def way(self) -> int:
        if self.how is not None:
            return self.how
        return c.INVIVO_INJECT_VALUE if self.reference is None else c.INVIVO_INJECT_REFERENCE

    def renamed(self, rename: Rename) -> Injection:
        """Returns the same with other keys."""
        key = self.reference
        if key is not None and self.way == c.INVIVO_INJECT_REFERENCE:
            key = rename(key)
        return dataclasses.replace(self, reference=key, items=tuple(each.renamed(rename) for each in self.items))


@dataclass(frozen=True)
class Invocation:
    method: str
    arguments: tuple[Injection, ...]

    def renamed(self, rename: Rename) -> Invocation:
        return dataclasses.replace(self, arguments=tuple(each.renamed(rename) for each in self.arguments))


@dataclass(frozen=True)
class Option:
    when: int
    value: Any
    use: Injection | None

    def renamed(self, rename: Rename) -> Option:
        return self if self.use is None else dataclasses.replace(self, use=self.use.renamed(rename))


@dataclass(frozen=True)
class Plan:
    """A definition and its injections."""

    definition: Definition
    parameters: tuple[Parameter, ...]
    initializer: tuple[Injection, ...] = ()
    properties: tuple[Injection, ...] = ()
    type_bits: int = 0  # of a registered type
    alias: str | None = None
    maker: Invocation | None = None
    choice: tuple[Injection, tuple[Option, ...]] | None = None
    methods: tuple[Invocation, ...] = ()
    before: tuple[Invocation, ...] = ()
    after: tuple[Invocation, ...] = ()
    after_all: tuple[Invocation, ...] = ()
    defaults: tuple[Any, ...] = ()  # of the runtime arguments

    def renamed(self, rename: Rename) -> Plan:
        """Returns the same under another key, with other keys in it."""
        made = self.definition
        parent = None if made.parent is None else rename(made.absolute(made.parent))
        choice = self.choice
        return dataclasses.replace(
            self,
            definition=dataclasses.replace(
                made, key=rename(made.key), parent=parent, owner=made.owner and rename(made.owner)
            ),
            initializer=tuple(each.renamed(rename) for each in self.initializer),
            properties=tuple(each.renamed(rename) for each in self.properties),
            alias=None if self.alias is None else rename(self.alias),
            maker=None if self.maker is None else self.maker.renamed(rename),
            choice=None
            if choice is None
            else (choice[0].renamed(rename), tuple(each.renamed(rename) for each in choice[1])),
            methods=tuple(each.renamed(rename) for each in self.methods),
            before=tuple(each.renamed(rename) for each in self.before),
            after=tuple(each.renamed(rename) for each in self.after),
            after_all=tuple(each.renamed(rename) for each in self.after_all),
        )
