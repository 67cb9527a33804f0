"""Assemblies and definitions: what is made, for whom, and what goes into it, worked out from annotations."""

from __future__ import annotations

import ctypes
import dataclasses
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _generated as c
from . import _trampolines, _values
from ._describe import Parameter, call, constructor_of, describe, hints_of, parameters_of
from ._objects import Type
from .errors import ArgumentError, Error, ExistsError, NotFoundError, WrongTypeError

if TYPE_CHECKING:
    from ._core import Core
    from ._types import TypeRecord

W = TypeVar("W", bound=Callable[..., Any] | str)

Scope = Literal["prototype", "lazy_singleton", "singleton"]
_SCOPES: dict[str, int] = {
    "prototype": c.INVIVO_SCOPE_PROTOTYPE,
    "lazy_singleton": c.INVIVO_SCOPE_LAZY_SINGLETON,
    "singleton": c.INVIVO_SCOPE_SINGLETON,
}


@dataclasses.dataclass(frozen=True)
class Reference:
    """What another key, or the definition of another class, resolves to."""

    to: str | type


def ref(to: str | type) -> Any:
    """In a definition: inject what this key (``"synth.lead"``) or class resolves to."""
    return Reference(to)


def snake(name: str) -> str:
    """``HTTPServer`` -> ``http_server``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@dataclasses.dataclass(frozen=True, eq=False)
class Definition:
    """A recipe for a key, before it is wired."""

    key: str
    scope: Scope
    makes: type | str  # a Python class, or a registered type by its name
    factory: Callable[..., Any] | None
    overrides: Mapping[str, Any]
    file: str
    line: int

    @property
    def made(self) -> str:
        return self.makes if isinstance(self.makes, str) else self.makes.__name__

    @property
    def assembly(self) -> str:
        return self.key.rpartition(".")[0]

    def parameters(self, known: Mapping[str, type]) -> tuple[Parameter, ...]:
        if self.factory is not None:
            return parameters_of(self.factory, known, bound=False)
        assert isinstance(self.makes, type)
        return constructor_of(self.makes, known)


def definition(
    key: str | None,
    what: Callable[..., Any] | str,
    scope: Scope,
    overrides: Mapping[str, Any],
    *,
    assembly: str | None = None,
    depth: int = 2,
) -> Definition:
    """A definition of a class, of a factory whose annotation says what it makes, or of a registered type; declared
    `depth` frames up."""
    if scope not in _SCOPES:
        raise ArgumentError(f"{scope!r} is no scope; there are {', '.join(_SCOPES)}")
    makes, factory = _made_by(what)
    if key is None:
        key = snake(makes if isinstance(makes, str) else makes.__name__)
    if assembly is not None and "." not in key:
        key = f"{assembly}.{key}"
    caller = sys._getframe(depth)
    return Definition(key, scope, makes, factory, dict(overrides), caller.f_code.co_filename, caller.f_lineno)


def _made_by(what: Callable[..., Any] | str) -> tuple[type | str, Callable[..., Any] | None]:
    if isinstance(what, Type):
        return what.name, None
    if isinstance(what, (type, str)):
        return what, None
    if not callable(what):
        raise WrongTypeError(f"a class, a factory or the name of a type is wanted, not {what!r}")
    makes = hints_of(what).get("return")
    if isinstance(typing.get_origin(makes), type):
        makes = typing.get_origin(makes)
    if not isinstance(makes, type) or makes is types.NoneType:
        raise ArgumentError(
            f"the factory {getattr(what, '__qualname__', what)!r} does not say what it makes: annotate what it returns "
            "with the class"
        )
    return makes, what


class Assembly:
    """A named set of definitions. Keys are ``assembly.name``; the name of a class is its own, in snake case.

    What the constructor (or factory) wants is found by its annotations among all definitions of the runtime;
    ``Annotated[T, "key"]`` names a key, and keyword arguments here are given as they are.

    A type of another language is named, ``app.singleton("Oscillator", name="lead", wave="saw")``: the keyword arguments
    are what its making takes and its properties. It is registered by the time the assembly is activated.
    """

    def __init__(self, name: str) -> None:
        if not name or name.startswith(".") or name.endswith("."):
            raise ArgumentError(f"{name!r} is no name for an assembly")
        self.name = name
        self.definitions: dict[str, Definition] = {}

    def prototype(self, what: W, /, name: str | None = None, **overrides: Any) -> W:
        """A new one for each resolve."""
        return self._add(what, "prototype", name, overrides)

    def lazy_singleton(self, what: W, /, name: str | None = None, **overrides: Any) -> W:
        """One, built by the first resolve."""
        return self._add(what, "lazy_singleton", name, overrides)

    def singleton(self, what: W, /, name: str | None = None, **overrides: Any) -> W:
        """One, built when the assembly is activated."""
        return self._add(what, "singleton", name, overrides)

    def _add(self, what: W, scope: Scope, name: str | None, overrides: Mapping[str, Any]) -> W:
        made = definition(name, what, scope, overrides, assembly=self.name, depth=3)
        if made.key in self.definitions:
            raise ExistsError(f"{made.key} is already defined: give one of the two another name", path=made.key)
        self.definitions[made.key] = made
        return what

    def __repr__(self) -> str:
        return f"<invivo.Assembly {self.name}: {', '.join(self.definitions) or 'empty'}>"


# ---- finding what is wanted ----------------------------------------------------------------------------


def candidates(wanted: type, among: Iterable[Definition], near: str = "") -> list[Definition]:
    """The definitions of a class, or else of its subclasses; those of the assembly ``near`` before others."""
    fitting = [each for each in among if isinstance(each.makes, type) and wanted in each.makes.__mro__]
    for closer in (lambda each: each.makes is wanted, lambda each: each.assembly == near):
        narrowed = [each for each in fitting if closer(each)]
        fitting = narrowed or fitting
    return fitting


def ambiguous(wanted: type, found: Iterable[Definition]) -> str:
    keys = ", ".join(sorted(each.key for each in found))
    return f"several definitions make a {wanted.__name__}: {keys}"


@dataclasses.dataclass(frozen=True)
class Injection:
    name: str
    reference: str | None = None
    value: Any = None


@dataclasses.dataclass(frozen=True)
class Plan:
    """A definition and what goes into it."""

    definition: Definition
    parameters: tuple[Parameter, ...]
    initializer: tuple[Injection, ...]
    properties: tuple[Injection, ...]
    type_bits: int = 0  # of a registered type


def plan_all(
    new: Iterable[Definition],
    existing: Mapping[str, Definition],
    known: Mapping[str, type],
    find: Callable[[str], Type] | None = None,
) -> list[Plan]:
    """Wires definitions, or raises one error that says all that is missing or ambiguous; ``find`` is for types."""
    plans, errors = [], list[Error]()
    for each in new:
        try:
            if isinstance(each.makes, str):
                plans.append(_plan_registered(each, each.makes, existing, find, errors))
            else:
                plans.append(_plan(each, existing, known, errors))
        except Error as problem:
            errors.append(problem)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise type(errors[0])(errors[0].message, code=errors[0].code, path=errors[0].path, errors=errors)
    return plans


def _plan_registered(
    made: Definition,
    name: str,
    existing: Mapping[str, Definition],
    find: Callable[[str], Type] | None,
    errors: list[Error],
) -> Plan:
    """A type that is known by its name alone: what is given goes to its making, or else to its properties."""
    assert find is not None
    try:
        found = find(name)
    except NotFoundError as problem:
        raise NotFoundError(problem.message, path=made.key, file=made.file, line=made.line) from None
    settable = [each.name for each in found.properties if not each.read_only]
    initializer, properties = list[Injection](), list[Injection]()
    for each, thing in made.overrides.items():
        if each not in found.parameters and each not in settable:
            errors.append(_nothing_to_set(made, each, {*found.parameters, *settable}))
            continue
        try:
            (initializer if each in found.parameters else properties).append(_given(made, each, thing, existing))
        except Error as problem:
            errors.append(problem)
    return Plan(made, (), tuple(initializer), tuple(properties), found._bits)


def _nothing_to_set(made: Definition, name: str, there: Iterable[str]) -> ArgumentError:
    return ArgumentError(
        f"{made.made} has no parameter and no property {name!r} to set; it has {', '.join(sorted(there)) or 'none'}",
        **_at(made, name),
    )


def _plan(made: Definition, existing: Mapping[str, Definition], known: Mapping[str, type], errors: list[Error]) -> Plan:
    assert isinstance(made.makes, type)
    parameters = made.parameters(known)
    by_name = {parameter.name for parameter in parameters}
    initializer = []
    for parameter in parameters:
        try:
            injection = _injection(made, parameter, existing)
        except Error as problem:
            errors.append(problem)
            continue
        if injection is not None:
            initializer.append(injection)
    properties = []
    settable = None
    for name, thing in made.overrides.items():
        if name in by_name:
            continue
        if settable is None:
            settable = {each.name for each in describe(made.makes, known).properties if not each.read_only}
        if name not in settable:
            errors.append(_nothing_to_set(made, name, by_name | settable))
            continue
        properties.append(_given(made, name, thing, existing))
    return Plan(made, parameters, tuple(initializer), tuple(properties))


def _at(made: Definition, name: str) -> dict[str, Any]:
    return {"path": f"{made.key}.{name}", "file": made.file, "line": made.line}


def _given(made: Definition, name: str, thing: Any, existing: Mapping[str, Definition]) -> Injection:
    if not isinstance(thing, Reference):
        return Injection(name, value=thing)
    if isinstance(thing.to, str):
        key = thing.to if "." in thing.to else f"{made.assembly}.{thing.to}"
        return Injection(name, reference=key)
    found = candidates(thing.to, existing.values(), made.assembly)
    if len(found) == 1:
        return Injection(name, reference=found[0].key)
    if found:
        raise ArgumentError(f'{ambiguous(thing.to, found)}; name one by ref("key")', **_at(made, name))
    raise NotFoundError(f"no definition makes a {thing.to.__name__}", **_at(made, name))


def _injection(made: Definition, parameter: Parameter, existing: Mapping[str, Definition]) -> Injection | None:
    name, hint = parameter.name, parameter.hint
    if name in made.overrides:
        return _given(made, name, made.overrides[name], existing)
    if hint.key is not None:
        return Injection(name, reference=hint.key if "." in hint.key else f"{made.assembly}.{hint.key}")
    found: list[Definition] = []
    if hint.wanted is not None:
        found = candidates(hint.wanted, existing.values(), made.assembly)
        if len(found) == 1 and found[0] is not made:
            return Injection(name, reference=found[0].key)
    if parameter.has_default:
        return None
    if hint.wanted is not None and len(found) > 1:
        raise ArgumentError(
            f'{ambiguous(hint.wanted, found)}; say which by Annotated[{hint.wanted.__name__}, "key"] or '
            f'{name}=invivo.ref("key")',
            **_at(made, name),
        )
    if hint.optional:
        return Injection(name, value=None)
    if made.scope == "prototype" and hint.wanted is None:
        return None  # an argument of the resolve
    what = f"no definition makes a {hint.wanted.__name__}" if hint.wanted is not None else "nothing says what it is"
    raise NotFoundError(
        f"{made.made} wants {name!r}, and {what}: define it, or pass {name}=... with the definition",
        **_at(made, name),
    )


# ---- handing a plan to the library ---------------------------------------------------------------------


class FactoryItem:
    """A factory that a definition holds."""

    def __init__(self, core: Core, plan: Plan, record: TypeRecord) -> None:
        self.core, self.plan, self.record = core, plan, record


@_trampolines.answering(c.invivo_definition, "factory", user_data=4)
def _factory(item: FactoryItem, out: Any, build: Any, arguments: Any, count: int, _: int, error: Any) -> None:
    values = _values.read_all(item.core, arguments, count)
    made = item.plan.definition
    thing = call(made.factory, item.plan.parameters, values)
    assert isinstance(made.makes, type)
    if not isinstance(thing, made.makes):
        raise WrongTypeError(f"the factory answered {thing!r}; it says that it makes a {made.made}")
    out[0] = item.core.adopt(thing, item.record, build[0].key.bits if build else 0).number


def define(core: Core, changes: c.invivo_changes, plan: Plan) -> None:
    """Adds a wired definition to a change set."""
    made = plan.definition
    record = core.type_for(made.makes) if isinstance(made.makes, type) else None
    with _values.Packer(core) as packer:
        options = c.invivo_definition()
        options.struct_size = ctypes.sizeof(options)
        options.key = _values.name_bytes(made.key, "key")
        options.scope = _SCOPES[made.scope]
        options.type.bits = plan.type_bits if record is None else record.bits
        initializer = _injections(packer, plan.initializer if made.factory is None else _in_order(plan))
        properties = _injections(packer, plan.properties)
        options.initializer, options.initializer_count = initializer, len(initializer)
        options.properties, options.property_count = properties, len(properties)
        options.file, options.line = made.file.replace("\0", "\\0").encode("utf-8", "replace"), made.line
        number = 0
        if made.factory is not None and record is not None:
            number = _trampolines.enroll(FactoryItem(core, plan, record))
            options.factory, options.user_data = _factory.of(core.library), number
            options.destroy = _trampolines.destroy.of(core.library)
        try:
            core.library.call("changes_define", changes, ctypes.byref(options), None)
        except BaseException:
            _trampolines.dismiss(number)
            raise


def _in_order(plan: Plan) -> tuple[Injection, ...]:
    """A factory's arguments go by position: null stands for a default."""
    given = {injection.name: injection for injection in plan.initializer}
    last = max((i for i, each in enumerate(plan.parameters) if each.name in given), default=-1)
    names = [each.name for each in plan.parameters[: last + 1]]
    return tuple(dataclasses.replace(given.get(name, Injection("")), name="") for name in names)


def _injections(packer: _values.Packer, injections: tuple[Injection, ...]) -> Any:
    array = (c.invivo_injection * len(injections))()
    for slot, injection in zip(array, injections, strict=True):
        slot.name = _values.name_bytes(injection.name) if injection.name else None
        if injection.reference is not None:
            slot.how = c.INVIVO_INJECT_REFERENCE
            slot.reference = _values.name_bytes(injection.reference, "key")
        else:
            slot.how = c.INVIVO_INJECT_VALUE
            packer.fill(slot.value, injection.value)
    return array
