"""The description of a Python class: parameters, properties and methods, read from annotations.

Nothing here calls the library.
"""

from __future__ import annotations

import abc
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar

from .. import _generated as c
from .._declarations.marks import KEEPS_CHILDREN, MARK, SHARED, TUNABLES, Injected, Tunable, component_name
from .._declarations.secrets import has_secret
from .._values import kinds
from .._values.fields import dataclass
from .._values.kinds import INTEGERS
from ..errors import ArgumentError, WrongTypeError
from .annotations import hints_of
from .callables import Parameter, check_hook, parameters_of, without_recipes
from .configured import has_conditions, needs_reader
from .hints import Hint, choice_hint, hint_of, place_hint


@dataclass(frozen=True)
class Property:
    name: str
    hint: Hint
    tunable: Tunable
    read_only: bool
    offered: bool = False  # specs may set it: its class declares it by `tunable`
    annotation: Any = dataclasses.field(default=None, compare=False)  # where a reader must look at a value of a spec
    secret: bool = False  # messages do not show its values

    def read(self, instance: Any) -> Any:
        return self.hint.encode(getattr(instance, self.name))

    def write(self, instance: Any, value: Any) -> None:
        setattr(instance, self.name, self.hint.decode(value))

    def hold(self, instance: Any) -> Any:
        return getattr(instance, self.name)

    def is_own(self, instance: Any) -> bool:
        """Whether the object itself holds the value. Otherwise the attribute is that of its class, until one is set."""
        if self.name in getattr(instance, "__dict__", (self.name,)):
            return True
        for cls in type(instance).__mro__:
            if self.name in cls.__dict__:
                return hasattr(type(cls.__dict__[self.name]), "__set__")
        return False

    def put_back(self, instance: Any, held: Any, is_own: bool) -> None:
        """Makes the attribute what it was when it had the value `held`, which the object held itself or not."""
        # A class with a `__setattr__` of its own may have to know the value.
        watches = any("__setattr__" in cls.__dict__ for cls in type(instance).__mro__ if cls is not object)
        if is_own or watches or self.name not in getattr(instance, "__dict__", ()):
            setattr(instance, self.name, held)
        if not is_own:
            getattr(instance, "__dict__", {}).pop(self.name, None)


@dataclass(frozen=True)
class Method:
    name: str
    text: str | None
    parameters: tuple[Parameter, ...]
    result: Hint


@dataclass(frozen=True)
class Description:
    cls: type
    name: str
    text: str | None
    supertypes: tuple[type, ...]
    parameters: tuple[Parameter, ...]
    properties: tuple[Property, ...]
    methods: tuple[Method, ...]
    start: str | None = None
    stop: str | None = None
    will_inject: str | None = None
    did_inject: str | None = None
    children: str | None = None
    key_name: str | None = None
    parent: str | None = None
    prepare: str | None = None
    take_runtime: str | None = None
    setup: str | None = None
    teardown: str | None = None
    refresh: str | None = None
    finalize: str | None = None
    keeps_children: bool = False
    shared: bool = False

    @property
    def injected(self) -> tuple[Property, ...]:
        return tuple(each for each in self.properties if each.hint.inject is not None)

    @property
    def tunables(self) -> dict[str, Property]:
        return {each.name: each for each in self.properties}

    @property
    def offered(self) -> tuple[Property, ...]:
        return tuple(each for each in self.properties if each.offered)


def is_made_by_python(cls: type) -> bool:
    """Whether a class has its parameters from a Python function, or declares a signature of its own."""
    if isinstance(getattr(cls, "__signature__", None), inspect.Signature):
        return True
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return True
    return any(isinstance(getattr(cls, name), types.FunctionType) for name in ("__init__", "__new__"))


def constructor_of(cls: type, known: Mapping[str, Any] | None = None) -> tuple[Parameter, ...]:
    """The parameters of a class's constructor."""
    return without_recipes(cls, _constructor_of(cls, known))


