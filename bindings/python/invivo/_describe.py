"""What a Python class tells of itself: parameters, properties and methods, read from annotations.

Nothing here calls the library.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from . import _generated as c
from ._hints import INTEGERS, Hint, annotated, choice_hint, hint_of, hints_of, place_hint
from ._marks import MARK, SHARED, TUNABLES, Enumeration, Injected, Tunable, component_name
from .errors import ArgumentError, ArityError, WrongTypeError


@dataclasses.dataclass(frozen=True)
class Parameter:
    name: str
    hint: Hint
    has_default: bool
    keyword: bool  # passed by name
    default: Any = dataclasses.field(default=None, compare=False)

    @property
    def optional(self) -> bool:
        return self.has_default or self.hint.optional


@dataclasses.dataclass(frozen=True)
class Property:
    name: str
    hint: Hint
    tunable: Tunable
    read_only: bool
    offered: bool = False  # specs may set it: its class declares it by `tunable`

    def read(self, instance: Any) -> Any:
        return self.hint.encode(getattr(instance, self.name))

    def write(self, instance: Any, value: Any) -> None:
        setattr(instance, self.name, self.hint.decode(value))

    def hold(self, instance: Any) -> Any:
        return getattr(instance, self.name)

    def put_back(self, instance: Any, held: Any) -> None:
        setattr(instance, self.name, held)


@dataclasses.dataclass(frozen=True)
class Method:
    name: str
    text: str | None
    parameters: tuple[Parameter, ...]
    result: Hint


@dataclasses.dataclass(frozen=True)
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
    prepare: str | None = None
    take_runtime: str | None = None
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


def parameters_of(function: Any, known: Mapping[str, Any] | None = None, *, bound: bool) -> tuple[Parameter, ...]:
    """The parameters of a function; ``bound`` leaves out the first one. ``*rest`` and ``**rest`` are passed over."""
    signature = signature_of(function)
    if signature is None:
        return ()
    hints = hints_of(annotated(function), known)
    found = []
    for parameter in list(signature.parameters.values())[1 if bound else 0 :]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        hint = place_hint(hints.get(parameter.name, parameter.annotation))
        if hint.choices:  # an enumeration comes as a name, a number or an enumeration: its class is known here alone
            hint = dataclasses.replace(hint, kind=c.INVIVO_KIND_ANY, choices=())
        has_default = parameter.default is not parameter.empty
        default = parameter.default if has_default else None
        found.append(Parameter(parameter.name, hint, has_default, parameter.kind is parameter.KEYWORD_ONLY, default))
    return tuple(found)


def signature_of(function: Any) -> inspect.Signature | None:
    """None: it says nothing of its parameters, as some functions and classes that are written in C."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def is_made_by_python(cls: type) -> bool:
    """Whether a class says its parameters by a function of Python's, or by a signature of its own."""
    if isinstance(getattr(cls, "__signature__", None), inspect.Signature):
        return True
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return True
    return any(isinstance(getattr(cls, name), types.FunctionType) for name in ("__init__", "__new__"))


def constructor_of(cls: type, known: Mapping[str, Any] | None = None) -> tuple[Parameter, ...]:
    """The parameters of a class's constructor."""
    return without_recipes(cls, _constructor_of(cls, known))


