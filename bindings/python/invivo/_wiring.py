"""Definitions: what is made, for whom, and what goes into it, worked out from annotations and recipes."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _generated as c
from . import _recipes, _trampolines, _values
from ._describe import (
    Hint,
    Method,
    Parameter,
    annotated,
    call,
    check_hook,
    constructor_of,
    describe,
    hints_of,
    is_protocol,
    parameters_of,
)
from ._findings import gathered, name_findings
from ._objects import Type
from ._recipes import Call, Draft, MadeBy, Options, Recipe, Ref, Scope
from ._types import CALL, VALUE, has_weak_references, is_plain, last_needed, parameter_table
from .errors import (
    AmbiguousError,
    ArgumentError,
    ArityError,
    Error,
    MethodError,
    NotFoundError,
    PropertyError,
    WrongTypeError,
    within,
)

if TYPE_CHECKING:
    from ._core import Core
    from ._index import After, Definitions
    from ._library import Library
    from ._types import TypeRecord

Known: TypeAlias = "Definitions | After"
Rename: TypeAlias = Callable[[str], str]

_SCOPES: dict[str, int] = {
    "graph": c.INVIVO_SCOPE_GRAPH,
    "prototype": c.INVIVO_SCOPE_PROTOTYPE,
    "lazy_singleton": c.INVIVO_SCOPE_LAZY_SINGLETON,
    "singleton": c.INVIVO_SCOPE_SINGLETON,
    "weak_singleton": c.INVIVO_SCOPE_WEAK_SINGLETON,
    "thread": c.INVIVO_SCOPE_THREAD,
    "context": c.INVIVO_SCOPE_CONTEXT,
}


class _Shared:
    """Which scopes have instances that live beyond the resolve that made them."""

    def __contains__(self, scope: object) -> bool:
        return scope not in (None, "graph", "prototype")


_SHARED = _Shared()
_PLACED = "in "  # before the name of a scope of the host's
PLAIN = Options()


def snake(name: str) -> str:
    """``HTTPServer`` -> ``http_server``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@dataclasses.dataclass(frozen=True, eq=False)