def _constructor_of(cls: type, known: Mapping[str, Any] | None) -> tuple[Parameter, ...]:
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):  # a named tuple: its class has the annotations
        return parameters_of(cls, known, bound=False)
    if isinstance(getattr(cls, "__signature__", None), inspect.Signature):
        # It checks and converts its arguments, as models do. Only parameters that are injected by class matter here.
        found = parameters_of(cls, known, bound=False)
        return tuple(each if each.hint.wanted or each.hint.late else _open(each) for each in found)
    for name in ("__init__", "__new__"):
        function = getattr(cls, name)
        if isinstance(function, types.FunctionType):
            return parameters_of(function, known, bound=True)
    return ()


def _open(parameter: Parameter) -> Parameter:
    return dataclasses.replace(parameter, hint=Hint(optional=parameter.hint.optional))


_OUTSIDE = {object, typing.Generic, typing.Protocol}

# The marks of which a class has one method each, and the decorators that give them.
_HOOKS = {
    "prepare": "on_prepare",
    "start": "on_start",
    "stop": "on_stop",
    "will_inject": "will_inject",
    "take_runtime": "takes_runtime",
    "did_inject": "did_inject",
    "children": "children",
    "key_name": "injection_key",
    "parent": "parent",
    "setup": "on_setup",
    "teardown": "on_teardown",
    "refresh": "on_refresh",
    "finalize": "on_finalize",
}


def describe(
    cls: type, known: Mapping[str, Any] | None = None, name: str | None = None, *, is_trait: bool = False
) -> Description:
    """Returns the description of a class. ``is_trait``: a spec file gives all its annotated attributes."""
    tunables: dict[str, Tunable] = {}
    members: dict[str, Any] = {}
    for owner in reversed(cls.__mro__):
        if owner.__module__ in ("builtins", "typing", "abc"):
            continue
        _check_hooks(owner)
        tunables.update(owner.__dict__.get(TUNABLES, {}))
        members.update(owner.__dict__)
    _check_defaults(cls)
    marked: dict[str, str] = {}
    methods = []
    properties: dict[str, Property] = {}
    hints = hints_of(cls, known)
    constants = _constants(cls)
    for attribute, annotation in hints.items():
        if _is_class_level(annotation) or isinstance(members.get(attribute), property):
            continue
        member = members.get(attribute)
        if isinstance(member, Injected):
            injection = member.mark
            annotation, member = Annotated[annotation, injection], None
        if attribute.startswith("_") and not _is_injected(annotation):
            continue
        tunable = tunables.get(attribute, Tunable(member))
        final = attribute in constants or _is_final(annotation)
        offered = attribute in tunables
        if offered or is_trait:
            annotation = _resolved(annotation, f"{cls.__name__}.{attribute}", tunable.initial)
        properties[attribute] = _property(attribute, annotation, tunable, final=final, offered=offered)
    for attribute, member in members.items():
        if isinstance(member, Injected) and attribute not in hints:
            own = member.mark
            if own.key is None:
                raise ArgumentError(
                    f"{cls.__name__}.{attribute}: injected() does not know the type: annotate the attribute, as "
                    f"in '{attribute}: Clock = injected()', or give the key"
                )
            properties[attribute] = _property(attribute, Annotated[Any, own], Tunable(None))
    for attribute, tunable in tunables.items():
        if attribute not in properties and not isinstance(tunable.initial, property):
            if tunable.initial is None:
                raise ArgumentError(
                    f"{cls.__name__}.{attribute}: tunable(None) does not know the type: annotate it, as in "
                    f"'{attribute}: str | None = tunable(None)'"
                )
            properties[attribute] = _property(attribute, type(tunable.initial), tunable, offered=True)
    for attribute, member in members.items():
        if isinstance(member, property):
            if attribute in tunables:
                _check_tunable(cls, attribute, member, tunables[attribute])
            if attribute.startswith("_") or member.fget is None:
                continue
            annotation = hints_of(member.fget, known).get("return")
            if annotation is not None:
                offered = attribute in tunables
                tunable = dataclasses.replace(tunables.get(attribute, Tunable(None)), initial=None)
                final = member.fset is None
                properties[attribute] = _property(attribute, annotation, tunable, final=final, offered=offered)
        elif isinstance(member, types.FunctionType):
            mark = getattr(member, MARK, None)
            if mark in _HOOKS:
                check_hook(member)
                marked[mark] = attribute
            elif mark == "method" or (not attribute.startswith("_") and member.__annotations__):
                methods.append(_method(attribute, member, known))
    supertypes = tuple(each for each in cls.__mro__[1:] if each not in _OUTSIDE and each.__module__ not in ("abc",))
    return Description(
        cls=cls,
        name=name or component_name(cls) or cls.__name__,
        text=_first_line(cls.__dict__.get("__doc__")),
        supertypes=supertypes,
        parameters=constructor_of(cls, known),
        properties=tuple(properties.values()),
        methods=tuple(methods),
        shared=getattr(cls, SHARED, False) is True,
        keeps_children=getattr(cls, KEEPS_CHILDREN, False) is True,
        **marked,
    )