def without_recipes(function: Any, parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Refuses defaults that are recipes: the object would get the recipe itself."""
    from ._recipes import Recipe

    for each in parameters:
        if isinstance(each.default, Recipe):
            name = getattr(function, "__name__", repr(function))
            raise ArgumentError(
                f"{name}: the default of the parameter {each.name!r} is {each.default!r}, which only a definition can "
                f"use; give it there, as in invivo.new({name}, {each.name}=...)",
                path=each.name,
            )
    return parameters


def _constructor_of(cls: type, known: Mapping[str, Any] | None) -> tuple[Parameter, ...]:
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):  # a named tuple: its class has the annotations
        return parameters_of(cls, known, bound=False)
    if isinstance(getattr(cls, "__signature__", None), inspect.Signature):
        # It checks and converts what it gets, as models do: only what is injected by its class is looked at.
        found = parameters_of(cls, known, bound=False)
        return tuple(each if each.hint.wanted or each.hint.late else _open(each) for each in found)
    for name in ("__init__", "__new__"):
        function = getattr(cls, name)
        if isinstance(function, types.FunctionType):
            return parameters_of(function, known, bound=True)
    return ()


# Stands for an argument that is left out, where the library needs a value for it.
LEFT_OUT = Enumeration(0, "invivo:left-out")


def is_left_out(value: Any) -> bool:
    return isinstance(value, Enumeration) and value.name == LEFT_OUT.name


def call(function: Any, parameters: Sequence[Parameter], arguments: Sequence[Any], *first: Any, given: int = -1) -> Any:
    """Calls with arguments in the order of the parameters. ``given`` has a bit for each argument that was given: None
    is passed on for these, and stands for the default of the others."""
    positional, named = list(first), dict[str, Any]()
    by_name = False
    for index, value in enumerate(arguments):
        if index >= len(parameters):
            positional.append(value)
            continue
        parameter = parameters[index]
        if parameter.has_default and (
            (value is None and not given >> min(index, 63) & 1) or (value is not None and is_left_out(value))
        ):
            by_name = True
            continue
        if value is not None:
            value = parameter.hint.decode(value)
        if parameter.keyword or by_name:
            named[parameter.name] = value
        else:
            positional.append(value)
    return function(*positional, **named)


def _open(parameter: Parameter) -> Parameter:
    return dataclasses.replace(parameter, hint=Hint(optional=parameter.hint.optional))


_OUTSIDE = {object, typing.Generic, typing.Protocol}


def describe(cls: type, known: Mapping[str, Any] | None = None, name: str | None = None) -> Description:
    """Reads a class."""
    tunables: dict[str, Tunable] = {}
    members: dict[str, Any] = {}
    for owner in reversed(cls.__mro__):
        if owner.__module__ in ("builtins", "typing", "abc"):
            continue
        tunables.update(owner.__dict__.get(TUNABLES, {}))
        members.update(owner.__dict__)
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
            annotation, member = Annotated[annotation, member.mark], None
        if attribute.startswith("_") and not _is_injected(annotation):
            continue
        said = tunables.get(attribute, Tunable(member))
        final = attribute in constants or _is_final(annotation)
        offered = attribute in tunables
        properties[attribute] = _property(attribute, annotation, said, final=final, offered=offered)
    for attribute, member in members.items():
        if isinstance(member, Injected) and attribute not in hints:
            if member.mark.key is None:
                raise ArgumentError(
                    f"{cls.__name__}.{attribute}: injected() does not say what is injected: annotate the attribute, as "
                    f"in '{attribute}: Clock = injected()', or give the key"
                )
            properties[attribute] = _property(attribute, Annotated[Any, member.mark], Tunable(None))
    for attribute, said in tunables.items():
        if attribute not in properties and not isinstance(said.initial, property):
            if said.initial is None:
                raise ArgumentError(
                    f"{cls.__name__}.{attribute}: tunable(None) does not say what it holds; annotate it, as in "
                    f"'{attribute}: str | None = tunable(None)'"
                )
            properties[attribute] = _property(attribute, type(said.initial), said, offered=True)
    for attribute, member in members.items():
        if isinstance(member, property):
            if attribute in tunables:
                _check_tunable(cls, attribute, member, tunables[attribute])
            if attribute.startswith("_") or member.fget is None:
                continue
            annotation = hints_of(member.fget, known).get("return")
            if annotation is not None:
                offered = attribute in tunables
                said = dataclasses.replace(tunables.get(attribute, Tunable(None)), initial=None)
                final = member.fset is None
                properties[attribute] = _property(attribute, annotation, said, final=final, offered=offered)
        elif isinstance(member, types.FunctionType):
            mark = getattr(member, MARK, None)
            if mark in (
                "prepare",
                "start",
                "stop",
                "will_inject",
                "take_runtime",
                "did_inject",
                "children",
                "key_name",
            ):
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
        **marked,
    )


def _check_tunable(cls: type, attribute: str, member: property, said: Tunable) -> None:
    """A property that specs set needs a type and a setter."""
    for function in (member.fget, member.fset):
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise ArgumentError(f"{cls.__name__}.{attribute}: a tunable property cannot be asynchronous")
    if member.fset is None and not said.read_only:
        raise ArgumentError(f"{cls.__name__}.{attribute}: a tunable property needs a setter")
    if member.fget is None or "return" not in getattr(member.fget, "__annotations__", {}):
        raise ArgumentError(
            f"{cls.__name__}.{attribute}: annotate what the tunable property returns, as in "
            f"'def {attribute}(self) -> float'"
        )


def check_hook(function: Any) -> None:
    """What is called and not waited for cannot be a coroutine: nothing would happen."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise ArgumentError(
            f"{function.__qualname__}() is asynchronous, and nobody would await it: hooks and methods of definitions "
            "are called at once. Make one that begins its work, and await that where it is used",
            file=function.__code__.co_filename,
            line=function.__code__.co_firstlineno,
        )


def check_callback(function: Any, gets: tuple[str, ...], what: str) -> None:
    """Checks a callback when it is registered: it must not be asynchronous, and must take these arguments."""
    name = getattr(function, "__qualname__", None) or repr(function)
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    place = {} if code is None else {"file": code.co_filename, "line": code.co_firstlineno}
    if not callable(function):
        raise WrongTypeError(f"{what} is a function, not {function!r}")
    if any(
        check(each)
        for each in (function, type(function).__call__)
        for check in (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    ):
        raise ArgumentError(
            f"{what} is called, and not awaited: {name} is asynchronous; give a function, as one that calls "
            "loop.call_soon_threadsafe()",
            **place,
        )
    signature = signature_of(function)
    if signature is None:
        return
    try:
        signature.bind(*gets)
    except TypeError as problem:
        given = ", ".join(gets) or "no arguments"
        raise ArityError(
            f"{what} is called with {given}: {name}{signature} does not take that ({problem})", **place
        ) from None


def _property(name: str, annotation: Any, said: Tunable, *, final: bool = False, offered: bool = False) -> Property:
    hint = place_hint(annotation)
    if said.choices:
        hint = choice_hint(said.choices) if hint.kind in (c.INVIVO_KIND_STRING, c.INVIVO_KIND_ANY) else hint
        if not hint.choices:
            if hint.kind not in INTEGERS:
                raise ArgumentError(f"{name}: choices are for str, int and Enum attributes, not {annotation!r}")
            hint = dataclasses.replace(hint, choices=said.choices, decode=int)
    if hint.optional and not hint.choices:
        hint = dataclasses.replace(hint, kind=c.INVIVO_KIND_ANY)
    hint = dataclasses.replace(hint, is_listed=True)
    return Property(name, hint, said, said.read_only or final, offered)


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
    said = getattr(cls, "__dataclass_params__", None)
    if dataclasses.is_dataclass(cls) and said is not None and said.frozen:
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