class Definition:
    """A recipe for a key, before it is wired."""

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
    signature: inspect.Signature | None = None  # by which they are arranged
    parent: str | None = None
    alias: Ref | None = None
    maker: MadeBy | None = None
    choice: _recipes.Choice | None = None
    constant: _recipes.Constant | None = None
    options: Options = PLAIN
    home: str | None = None  # its assembly, when the key does not say it
    owner: str = ""  # the key in whose recipe it stands
    generic: Any = None  # Repository[User], where that was said

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
            return parameters_of(self.factory, known, bound=False)
        return constructor_of(self.makes, known) if isinstance(self.makes, type) else ()

    def moved(self, old: str, new: str) -> Definition:
        """The same in an assembly of another name."""
        key = f"{new}.{self.key.removeprefix(f'{old}.')}" if self.key.startswith(f"{old}.") else self.key
        return dataclasses.replace(self, key=key, home=new if self.home == old else self.home)

    def absolute(self, key: str) -> str:
        return key if "." in key or not self.assembly else f"{self.assembly}.{key}"

    def bind(self, positional: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Runtime arguments in order, defaults filled in."""
        if self.signature is None:
            if named:
                raise ArityError(f"{self.key} takes no arguments by name", path=self.key)
            return list(positional)
        try:
            bound = self.signature.bind(*positional, **named)
        except TypeError as problem:
            if not named:
                return list(positional)  # the library says what is wrong, as it does in every language
            said = ", ".join(str(each) for each in self.signature.parameters.values())
            message = f"{self.key}({said}): {problem}"
            raise ArityError(message, path=self.key, file=self.file, line=self.line) from None
        bound.apply_defaults()
        return list(bound.arguments.values())


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
    """A definition of a class, of a factory whose annotation says what it makes, or of a registered type; declared
    `depth` frames up."""
    check_scope(scope)
    caller = sys._getframe(depth)
    file, line = caller.f_code.co_filename, caller.f_lineno
    more: dict[str, Any] = {}
    if isinstance(what, Recipe):
        if key is None:
            raise ArgumentError("a recipe has no name of its own: say which by name=...")
        more = of_recipe(what, None)
        makes, factory, given = more.pop("makes"), more.pop("factory"), more.pop("overrides")
        overrides = {**given, **overrides}
        options = options or more.pop("options", None)
        more.pop("options", None)
    else:
        makes, factory = _made_by(what, near=caller.f_locals)
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


def check_scope(scope: str | None) -> None:
    if scope is not None and scope not in _SCOPES and not scope.startswith(_PLACED):
        raise ArgumentError(f"{scope!r} is no scope; there are {', '.join(_SCOPES)}")


def of_recipe(recipe: Recipe, wanted: type | None) -> dict[str, Any]:
    """What a recipe says of a definition; ``wanted`` is what the place wants."""
    node = recipe._node
    found: dict[str, Any] = {"makes": wanted, "factory": None, "overrides": {}}
    match node:
        case Draft():
            what = node.what
            if what is not None:
                found["makes"], found["factory"] = _made_by(what, wanted)
            found["positional"], found["overrides"] = node.positional, node.named
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
        case _recipes.Choice():
            found["choice"], found["makes"] = node, None
        case _recipes.Constant(value=value):
            found["constant"], found["makes"] = node, type(value)
        case _:
            raise ArgumentError(
                f"{recipe!r} is no definition: that is made by invivo.new(), wire(), child(), choice() or constant(), "
                "is another member, or what a method of another member answers"
            )
    return found


def _made_by(
    what: Any, wanted: type | None = None, near: Mapping[str, Any] | None = None
) -> tuple[type | str, Callable[..., Any] | None]:
    """What is made, and by what. ``near``: names beside the definition, for an annotation that is only text."""
    if isinstance(what, Type):
        return what.name, None
    if isinstance(what, (type, str)):
        return what, None
    if isinstance(typing.get_origin(what), type):  # Box[int]
        return typing.get_origin(what), None
    if not callable(what):
        raise WrongTypeError(
            f"a class, a factory or the name of a type is wanted, not {what!r}; an object that is there is given "
            "to an override as instance=..., and elsewhere as invivo.constant(...)"
        )
    function = annotated(what)
    if inspect.iscoroutinefunction(function):
        raise ArgumentError(
            f"the factory {getattr(function, '__qualname__', what)!r} is asynchronous: objects are made at once. Make "
            "one that begins its work, and await that where it is used"
        )
    unwrapped = what
    while isinstance(unwrapped, functools.partial):
        unwrapped = unwrapped.func
    makes = unwrapped if isinstance(unwrapped, type) else plain_class(hints_of(function).get("return"))
    if makes is None and near:
        makes = plain_class(hints_of(function, near).get("return"))
    makes = makes or wanted
    if makes is None:
        raise ArgumentError(
            f"the factory {getattr(what, '__qualname__', what)!r} does not say what it makes: annotate what it returns "
            "with the class"
        )
    return makes, what


def plain_class(annotation: Any) -> type | None:
    """The class that an annotation names, if it is one or none of it."""
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


# ---- finding what is wanted ----------------------------------------------------------------------------


def candidates(
    wanted: type, among: Known, near: str = "", *, exact: bool = False, generic: Any = None
) -> list[Definition]:
    """The definitions of a class, or else of its subclasses; those of the highest rank, those that say ``generic``
    (``Repository[User]``) and those of the assembly ``near`` before others."""
    fitting = all_candidates(wanted, among)
    if exact:
        fitting = [each for each in fitting if each.makes is wanted]
    else:
        fitting = fitting or [each for each in among.like(wanted) if _is_found(each, wanted)]
    best = max((each.options.rank for each in fitting), default=0)
    fitting = [each for each in fitting if each.options.rank == best]
    for closer in (
        lambda each: generic is not None and _says(each, generic),
        lambda each: each.makes is wanted,
        lambda each: each.assembly == near,
    ):
        narrowed = [each for each in fitting if closer(each)]
        fitting = narrowed or fitting
    return fitting


def _says(made: Definition, generic: Any) -> bool:
    return made.generic == generic or any(
        generic in getattr(each, "__orig_bases__", ()) for each in getattr(made.makes, "__mro__", ())
    )


def all_candidates(wanted: type, among: Known) -> list[Definition]:
    """Every definition of a class and of what is derived from it."""
    return [each for each in among.of(wanted) if _is_found(each, wanted)]


def _is_found(each: Definition, wanted: type) -> bool:
    hidden = each.options.hidden
    if each.options.abstract or each.options.each is not None or hidden is True or each.owner:
        return False
    return hidden != ("class" if each.makes is wanted else "interface")


def ambiguous(wanted: type, found: Iterable[Definition]) -> str:
    keys = ", ".join(sorted(each.key for each in found))
    return f"several definitions make a {wanted.__name__}: {keys}"


@dataclasses.dataclass(frozen=True)
class Injection:
    """What goes to one place, as wiring.h has it."""

    name: str
    reference: str | None = None  # a key or a path
    value: Any = None
    how: int | None = None
    items: tuple[Injection, ...] = ()
    index: int = 0
    flags: int = 0
    of: type | None = None  # of lookups by type
    converter: str | type | None = None
    added: str | None = None  # of lists of all of a type
    removed: str | None = None

    @property
    def way(self) -> int:
        if self.how is not None:
            return self.how
        return c.INVIVO_INJECT_VALUE if self.reference is None else c.INVIVO_INJECT_REFERENCE

    def renamed(self, rename: Rename) -> Injection:
        """The same with other keys."""
        key = self.reference
        if key is not None and self.way == c.INVIVO_INJECT_REFERENCE:
            key = rename(key)
        return dataclasses.replace(self, reference=key, items=tuple(each.renamed(rename) for each in self.items))


@dataclasses.dataclass(frozen=True)
class Invocation:
    method: str
    arguments: tuple[Injection, ...]

    def renamed(self, rename: Rename) -> Invocation:
        return dataclasses.replace(self, arguments=tuple(each.renamed(rename) for each in self.arguments))


@dataclasses.dataclass(frozen=True)
class Option:
    when: int
    value: Any
    use: Injection | None

    def renamed(self, rename: Rename) -> Option:
        return self if self.use is None else dataclasses.replace(self, use=self.use.renamed(rename))


@dataclasses.dataclass(frozen=True)
class Plan:
    """A definition and what goes into it."""

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

    def renamed(self, rename: Rename) -> Plan:
        """The same under another key, with other keys in it."""
        made = self.definition
        parent = None if made.parent is None else rename(made.absolute(made.parent))
        choice = self.choice
        return dataclasses.replace(
            self,
            definition=dataclasses.replace(made, key=rename(made.key), parent=parent),
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


def plan_all(
    new: Iterable[Definition],
    existing: Known,
    known: Mapping[str, type],
    find: Callable[[str], Type] | None = None,
    *,
    marked: bool = True,
    remaps: Mapping[str, Mapping[str, str]] | None = None,
    wrong: list[Error] | None = None,
) -> list[Plan]:
    """Wires definitions, or raises one error that says all that is missing or ambiguous; ``find`` is for types,
    ``marked`` whether attributes that ask for it are filled, ``remaps`` where the keys of mounts lead. ``wrong``: gets
    the errors instead; what they are about is then left out."""
    plans, errors = list[Plan](), list[Error]()
    new = list(new)
    for each in new:
        try:
            plans.append(_Planner(each, existing, known, find, errors, plans, marked, remaps or {}).plan())
        except Error as problem:
            errors.append(problem)
    name_findings(errors, plans, new)
    if wrong is not None:
        wrong += errors
    elif errors:
        raise gathered(errors)
    return plans


class _Planner:
    """Works out one definition, and what stands inline in it."""

    def __init__(
        self,
        made: Definition,
        existing: Known,
        known: Mapping[str, type],
        find: Callable[[str], Type] | None,
        errors: list[Error],
        plans: list[Plan],
        marked: bool,
        remaps: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.remaps = remaps
        self.made, self.existing, self.known, self.find = made, existing, known, find
        self.errors, self.plans, self.marked = errors, plans, marked
        self.uses_arguments = False
        self.inline: dict[int, tuple[str, bool]] = {}  # of drafts by identity: key, and whether it takes the arguments
        self.methods: dict[str, Method] = {}
        self.cls: type | None = None

    # ---- the whole ---------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        made = self.made
        check_scope(made.scope)
        if made.alias is not None:
            return self._alias(made.alias)
        if made.choice is not None:
            return self._choice(made.choice)
        if made.constant is not None:
            value = made.constant.value
            if value is None:
                raise ArgumentError("None is no constant: a definition makes an object", **self.at(""))
            return Plan(made, ())
        if isinstance(made.makes, str):
            return self._registered(made.makes)
        self.cls = self._class(made)
        if self.cls is not None:
            described = describe(self.cls, self.known)
            self.methods = {each.name: each for each in described.methods}
            if made.makes is self.cls and made.factory is None and not made.options.abstract and made.maker is None:
                self._check_concrete(self.cls)
            if made.scope == "weak_singleton" and not has_weak_references(self.cls):
                raise ArgumentError(
                    f"a weak singleton lives as long as somebody holds it, and a {self.cls.__name__} cannot be "
                    "referred to weakly: add __weakref__ to its __slots__",
                    **self.at(""),
                )
        parameters: tuple[Parameter, ...] = ()
        initializer: list[Injection] = []
        maker = None
        if made.maker is not None:
            items = [self.source(made.maker.start, "maker")]
            items += [self.source(thing, f"maker.{i}") for i, thing in enumerate(made.maker.arguments)]
            maker = Invocation(made.maker.method, tuple(items))
        elif made.parent is None or made.positional or made.overrides:
            parameters = made.parameters(self.known)
            if made.parent is not None and not isinstance(made.makes, type) and self.cls is not None:
                parameters = constructor_of(self.cls, self.known)
            initializer = self._initializer(parameters)
        properties = self._properties({each.name for each in parameters})
        calls = self._invocations(made.calls, "")
        hooks = made.options
        return Plan(
            made,
            parameters,
            tuple(initializer),
            tuple(properties),
            maker=maker,
            methods=calls,
            before=self._invocations([as_call(each) for each in hooks.before], "before"),
            after=self._invocations([as_call(each) for each in hooks.after], "after"),
            after_all=self._invocations([as_call(each) for each in hooks.after_all], "after_all"),
        )

    def at(self, name: str) -> dict[str, Any]:
        path = f"{self.made.key}.{name}" if name else self.made.key
        return {"path": path, "file": self.made.file, "line": self.made.line}

    def _class(self, made: Definition) -> type | None:
        for _ in range(64):
            if isinstance(made.makes, type):
                return made.makes
            parent = self.existing.get(made.parent or "")
            if parent is None:
                return None
            made = parent
        return None

    def _check_concrete(self, cls: type) -> None:
        if is_protocol(cls) or inspect.isabstract(cls):
            lacks = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
            raise ArgumentError(
                f"{cls.__name__} is {f'abstract: it lacks {lacks}' if lacks else 'a protocol'}; define a class that is "
                "one, or say abstract=True",
                **self.at(""),
            )

    def _alias(self, ref: Ref) -> Plan:
        """Another key: another name and nothing more, or with all the arguments that it says."""
        given = list(ref.arguments)
        passed = [
            each._node.index if isinstance(each, Recipe) and isinstance(each._node, _recipes.Argument) else None
            for each in given
        ]
        if passed == list(range(len(self.made.arguments))):
            given = []
        assert isinstance(ref.to, str)
        items = tuple(self.source(thing, str(index)) for index, thing in enumerate(given))
        return Plan(self.made, (), items, alias=self.made.absolute(ref.to))

    def _choice(self, node: _recipes.Choice) -> Plan:
        """One of others; what it is gets the arguments that are said there."""
        if self.made.scope is not None:
            raise ArgumentError(
                "a choice makes nothing itself: say the scope of what it chooses, and describe it by @invivo.define",
                **self.at(""),
            )
        chooser = self.source(node.chooser, "chooser")
        found = []
        for index, (when, value, use) in enumerate(node.options):
            with self.gathering():
                if use is not None and not isinstance(use, Recipe):
                    raise WrongTypeError(
                        f"an option is another definition: self.{{member}}(), ref(...) or new(...), not {use!r}",
                        **self.at(f"option{index}"),
                    )
                source = None if use is None else self.source(use, f"option{index}")
                found.append(Option(when, value, source))
        return Plan(self.made, (), choice=(chooser, tuple(found)))

    def _registered(self, name: str) -> Plan:
        """A type that is known by its name alone: what is given goes to its making, or else to its properties."""
        made = self.made
        assert self.find is not None
        try:
            found = self.find(name)
        except NotFoundError as problem:
            raise NotFoundError(problem.message, path=made.key, file=made.file, line=made.line) from None
        settable = [each.name for each in found.properties if not each.read_only]
        initializer, properties = list[Injection](), list[Injection]()
        for each, thing in {**made.overrides, **made.properties}.items():
            if each not in found.parameters and each not in settable:
                self.errors.append(self._nothing_to_set(each, {*found.parameters, *settable}))
                continue
            with self.gathering():
                to = initializer if each in found.parameters and each in made.overrides else properties
                to.append(self.named(each, thing))
        methods = []
        for index, one in enumerate(made.calls):
            assert isinstance(one.what, str)
            things = (*one.positional, *one.named.values())
            items = tuple(self.source(thing, f"{one.what}{index or ''}.{i}") for i, thing in enumerate(things))
            methods.append(Invocation(one.what, items))
        return Plan(made, (), tuple(initializer), tuple(properties), found._bits, methods=tuple(methods))

    def gathering(self) -> _Gathering:
        return _Gathering(self.errors)

    def _nothing_to_set(self, name: str, there: Iterable[str]) -> PropertyError:
        return PropertyError(
            f"{self.made.made} has no parameter and no property {name!r} to set; "
            f"it has {', '.join(sorted(there)) or 'none'}",
            **self.at(name),
        )

    # ---- the initializer ---------------------------------------------------------------------------------

    def _initializer(self, parameters: tuple[Parameter, ...]) -> list[Injection]:
        made = self.made
        given = dict(made.overrides)
        places = [each.name for each in parameters if not each.keyword]
        if len(made.positional) > len(places):
            raise ArityError(
                f"{made.made} takes {len(places)} arguments by position, got {len(made.positional)}", **self.at("")
            )
        for name, thing in zip(places, made.positional, strict=False):
            if name in given:
                raise ArityError(f"{made.made} got the argument {name!r} twice", **self.at(name))
            given[name] = thing
        found = list[Injection]()
        needed = last_needed(parameters) if made.arguments or made.scope in _SHARED else -1
        for index, parameter in enumerate(parameters):
            with self.gathering():
                if parameter.name in given:
                    found.append(self.named(parameter.name, given[parameter.name], parameter.hint))
                elif made.parent is None or isinstance(made.makes, type):
                    injection = self._wanted(parameter.name, parameter.hint, parameter)
                    if injection is None and parameter.optional and index < needed:
                        injection = Injection(parameter.name, value=None)
                    if injection is not None:
                        found.append(injection)
        return found

    def _wanted(self, name: str, hint: Hint, parameter: Parameter | None) -> Injection | None:
        """What an annotation asks for; None leaves the place alone."""
        made = self.made
        if hint.late == "runtime":
            return Injection(name, value=None)
        if hint.late == "resolver":
            return Injection(name, how=c.INVIVO_INJECT_RESOLVER)
        if hint.late == "asker":
            return Injection(name, how=c.INVIVO_INJECT_ASKER)
        key = hint.key or (hint.item.key if hint.item is not None else None)
        has_default = parameter is not None and parameter.has_default
        optional = c.INVIVO_INJECT_OPTIONAL if hint.optional or (hint.item is not None and hint.item.optional) else 0
        if hint.inject is not None:
            optional |= c.INVIVO_INJECT_GREEDY if hint.inject.greedy else 0
            optional |= c.INVIVO_INJECT_EXACT if hint.inject.exact else 0
        late = {"provider": c.INVIVO_INJECT_PROVIDER, "lazy": c.INVIVO_INJECT_LAZY}.get(hint.late or "")
        if key is not None:
            found = Injection(name, self.made.absolute(key), flags=optional & c.INVIVO_INJECT_OPTIONAL)
            return found if late is None else Injection(name, how=late, items=(dataclasses.replace(found, name=""),))
        wanted = hint.item.wanted if hint.item is not None else hint.wanted
        if hint.late == "all":
            assert wanted is not None
            if has_default and not all_candidates(wanted, self.existing) and not self.existing.like(wanted):
                return None
            added, removed = (hint.inject.added, hint.inject.removed) if hint.inject is not None else (None, None)
            exactly = optional & c.INVIVO_INJECT_EXACT
            return Injection(name, how=c.INVIVO_INJECT_ALL, of=wanted, flags=exactly, added=added, removed=removed)
        exact = bool(optional & c.INVIVO_INJECT_EXACT)
        generic = hint.generic if hint.item is None else hint.item.generic
        there = []
        if wanted is not None:
            there = candidates(wanted, self.existing, made.assembly, exact=exact, generic=generic)
        if late is None:  # a decorator of a class may look for the class, but not for itself
            there = [each for each in there if each is not made]
        if len(there) == 1 and wanted is not None:
            found = self._by_type(name, wanted, there[0], optional)
            return found if late is None else Injection(name, how=late, items=(dataclasses.replace(found, name=""),))
        if has_default:
            return None
        if wanted is not None and len(there) > 1:
            raise AmbiguousError(
                f'{ambiguous(wanted, there)}; say which by Annotated[{wanted.__name__}, "key"] or '
                f'{name}=invivo.ref("key")',
                **self.at(name),
            )
        if optional & c.INVIVO_INJECT_OPTIONAL:
            if wanted is None or late is not None:
                return Injection(name, value=None)
            return Injection(name, how=c.INVIVO_INJECT_TYPE, of=wanted, flags=optional)
        if made.options.waits and wanted is not None:
            found = Injection(name, how=c.INVIVO_INJECT_TYPE, of=wanted, flags=optional)
            return found if late is None else Injection(name, how=late, items=(dataclasses.replace(found, name=""),))
        if (
            made.scope not in _SHARED
            and made.signature is None
            and not made.owner
            and (wanted is None or late is not None)
        ):
            return None  # an argument of the resolve
        what = f"no definition makes a {wanted.__name__}" if wanted is not None else "nothing says what it is"
        raise NotFoundError(
            f"{made.made} wants {name!r}, and {what}: define it, or pass {name}=... with the definition",
            **self.at(name),
        )

    def _by_type(self, name: str, wanted: type, found: Definition, flags: int) -> Injection:
        """The only one of its type is looked for by the type, so that another may take its place one day; one that is
        merely the closest of several is named."""
        every = all_candidates(wanted, self.existing)
        if every == [found] and not found.options.hidden:
            return Injection(name, found.key, how=c.INVIVO_INJECT_TYPE, of=wanted, flags=flags)
        if flags & c.INVIVO_INJECT_GREEDY and found in every:
            return Injection(name, found.key, how=c.INVIVO_INJECT_TYPE, of=wanted, flags=flags)
        return Injection(name, found.key, flags=flags & c.INVIVO_INJECT_OPTIONAL)

    # ---- properties and methods --------------------------------------------------------------------------

    def _properties(self, parameters: set[str]) -> list[Injection]:
        made = self.made
        given = {name: thing for name, thing in made.overrides.items() if name not in parameters}
        for name, thing in made.properties.items():
            if name in given:
                raise ArgumentError(f"the property {name!r} is set twice", **self.at(name))
            given[name] = thing
        described = {each.name: each for each in describe(self.cls, self.known).properties} if self.cls else {}
        found = []
        for name, each in described.items() if self.marked else ():
            if each.hint.inject is not None and name not in given and made.parent is None:
                with self.gathering():
                    wanted = self._wanted(name, each.hint, None)
                    if wanted is not None:
                        found.append(wanted)
        for name, thing in given.items():
            prop = described.get(name)
            if prop is None and self.cls is not None:
                settable = {each.name for each in described.values() if not each.read_only}
                if name in parameters:
                    self.errors.append(
                        PropertyError(
                            f"{name!r} is a parameter of {made.made}(...), and nothing that can be set on the object: "
                            f"annotate it in the class ('{name}: ...'), or say it where the object is made",
                            **self.at(name),
                        )
                    )
                else:
                    self.errors.append(self._nothing_to_set(name, parameters | settable))
                continue
            with self.gathering():
                found.append(self.named(name, thing, prop.hint if prop is not None else None))
        return found

    def _invocations(self, calls: Iterable[Call], place: str) -> tuple[Invocation, ...]:
        found = []
        for index, one in enumerate(calls):
            with self.gathering():
                found.append(self._invocation(one, f"{place}{index}" if place else str(index)))
        return tuple(found)

    def _invocation(self, one: Call, place: str) -> Invocation:
        what = one.what
        check_hook(getattr(self.cls, what, None) if isinstance(what, str) and self.cls is not None else what)
        if isinstance(what, str):
            place = f"{what}{place}"
            method = self.methods.get(what)
            if method is not None:
                things = arrange(method.parameters, one.positional, one.named)
                if things is None:
                    raise ArityError(f"{method.name}() does not take these arguments", **self.at(what))
                items = [self.source(each, f"{place}.{i}") for i, each in enumerate(things)]
                return Invocation(what, tuple(items))
            if self.cls is not None and not callable(getattr(self.cls, what, None)):
                there = ", ".join(sorted(self.methods)) or "none that are annotated"
                raise MethodError(f"{self.cls.__name__} has no method {what!r}; it has {there}", **self.at(what))
        things = [*one.positional, *one.named.values()]
        items = [self.source(each, f"{place}.{i}") for i, each in enumerate(things)]
        return Invocation(
            CALL,
            (
                Injection("", value=what),
                Injection("", how=c.INVIVO_INJECT_LIST, items=tuple(items)),
                Injection("", value=list(one.named)),
            ),
        )

    # ---- things ------------------------------------------------------------------------------------------

    def named(self, name: str, thing: Any, hint: Hint | None = None) -> Injection:
        return dataclasses.replace(self.source(thing, name, hint), name=name)

    def source(self, thing: Any, place: str, hint: Hint | None = None) -> Injection:
        """Where a value comes from: a recipe says it, anything else is the value itself."""
        from ._assembly import Bound

        if isinstance(thing, Recipe):
            return self._recipe(thing, place, hint)
        if isinstance(thing, Bound):
            return Injection("", how=c.INVIVO_INJECT_PROVIDER, items=(Injection("", thing.key),))
        if isinstance(thing, functools.partial) and isinstance(thing.func, Bound):
            target = thing.func.reference(*thing.args, **thing.keywords)
            return Injection("", how=c.INVIVO_INJECT_PROVIDER, items=(self.source(target, place),))
        if isinstance(thing, (set, frozenset)):
            items = tuple(self.source(each, f"{place}.{i}") for i, each in enumerate(thing))
            return Injection("", how=c.INVIVO_INJECT_SET, items=items)
        if isinstance(thing, (list, tuple)) and any(map(_is_said, thing)):
            items = tuple(self.source(each, f"{place}.{i}") for i, each in enumerate(thing))
            return Injection("", how=c.INVIVO_INJECT_LIST, items=items)
        if isinstance(thing, Mapping) and any(map(_is_said, thing.values())):
            return Injection(
                "",
                how=c.INVIVO_INJECT_MAP,
                items=tuple(self.named_item(name, each, f"{place}.{name}") for name, each in thing.items()),
            )
        return Injection("", value=thing)

    def named_item(self, name: str, thing: Any, place: str) -> Injection:
        if not isinstance(name, str):
            raise WrongTypeError(f"the keys of a map are texts, not {name!r}", **self.at(place))
        return dataclasses.replace(self.source(thing, place), name=name)

    def _recipe(self, recipe: Recipe, place: str, hint: Hint | None) -> Injection:
        node = recipe._node
        match node:
            case Ref(to=str(), arguments=arguments, optional=optional):
                return self._reference(node, arguments, optional, place)
            case Ref():
                return self._looked_up(node, place)
            case _recipes.All(of=of, exact=exact, added=added, removed=removed):
                flags = c.INVIVO_INJECT_EXACT if exact else 0
                return Injection("", how=c.INVIVO_INJECT_ALL, of=of, flags=flags, added=added, removed=removed)
            case _recipes.Argument(index=index):
                self.uses_arguments = True
                return Injection("", how=c.INVIVO_INJECT_ARGUMENT, index=index)
            case _recipes.Arguments():
                self.uses_arguments = True
                return Injection("", how=c.INVIVO_INJECT_ARGUMENTS)
            case _recipes.Path(start=start, names=names):
                return Injection("", ".".join(names), how=c.INVIVO_INJECT_PATH, items=(self.source(start, place),))
            case _recipes.Late(target=target, once=once):
                how = c.INVIVO_INJECT_LAZY if once else c.INVIVO_INJECT_PROVIDER
                inner = self.source(
                    target.reference() if not isinstance(target, Recipe) and hasattr(target, "reference") else target,
                    place,
                )
                return Injection("", how=how, items=(inner,))
            case _recipes.Own(what=what):
                return Injection("", how=c.INVIVO_INJECT_RESOLVER if what == "resolver" else c.INVIVO_INJECT_ASKER)
            case _recipes.Constant(value=value):
                return Injection("", value=value)
            case _recipes.Config(path=path, default=default, optional=optional):
                items = (self.source(default, f"{place}.default"),) if node.has_default else ()
                flags = c.INVIVO_INJECT_OPTIONAL if optional else 0
                return Injection("", path, how=c.INVIVO_INJECT_CONFIG, items=items, flags=flags)
            case _recipes.Entry(path=None):
                return Injection("", how=c.INVIVO_INJECT_ENTRY_NAME)
            case _recipes.Entry(path=path, default=default, optional=optional):
                items = (self.source(default, f"{place}.default"),) if node.has_default else ()
                flags = c.INVIVO_INJECT_OPTIONAL if optional else 0
                return Injection("", path or None, how=c.INVIVO_INJECT_ENTRY, items=items, flags=flags)
            case _recipes.Text(text=said, converter=converter):
                if isinstance(said, str):
                    return Injection("", value=said, how=c.INVIVO_INJECT_TEXT, converter=converter)
                items = (self.source(said, place),)
                return Injection("", how=c.INVIVO_INJECT_TEXT, items=items, converter=converter)
        return self._inline(recipe, place, hint)

    def _reference(self, node: Ref, arguments: tuple[Any, ...], optional: bool, place: str) -> Injection:
        assert isinstance(node.to, str)
        key = self.made.absolute(node.to)
        items = tuple(self.source(each, f"{place}.{i}") for i, each in enumerate(arguments))
        found = Injection("", key, items=items, flags=c.INVIVO_INJECT_OPTIONAL if optional else 0)
        target = self.existing.get(self.remapped(key))
        if target is not None and target.constant is not None and is_plain(target.constant.value):
            return Injection("", VALUE, how=c.INVIVO_INJECT_PATH, items=(found,))
        return found

    def remapped(self, key: str) -> str:
        """Where a key leads from inside a mount, as the library finds it."""
        own = self.made.home
        if own is None or own not in self.remaps or key.startswith(f"{own}."):
            return key
        fitting = [start for start in self.remaps[own] if key == start or key.startswith(f"{start}.")]
        best = max(fitting, key=len, default="")
        return self.remaps[own][best] + key[len(best) :] if best else key

    def _looked_up(self, node: Ref, place: str) -> Injection:
        assert isinstance(node.to, type)
        flags = c.INVIVO_INJECT_OPTIONAL if node.optional else 0
        flags |= c.INVIVO_INJECT_EXACT if node.exact else 0
        flags |= c.INVIVO_INJECT_GREEDY if node.greedy else 0
        found = candidates(node.to, self.existing, self.made.assembly, exact=node.exact)
        found = [each for each in found if each is not self.made]
        if len(found) == 1:
            return self._by_type("", node.to, found[0], flags)
        if found:
            raise AmbiguousError(f'{ambiguous(node.to, found)}; name one by ref("key")', **self.at(place))
        if node.optional or self.made.options.waits:
            return Injection("", how=c.INVIVO_INJECT_TYPE, of=node.to, flags=flags)
        raise NotFoundError(f"no definition makes a {node.to.__name__}", **self.at(place))

    def _inline(self, recipe: Recipe, place: str, hint: Hint | None) -> Injection:
        """A recipe in the recipe: a definition with the key of its place, for nobody else."""
        known = self.inline.get(id(recipe._node))
        if known is None:
            node = recipe._node
            key = f"{self.made.key}.{place}"
            what = of_recipe(recipe, hint.wanted if hint is not None else None)
            own = what.pop("options", Options())
            scope = node.scope if isinstance(node, Draft) else None
            file, line = (node.file, node.line) if isinstance(node, Draft) else (self.made.file, self.made.line)
            made = Definition(
                key,
                scope,
                file=file,
                line=line,
                options=dataclasses.replace(own, hidden=True),
                arguments=self.made.arguments,
                home=self.made.assembly,
                owner=self.made.key,
                **what,
            )
            planner = _Planner(
                made, self.existing, self.known, self.find, self.errors, self.plans, self.marked, self.remaps
            )
            plan = planner.plan()
            if not planner.uses_arguments:
                plan = dataclasses.replace(plan, definition=dataclasses.replace(made, arguments=()))
            self.plans.append(plan)
            known = self.inline[id(recipe._node)] = key, planner.uses_arguments
        key, takes = known
        self.uses_arguments |= takes
        count = len(self.made.arguments) if takes else 0
        items = tuple(Injection("", how=c.INVIVO_INJECT_ARGUMENT, index=index) for index in range(count))
        return Injection("", key, items=items)


class _Gathering:
    """What goes wrong in its block is noted, and the next thing looked at."""

    def __init__(self, errors: list[Error]) -> None:
        self.errors = errors

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, _: object) -> bool:
        if isinstance(problem, Error):
            self.errors.append(problem)
            return True
        return False


def _is_said(thing: Any) -> bool:
    """Whether a thing is, or holds, something that is worked out for each object."""
    from ._assembly import Bound

    if isinstance(thing, (Recipe, Bound, set, frozenset)):
        return True
    if isinstance(thing, functools.partial):
        return isinstance(thing.func, Bound)
    if isinstance(thing, (list, tuple)):
        return any(map(_is_said, thing))
    return isinstance(thing, Mapping) and any(map(_is_said, thing.values()))


def as_call(hook: _recipes.Hook) -> Call:
    return hook if isinstance(hook, Call) else Call(hook)


def arrange(parameters: Sequence[Parameter], positional: Sequence[Any], named: Mapping[str, Any]) -> list[Any] | None:
    """Arguments in the order of the parameters, null for one that is left out; None when they do not fit."""
    if len(positional) > len(parameters) or not named.keys() <= {each.name for each in parameters[len(positional) :]}:
        return None
    things, last = list(positional), len(positional)
    for index, each in enumerate(parameters[len(positional) :], len(positional)):
        things.append(named.get(each.name))
        if each.name in named:
            last = index + 1
    return things[:last]


# ---- handing a plan to the library ---------------------------------------------------------------------


class FactoryItem:
    """A function that a definition holds: its factory, or what injects by code."""

    def __init__(self, core: Core, plan: Plan, record: TypeRecord | None) -> None:
        self.core, self.plan, self.record = core, plan, record


@_trampolines.answering(c.invivo_definition, "factory", user_data=4)
def _factory(item: FactoryItem, out: Any, build: Any, arguments: Any, count: int, _: int, error: Any) -> None:
    made = item.plan.definition
    assert isinstance(made.makes, type)
    assert item.record is not None
    key = build[0].key.bits if build else 0
    item.core.forget_for(key)
    if made.constant is not None:
        thing = made.constant.value
    else:
        values = item.core.arguments(item.plan.parameters, arguments, count)
        with item.core.entered():
            thing = call(made.factory, item.plan.parameters, values)
        if thing is None and made.options.nullable:
            return
        if thing is None or (not is_protocol(made.makes) and not isinstance(thing, made.makes)):
            raise WrongTypeError(f"the factory answered {thing!r}; it says that it makes a {made.made}")
    out[0] = item.core.adopt(thing, item.record, key).number


@_trampolines.answering(c.invivo_definition, "inject", user_data=4)
def _inject(item: FactoryItem, instance: int, build: Any, arguments: Any, count: int, _: int, error: Any) -> None:
    from ._types import _instance

    inject = item.plan.definition.options.inject
    assert inject is not None
    item.core.forget_for(build[0].key.bits if build else 0)
    with item.core.entered():
        inject(_instance(item.core, instance))


_addresses: dict[int, int] = {}  # by the library's table


def factory_address(library: Library) -> int:
    """What the library calls for every factory of Python's."""
    known = _addresses.get(library.table)
    if known is None:
        address = ctypes.cast(_factory.of(library), ctypes.c_void_p).value or 0
        known = _addresses.setdefault(library.table, address)
    return known


def define(core: Core, changes: c.invivo_changes, plan: Plan) -> None:
    """Adds a wired definition to a change set."""
    with defined(core, plan) as options:
        core.library.call("changes_define", changes, ctypes.byref(options), None)


@contextlib.contextmanager
def defined(core: Core, plan: Plan) -> Iterator[c.invivo_definition]:
    """A wired definition as C has it, for the call in the block; what it holds is given back if that fails."""
    made = plan.definition
    record = core.type_for(made.makes) if isinstance(made.makes, type) else None
    with _values.Packer(core) as packer:
        options = c.invivo_definition()
        with within(made.key, made.file, made.line):
            _say(core, packer, plan, record, options)
        number = 0
        makes = made.factory is not None or made.constant is not None
        if makes or made.options.inject is not None:
            number = _trampolines.enroll(FactoryItem(core, plan, record))
            options.user_data, options.destroy = number, _trampolines.destroy.of(core.library)
            if makes:
                options.factory = _factory.of(core.library)
            if made.options.inject is not None:
                options.inject = _inject.of(core.library)
        try:
            yield options
        except BaseException:
            _trampolines.dismiss(number)
            raise


def _say(
    core: Core, packer: _values.Packer, plan: Plan, record: TypeRecord | None, options: c.invivo_definition
) -> None:
    """What a definition says, but for what it holds."""
    made = plan.definition
    options.struct_size = ctypes.sizeof(options)
    options.key = _values.name_bytes(made.key, "key")
    options.scope = c.INVIVO_SCOPE_DEFAULT if made.scope is None else _SCOPES.get(made.scope, c.INVIVO_SCOPE_HOST)
    if made.scope is not None and made.scope not in _SCOPES:
        options.scope_name = _values.name_bytes(made.scope.removeprefix(_PLACED), "scope")
    if made.constant is not None and made.scope is None:
        options.scope = c.INVIVO_SCOPE_LAZY_SINGLETON
    options.flags = _flags(made.options)
    options.rank = made.options.rank
    if made.options.each is not None:
        options.each = _values.name_bytes(made.options.each, "each")
    options.start_timeout_ms = _milliseconds(made.options.start_timeout)
    options.stop_timeout_ms = _milliseconds(made.options.stop_timeout)
    options.type.bits = plan.type_bits if record is None else record.bits
    options.file, options.line = made.file.encode("utf-8", "replace"), made.line
    if plan.alias is not None:
        options.alias = _values.name_bytes(plan.alias, "key")
    if made.parent is not None:
        options.parent = _values.name_bytes(made.absolute(made.parent), "key")
    initializer = _in_order(plan) if made.factory is not None else plan.initializer
    options.initializer, options.initializer_count = _injections(core, packer, initializer)
    options.properties, options.property_count = _injections(core, packer, plan.properties)
    options.methods, options.method_count = _invocations(core, packer, plan.methods)
    options.before, options.before_count = _invocations(core, packer, plan.before)
    options.after, options.after_count = _invocations(core, packer, plan.after)
    options.after_all, options.after_all_count = _invocations(core, packer, plan.after_all)
    if plan.choice is not None:
        chooser, several = plan.choice
        options.chooser, _ = _injections(core, packer, (chooser,))
        options.options, options.option_count = _options(core, packer, several)
    if plan.maker is not None:
        options.maker_method = _values.name_bytes(plan.maker.method, "method")
        options.maker, options.maker_count = _injections(core, packer, plan.maker.arguments)
    if made.arguments and (plan.alias is None or plan.initializer):
        table = parameter_table(core, made.arguments)
        packer.hold(table)
        options.parameters, options.parameter_count = table, len(table)


def scope_number(scope: Scope) -> int:
    if scope not in _SCOPES:
        raise ArgumentError(f"{scope!r} is no scope; there are {', '.join(_SCOPES)}")
    return _SCOPES[scope]


def _milliseconds(seconds: float | None) -> int:
    """At least one, where something is said: zero says nothing."""
    if seconds is None:
        return 0
    if not 0 < seconds < (1 << 32) / 1000 - 1:
        raise ArgumentError(f"{seconds} s is no time that a start or stop may take")
    return max(1, round(seconds * 1000))


def _flags(options: Options) -> int:
    flags = c.INVIVO_DEFINITION_ABSTRACT if options.abstract else 0
    flags |= c.INVIVO_DEFINITION_NULLABLE if options.nullable else 0
    flags |= c.INVIVO_DEFINITION_EXCLUSIVE if options.exclusive else 0
    flags |= c.INVIVO_DEFINITION_WAITS if options.waits else 0
    flags |= c.INVIVO_DEFINITION_TRACKED if options.tracked else 0
    flags |= c.INVIVO_DEFINITION_HIDDEN_CLASS if options.hidden in (True, "class") else 0
    return flags | (c.INVIVO_DEFINITION_HIDDEN_INTERFACE if options.hidden in (True, "interface") else 0)


def _in_order(plan: Plan) -> tuple[Injection, ...]:
    """A factory's arguments go by position: null stands for a default."""
    given = {injection.name: injection for injection in plan.initializer}
    last = max((i for i, each in enumerate(plan.parameters) if each.name in given), default=-1)
    names = [each.name for each in plan.parameters[: last + 1]]
    return tuple(dataclasses.replace(given.get(name, Injection("")), name="") for name in names)


def _injections(core: Core, packer: _values.Packer, injections: Sequence[Injection]) -> tuple[Any, int]:
    array = (c.invivo_injection * len(injections))()
    for index, (slot, injection) in enumerate(zip(array, injections, strict=True)):
        with within(injection.name or str(index)):
            _injection(core, packer, slot, injection)
    packer.hold(array)
    return array, len(array)


def _injection(core: Core, packer: _values.Packer, slot: Any, injection: Injection) -> None:
    slot.name = _values.name_bytes(injection.name) if injection.name else None
    slot.how, slot.flags, slot.index = injection.way, injection.flags, injection.index
    if injection.added is not None:
        slot.added = _values.name_bytes(injection.added, "method")
    if injection.removed is not None:
        slot.removed = _values.name_bytes(injection.removed, "method")
    if injection.converter is not None:
        name = injection.converter
        slot.reference = _values.name_bytes(core.name_of(name) if isinstance(name, type) else name, "converter")
    if slot.how == c.INVIVO_INJECT_TEXT:
        if not injection.items:
            packer.fill(slot.value, injection.value)
    elif injection.of is not None:
        slot.reference = _values.name_bytes(core.wish(injection.of))
    elif injection.reference is not None:
        slot.reference = _values.name_bytes(injection.reference, "key")
    elif slot.how == c.INVIVO_INJECT_VALUE:
        packer.fill(slot.value, injection.value)
    slot.items, slot.item_count = _injections(core, packer, injection.items)


def _options(core: Core, packer: _values.Packer, options: Sequence[Option]) -> tuple[Any, int]:
    array = (c.invivo_option * len(options))()
    for slot, option in zip(array, options, strict=True):
        slot.when = option.when
        if option.when == c.INVIVO_WHEN_EQUAL:
            packer.fill(slot.value, option.value)
        elif isinstance(option.value, type):
            slot.name = _values.name_bytes(core.wish(option.value))
        if option.use is not None:
            made, _ = _injections(core, packer, (option.use,))
            slot.use = made[0]
    packer.hold(array)
    return array, len(array)


def _invocations(core: Core, packer: _values.Packer, invocations: Sequence[Invocation]) -> tuple[Any, int]:
    array = (c.invivo_invocation * len(invocations))()
    for slot, one in zip(array, invocations, strict=True):
        slot.method = _values.name_bytes(one.method, "method")
        with within(one.method if one.method != CALL else str(one.arguments[0].value)):
            slot.arguments, slot.argument_count = _injections(core, packer, one.arguments)
    packer.hold(array)
    return array, len(array)