def _check_defaults(cls: type) -> None:
    """Refuses a `tunable` inside of a field of pydantic or attrs: objects would have it as their value."""
    fields: dict[str, Any] = dict(getattr(cls, "__pydantic_fields__", None) or {})
    fields.update((each.name, each) for each in getattr(cls, "__attrs_attrs__", ()))
    for name, field in fields.items():
        if isinstance(getattr(field, "default", None), Tunable):
            raise ArgumentError(
                f"{cls.__name__}.{name}: the tunable is inside of a field, so it would be the value of the attribute; "
                f"write '{name}: Annotated[..., Field(...)] = invivo.tunable(...)'"
            )


def _check_hooks(owner: type) -> None:
    """Refuses a second method with the same mark in the body of a class: only one of them would run."""
    found: dict[str, tuple[str, types.FunctionType]] = {}
    for attribute, member in owner.__dict__.items():
        mark = getattr(member, MARK, None) if isinstance(member, types.FunctionType) else None
        if mark not in _HOOKS:
            continue
        other, function = found.setdefault(mark, (attribute, member))
        if inspect.unwrap(function) is not inspect.unwrap(member):  # not another name of it, or a wrapper around it
            code = inspect.unwrap(member).__code__
            raise ArgumentError(
                f"{owner.__name__}.{attribute}() is marked by invivo.{_HOOKS[mark]}, as {owner.__name__}.{other}() is: "
                "a class has one such method; let it call the other one",
                file=code.co_filename,
                line=code.co_firstlineno,
            )


def _check_tunable(cls: type, attribute: str, member: property, tunable: Tunable) -> None:
    """Checks a tunable property: it needs a type and a setter."""
    for function in (member.fget, member.fset):
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise ArgumentError(f"{cls.__name__}.{attribute}: a tunable property cannot be asynchronous")
    if member.fset is None and not tunable.read_only:
        raise ArgumentError(f"{cls.__name__}.{attribute}: a tunable property needs a setter")
    if member.fget is None or "return" not in getattr(member.fget, "__annotations__", {}):
        raise ArgumentError(
            f"{cls.__name__}.{attribute}: annotate what the tunable property returns, as in "
            f"'def {attribute}(self) -> float'"
        )


def _resolved(annotation: Any, what: str, initial: Any) -> Any:
    """Returns the annotation of an attribute that specs set. One that cannot be resolved may name the initial value's
    class.
    """
    written = annotation.__forward_arg__ if isinstance(annotation, typing.ForwardRef) else annotation
    if not isinstance(written, str):
        return annotation
    if type(initial).__name__ == written:
        return type(initial)
    raise WrongTypeError(
        f"{what}: the annotation {written!r} cannot be resolved, so nothing could check the values of spec files: "
        "define its classes at the level of the module"
    )


def spec_hint(annotation: Any, hint: Hint) -> tuple[Hint, Any]:
    """Returns the hint of an attribute that specs set, and its annotation if a reader must look at the values."""
    if hint.late == "all" and hint.inject is None:  # list[Path]: of values, because nothing is injected
        kind = c.INVIVO_KIND_MAP if hint.kind == c.INVIVO_KIND_ANY else hint.kind
        return Hint(kind=kind), annotation
    if hint.choices or hint.inject is not None or hint.late is not None:
        return hint, None
    inner = typing.get_args(annotation)[0] if typing.get_origin(annotation) in (Annotated, typing.Final) else annotation
    if typing.get_origin(inner) is typing.Literal and hint.kind == c.INVIVO_KIND_STRING:
        return choice_hint(tuple((each, number) for number, each in enumerate(typing.get_args(inner)))), None
    if not hint.optional and not needs_reader(annotation) and not has_conditions(annotation):
        return hint, None
    # A value that the library cannot check crosses as it is.
    return (
        dataclasses.replace(hint, kind=c.INVIVO_KIND_ANY) if hint.kind == c.INVIVO_KIND_OBJECT else hint
    ), annotation


def _property(name: str, annotation: Any, tunable: Tunable, *, final: bool = False, offered: bool = False) -> Property:
    hint, read = place_hint(annotation), None
    if offered and not tunable.choices:
        hint, read = spec_hint(annotation, hint)
    if tunable.choices:
        hint = choice_hint(tunable.choices) if hint.kind in (c.INVIVO_KIND_STRING, c.INVIVO_KIND_ANY) else hint
        if not hint.choices:
            if hint.kind not in INTEGERS:
                raise ArgumentError(f"{name}: choices are for str, int and Enum attributes, not {annotation!r}")
            hint = dataclasses.replace(hint, choices=tunable.choices, decode=int)
    if hint.optional and not hint.choices:
        hint = dataclasses.replace(hint, kind=c.INVIVO_KIND_ANY)
    hint = dataclasses.replace(hint, is_listed=True)
    secret = tunable.secret or has_secret(annotation)
    return Property(name, hint, tunable, tunable.read_only or final, offered, read, secret)


def _method(name: str, function: types.FunctionType, known: Mapping[str, Any] | None) -> Method:
    result = hint_of(hints_of(function, known).get("return", Any))
    if result.optional or result.choices:
        result = Hint()
    parameters = parameters_of(function, known, bound=True)
    return Method(name, _first_line(function.__doc__), parameters, result)


def _constants(cls: type) -> Iterable[str]:
    """The attributes that nobody can set: the fields of a named tuple, of a frozen dataclass and of a frozen model of
    pydantic's, and frozen fields of a model."""
    if issubclass(cls, tuple):
        return getattr(cls, "_fields", ())
    parameters = getattr(cls, "__dataclass_params__", None)
    if dataclasses.is_dataclass(cls) and parameters is not None and parameters.frozen:
        return {each.name for each in dataclasses.fields(cls)}
    fields = getattr(cls, "__pydantic_fields__", None)
    if isinstance(fields, dict):
        is_frozen = getattr(cls, "model_config", {}).get("frozen")
        return {name for name, field in fields.items() if is_frozen or getattr(field, "frozen", None)}
    return ()


def _is_class_level(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.replace("typing.", "").startswith(("ClassVar", "InitVar"))
    return (
        annotation is ClassVar
        or typing.get_origin(annotation) is ClassVar
        or isinstance(annotation, dataclasses.InitVar)
    )


def _is_injected(annotation: Any) -> bool:
    return typing.get_origin(annotation) is Annotated and hint_of(annotation).inject is not None


def _is_final(annotation: Any) -> bool:
    return annotation is typing.Final or typing.get_origin(annotation) is typing.Final


def _first_line(text: Any) -> str | None:
    return text.strip().split("\n", 1)[0] if isinstance(text, str) and text.strip() else None


def bounds(tunable: Tunable, kind: int) -> tuple[float, float]:
    """The range of a tunable. C has none, or both ends: an end left open is that of the kind."""
    if tunable.min is None and tunable.max is None:
        return 0.0, 0.0
    low, high = kinds.limits(kind)
    return (low if tunable.min is None else tunable.min), (high if tunable.max is None else tunable.max)


def has_weak_references(cls: type) -> bool:
    return bool(cls.__weakrefoffset__)


def is_virtual(cls: type) -> bool:
    """Whether an abstract class counts others as its own that do not derive from it."""
    if not isinstance(cls, abc.ABCMeta):
        return False
    if any("__subclasshook__" in vars(each) for each in cls.__mro__[:-1]):
        return True
    dump = getattr(sys.modules.get("_abc"), "_get_dump", None)
    return bool(dump(cls)[0] if dump is not None else getattr(cls, "_abc_registry", ()))
